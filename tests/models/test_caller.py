"""K samples are K answers, what changes an answer changes the key, and nothing is asked twice."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from caller_fakes import FakeEndpoint, bindings_of, call, caller_on, samples

from maxproof.models.chat import ChatRequest
from maxproof.models.settings import BudgetSettings, EndpointSettings, RoleSettings
from maxproof.models.types import Answer, Call, CallFailed, CallNotRun, FailureKind, Message
from maxproof.models.usage import stale_calls


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite"


def content(path: Path) -> bytes:
    return path.read_bytes()


def texts(results: object) -> list[str]:
    assert isinstance(results, list)
    return [result.text if isinstance(result, Answer) else repr(result) for result in results]


async def test_k_samples_are_k_answers_and_the_same_k_on_replay(path: Path) -> None:
    with caller_on(path, FakeEndpoint()) as caller:
        first = await caller.ask_samples(samples(4))
    assert texts(first) == ["answer 0", "answer 1", "answer 2", "answer 3"]
    with caller_on(path, replay=True) as caller:
        assert await caller.ask_samples(samples(4)) == first
        assert caller.progress().replayed == 4


async def test_samples_of_one_prompt_go_as_one_request(path: Path) -> None:
    endpoint = FakeEndpoint()
    built = 0

    def prompt() -> tuple[Message, ...]:
        nonlocal built
        built += 1
        return (Message("user", "x"),)

    with caller_on(path, endpoint) as caller:
        await caller.ask_samples([Call(c.address, c.template, c.inputs, prompt) for c in samples(4)])
    assert [request.n for request in endpoint.requests] == [4]
    assert built == 1


async def test_an_endpoint_without_n_is_asked_once_for_each_sample_with_its_own_seed(path: Path) -> None:
    endpoint = FakeEndpoint(supports_n=False)
    with caller_on(path, endpoint) as caller:
        results = await caller.ask_samples(samples(4))
    assert len(set(texts(results))) == 4
    assert [request.n for request in endpoint.requests] == [1] * 4
    assert len({request.seed for request in endpoint.requests}) == 4
    assert all(request.seed is not None and 0 <= request.seed < 2**31 for request in endpoint.requests)


async def test_choices_that_a_server_leaves_out_are_asked_for(path: Path) -> None:
    endpoint = FakeEndpoint(choices=1)
    with caller_on(path, endpoint) as caller:
        results = await caller.ask_samples(samples(3))
    assert len(set(texts(results))) == 3
    assert [request.n for request in endpoint.requests] == [3, 1, 1]


async def test_only_missing_samples_are_asked(path: Path) -> None:
    with caller_on(path, FakeEndpoint()) as caller:
        before = await caller.ask_samples(samples(2))
    endpoint = FakeEndpoint(reply="later {0}")
    with caller_on(path, endpoint) as caller:
        after = await caller.ask_samples(samples(4))
    assert after[:2] == before
    assert texts(after[2:]) == ["later 0", "later 1"]
    assert [request.n for request in endpoint.requests] == [2]


async def test_a_recorded_answer_needs_no_prompt(path: Path) -> None:
    with caller_on(path, FakeEndpoint()) as caller:
        answer = await caller.ask(call())

    def prompt() -> tuple[Message, ...]:
        raise AssertionError("the prompt was built")

    recorded = call()
    with caller_on(path, FakeEndpoint()) as caller:
        assert await caller.ask(Call(recorded.address, recorded.template, recorded.inputs, prompt)) == answer


CHANGES = {
    "temperature": (bindings_of(generator=RoleSettings(temperature=0.5)), 0),
    "top_p": (bindings_of(generator=RoleSettings(top_p=0.5)), 0),
    "max_tokens": (bindings_of(generator=RoleSettings(max_tokens=5)), 0),
    "model": (bindings_of(EndpointSettings(base_url="http://h/v1", model="other")), 0),
    "base_url": (bindings_of(EndpointSettings(base_url="http://other/v1", model="m")), 0),
    "extra_body": (bindings_of(EndpointSettings(base_url="http://h/v1", model="m", extra_body={"top_k": 5})), 0),
    "send_seed": (bindings_of(EndpointSettings(base_url="http://h/v1", model="m", send_seed=False)), 0),
    "seed": (bindings_of(), 1),
}


@pytest.mark.parametrize("change", CHANGES)
async def test_a_changed_setting_reuses_nothing_and_is_counted(path: Path, change: str) -> None:
    bindings, seed = CHANGES[change]
    with caller_on(path, FakeEndpoint()) as caller:
        await caller.ask(call())
        assert stale_calls(caller._journal, bindings_of(), 0) == 0
    with caller_on(path, FakeEndpoint(reply="new"), bindings=bindings, seed=seed) as caller:
        assert stale_calls(caller._journal, bindings, seed) == 1
        assert (await caller.ask(call())).text == "new"
        assert caller.progress().finished == 2


@pytest.mark.parametrize(
    "changed",
    [call(1), call(0, 1), call(template="t@2"), call(role="judge"), call(role="judge", judge="free")],
    ids=["candidate", "sample", "template", "role", "judge"],
)
async def test_a_changed_call_is_another_call(path: Path, changed: Call) -> None:
    with caller_on(path, FakeEndpoint()) as caller:
        await caller.ask(call())
        assert (await caller.ask(changed)).text == "answer 1"


async def test_limits_and_keys_change_no_answer(path: Path) -> None:
    with caller_on(path, FakeEndpoint()) as caller:
        answer = await caller.ask(call())
    other = EndpointSettings(
        base_url="http://user:secret@h/v1/", model="m", api_key_env="X", timeout_s=5, concurrency=3, n_samples="off"
    )
    endpoint = FakeEndpoint()
    with caller_on(path, endpoint, bindings=bindings_of(other)) as caller:
        assert await caller.ask(call()) == answer
    assert b"secret" not in content(path)


async def test_a_replay_never_asks(path: Path) -> None:
    with caller_on(path, FakeEndpoint()) as caller:
        await caller.ask(call())
    with caller_on(path, FakeEndpoint(), replay=True) as caller, pytest.raises(CallNotRun, match="not recorded"):
        await caller.ask(call(1))


async def test_the_same_call_twice_at_once_is_asked_once(path: Path) -> None:
    endpoint = FakeEndpoint()
    with caller_on(path, endpoint) as caller:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(caller.ask(call())) for _ in range(3)]
    assert len({task.result().text for task in tasks}) == 1
    assert len(endpoint.requests) == 1


async def test_when_the_first_asker_is_cancelled_the_second_takes_over(path: Path) -> None:
    asked = asyncio.Event()

    async def slow_once(request: ChatRequest) -> None:
        if not asked.is_set():
            asked.set()
            await asyncio.Event().wait()

    endpoint = FakeEndpoint(slow_once)
    with caller_on(path, endpoint) as caller:
        async with asyncio.TaskGroup() as group:
            first = group.create_task(caller.ask(call()))
            await asked.wait()
            second = group.create_task(caller.ask(call()))
            await asyncio.sleep(0)
            first.cancel()
        assert second.result().text == "answer 0"
        assert caller.progress().finished == 1


async def test_cancellation_passes_through_and_leaves_nothing_half_recorded(path: Path) -> None:
    async def never(request: ChatRequest) -> None:
        await asyncio.Event().wait()

    with caller_on(path, FakeEndpoint(never)) as caller:
        task = asyncio.create_task(caller.ask(call()))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert caller.progress().finished == 0
    with caller_on(path, FakeEndpoint()) as caller:
        assert (await caller.ask(call())).text == "answer 0"


async def test_a_failure_is_final_once_its_endpoint_has_answered(path: Path) -> None:
    async def fails_on_1(request: ChatRequest) -> None:
        if "number 1" in request.messages[1].content:
            raise CallFailed(FailureKind.TIMEOUT, "no answer", attempts=3)

    with caller_on(path, FakeEndpoint(fails_on_1)) as caller:
        with pytest.raises(CallFailed) as live:
            await caller.ask(call(1, text="number 1"))
        await caller.ask(call(2))
    endpoint = FakeEndpoint()
    with caller_on(path, endpoint) as caller:
        with pytest.raises(CallFailed) as resumed:
            await caller.ask(call(1, text="number 1"))
        assert caller.usage()[0].failed == 1
    assert endpoint.requests == []
    assert (str(live.value), live.value.kind, live.value.attempts) == (
        str(resumed.value),
        resumed.value.kind,
        resumed.value.attempts,
    )


async def dead(request: ChatRequest) -> None:
    raise CallFailed(FailureKind.CONNECTION, "refused")


async def test_a_streak_of_failures_ends_the_run_and_a_resumed_run_asks_again(path: Path) -> None:
    endpoint = FakeEndpoint()
    with caller_on(path, endpoint, budget=BudgetSettings(max_failures=3)) as caller:
        await caller.ask(call(0))
        endpoint.script = dead
        for candidate in (1, 2, 3):
            with pytest.raises(CallFailed):
                await caller.ask(call(candidate))
        with pytest.raises(CallNotRun, match="3 calls in a row failed at endpoint default") as live:
            await caller.ask(call(4))
        assert len(endpoint.requests) == 4
        await caller.finish("stopped")
        live_usage, live_elapsed, stopped = caller.usage(), caller.elapsed_s(), caller.stop.reason
    with caller_on(path, replay=True) as caller:
        with pytest.raises(CallFailed):
            await caller.ask(call(2))
        with pytest.raises(CallNotRun) as replayed:
            await caller.ask(call(4))
        assert replayed.value.reason == live.value.reason
        assert (caller.usage(), caller.elapsed_s(), caller.stop.reason) == (live_usage, live_elapsed, stopped)
    with caller_on(path, FakeEndpoint()) as caller:
        assert caller.progress().failed == 3
        assert caller.usage() == live_usage
        for candidate in range(5):
            await caller.ask(call(candidate))
        assert caller.stop.reason == ""
        await caller.finish("done")
        usage = caller.usage()
        assert (usage[0].calls, usage[0].failed) == (8, 3)
        assert caller.progress().finished == 8
    with caller_on(path, replay=True) as caller:
        assert caller.stop.reason == ""
        assert caller.usage() == usage


async def test_the_end_of_an_endpoint_cuts_off_what_is_in_flight_there(path: Path) -> None:
    async def script(request: ChatRequest) -> None:
        if "hangs" in request.messages[1].content:
            await asyncio.Event().wait()
        raise CallFailed(FailureKind.PERMANENT, "401: check OPENAI_API_KEY")

    with caller_on(path, FakeEndpoint(script)) as caller:
        async with asyncio.timeout(10):
            hanging = asyncio.create_task(caller.ask_samples([call(0, text="hangs")]))
            await asyncio.sleep(0.01)
            with pytest.raises(CallFailed):
                await caller.ask(call(1))
            (result,) = await hanging
    assert isinstance(result, CallNotRun)
    assert "401: check OPENAI_API_KEY" in result.reason


@pytest.mark.parametrize("kind", [FailureKind.CONTEXT_LENGTH, FailureKind.REJECTED])
async def test_a_prompt_that_is_refused_is_no_sign_of_a_dead_endpoint(path: Path, kind: FailureKind) -> None:
    async def too_long(request: ChatRequest) -> None:
        raise CallFailed(kind, "too long")

    endpoint = FakeEndpoint()
    with caller_on(path, endpoint, budget=BudgetSettings(max_failures=2)) as caller:
        await caller.ask(call(0))
        endpoint.script = too_long
        for candidate in range(1, 6):
            with pytest.raises(CallFailed):
                await caller.ask(call(candidate))
        assert caller.stop.reason == ""


async def test_the_prompt_never_fits_so_the_run_ends(path: Path) -> None:
    async def too_long(request: ChatRequest) -> None:
        raise CallFailed(FailureKind.CONTEXT_LENGTH, "too long")

    with caller_on(path, FakeEndpoint(too_long), budget=BudgetSettings(max_failures=2)) as caller:
        for candidate in range(2):
            with pytest.raises(CallFailed):
                await caller.ask(call(candidate))
        with pytest.raises(CallNotRun, match="too long"):
            await caller.ask(call(2))


async def test_totals_are_those_of_the_whole_run(path: Path) -> None:
    priced = bindings_of(EndpointSettings(base_url="http://h/v1", model="m", prices={"input": 10, "output": 20}))  # type: ignore[arg-type]
    with caller_on(path, FakeEndpoint(), bindings=priced) as caller:
        await caller.ask(call(0))
        first = caller.elapsed_s()
        await caller.finish("interrupted")
    with caller_on(path, FakeEndpoint(), bindings=priced) as caller:
        await caller.ask_samples([*samples(2)])
        await caller.finish("done")
        generator, judge = sorted(caller.usage(), key=lambda usage: usage.role)
        progress = caller.progress()
        assert caller.elapsed_s() >= first
    assert (generator.role, generator.calls, generator.prompt_tokens, generator.completion_tokens) == (
        "generator",
        1,
        100,
        50,
    )
    assert (judge.calls, judge.seconds) == (2, 1.0)
    assert generator.cost == pytest.approx(0.002)
    assert progress.total_tokens == 450
    assert progress.cost == pytest.approx(0.006)


async def test_calls_made_before_there_were_prices_cost_what_they_cost_now(path: Path) -> None:
    with caller_on(path, FakeEndpoint()) as caller:
        await caller.ask(call(0))
        assert caller.usage()[0].cost is None
    prices = {"input": 10, "output": 20}
    priced = bindings_of(EndpointSettings(base_url="http://h/v1", model="m", prices=prices))  # type: ignore[arg-type]
    with caller_on(path, FakeEndpoint(), bindings=priced, budget=BudgetSettings(max_cost=0.0021)) as caller:
        assert caller.progress().cost == pytest.approx(0.002)
        assert caller.usage()[0].cost == pytest.approx(0.002)
        with pytest.raises(CallNotRun, match="max_cost"):
            await caller.ask(call(1))
    with caller_on(path, bindings=priced, replay=True) as caller:
        assert caller.usage()[0].cost == pytest.approx(0.002)


async def test_failures_that_are_asked_again_count_against_the_budget(path: Path) -> None:
    with caller_on(path, FakeEndpoint(dead), budget=BudgetSettings(max_calls=4, max_failures=3)) as caller:
        for candidate in (1, 2, 3):
            with pytest.raises(CallFailed):
                await caller.ask(call(candidate))
    endpoint = FakeEndpoint()
    for session in (1, 2):
        with caller_on(path, endpoint, budget=BudgetSettings(max_calls=4)) as caller:
            await caller.ask(call(1))
            with pytest.raises(CallNotRun, match="max_calls = 4"):
                await caller.ask(call(2))
            assert caller.usage()[0].calls == 4, session
    assert endpoint.samples == 1


async def test_a_resume_that_finds_everything_leaves_no_trace(path: Path) -> None:
    with caller_on(path, FakeEndpoint()) as caller:
        await caller.ask(call())
        await caller.finish("done")
        elapsed = caller.elapsed_s()
    before = content(path)
    with caller_on(path, FakeEndpoint()) as caller:
        await caller.ask(call())
        await caller.finish("done")
        assert caller.elapsed_s() == elapsed
    assert content(path) == before
