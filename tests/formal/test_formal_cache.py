"""Verdicts on disk."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from maxproof.formal.checkers.cache import CachedChecker, VerdictStore, keepable, verdict_key
from maxproof.formal.checkers.types import (
    CheckResult,
    CheckState,
    CheckTask,
    Diagnostic,
    Limits,
    ObligationKind,
    ObligationResult,
    ObligationState,
    Tool,
)
from maxproof.formal.syntax.ast import BoolLiteral, Clause, Expr, Lemma, Position, Program, Unary
from maxproof.formal.syntax.parse import parse_program

TOOL = Tool("embedded", "1", "z3 5")
LEMMA = "lemma l(x: int) requires x > 1 ensures x > 0 {}"
RESULT = CheckResult(
    CheckState.FAILED,
    TOOL,
    (
        ObligationResult(ObligationKind.ASSERTION, ObligationState.PROVED, Position(1, 2), "x > 0", "l", "evaluation"),
        ObligationResult(
            ObligationKind.CALC_STEP,
            ObligationState.REFUTED,
            Position(3, 4),
            "x ≤ 1",
            "l",
            counterexample={"x": "2", "α": "{1}"},
            confirmed=True,
            resource=7,
            related=Position(5, 6),
        ),
    ),
    (Diagnostic("careful", Position(1, 1), "warning"),),
    proved=1,
    total=2,
    seconds=1.5,
    resource=7,
    reason="l: calculation step is false",
)


def task(text: str = LEMMA, targets: tuple[str, ...] = ("l",)) -> CheckTask:
    return CheckTask(parse_program(text), targets)


class Counting:
    """A checker that gives what it was told to."""

    def __init__(self, result: CheckResult = RESULT, tool: Tool = TOOL) -> None:
        self.result = result
        self.tool = tool
        self.asked = 0
        self.closed = False

    async def check(self, task: CheckTask, limits: Limits) -> CheckResult:
        self.asked += 1
        return self.result

    async def aclose(self) -> None:
        self.closed = True


async def test_the_second_time_comes_from_the_store(tmp_path: Path) -> None:
    inner = Counting()
    cached = CachedChecker(inner, tmp_path / "deep" / "verdicts.sqlite")
    assert await cached.check(task(), Limits()) == RESULT
    assert await cached.check(task(), Limits()) == replace(RESULT, cached=True, seconds=0.0)
    assert inner.asked == 1
    await cached.aclose()
    assert inner.closed
    again = CachedChecker(inner, tmp_path / "deep" / "verdicts.sqlite")
    assert (await again.check(task(), Limits())).cached
    await again.aclose()
    assert inner.asked == 1


def test_the_key_tells_checks_apart() -> None:
    both = "lemma l(x: int) requires x > 1 ensures x > 0 {} lemma m() ensures true {}"
    keys = [
        verdict_key(task(), Limits(), TOOL),
        verdict_key(task(LEMMA.replace("> 1", "> 2")), Limits(), TOOL),
        verdict_key(task(LEMMA.replace("> 1", ">= 1")), Limits(), TOOL),
        verdict_key(task(LEMMA.replace("int", "nat")), Limits(), TOOL),
        verdict_key(task(LEMMA.replace("int", "real").replace("1", "1.0").replace("> 0", "> 0.5")), Limits(), TOOL),
        verdict_key(task(LEMMA.replace("x > 1", "x  > 1")), Limits(), TOOL),  # results name places
        verdict_key(task(LEMMA.replace("{}", "{ assert x > 0; }")), Limits(), TOOL),
        verdict_key(task(both), Limits(), TOOL),
        verdict_key(task(both, ("m",)), Limits(), TOOL),
        verdict_key(task(both, ("l", "m")), Limits(), TOOL),
        verdict_key(task(), Limits(seed=1), TOOL),
        verdict_key(task(), Limits(resource=None), TOOL),
        verdict_key(task(), Limits(), replace(TOOL, version="2")),
        verdict_key(task(), Limits(), replace(TOOL, solver="z3 6")),
        verdict_key(task(), Limits(), replace(TOOL, name="dafny-2.3")),
    ]
    assert len(set(keys)) == len(keys)
    assert verdict_key(task(), Limits(), TOOL) == keys[0]


def test_a_deep_program_has_a_key() -> None:
    claim: Expr = BoolLiteral(True)
    for _ in range(20_000):
        claim = Unary("!", claim)
    lemma = Lemma("l", (), (), ensures=(Clause(claim),))
    assert len(verdict_key(CheckTask(Program((lemma,)), ("l",)), Limits(), TOOL)) == 32


@pytest.mark.parametrize(
    ("result", "kept"),
    [
        (RESULT, True),
        (replace(RESULT, state=CheckState.PROVED), True),
        (replace(RESULT, state=CheckState.ILL_FORMED), True),
        (replace(RESULT, state=CheckState.UNSUPPORTED), True),
        (replace(RESULT, state=CheckState.TOOL_ERROR), False),
        (replace(RESULT, state=CheckState.TIMEOUT), False),
        (
            replace(RESULT, obligations=(replace(RESULT.obligations[0], state=ObligationState.TIMEOUT),)),
            False,
        ),
        (
            replace(
                RESULT,
                obligations=(replace(RESULT.obligations[0], state=ObligationState.UNKNOWN, counterexample={"x": "1"}),),
            ),
            False,
        ),
        (
            replace(
                RESULT,
                obligations=(replace(RESULT.obligations[0], state=ObligationState.UNKNOWN, counterexample={}),),
            ),
            True,
        ),
    ],
)
async def test_what_is_kept(result: CheckResult, kept: bool, tmp_path: Path) -> None:
    assert keepable(result) is kept
    inner = Counting(result)
    cached = CachedChecker(inner, tmp_path / "verdicts.sqlite")
    for _ in range(2):
        await cached.check(task(), Limits())
    await cached.aclose()
    assert inner.asked == (1 if kept else 2)


@pytest.mark.parametrize("damage", [b"", b"nonsense", "cut", "flip"])
async def test_a_damaged_entry_is_written_anew(damage: bytes | str, tmp_path: Path) -> None:
    path = tmp_path / "verdicts.sqlite"
    inner = Counting()
    cached = CachedChecker(inner, path)
    await cached.check(task(), Limits())
    with sqlite3.connect(path) as connection:
        (body,) = connection.execute("SELECT body FROM verdicts").fetchone()
        if damage == "cut":
            body = body[:-3]
        elif damage == "flip":
            body = body[:20] + bytes([body[20] ^ 1]) + body[21:]
        else:
            body = damage
        connection.execute("UPDATE verdicts SET body = ?", (body,))
    connection.close()
    assert not (await cached.check(task(), Limits())).cached
    assert (await cached.check(task(), Limits())).cached
    assert inner.asked == 2
    await cached.aclose()


async def test_a_damaged_file_is_put_aside(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.sqlite"
    path.write_bytes(b"this is no database" * 500)
    cached = CachedChecker(Counting(), path)
    results = [await cached.check(task(), Limits()) for _ in range(3)]
    await cached.aclose()
    assert results[-1].cached
    assert path.with_name("verdicts.sqlite.damaged").read_bytes().startswith(b"this is no")


@pytest.mark.parametrize("place", [lambda folder: folder, lambda folder: folder / "file" / "verdicts.sqlite"])
async def test_a_place_that_cannot_be_written_costs_only_the_work(
    place: Callable[[Path], Path], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    inner = Counting()
    cached = CachedChecker(inner, place(tmp_path))
    for _ in range(2):
        assert await cached.check(task(), Limits()) == RESULT
    await cached.aclose()
    assert inner.asked == 2


async def test_many_at_once(tmp_path: Path) -> None:
    checkers = [CachedChecker(Counting(), tmp_path / "verdicts.sqlite") for _ in range(3)]
    async with asyncio.TaskGroup() as group:
        for checker in checkers:
            for number in range(20):
                group.create_task(checker.check(task(LEMMA.replace("> 1", f"> {number}")), Limits()))
    for checker in checkers:
        for number in range(20):
            assert (await checker.check(task(LEMMA.replace("> 1", f"> {number}")), Limits())).cached
        await checker.aclose()


def test_a_kill_loses_nothing_written(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.sqlite"
    script = textwrap.dedent(
        f"""
        import sys
        from pathlib import Path
        from maxproof.formal.checkers.cache import VerdictStore
        from maxproof.formal.checkers.types import CheckResult, CheckState, Tool
        store = VerdictStore(Path({str(path)!r}))
        for number in range(10**6):
            store.put(number.to_bytes(4, "big"), CheckResult(CheckState.PROVED, Tool("a", "b", "c")))
            print(number, flush=True)
        """
    )
    writer = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    last = 0
    while last < 50:
        last = int(writer.stdout.readline())
    os.kill(writer.pid, signal.SIGKILL)
    writer.wait()
    last = max([last, *(int(line) for line in writer.stdout.read().split("\n")[:-1])])
    writer.stdout.close()
    store = VerdictStore(path)
    assert all(store.get(number.to_bytes(4, "big")) is not None for number in range(last + 1))
    store.close()
