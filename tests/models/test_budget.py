"""Budgets trip, are not exceeded, keep something for the tournament, and never hang."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from caller_fakes import FakeEndpoint, bindings_of, call, caller_on, samples
from hypothesis import given
from hypothesis import strategies as st

from maxproof.models.budget import NOTHING, Admission, Amounts, deadline_reserve, decide, share_left
from maxproof.models.caller import JournaledCaller
from maxproof.models.chat import ChatRequest
from maxproof.models.prices import cost_of
from maxproof.models.settings import BudgetSettings, EndpointSettings, Prices, RoleSettings
from maxproof.models.types import Answer, CallFailed, CallNotRun, FailureKind, NoAnswer, Stop, StopKind, Usage
from maxproof.problems import InputError

PRICES = Prices(input=10, output=20)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite"


async def ask_all(caller: JournaledCaller, count: int, *, role: str = "generator", start: int = 0) -> list[str]:
    """Asks all at once; the text, or the reason why there is none."""

    async def one(candidate: int) -> str:
        try:
            return (await caller.ask(call(candidate, role=role))).text
        except CallNotRun as refused:
            return refused.reason

    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(start + i)) for i in range(count)]
    return [task.result() for task in tasks]


async def slow(request: ChatRequest) -> None:
    await asyncio.sleep(0.005)


async def test_calls_are_never_exceeded_and_some_are_kept_for_the_ranker(path: Path) -> None:
    endpoint = FakeEndpoint(slow)
    with caller_on(path, endpoint, budget=BudgetSettings(max_calls=10), reserved_calls=3) as caller:
        found = await ask_all(caller, 20)
        assert sum(text.startswith("answer") for text in found) == 7
        reason = "the budget max_calls = 10 is reached (but for what is kept for the tournament)"
        assert {text for text in found if not text.startswith("answer")} == {reason}
        assert caller.stop.reason == reason
        votes = await ask_all(caller, 5, role="ranker")
        assert sum(text.startswith("answer") for text in votes) == 3
        assert reason in votes
    assert endpoint.samples == 10


async def test_a_group_of_samples_is_cut_to_what_the_budget_allows(path: Path) -> None:
    with caller_on(path, FakeEndpoint(), budget=BudgetSettings(max_calls=3)) as caller:
        results = await caller.ask_samples(samples(5))
        assert caller.stop == Stop(StopKind.BUDGET, "the budget max_calls = 3 is reached")
    assert [isinstance(result, Answer) for result in results] == [True] * 3 + [False] * 2
    assert {str(result) for result in results[3:]} == {"the budget max_calls = 3 is reached"}


async def test_a_failed_call_counts_once(path: Path) -> None:
    failing = asyncio.Event()

    async def fails(request: ChatRequest) -> None:
        failing.set()
        raise CallFailed(FailureKind.TIMEOUT, "no answer")

    endpoint = FakeEndpoint(fails)
    with caller_on(path, endpoint, budget=BudgetSettings(max_calls=2)) as caller:
        failed = asyncio.create_task(caller.ask_samples([call(0)]))
        await failing.wait()  # its row is being written
        assert caller.progress().failed == 1
        endpoint.script = None
        assert await ask_all(caller, 2, start=1) == ["answer 0", "the budget max_calls = 2 is reached"]
        await failed


async def test_calls_of_earlier_sessions_count(path: Path) -> None:
    for expected in (4, 0):
        with caller_on(path, FakeEndpoint(), budget=BudgetSettings(max_calls=4)) as caller:
            found = await ask_all(caller, 6, start=10 * expected)
            assert sum(text.startswith("answer") for text in found) == expected
    with caller_on(path, FakeEndpoint(), budget=BudgetSettings(max_calls=6)) as caller:
        assert sum(text.startswith("answer") for text in await ask_all(caller, 6, start=100)) == 2


@pytest.mark.parametrize("usage", [Usage(100, 50), Usage(100, 50, estimated=True)])
async def test_tokens_stop_the_run_near_their_limit(path: Path, usage: Usage) -> None:
    roles = bindings_of(generator=RoleSettings(max_tokens=200))
    budget = BudgetSettings(max_tokens=3000)
    with caller_on(path, FakeEndpoint(slow, usage=usage), bindings=roles, budget=budget) as caller:
        found = await ask_all(caller, 100)
        assert 2700 <= caller.progress().total_tokens <= 3000
        assert any("max_tokens = 3000" in text for text in found)
        assert caller.usage()[0].estimated == usage.estimated


async def test_a_limit_below_one_answer_still_lets_one_call_try(path: Path) -> None:
    with caller_on(path, FakeEndpoint(slow), budget=BudgetSettings(max_tokens=1000)) as caller:
        found = await ask_all(caller, 12)  # max_tokens of the role is 32768: far above the budget
        assert sum(text.startswith("answer") for text in found) >= 3
        assert caller.progress().total_tokens <= 1000


async def test_cost_stops_the_run(path: Path) -> None:
    priced = bindings_of(EndpointSettings(base_url="http://h/v1", model="m", prices=PRICES))
    with caller_on(path, FakeEndpoint(slow), bindings=priced, budget=BudgetSettings(max_cost=0.02)) as caller:
        found = await ask_all(caller, 50)
        assert any("max_cost = 0.02" in text for text in found)
        assert caller.progress().cost == pytest.approx(0.02, abs=0.002)


def test_a_cost_limit_that_can_never_trip_is_refused(path: Path) -> None:
    budget = BudgetSettings(max_cost=1)
    with pytest.raises(InputError, match=r"endpoints\.default\.prices: .*never trip"), caller_on(path, budget=budget):
        pass
    free = bindings_of(EndpointSettings(base_url="local:smollm2"))
    with pytest.raises(InputError, match="every endpoint is free"), caller_on(path, bindings=free, budget=budget):
        pass


async def test_the_deadline_cuts_off_what_is_in_flight(path: Path) -> None:
    async def never(request: ChatRequest) -> None:
        await asyncio.Event().wait()

    with caller_on(path, FakeEndpoint(never), budget=BudgetSettings(deadline_s=0.05)) as caller:
        assert set(await ask_all(caller, 5)) == {"the deadline of 0.05 s is reached"}
        assert await ask_all(caller, 1, start=9) == ["the deadline of 0.05 s is reached"]
        assert caller.progress().finished == 0


async def test_the_deadline_leaves_time_for_the_ranker_and_counts_earlier_sessions(path: Path) -> None:
    now = 0.0
    options = {"reserved_calls": 3, "monotonic": lambda: now, "clock": lambda: now}
    budget = BudgetSettings(deadline_s=100)
    with caller_on(path, FakeEndpoint(), budget=budget, **options) as caller:
        assert (await ask_all(caller, 1)) == ["answer 0"]
        now = 98.0  # three recent latencies of 0.5 s are kept: 98.5
        assert (await ask_all(caller, 1, start=1)) == ["answer 1"]
        now = 99.0
        assert await ask_all(caller, 1, start=2) == ["the deadline of 100 s is reached"]
        assert (await ask_all(caller, 1, role="ranker")) == ["answer 2"]
        now = 100.0
        assert await ask_all(caller, 1, role="ranker", start=1) == ["the deadline of 100 s is reached"]


async def test_a_stopped_run_says_the_same_on_replay_and_a_larger_budget_lifts_it(path: Path) -> None:
    with caller_on(path, FakeEndpoint(), budget=BudgetSettings(max_calls=2)) as caller:
        live = [await result for result in [ask_all(caller, 2), ask_all(caller, 2, start=2)]]
        await caller.finish("stopped")
        reason, elapsed, usage = caller.stop.reason, caller.elapsed_s(), caller.usage()
    with caller_on(path, replay=True) as caller:
        assert [await result for result in [ask_all(caller, 2), ask_all(caller, 2, start=2)]] == live
        assert (caller.stop.reason, caller.elapsed_s(), caller.usage()) == (reason, elapsed, usage)
    with caller_on(path, FakeEndpoint(), budget=BudgetSettings(max_calls=2)) as caller:
        await ask_all(caller, 4)
        await caller.finish("stopped")
    with caller_on(path, replay=True) as caller:
        assert (caller.stop.reason, caller.elapsed_s()) == (reason, elapsed)  # it was refused at once: no trace
    with caller_on(path, FakeEndpoint(), budget=BudgetSettings(max_calls=9)) as caller:
        assert caller.stop.reason == ""
        assert all(text.startswith("answer") for text in await ask_all(caller, 4))
        await caller.finish("done")
    with caller_on(path, replay=True) as caller:
        assert caller.stop.reason == ""


async def test_after_a_stop_nothing_new_starts_but_what_is_in_flight_is_recorded(path: Path) -> None:
    release = asyncio.Event()

    async def held(request: ChatRequest) -> None:
        await release.wait()

    with caller_on(path, FakeEndpoint(held), budget=BudgetSettings(max_calls=1)) as caller:
        running = asyncio.create_task(ask_all(caller, 1))
        await asyncio.sleep(0.01)
        (refused,) = await ask_all(caller, 1, start=1)
        assert "max_calls = 1" in refused
        release.set()
        assert await running == ["answer 0"]
    with caller_on(path, replay=True) as caller:
        assert (await caller.ask(call(0))).text == "answer 0"


async def test_progress_shows_the_least_share_left(path: Path) -> None:
    budget = BudgetSettings(max_calls=10, max_tokens=1000)
    roles = bindings_of(generator=RoleSettings(max_tokens=100))
    with caller_on(path, FakeEndpoint(), bindings=roles, budget=budget) as caller:
        await ask_all(caller, 2)
        assert caller.progress().budget_left == pytest.approx(0.7)
        assert isinstance((await caller.ask_samples([call(0)]))[0], Answer | NoAnswer)


def test_cached_tokens_have_their_own_price() -> None:
    usage = Usage(1_000_000, 500_000, cached_tokens=400_000)
    assert cost_of(usage, Prices(input=10, output=20)) == pytest.approx(20)
    assert cost_of(usage, Prices(input=10, output=20, cached_input=1)) == pytest.approx(16.4)
    assert cost_of(Usage(10, 0, cached_tokens=99), Prices(input=1, cached_input=0)) == 0


def test_the_deadline_reserve_is_a_tenth_or_three_latencies() -> None:
    assert deadline_reserve(3600, None) == 360
    assert deadline_reserve(3600, 20) == 60
    assert deadline_reserve(100, 20) == 10


amounts = st.builds(Amounts, st.integers(0, 50), st.integers(0, 5000), st.floats(0, 5))
limits = st.builds(
    BudgetSettings,
    max_calls=st.none() | st.integers(1, 60),
    max_tokens=st.none() | st.integers(1, 6000),
    max_cost=st.none() | st.floats(0.01, 6),
)


@given(limits, amounts, amounts, amounts, amounts)
def test_decisions(budget: BudgetSettings, spent: Amounts, in_flight: Amounts, ask: Amounts, reserve: Amounts) -> None:
    ask = Amounts(max(1, ask.calls), ask.tokens, ask.cost)
    least = Amounts(ask.calls, ask.tokens / 2, ask.cost / 2)
    decision = decide(budget, spent=spent, in_flight=in_flight, ask=ask, least=least, reserve=reserve)
    assert bool(decision.reason) == (decision.admission is Admission.REFUSE)
    alone = decide(budget, spent=spent, in_flight=NOTHING, ask=ask, least=least, reserve=reserve)
    assert alone.admission is not Admission.WAIT  # nothing in flight could end the wait
    free = decide(BudgetSettings(), spent=spent, in_flight=in_flight, ask=ask, least=least, reserve=reserve)
    assert free.admission is Admission.START
    if decision.admission is Admission.START:
        if budget.max_calls is not None:
            assert spent.calls + in_flight.calls + ask.calls <= budget.max_calls
        if budget.max_tokens is not None and in_flight.calls:
            assert spent.tokens + in_flight.tokens + ask.tokens <= budget.max_tokens
    if decision.admission is Admission.WAIT:
        assert in_flight.calls > 0


@given(limits, amounts, st.floats(0, 100))
def test_the_share_left_is_a_share(budget: BudgetSettings, spent: Amounts, elapsed: float) -> None:
    left = share_left(budget, spent, elapsed)
    assert left is None or 0 <= left <= 1
