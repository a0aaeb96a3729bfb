"""The controlled language of proofs: from a text to its sentences and the claim in each.

A sentence ends at a line end, or at a full stop before a space. Cut off before the claim: list marks and numbers (`- `,
`3.`, `3)`), headers (`Step 3:`, `**Step 3.**`), headings' marks, openers ("To solve this problem, we"), connectives and
hand-waving phrases (`wording.py`). What is left is a claim if it holds a digit, a mathematical symbol, an answer or a
denial; otherwise the sentence is words only and claims nothing. Whether a claim can be read is for the domain to say.

Texts are hostile: the time is linear, and what is beyond MAX_CHARS or MAX_SENTENCES becomes one last sentence, whose
claim no domain can read.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from maxproof.lab.wording import ACTIONS, DENIALS, PREFIXES

MAX_CHARS = 40_000
MAX_SENTENCES = 200
MAX_SENTENCE_CHARS = 600
MAX_PREFIXES = 6

CUT_OFF = "(the text goes on)"
"""Text and claim of the sentence that stands for everything beyond the limits."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence.

    Attributes:
        text: as written, white space at the ends aside.
        claim: the formula or phrase that is claimed, symbols in their ASCII form, without a final stop; "" for none.
    """

    text: str
    claim: str


_SYMBOLS = str.maketrans(
    {"−": "-", "–": "-", "×": "*", "·": "*", "⋅": "*", "≥": ">=", "≤": "<=", "²": "^2", "³": "^3", "\u00a0": " "}
)
_STOP = re.compile(r"\.(?=[ \t]|$)")
_MARKS = re.compile(r"[ \t]*(?:[-–*·+>•][ \t]+|#{1,6}[ \t]+)*")
_BOLD = re.compile(r"\*\*|__|`|\$")
# Within a formula that is no markup: `2**3` and `2 ** x` are powers, which is not how a formula is written here.
_INSIDE = re.compile(r"(?<=[0-9A-Za-z)])(?:(?:\*\*|__|`|\$)+|[ \t]+\*\*[ \t]+)(?=[-0-9A-Za-z(])")
_OPEN_BOLD = re.compile(r"\*\*|__")
_HEADER = re.compile(
    r"(?:step[ \t]+[0-9]{1,3}[a-z]?(?:[ \t]*[.:)—–-]+(?=\s|$)|(?=[ \t]*$))|[0-9]{1,3}[.)](?=[ \t]|$))[ \t]*",
    re.IGNORECASE,
)
_AIM = re.compile(
    r"to[ \t]+(?:prove|show|solve|establish|find|compute|answer)(?:[ \t]+[a-z'’-]+){1,8},[ \t]*"
    r"(?:we|let us|note that|observe that)\b[ \t]*",
    re.IGNORECASE,
)
_PREFIX = re.compile(
    "(?:"
    + "|".join(re.escape(phrase.rstrip(",")) for phrase in sorted(PREFIXES, key=len, reverse=True))
    + r")\b[ \t]*[,:]?[ \t]*",
    re.IGNORECASE,
)
_ACTION = re.compile(rf"(?:we[ \t]+)?(?:{'|'.join(ACTIONS)})\b", re.IGNORECASE)
_DENIAL = re.compile(rf"\b(?:{'|'.join(DENIALS)})\b|n['’]t\b", re.IGNORECASE)
_ANSWER = re.compile(r"(?:the[ \t]+)?(?:final[ \t]+)?answer[ \t]+is\b[ \t]*:?[ \t]*(.*)", re.IGNORECASE | re.DOTALL)
_RELATES = re.compile(
    r"[=<>∣|]|\b(?:is|are|equals?|gives?|yields?|becomes?|gets?|obtains?|finds?|answer)\b.*[0-9]", re.IGNORECASE
)
_OPERATORS = frozenset("+-*/^±×÷∙√")


def sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of a text, in order; blank ones are left out. Never raises."""
    found: list[Sentence] = []
    for part, marked in _parts(text[:MAX_CHARS]):
        if len(found) == MAX_SENTENCES:
            return (*found, Sentence(CUT_OFF, CUT_OFF))
        found.append(Sentence(part, _claim(part, marked)))
    if text[MAX_CHARS:].strip():
        found.append(Sentence(CUT_OFF, CUT_OFF))
    return tuple(found)


def answer_of(claim: str) -> str | None:
    """What "The answer is ..." names; None for other claims."""
    found = _ANSWER.fullmatch(claim)
    return found.group(1).strip() if found else None


def _parts(text: str) -> Iterator[tuple[str, bool]]:
    """Sentences, and whether each begins its line: only there can a `- ` be a list mark and not a minus."""
    for line in text.splitlines():
        begin = _begin(line)
        start = 0
        for stop in _STOP.finditer(line, begin):
            if part := line[start : stop.end()].strip():
                yield part, not line[:start].strip()
            start = stop.end()
        if part := line[start:].strip():
            yield part, not line[:start].strip()


def _begin(line: str) -> int:
    """Where a line's own words begin, behind marks and headers: a full stop before that ends no sentence."""
    position = _MARKS.match(line).end()  # type: ignore[union-attr]  # it matches everywhere
    for pattern in (_OPEN_BOLD, _HEADER):
        if found := pattern.match(line, position):
            position = found.end()
    return position


def _claim(sentence: str, marked: bool) -> str:
    # Marks first: a minus sign that is no hyphen marks no list.
    text = sentence[_MARKS.match(sentence).end() :] if marked else sentence  # type: ignore[union-attr]
    text = _BOLD.sub("", _INSIDE.sub("_", text.translate(_SYMBOLS))).strip()
    for pattern in (_HEADER, _AIM):
        if found := pattern.match(text):
            text = text[found.end() :]
    for _ in range(MAX_PREFIXES):
        found = _PREFIX.match(text)
        if found is None or not found.end():
            break
        text = text[found.end() :]
    text = text.strip().rstrip(".;,!").rstrip()
    return text[: MAX_SENTENCE_CHARS + 1] if _claims(text) else ""


def _claims(text: str) -> bool:
    if answer_of(text) is not None or _DENIAL.search(text):
        return True
    if _ACTION.match(text) and not _relates(text):
        return False
    return any(character in "^/*|\\" or unicodedata.category(character) in _MATHEMATICAL for character in text)


def _relates(text: str) -> bool:
    """Any mathematical symbol that is no operator may be a relation: a fullwidth equals sign, an arrow."""
    symbols = {character for character in text if unicodedata.category(character) == "Sm"}
    return bool(symbols - _OPERATORS or _RELATES.search(text))


_MATHEMATICAL = frozenset({"Nd", "Nl", "No", "Sm"})
