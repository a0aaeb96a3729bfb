"""The client against servers that lack something."""

from __future__ import annotations

import json
from typing import Any

import pytest

from maxproof.models import adapt
from maxproof.models.client import ChatClient, ChatRequest
from maxproof.models.failures import ServerError
from maxproof.models.mock import FaultPlan, Features, MockReply, MockServer, Replies
from maxproof.models.settings import EndpointSettings
from maxproof.models.types import AnswerState, CallFailed, FailureKind, Message, Sampling, Usage

MESSAGES = (Message("system", "You prove."), Message("user", "Prove it."))


def request(n: int = 1, *, model: str = "", max_tokens: int = 500) -> ChatRequest:
    return ChatRequest(model, MESSAGES, Sampling(max_tokens=max_tokens), n=n, seed=7)


def client(server: MockServer, **settings: object) -> ChatClient:
    values = {"base_url": server.base_url, "timeout_s": 20.0, **settings}
    return ChatClient("default", EndpointSettings.model_validate(values))


def bodies(replies: Replies) -> list[dict[str, Any]]:
    return [dict(seen.body) for seen in replies.seen]


@pytest.mark.parametrize("where", ["reasoning_content", "reasoning", "think-tags"])
async def test_reasoning_wherever_it_is(where: Any) -> None:
    script = Replies(default=MockReply("Proof.", reasoning="Let me think."))
    async with MockServer(script, features=Features(reasoning=where)) as server, client(server) as chat:
        (answer,) = (await chat.complete(request())).answers
    assert (answer.text, answer.reasoning) == ("Proof.", "Let me think.")


async def test_no_usage_is_estimated() -> None:
    async with MockServer(Replies(), features=Features(usage=False)) as server, client(server) as chat:
        (answer,) = (await chat.complete(request())).answers
    assert answer.usage.estimated
    assert answer.usage.prompt_tokens >= 4
    assert answer.usage.completion_tokens >= 2


async def test_n_samples_in_one_request() -> None:
    script = Replies({"generate": ["a", "b", "c", "d"]})
    async with MockServer(script) as server, client(server) as chat:
        reply = await chat.complete(request(4))
        assert server.stats.requests == 1
    assert [answer.text for answer in reply.answers] == ["a", "b", "c", "d"]
    assert [answer.usage.prompt_tokens > 0 for answer in reply.answers] == [True, False, False, False]
    assert json.loads(reply.request_body)["n"] == 4
    assert len(json.loads(reply.response_body)["choices"]) == 4


@pytest.mark.parametrize("n", ["ignored", "refused"])
async def test_servers_without_n(n: Any) -> None:
    script = Replies({"generate": ["a", "b", "c"]})
    async with MockServer(script, features=Features(n=n)) as server, client(server) as chat:
        assert chat.supports_n
        reply = await chat.complete(request(3))
        assert not chat.supports_n
        assert [answer.text for answer in reply.answers] == ["a"]
        assert adapt.WITHOUT_N in reply.adaptations + chat.adaptations
        asked = server.stats.requests
        assert asked == (1 if n == "ignored" else 2)
        assert len((await chat.complete(request(3))).answers) == 1
        assert server.stats.requests == asked + 1
    assert "n" not in bodies(script)[-1]


async def test_n_switched_off_and_on() -> None:
    async with MockServer(Replies()) as server:
        async with client(server, n_samples="off") as chat:
            assert len((await chat.complete(request(3))).answers) == 1
        assert server.stats.requests == 1
    async with MockServer(Replies(), features=Features(n="refused")) as server, client(server, n_samples="on") as chat:
        with pytest.raises(CallFailed) as caught:
            await chat.complete(request(3))
    assert caught.value.kind is FailureKind.REJECTED


async def test_no_system_role_is_learnt_once() -> None:
    script = Replies()
    async with MockServer(script, features=Features(system_role=False)) as server, client(server) as chat:
        first = await chat.complete(request())
        second = await chat.complete(request())
        assert server.stats.requests == 3
    assert (first.attempts, second.attempts) == (2, 1)
    assert first.adaptations == (adapt.FOLDED_SYSTEM,)
    assert bodies(script)[-1]["messages"] == [{"role": "user", "content": "You prove.\n\nProve it."}]


async def test_seed_and_token_limit_under_another_name() -> None:
    script = Replies()
    features = Features(seed=False, max_completion_tokens_only=True)
    async with MockServer(script, features=features) as server, client(server) as chat:
        reply = await chat.complete(request())
    assert set(reply.adaptations) == {adapt.WITHOUT_SEED, adapt.MAX_COMPLETION_TOKENS}
    sent = json.loads(reply.request_body)
    assert "seed" not in sent
    assert "max_tokens" not in sent
    assert sent["max_completion_tokens"] == 500


async def test_no_seed_if_the_user_says_so() -> None:
    async with MockServer(Replies()) as server, client(server, send_seed=False) as chat:
        assert "seed" not in json.loads((await chat.complete(request())).request_body)


async def test_extra_body_is_sent_and_wins() -> None:
    extra = {"top_k": 20, "temperature": 0.25}
    async with MockServer(Replies()) as server, client(server, extra_body=extra) as chat:
        sent = json.loads((await chat.complete(request())).request_body)
    assert (sent["top_k"], sent["temperature"]) == (20, 0.25)


async def test_refusals_that_teach_nothing_never_loop() -> None:
    faults = FaultPlan.parse(["400@message=seed temperature top_p: unsupported"])
    async with MockServer(Replies(), faults=faults) as server, client(server) as chat:
        with pytest.raises(CallFailed) as caught:
            await chat.complete(request())
        assert server.stats.requests == 4
    assert caught.value.kind is FailureKind.REJECTED


async def test_context_length_says_what_to_change() -> None:
    async with MockServer(Replies(), features=Features(context_tokens=300)) as server, client(server) as chat:
        with pytest.raises(CallFailed) as caught:
            await chat.complete(request(max_tokens=4000))
        assert server.stats.requests == 1
    assert caught.value.kind is FailureKind.CONTEXT_LENGTH
    assert "lower max_tokens (now 4000)" in caught.value.message


async def test_empty_model_is_the_servers_first_asked_once() -> None:
    script = Replies()
    async with MockServer(script, features=Features(models=("big", "small"))) as server, client(server) as chat:
        await chat.complete(request())
        await chat.complete(request(model="small"))
        assert await chat.models() == ["big", "small"]
    assert [body["model"] for body in bodies(script)] == ["big", "small"]


async def test_a_key_is_asked_for_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PROOF_KEY", raising=False)
    async with MockServer(Replies(), features=Features(api_key="s3cret-s3cret")) as server:
        async with client(server, model="mock", api_key_env="PROOF_KEY") as chat:
            with pytest.raises(CallFailed, match="no key is set: put it into the environment variable PROOF_KEY"):
                await chat.complete(request())
        monkeypatch.setenv("PROOF_KEY", "wrong-wrong-wrong")
        async with client(server, model="mock", api_key_env="PROOF_KEY") as chat:
            with pytest.raises(CallFailed, match="check the key in the environment variable PROOF_KEY"):
                await chat.complete(request())
        assert server.stats.samples == 0
        monkeypatch.setenv("PROOF_KEY", " s3cret-s3cret\n")
        async with client(server, api_key_env="PROOF_KEY") as chat:
            assert (await chat.complete(request())).answers[0].state is AnswerState.COMPLETE


async def test_check() -> None:
    async with MockServer(Replies()) as server, client(server) as chat:
        check = await chat.check("")
        assert (check.ok, check.model, check.message, check.models) == (True, "mock", "", ("mock",))
        await server.die()
        down = ChatClient("default", chat.settings.model_copy(update={"timeout_s": 1.0, "model": "mock"}))
        async with down as gone:
            check = await gone.check("")
    assert not check.ok
    assert "base_url" in check.message


async def test_usage_of_the_server_is_kept() -> None:
    script = Replies(default=MockReply("x", usage=Usage(11, 22, 3, 4)))
    async with MockServer(script, features=Features(cached_tokens=True)) as server, client(server) as chat:
        (answer,) = (await chat.complete(request())).answers
    assert (answer.usage.completion_tokens, answer.usage.estimated) == (22, False)


BODY: dict[str, object] = {
    "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}],
    "max_tokens": 9, "temperature": 1.0, "top_p": 0.9, "n": 4, "seed": 1,
}  # fmt: skip


@pytest.mark.parametrize(
    ("status", "message", "param", "expected"),
    [
        (400, "Unsupported: 'max_tokens'. Use 'max_completion_tokens'.", "max_tokens", adapt.MAX_COMPLETION_TOKENS),
        (400, "'temperature' does not support 0.7, only the default", "temperature", adapt.WITHOUT_TEMPERATURE),
        (400, "`temperature` and `top_p` cannot both be specified for this model.", "", adapt.WITHOUT_TOP_P),
        (400, "temperature is unsupported with a seed", "temperature", adapt.WITHOUT_TEMPERATURE),
        (422, "seed: Extra inputs are not permitted", "seed", adapt.WITHOUT_SEED),
        (400, "Only one completion choice is allowed", "", adapt.WITHOUT_N),
        (400, "n must be 1 when using greedy sampling, got 4.", "", adapt.WITHOUT_N),
        (400, "System role not supported", "", adapt.FOLDED_SYSTEM),
        (500, "Conversation roles must alternate user/assistant/user/assistant/...", "", adapt.FOLDED_SYSTEM),
        (400, "This model's maximum context length is 4096 tokens, max_tokens is too large", "", None),
        (400, "max_tokens is too large: 99. This model supports at most 16 completion tokens", "max_tokens", None),
        (400, "The model `gpt-nope` does not exist", "model", None),
        (401, "seed is not supported", "seed", None),
        (500, "seed is not supported", "seed", None),
        (400, "content is invalid in an unknown way", "", None),
    ],
)  # fmt: skip
def test_what_a_refusal_teaches(status: int, message: str, param: str, expected: str | None) -> None:
    assert adapt.adaptation_for(ServerError(status, message, param), BODY) == expected


def test_every_adaptation_takes_away_its_own_cause() -> None:
    every = (adapt.WITHOUT_SEED, adapt.WITHOUT_TOP_P, adapt.WITHOUT_TEMPERATURE, adapt.WITHOUT_N,
             adapt.MAX_COMPLETION_TOKENS, adapt.FOLDED_SYSTEM)  # fmt: skip
    body = adapt.request_body("m", MESSAGES, Sampling(), 4, 1, {}, every)
    assert set(body) == {"model", "messages", "max_completion_tokens"}
    refusal = "System role not supported; seed, n=4, temperature and top_p unsupported, use max_completion_tokens"
    assert adapt.adaptation_for(ServerError(400, refusal), body) is None
