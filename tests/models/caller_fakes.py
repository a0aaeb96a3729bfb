"""A scripted endpoint and shorthands for the tests of journal and caller."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

from maxproof.models.bindings import Bindings, resolve_bindings
from maxproof.models.caller import JournaledCaller
from maxproof.models.chat import ChatReply, ChatRequest
from maxproof.models.journal import Journal
from maxproof.models.settings import BudgetSettings, EndpointSettings, RoleSettings
from maxproof.models.types import Answer, Call, CallAddress, Message, Usage

PROBLEM = "Prove that the square of an odd integer leaves remainder 1 on division by 8. " * 8
USAGE = Usage(100, 50)


class FakeEndpoint:
    """Answers `answer N`, N counting its samples; `script` may wait or raise before each request."""

    def __init__(
        self,
        script: Callable[[ChatRequest], Awaitable[None]] | None = None,
        *,
        supports_n: bool = True,
        choices: int | None = None,
        usage: Usage = USAGE,
        reply: str = "answer {0}",
    ) -> None:
        self.script = script
        self.supports_n = supports_n
        self.choices = choices
        self.usage = usage
        self.reply = reply
        self.requests: list[ChatRequest] = []
        self.samples = 0
        self.in_flight = 0
        self.peak = 0
        self.waiting = 0
        self.trouble = ""
        self.names = ["fake-1"]
        self.listed = 0

    async def models(self) -> list[str]:
        self.listed += 1
        return self.names

    async def first_model(self) -> str:
        return (await self.models())[0]

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.requests.append(request)
        self.in_flight += request.n
        self.peak = max(self.peak, self.in_flight)
        try:
            await (self.script(request) if self.script else asyncio.sleep(0))
        finally:
            self.in_flight -= request.n
        answers = []
        for _ in range(request.n if self.choices is None else min(self.choices, request.n)):
            text = self.reply.format(self.samples)
            answers.append(Answer(text, reasoning=f"because {text}", usage=self.usage, latency_s=0.5, model="fake-1"))
            self.samples += 1
        messages = [{"role": message.role, "content": message.content} for message in request.messages]
        body = {"model": request.model, "messages": messages, "n": request.n, "seed": request.seed}
        response = {"choices": [{"message": {"content": answer.text}} for answer in answers]}
        return ChatReply(
            tuple(answers), json.dumps(body, ensure_ascii=False).encode(), json.dumps(response).encode(), latency_s=0.5
        )


def bindings_of(endpoint: EndpointSettings | None = None, **roles: RoleSettings) -> Bindings:
    return resolve_bindings({"default": endpoint or EndpointSettings(base_url="http://h/v1", model="m")}, roles)


def call(
    candidate: int = 0,
    sample: int = 0,
    *,
    role: str = "generator",
    judge: str = "",
    template: str = "t@1",
    text: str = "",
) -> Call:
    address = CallAddress(role, "verify" if judge else "generate", candidate, sample, judge)
    prompt = (Message("system", "Prove it."), Message("user", PROBLEM + text))
    return Call(address, template, f"inputs-{candidate}", lambda: prompt)


def samples(count: int, candidate: int = 0) -> list[Call]:
    return [call(candidate, sample, role="judge", judge="free") for sample in range(count)]


@contextlib.contextmanager
def caller_on(
    path: Path,
    endpoint: FakeEndpoint | None = None,
    *,
    bindings: Bindings | None = None,
    budget: BudgetSettings | None = None,
    seed: int = 0,
    replay: bool = False,
    **options: object,
) -> Iterator[JournaledCaller]:
    """A caller on the journal at `path`, which is made if it does not exist."""
    if replay:
        journal = Journal.replay(path)
    elif path.exists():
        journal = Journal.resume(path)
    else:
        journal = Journal.create(path, {"problem": "p"})
    with journal:
        clients = {} if endpoint is None else {"default": endpoint}
        yield JournaledCaller(journal, clients, bindings or bindings_of(), budget, seed, **options)  # type: ignore[arg-type]
