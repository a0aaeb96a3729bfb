"""What the tests of the reward server share: its application with scripted judges, and requests without a socket."""

from __future__ import annotations

import json
from typing import Any

from judge_fakes import GOOD, PROBLEM, TEXT, OneByOne

from maxproof.models.types import Answer, Call
from maxproof.training.serve.app import Limits, reward_app
from maxproof.training.serve.scoring import Scorer
from maxproof.verifier import VerifierSettings

PROBLEMS = {"p": PROBLEM}


class Fixed(OneByOne):
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
