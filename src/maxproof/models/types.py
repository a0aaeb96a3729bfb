"""What is asked of a model, and what comes back.

A *call* is one sample of one prompt. It has an address (who asks, about which candidate, which sample), so that K
samples of one prompt are K calls with K stored answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a model samples: temperature >= 0, top_p in (0, 1], max_tokens >= 1 (thinking included)."""

    temperature: float = 1.0
    top_p: float = 0.95
    max_tokens: int = 32768


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call. `cached_tokens` is a part of `prompt_tokens`, `reasoning_tokens` of `completion_tokens`.

    `estimated` says that the server sent no numbers and these are our own count.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    cached_tokens: int = 0
    estimated: bool = False

    @property
    def total_tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


class AnswerState(StrEnum):
    """How an answer ended.

    `TRUNCATED`: the token limit cut it (also when thinking ate the whole limit). `EMPTY`: it stopped by itself with
    no visible text. `REFUSED`: the model or a content filter declined.
    """

    COMPLETE = "complete"
    TRUNCATED = "truncated"
    EMPTY = "empty"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Answer:
    """One finished sample.

    Attributes:
        text: the visible text, thinking removed.
        reasoning: the thinking, from `reasoning_content`, `reasoning` or in-band think tags; "" if none.
        unclosed_thinking: an in-band think tag was opened and never closed (its text is then in `reasoning`).
        latency_s: seconds from the first byte sent to the last byte received, retries included.
        model: the model name that the server reported, or the one asked for.
    """

    text: str
    state: AnswerState = AnswerState.COMPLETE
    reasoning: str = ""
    unclosed_thinking: bool = False
    finish_reason: str = ""
    usage: Usage = field(default_factory=Usage)
    latency_s: float = 0.0
    model: str = ""


class FailureKind(StrEnum):
    """Why a call has no answer. The first three are the user's to fix, the others may pass with time."""

    PERMANENT = "permanent"  # 401, 402, 403, 404, a redirect: no call to this endpoint can succeed
    REJECTED = "rejected"  # 400, 422, 501, 505: this request can't succeed as it is
    CONTEXT_LENGTH = "context_length"  # the prompt does not fit the model
    TIMEOUT = "timeout"  # the one deadline around the call ran out
    OVERLOADED = "overloaded"  # 408, 409, 429, 5xx until patience or the deadline ended
    CONNECTION = "connection"  # refused, reset, cut in the middle of a body, as long
    BAD_REPLY = "bad_reply"  # the server's body is not a chat completion


class StopKind(StrEnum):
    """What ended a run early, if anything did."""

    NONE = "none"
    BUDGET = "budget"  # calls, tokens, money or the deadline
    ENDPOINT = "endpoint"  # an endpoint is gone or can't be used
    JOURNAL = "journal"  # finished calls could not be recorded any more


@dataclass(frozen=True, slots=True)
class Stop:
    """Why nothing new is asked any more; false as long as there is no reason."""

    kind: StopKind = StopKind.NONE
    reason: str = ""

    def __bool__(self) -> bool:
        return self.kind is not StopKind.NONE


class NoAnswer(Exception):
    """A call that has no answer; `CallFailed` or `CallNotRun`."""


class CallFailed(NoAnswer):
    """The call was made and failed for good. It is recorded; it says nothing about any proof."""

    def __init__(self, kind: FailureKind, message: str, *, endpoint: str = "", attempts: int = 1) -> None:
        self.kind = kind
        self.message = message
        self.endpoint = endpoint
        self.attempts = attempts
        super().__init__(f"{endpoint + ': ' if endpoint else ''}{message}")


class CallNotRun(NoAnswer):
    """The call was never started: a budget or deadline is spent, the endpoint is gone, or a replay has no record.

    `kind` says which, where an endpoint's own gate refused it.
    """

    def __init__(self, reason: str, kind: StopKind = StopKind.BUDGET) -> None:
        self.reason = reason
        self.kind = kind
        super().__init__(reason)


@dataclass(frozen=True, slots=True)
class CallAddress:
    """Who asks for what: fixed before sampling, so it never depends on the order in which calls finish.

    Attributes:
        role: `generator`, `judge`, `normaliser`, `refiner`, `ranker`, `summariser` or `annotator`.
        task: what the role does here (`generate`, `verify`, `normalise`, `patch`, `rewrite`, `rank`, `summarise`,
            `rubric`, `annotate`).
        candidate: the candidate's id, or the match number for `rank`.
        sample: sample index: verification sample k, vote v; 0 otherwise.
        judge: the judge's name for `verify`, else "".
        attempt: 0, or the number of the re-ask after an unreadable reply (one, but for the annotator).
    """

    role: str
    task: str
    candidate: int
    sample: int = 0
    judge: str = ""
    attempt: int = 0

    @property
    def binding(self) -> str:
        """The name under which the caller looks up endpoint, model and sampling: the role, or `judge:NAME`."""
        return f"{self.role}:{self.judge}" if self.judge else self.role


@dataclass(frozen=True, slots=True)
class Call:
    """One call, not yet made.

    Attributes:
        address: see `CallAddress`.
        template: the prompt template's name and version, e.g. `judge-free@1`.
        inputs: hex digest of everything that goes into the prompt (problem, candidate text, critiques, summaries,
            and any setting that shapes the text). The journal finds a recorded answer by it without the prompt.
        prompt: builds the messages; called only if the answer is not in the journal.
    """

    address: CallAddress
    template: str
    inputs: str
    prompt: Callable[[], tuple[Message, ...]]


class Caller(Protocol):
    """Answers calls: from the journal where recorded, else from an endpoint, recording before returning."""

    async def ask(self, call: Call) -> Answer:
        """Raises `CallFailed` or `CallNotRun`."""
        ...

    async def ask_samples(self, calls: Sequence[Call]) -> list[Answer | NoAnswer]:
        """Calls that differ only in `address.sample` (same prompt): one request with `n` where the server can.

        Never raises `NoAnswer`; a call without an answer has its exception in the list.
        """
        ...


async def ask_one(caller: Caller, call: Call) -> Answer:
    """`Caller.ask` for a caller that does its work in `ask_samples`. Raises what stands there for no answer."""
    (result,) = await caller.ask_samples([call])
    if isinstance(result, NoAnswer):
        raise result
    return result


@dataclass(frozen=True, slots=True)
class RoleUsage:
    """What one role has used over a whole run, all its sessions together.

    `cost` is None when a used endpoint has no prices. `estimated` says that some token counts are our own.
    `seconds` is the sum of the calls' latencies (calls overlap: it is not wall time).
    """

    role: str
    calls: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = None
    seconds: float = 0.0
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class CallProgress:
    """A snapshot for the live view.

    Attributes:
        waiting: calls that wait to be tried again, or for their turn.
        budget_left: the least share (0..1) left of any budget, None without one.
        trouble: the last failure's message while no call has succeeded since, "" otherwise.
    """

    in_flight: int
    waiting: int
    finished: int
    replayed: int
    failed: int
    total_tokens: int
    cost: float | None
    budget_left: float | None
    trouble: str = ""
