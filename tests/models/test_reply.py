from __future__ import annotations

import json
import re
from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from maxproof.models.reply import apportion, estimate_tokens, parse_models, parse_reply, split_thinking
from maxproof.models.types import AnswerState, CallFailed, FailureKind


def body(*messages: dict[str, object], finish: str | None = "stop", usage: object = None, **more: object) -> bytes:
    choices = [{"index": i, "message": m, "finish_reason": finish} for i, m in enumerate(messages)]
    return json.dumps({"choices": choices, **({} if usage is None else {"usage": usage}), **more}).encode()


def usage(prompt: object = 10, completion: object = 20, **more: object) -> dict[str, object]:
    return {"prompt_tokens": prompt, "completion_tokens": completion, **more}


def test_plain_answer() -> None:
    (answer,) = parse_reply(body({"content": "A proof."}, usage=usage(), model="served"), model="asked", latency_s=1.5)
    assert (answer.text, answer.state, answer.finish_reason) == ("A proof.", AnswerState.COMPLETE, "stop")
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.usage.estimated) == (10, 20, False)
    assert (answer.model, answer.latency_s, answer.reasoning) == ("served", 1.5, "")


@pytest.mark.parametrize(
    "message",
    [
        {"content": "Proof.", "reasoning_content": "hmm"},
        {"content": "Proof.", "reasoning": "hmm"},
        {"content": "<think>hmm</think>Proof."},
        {"content": "\n<think>\nhmm\n</think>\n\nProof."},
        {"content": "<THINKING>hmm</thinking>\nProof."},
        {"content": "hmm</think>\n\nProof."},
        {"content": "<think>hmm</think>Proof.", "reasoning_content": "hmm"},
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hmm"}]}, {"text": "Proof."}]},
        {"content": [{"type": "reasoning", "text": "hmm"}, "Proof."]},
    ],
)  # fmt: skip
def test_same_answer_wherever_the_thinking_is(message: dict[str, object]) -> None:
    (answer,) = parse_reply(body(message))
    assert (answer.text, answer.reasoning, answer.unclosed_thinking) == ("Proof.", "hmm", False)
    assert answer.state is AnswerState.COMPLETE


def test_unclosed_thinking_is_no_text() -> None:
    (answer,) = parse_reply(body({"content": "<think>I wonder"}))
    assert (answer.text, answer.reasoning, answer.unclosed_thinking) == ("", "I wonder", True)
    assert answer.state is AnswerState.EMPTY
    (cut,) = parse_reply(body({"content": "<think>I wonder"}, finish="length"))
    assert cut.state is AnswerState.TRUNCATED


@pytest.mark.parametrize(
    ("text", "visible", "thinking"),
    [
        ("<think>a</think><think>secret</think>Proof", "Proof", "a\n\nsecret"),
        ("<think>a</think> \t<thinking>secret</thinking>\n<think>b</think>Proof", "Proof", "a\n\nsecret\n\nb"),
        ("a</think><think>secret</think>Proof", "Proof", "a\n\nsecret"),
        ("\u3000<think>a</think>Proof", "Proof", "a"),
        ("Proof\n<think>a</think><think>b</think> of it", "Proof\n of it", "a\n\nb"),
    ],
)
def test_a_block_after_a_block_is_thinking_too(text: str, visible: str, thinking: str) -> None:
    assert split_thinking(text) == (visible, thinking, False)


def test_many_blocks_are_split_in_no_time() -> None:
    count = 100_000
    assert split_thinking("<think>a</think>" * count + "Proof") == ("Proof", "\n\n".join("a" * count), False)


def test_tags_quoted_in_a_sentence_are_text() -> None:
    quoted = "The proof says <think> and then stops. <verdict>has_errors</verdict>"
    assert split_thinking(quoted) == (quoted, "", False)
    field = "It ends in </think>, which proves nothing."
    (answer,) = parse_reply(body({"content": field, "reasoning_content": "hmm"}))
    assert answer.text == field


def test_thinking_that_ate_the_limit_is_truncated_and_billed() -> None:
    spent = usage(50, 200, completion_tokens_details={"reasoning_tokens": 199})
    (answer,) = parse_reply(body({"content": None, "reasoning": "so " * 80}, finish="length", usage=spent))
    assert answer.state is AnswerState.TRUNCATED
    assert (answer.usage.completion_tokens, answer.usage.reasoning_tokens) == (200, 199)


@pytest.mark.parametrize(
    ("message", "finish", "state"),
    [
        ({"content": "x"}, None, AnswerState.COMPLETE),
        ({"content": ""}, "stop", AnswerState.EMPTY),
        ({"content": None}, "stop", AnswerState.EMPTY),
        ({}, "stop", AnswerState.EMPTY),
        ({"content": " \n"}, "tool_calls", AnswerState.EMPTY),
        ({"content": ""}, "length", AnswerState.TRUNCATED),
        ({"content": "half a pro"}, "length", AnswerState.TRUNCATED),
        ({"content": ""}, "content_filter", AnswerState.REFUSED),
        ({"content": "half"}, "content_filter", AnswerState.REFUSED),
        ({"content": None, "refusal": "I can't."}, "stop", AnswerState.REFUSED),
        ({"content": [{"type": "refusal", "refusal": "No."}]}, "stop", AnswerState.REFUSED),
    ],
)
def test_states(message: dict[str, object], finish: str | None, state: AnswerState) -> None:
    (answer,) = parse_reply(body(message, finish=finish, usage=usage()))
    assert answer.state is state


@pytest.mark.parametrize(
    "sent", [None, {}, usage(0, 0), usage(-1, -5), usage(10**12, 10**12), usage("7", True), usage(None, 1.5), [1]]
)
def test_unusable_usage_is_estimated(sent: object) -> None:
    (answer,) = parse_reply(body({"content": "x" * 300, "reasoning": "y" * 600}, usage=sent), prompt_estimate=77)
    assert answer.usage.estimated
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.usage.reasoning_tokens) == (77, 300, 200)


def test_cut_without_usage_counts_as_the_limit() -> None:
    (answer,) = parse_reply(body({"content": ""}, finish="length"), max_tokens=4096)
    assert answer.usage.completion_tokens == 4096


@pytest.mark.parametrize(
    "cached",
    [{"prompt_tokens_details": {"cached_tokens": 6}}, {"prompt_cache_hit_tokens": 6}],
)
def test_cached_tokens(cached: dict[str, object]) -> None:
    (answer,) = parse_reply(body({"content": "x"}, usage=usage(**cached)))
    assert answer.usage.cached_tokens == 6
    (absurd,) = parse_reply(body({"content": "x"}, usage=usage(prompt_tokens_details={"cached_tokens": 600})))
    assert absurd.usage.cached_tokens == 10


def test_several_choices_share_one_usage() -> None:
    details = {"prompt_tokens_details": {"cached_tokens": 4}, "completion_tokens_details": {"reasoning_tokens": 7}}
    messages = [{"content": "a" * n, "reasoning": "r" * n} for n in (100, 1, 33)]
    answers = parse_reply(body(*messages, usage=usage(10, 101, **details)), samples=3)
    assert [a.usage.prompt_tokens for a in answers] == [10, 0, 0]
    assert [a.usage.cached_tokens for a in answers] == [4, 0, 0]
    assert [a.usage.completion_tokens for a in answers] == [75, 1, 25]
    assert sum(a.usage.reasoning_tokens for a in answers) == 7


def test_a_server_that_counts_only_the_first_choice() -> None:
    messages = [{"content": "a" * n} for n in (60, 120, 31)]
    answers = parse_reply(body(*messages, usage=usage(10, 20), timings={"predicted_n": 20}), samples=3)
    assert [a.usage.completion_tokens for a in answers] == [20, 40, 11]
    assert all(a.usage.estimated for a in answers)
    (alone,) = parse_reply(body({"content": "a" * 60}, usage=usage(10, 20), timings={"predicted_n": 20}))
    assert not alone.usage.estimated


def test_choices_in_index_order_and_none_too_many() -> None:
    choices = [{"index": i, "message": {"content": str(i)}, "finish_reason": "stop"} for i in (2, 0, 1)]
    answers = parse_reply(json.dumps({"choices": choices}).encode(), samples=2)
    assert [a.text for a in answers] == ["0", "1"]


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"oops",
        b"<html>",
        b"[]",
        b"{}",
        b'{"choices": []}',
        b'{"choices": [{"text": "old style"}]}',
        b'{"choices": [7]}',
        b'{"choices": {"message": 1}}',
        b'{"error": {"message": "no"}}',
        b'data: {"choices": []}',
        b"[" * 100_000,
        b'{"choices": ' + b"9" * 10_000,
        b"\xff\xfe",
        body({"content": "x"}, finish="error"),
    ],
)
def test_not_a_completion(sent: bytes) -> None:
    with pytest.raises(CallFailed) as caught:
        parse_reply(sent)
    assert caught.value.kind is FailureKind.BAD_REPLY


def test_lone_surrogates_can_be_stored() -> None:
    (answer,) = parse_reply(b'{"choices": [{"message": {"content": "a\\ud800b"}, "finish_reason": "stop"}]}')
    assert answer.text == "a\ufffdb"


def test_models_list() -> None:
    assert parse_models(b'{"data": [{"id": "a"}, {"id": 3}, 7, {"id": "b"}]}') == ["a", "b"]
    with pytest.raises(CallFailed):
        parse_models(b'{"models": []}')


def test_estimate_counts_bytes() -> None:
    assert [estimate_tokens(text) for text in ("", "abc", "abcd", "証明")] == [0, 1, 2, 2]


pieces = st.lists(
    st.one_of(
        st.sampled_from(["<think>", "</think>", "<thinking>", "</thinking>", "\n", " ", "<", "Proof. "]),
        st.text(max_size=8),
    ),
    max_size=12,
).map("".join)


@given(pieces, st.booleans())
@example("<think>a\n<think>b</think>c</think>d", True)
def test_splitting_loses_only_tags_and_white_space(text: str, lone_close: bool) -> None:
    visible, thinking, unclosed = split_thinking(text, lone_close=lone_close)
    before, after = Counter("".join(text.split())), Counter("".join((visible + thinking).split()))
    assert not after - before
    lost = before - after
    tags = re.findall(r"</?think(?:ing)?>", text)
    assert lost.total() <= sum(map(len, tags))
    assert lost["<"] == lost[">"] <= len(tags)
    assert not lost - Counter("".join(tags))
    assert not (unclosed and not tags)
    assert split_thinking(visible, lone_close=False) == (visible, "", False)


FIELDS = [
    "choices",
    "message",
    "content",
    "reasoning",
    "finish_reason",
    "index",
    "usage",
    "prompt_tokens",
    "completion_tokens",
    "type",
    "text",
    "completion_tokens_details",
    "reasoning_tokens",
    "refusal",
    "model",
]
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(FIELDS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
messages = st.fixed_dictionaries({"content": json_values}, optional={"reasoning": json_values, "refusal": json_values})
completions = st.fixed_dictionaries(
    {"choices": st.lists(st.fixed_dictionaries({"message": messages}, optional={"index": json_values}), max_size=3)},
    optional={"usage": json_values, "model": json_values},
)


@given(json_values | completions, st.integers(1, 3))
def test_parser_raises_nothing_but_its_error(value: object, samples: int) -> None:
    try:
        answers = parse_reply(json.dumps(value).encode(), samples=samples)
    except CallFailed:
        return
    assert 1 <= len(answers) <= samples
    for answer in answers:
        answer.text.encode()
        assert 0 <= answer.usage.reasoning_tokens <= answer.usage.completion_tokens
        assert 0 <= answer.usage.cached_tokens <= answer.usage.prompt_tokens


@given(st.binary(max_size=200))
def test_parser_survives_bytes(sent: bytes) -> None:
    with pytest.raises(CallFailed):
        parse_reply(sent)


@given(st.integers(0, 10**8), st.lists(st.integers(0, 10**6), min_size=1, max_size=8))
def test_apportioned_shares_have_the_exact_sum(total: int, weights: list[int]) -> None:
    shares = apportion(total, weights)
    assert sum(shares) == total
    whole = sum(weights)
    if whole:
        assert all(abs(share - total * weight / whole) < 1 for share, weight in zip(shares, weights, strict=True))
