"""Budgets: whether one more request may start. Pure: numbers in, a decision out.

Calls are counted exactly, those in flight included, so `max_calls` is never exceeded. Tokens and money of a call are
known only when it ends: calls in flight count with an estimate, and a request that would fit if nothing were in flight
waits until some of it has finished. So the overshoot is what the estimates miss: before the first answer a call counts
with its whole `max_tokens`, afterwards with the mean of what was seen; one call alone may exceed by its own length.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from maxproof.models.settings import BudgetSettings

# The most of any budget that may be kept back from the search for the final tournament.
MAX_RESERVED_SHARE = 0.5
DEADLINE_RESERVE_SHARE = 0.1
DEADLINE_RESERVE_LATENCIES = 3


@dataclass(frozen=True, slots=True)
class Amounts:
    """An amount of calls, tokens and money: spent, estimated, or kept back. All >= 0."""

    calls: int = 0
    tokens: float = 0.0
    cost: float = 0.0

    def __add__(self, other: Amounts) -> Amounts:
        return Amounts(self.calls + other.calls, self.tokens + other.tokens, self.cost + other.cost)

    def __sub__(self, other: Amounts) -> Amounts:
        return Amounts(self.calls - other.calls, self.tokens - other.tokens, self.cost - other.cost)


NOTHING = Amounts()


class Admission(Enum):
    """`WAIT`: it may fit once something in flight has finished."""

    START = "start"
    WAIT = "wait"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class Decision:
    """`reason` says which budget is spent; "" unless refused."""

    admission: Admission
    reason: str = ""


def decide(
    budget: BudgetSettings,
    *,
    spent: Amounts,
    in_flight: Amounts,
    ask: Amounts,
    least: Amounts,
    reserve: Amounts = NOTHING,
) -> Decision:
    """Whether a request may start.

    Args:
        spent: of the whole run, finished calls only.
        in_flight: estimate of what runs now.
        ask: estimate for this request.
        least: what this request surely takes (its calls, its prompt's tokens); refusals rest on it when nothing has
            been observed, since an estimate from `max_tokens` alone says little.
        reserve: kept back from this request for others; at most half of each budget is kept back.
    """
    waits = False
    for name in ("calls", "tokens", "cost"):
        limit: float | None = getattr(budget, f"max_{name}")
        if limit is None:
            continue
        used, running, wanted, sure, kept = (
            getattr(amounts, name) for amounts in (spent, in_flight, ask, least, reserve)
        )
        kept = min(kept, limit * MAX_RESERVED_SHARE)
        if name == "calls":  # known exactly: what runs is as good as spent
            used, running, kept = used + running, 0, int(kept)
        free = limit - used - kept
        if sure > free or free <= 0:
            return Decision(Admission.REFUSE, _reached(name, limit, kept))
        waits = waits or (in_flight.calls > 0 and running + wanted > free)
    return Decision(Admission.WAIT if waits else Admission.START)


def _reached(name: str, limit: float, kept: float) -> str:
    # No sums: a run that is resumed and refused again for the same reason has nothing new to record.
    note = " (but for what is kept for the tournament)" if kept else ""
    return f"the budget max_{name} = {limit} is reached{note}"


def deadline_reserve(deadline_s: float, recent_latency_s: float | None) -> float:
    """Seconds kept for the tournament: a tenth of the deadline, at most three recent call latencies if any is known."""
    reserve = deadline_s * DEADLINE_RESERVE_SHARE
    if recent_latency_s is None:
        return reserve
    return min(reserve, DEADLINE_RESERVE_LATENCIES * recent_latency_s)


def share_left(budget: BudgetSettings, spent: Amounts, elapsed_s: float) -> float | None:
    """The least share, 0..1, left of any budget; None without one."""
    shares = [
        1 - used / limit
        for limit, used in (
            (budget.max_calls, spent.calls),
            (budget.max_tokens, spent.tokens),
            (budget.max_cost, spent.cost),
            (budget.deadline_s, elapsed_s),
        )
        if limit is not None
    ]
    return max(0.0, min(shares)) if shares else None
