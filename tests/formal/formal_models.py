"""Scripted models and checkers, and shorthands for problems."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from maxproof.formal.checkers.types import (
    Checker,
    CheckResult,
    CheckState,
    CheckTask,
    Limits,
    ObligationKind,
    ObligationResult,
    ObligationState,
    Tool,
)
from maxproof.formal.load import problem_from_text
from maxproof.formal.problem import FormalProblem
from maxproof.formal.prover.search import ProverSettings, SymbolicProver
from maxproof.formal.syntax.ast import Assert
from maxproof.formal.syntax.printer import print_expression
from maxproof.formal.syntax.walk import descendants
from maxproof.models.mock.script import split_blocks
from maxproof.models.types import (
    Answer,
    Call,
    CallAddress,
    CallFailed,
    CallNotRun,
    FailureKind,
    Message,
    NoAnswer,
    Usage,
)

LIMITS = Limits(resource=1_000_000, seconds=5.0)
GOAL = "lemma goal(x: int) requires x > 3 ensures x * x > 9 {}"


def problem(text: str = GOAL) -> FormalProblem:
    return problem_from_text(text, Path("problem.dfy"))


def fenced(body: str) -> str:
    """A model's reply: the lemma with this body, in a fence with words around it."""
    return f"Here it is.\n```dafny\nlemma goal(x: int)\n  requires x > 3\n  ensures x * x > 9\n{{ {body} }}\n```\nDone."


def blocks(messages: Sequence[Message]) -> dict[str, str]:
    """The fenced blocks of the user's messages."""
    text = "\n".join(message.content for message in messages if message.role == "user")
    return {block.name: block.text for block in split_blocks(text)[1]}


@dataclass
class ScriptedCaller:
    """A `Caller` whose answers are a function of the call and its messages.

    `budget`: calls until all further ones are refused. `order`: answers come in an order drawn from this seed.
    """

    script: Callable[[CallAddress, Sequence[Message]], str]
    budget: int | None = None
    failing: frozenset[int] = frozenset()
    order: int | None = None
    asked: list[tuple[CallAddress, tuple[Message, ...]]] = field(default_factory=list)
    keys: list[tuple[CallAddress, str, str]] = field(default_factory=list)

    async def ask(self, call: Call) -> Answer:
        number = len(self.asked)
        if self.budget is not None and number >= self.budget:
            raise CallNotRun("budget: calls")
        messages = call.prompt()
        self.asked.append((call.address, messages))
        self.keys.append((call.address, call.template, call.inputs))
        if self.order is not None:
            for _ in range(random.Random(f"{self.order} {call.address}").randrange(20)):
                await asyncio.sleep(0)
        if number in self.failing:
            raise CallFailed(FailureKind.TIMEOUT, "no reply in time")
        return Answer(self.script(call.address, messages), usage=Usage(10, 5))

    async def ask_samples(self, calls: Sequence[Call]) -> list[Answer | NoAnswer]:
        raise AssertionError("each call is asked by itself")


class WordChecker:
    """Takes the assertions of the targets for the obligations: `assert true` and whatever speaks of `proof` is proved.

    A program is proved if one of its assertions names `proof` and none stays open. Counts its checks.
    """

    tool = Tool("words", "1", "none")

    def __init__(self, fails: Callable[[str], bool] = lambda _: False) -> None:
        self.checks = 0
        self.fails = fails

    async def check(self, task: CheckTask, limits: Limits) -> CheckResult:
        self.checks += 1
        await asyncio.sleep(0)
        found = []
        for declaration in task.program.declarations:
            for node in descendants(declaration):
                if isinstance(node, Assert):
                    text = print_expression(node.condition)
                    if self.fails(text):
                        return CheckResult(CheckState.TOOL_ERROR, self.tool, reason="the solver died")
                    proved = text == "true" or "proof" in text
                    state = ObligationState.PROVED if proved else ObligationState.UNKNOWN
                    found.append(ObligationResult(ObligationKind.ASSERTION, state, node.at, text, declaration.name))
        done = sum(one.state is ObligationState.PROVED for one in found)
        if done == len(found) and any("proof" in one.text for one in found):
            return CheckResult(CheckState.PROVED, self.tool, tuple(found), proved=done, total=done, resource=7)
        first = task.program[task.targets[0]]
        post = ObligationResult(ObligationKind.POSTCONDITION, ObligationState.UNKNOWN, first.at, "goal", first.name)
        posed = (*found, post)
        return CheckResult(CheckState.FAILED, self.tool, posed, proved=done, total=len(posed), resource=7)

    async def aclose(self) -> None:
        pass


class QuickProver(SymbolicProver):
    """Tries the empty body only, whatever it is asked to try."""

    def __init__(self, checker: Checker, limits: Limits, **options: object) -> None:
        super().__init__(checker, limits, ProverSettings(checks=1), strategies=())


_LEARNED = re.compile(r"lemma (learned_[0-9a-f]{12})\(a0: nat\)\n")


def calls_what_is_learned(address: CallAddress, messages: Sequence[Message]) -> str:
    """A model that calls the learned lemmas that it is shown at `n`, one in each turn; else its proof is empty."""
    shown = _LEARNED.findall(blocks(messages[:2]).get("library", ""))
    turn = 0 if address.task == "prove" else address.sample + 1
    return f"```dafny\n{{ {shown[turn % len(shown)] + '(n);' if shown else ''} }}\n```"
