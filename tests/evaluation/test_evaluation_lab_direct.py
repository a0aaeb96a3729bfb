"""`DirectCaller`: what methods share."""

from __future__ import annotations

import pytest

from maxproof.evaluation.lab.direct import DirectCaller
from maxproof.evaluation.methods.budget import MeteredCaller, Spent
from maxproof.models.call_key import call_seed
from maxproof.models.chat import ChatReply, ChatRequest
from maxproof.models.types import (
    Answer,
    Call,
    CallAddress,
    CallFailed,
    FailureKind,
    Message,
    NoAnswer,
    Sampling,
    Usage,
)

SAMPLING = Sampling(max_tokens=10)


class Endpoint:
    """Answers with the sample's seed; counts requests; fails where told to."""

    def __init__(self, *failing: int) -> None:
        self.requests: list[ChatRequest] = []
        self._failing = failing

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.requests.append(request)
        if len(self.requests) in self._failing:
            raise CallFailed(FailureKind.TIMEOUT, "too late")
        assert request.seed is not None
        answers = [Answer(str(request.seed + i), usage=Usage(7, 3)) for i in range(request.n)]
        return ChatReply(tuple(answers), b"", b"")


def call(sample: int = 0, *, role: str = "judge", candidate: int = 0, inputs: str = "x") -> Call:
    address = CallAddress(role, "verify", candidate, sample)
    return Call(address, "judge@1", inputs, lambda: (Message("user", inputs),))


def caller(endpoint: Endpoint) -> DirectCaller:
    return DirectCaller(endpoint, SAMPLING, 4)  # type: ignore[arg-type]


async def test_methods_share_answers_and_each_pays_what_it_used() -> None:
    endpoint = Endpoint()
    shared = caller(endpoint)
    one, other = MeteredCaller(shared), MeteredCaller(shared)
    first = await one.ask_samples([call(0), call(1)])
    assert len(endpoint.requests) == 1
    assert await other.ask_samples([call(0)]) == first[:1]
    assert len(endpoint.requests) == 1
    assert one.spent == Spent(2, 14, 6)
    assert one.spent.tokens == 20
    assert other.spent == Spent(1, 7, 3)
    await other.ask(call(0))  # what is paid for is paid once
    assert other.spent == Spent(1, 7, 3)


async def test_a_run_is_one_request_and_is_cut_where_samples_have_holes() -> None:
    endpoint = Endpoint()
    shared = caller(endpoint)
    await shared.ask_samples([call(4)])
    found = await shared.ask_samples([call(n) for n in (5, 0, 1, 4, 2, 7)])
    assert [(r.n, r.seed) for r in endpoint.requests[1:]] == [
        (3, call_seed(4, call(0).address)),
        (1, call_seed(4, call(5).address)),
        (1, call_seed(4, call(7).address)),
    ]
    seeds = [call_seed(4, call(n).address) for n in (5, 0, 1, 4, 2, 7)]
    assert [a.text for a in found if isinstance(a, Answer)] == [str(seed) for seed in seeds]


async def test_an_answer_does_not_depend_on_what_was_asked_with_it() -> None:
    together = await caller(Endpoint()).ask_samples([call(n) for n in range(4)])
    for sample in range(4):
        assert await caller(Endpoint()).ask(call(sample)) == together[sample]


async def test_other_prompts_and_other_addresses_are_other_calls() -> None:
    endpoint = Endpoint()
    one = caller(endpoint)
    for other in (call(0), call(0, inputs="y"), call(0, candidate=1), call(0, role="ranker")):
        await one.ask(other)
    assert len(endpoint.requests) == 4


async def test_a_failed_call_is_no_answer_and_is_asked_again() -> None:
    one = caller(Endpoint(1))
    found = await one.ask_samples([call(0), call(1), call(5)])
    assert [isinstance(item, NoAnswer) for item in found] == [True, True, False]
    assert isinstance(await one.ask(call(0)), Answer)
    failing = caller(Endpoint(1))
    with pytest.raises(CallFailed, match="too late"):
        await failing.ask(call(0))
