"""What one endpoint can't do, learnt from its refusals, and the request body without it.

When a server refuses an optional parameter, the request is sent again without it, and so are all later ones. There are
six such adaptations, each made at most once per endpoint, so learning ends after at most six refusals.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence

from maxproof.models.failures import ServerError
from maxproof.models.types import Message, Sampling

WITHOUT_SEED = "without seed"
WITHOUT_TOP_P = "without top_p"
WITHOUT_TEMPERATURE = "without temperature"
WITHOUT_N = "without n"
MAX_COMPLETION_TOKENS = "max_completion_tokens for max_tokens"
FOLDED_SYSTEM = "system text folded into the user message"

_OPTIONAL = {"seed": WITHOUT_SEED, "top_p": WITHOUT_TOP_P, "temperature": WITHOUT_TEMPERATURE, "n": WITHOUT_N}
_REFUSES = re.compile(
    r"unsupported|not (be )?support|n't support|only support|unrecogni[sz]ed|unknown|unexpected|not permitted"
    r"|forbidden|not allowed|not available|not implemented|invalid|cannot|can't|must be|deprecated"
    r"|only (the default|one)|only \d",
    re.IGNORECASE,
)
_SYSTEM = re.compile(
    r"system[ _-]*(role|message|prompt|instruction)s?\b.{0,60}\bnot\b|roles? must alternate"
    r"|not support.{0,40}\bsystem\b|(invalid|unknown|unexpected|unsupported).{0,20}\brole\b.{0,20}\bsystem\b",
    re.IGNORECASE,
)
_SEVERAL_CHOICES = re.compile(
    r"""['"`]n['"`]|\bn\s*(>|=|must|should|greater|is not)"""
    r"|(one|multiple|number of) (completions?|choices?|generations?)",
    re.IGNORECASE,
)


def adaptation_for(error: ServerError, body: Mapping[str, object]) -> str | None:
    """The adaptation that answers `error` to a request with `body`; None if there is none left to make."""
    if error.status in (400, 422, 500, 501) and _has_system(body) and _SYSTEM.search(error.message):
        return FOLDED_SYSTEM
    if error.status not in (400, 422, 501) or error.context_length:
        return None
    if "max_tokens" in body and "max_completion_tokens" in error.message:
        return MAX_COMPLETION_TOKENS
    if not _REFUSES.search(error.message):
        return None
    # A server that refuses temperature and top_p together is content without top_p.
    for name, adaptation in _OPTIONAL.items():
        if name in body and _blames(error, name):
            return adaptation
    return None


def _blames(error: ServerError, name: str) -> bool:
    if error.param:
        return error.param.rpartition(".")[2] == name
    if name == "n":
        return _SEVERAL_CHOICES.search(error.message) is not None
    return re.search(rf"\b{name}\b", error.message) is not None


def _has_system(body: Mapping[str, object]) -> bool:
    messages = body.get("messages")
    return isinstance(messages, list) and any(message["role"] == "system" for message in messages)


def request_body(
    model: str, messages: Sequence[Message], sampling: Sampling, samples: int, seed: int | None,
    extra: Mapping[str, object], adaptations: Collection[str],
) -> dict[str, object]:  # fmt: skip
    """The body of a chat-completion request. What stands in `extra` is sent as it is and wins."""
    if FOLDED_SYSTEM in adaptations:
        messages = fold_system(messages)
    limit = "max_completion_tokens" if MAX_COMPLETION_TOKENS in adaptations else "max_tokens"
    body: dict[str, object] = {
        "model": model,
        "messages": [{"role": message.role, "content": message.content} for message in messages],
        limit: sampling.max_tokens,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
    }
    if samples > 1:
        body["n"] = samples
    if seed is not None:
        body["seed"] = seed
    for name, adaptation in _OPTIONAL.items():
        if adaptation in adaptations:
            body.pop(name, None)
    return {**body, **extra}


def fold_system(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Puts the system text in front of the first user message, for servers that know no system role."""
    system = "\n\n".join(message.content for message in messages if message.role == "system")
    others = [message for message in messages if message.role != "system"]
    for i, message in enumerate(others):
        if message.role == "user" and system:
            others[i] = Message("user", f"{system}\n\n{message.content}")
            return tuple(others)
    return (Message("user", system), *others) if system else tuple(others)


def encode(body: Mapping[str, object]) -> bytes:
    """`body` as it goes over the wire."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
