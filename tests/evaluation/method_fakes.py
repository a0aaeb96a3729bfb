"""A caller that answers by a script, with calls that finish in an order of its own."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from maxproof.models.template import fenced_blocks
from maxproof.models.types import (
    Answer,
    Call,
    CallFailed,
    CallNotRun,
    FailureKind,
    NoAnswer,
    Usage,
    ask_one,
)
from maxproof.problems import Problem
from maxproof.search.settings import SearchSettings
from maxproof.verifier.settings import JudgeSettings, VerifierSettings

PROBLEM = Problem(id="p", statement="Show that there are infinitely many primes.")
VERIFIER = VerifierSettings(judges=(JudgeSettings(name="free", mode="free"),))
SMALL = SearchSettings(candidates=6, verifications=2, rounds=3, parents=2, finalists=3, votes=3, diversity_prefix=10)

Reply = str | Answer | NoAnswer
Script = Callable[[Call, dict[str, str]], Reply]


def verdict(name: str, errors: str = "1. Location: here\n   Description: false") -> str:
    """A judge's reply."""
    listed = "none" if name == "no_errors" else errors
    return f"<assessment>read</assessment>\n<errors>\n{listed}\n</errors>\n<verdict>{name}</verdict>"


@dataclass
class Scripted:
    """Answers by `script`, from the call and the fenced texts of its prompt; remembers what was asked.

    `order`: finishes waiting calls in an order drawn from it; None: at once.
    """

    script: Script
    order: int | None = None
    asked: list[Call] = field(default_factory=list)
    _answers: dict[tuple[object, ...], Reply] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._random = random.Random(self.order)

    async def ask(self, call: Call) -> Answer:
        return await ask_one(self, call)

    async def ask_samples(self, calls: Sequence[Call]) -> list[Answer | NoAnswer]:
        self.asked += calls
        if self.order is not None:
            for _ in range(self._random.randrange(40)):
                await asyncio.sleep(0)
        return [self._answer(call) for call in calls]

    def _answer(self, call: Call) -> Answer | NoAnswer:
        reply = self.script(call, fenced_blocks(call.prompt()))
        return Answer(reply, usage=Usage(10, len(reply))) if isinstance(reply, str) else reply

    @property
    def tasks(self) -> list[str]:
        return [call.address.task for call in self.asked]

    def count(self) -> Counter[str]:
        """Distinct calls by task."""
        return Counter(
            task for task, *_ in {(c.address.task, c.address, c.template, c.inputs): None for c in self.asked}
        )


def failed() -> CallFailed:
    return CallFailed(FailureKind.TIMEOUT, "too late")


def not_run() -> CallNotRun:
    return CallNotRun("budget")


@dataclass(frozen=True)
class World:
    """A script: proofs with a quality 0..3 in their text; judges and rankers that err; calls that fail or are refused.

    Every answer is a function of the call alone.
    """

    seed: int
    noise: float = 0.2
    failing: float = 0.0
    unreadable: float = 0.0
    empty: float = 0.0

    def __call__(self, call: Call, blocks: dict[str, str]) -> Reply:
        draw = random.Random(repr((self.seed, call.address, call.inputs)))
        if draw.random() < self.failing:
            return failed()
        match call.address.task:
            case "generate" | "rewrite":
                quality = draw.choice((0, 1, 2, 2, 3))
            case "patch" | "improve":
                before = quality_of(blocks["proof" if "proof" in blocks else "draft"])
                quality = min(3, before + draw.choice((0, 0, 1)))
            case "verify":
                if draw.random() < self.unreadable:
                    return "I have no opinion."
                quality = quality_of(blocks["candidate"])
                if draw.random() < self.noise:
                    quality = draw.choice((0, 1, 2, 3))
                return verdict(("fundamentally_wrong", "has_errors", "minor_gaps", "no_errors")[quality])
            case "summarise":
                return "<summary>by induction; none</summary>"
            case "rank":
                first, second = quality_of(blocks["first_proof"]), quality_of(blocks["second_proof"])
                return f"<choice>{'first' if first + draw.random() >= second + draw.random() else 'second'}</choice>"
            case "consolidate":
                shown = [name for name in sorted(blocks) if name.startswith("proof_")]
                best = max(quality_of(blocks[name]) for name in shown)
                kept = [str(i) for i, name in enumerate(shown, 1) if quality_of(blocks[name]) == best]
                return f"<keep>{', '.join(kept)}</keep>"
        if draw.random() < self.empty:
            return ""
        return f"{draw.choice('abcd') * 12} This is proof number {call.address.candidate} of quality {quality}."


def quality_of(text: str) -> int:
    """Of a proof of the world's, 0..3."""
    return int(text.rsplit("quality ", 1)[1][0]) if "quality " in text else 0
