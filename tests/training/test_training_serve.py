"""The reward server's application, driven without a socket, so that waves of judge calls can be counted exactly."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence
from typing import Any

import pytest

pytest.importorskip("starlette", reason="needs the extra serve")

from hypothesis import given
from hypothesis import strategies as st

from maxproof.models.types import Answer, Call, CallFailed, CallNotRun, FailureKind, NoAnswer
from maxproof.problems import InputError, Problem
from maxproof.training.serve.app import Limits, reward_app
from maxproof.training.serve.requests import read_items
from maxproof.training.serve.scoring import Scorer
from maxproof.verifier import VerifierSettings

PROBLEM = Problem(id="p", statement="Show that 1 + 1 = 2.", reference="Count.", rubric="7 points for counting.")
PROBLEMS = {"p": PROBLEM}
GOOD = "<assessment>fine</assessment><errors>none</errors><verdict>no_errors</verdict>"
TEXT = "We count one and one more, which makes two, and that was to be shown."


class Waves:
    """Answers only when nothing else can move: each round of answers is one latency."""

    def __init__(self) -> None:
        self.waiting: list[asyncio.Future[None]] = []
        self.sizes: list[int] = []
        self.calls: list[Call] = []

    async def ask(self, call: Call) -> Answer:
        self.calls.append(call)
        place = asyncio.get_running_loop().create_future()
        self.waiting.append(place)
        await place
        return Answer(GOOD)

    async def ask_samples(self, calls: Sequence[Call]) -> list[Answer | NoAnswer]:
        return [await self.ask(call) for call in calls]

    async def settle(self) -> None:
        """Until everything that is able to move has moved."""
        seen = -1
        while seen != len(self.calls):
            seen = len(self.calls)
            for _ in range(50):
                await asyncio.sleep(0)

    async def drive(self, *work: asyncio.Task[Any]) -> None:
        while not all(task.done() for task in work):
            await self.settle()
            if self.waiting:
                self.sizes.append(len(self.waiting))
                wave, self.waiting = self.waiting, []
                for place in wave:
                    place.set_result(None)


class Fixed:
    """One outcome for every call of a judge, by its name."""

    def __init__(self, **by_judge: str | Exception) -> None:
        self.by_judge = {"rubric-1": GOOD, "rubric-2": GOOD, "free": GOOD} | by_judge
        self.asked = 0

    async def ask(self, call: Call) -> Answer:
        self.asked += 1
        reply = self.by_judge[call.address.judge]
        if isinstance(reply, Exception):
            raise reply
        return Answer(reply)

    async def ask_samples(self, calls: Sequence[Call]) -> list[Answer | NoAnswer]:
        found: list[Answer | NoAnswer] = []
        for call in calls:
            try:
                found.append(await self.ask(call))
            except NoAnswer as error:
                found.append(error)
        return found


class Reply:
    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self) -> Any:
        return json.loads(self.body)


async def request(app: Any, method: str, path: str, body: bytes = b"", *, announced: int | None = None) -> Reply:
    """One request through the application itself, the body in two parts."""
    length = str(len(body) if announced is None else announced).encode()
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "scheme": "http",
        "headers": [(b"content-length", length)],
        "server": ("test", 80),
        "client": ("test", 1),
    }
    half = len(body) // 2
    parts = [
        {"type": "http.request", "body": body[:half], "more_body": True},
        {"type": "http.request", "body": body[half:], "more_body": False},
    ]
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return parts.pop(0) if parts else {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await app(scope, receive, send)
    headers = {key.decode().lower(): value.decode() for key, value in sent[0]["headers"]}
    return Reply(sent[0]["status"], headers, b"".join(part.get("body", b"") for part in sent[1:]))


async def post(app: Any, items: object) -> Reply:
    return await request(app, "POST", "/v1/rewards", json.dumps({"items": items}).encode())


def made(caller: Any, *, limit: int = 32, queue: int = 1000, body_bytes: int = 1 << 20) -> Any:
    return reward_app(Scorer(VerifierSettings(), caller, limit=limit), PROBLEMS, Limits(queue, body_bytes))


def answers(count: int, first: int = 0) -> list[dict[str, str]]:
    return [{"problem_id": "p", "answer": f"{TEXT} Number {index}."} for index in range(first, first + count)]


async def metrics(app: Any) -> dict[str, float]:
    reply = await request(app, "GET", "/metrics")
    assert reply.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = [line for line in reply.body.decode().splitlines() if not line.startswith("#")]
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in lines}


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


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "field", "told"),
    [
        (b"{", None, "not JSON at character 1"),
        (b"\xff\xfe{}", None, "not JSON"),
        (b"[" * 200_000, None, "nested too deeply"),
        (b"[]", None, "expected an object"),
        (b'{"items": NaN}', None, "not JSON"),
        (b"{}", "items", "at least one"),
        (b'{"items": []}', "items", "at least one"),
        (b'{"items": [], "item": 1}', "item", "unknown field"),
        (b'{"items": ["a"]}', "items[0]", "expected an object"),
        (b'{"items": [{"problem_id": "p"}]}', "items[0].answer", "expected a text"),
        (
            b'{"items": [{"problem_id": "p", "answer": "a"}, {"problem_id": "q", "answer": "a"}]}',
            "items[1].problem_id",
            "no problem",
        ),
        (b'{"items": [{"problem_id": 3, "answer": "a"}]}', "items[0].problem_id", "expected a text"),
        (b'{"items": [{"answer": "a"}]}', "items[0]", "expected problem_id, or a statement"),
        (b'{"items": [{"problem_id": "p", "statement": "s", "answer": "a"}]}', "items[0].statement", "one of the two"),
        (b'{"items": [{"statement": ["s"], "answer": "a"}]}', "items[0].statement", "expected text, got a list"),
        (b'{"items": [{"rubric": "r", "answer": "a"}]}', "items[0]", "no statement"),
        (b'{"items": [{"problem_id": "p", "answer": "a", "finished": 1}]}', "items[0].finished", "true or false"),
        (b'{"items": [{"problem_id": "p", "answer": "a", "solution": "b"}]}', "items[0].solution", "unknown field"),
        (b'{"items": [{"problem_id": "p", "answer": ' + b"9" * 5000 + b"}]}", None, "not JSON"),
    ],
)
async def test_a_bad_body_is_told_with_item_and_field(body: bytes, field: str | None, told: str) -> None:
    caller = Fixed()
    reply = await request(made(caller), "POST", "/v1/rewards", body)
    assert reply.status == 400, reply.body
    assert told in reply.json["error"]["message"]
    assert reply.json["error"]["field"] == field
    assert caller.asked == 0


@given(
    st.binary(max_size=200)
    | st.recursive(
        st.none() | st.text(max_size=5) | st.integers(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["items", "answer", "problem_id", "x"]), inner)
        ),
        max_leaves=8,
    ).map(lambda value: json.dumps(value).encode())
)
def test_any_body_is_read_or_refused(body: bytes) -> None:
    try:
        items = read_items(body, PROBLEMS, 5)
    except InputError:
        return
    assert 1 <= len(items) <= 5


async def test_a_large_body_is_refused_before_or_while_it_comes() -> None:
    app = made(Fixed(), body_bytes=1000)
    body = json.dumps({"items": [{"problem_id": "p", "answer": "x" * 2000}]}).encode()
    for announced in (len(body), 10):
        reply = await request(app, "POST", "/v1/rewards", body, announced=announced)
        assert (reply.status, reply.json["error"]["message"].startswith("the body is larger")) == (413, True)


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
