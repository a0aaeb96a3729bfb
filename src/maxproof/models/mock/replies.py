"""Bodies as an OpenAI-compatible server sends them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from maxproof.models.mock.script import MockReply
from maxproof.models.mock.settings import Features
from maxproof.models.types import Usage

_ERROR_TYPES = {
    400: ("invalid_request_error", "The request is not valid."),
    401: ("authentication_error", "Incorrect API key provided."),
    403: ("permission_error", "You are not allowed to use this model."),
    404: ("not_found_error", "The model does not exist."),
    408: ("timeout_error", "The request timed out."),
    409: ("conflict_error", "The request conflicts with another one."),
    429: ("rate_limit_error", "Rate limit reached; try again later."),
    503: ("overloaded_error", "The engine is overloaded; try again later."),
}
HTML_ERROR = (
    "<html>\r\n<head><title>{status} Bad Gateway</title></head>\r\n<body>\r\n<center><h1>{status} Bad Gateway</h1>"
    "</center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"
)


def estimate_tokens(text: str) -> int:
    """A quarter of the characters, rounded up."""
    return (len(text) + 3) // 4


def encode(value: object) -> bytes:
    """Compact JSON; lone surrogates are escaped."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def error_body(status: int, message: str | None = None, code: str | None = None) -> bytes:
    """An error as OpenAI sends it; `message` and `code` default to what is usual for the status."""
    kind, usual = _ERROR_TYPES.get(status, ("server_error", "The server had an error while processing your request."))
    return encode({"error": {"message": message or usual, "type": kind, "param": None, "code": code}})


def reply_usage(reply: MockReply) -> Usage:
    """Completion and reasoning tokens of one reply."""
    if reply.usage is not None:
        return reply.usage
    thinking = estimate_tokens(reply.reasoning)
    return Usage(completion_tokens=thinking + estimate_tokens(reply.text), reasoning_tokens=thinking)


def total_usage(replies: Sequence[MockReply], prompt_tokens: int, cached_tokens: int) -> Usage:
    """Usage of a request: the prompt once, the completions summed."""
    parts = [reply_usage(reply) for reply in replies]
    given = [reply.usage for reply in replies if reply.usage is not None]
    return Usage(
        prompt_tokens=given[0].prompt_tokens if given else prompt_tokens,
        completion_tokens=sum(part.completion_tokens for part in parts),
        reasoning_tokens=sum(part.reasoning_tokens for part in parts),
        cached_tokens=given[0].cached_tokens if given else cached_tokens,
    )


def usage_json(usage: Usage, features: Features) -> dict[str, Any]:
    """The `usage` object; details only where the server has them."""
    result: dict[str, Any] = {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.total_tokens,
    }
    if features.cached_tokens:
        result["prompt_tokens_details"] = {"cached_tokens": usage.cached_tokens}
    if usage.reasoning_tokens:
        result["completion_tokens_details"] = {"reasoning_tokens": usage.reasoning_tokens}
    return result


def _message(reply: MockReply, features: Features) -> dict[str, Any]:
    if not reply.reasoning or features.reasoning == "none":
        return {"role": "assistant", "content": reply.text}
    if features.reasoning == "think-tags":
        # A model that is cut inside its thinking never gets to the closing tag.
        closing = "" if reply.finish_reason == "length" and not reply.text else "\n</think>\n\n"
        return {"role": "assistant", "content": f"<think>\n{reply.reasoning}{closing}{reply.text}"}
    return {"role": "assistant", "content": reply.text or None, features.reasoning: reply.reasoning}


def completion(number: int, model: str, replies: Sequence[MockReply], usage: Usage, features: Features) -> bytes:
    """The body of a chat completion."""
    body: dict[str, Any] = {
        "id": f"chatcmpl-mock-{number}",
        "object": "chat.completion",
        "created": 1_700_000_000 + number,
        "model": model,
        "choices": [
            {"index": i, "message": _message(reply, features), "finish_reason": reply.finish_reason}
            for i, reply in enumerate(replies)
        ],
    }
    if features.usage:
        body["usage"] = usage_json(usage, features)
    return encode(body)


def chunks(
    number: int, request: Mapping[str, Any], replies: Sequence[MockReply], usage: Usage, features: Features
) -> Iterator[bytes]:
    """The server-sent events of a streamed completion; usage in a last event when the request asks for it."""

    def event(choices: list[dict[str, Any]], **more: object) -> bytes:
        body = {"id": f"chatcmpl-mock-{number}", "object": "chat.completion.chunk", "created": 1_700_000_000 + number}
        return b"data: " + encode({**body, "model": request.get("model"), "choices": choices, **more}) + b"\n\n"

    for i, reply in enumerate(replies):
        message = _message(reply, features)
        yield event([{"index": i, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}])
        for name in ("reasoning_content", "reasoning", "content"):
            text = message.get(name) or ""
            for at in range(0, len(text), 200):
                yield event([{"index": i, "delta": {name: text[at : at + 200]}, "finish_reason": None}])
        yield event([{"index": i, "delta": {}, "finish_reason": reply.finish_reason}])
    if features.usage and (request.get("stream_options") or {}).get("include_usage"):
        yield event([], usage=usage_json(usage, features))
    yield b"data: [DONE]\n\n"
