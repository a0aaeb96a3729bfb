"""Prompt templates, and the fence around everything that is not ours.

A template is a Markdown file with a `version`, a system part and a user part. Slots are filled in one pass, so text
that holds the name of a slot stays text. A paragraph of the user part whose slot has no value (None) is left out whole,
so a prompt never speaks of something that is not there. Whatever comes from a model or a file is fenced: it stands
between two lines that carry a key derived from the text itself, so no text can hold its own closing line, characters
that hide or reorder text are made visible, and think tags are written with other brackets: a reply that quotes the text
then holds no tag that would turn a part of that reply into thinking.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from maxproof.models.types import Message

MAX_BLOCK_CHARS = 250_000

_SLOT = re.compile(r"\{\{(fenced:)?([a-z_]+)\}\}")
_BEGIN = re.compile(r"^\[\[BEGIN ([a-z ]{1,80}) ([0-9a-f]{16})\]\]\n", re.MULTILINE)
_PARTS = re.compile(r"\Aversion: (\d+)\n--- system\n(.*?)\n--- user\n(.*)\Z", re.DOTALL)
_PARAGRAPHS = re.compile(r"\n{2,}")
# C0 and C1 controls but tab and newline, soft hyphen, zero-width and bidi controls, separators, fillers, variation
# selectors, the byte-order mark, lone surrogates, noncharacters, blank Braille, shorthand, musical and hieroglyph
# format controls, and the tag block; a run of one of them is one match.
_HIDDEN = re.compile(
    "([\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u2800\u3164\ud800-\udfff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff])\\1*"
)
_THINK_TAG = re.compile(r"<([ \t]{0,4}/?[ \t]{0,4}think(?:ing)?[ \t]{0,4})>", re.IGNORECASE)


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

    def render(
        self, fenced: Mapping[str, str | None], own: Mapping[str, str | None] | None = None
    ) -> tuple[Message, ...]:
        """The messages of one call: `fenced` fills the fenced slots, `own` the plain ones.

        A paragraph (between blank lines of the template) with a slot whose value is None is left out. Raises KeyError
        when a slot of the template is in neither mapping: that is a bug in the calling code.
        """
        own = own or {}

        def value(slot: re.Match[str]) -> str | None:
            return (fenced if slot.group(1) else own)[slot.group(2)]

        def fill(slot: re.Match[str]) -> str:
            text = value(slot) or ""
            return fence(slot.group(2), text) if slot.group(1) else text

        kept = (
            paragraph
            for paragraph in _PARAGRAPHS.split(self.user)
            if all(value(slot) is not None for slot in _SLOT.finditer(paragraph))
        )
        return Message("system", self.system), Message("user", _SLOT.sub(fill, "\n\n".join(kept)))


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
    body = clip(visible(clip(text)))  # making characters visible lengthens the text
    key = _key(name, body)
    label = name.replace("_", " ")
    return f"[[BEGIN {label} {key}]]\n{body}\n[[END {label} {key}]]"


def fenced_blocks(messages: Sequence[Message]) -> dict[str, str]:
    """The texts that were fenced in the user messages, by the name of their slot, in order; of equal names the last.

    A block counts only if its key is that of its text, and what stands inside a block is text: nothing that was fenced
    can add, end or change a block.
    """
    found: dict[str, str] = {}
    for message in messages:
        at = 0
        while message.role == "user" and (begin := _BEGIN.search(message.content, at)) is not None:
            at = begin.end()
            label, key = begin.groups()
            closing = f"\n[[END {label} {key}]]"
            end = message.content.find(closing, begin.end() - 1)
            body = message.content[begin.end() : end]
            name = label.replace(" ", "_")
            if end >= 0 and _key(name, body) == key:
                found[name] = body
                at = end + len(closing)
    return found


def _key(name: str, body: str) -> str:
    return hashlib.sha256(f"{name}\0{body}".encode()).hexdigest()[:16]


def visible(text: str) -> str:
    """Replaces characters that hide or reorder text by their code points, `⟨U+202E⟩`, for a run `⟨U+200B ×40⟩`.

    Think tags, which hide what follows or precedes them in a reply, become `⟨think⟩` and `⟨/think⟩`.
    """
    text = _HIDDEN.sub(_code_point, text.replace("\r\n", "\n"))
    return _THINK_TAG.sub(r"⟨\1⟩", text)


def _code_point(run: re.Match[str]) -> str:
    times = f" ×{len(run.group())}" if len(run.group()) > 1 else ""
    return f"⟨U+{ord(run.group(1)):04X}{times}⟩"


def clip(text: str, limit: int = MAX_BLOCK_CHARS) -> str:
    """`text` if it has at most `limit` characters, else its head and tail with a note of what was left out."""
    if len(text) <= limit:
        return text
    head, tail = limit * 3 // 4, limit // 4
    return f"{text[:head]}\n[… {len(text) - head - tail} characters left out …]\n{text[len(text) - tail :]}"
