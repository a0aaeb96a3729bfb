"""Faults that the mock server injects, and when.

Written short, a fault is `KIND` or `KIND@CONDITION,CONDITION,...,OPTION,...`; all conditions must hold:

    429@0.1,retry-after=2          one request in ten, at random
    500@first=3                    the first three requests
    hang@every=50                  request 50, 100, ...
    429@from-s=5,to-s=20           everything between 5 s and 20 s after the first request: a storm
    429@over=64                    whatever would make more than 64 requests in flight
    half@0.05,task=verify          only requests of one task
    die@after=100                  the server dies for good when request 101 arrives

A probability is decided by (plan seed, fault, request, how often this request came before): the same requests get the
same faults in whatever order they arrive, and a retry draws anew. `first`, `every`, `after` and `until` count arrivals.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from maxproof.problems.errors import InputError

Kind = Literal["status", "hang", "reset", "half", "stall", "drip", "bad-json", "wrong-json", "html", "die"]

KINDS: dict[str, str] = {
    "status": "an HTTP error with an OpenAI-style body; written as its code: 429, 500, 503, ...",
    "hang": "the request is accepted and not a byte is ever sent",
    "reset": "the connection is reset before any header",
    "half": "headers and half of the body, then the connection closes",
    "stall": "headers and half of the body, then nothing, with the connection open",
    "drip": "the right answer in single small pieces, over `seconds` (default 30)",
    "bad-json": "status 200 and a body that is not JSON",
    "wrong-json": "status 200 and JSON that is no chat completion",
    "html": "an HTML error page as a proxy sends it; `status` gives its code (default 502)",
    "die": "the server resets every connection and never listens again",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong, and when. Conditions that are None always hold; all of them must hold.

    Attributes:
        kind: see `KINDS`.
        status: HTTP status for `status` and `html`.
        retry_after: value of a Retry-After header: seconds, or an HTTP date as text.
        message: error message in the body, instead of the usual one.
        seconds: how long `drip` takes.
        p: probability in [0, 1] for each arrival of a request.
        every: requests whose number is a multiple of this.
        first: requests 1..first.
        after: requests numbered above this.
        until: requests numbered up to this.
        from_s, to_s: seconds since the first request.
        over: more than this many requests would be in flight.
        task: only requests of this task.
    """

    kind: Kind = "status"
    status: int = 500
    retry_after: float | str | None = None
    message: str | None = None
    seconds: float = 30.0
    p: float | None = None
    every: int | None = None
    first: int | None = None
    after: int | None = None
    until: int | None = None
    from_s: float | None = None
    to_s: float | None = None
    over: int | None = None
    task: str | None = None

    @property
    def name(self) -> str:
        """The kind, or the code of a status fault."""
        return str(self.status) if self.kind == "status" else self.kind


@dataclass(frozen=True, slots=True)
class Arrival:
    """What a fault's conditions are decided on. `repeat`: how often an equal request came before."""

    number: int
    key: str
    repeat: int
    in_flight: int
    seconds: float
    task: str


@dataclass(frozen=True, slots=True)
class FaultPlan:
    """All faults of a server; the first whose conditions hold strikes."""

    faults: tuple[Fault, ...] = ()
    seed: int = 0

    @classmethod
    def parse(cls, specs: Sequence[str], seed: int = 0) -> FaultPlan:
        """A plan from short forms. Raises InputError."""
        return cls(tuple(parse_fault(spec) for spec in specs), seed)

    def pick(self, arrival: Arrival) -> Fault | None:
        """The fault for this arrival, or None."""
        for index, fault in enumerate(self.faults):
            if self._strikes(index, fault, arrival):
                return fault
        return None

    def _strikes(self, index: int, fault: Fault, at: Arrival) -> bool:
        conditions = (
            fault.every is None or at.number % fault.every == 0,
            fault.first is None or at.number <= fault.first,
            fault.after is None or at.number > fault.after,
            fault.until is None or at.number <= fault.until,
            fault.from_s is None or at.seconds >= fault.from_s,
            fault.to_s is None or at.seconds < fault.to_s,
            fault.over is None or at.in_flight > fault.over,
            fault.task is None or at.task == fault.task,
        )
        if not all(conditions):
            return False
        if fault.p is None:
            return True
        seed = f"{self.seed}\0{index}\0{at.key}\0{at.repeat}".encode()
        return int.from_bytes(hashlib.sha256(seed).digest()[:8]) / 2**64 < fault.p


_COUNTS = ("every", "first", "after", "until", "over")
_NUMBERS = ("p", "seconds", "from_s", "to_s")


def parse_fault(spec: str) -> Fault:
    """A fault from its short form (see the module's docstring). Raises InputError."""
    kind, _, rest = spec.strip().partition("@")
    values: dict[str, object] = {}
    if kind.isdigit():
        values["status"] = _status(spec, kind)
    elif kind not in get_args(Kind) or kind == "status":
        raise _wrong(
            spec, f"unknown kind '{kind}'; known: a status code, {', '.join(k for k in KINDS if k != 'status')}"
        )
    elif kind == "html":
        values["status"] = 502
    for item in filter(None, rest.split(",")):
        key, equals, value = item.strip().partition("=")
        if not equals:
            key, value = "p", key
        values.update([_option(spec, key.strip().replace("-", "_"), value.strip())])
    return Fault(kind="status" if kind.isdigit() else kind, **values)  # type: ignore[arg-type]


def _option(spec: str, key: str, value: str) -> tuple[str, object]:
    if key in ("message", "task"):
        return key, value
    if key == "status":
        return key, _status(spec, value)
    try:
        if key == "retry_after":
            return key, float(value)
        if key in _COUNTS:
            count = int(value)
            if count < (1 if key == "every" else 0):
                raise ValueError
            return key, count
        if key in _NUMBERS:
            number = float(value)
            if not 0 <= number <= (1 if key == "p" else 1e9):
                raise ValueError
            return key, number
    except ValueError:
        raise _wrong(spec, f"'{value}' is no value for {key.replace('_', '-')}") from None
    known = ", ".join(
        name.replace("_", "-") for name in ("retry_after", "message", "task", "status", *_COUNTS, *_NUMBERS)
    )
    raise _wrong(spec, f"unknown condition or option '{key.replace('_', '-')}'; known: {known}")


def _status(spec: str, text: str) -> int:
    if not (text.isdecimal() and 200 <= int(text) <= 599):
        raise _wrong(spec, f"'{text}' is no HTTP status code")
    return int(text)


def _wrong(spec: str, what: str) -> InputError:
    return InputError(f"fault '{spec}': {what}; expected for example 429@0.1,retry-after=2 or hang@every=50")
