"""Totals of a run, from its journal: the same numbers live, after a resume and in a replay."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Mapping
from typing import Any

from maxproof.models.bindings import Binding
from maxproof.models.call_key import sampler_digest
from maxproof.models.journal import Journal
from maxproof.models.journal_rows import FAILED
from maxproof.models.prices import cost_of, prices_of
from maxproof.models.settings import ROLES, EndpointSettings
from maxproof.models.types import RoleUsage, Stop, StopKind, Usage

_COUNTS = ("prompt_tokens", "completion_tokens", "reasoning_tokens", "cached_tokens")


def role_usage(journal: Journal, endpoints: Mapping[str, EndpointSettings]) -> tuple[RoleUsage, ...]:
    """One total for each role with calls, in the order of `ROLES`. Sums do not depend on the order of rows.

    Failed calls that were asked again count. `endpoints`: for the prices of calls that were made without any.
    """
    rows: dict[str, list[Mapping[str, Any]]] = {}
    columns = f"role, endpoint, state = '{FAILED}' AS failed, cost, latency, estimated, {', '.join(_COUNTS)}"
    for row in journal.calls(columns):
        rows.setdefault(row["role"], []).append({**dict(row), "cost": row_cost(row, endpoints)})
    voided = journal.voided()
    present = rows.keys() | voided.keys()
    order = [role for role in ROLES if role in present] + sorted(present - set(ROLES))
    return tuple(_total(role, rows.get(role, []), voided.get(role, 0)) for role in order)


def row_cost(row: sqlite3.Row, endpoints: Mapping[str, EndpointSettings]) -> float | None:
    """What a call has cost: as recorded, else by the prices that its endpoint has now; None without any.

    `row` has the columns endpoint, cost, prompt_tokens, completion_tokens and cached_tokens.
    """
    settings = endpoints.get(row["endpoint"])
    prices = prices_of(settings) if settings is not None else None
    if row["cost"] is not None or prices is None:
        return row["cost"]  # type: ignore[no-any-return]
    return cost_of(Usage(row["prompt_tokens"], row["completion_tokens"], cached_tokens=row["cached_tokens"]), prices)


def _total(role: str, rows: list[Mapping[str, Any]], voided: int) -> RoleUsage:
    answered = [row for row in rows if not row["failed"]]
    priced = all(row["cost"] is not None for row in answered)
    counts = {name: int(sum(row[name] for row in rows)) for name in _COUNTS}
    return RoleUsage(
        role=role,
        calls=len(rows) + voided,
        failed=len(rows) - len(answered) + voided,
        cost=math.fsum(row["cost"] for row in answered) if priced else None,
        seconds=math.fsum(row["latency"] for row in rows),
        estimated=any(row["estimated"] for row in rows),
        **counts,
    )


def elapsed_seconds(journal: Journal) -> float:
    """Seconds of work, summed over the sessions: from the start to the last thing recorded of each."""
    return math.fsum(max(0.0, session.last - session.started) for session in journal.sessions())


def first_started(journal: Journal) -> float:
    """Unix seconds; 0 if there was no session."""
    return next((session.started for session in journal.sessions()), 0.0)


def stop_event(stop: Stop) -> tuple[str, str]:
    """`stop` as an event of the journal; `recorded_stop` reads it."""
    return "stop", f"{stop.kind} {stop.reason}"


def recorded_stop(journal: Journal) -> Stop:
    """What ended the last session early; nothing if it came to its own end or was killed."""
    sessions = journal.sessions()
    for session, text in journal.events("stop"):
        if session == sessions[-1].id:
            kind, _, reason = text.partition(" ")
            return Stop(StopKind(kind), reason)
    return Stop()


def stale_calls(journal: Journal, bindings: Mapping[str, Binding], seed: int) -> int:
    """How many recorded calls can't be reused, since endpoint, model, sampling or seed of their role have changed.

    A changed prompt template or a changed problem shows only when the call is asked again.
    """
    current = {name: sampler_digest(binding, seed) for name, binding in bindings.items()}
    stale = 0
    for row in journal.calls("role, judge, sampler"):
        name = f"{row['role']}:{row['judge']}" if row["judge"] else row["role"]
        stale += current.get(name, current.get(row["role"])) != row["sampler"]
    return stale
