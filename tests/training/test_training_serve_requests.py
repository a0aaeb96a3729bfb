"""What the reward server refuses: any body is read or told with item and field, and no judge is asked."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("starlette", reason="needs the extra serve")

from hypothesis import given
from hypothesis import strategies as st
from serve_fakes import PROBLEMS, Fixed, made, request

from maxproof.problems import InputError
from maxproof.training.serve.requests import read_items


@pytest.mark.parametrize(
    ("body", "field", "told"),
    [
        (b"{", None, "not JSON at character 1"),
        (b"\xff\xfe{}", None, "not JSON"),
        (b"[" * 200_000, None, "nested too deeply"),
        (b"[]", None, "expected an object"),
        (b'{"items": NaN}', None, "not JSON"),
        (b"{}", "items", "at least one"),
        (b'{"items": []}', "items", "at least one"),
        (b'{"items": [], "item": 1}', "item", "unknown field"),
        (b'{"items": ["a"]}', "items[0]", "expected an object"),
        (b'{"items": [{"problem_id": "p"}]}', "items[0].answer", "expected a text"),
        (
            b'{"items": [{"problem_id": "p", "answer": "a"}, {"problem_id": "q", "answer": "a"}]}',
            "items[1].problem_id",
            "no problem",
        ),
        (b'{"items": [{"problem_id": 3, "answer": "a"}]}', "items[0].problem_id", "expected a text"),
        (b'{"items": [{"answer": "a"}]}', "items[0]", "expected problem_id, or a statement"),
        (b'{"items": [{"problem_id": "p", "statement": "s", "answer": "a"}]}', "items[0].statement", "one of the two"),
        (b'{"items": [{"statement": ["s"], "answer": "a"}]}', "items[0].statement", "expected text, got a list"),
        (b'{"items": [{"rubric": "r", "answer": "a"}]}', "items[0]", "no statement"),
        (b'{"items": [{"problem_id": "p", "answer": "a", "finished": 1}]}', "items[0].finished", "true or false"),
        (b'{"items": [{"problem_id": "p", "answer": "a", "solution": "b"}]}', "items[0].solution", "unknown field"),
        (b'{"items": [{"problem_id": "p", "answer": ' + b"9" * 5000 + b"}]}", None, "not JSON"),
    ],
)
async def test_a_bad_body_is_told_with_item_and_field(body: bytes, field: str | None, told: str) -> None:
    caller = Fixed()
    reply = await request(made(caller), "POST", "/v1/rewards", body)
    assert reply.status == 400, reply.body
    assert told in reply.json["error"]["message"]
    assert reply.json["error"]["field"] == field
    assert caller.asked == 0


@given(
    st.binary(max_size=200)
    | st.recursive(
        st.none() | st.text(max_size=5) | st.integers(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["items", "answer", "problem_id", "x"]), inner)
        ),
        max_leaves=8,
    ).map(lambda value: json.dumps(value).encode())
)
def test_any_body_is_read_or_refused(body: bytes) -> None:
    try:
        items = read_items(body, PROBLEMS, 5)
    except InputError:
        return
    assert 1 <= len(items) <= 5


async def test_a_large_body_is_refused_before_or_while_it_comes() -> None:
    app = made(Fixed(), body_bytes=1000)
    body = json.dumps({"items": [{"problem_id": "p", "answer": "x" * 2000}]}).encode()
    for announced in (len(body), 10):
        reply = await request(app, "POST", "/v1/rewards", body, announced=announced)
        assert (reply.status, reply.json["error"]["message"].startswith("the body is larger")) == (413, True)
