"""The reward server's application, driven without a socket, so that waves of judge calls can be counted exactly."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

import pytest

pytest.importorskip("starlette", reason="needs the extra serve")

from judge_fakes import TEXT, Waves
from serve_fakes import Fixed, answers, made, metrics, post, request

from maxproof.models.types import Answer, Call, CallFailed, CallNotRun, FailureKind, NoAnswer
from maxproof.problems import InputError
from maxproof.training.serve.scoring import Scorer
from maxproof.verifier import VerifierSettings

# --- concurrency ------------------------------------------------------------------------------------------------------


async def test_64_rollouts_with_3_judges_at_limit_32_take_6_latencies() -> None:
    waves = Waves()
    app = made(waves, limit=32)
    async with asyncio.timeout(60):
        work = asyncio.create_task(post(app, answers(64)))
        await waves.drive(work)
    assert work.result().json["rewards"] == [1.0] * 64
    assert waves.sizes == [32] * 6


async def test_the_limit_is_one_for_all_requests() -> None:
    """As verl asks: every rollout is a request of its own."""
    waves = Waves()
    app = made(waves, limit=8)
    async with asyncio.timeout(60):
        work = [asyncio.create_task(post(app, answers(1, first=index))) for index in range(16)]
        await waves.drive(*work)
    assert [task.result().json["rewards"] for task in work] == [[1.0]] * 16
    assert waves.sizes == [8] * 6


async def test_equal_answers_are_judged_once_and_have_addresses_that_a_restart_finds_again() -> None:
    addresses = []
    for _ in range(2):
        waves = Waves()
        work = asyncio.create_task(post(made(waves), [*answers(2), *answers(2)]))
        await waves.drive(work)
        assert work.result().json["rewards"] == [1.0] * 4
        addresses.append(sorted(str(call.address) for call in waves.calls))
        assert len(waves.calls) == 6
        assert all(0 <= call.address.candidate < 2**62 for call in waves.calls)
    assert addresses[0] == addresses[1]


async def test_a_full_queue_says_when_to_come_back_and_has_room_again_later() -> None:
    waves = Waves()
    app = made(waves, queue=4)
    first = asyncio.create_task(post(app, answers(3)))
    await waves.settle()
    refused = await post(app, answers(2, first=10))
    assert refused.status == 503
    assert int(refused.headers["retry-after"]) >= 1
    assert "queue of 4" in refused.json["error"]["message"]
    second = asyncio.create_task(post(app, answers(1, first=20)))  # there is room for one
    await waves.drive(first, second)
    assert (first.result().status, second.result().status) == (200, 200)
    third = asyncio.create_task(post(app, answers(4, first=30)))
    await waves.drive(third)
    assert third.result().status == 200
    never = await post(app, answers(5))
    assert (never.status, never.json["error"]["field"]) == (400, "items")
    assert "at most 4" in never.json["error"]["message"]


# --- what a reward is -------------------------------------------------------------------------------------------------


async def test_rewards_come_in_order_with_what_led_to_them() -> None:
    bad = (
        '<assessment>no</assessment><errors>1. Location: "all"\nDescription: nothing</errors>'
        "<verdict>has_errors</verdict>"
    )
    app = made(Fixed(free=bad))
    cut = {**answers(1)[0], "finished": False}
    stated = {"statement": "Show that 2 + 2 = 4.", "answer": TEXT}
    reply = await post(app, [answers(1)[0], cut, stated, {"problem_id": "p", "answer": ""}])
    assert reply.json["rewards"] == [pytest.approx(1 / 7), 0.0, pytest.approx(1 / 7), 0.0]
    first, second, third, fourth = reply.json["details"]
    assert (first["state"], first["points"], first["verdict"]) == ("failed", 1.0, "has_errors")
    assert first["judges"] == {"rubric-1": 7.0, "rubric-2": 7.0, "free": 1.0}
    assert second["bad_cases"] == ["truncated"]
    assert third["judges"] == {"free": 1.0}  # no rubric and no reference
    assert fourth["bad_cases"] == ["empty_text"]


async def test_a_failed_judge_is_null_never_zero() -> None:
    app = made(Fixed(free=CallFailed(FailureKind.TIMEOUT, "too slow", endpoint="main")))
    reply = await post(app, answers(2))
    assert reply.status == 200
    assert reply.json["rewards"] == [None, None]
    assert reply.json["details"][0]["state"] == "not_scored"
    assert reply.json["details"][0]["reason"] == "judge free: no answer (timeout): too slow"
    seen = await metrics(app)
    assert seen['maxproof_rollouts_total{state="not_scored"}'] == 2
    assert seen['maxproof_rollouts_total{state="failed"}'] == 0
    assert seen['maxproof_judge_calls_total{result="failed"}'] == 2
    assert seen['maxproof_judge_calls_total{result="answered"}'] == 4


async def test_what_was_not_scored_is_judged_anew_when_it_is_asked_for_again() -> None:
    """A trainer that ended because of it must not meet the recorded failure for ever."""

    class Once(Fixed):
        async def ask(self, call: Call) -> Answer:
            if call.address.sample == 0:
                raise CallFailed(FailureKind.TIMEOUT, "too slow")
            return await super().ask(call)

    caller = Once()
    app = made(caller)
    assert [(await post(app, answers(1))).json["rewards"] for _ in range(3)] == [[None], [1.0], [1.0]]


async def test_judges_that_are_gone_are_an_error_not_a_list_of_nulls() -> None:
    app = made(Fixed(free=CallNotRun("the budget of 7 calls is spent")))
    reply = await post(app, answers(2))
    assert reply.status == 503
    assert "retry-after" not in reply.headers
    assert "nothing more is judged" in reply.json["error"]["message"]


async def test_calls_that_are_under_way_end_before_judges_that_are_gone_are_told() -> None:
    """They are paid for: what cuts them off would keep their answers out of the journal."""
    waves = Waves()
    asked = waves.ask

    async def ask(call: Call) -> Answer:
        if len(waves.calls) < 4:
            return await asked(call)
        raise CallNotRun("the budget of 4 calls is spent")

    async def ask_samples(calls: Sequence[Call]) -> list[Answer | NoAnswer]:
        try:
            return [await ask(calls[0])]
        except NoAnswer as error:
            return [error]

    waves.ask_samples = ask_samples  # type: ignore[method-assign]
    app = made(waves)
    work = asyncio.create_task(post(app, answers(2)))
    await waves.settle()
    assert not work.done()
    await waves.drive(work)
    assert work.result().status == 503
    assert waves.sizes == [4]
    assert (await metrics(app))['maxproof_judge_calls_total{result="answered"}'] == 4


async def test_half_a_surrogate_pair_is_text_like_any_other() -> None:
    body = b'{"items": [{"problem_id": "p", "answer": "' + TEXT.encode() + b' \\ud800"}]}'
    assert (await request(made(Fixed()), "POST", "/v1/rewards", body)).json["rewards"] == [1.0]


# --- health, metrics, log ---------------------------------------------------------------------------------------------


async def test_health_and_metrics_show_what_goes_on() -> None:
    waves = Waves()
    app = made(waves, limit=4, queue=10)
    work = asyncio.create_task(post(app, answers(3)))
    await waves.settle()
    seen = await metrics(app)
    assert seen["maxproof_rollouts_in_flight"] == 3
    assert seen["maxproof_judge_calls_in_flight"] == 4
    assert seen["maxproof_judge_calls_waiting"] == 5
    health = (await request(app, "GET", "/health")).json
    assert (health["status"], health["rollouts_in_flight"], health["problems"]) == ("ok", 3, 1)
    await waves.drive(work)
    await post(app, [])
    seen = await metrics(app)
    assert seen['maxproof_requests_total{code="200"}'] == 1
    assert seen['maxproof_requests_total{code="400"}'] == 1
    assert seen['maxproof_rollouts_total{state="passed"}'] == 3
    assert seen['maxproof_judge_calls_total{result="answered"}'] == 9
    assert seen["maxproof_judge_call_seconds_count"] == 9
    assert seen["maxproof_request_seconds_count"] == 2
    assert (seen["maxproof_rollouts_in_flight"], seen["maxproof_judge_calls_waiting"]) == (0, 0)


async def test_no_body_is_in_the_log_not_even_after_a_bug(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    secret = "a-secret-word"
    broken = Fixed(free=ZeroDivisionError(secret))
    items = [{"problem_id": "p", "answer": f"{TEXT} {secret}"}]
    assert (await post(made(broken), items)).status == 500
    assert (await post(made(Fixed()), items)).status == 200
    assert (await post(made(Fixed()), [{"problem_id": secret, "answer": secret}])).status == 400
    assert secret not in caplog.text
    assert "POST /v1/rewards 200: 1 rollouts, 0 not scored" in caplog.text


async def test_other_paths_and_methods_are_no_rewards() -> None:
    app = made(Fixed())
    assert (await request(app, "GET", "/v1/rewards")).status == 405
    assert (await request(app, "POST", "/v1/other")).status == 404


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(InputError, match="at least 1"):
        Scorer(VerifierSettings(), Fixed(), limit=0)
