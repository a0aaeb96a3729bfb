"""Everything a report shows, gathered in one frozen value: a report is a pure function of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from maxproof.lab.types import OracleReport
from maxproof.models.types import RoleUsage, StopKind
from maxproof.problems import Problem
from maxproof.search.types import SearchResult


@dataclass(frozen=True, slots=True)
class RunView:
    """One run.

    Attributes:
        run: the run folder's name.
        settings: setting name -> value as text, for display; never holds a key.
        stopped: what ended the run early (budget, deadline, dead endpoint), "" otherwise; `stop_kind` is its kind.
        elapsed_s: seconds of work over all sessions.
        verifications_run, verifications_eager: verifier samples run, and what the eager search would have run.
        judge_calls_per_verification: to turn verifications into calls.
        oracle: on a problem of the lab, what its exact oracle says of the winner; it changes nothing else here.
    """

    run: str
    problem: Problem
    result: SearchResult
    settings: Mapping[str, str] = field(default_factory=dict)
    usage: tuple[RoleUsage, ...] = ()
    stopped: str = ""
    started: str = ""
    elapsed_s: float = 0.0
    verifications_run: int = 0
    verifications_eager: int = 0
    judge_calls_per_verification: int = 1
    version: str = ""
    stop_kind: StopKind = StopKind.NONE
    oracle: OracleReport | None = None
