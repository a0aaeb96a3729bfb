"""The client against a real OpenAI-compatible server: llama.cpp with SmolLM2-135M."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from maxproof.models.client import ChatClient, ChatRequest
from maxproof.models.local import LocalServer
from maxproof.models.settings import EndpointSettings
from maxproof.models.types import AnswerState, CallFailed, FailureKind, Message, Sampling
from maxproof.models.weights import find_weights
from maxproof.problems import InputError

pytestmark = pytest.mark.local_model

MESSAGES = (Message("system", "Answer briefly."), Message("user", "Name a fruit and stop."))


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    pytest.importorskip("xllamacpp", reason="the extra [local] is not installed")
    try:
        weights = find_weights(os.environ.get("MAXPROOF_TEST_GGUF", "smollm2"))
    except InputError as error:
        pytest.skip(f"no weights: {error}")
    with LocalServer(Path(weights), threads=1, slots=4, context=1024) as server:
        yield server.base_url


def client(base_url: str, **settings: object) -> ChatClient:
    values = {"base_url": "local:smollm2", "timeout_s": 120.0, **settings}
    return ChatClient("local", EndpointSettings.model_validate(values), base_url=base_url)


def request(*, n: int = 1, max_tokens: int = 12, seed: int = 3, temperature: float = 1.0) -> ChatRequest:
    return ChatRequest("", MESSAGES, Sampling(temperature, 0.95, max_tokens), n=n, seed=seed)


async def test_one_answer(base_url: str) -> None:
    async with client(base_url) as chat:
        reply = await chat.complete(request())
        assert await chat.models()
    (answer,) = reply.answers
    assert answer.text
    assert answer.state in (AnswerState.COMPLETE, AnswerState.TRUNCATED)
    assert 0 < answer.usage.completion_tokens <= 12
    assert answer.usage.prompt_tokens > 10
    assert not answer.usage.estimated
    assert reply.adaptations == ()
    assert json.loads(reply.response_body)["choices"]


async def test_the_limit_truncates(base_url: str) -> None:
    async with client(base_url) as chat:
        (answer,) = (await chat.complete(request(max_tokens=1))).answers
    assert answer.state is AnswerState.TRUNCATED
    assert answer.usage.completion_tokens == 1


async def test_several_samples_share_the_prompt(base_url: str) -> None:
    async with client(base_url) as chat:
        reply = await chat.complete(request(n=3, max_tokens=8))
    assert len(reply.answers) == 3
    assert reply.attempts == 1
    assert [answer.usage.prompt_tokens > 0 for answer in reply.answers] == [True, False, False]
    assert all(answer.usage.completion_tokens > 0 for answer in reply.answers)


async def test_more_samples_than_it_has_slots_are_asked_singly(base_url: str) -> None:
    async with client(base_url) as chat:
        reply = await chat.complete(request(n=6, max_tokens=4))
        assert len(reply.answers) == 1
        assert not chat.supports_n


async def test_more_calls_than_slots_all_end(base_url: str) -> None:
    async with client(base_url) as chat, asyncio.TaskGroup() as group:
        tasks = [group.create_task(chat.complete(request(max_tokens=3, seed=i))) for i in range(20)]
    assert all(task.result().answers[0].text for task in tasks)


async def test_the_prompt_cache_is_reported(base_url: str) -> None:
    async with client(base_url, concurrency=1) as chat:
        for seed in range(6):
            (answer,) = (await chat.complete(request(max_tokens=2, seed=seed))).answers
    assert answer.usage.cached_tokens > 0


async def test_a_prompt_that_does_not_fit(base_url: str) -> None:
    long = ChatRequest("", (Message("user", "lemma " * 3000),), Sampling(max_tokens=10))
    async with client(base_url) as chat:
        with pytest.raises(CallFailed) as caught:
            await chat.complete(long)
    assert caught.value.kind is FailureKind.CONTEXT_LENGTH


async def test_check(base_url: str) -> None:
    async with client(base_url) as chat:
        check = await chat.check("")
    assert check.ok
    assert check.model
