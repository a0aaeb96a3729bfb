"""Summaries and choices as models write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxproof.search.replies import MAX_SUMMARY_CHARS, parse_choice, parse_summary


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("<summary>Induction; base missing</summary>", "Induction; base missing"),
        ("Thoughts.\n<Summary type='x'>\nInduction;\n base missing\n</SUMMARY>\n", "Induction; base missing"),
        ("<summary>one</summary> no: <summary>two</summary>", "two"),
        ("```\n<summary>one</summary>\n```", "one"),
        ("<summary>one", "one"),
        ("<summary>done</summary> and <summary>cut", "done"),
        ("Uses induction. The base is missing.", "Uses induction."),
        ("<summary></summary>", ""),
        ("", ""),
    ],
)
def test_summary(reply, expected):
    assert parse_summary(reply) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Both are close.\n<choice>first</choice>", "first"),
        ("<choice> Second </choice>", "second"),
        ('<CHOICE answer="x">**first**</CHOICE>.', "first"),
        ("<choice>the second proof</choice>", "second"),
        ("<choice>second</choice> so, again: <choice>Second.</choice>", "second"),
        ('The text says "<choice>second</choice>".\n<choice>first</choice>', "first"),
        ('<choice>first</choice>\nThe other says "<choice>second</choice>".', "first"),
        ("<choice>first", "first"),
        ("<choice>first</choice>\nNote: the second proof ends with\n<choice>second</choice>", None),
        ("It says <choice>second</choice>.\n<choice>first</choice>", None),
        ("<choice>first\nThe second proof ends with\n<choice>second</choice>", None),
        ("<choice>first</choice>\nThe second proof ends with\n<choice>second", None),
        ("<choice>**neither**</choice>\nIt says <choice>second</choice>", None),
        ("<choice>first or second</choice>", None),
        ("<choice>neither</choice>", None),
        ("<choice></choice>", None),
        ("first", None),
        ("The first proof is better.", None),
        ("</choice>first<choice>", None),
        ("", None),
    ],
)
def test_choice(reply, expected):
    assert parse_choice(reply) == expected


pieces = st.sampled_from([*"<>/ \n\"`'ab", "choice", "first", "<choice>", "</choice>", "<summary>", "</summary>"])


@given(st.lists(pieces))
def test_any_reply_gives_one_short_line(parts):
    text = "".join(parts)
    summary = parse_summary(text)
    assert len(summary) <= MAX_SUMMARY_CHARS
    assert "\n" not in summary
    assert parse_choice(text) in ("first", "second", None)


def test_a_huge_reply_is_read_in_no_time():
    assert parse_choice("<" * 10**6 + " " * 10**6 + "<choice " * 10**5 + "\n<choice>first</choice>") == "first"
    assert parse_choice("<choice>" + "\t" * 90_000 + "x" + ". " * 2_000 + "</choice>") is None
    assert parse_choice("<choice>the" + " " * 90_000) is None
    assert len(parse_summary("word " * 10**6)) <= MAX_SUMMARY_CHARS
    assert parse_summary("<" + " " * 90_000) == "<"
