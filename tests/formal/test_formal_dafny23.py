"""Dafny 2.3: its output is read strictly; the real one gives right verdicts, cold and warm; a hang costs one check."""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxproof.formal.checkers.certify import certify, verdict_words
from maxproof.formal.checkers.choose import find_dafny, open_checker
from maxproof.formal.checkers.dafny23 import Dafny23Paths, arguments, check_cold
from maxproof.formal.checkers.dafny23_output import read_output, verifier_name
from maxproof.formal.checkers.dafny_messages import obligation_kind
from maxproof.formal.checkers.dafny_program import DafnyProgram, Refused, dafny_program
from maxproof.formal.checkers.types import (
    CheckResult,
    CheckState,
    CheckTask,
    Limits,
    ObligationKind,
    ObligationState,
    Tool,
)
from maxproof.formal.syntax.ast import BoolLiteral, Clause, Expr, ForallStmt, Position, Program, Unary
from maxproof.formal.syntax.dialect import Dialect
from maxproof.formal.syntax.parse import parse_program
from maxproof.problems import InputError

TOOL = Tool("dafny-2.3", "2.3.0", "z3 4.8.12")
LIMITS = Limits(seconds=5, wall_seconds=60)

PROGRAM = """lemma Trusted(x: int)
  ensures x * x >= 0
{ assert false; }
function broken(n: int): int { 10 / n }
function half(n: int): int { n / 2 }
function inverse(n: int): int { 10 / n }
lemma good_one'(x: int)
  ensures x * x >= 0
{ Trusted(x); }
lemma wrong(x: int, y: int)
  requires y > 0
  ensures x > y
{
  assert x > 3;
  var z: nat := x - 5;
  one(z);
}
lemma one(n: nat)
  requires n > 10
{}
lemma ill(x: int)
  ensures 1 / x == 1 / x
{}
lemma loops(x: int)
  ensures x > 100
{ loops(x); }
lemma steps(x: int, f: int -> int)
  ensures true
{
  calc { x; <= { } x + 1; == x + 2; }
  forall z: int | z > 0 ensures z > 5 { }
  if { case x > 1 => case x == 0 => }
}
"""
ILL_TYPED = "lemma L(x: int)\n  ensures x > 0.0\n  ensures y > 0\n{}\n"
# Z3 4.8.12 heeds no limit on this one.
HANGS = """lemma L(a: real, b: real, c: real)
  requires a > 0.0 && b > 0.0 && c > 0.0
  requires a * b * c == 1.0
  ensures a * a * b + b * b * c + c * c * a >= 3.0
{}
"""


def task(text: str, *targets: str) -> CheckTask:
    return CheckTask(parse_program(text), targets)


def program(text: str, *targets: str) -> DafnyProgram:
    found = dafny_program(task(text, *targets), Dialect.DAFNY_2_3)
    assert isinstance(found, DafnyProgram)
    return found


# What is printed


def test_only_targets_are_verified() -> None:
    text = program(PROGRAM, "good_one'", "half").text
    assert "lemma {:axiom} {:verify false} Trusted(x: int)\n  ensures x * x >= 0\n" in text
    assert "assert false" not in text
    assert "function {:verify false} broken(" in text
    assert "function half(" in text
    assert "lemma good_one'(" in text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("lemma L() ensures false { assume false; }", "not supported: assume in L"),
        ("lemma {:axiom} L() ensures false {}", "not supported: the attribute axiom in L"),
        ("lemma {:verify false} L() ensures false {}", "not supported: the attribute verify in L"),
        ("lemma L() ensures false { assert {:only} true; }", "not supported: the attribute only in L"),
        ("lemma L() ensures false", "L has no body"),
        ("datatype L = A | B", "L is a datatype"),
        ("lemma K() {}", "there is no declaration of L"),
    ],
)
def test_what_would_go_unverified_is_refused(text: str, reason: str) -> None:
    found = dafny_program(task(text, "L"), Dialect.DAFNY_2_3)
    assert isinstance(found, Refused)
    assert found.reason.startswith(reason)


def test_options() -> None:
    chosen = arguments("/usr/bin/z3", Limits(seconds=2.2, resource=None, seed=5))
    assert {"/timeLimit:3", "/noCheating:1", "/proverOpt:O:smt.random_seed=5", "/z3exe:/usr/bin/z3"} <= set(chosen)
    assert not any(option.startswith("/rlimit") for option in chosen)
    assert "/rlimit:9" in arguments("z3", Limits(resource=9))


def test_a_forall_statement_without_a_body_is_refused() -> None:
    program = parse_program("lemma L() ensures false { forall x: int ensures false { } }")
    (lemma,) = program.lemmas
    assert lemma.body is not None
    (statement,) = lemma.body
    assert isinstance(statement, ForallStmt)
    bare = replace(lemma, body=(replace(statement, body=None),))
    found = dafny_program(CheckTask(Program((bare,)), ("L",)), Dialect.DAFNY_2_3)
    assert isinstance(found, Refused)


def test_a_program_that_is_too_deep_is_refused() -> None:
    program = parse_program("lemma L() ensures true {}")
    (lemma,) = program.lemmas
    condition: Expr = BoolLiteral(True)
    for _ in range(5000):
        condition = Unary("!", condition)
    deep = replace(lemma, ensures=(Clause(condition),))
    assert dafny_program(CheckTask(Program((deep,)), ("L",)), Dialect.DAFNY_2_3) == Refused(
        "the program is nested too deeply"
    )


# What is read

NOISE = """Prover error: line 18 column 28: unknown parameter 'model_compress'
Legal parameters are:
  auto_config (bool) (default: true)
  unicode (bool)
"""
GOOD = f"""[TRACE] Using prover: /usr/bin/z3
Coalescing blocks...
{NOISE}
Verifying CheckWellformed$$_module.__default.half ...
  [0.253 s, 1 proof obligation]  verified
{NOISE}
Verifying Impl$$_module.__default.good__one_k ...
  [0.052 s, 2 proof obligations]  verified

Dafny program verifier finished with 2 verified, 0 errors
"""


def read(output: str, code: int | None = 0) -> CheckResult:
    return read_output(program(PROGRAM, "good_one'", "half"), output, TOOL, seconds=0, code=code)


def test_names() -> None:
    assert verifier_name("a_b'?") == "a__b_k_q"


def test_proved_needs_every_witness() -> None:
    assert read(GOOD).state is CheckState.PROVED
    assert (read(GOOD).proved, read(GOOD).total) == (3, 3)
    server = GOOD + "Verification completed successfully!\n[SUCCESS] [[DAFNY-SERVER: EOM]]"
    assert read(server, None).state is CheckState.PROVED
    lemma = "Verifying Impl$$_module.__default.good__one_k ...\n  [0.052 s, 2 proof obligations]  verified\n"
    assert lemma in GOOD
    for output, code in [
        (GOOD, 1),
        (GOOD, -9),
        (GOOD, None),
        (GOOD.replace(lemma, ""), 0),
        (GOOD.replace(lemma, "").replace("2 verified", "1 verified"), 0),
        (GOOD.replace("good__one_k", "good"), 0),
        (GOOD.replace("Impl$$", "CheckWellformed$$"), 0),
        (GOOD.replace("2 verified", "3 verified"), 0),
        (GOOD.replace("0 errors", "1 error"), 1),
        (GOOD.replace("0 errors", "0 errors, 1 time out"), 0),
        (GOOD.replace("obligations]  verified", "obligations]  errors"), 0),
        (GOOD.replace("obligations]  verified", "obligations]  timed out"), 0),
        (GOOD.replace("obligations]  verified", "obligations]  inconclusive"), 0),
        (GOOD.replace("obligation]  verified", "obligation]  error"), 0),
        (GOOD.replace("  [0.052 s, 2 proof obligations]  verified", ""), 0),
        (GOOD.replace("unknown parameter 'model_compress'", "unknown parameter 'model'"), 0),
        ("Prover error: Prover died\n" + GOOD, 0),
        ("Prover error: Invalid PING response: (error: max. resource limit exceeded)\n" + GOOD, 0),
        (GOOD + "[ERROR] FATAL UNHANDLED EXCEPTION: System.IO.IOException\n", 0),
        ("program.dfy(1,2): Error: closeparen expected\n" + GOOD, 0),
        (server.replace("[SUCCESS]", "[FAILURE]"), None),
        (server.replace("Verification completed successfully!", ""), None),
        ("", 0),
        ("Dafny program verifier finished with 0 verified, 0 errors\n", 0),
        ("Verification completed successfully!\n[SUCCESS] [[DAFNY-SERVER: EOM]]", None),
    ]:
        assert read(output, code).state is not CheckState.PROVED, (output, code)


def test_states() -> None:
    timed_out = GOOD.replace("obligations]  verified", "obligations]  timed out").replace(
        "\nDafny",
        "a.dfy(16,6): Verification of 'Impl$$_module.__default.good__one_k' timed out after 3 seconds\n"
        "a.dfy(18,0): Timed out on BP5003: A postcondition might not hold on this return path.\n"
        "a.dfy(17,12): Related location: This is the postcondition that might not hold.\n\nDafny",
    )
    assert read(timed_out).state is CheckState.TIMEOUT
    assert (read(timed_out).proved, read(timed_out).total) == (1, 3)
    gave_up = GOOD.replace(NOISE, NOISE + "Prover error: x: max. resource limit exceeded\n").replace(
        "verified\n", "errors\n"
    )
    assert read(gave_up).state is CheckState.TIMEOUT
    assert read("Prover error: Prover died\n" + GOOD).state is CheckState.TOOL_ERROR
    assert (
        read("a.dfy(1,2): Error: closeparen expected\n1 parse errors detected in a.dfy\n", 2).state
        is CheckState.ILL_FORMED
    )


@given(st.text(), st.sampled_from([0, 4, None]))
def test_noise_never_proves_nor_raises(output: str, code: int | None) -> None:
    assert read(output, code).state is not CheckState.PROVED


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("A precondition for this call might not hold.", ObligationKind.PRECONDITION),
        ("possible violation of function precondition", ObligationKind.PRECONDITION),
        ("function precondition could not be proved", ObligationKind.PRECONDITION),
        ("assertion might not hold", ObligationKind.ASSERTION),
        ("assertion could not be proved", ObligationKind.ASSERTION),
        ("decreases clause might not decrease", ObligationKind.TERMINATION),
        ("alternative cases fail to cover all possibilties", ObligationKind.CASES),
        ("destructor 're' can only be applied to datatype values constructed by 'Complex'", ObligationKind.CONSTRUCTOR),
        ("value does not satisfy the subset constraints of 'nat'", ObligationKind.NATURAL),
        (
            "to be compilable, the value of a let-such-that expression must be uniquely determined",
            ObligationKind.UNIQUENESS,
        ),
        ("index out of range", ObligationKind.INDEX),
        ("something new", ObligationKind.OTHER),
    ],
)
def test_kinds(text: str, kind: ObligationKind) -> None:
    assert obligation_kind(text) is kind


# The real one


@pytest.fixture(scope="module")
def dafny() -> Dafny23Paths:
    try:
        found = asyncio.run(find_dafny("dafny-2.3"))
    except InputError as error:
        pytest.skip(str(error))
    assert isinstance(found, Dafny23Paths)
    return found


CASES = [
    (task(PROGRAM, "good_one'", "half"), CheckState.PROVED),
    (task(PROGRAM, "inverse"), CheckState.FAILED),
    (task(PROGRAM, "ill"), CheckState.FAILED),
    (task(ILL_TYPED, "L"), CheckState.ILL_FORMED),
    (task("lemma L(x: int)\n  ensures forall n: nat :: n * n >= 0\n{}", "L"), CheckState.PROVED),
]


async def test_warm(dafny: Dafny23Paths) -> None:
    async with open_checker("dafny-2.3", 1) as checker:
        for check, state in CASES:
            result = await checker.check(check, LIMITS)
            assert result.state is state, result
        assert (await checker.check(CASES[0][0], LIMITS)).state is CheckState.PROVED
        reseeded = await checker.check(CASES[0][0], replace(LIMITS, seed=1))
        assert reseeded.state is CheckState.PROVED
        starved = await checker.check(CASES[0][0], replace(LIMITS, resource=1000))
        assert starved.state is CheckState.TIMEOUT
        failed = await checker.check(task(PROGRAM, "wrong", "loops", "steps", "good_one'"), LIMITS)
        greedy = await checker.check(CASES[0][0], replace(LIMITS, memory_mb=20))
        assert greedy.state is CheckState.TIMEOUT
        assert "20 MB" in greedy.reason
        assert verdict_words(result) == "proved"
    found = {(o.lemma, o.kind): o for o in failed.obligations}
    assert failed.state is CheckState.FAILED
    assert found.keys() == {
        ("wrong", ObligationKind.POSTCONDITION),
        ("wrong", ObligationKind.ASSERTION),
        ("wrong", ObligationKind.NATURAL),
        ("wrong", ObligationKind.PRECONDITION),
        ("loops", ObligationKind.TERMINATION),
        ("steps", ObligationKind.CALC_STEP),
        ("steps", ObligationKind.FORALL_ENSURES),
        ("steps", ObligationKind.CASES),
    }
    call = found["wrong", ObligationKind.PRECONDITION]
    assert (call.at.line, call.text, call.related) == (16, "requires n > 10", Position(19, 12))
    assert all(o.state is ObligationState.UNKNOWN for o in failed.obligations)


async def test_cold(dafny: Dafny23Paths) -> None:
    for check, state in (CASES[2], CASES[3]):
        assert (await check_cold(dafny, check, LIMITS)).state is state
    certified = await certify(CASES[0][0], dafny, replace(LIMITS, seed=4))
    assert certified.state is CheckState.PROVED
    embedded = CheckResult(CheckState.PROVED, Tool("embedded", "0", "z3"))
    assert verdict_words(embedded) == "proved (embedded checker)"
    assert verdict_words(embedded, certified) == "proved"
    refused = replace(certified, state=CheckState.TIMEOUT)
    assert verdict_words(embedded, refused).startswith("proved (embedded checker), not certified by Dafny 2.3.0: ")


def working_in(folder: Path) -> list[int]:
    found = []
    for entry in Path("/proc").glob("[0-9]*/cwd"):
        with suppress(OSError):
            if os.readlink(entry).startswith(str(folder)):
                found.append(int(entry.parent.name))
    return found


async def test_a_hang_costs_one_check(dafny: Dafny23Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    async with open_checker("dafny-2.3", 1) as checker:
        hung = await checker.check(task(HANGS, "L"), Limits(seconds=1, wall_seconds=6))
        assert (hung.state, hung.reason) == (CheckState.TIMEOUT, "killed after 6 s")
        assert working_in(tmp_path) == []
        assert (await checker.check(CASES[0][0], LIMITS)).state is CheckState.PROVED
        assert working_in(tmp_path) != []
    assert working_in(tmp_path) == []
    assert os.listdir(tmp_path) == []


def test_kill_9_takes_a_busy_solver_along(dafny: Dafny23Paths, tmp_path: Path) -> None:
    script = textwrap.dedent(f"""
        import asyncio, tempfile
        from maxproof.formal.checkers.choose import open_checker
        from maxproof.formal.checkers.types import CheckTask, Limits
        from maxproof.formal.syntax.parse import parse_program
        tempfile.tempdir = {str(tmp_path)!r}
        async def main():
            async with open_checker("dafny-2.3", 1) as checker:
                await checker.check(CheckTask(parse_program({HANGS!r}), ("L",)), Limits(wall_seconds=100))
        asyncio.run(main())
    """)

    def solvers() -> list[int]:
        found = []
        for process in working_in(tmp_path):
            with suppress(OSError):
                if Path(f"/proc/{process}/comm").read_text().strip() == "z3":
                    found.append(process)
        return found

    user = subprocess.Popen([sys.executable, "-c", script])
    try:
        until = time.monotonic() + 60
        busy: set[int] = set()
        while not busy and time.monotonic() < until:  # the same one for a while: not one that only starts and ends
            first = set(solvers())
            time.sleep(0.3)
            busy = first & set(solvers())
        assert busy
    finally:
        os.kill(user.pid, signal.SIGKILL)
        user.wait()
    until = time.monotonic() + 60
    while working_in(tmp_path) and time.monotonic() < until:
        time.sleep(0.05)
    assert working_in(tmp_path) == []
