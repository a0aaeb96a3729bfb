"""Reads what a server says when it fails, and turns it into one line that says what to change."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from maxproof.models.retry import AttemptFailed
from maxproof.models.types import FailureKind

MAX_MESSAGE_CHARS = 500

_CONTEXT = re.compile(
    r"context[ _-]*(length|window|size|limit)|maximum context|max_model_len|exceeds? the (available )?context"
    r"|prompt is too long|input (is )?too long|too many (input )?tokens|reduce the length"
    r"|request too large|max_tokens[^.]{0,60}too large",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(r"\bmodel\b.{0,200}?(not (be )?found|does not exist|doesn't exist|not exist|unknown|no such)"
                       r"|(unknown|invalid|no such) model|not a valid model", re.IGNORECASE | re.DOTALL)  # fmt: skip
_DECLINED_CODES = frozenset({"content_filter", "content_policy_violation", "invalid_prompt"})
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class ServerError:
    """An error body.

    Attributes:
        status: the HTTP status, or the one that an error inside a 200 body names.
        message: the server's words on one line, at most `MAX_MESSAGE_CHARS`.
        param: the parameter that the server blames, "" if it names none.
        code: the server's own error code, "" if it has none.
    """

    status: int
    message: str
    param: str = ""
    code: str = ""

    @property
    def context_length(self) -> bool:
        """The prompt, or prompt and `max_tokens` together, don't fit the model."""
        if self.status == 413:
            return True
        if self.status not in (400, 422, 500):
            return False
        return self.code == "context_length_exceeded" or _CONTEXT.search(self.message) is not None

    @property
    def declined(self) -> bool:
        """A content filter refused the prompt: an answer of sorts, which says nothing about the endpoint."""
        return self.status in (400, 403) and self.code in _DECLINED_CODES

    @property
    def unknown_model(self) -> bool:
        return self.status in (400, 404, 422) and (
            self.code == "model_not_found" or _NO_MODEL.search(self.message) is not None
        )


def read_server_error(status: int, body: bytes) -> ServerError:
    """What an error body says. Knows `{"error": {...}}`, `{"error": "..."}`, `{"message": ...}`, `{"detail": ...}`
    with a string or a list of field errors, and falls back on the text itself."""
    try:
        document = json.loads(body[:1_000_000])
    except (ValueError, RecursionError):
        return ServerError(status, _line(body[: 4 * MAX_MESSAGE_CHARS].decode("utf-8", "replace")))
    if not isinstance(document, dict):
        return ServerError(status, _line(str(document)[: 4 * MAX_MESSAGE_CHARS]))
    error = document.get("error")
    detail = document.get("detail")
    param = ""
    if isinstance(detail, list) and detail and isinstance(detail[0], dict):
        location = detail[0].get("loc")
        if isinstance(location, list) and location:
            param = _line(str(location[-1])[:100])
        message = f"{param}: {detail[0].get('msg', '')}"
        return ServerError(status, _line(message), param)
    source = error if isinstance(error, dict) else document
    message = source.get("message") or (error if isinstance(error, str) else detail) or ""
    blamed = source.get("param")
    code = source.get("code") or source.get("type")
    return ServerError(
        status,
        _line(str(message)[: 4 * MAX_MESSAGE_CHARS]),
        blamed if isinstance(blamed, str) else "",
        code if isinstance(code, str) else "",
    )


def error_in_success(body: bytes) -> ServerError | None:
    """The error that a proxy sent with status 200, if the body holds one with an HTTP-like code."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return None
    error = document.get("error") if isinstance(document, dict) and not document.get("choices") else None
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, str) and code.isdecimal() and len(code) == 3:
        code = int(code)
    if not isinstance(code, int) or not 400 <= code <= 599:
        return None
    return read_server_error(code, body)


def failed_attempt(
    error: ServerError, *, model: str, max_tokens: int, key_env: str, has_key: bool, base_url: str,
    retry_after_s: float | None,
) -> AttemptFailed:  # fmt: skip
    """The failed attempt for an error status; its message says what to change where that can help."""
    said = f"HTTP {error.status}" + (f": {error.message}" if error.message else "")
    if error.context_length:
        advice = f"lower max_tokens (now {max_tokens}) or shorten the prompt, or use a model with a longer context"
        return AttemptFailed(FailureKind.CONTEXT_LENGTH, f"{said} ({advice})", status=error.status)
    if error.status == 402 or error.code == "insufficient_quota":
        advice = "the account has no credit left: add some, or use another endpoint"
        return AttemptFailed(FailureKind.PERMANENT, f"{said} ({advice})", status=error.status)
    if error.status in (501, 505):
        advice = "the server can't do this: check base_url, and what the endpoint supports"
        return AttemptFailed(FailureKind.REJECTED, f"{said} ({advice})", status=error.status)
    if error.status in (408, 409, 429) or error.status >= 500:
        return AttemptFailed(FailureKind.OVERLOADED, said, status=error.status, retry_after_s=retry_after_s)
    if error.status in (401, 403):
        advice = (
            f"check the key in the environment variable {key_env}"
            if has_key
            else f"no key is set: put it into the environment variable {key_env}"
        )
        if error.status == 403:
            advice += f", and that it may use the model {model!r}"
    elif error.unknown_model:
        advice = f"change the model name {model!r}"
    elif error.status in (404, 405):
        advice = f"check base_url {base_url}: it should end just before /chat/completions, mostly in /v1"
    else:
        advice = "the server refuses this request as it is: check model, sampling and extra_body"
        return AttemptFailed(FailureKind.REJECTED, f"{said} ({advice})", status=error.status)
    return AttemptFailed(
        FailureKind.PERMANENT, f"{said} ({advice})", status=error.status, unknown_model=error.unknown_model
    )


def redirected(location: str, base_url: str) -> AttemptFailed:
    """A redirect is never followed: it could carry the key to another host."""
    where = _line(location[:200]) or "somewhere else"
    return AttemptFailed(
        FailureKind.PERMANENT,
        f"the server redirects to {where}; redirects are not followed (set base_url, now {base_url})",
    )


def _line(text: str) -> str:
    text = "".join(c if c.isprintable() else " " for c in text)
    text = _SPACE.sub(" ", text).strip()
    return text if len(text) <= MAX_MESSAGE_CHARS else text[: MAX_MESSAGE_CHARS - 1] + "…"
