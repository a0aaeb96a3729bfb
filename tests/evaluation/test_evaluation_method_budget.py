"""What a method pays, and when it must stop."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from method_fakes import Scripted, failed, not_run

from maxproof.evaluation.methods.budget import Budget, MeteredCaller, Spent
from maxproof.models.types import Answer, Call, CallAddress, CallFailed, CallNotRun, Message, NoAnswer


def call(candidate: int = 0, *, role: str = "judge", inputs: str = "x") -> Call:
    return Call(CallAddress(role, "verify", candidate), "judge@1", inputs, lambda: (Message("user", inputs),))


def metered(reply: str | NoAnswer = "abc", *free: str) -> MeteredCaller:
    return MeteredCaller(Scripted(lambda call, blocks: reply), frozenset(free))


async def test_each_distinct_call_is_paid_once() -> None:
    caller = metered()
    await caller.ask(call())
    await caller.ask_samples([call(), call(1), call(inputs="y"), call(1)])
    assert caller.spent == Spent(3, 30, 9)
    assert caller.spent.tokens == 39


async def test_each_method_pays_for_what_another_has_asked_before() -> None:
    shared = Scripted(lambda call, blocks: "abc")
    one, other = MeteredCaller(shared), MeteredCaller(shared)
    await one.ask_samples([call(), call(1)])
    await other.ask(call())
    assert (one.spent.calls, other.spent.calls) == (2, 1)


async def test_a_failed_call_is_a_call_without_tokens_and_one_that_is_not_run_is_none() -> None:
    caller = metered(failed())
    with pytest.raises(CallFailed):
        await caller.ask(call())
    assert isinstance((await caller.ask_samples([call()]))[0], CallFailed)
    assert caller.spent == Spent(1, 0, 0)
    refused = metered(not_run())
    with pytest.raises(CallNotRun):
        await refused.ask(call())
    assert refused.spent == Spent()


async def test_a_call_that_is_answered_after_a_failure_is_a_second_one() -> None:
    replies: list[str | NoAnswer] = ["abc", failed()]
    caller = MeteredCaller(Scripted(lambda call, blocks: replies.pop()))
    await caller.ask_samples([call()])
    assert isinstance((await caller.ask_samples([call()]))[0], Answer)
    assert caller.spent == Spent(2, 10, 3)


async def test_free_roles_cost_nothing() -> None:
    caller = metered("abc", "summariser")
    await caller.ask(call(role="summariser"))
    assert caller.spent == Spent()


@given(st.integers(1, 30), st.integers(0, 10), st.integers(0, 30))
def test_what_is_kept_is_not_left(limit: int, kept: int, calls: int) -> None:
    caller = metered()
    caller.spent = Spent(calls, 10 * calls, 5 * calls)
    assert Budget("calls", limit, kept).left(caller)() == (calls + kept < limit)
    expected = 15 * calls + (15 * kept if calls else 0) < 15 * limit
    assert Budget("tokens", 15 * limit, kept).left(caller)() == expected
