"""The web application: POST /v1/rewards, GET /health, GET /metrics.

    POST /v1/rewards  {"items": [...]}  ->  {"rewards": [0.857, null, ...], "details": [{...}, ...]}

A reward is 0..1 in the order of the items; null is "not scored", which is never a zero. A request is answered whole
or, with `{"error": {"message", "field", "hint"}}`, not at all:

    400  the body is wrong; `field` names the item and what of it.
    413  the body is too large.
    503  with Retry-After: the queue is full, or the server ends: ask again. Without: the judges are gone, which waiting
         can't mend.

The log has a line a request with counts and times. What was sent or answered is never in it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from maxproof.problems import InputError, Problem
from maxproof.training.serve.metrics import CONTENT_TYPE
from maxproof.training.serve.requests import Item, read_items
from maxproof.training.serve.scoring import JudgesGone, Scorer, reason_of
from maxproof.verifier.types import Verification

MAX_WAIT_S, ENDING_WAIT_S = 60, 5
LOG = logging.getLogger("maxproof.serve")


@dataclass(frozen=True, slots=True)
class Limits:
    """Of the server as a whole.

    Attributes:
        queue: rollouts that may be in flight, over all requests.
        body_bytes: of one request.
    """

    queue: int = 8192
    body_bytes: int = 64 * 1024 * 1024


def reward_app(
    scorer: Scorer, problems: Mapping[str, Problem], limits: Limits, ending: asyncio.Event | None = None
) -> Starlette:
    """The application.

    Args:
        problems: those that a `problem_id` may name, by id.
        ending: once it is set, what is still being judged is given up, with a 503 to ask again.
    """
    routes = _Routes(scorer, problems, limits, ending or asyncio.Event())
    return Starlette(
        routes=[
            Route("/v1/rewards", routes.rewards, methods=["POST"]),
            Route("/health", routes.health, methods=["GET"]),
            Route("/metrics", routes.metrics, methods=["GET"]),
        ]
    )


class _Refused(Exception):
    """A request that is not worked on."""

    def __init__(self, status: int, message: str, retry_after_s: int | None = None) -> None:
        self.status = status
        self.retry_after_s = retry_after_s
        super().__init__(message)


class _Routes:
    """The handlers, and what they share."""

    def __init__(self, scorer: Scorer, problems: Mapping[str, Problem], limits: Limits, ending: asyncio.Event) -> None:
        self._scorer = scorer
        self._problems = problems
        self._limits = limits
        self._ending = ending

    async def rewards(self, request: Request) -> Response:
        started = time.monotonic()
        try:
            response, said = await self._answer(request)
        except InputError as error:
            response, said = _error(400, error.message, error.field, error.hint), "the body is wrong"
        except _Refused as refused:
            response, said = _error(refused.status, str(refused)), "refused"
            if refused.retry_after_s is not None:
                response.headers["Retry-After"] = str(refused.retry_after_s)
        except JudgesGone as gone:
            response, said = _error(503, f"nothing more is judged: {gone}"), "the judges are gone"
        except ClientDisconnect:
            response, said = _error(400, "the body ended early"), "the body ended early"
        except Exception as error:  # noqa: BLE001 - a bug in one request: its text may hold what a model wrote
            frames = "".join(traceback.format_tb(error.__traceback__))
            LOG.error("%s in a request for rewards:\n%s", type(error).__name__, frames)
            response, said = _error(500, "internal error, see the server's log"), "failed"
        took = time.monotonic() - started
        self._scorer.metrics.requests[response.status_code] += 1
        self._scorer.metrics.request_s += took
        LOG.info("POST /v1/rewards %d: %s, %.2f s", response.status_code, said, took)
        return response

    async def health(self, request: Request) -> Response:
        metrics = self._scorer.metrics
        stopped = self._scorer.stopped
        value = {
            "status": "stopped" if stopped else "ok",
            "reason": stopped,
            "problems": len(self._problems),
            "rollouts_in_flight": metrics.admitted,
            "queue_limit": self._limits.queue,
        }
        return _json(503 if stopped else 200, value)

    async def metrics(self, request: Request) -> Response:
        text = self._scorer.metrics.text(limit=self._scorer.limit, queue=self._limits.queue)
        return Response(text, media_type=CONTENT_TYPE)

    async def _answer(self, request: Request) -> tuple[Response, str]:
        items = read_items(await self._body(request), self._problems, self._limits.queue)
        metrics = self._scorer.metrics
        if metrics.admitted + len(items) > self._limits.queue:
            raise _Refused(503, f"the queue of {self._limits.queue} rollouts is full", self._wait_s())
        metrics.admitted += len(items)
        try:
            found = await self._score(items)
        finally:
            metrics.admitted -= len(items)
        rewards = [verification.score for verification in found]
        said = f"{len(items)} rollouts, {rewards.count(None)} not scored"
        return _json(200, {"rewards": rewards, "details": [_details(verification) for verification in found]}), said

    async def _score(self, items: Sequence[Item]) -> list[Verification]:
        scoring = asyncio.create_task(self._scorer.score(items))
        ending = asyncio.create_task(self._ending.wait())
        try:
            await asyncio.wait({scoring, ending}, return_when=asyncio.FIRST_COMPLETED)
            if not scoring.done():
                raise _Refused(503, "the server ends", ENDING_WAIT_S)
            return scoring.result()
        finally:
            scoring.cancel()
            ending.cancel()
            await asyncio.wait({scoring, ending})  # no call outlives its request

    async def _body(self, request: Request) -> bytes:
        most = self._limits.body_bytes
        too_large = _Refused(413, f"the body is larger than {most:,} bytes: send fewer items")
        announced = request.headers.get("content-length", "")
        if announced.isdecimal() and int(announced[:20]) > most:
            raise too_large
        body = bytearray()
        async for part in request.stream():
            body += part
            if len(body) > most:
                raise too_large
        return bytes(body)

    def _wait_s(self) -> int:
        """Seconds until the calls that wait now have had their turn, as far as the past tells; at least 1."""
        metrics = self._scorer.metrics
        mean = metrics.call_s / max(1, metrics.calls.total())
        waves = (metrics.calls_waiting + metrics.calls_in_flight) / self._scorer.limit
        return min(MAX_WAIT_S, max(1, math.ceil(waves * mean)))


def _details(verification: Verification) -> dict[str, Any]:
    return {
        "state": verification.state.value,
        "points": verification.points,
        "verdict": verification.verdict,
        "reason": reason_of(verification),
        "judges": {view.judge: view.points for view in verification.judges},
        "bad_cases": [hit.rule for hit in verification.bad_cases],
    }


def _error(status: int, message: str, field: str | None = None, hint: str | None = None) -> Response:
    return _json(status, {"error": {"message": message, "field": field, "hint": hint}})


def _json(status: int, value: object) -> Response:
    # In ASCII: half of a surrogate pair, which a model may have written, has no UTF-8.
    return Response(json.dumps(value, allow_nan=False), status, media_type="application/json")
