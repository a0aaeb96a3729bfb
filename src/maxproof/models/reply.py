"""Reads a chat-completion body: the one place that knows how servers differ in what they send back.

Thinking arrives in `reasoning_content`, in `reasoning`, in typed content parts, or in think tags inside the text.
In-band rules: a block counts as thinking if its opening tag starts the text or a line, or follows the block before, so
that a tag quoted within a sentence stays text; an opening tag that is never closed takes all that follows; where no
opening tag counts and the server sent no reasoning of its own, all before a lone closing tag is thinking (chat
templates that open the block themselves).

Token counts that are missing, zero or absurd are replaced by our own: one token per three bytes of UTF-8, which is
about right for LaTeX and high for prose, so that a budget trips early rather than never. A choice that was cut by
the token limit counts as that limit. llama.cpp, known by the `timings` in its bodies, counts only the first of several
choices; the others are counted at the first one's tokens per character.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import cast

from maxproof.models.types import Answer, AnswerState, CallFailed, FailureKind, Usage

MAX_TOKENS_BELIEVED = 100_000_000
"""Counts above this are taken for nonsense."""

_BYTES_PER_TOKEN = 3
_OPEN_HERE = re.compile(r"[^\S\n]*<(think|thinking)>", re.IGNORECASE)
_OPEN = re.compile(rf"(?:\A|(?<=\n)){_OPEN_HERE.pattern}", re.IGNORECASE)
_CLOSE = {name: re.compile(rf"</{name}>", re.IGNORECASE) for name in ("think", "thinking")}
_LONE_CLOSE = re.compile(r"</(?:think|thinking)>", re.IGNORECASE)
_SURROGATE = re.compile("[\ud800-\udfff]")

_CUT = frozenset({"length", "max_tokens", "max_output_tokens"})
_DECLINED = frozenset({"content_filter", "safety", "refusal", "recitation", "blocklist", "prohibited_content"})
_BROKEN = frozenset({"error", "abort"})

Json = Mapping[str, object]


def estimate_tokens(text: str) -> int:
    """Our own count: a third of the UTF-8 length, rounded up."""
    return -(-len(text.encode("utf-8", "replace")) // _BYTES_PER_TOKEN)


def split_thinking(text: str, *, lone_close: bool = True) -> tuple[str, str, bool]:
    """Splits in-band thinking off.

    Args:
        lone_close: a closing tag without an opening one ends thinking that began with the text.

    Returns:
        The visible text, the thinking, and whether a block was left open. Nothing but the tags and outer
        white space is lost; a text with no thinking is returned unchanged. The visible text holds no further block:
        splitting it again without `lone_close` changes nothing.
    """
    if "<" not in text or "think" not in text.lower():
        return text, "", False
    visible: list[str] = []
    thinking: list[str] = []
    position = 0
    opening = _OPEN.search(text)
    if opening is None:
        closing = _LONE_CLOSE.search(text) if lone_close else None
        if closing is None:
            return text, "", False
        thinking.append(text[: closing.start()])
        position = closing.end()
        opening = _next_opening(text, position)
    while opening is not None:
        visible.append(text[position : opening.start()])
        closing = _CLOSE[opening.group(1).lower()].search(text, opening.end())
        if closing is None:
            thinking.append(text[opening.end() :])
            return "".join(visible).strip(), _joined(thinking), True
        thinking.append(text[opening.end() : closing.start()])
        position = closing.end()
        opening = _next_opening(text, position)
    visible.append(text[position:])
    return "".join(visible).strip(), _joined(thinking), False


def _next_opening(text: str, position: int) -> re.Match[str] | None:
    """The next opening tag after a block that ended at `position`: without that block, a tag there starts a line."""
    return _OPEN_HERE.match(text, position) or _OPEN.search(text, position)


def parse_reply(
    body: bytes,
    *,
    samples: int = 1,
    prompt_estimate: int = 0,
    max_tokens: int = 0,
    model: str = "",
    latency_s: float = 0.0,
) -> tuple[Answer, ...]:
    """The answers in a chat-completion body, in the order of their index.

    Prompt and cached tokens are the request's: the first answer has them, the others 0. Completion tokens are split in
    proportion to the lengths of the texts, so that the sums are those of the server.

    Args:
        samples: how many were asked for; choices beyond that are left out. There may be fewer.
        prompt_estimate: tokens to assume for the prompt if the server sends no usable number.
        max_tokens: the limit that the request set, 0 if none.
        model: the model asked for, used if the body names none.
        latency_s: stored in each answer.

    Raises:
        CallFailed: `BAD_REPLY`; the body is not a chat completion.
    """
    document = _load(body)
    choices = document.get("choices")
    if not isinstance(choices, list) or not choices:
        raise _bad("the body has no choices, so it is not a chat completion")
    drafts = [_read_choice(choice) for choice in sorted(choices, key=_index)[:samples]]
    usage = document.get("usage")
    usages = _split_usage(
        usage if isinstance(usage, dict) else {},
        drafts,
        prompt_estimate,
        max_tokens,
        first_only=len(drafts) > 1 and "timings" in document,
    )
    reported = document.get("model")
    name = _clean(reported) if isinstance(reported, str) and reported else model
    return tuple(
        Answer(
            text=draft.text,
            state=draft.state,
            reasoning=draft.reasoning,
            unclosed_thinking=draft.unclosed_thinking,
            finish_reason=draft.finish_reason,
            usage=share,
            latency_s=latency_s,
            model=name,
        )
        for draft, share in zip(drafts, usages, strict=True)
    )


def declined_answers(message: str, samples: int, model: str, latency_s: float) -> tuple[Answer, ...]:
    """The answers to a prompt that a content filter refused before any model saw it: `REFUSED`, nothing used."""
    usage = Usage(estimated=True)
    answer = Answer(
        message, AnswerState.REFUSED, finish_reason="content_filter", usage=usage, latency_s=latency_s, model=model
    )
    return (answer,) * samples


def parse_models(body: bytes) -> list[str]:
    """The names in a list of models, in its order.

    Raises:
        CallFailed: `BAD_REPLY`; the body is no such list.
    """
    document = _load(body)
    entries = document.get("data")
    if not isinstance(entries, list):
        raise _bad("the body has no list of models")
    names = [entry.get("id") for entry in entries if isinstance(entry, dict)]
    return [_clean(name) for name in names if isinstance(name, str) and name]


def _bad(message: str) -> CallFailed:
    return CallFailed(FailureKind.BAD_REPLY, message)


def _load(body: bytes) -> Json:
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        start = body[:40].decode("utf-8", "replace")
        raise _bad(f"the body is not JSON; it starts with {start!r}") from None
    if not isinstance(document, dict):
        raise _bad(f"the body is JSON but no object: {type(document).__name__}")
    return document


def _index(choice: object) -> int:
    index = choice.get("index") if isinstance(choice, dict) else None
    return index if isinstance(index, int) else 0


def _read_choice(choice: object) -> Answer:
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise _bad("a choice holds no message, so the body is not a chat completion")
    reason = choice.get("finish_reason")
    finish_reason = _clean(reason) if isinstance(reason, str) else ""
    if finish_reason.lower() in _BROKEN:
        raise _bad(f"the server ended the answer with finish_reason {finish_reason!r}")

    content, typed_reasoning, typed_refusal = _read_content(message.get("content"))
    field = _plain(message.get("reasoning_content")) or _plain(message.get("reasoning")) or typed_reasoning
    text, in_band, unclosed = split_thinking(content, lone_close=not field)
    reasoning = in_band if field in in_band else field if in_band in field else f"{field}\n\n{in_band}"
    refusal = _plain(message.get("refusal")) or typed_refusal
    return Answer(
        text=text or refusal,
        state=_state(finish_reason, text, refusal),
        reasoning=reasoning,
        unclosed_thinking=unclosed,
        finish_reason=finish_reason,
    )


def _state(finish_reason: str, text: str, refusal: str) -> AnswerState:
    reason = finish_reason.lower()
    if reason in _DECLINED or (refusal and not text.strip()):
        return AnswerState.REFUSED
    if reason in _CUT:
        return AnswerState.TRUNCATED
    return AnswerState.COMPLETE if text.strip() else AnswerState.EMPTY


def _read_content(content: object) -> tuple[str, str, str]:
    """Text, reasoning and refusal of a message's content: a string, null, or a list of parts."""
    if not isinstance(content, list):
        return _plain(content), "", ""
    text: list[str] = []
    reasoning: list[str] = []
    refusal: list[str] = []
    for part in content:
        if isinstance(part, str):
            text.append(_clean(part))
        elif isinstance(part, dict):
            kind = part.get("type")
            if kind in ("thinking", "reasoning"):
                reasoning.append(
                    _plain(part.get("thinking")) or _plain(part.get("reasoning")) or _plain(part.get("text"))
                )
            elif kind == "refusal":
                refusal.append(_plain(part.get("refusal")))
            else:
                text.append(_plain(part.get("text")))
    return "".join(text), "".join(reasoning), "".join(refusal)


def _plain(value: object) -> str:
    """A string, or a list of text parts, as one string; "" for anything else."""
    if isinstance(value, str):
        return _clean(value)
    if isinstance(value, list):
        return _read_content(value)[0]
    return ""


def _clean(text: str) -> str:
    """Lone surrogates, which no file or database takes, become U+FFFD."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def _joined(blocks: Sequence[str]) -> str:
    return "\n\n".join(block for block in (block.strip() for block in blocks) if block)


def _split_usage(
    usage: Json, drafts: Sequence[Answer], prompt_estimate: int, max_tokens: int, *, first_only: bool
) -> list[Usage]:
    lengths = [len(draft.text) + len(draft.reasoning) for draft in drafts]
    prompt = _count(usage, "prompt_tokens")
    completion = _count(usage, "completion_tokens")
    estimated = prompt is None or completion is None or first_only
    if prompt is None:
        prompt = prompt_estimate
    if completion is None or (first_only and lengths[0] == 0):
        counts = [_own_count(draft, max_tokens) for draft in drafts]
    elif first_only:
        counts = [completion, *(-(-completion * length // lengths[0]) for length in lengths[1:])]
    else:
        counts = apportion(completion, lengths)
    cached = min(prompt, _detail(usage, "prompt_tokens_details", "cached_tokens", "prompt_cache_hit_tokens"))
    thinking = _detail(usage, "completion_tokens_details", "reasoning_tokens", "reasoning_tokens")
    if thinking == 0:
        thought = [_reasoning_share(draft, count) for draft, count in zip(drafts, counts, strict=True)]
    else:
        # No answer thinks more than it completes, so what one can't hold is lost rather than given to another.
        weights = [len(draft.reasoning) for draft in drafts]
        shares = apportion(thinking, weights if any(weights) else counts)
        thought = [min(share, count) for share, count in zip(shares, counts, strict=True)]
    return [
        Usage(
            prompt_tokens=prompt if i == 0 else 0,
            completion_tokens=counts[i],
            reasoning_tokens=thought[i],
            cached_tokens=cached if i == 0 else 0,
            estimated=estimated,
        )
        for i in range(len(drafts))
    ]


def apportion(total: int, weights: Sequence[int]) -> list[int]:
    """Splits `total` >= 0 in proportion to `weights` >= 0 into whole numbers with exactly that sum.

    Largest remainders get the units left over; equal weights if all are 0.
    """
    whole = sum(weights)
    if whole == 0:
        weights, whole = [1] * len(weights), len(weights)
    shares = [total * weight // whole for weight in weights]
    by_remainder = sorted(range(len(weights)), key=lambda i: (-(total * weights[i] % whole), i))
    for i in by_remainder[: total - sum(shares)]:
        shares[i] += 1
    return shares


def _own_count(draft: Answer, max_tokens: int) -> int:
    own = estimate_tokens(draft.text) + estimate_tokens(draft.reasoning)
    return max(own, max_tokens) if draft.state is AnswerState.TRUNCATED else own


def _reasoning_share(draft: Answer, count: int) -> int:
    return apportion(count, [len(draft.reasoning), len(draft.text)])[0] if draft.reasoning else 0


def _count(usage: Json, key: str) -> int | None:
    """A believable positive count, else None."""
    value = usage.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= MAX_TOKENS_BELIEVED:
        return None
    return int(value) if value == int(value) else None


def _detail(usage: Json, group: str, key: str, flat_key: str) -> int:
    details = usage.get(group)
    nested = _count(cast(Json, details), key) if isinstance(details, dict) else None
    return nested or _count(usage, flat_key) or 0
