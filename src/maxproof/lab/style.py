"""How proofs are dressed. None of it changes what is proved; a biased judge falls for it all the same.

`render` puts claims into a dress, `style_of` reads it off a text, `style_score` says in one number how much there is.
The rule normaliser of the verifier strips what stands for the published failure: opening phrases, `Step N:` headers and
a closing section that only repeats. Connectives, fillers and hand-waving phrases stay.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from maxproof.lab.types import Style
from maxproof.lab.wording import CONNECTIVES, FILLERS, HAND_WAVES, OPENERS

TASK_OPENERS = (1, 2, 3)
"""Numbers of the openers of the kind "To solve ..."."""
GIVEN_OPENERS = (4, 5, 6)
"""Numbers of those of the kind "We are given ..."."""

SECTION_TITLES = ("### Verification", "### Check")
"""Titles of the closing section; the second where the first would make it too long to be taken for packaging."""

FILLER_RATE = 0.25
"""Probability of a filler after a claim, in a text that has fillers at all."""
CONNECTIVE_RATE = 0.6
SECTION_SHARE = 0.25
"""The closing section's largest share of a text, in characters: the normaliser leaves a longer one alone."""
LONG_CHARS = 600

SCORE_WEIGHTS = {"opener": 0.25, "headers": 0.3, "verification": 0.25, "length": 0.2}


@dataclass(frozen=True, slots=True)
class StyleMix:
    """How often each part of a dress is there, as probabilities; `given` and `task` exclude each other.

    Raises ValueError for a number outside 0..1 or openers of more than 1 together.
    """

    task: float = 0.35
    given: float = 0.15
    headers: float = 0.2
    connectives: float = 0.3
    filler: float = 0.1
    verification: float = 0.15

    def __post_init__(self) -> None:
        shares = (self.task, self.given, self.headers, self.connectives, self.filler, self.verification)
        if not all(0 <= share <= 1 for share in shares) or self.task + self.given > 1:
            raise ValueError(f"not probabilities: {self}")

    def draw(self, rng: Random) -> Style:
        """One style; always six draws, so that later draws don't depend on what came out."""
        kind, which = rng.random(), rng.random()
        headers, connectives, filler, verification = (rng.random() for _ in range(4))
        opener = 0
        if kind < self.task:
            opener = TASK_OPENERS[int(which * len(TASK_OPENERS))]
        elif kind < self.task + self.given:
            opener = GIVEN_OPENERS[int(which * len(GIVEN_OPENERS))]
        return Style(
            opener=opener,
            headers=headers < self.headers,
            connectives=connectives < self.connectives,
            filler=filler < self.filler,
            verification=verification < self.verification,
        )


def render(claims: Sequence[str], style: Style, rng: Random, leaps: frozenset[int] = frozenset()) -> str:
    """The claims as a text in canonical form, one sentence a line.

    Args:
        claims: sentences, each with its final point.
        style: the dress. A closing section that would be too long for `SECTION_SHARE` is left out.
        rng: decides where connectives and fillers stand and which are taken; the text depends on nothing else.
        leaps: indices of claims before which steps were left out: they get a hand-waving phrase.
    """
    lines = [OPENERS[style.opener]] if style.opener else []
    for index, claim in enumerate(claims):
        phrase = ""
        if index in leaps:
            phrase = rng.choice(HAND_WAVES)
        elif style.connectives and index and rng.random() < CONNECTIVE_RATE:
            phrase = rng.choice(CONNECTIVES)
        sentence = f"{phrase} {_uncapitalised(claim)}" if phrase else claim
        lines.append(f"Step {index + 1}: {sentence}" if style.headers else sentence)
        if style.filler and index + 1 < len(claims) and rng.random() < FILLER_RATE:
            lines.append(rng.choice(FILLERS))
    text = "\n".join(lines)
    if style.verification and claims:
        for title in SECTION_TITLES:
            section = f"\n{title}\n{claims[-1]}"
            if len(section) <= SECTION_SHARE * (len(text) + len(section)):
                return text + section
    return text


def _uncapitalised(claim: str) -> str:
    """`The answer is 2.` within a sentence; a claim that begins with a variable or a number stays as it is."""
    return claim[0].lower() + claim[1:] if re.match(r"[A-Z][a-z]", claim) else claim


_GIVEN = re.compile(r"\W*we\s+are\s+(?:given|asked)\b", re.IGNORECASE)
_TASK = re.compile(r"\W*to\s+(?:prove|show|solve|find|compute|establish|answer|tackle)\b", re.IGNORECASE)
_HEADER = re.compile(r"^[ \t#*]*step[ \t]+\d{1,3}[a-z]?[ \t*]*[.:)]", re.IGNORECASE | re.MULTILINE)
_SECTION = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]*|\*\*)(?:final |sanity )?(?:verification|check|summary|conclusion)\b", re.IGNORECASE | re.M
)
_PHRASE = re.compile(rf"(?:{'|'.join(re.escape(phrase) for phrase in CONNECTIVES)})\s", re.IGNORECASE)
_LABEL = re.compile(r"step \d{1,3}[.:)] ?", re.IGNORECASE)


def style_of(text: str) -> Style:
    """The dress of any text, also of one that `render` didn't make. Never raises; linear in the length.

    An opener that isn't in the list counts as the first of its kind. Headers are there when at least two lines have
    one.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    first = lines[0].strip() if lines else ""
    bare = [_LABEL.sub("", line.strip(), count=1) for line in lines]
    return Style(
        opener=_opener(first),
        headers=len(_HEADER.findall(text)) >= 2,
        connectives=any(_PHRASE.match(line) for line in bare),
        filler=any(line in FILLERS for line in bare),
        verification=_SECTION.search(text) is not None,
    )


def _opener(first: str) -> int:
    if first in OPENERS:
        return OPENERS.index(first)
    if _GIVEN.match(first):
        return GIVEN_OPENERS[0]
    return TASK_OPENERS[0] if _TASK.match(first) else 0


def style_score(text: str) -> float:
    """How much packaging a text has, 0..1: the weighted sum (`SCORE_WEIGHTS`) of four parts.

    `opener` is 1 for "We are given ..." and 0.5 for "To solve ..."; `headers` and `verification` are 0 or 1; `length`
    grows linearly up to `LONG_CHARS` characters.
    """
    style = style_of(text)
    parts = {
        "opener": 0.0 if not style.opener else 1.0 if style.opener in GIVEN_OPENERS else 0.5,
        "headers": float(style.headers),
        "verification": float(style.verification),
        "length": min(1.0, len(text) / LONG_CHARS),
    }
    return sum(SCORE_WEIGHTS[name] * part for name, part in parts.items())
