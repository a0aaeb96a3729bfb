"""The mock server: same answers in any order, every fault seen from outside, every feature switch."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxproof.models.mock import (
    Fault,
    FaultPlan,
    Features,
    Latency,
    MockReply,
    MockRequest,
    MockServer,
    Replies,
    SimulatedModel,
    parse_fault,
)
from maxproof.models.mock.faults import Arrival
from maxproof.models.mock.script import load_replies, request_key, split_blocks
from maxproof.models.mock.simulate import rho, true_quality
from maxproof.models.template import fence
from maxproof.models.types import Usage
from maxproof.problems import InputError
from maxproof.verifier.bad_case import check
from maxproof.verifier.settings import BadCaseSettings
from maxproof.verifier.types import Draft

JUDGE = "Read the proof. Answer with <assessment>, <errors> and <verdict>."


def chat(user: str, system: str = "Write a proof.", **options: Any) -> dict[str, Any]:
    messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    return {"model": "mock", "messages": messages, **options}


def asked(user: str, system: str = "Write a proof.", sample: int = 0, **options: Any) -> MockRequest:
    body = chat(user, system, **options)
    return MockRequest(1, body, {}, sample, request_key(body))


def judged(proof: str, sample: int = 0) -> MockRequest:
    return asked(fence("problem", "Prove it.") + "\n" + fence("proof", proof), JUDGE, sample, seed=1)


@asynccontextmanager
async def client_of(server: MockServer) -> AsyncIterator[aiohttp.ClientSession]:
    async with server, aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=20)) as session:
        yield session


def url_of(server: MockServer) -> str:
    return f"{server.base_url}/chat/completions"


async def post(
    session: aiohttp.ClientSession, server: MockServer, body: dict[str, Any], **kwargs: Any
) -> tuple[int, Any]:
    async with session.post(url_of(server), json=body, **kwargs) as response:
        return response.status, await response.json(content_type=None)


def text_of(reply: Any, choice: int = 0) -> str:
    return reply["choices"][choice]["message"]["content"]


# Answers


async def test_answers_do_not_depend_on_the_order_of_arrival() -> None:
    bodies = [chat(f"Problem {i % 5}", seed=i) for i in range(20)]
    answers = []
    for order in (bodies, bodies[::-1]):
        server = MockServer(SimulatedModel(seed=3), latency=Latency(0.005, seed=1))
        async with client_of(server) as session, asyncio.TaskGroup() as group:
            tasks = {body["seed"]: group.create_task(post(session, server, body)) for body in order}
        answers.append([text_of(tasks[seed].result()[1]) for seed in range(20)])
    assert answers[0] == answers[1]
    assert len(set(answers[0])) == 20


async def test_n_samples_are_the_samples_of_one_request_and_differ() -> None:
    async with client_of(server := MockServer()) as session:
        status, reply = await post(session, server, chat("Problem", seed=5, n=4))
        _, single = await post(session, server, chat("Problem", seed=5))
    assert status == 200
    assert len({text_of(reply, i) for i in range(4)}) == 4
    assert text_of(single) == text_of(reply, 0)
    assert (server.stats.requests, server.stats.samples) == (2, 5)
    assert server.stats.by_task == {"generate": 5}


async def test_the_same_request_without_a_seed_draws_new_samples() -> None:
    async with client_of(server := MockServer()) as session:
        first = [text_of((await post(session, server, chat("Problem")))[1]) for _ in range(3)]
    async with client_of(server := MockServer()) as session:
        _, both = await post(session, server, chat("Problem", n=3))
    assert len(set(first)) == 3
    assert first == [text_of(both, i) for i in range(3)]


@pytest.mark.parametrize(
    ("system", "user", "task"),
    [
        ("Write a proof.", fence("problem", "P"), "generate"),
        ("Repair it.", fence("proof", "x") + "\n" + fence("critique", "y"), "patch"),
        ("Another way.", fence("problem", "P") + "\n" + fence("proof", "x"), "rewrite"),
        (JUDGE, fence("proof", "<choice>first</choice>"), "verify"),
        ("Give a <summary>.", fence("proof", "x"), "summarise"),
        ("Give a <choice>.", fence("first", "x") + "\n" + fence("second", "y"), "rank"),
        ("Give the text in <normalised>.", fence("proof", "x"), "normalise"),
        ("Write a proof.", fence("problem", "Explain <verdict> and [[BEGIN critique 0123456789abcdef]]\n"), "generate"),
    ],
)
def test_the_task_is_read_from_the_instructions_and_never_from_fenced_text(system: str, user: str, task: str) -> None:
    assert asked(user, system).task == task
    folded = {"model": "m", "messages": [{"role": "user", "content": f"{system}\n\n{user}"}]}
    assert MockRequest(1, folded, {}, 0, "k").task == task


@given(st.lists(st.tuples(st.sampled_from(["proof", "first proof", "critique"]), st.text(max_size=80)), max_size=4))
def test_blocks_come_back_as_they_were_fenced(blocks: list[tuple[str, str]]) -> None:
    fenced = [fence(name, text) for name, text in blocks]
    outside, found = split_blocks("before\n" + "\nbetween\n".join(fenced) + "\nafter")
    assert [(block.name, block.text) for block in found] == [
        (name, whole.split("\n", 1)[1].rsplit("\n", 1)[0]) for (name, _), whole in zip(blocks, fenced, strict=True)
    ]
    assert outside.replace("between", "").split() == ["before", "after"]


def test_the_judge_sees_the_truth_in_the_proof() -> None:
    right = rf"So $\rho(12) \equiv {rho(12)} \pmod{{1009}}$ and $\rho(5) \equiv {rho(5)} \pmod{{1009}}$."
    wrong_claim = rf"\rho(5) \equiv {(rho(5) + 40) % 1009} \pmod{{1009}}"
    one_wrong = right.replace(rf"\rho(5) \equiv {rho(5)} \pmod{{1009}}", wrong_claim)
    judge = SimulatedModel()
    assert judge(judged(right)).text.endswith("<errors>\nnone\n</errors>\n<verdict>no_errors</verdict>")
    answer = judge(judged(one_wrong)).text
    assert answer.endswith("<verdict>has_errors</verdict>")
    assert wrong_claim in answer


def test_patch_raises_quality_and_rewrite_draws_a_new_proof() -> None:
    model = SimulatedModel(quality=0.3, patch_fix=0.8)
    losses: dict[str, list[float]] = {"generate": [], "patch": [], "rewrite": []}
    for seed in range(60):
        proof = model(asked(fence("problem", "P"), seed=seed)).text
        patch = model(asked(fence("proof", proof) + "\n" + fence("critique", "c"), seed=seed)).text
        rewrite = model(asked(fence("proof", proof), seed=seed)).text
        for task, text in (("generate", proof), ("patch", patch), ("rewrite", rewrite)):
            quality = true_quality(text)
            assert quality is not None
            assert len(quality.claims) == 6
            losses[task].append(quality.loss)
        assert rewrite[:200] != proof[:200]
        assert re.sub(r"equiv \d+", "", patch) == re.sub(r"equiv \d+", "", proof)
    means = {task: sum(values) / len(values) for task, values in losses.items()}
    assert means["patch"] < 0.5 * means["generate"]
    assert abs(means["rewrite"] - means["generate"]) < 0.1


def verdicts(model: SimulatedModel, proof: str, samples: int) -> list[bool]:
    return ["<verdict>no_errors" in model(judged(proof, k)).text for k in range(samples)]


def test_judge_errors_come_at_their_rate_and_are_correlated_as_set() -> None:
    wrong = [rf"Case {i}: $\rho({i}) \equiv {(rho(i) + 9) % 1009} \pmod{{1009}}$." for i in range(150)]
    independent = [verdicts(SimulatedModel(false_positive=0.3), proof, 2) for proof in wrong]
    equal = [verdicts(SimulatedModel(false_positive=0.3, judge_correlation=1.0), proof, 2) for proof in wrong]
    for passed in (independent, equal):
        assert 0.2 < sum(a for a, _ in passed) / len(passed) < 0.4
    assert all(a == b for a, b in equal)
    assert sum(a and b for a, b in independent) / len(wrong) < 0.18


def test_drift_keeps_the_verdict_and_unreadable_replies_have_none() -> None:
    proof = SimulatedModel()(asked("P", seed=0)).text
    drifted = [SimulatedModel(format_drift=1.0)(judged(proof, k)).text for k in range(30)]
    plain = SimulatedModel()(judged(proof)).text
    assert all(text != plain for text in drifted)
    assert len({text.lower().count("<verdict") + 10 * text.count("```") for text in drifted}) >= 3
    assert "verdict" not in SimulatedModel(unreadable=1.0)(judged(proof)).text


def test_refusals_and_truncations() -> None:
    refused = [SimulatedModel(refusal=1.0)(asked("P", sample=k)) for k in range(20)]
    assert {reply.finish_reason for reply in refused} == {"stop", "content_filter"}
    cut = [SimulatedModel(truncation=1.0)(asked("P", sample=k)) for k in range(20)]
    assert all(reply.finish_reason == "length" for reply in cut)
    assert any(reply.text == "" and reply.reasoning for reply in cut)


def test_ranker_prefers_the_better_proof_wherever_it_stands() -> None:
    good, bad = (rf"$\rho(3) \equiv {(rho(3) + off) % 1009} \pmod{{1009}}$" for off in (0, 5))
    for model, first, second, choice in (
        (SimulatedModel(), good, bad, "first"),
        (SimulatedModel(), bad, good, "second"),
        (SimulatedModel(ranker_error=1.0), good, bad, "second"),
        (SimulatedModel(position_bias=1.0), bad, good, "first"),
    ):
        request = asked(fence("first", first) + "\n" + fence("second", second), "Answer with <choice>.")
        assert f"<choice>{choice}</choice>" in model(request).text


def test_simulated_proofs_have_the_length_asked_for_and_pass_layer_1() -> None:
    for chars in (400, 1500, 6000, 40_000):
        lengths = []
        for sample in range(80 if chars < 10_000 else 10):
            text = SimulatedModel(seed=1, proof_chars=chars)(asked("P", sample=sample)).text
            lengths.append(len(text))
            assert check(Draft(text), BadCaseSettings()) == ()
        assert max(lengths) < 3 * chars
        assert 0.6 * chars < sorted(lengths)[len(lengths) // 2] < 1.6 * chars


def test_long_proofs_do_not_repeat_themselves() -> None:
    text = SimulatedModel(proof_chars=20_000)(asked("P", seed=0)).text
    assert len(text) > 12_000
    sentences = [s for s in text.split(". ") if len(s) > 40]
    assert len(set(sentences)) > 0.95 * len(sentences)


# Latency and concurrency


def test_latency_is_a_function_of_seed_request_and_sample() -> None:
    latency = Latency(2.0, 0.3, straggler_share=0.1, straggler_factor=50, task_factors={"verify": 0.5})
    drawn = [latency.seconds(asked("P", sample=k)) for k in range(300)]
    assert drawn == [latency.seconds(asked("P", sample=k)) for k in range(300)]
    assert 1.5 < sorted(drawn)[150] < 2.6
    assert 10 <= sum(seconds > 20 for seconds in drawn) <= 60
    assert 0.8 < sorted(latency.seconds(judged("x", k)) for k in range(300))[150] < 1.3
    assert Latency().seconds(asked("P")) == 0


async def test_the_cap_makes_requests_wait_and_the_peak_counts_the_waiting() -> None:
    running, most = 0, 0

    async def script(request: MockRequest) -> MockReply:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.02)
        running -= 1
        return MockReply("ok")

    async with client_of(server := MockServer(script, max_concurrency=3)) as session, asyncio.TaskGroup() as group:
        for i in range(9):
            group.create_task(post(session, server, chat(f"P{i}")))
    assert most == 3
    assert server.stats.peak_in_flight > 3
    assert server.stats.in_flight == 0


# Faults


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        ("429@0.1,retry-after=2", Fault(status=429, p=0.1, retry_after=2.0)),
        ("hang@every=50", Fault("hang", every=50)),
        ("die@after=100", Fault("die", after=100)),
        ("html", Fault("html", status=502)),
        ("503@first=3,task=verify,message=busy", Fault(status=503, first=3, task="verify", message="busy")),
        ("429@from-s=1,to-s=3.5,over=8", Fault(status=429, from_s=1.0, to_s=3.5, over=8)),
        ("drip@seconds=2,until=9", Fault("drip", seconds=2.0, until=9)),
    ],
)
def test_short_forms(spec: str, fault: Fault) -> None:
    assert parse_fault(spec) == fault


@pytest.mark.parametrize(
    "spec", ["", "explode", "status", "429@1.5", "99", "hang@every=0", "429@when=3", "500@first=x"]
)
def test_wrong_short_forms_are_one_clear_line(spec: str) -> None:
    with pytest.raises(InputError, match="fault '") as caught:
        parse_fault(spec)
    assert "\n" not in str(caught.value)


def test_conditions_are_joined_and_probability_does_not_depend_on_order() -> None:
    def at(
        number: int = 1, key: str = "k", repeat: int = 0, over: int = 1, s: float = 0.0, task: str = "rank"
    ) -> Arrival:
        return Arrival(number, key, repeat, over, s, task)

    def strikes(spec: str, arrival: Arrival) -> bool:
        return FaultPlan.parse([spec]).pick(arrival) is not None

    assert [n for n in range(1, 13) if strikes("500@every=3,after=3,until=9", at(n))] == [6, 9]
    assert [n for n in range(1, 6) if strikes("500@first=2", at(n))] == [1, 2]
    assert [s for s in (0.5, 1.0, 2.9, 3.0) if strikes("429@from-s=1,to-s=3", at(s=s))] == [1.0, 2.9]
    assert not strikes("429@over=4", at(over=4))
    assert strikes("429@over=4", at(over=5))
    assert not strikes("500@task=verify", at())
    keys = [f"request {i}" for i in range(400)]
    hit = [strikes("500@0.25", at(number, key)) for number, key in enumerate(keys)]
    assert hit == [strikes("500@0.25", at(999 - number, key)) for number, key in enumerate(keys)]
    assert 70 < sum(hit) < 130
    assert hit != [strikes("500@0.25", at(number, key, repeat=1)) for number, key in enumerate(keys)]
    assert FaultPlan.parse(["503@first=1", "500"]).pick(at()) == parse_fault("503@first=1")


async def test_status_faults_carry_retry_after_and_message() -> None:
    server = MockServer(faults=FaultPlan.parse(["429@first=1,retry-after=2", "400@until=2,message=no such thing"]))
    async with client_of(server) as session:
        async with session.post(url_of(server), json=chat("P")) as response:
            assert (response.status, response.headers["Retry-After"]) == (429, "2")
            assert (await response.json())["error"]["type"] == "rate_limit_error"
        status, reply = await post(session, server, chat("P"))
        assert (status, reply["error"]["message"]) == (400, "no such thing")
        assert (await post(session, server, chat("P")))[0] == 200
    assert server.stats.statuses == {429: 1, 400: 1, 200: 1}
    assert server.stats.faults == {"429": 1, "400": 1}


async def test_hang_never_sends_a_byte_and_a_client_that_leaves_frees_its_place() -> None:
    async with client_of(server := MockServer(faults=FaultPlan.parse(["hang"]))) as session:
        with pytest.raises(TimeoutError):
            await post(session, server, chat("P"), timeout=aiohttp.ClientTimeout(total=0.2))
        for _ in range(100):
            if server.stats.in_flight == 0:
                break
            await asyncio.sleep(0.02)
        assert server.stats.in_flight == 0
    assert server.stats.statuses == {}
    assert server.stats.faults == {"hang": 1}


@pytest.mark.parametrize("spec", ["reset", "half", "die"])
async def test_broken_connections(spec: str) -> None:
    async with client_of(server := MockServer(faults=FaultPlan.parse([spec]))) as session:
        with pytest.raises(aiohttp.ClientError) as caught:
            await post(session, server, chat("P"))
        is_payload = isinstance(caught.value, aiohttp.ClientPayloadError)
        assert is_payload == (spec == "half")
        if spec == "die":
            with pytest.raises(aiohttp.ClientConnectionError):
                await post(session, server, chat("P"))


async def test_death_also_ends_what_is_in_flight() -> None:
    server = MockServer(faults=FaultPlan.parse(["die@after=2"]), latency=Latency(10.0, 0.0))
    async with client_of(server) as session:

        async def lost(i: int) -> bool:
            with pytest.raises(aiohttp.ClientConnectionError):
                await post(session, server, chat(f"P{i}"))
            return True

        async with asyncio.timeout(5), asyncio.TaskGroup() as group:
            tasks = [group.create_task(lost(i)) for i in range(3)]
        assert all(task.result() for task in tasks)


async def test_a_stalled_body_has_headers_and_no_end() -> None:
    server = MockServer(faults=FaultPlan.parse(["stall"]))
    async with client_of(server) as session, session.post(url_of(server), json=chat("P")) as response:
        assert response.status == 200
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await response.read()


async def test_a_dripped_body_is_whole() -> None:
    async with client_of(server := MockServer(faults=FaultPlan.parse(["drip@seconds=0.3"]))) as session:
        pieces = 0
        async with session.post(url_of(server), json=chat("P", seed=1)) as response:
            body = b""
            async for piece in response.content.iter_any():
                body += piece
                pieces += 1
    assert pieces >= 3
    assert text_of(json.loads(body)) == SimulatedModel()(asked("P", seed=1)).text


async def test_bodies_that_are_no_completion() -> None:
    specs = ["bad-json@first=1", "wrong-json@until=2", "html@until=3", "html@until=4,status=200"]
    async with client_of(server := MockServer(faults=FaultPlan.parse(specs))) as session:
        seen = []
        for _ in range(4):
            async with session.post(url_of(server), json=chat("P")) as response:
                seen.append((response.status, response.content_type, await response.text()))
    with pytest.raises(json.JSONDecodeError):
        json.loads(seen[0][2])
    assert "choices" not in json.loads(seen[1][2])
    assert [(status, kind) for status, kind, _ in seen[2:]] == [(502, "text/html"), (200, "text/html")]


async def test_a_script_may_return_a_fault() -> None:
    async with client_of(server := MockServer(lambda request: Fault(status=503))) as session:
        assert (await post(session, server, chat("P")))[0] == 503


# Features


@pytest.mark.parametrize(
    ("features", "options", "message"),
    [
        (Features(n="refused"), {"n": 2}, "Only one completion choice"),
        (Features(system_role=False), {}, "System role not supported"),
        (Features(seed=False), {"seed": 1}, "Unrecognized request argument supplied: seed"),
        (Features(max_completion_tokens_only=True), {"max_tokens": 9}, "max_completion_tokens"),
        (Features(context_tokens=100), {"max_tokens": 200}, "maximum context length is 100 tokens"),
    ],
)
async def test_what_a_server_lacks_it_refuses(features: Features, options: dict[str, Any], message: str) -> None:
    async with client_of(server := MockServer(features=features)) as session:
        status, reply = await post(session, server, chat("P", **options))
        assert status == 400
        assert message in reply["error"]["message"]
        assert (await post(session, server, {"model": "m", "messages": [{"role": "user", "content": "P"}]}))[0] == 200


async def test_n_may_be_ignored_and_usage_missing() -> None:
    async with client_of(server := MockServer(features=Features(n="ignored", usage=False))) as session:
        _, reply = await post(session, server, chat("P", n=4))
    assert len(reply["choices"]) == 1
    assert "usage" not in reply


async def test_a_key_is_asked_for() -> None:
    async with client_of(server := MockServer(features=Features(api_key="secret"))) as session:
        assert (await post(session, server, chat("P")))[0] == 401
        assert (await post(session, server, chat("P"), headers={"Authorization": "Bearer secret"}))[0] == 200
        async with session.get(f"{server.base_url}/models") as response:
            assert response.status == 401


async def test_reasoning_goes_where_the_server_puts_it() -> None:
    seen = {}
    for place in ("reasoning_content", "reasoning", "think-tags", "none"):
        server = MockServer(lambda r: MockReply("The proof.", "Thinking."), features=Features(reasoning=place))
        async with client_of(server) as session:
            seen[place] = (await post(session, server, chat("P")))[1]["choices"][0]["message"]
    assert seen["reasoning_content"] == {"role": "assistant", "content": "The proof.", "reasoning_content": "Thinking."}
    assert seen["reasoning"]["reasoning"] == "Thinking."
    assert seen["think-tags"]["content"] == "<think>\nThinking.\n</think>\n\nThe proof."
    assert seen["none"] == {"role": "assistant", "content": "The proof."}


async def test_thinking_that_eats_the_limit_leaves_no_content() -> None:
    for place, content in (("reasoning_content", None), ("think-tags", "<think>\n" + "t" * 40)):
        server = MockServer(lambda r: MockReply("The proof.", "t" * 400), features=Features(reasoning=place))
        async with client_of(server) as session:
            _, reply = await post(session, server, chat("P", max_tokens=10))
        choice = reply["choices"][0]
        assert (choice["finish_reason"], choice["message"]["content"]) == ("length", content)
        assert reply["usage"]["completion_tokens"] == 10
        assert reply["usage"]["completion_tokens_details"]["reasoning_tokens"] == 10


async def test_usage_counts_and_cached_prefix() -> None:
    system = "instructions " * 200
    async with client_of(server := MockServer(features=Features(cached_tokens=True))) as session:
        first = (await post(session, server, chat("a" * 400, system)))[1]["usage"]
        second = (await post(session, server, chat("b" * 400, system)))[1]["usage"]
    assert first["prompt_tokens"] == 650 + 100
    assert first["prompt_tokens_details"]["cached_tokens"] == 0
    assert second["prompt_tokens_details"]["cached_tokens"] == 640
    assert server.stats.cached_tokens == 640


async def test_a_script_may_set_usage() -> None:
    usage = Usage(prompt_tokens=7, completion_tokens=200, reasoning_tokens=199)
    async with client_of(server := MockServer(lambda r: MockReply("x", usage=usage))) as session:
        _, reply = await post(session, server, chat("P", n=2))
    assert reply["usage"]["prompt_tokens"] == 7
    assert reply["usage"]["completion_tokens"] == 400


async def test_streaming_sends_the_same_text_and_usage_at_the_end() -> None:
    async with client_of(server := MockServer(SimulatedModel(reasoning_chars=300))) as session:
        body = chat("P", seed=1, stream=True, stream_options={"include_usage": True})
        async with session.post(url_of(server), json=body) as response:
            events = [line[6:] for line in (await response.text()).split("\n\n") if line]
        _, whole = await post(session, server, chat("P", seed=1))
    assert events[-1] == "[DONE]"
    parsed = [json.loads(event) for event in events[:-1]]
    deltas = [event["choices"][0]["delta"] for event in parsed if event["choices"]]
    assert "".join(delta.get("content", "") for delta in deltas) == text_of(whole)
    assert (
        "".join(delta.get("reasoning_content", "") for delta in deltas)
        == whole["choices"][0]["message"]["reasoning_content"]
    )
    assert parsed[-1]["usage"] == whole["usage"]


async def test_models_health_stats_and_bad_requests() -> None:
    async with client_of(server := MockServer(features=Features(models=("a", "b")))) as session:
        async with session.get(f"{server.base_url}/models") as response:
            assert [model["id"] for model in (await response.json())["data"]] == ["a", "b"]
        root = server.base_url.removesuffix("/v1")
        async with session.get(f"{root}/health") as response:
            assert response.status == 200
        assert (await post(session, server, {"model": "a"}))[0] == 400
        await post(session, server, chat("x" * 5_000_000))
        async with session.get(f"{root}/stats") as response:
            stats = await response.json()
    assert stats["requests"] == 2
    assert stats["statuses"] == {"400": 1, "200": 1}


# The command


async def test_replies_from_a_file_are_served(tmp_path: Any) -> None:
    file = tmp_path / "replies.json"
    file.write_text(json.dumps({"verify": ["one", "two"], "default": "other"}))
    async with MockServer(load_replies(file)) as server, aiohttp.ClientSession() as session:
        address = url_of(server)
        seen = []
        for system in (JUDGE, "Write.", JUDGE, JUDGE):
            async with session.post(address, json=chat("P", system)) as response:
                seen.append(text_of(await response.json()))
    assert seen == ["one", "other", "two", "two"]


async def test_a_taken_port_and_a_wrong_file_are_clear(tmp_path: Any) -> None:
    async with MockServer() as server:
        port = int(server.base_url.split(":")[-1].removesuffix("/v1"))
        with pytest.raises(InputError, match="can't listen"):
            await MockServer(port=port).__aenter__()
    for content, message in (("{", "no JSON"), ("[]", "expected an object"), ('{"judge": []}', "unknown task")):
        file = tmp_path / "replies.json"
        file.write_text(content)
        with pytest.raises(InputError, match=message):
            load_replies(file)
    with pytest.raises(InputError, match="can't be read"):
        load_replies(tmp_path / "missing.json")


def test_fixed_replies_remember_what_was_asked() -> None:
    script = Replies({"generate": ["first", "second"]}, default="other")
    requests = [asked("P"), asked("P", JUDGE), asked("P"), asked("P")]
    replies = [script(request) for request in requests]
    assert [reply.text for reply in replies if isinstance(reply, MockReply)] == ["first", "other", "second", "second"]
    assert script.seen == requests
