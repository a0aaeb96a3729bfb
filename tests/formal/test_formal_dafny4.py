"""Dafny 4 by its documented contract, played by a stand-in in several versions, and the real one where there is one."""

import asyncio
import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from dafny_standin import standin
from hypothesis import given
from hypothesis import strategies as st

from maxproof.formal.checkers.certify import certify, verdict_words
from maxproof.formal.checkers.choose import VARIABLE, available_checkers, find_dafny, open_checker
from maxproof.formal.checkers.dafny4 import Dafny4Paths, arguments, check_cold
from maxproof.formal.checkers.dafny4_output import Log, filled, read_log, read_output
from maxproof.formal.checkers.dafny4_server import Dafny4
from maxproof.formal.checkers.dafny_program import DafnyProgram, dafny_program
from maxproof.formal.checkers.types import CheckState, CheckTask, Limits, ObligationKind, ObligationState, Tool
from maxproof.formal.syntax.ast import Position
from maxproof.formal.syntax.dialect import Dialect
from maxproof.formal.syntax.parse import parse_program
from maxproof.problems import InputError

TEXT = """lemma Trusted(x: int)
  ensures x * x >= 0
{}
lemma First(x: int)
  ensures x == x
{}
lemma Second(x: int)
  ensures x > 0
{ Trusted(x); }
"""
TASK = CheckTask(parse_program(TEXT), ("First", "Second"))
LIMITS = Limits(wall_seconds=20)
VERSIONS = ["4.3.0", "4.4.0", "4.5.0", "4.10.0", "4.11.0"]
STATES = {
    "ok": CheckState.PROVED,
    "harmless": CheckState.PROVED,
    "fail": CheckState.FAILED,
    "timeout": CheckState.TIMEOUT,
    "limit": CheckState.TIMEOUT,
    "resolve": CheckState.ILL_FORMED,
    "warning": CheckState.FAILED,
    "skipped": CheckState.TOOL_ERROR,
    "silent": CheckState.TOOL_ERROR,
    "garbage": CheckState.TOOL_ERROR,
    "crash": CheckState.TOOL_ERROR,
}


def paths(folder: Path, version: str, scene: str) -> Dafny4Paths:
    major, minor, patch = map(int, version.split("."))
    return Dafny4Paths(standin(folder, version, scene), (major, minor, patch), Tool("dafny-4", version, "z3"))


@pytest.mark.parametrize("scene", STATES)
@pytest.mark.parametrize("version", ["4.3.0", "4.11.0"])
async def test_each_end_has_its_state(tmp_path: Path, version: str, scene: str) -> None:
    result = await check_cold(paths(tmp_path, version, scene), TASK, LIMITS)
    assert result.state is STATES[scene], result
    assert (result.reason == "") is (result.state is CheckState.PROVED)


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_failure_in_every_version(tmp_path: Path, version: str) -> None:
    result = await check_cold(paths(tmp_path, version, "fail"), TASK, LIMITS)
    assert result.state is CheckState.FAILED
    (obligation,) = result.obligations
    assert obligation.kind is ObligationKind.POSTCONDITION
    assert obligation.state is ObligationState.UNKNOWN
    assert (obligation.lemma, obligation.text) == ("Second", "ensures x > 0")
    assert obligation.at == Position(7, 1)
    assert obligation.related == Position(8, 11)
    if version not in ("4.3.0", "4.4.0"):
        assert (result.proved, result.total) == (3, 4)


@pytest.mark.parametrize("version", VERSIONS)
async def test_success_in_every_version(tmp_path: Path, version: str) -> None:
    dafny = paths(tmp_path, version, "ok")
    result = await check_cold(dafny, TASK, replace(LIMITS, seed=3), isolate=True)
    assert result.state is CheckState.PROVED
    assert verdict_words(result) == "proved"
    assert (await certify(TASK, dafny, LIMITS)).state is CheckState.PROVED


async def test_arguments_are_filled_in(tmp_path: Path) -> None:
    result = await check_cold(paths(tmp_path, "4.11.0", "filled"), TASK, LIMITS)
    (obligation,) = result.obligations
    assert obligation.kind is ObligationKind.NATURAL
    resolution = await check_cold(paths(tmp_path, "4.11.0", "resolve"), TASK, LIMITS)
    assert resolution.reason == "unresolved identifier: foo"
    assert resolution.diagnostics[0].at == Position(7, 1)


async def test_a_hang_is_killed_with_its_child(tmp_path: Path) -> None:
    dafny = paths(tmp_path, "4.11.0", "hang")
    result = await check_cold(dafny, TASK, Limits(wall_seconds=1.5))
    assert result.state is CheckState.TIMEOUT
    assert "killed after 1.5 s" in result.reason
    assert running(tmp_path) == []


async def test_endless_output_is_cut(tmp_path: Path) -> None:
    result = await check_cold(paths(tmp_path, "4.11.0", "huge"), TASK, LIMITS)
    assert result.state is CheckState.TOOL_ERROR
    assert "without end" in result.reason


def running(folder: Path) -> list[str]:
    """Processes of stand-ins that were written to that folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            line = entry.read_bytes().decode(errors="replace")
            if f"\0{folder}\0" in line:
                found.append(line)
    return found


def test_options_by_version() -> None:
    limits = Limits(resource=20_000_000, seconds=2.5, seed=7)
    new, old = (arguments(version, limits, isolate=True) for version in ((4, 11, 0), (4, 3, 0)))
    assert new[new.index("--resource-limit") + 1] == "20000000"
    assert old[old.index("--resource-limit") + 1] == "20000"
    assert new[new.index("--verification-time-limit") + 1] == "3"
    assert "--json-output" in new
    assert "--json-diagnostics" in old
    assert "--allow-warnings" not in old
    assert "/randomSeed:7" in new
    assert new[-1] == "program.dfy"
    assert "--isolate-assertions" not in arguments((4, 11, 0), limits, isolate=False)


def test_format_strings() -> None:
    assert filled("{0} and {1}, {{0}} {2}", ["a{1}", 2]) == "a{1} and 2, {0} {2}"
    assert filled("{0}", []) == "{0}"


def program(task: CheckTask = TASK) -> DafnyProgram:
    found = dafny_program(task, Dialect.DAFNY_4)
    assert isinstance(found, DafnyProgram)
    return found


TRAILER = "Dafny program verifier finished with 2 verified, 0 errors"
GOOD_LOG = (
    '{"verificationResults": [{"name": "First (correctness)", "outcome": "Correct", "vcResults": []},'
    '{"name": "Second (correctness)", "outcome": "Correct", "vcResults": []}]}'
)


def test_proved_needs_every_witness() -> None:
    def state(output: str, log: str | None, code: int | None) -> CheckState:
        return read_output(program(), output, log, Tool("dafny-4", "", ""), seconds=0, code=code).state

    assert state(TRAILER, GOOD_LOG, 0) is CheckState.PROVED
    for output, log, code in [
        ("", GOOD_LOG, 0),
        (TRAILER, None, 0),
        (TRAILER, GOOD_LOG.replace("Second", "Other"), 0),
        (TRAILER, GOOD_LOG.replace('"Correct"', '"TimedOut"', 1), 0),
        (TRAILER, GOOD_LOG.replace("]}]}", ']},{"name": "First (well-formedness)", "outcome": "Errors"}]}'), 0),
        (TRAILER, GOOD_LOG, 4),
        (TRAILER, GOOD_LOG, 1),
        (TRAILER, GOOD_LOG, -9),
        (TRAILER, GOOD_LOG, None),
        (TRAILER.replace("2 v", "1 v"), GOOD_LOG, 0),
        (TRAILER + ", 1 inconclusive", GOOD_LOG, 0),
        (TRAILER + ", 1 time out", GOOD_LOG, 0),
        (TRAILER.replace("0 errors", "1 error"), GOOD_LOG, 0),
        ("program.dfy(4,6): Error: something\n" + TRAILER, GOOD_LOG, 0),
        ("program.dfy(4,6): Warning: this forall statement has no body\n" + TRAILER, GOOD_LOG, 0),
        ("Unhandled exception: x\n" + TRAILER, GOOD_LOG, 0),
        ('{"type": "exception", "value": "x"}\n' + TRAILER, GOOD_LOG, 0),
        ("not " + TRAILER, GOOD_LOG, 0),
    ]:
        assert state(output, log, code) is not CheckState.PROVED, (output, log, code)


@given(st.text(), st.text(), st.sampled_from([0, 2, 4, None, -11]))
def test_noise_never_proves_nor_raises(output: str, log: str, code: int | None) -> None:
    result = read_output(program(), output, log, Tool("dafny-4", "", ""), seconds=0, code=code)
    assert result.state is not CheckState.PROVED


@pytest.mark.parametrize(
    "log", ["", "[]", "{", '{"verificationResults": 3}', "[" * 100_000, '{"verificationResults": [1]}']
)
def test_a_strange_log_is_empty(log: str) -> None:
    assert read_log(log) == Log()


SERVER_STATES = {
    "ok": CheckState.PROVED,
    "harmless": CheckState.PROVED,
    "fail": CheckState.FAILED,
    "mute": CheckState.FAILED,
    "timeout": CheckState.TIMEOUT,
    "resolve": CheckState.ILL_FORMED,
    "warning": CheckState.FAILED,
    "garbage": CheckState.TOOL_ERROR,
    "huge": CheckState.TOOL_ERROR,
    "crash": CheckState.TOOL_ERROR,
}


@pytest.mark.parametrize("scene", SERVER_STATES)
async def test_language_server(tmp_path: Path, scene: str) -> None:
    checker = Dafny4(paths(tmp_path, "4.11.0", scene), 1)
    try:
        first = await checker.check(TASK, LIMITS)
        second = await checker.check(TASK, LIMITS)
    finally:
        await checker.aclose()
    assert (first.state, second.state) == (SERVER_STATES[scene], SERVER_STATES[scene]), first
    if scene == "fail":
        (obligation,) = first.obligations
        assert (obligation.kind, obligation.at) == (ObligationKind.POSTCONDITION, Position(7, 1))
        assert obligation.related == Position(8, 11)


async def test_language_server_hang_is_killed(tmp_path: Path) -> None:
    checker = Dafny4(paths(tmp_path, "4.11.0", "hang"), 2)
    async with asyncio.TaskGroup() as group:
        checks = [group.create_task(checker.check(TASK, Limits(wall_seconds=1.5))) for _ in range(3)]
    assert [check.result().state for check in checks] == [CheckState.TIMEOUT] * 3
    await checker.aclose()
    assert running(tmp_path) == []


async def test_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, standin(tmp_path, "4.11.0", "ok"))
    dafny = await find_dafny("dafny")
    assert (dafny.tool.name, dafny.tool.version) == ("dafny-4", "4.11.0")
    assert await available_checkers() == ("embedded", "dafny-4")
    async with open_checker("dafny-4", 1) as checker:
        assert (await checker.check(TASK, LIMITS)).state is CheckState.PROVED
    with pytest.raises(InputError, match=r"no dafny-2.3 found, but Dafny 4.11.0 .*apt-get install dafny"):
        await find_dafny("dafny-2.3")


@pytest.mark.parametrize("version", ["2.0.0", "3.9.1", "4.2.0", "5.0.0"])
async def test_a_version_that_is_not_supported(tmp_path: Path, version: str) -> None:
    with pytest.raises(InputError, match=re.escape(f"Dafny {version} at ")) as caught:
        await find_dafny("dafny", standin(tmp_path, version, "ok"))
    assert "\n" not in str(caught.value)


async def test_none_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr("maxproof.formal.checkers.choose._DEBIAN", str(tmp_path / "dafny"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match=r"no dafny found .apt-get install dafny"):
        await find_dafny()
    assert await available_checkers() == ("embedded",)
    with pytest.raises(InputError, match="no checker 'coq'"):
        async with open_checker("coq", 1):
            pass


@pytest.fixture(scope="module")
def real() -> Dafny4Paths:
    try:
        dafny = asyncio.run(find_dafny("dafny-4"))
    except InputError as error:
        pytest.skip(str(error))
    assert isinstance(dafny, Dafny4Paths)
    return dafny


async def test_the_real_one(real: Dafny4Paths) -> None:
    good = CheckTask(TASK.program, ("First",))
    assert (await check_cold(real, good, Limits())).state is CheckState.PROVED
    assert (await check_cold(real, TASK, Limits())).state is CheckState.FAILED
    checker = Dafny4(real, 1)
    try:
        assert (await checker.check(good, Limits())).state is CheckState.PROVED
        assert (await checker.check(TASK, Limits())).state is CheckState.FAILED
    finally:
        await checker.aclose()
