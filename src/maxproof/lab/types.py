"""What the proof world is made of. Domains implement `Question`; everything else works on any of them.

A proof is a text of sentences. A sentence makes one *claim* or none. A claim is judged against what the statement gives
and what earlier valid sentences have established, in exact rational arithmetic: it follows by one inference (`VALID`),
it is true but needs more than that (`LEAP`), or it is false (`FALSE`).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Protocol

from maxproof.verifier.types import Verdict


class StepVerdict(StrEnum):
    """What the oracle says of one sentence."""

    VALID = "valid"  # follows from the statement and established claims by one inference, or repeats one of them
    LEAP = "leap"  # true, but more than one inference away
    FALSE = "false"
    UNREADABLE = "unreadable"  # it looks like a claim and can't be read as one
    FILLER = "filler"  # makes no claim: openers, remarks, headings


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a question says of one claim.

    Attributes:
        verdict: never UNREADABLE or FILLER.
        description: in a few words what is wrong or missing, naming values; "" when valid.
        goal: the claim states what was asked for, rightly.
        state: what is established after it (a false claim establishes nothing; a leap is taken as established).
    """

    verdict: StepVerdict
    description: str
    goal: bool
    state: Hashable


class Question(Hashable, Protocol):
    """A problem of one domain, as its statement has it: `read(statement)` of the domain gives an equal one."""

    @property
    def domain(self) -> str: ...
    @property
    def statement(self) -> str:
        """One line of controlled English."""
        ...

    @property
    def techniques(self) -> tuple[str, ...]:
        """The techniques that prove it, the natural one first."""
        ...

    @property
    def level(self) -> int:
        """Difficulty, 1..4; 4 is held out of training."""
        ...

    @property
    def structure(self) -> str:
        """The shape of the problem without its numbers (operators, signs, sizes): splits are by this key."""
        ...

    def habits(self, technique: str) -> tuple[str, ...]:
        """The wrong habits that can be taught on this technique: systematic mistakes, not noise."""
        ...

    def solve(self, technique: str, habits: frozenset[str] = frozenset()) -> tuple[str, ...]:
        """Claims in order, each one inference from what is before it; the last states the goal.

        With habits, each place where one comes up is done the wrong way and the mistake is carried on, as somebody
        who believes it would. Raises ValueError for an unknown technique or habit.
        """
        ...

    def start(self) -> Hashable:
        """What is established before the first sentence."""
        ...

    def judge(self, state: Hashable, claim: str) -> Judgement | None:
        """Judges one claim; None when the text can't be read as a claim of this domain. Never raises."""
        ...


class Domain(Protocol):
    """One domain: makes questions and reads them back."""

    @property
    def name(self) -> str: ...
    @property
    def techniques(self) -> tuple[str, ...]: ...
    def generate(self, rng: Random, technique: str, level: int) -> Question:
        """A question whose natural technique is `technique`, at `level` 1..4."""
        ...

    def read(self, statement: str) -> Question | None:
        """The question of a statement; None if it is not one of this domain. Never raises."""
        ...


@dataclass(frozen=True, slots=True)
class SentenceReport:
    """One sentence of a proof as the oracle sees it. `text` is the sentence; `description` as in `Judgement`."""

    text: str
    verdict: StepVerdict
    description: str = ""


@dataclass(frozen=True, slots=True)
class OracleReport:
    """The oracle on one text.

    Attributes:
        verdict: the four-class verdict of the verifier.
        points: 0..7 by the scheme in `oracle.py`.
        sentences: every sentence, in order.
        goal: what was asked for was reached by claims without a false one before it.
    """

    verdict: Verdict
    points: float
    sentences: tuple[SentenceReport, ...]
    goal: bool


@dataclass(frozen=True, slots=True)
class Style:
    """How a proof is dressed: none of it changes what is proved.

    Attributes:
        opener: 0 none, else the number of an opening sentence (`wording.OPENERS`): "To solve ...", "We are given ...".
        headers: lines begin with "Step N:".
        connectives: lines begin with "So", "Then", ...
        filler: sentences without a claim are strewn in.
        verification: a closing section "### Verification" that repeats the last claims.
    """

    opener: int = 0
    headers: bool = False
    connectives: bool = False
    filler: bool = False
    verification: bool = False


@dataclass(frozen=True, slots=True)
class Example:
    """One pair for supervised training, as text in the model's own format (`dialogue.py`): no end token."""

    prompt: str
    answer: str
