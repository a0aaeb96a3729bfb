"""Formulas are found wherever they are, compared as TeX, and no hostile TeX stops the guard."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxproof.verifier.content_guard import (
    MAX_TOKENISED_CHARS,
    as_written,
    formula_tokens,
    mathematics,
    too_long,
    violation,
)
from maxproof.verifier.formulas import formula_spans, masked

TEX = st.lists(
    st.sampled_from([*"ab1$\\{}()[]`*_^%&~ \n#-+=<>", "\\begin{align}", "\\end{align}", "$$", "\\("]), max_size=60
).map("".join)


@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        ("a $x$ b $$y$$ c \\(z\\) d \\[w\\] e", ["x", "y", "z", "w"]),
        ("\\begin{align}a&=b\\\\c&=d\\end{align}", ["\\begin{align}a&=b\\\\c&=d\\end{align}"]),
        (
            "\\begin{cases}\\begin{cases}a\\end{cases}\\end{cases} $x$",
            ["\\begin{cases}\\begin{cases}a\\end{cases}\\end{cases}", "x"],
        ),
        ("\\begin{proof} Let $x$. \\end{proof}", ["x"]),
        ("costs \\$5 and $x$", ["x"]),
        ("one stray $ sign\n\nthen $x$", ["x"]),
        ("$$a\n\nb$$", ["a\n\nb"]),
        ("`code $x$` and ```\n$y$\n```", ["code $x$", "\n$y$\n"]),
        ("\\( open \\[x\\]", ["x"]),
        ("\\begin{align} never closed $x$", ["x"]),
        ("no formula", []),
    ],
)
def test_formulas_are_found(text: str, formulas: list[str]) -> None:
    assert [text[span.inner_start : span.inner_end] for span in formula_spans(text)] == formulas


@given(TEX)
def test_spans_are_in_order_and_masking_keeps_places(text: str) -> None:
    spans = formula_spans(text)
    assert all(0 <= s.start <= s.inner_start <= s.inner_end <= s.end <= len(text) for s in spans)
    assert all(a.end <= b.start for a, b in pairwise(spans))
    hidden = masked(text, spans)
    assert len(hidden) == len(text)
    assert all(h in (t, "\0") for h, t in zip(hidden, text, strict=True))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x^2", "x^{2}"),
        ("x^2.", " x ^ 2 "),
        (r"\frac{a}{b}", r"\frac a b"),
        (r"a\,b\quad c", "a b c"),
        (r"\left( x", r"\left(x"),
    ],
)
def test_the_same_formula(one: str, other: str) -> None:
    assert formula_tokens(one) == formula_tokens(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("x^2", "x^3"), ("x^{12}", "x^12"), ("a<b", "a \\le b"), ("x % y", "x"), ("x'", "x"), ("n!", "n"), ("-x", "x")],
)
def test_not_the_same_formula(one: str, other: str) -> None:
    assert formula_tokens(one) != formula_tokens(other)


def test_plain_mathematics() -> None:
    text = (
        "**Step 3:** Let v_2(a_1)=2t+1 and n≥3.\n2. Then f(n) = -4, so ABC has (n!) points x, y; see (5).\n"
        "- A cat: I saw a"
    )
    items = ("v_2(a_1)=2t+1", "n≥3", "f(n)", "=", "-4", "ABC", "(n!)", "x", "y", "(5)")
    assert mathematics(text) == items


def test_delimiters_and_marks_do_not_matter() -> None:
    assert mathematics("**So $x^2$** = \\[y.\\]") == mathematics("So \\(x^{2}\\) = $y$")


BEFORE = mathematics("Let $a=1$. Then $b=2$, so $a+b=3$. In short $a=1$.")


@pytest.mark.parametrize(
    ("after", "allowed"),
    [
        ("Let $a=1$. Then $b=2$, so $a+b=3$. In short $a=1$.", True),
        ("Let $a=1$; $b=2$; $a+b=3$.", True),  # the last is a repetition
        ("Let $a=1$. Then $b=2$.", False),  # lost
        ("Let $a=1$. Then $b=2$, so $a+b=3$, $c=4$.", False),  # new
        ("Let $a=1$. Then $b=2$, so $a+b=4$.", False),  # changed
        ("Then $b=2$. Let $a=1$, so $a+b=3$.", False),  # moved
        ("Let $a=1$, $a=1$. Then $b=2$, so $a+b=3$.", False),  # repeated at another place
        ("", False),
    ],
)
def test_rules_may_drop_repetitions_only(after: str, allowed: bool) -> None:
    assert (violation(BEFORE, mathematics(after)) == "") is allowed


def test_a_model_may_drop_only_what_the_rules_drop() -> None:
    kept = mathematics("Let $a=1$; $b=2$; $a+b=3$.")
    assert violation(BEFORE, kept, required=kept) == ""
    assert violation(BEFORE, kept, required=BEFORE) == "missing from the rewrite: a = 1"
    assert violation(BEFORE, (*BEFORE, "7"), required=BEFORE) == "not in the original at this place: 7"


def test_the_finding_is_short() -> None:
    assert len(violation((), ("x" * 10_000,))) < 150


def test_length() -> None:
    assert not too_long("a" * 1000, "a" * 1300)
    assert too_long("a" * 1000, "a" * 1301)


HOSTILE = {
    "open braces": "{" * 1_000_000,
    "open braces in a formula": "$" + "{" * 1_000_000 + "$",
    "nested in a short formula": "$" + "{" * (MAX_TOKENISED_CHARS - 10) + "$",
    "dollars": "$" * 500_000,
    "open parentheses": "\\(" * 300_000,
    "open environments": "\\begin{a}" * 60_000,
    "crossed environments": "\\begin{a}" * 30_000 + "\\end{b}" * 30_000 + "\\end{a}" * 30_000,
    "backslashes": "\\" * 500_000,
    "back-quotes": "`" * 500_000,
    "stray dollars": "$x\n\n" * 60_000,
    "blank lines": "\n \n" * 200_000,
    "broken macros": "$\\begin$ $\\begin{$ $\\verb$ $\\verb|x$ $\\end{x}$ $\\ $ $\\$ $%$ $\\\\begin{$",
    "surrogates": "$\ud800$ \udfff=1",
    "numbers": "1 " * 300_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_tex_is_bounded(name: str) -> None:
    started = time.process_time()
    items = mathematics(HOSTILE[name])
    assert violation(items, items) == ""
    assert time.process_time() - started < 20  # each takes about a second at most; quadratic work would take hours


@given(TEX)
def test_any_text_agrees_with_itself(text: str) -> None:
    items = mathematics(text)
    assert len(items) == len(as_written(text))
    assert violation(items, items, required=items) == ""


@given(st.lists(st.sampled_from(["$a$", "$b^2$", "c=1", "word"])), st.data())
def test_dropping_the_only_copy_is_noticed(words: list[str], data: st.DataObject) -> None:
    formulas = [index for index, word in enumerate(words) if word != "word"]
    if not formulas:
        return
    gone = words[data.draw(st.sampled_from(formulas))]
    before, after = " ".join(words), " ".join(word for word in words if word != gone)
    assert violation(mathematics(before), mathematics(after)).startswith("missing from the rewrite")
