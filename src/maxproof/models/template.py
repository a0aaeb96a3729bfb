"""Prompt templates, and the fence around everything that is not ours.

A template is a Markdown file with a `version`, a system part and a user part. Slots are filled in one pass, so text
that holds the name of a slot stays text. Whatever comes from a model or a file is fenced: it stands between two lines
that carry a key derived from the text itself, so no text can hold its own closing line, and characters that hide or
reorder text are made visible.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from maxproof.models.types import Message

MAX_BLOCK_CHARS = 250_000

_SLOT = re.compile(r"\{\{(fenced:)?([a-z_]+)\}\}")
_PARTS = re.compile(r"\Aversion: (\d+)\n--- system\n(.*?)\n--- user\n(.*)\Z", re.DOTALL)
# C0 and C1 controls but tab and newline, soft hyphen, zero-width and bidi controls, separators, fillers, variation
# selectors, the byte-order mark, lone surrogates, and the tag block.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)


@dataclass(frozen=True, slots=True)
class Template:
    """A prompt template.

    Attributes:
        id: `NAME@VERSION-HASH`; the hash is over the text, so an edit without a new version still changes the id.
        system: fixed instructions, the same for every call of this template.
        user: the part with slots: `{{name}}` for our own text, `{{fenced:name}}` for anybody else's.
    """

    id: str
    system: str
    user: str

    def render(self, fenced: Mapping[str, str], own: Mapping[str, str] | None = None) -> tuple[Message, ...]:
        """The messages of one call: `fenced` fills the fenced slots, `own` the plain ones.

        Raises KeyError when a slot of the template has no value: that is a bug in the calling code.
        """
        own = own or {}

        def fill(match: re.Match[str]) -> str:
            name = match.group(2)
            return fence(name, fenced[name]) if match.group(1) else own[name]

        return Message("system", self.system), Message("user", _SLOT.sub(fill, self.user))


@lru_cache(maxsize=64)
def load_template(package: str, name: str) -> Template:
    """Reads `prompts/NAME.md` inside `package` and adds the rule about fenced text to its system part."""
    source = _read(package, name)
    parts = _PARTS.match(source)
    if parts is None:
        raise ValueError(f"{package}/prompts/{name}.md: expected 'version: N', '--- system' and '--- user'")
    version, system, user = parts.groups()
    rule = _read("maxproof.models", "fence-rule").strip()
    digest = hashlib.sha256((source + "\0" + rule).encode()).hexdigest()[:8]
    return Template(f"{name}@{version}-{digest}", f"{system.strip()}\n\n{rule}", user.strip())


def _read(package: str, name: str) -> str:
    return (resources.files(package) / "prompts" / f"{name}.md").read_text(encoding="utf-8")


def fence(name: str, text: str) -> str:
    """`text`, made visible and clipped, between two lines that only this text has."""
    body = visible(clip(text))
    key = hashlib.sha256(f"{name}\0{body}".encode()).hexdigest()[:16]
    label = name.replace("_", " ")
    return f"[[BEGIN {label} {key}]]\n{body}\n[[END {label} {key}]]"


def visible(text: str) -> str:
    """Replaces every character that hides or reorders text by its code point, e.g. `⟨U+202E⟩`."""
    text = text.replace("\r\n", "\n")
    return _HIDDEN.sub(lambda match: f"⟨U+{ord(match.group()):04X}⟩", text)


def clip(text: str, limit: int = MAX_BLOCK_CHARS) -> str:
    """`text` if it has at most `limit` characters, else its head and tail with a note of what was left out."""
    if len(text) <= limit:
        return text
    head, tail = limit * 3 // 4, limit // 4
    return f"{text[:head]}\n[… {len(text) - head - tail} characters left out …]\n{text[-tail:]}"
