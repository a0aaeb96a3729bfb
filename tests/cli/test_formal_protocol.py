"""What the flags of `formal baseline` and `formal translate` come to."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from maxproof.cli.formal import formal_app
from maxproof.formal.checkers.types import CheckResult, CheckState, CheckTask, Limits, Tool
from maxproof.formal.settings import FormalSettings


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[FormalSettings]:
    """The settings of the runs that would have been started."""
    seen: list[FormalSettings] = []

    def start(problems: Path, out: Path | None, kind: str, settings: FormalSettings) -> SimpleNamespace:
        seen.append(settings)
        return SimpleNamespace(path=Path("run"))

    monkeypatch.setattr("maxproof.cli.formal_work.start", start)
    monkeypatch.setattr("maxproof.cli.formal_work.go_on", lambda *_, **__: 0)
    return seen


def baseline(started: list[FormalSettings], *flags: str) -> FormalSettings:
    result = CliRunner().invoke(formal_app, ["baseline", ".", *flags])
    assert result.exit_code == 0, result.output
    return started.pop()


def test_of_the_published_baseline_the_seconds_decide(started: list[FormalSettings]) -> None:
    plain, paper = baseline(started), baseline(started, "--paper")
    assert plain.limits.limits() == Limits()
    assert (paper.repeats, paper.limits.seconds) == (5, 30.0)
    # The default resource limit lasts about two seconds; Z3 and Dafny take 32 bits.
    assert 15 * plain.limits.resource < paper.limits.resource < 2**31
    assert paper.limits.wall_seconds >= 2 * paper.limits.seconds


def test_flags_beside_the_published_baseline_count(started: list[FormalSettings]) -> None:
    own = baseline(started, "--paper", "--runs", "2", "--seconds", "3", "--resource", "1000", "--wall", "9").limits
    assert (own.seconds, own.resource, own.wall_seconds) == (3, 1000, 9)


class Named:
    """A checker that proves nothing."""

    def __init__(self, name: str, asked: list[tuple[str, Limits]]) -> None:
        self.tool = Tool(name, "1", "none")
        self.asked = asked

    async def check(self, task: CheckTask, limits: Limits) -> CheckResult:
        self.asked.append((self.tool.name, limits))
        return CheckResult(CheckState.FAILED, self.tool)

    async def aclose(self) -> None:
        pass


def test_an_audit_asks_every_checker_of_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, Limits]] = []

    async def available() -> tuple[str, ...]:
        return ("embedded", "dafny-9")

    @asynccontextmanager
    async def opened(name: str, workers: int) -> AsyncIterator[Named]:
        yield Named(name, asked)

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("maxproof.cli.formal_translate.available_checkers", available)
    monkeypatch.setattr("maxproof.cli.formal_translate.open_checker", opened)
    source = tmp_path / "one.lean"
    source.write_text("theorem t (n : ℕ) (h : n < 5) : n < 6 := by sorry\n")
    out = tmp_path / "out"
    told = CliRunner().invoke(formal_app, ["translate", str(source), "--out", str(out), "--audit"])
    assert told.exit_code == 0, told.output
    assert "audited by embedded 1 (none), dafny-9 1 (none)" in told.output
    assert {name for name, _ in asked} == {"embedded", "dafny-9"}
    assert all(limits.seconds <= 5 for _, limits in asked)
    (audit,) = json.loads((out / "audit.json").read_text())
    assert [one["checker"] for one in audit["examined"]] == ["embedded 1 (none)", "dafny-9 1 (none)"]
    as_json = CliRunner().invoke(formal_app, ["translate", str(source), "-o", str(out), "--audit", "--json", "--quiet"])
    assert json.loads(as_json.stdout)["checkers"] == ["embedded 1 (none)", "dafny-9 1 (none)"]
