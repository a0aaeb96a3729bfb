"""Spelling, layout and names of variables make no difference; a changed number, sign or word does."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxproof.problems.data.normal_form import MAX_CHARS, normal_form
from maxproof.problems.data.variables import ANY_VARIABLE

PROOFBENCH = Path(__file__).parents[3] / "shared" / "data" / "imo-proofbench.csv"

SAME = [
    (r"$\frac{1}{2}$", "1/2"),
    (r"$\dfrac12$", r"\(\tfrac{1}{2}\)"),
    (r"$\frac{a+b}{2}$", "$(a + b) / 2$"),
    (r"${a+b \over 2}$", r"$\cfrac{a+b}{2}$"),
    ("½", r"$\frac{1}{2}$"),
    (r"$x^{2}+x_{1}$", "x² + x₁"),
    (r"$x^\frac{1}{2}$", "$x^{1/2}$"),
    (r"\sqrt{2}", "√2"),
    (r"$\sqrt[3]{x+1}$", r"$\sqrt [3] {x+1}$"),
    (r"$n \leqslant 3$", "n <= 3"),
    (r"$n\ge3$ and $m\neq n$", "$n ≥ 3$ and $m ≠ n$"),
    (r"$3\cdot 4$", r"$3\times4$"),
    ("$3 * 4$", "3×4"),
    (r"$a\cdot b$", "$ab$"),
    (r"$f\colon \mathbb{R}\to\mathbb R$", "$f : ℝ → ℝ$"),
    (r"\[ \left( x, y \right) \]", "$$(x,y)$$"),
    (r"\begin{align*} x &= y \\ y &= z \end{align*}", "$x = y$ $y=z$"),
    (r"${n \choose k}$", r"$\binom{n}{k}$"),
    (r"$1{,}000$ coins", "1,000 coins"),
    (r"$90^\circ$", "90°"),
    (r"$a \equiv b \pmod{p}$", r"$a ≡ b \ (\mathrm{mod}\ p)$"),
    (r"$\text{if } x$ is even", "if $x$ is even"),
    (r"$\operatorname{gcd}(a,b)$", r"$\gcd(a, b)$"),
    ("non-negative integers", "Nonnegative   integers."),
    ("a **bold** word", "a bold word"),
    (r"Let $A$, $B$ be points", "Let A, B be points"),
    (r"triangle $ABC$", "triangle PQR"),
    (r"Let $\varepsilon > 0$", r"Let $\delta>0$"),
    (r"a set $\mathcal{F}$ of sets $F$", r"a set $\mathcal{G}$ of sets $H$"),
    ("It costs $5 today.", "It costs 5 today"),
    ("Let a and b be integers", "Let x and y be integers"),
    ("a $k$-element set", "a $m$-element set"),
    (r"$\frac{x_1}{x_2+x_3}$ for $x_3$", r"$\frac{a}{b+c}$ for $c$"),
    (r"$\frac{2x_n}{x^2}$", "2x_n/x^2"),
    (r"$\frac{1}{x^2}$", "1/(x^2)"),
    (r"$a_1, \dots, a_n$", "b_1, ..., b_m"),
    (r"a_1 and a_2 and a_n", r"$x_1$ and $x_2$ and $x_k$"),
    (r"$a \equiv b \pmod n$", "a ≡ b (mod n)"),
    (r"$n \not= 2$", "n ≠ 2"),
    ("x in (-1, 1)", r"$x$ in $(-1,1)$"),
    ("posi\u00adtive num\u200bbers", "positive numbers"),
]  # fmt: skip
DIFFERENT = [
    (r"$\frac{1}{2}$", r"$\frac{1}{3}$"),
    (r"$\frac{1}{2x}$", r"$\frac{1}{2}x$"),
    ("$x^{12}$", "$x_{12}$"),
    ("$x^{12}$", "$x^{1}2$"),
    ("$x + y = x$", "$x + y = y$"),
    ("$n < 3$", r"$n \le 3$"),
    ("$f(2,100)$", "$f(2100)$"),
    (r"integers in $\mathbb{Z}$", r"integers in $\mathbb{N}$"),
    ("$2 - 3$", "$2 + 3$"),
    ("an even number", "an odd number"),
    (r"$n \mid m^2$ for $n$", r"$n \mid m^2$ for $m$"),
    (r"$5! = 120$", "$5 = 120$"),
    ("$3 \\times 4$", "$34$"),
    (r"$\sqrt{x+1}$", r"$\sqrt{x}+1$"),
    ("???", "!!!"),
    ("The answer is -1", "The answer is 1"),
    ("x in (-1,1)", "x in (1,1)"),
    ("for -x", "for x"),
    ("$a_1 = 2$, find $a_3$", "$a_1 = 2$, find $a_2$"),
    ("$a_2 = 2$", "$a_1 = 2$"),
    ("$a_1 = 2$, $a_n = 3$", "$a = 2$, $b = 3$"),
    ("$x_1 + x$", "$x + y$"),
    (r"$\sin\frac{x}{3}$", r"$\frac{\sin x}{3}$"),
    (r"$\frac{a}{b_1c}$", r"$\frac{a}{b_1}c$"),
]
TEXT = r"""Let $x$, $y$ and $n$ be integers with $x \ge 1$ such that \[ \frac{x+1}{y} + 2^{n} = \sqrt{x} \cdot f(y). \]
Prove that $n$ divides $x - y$ if $\gcd(x, n) \leq 3$."""


@pytest.mark.parametrize(("one", "other"), SAME)
def test_two_ways_to_write_the_same(one: str, other: str) -> None:
    assert normal_form(one).canonical == normal_form(other).canonical
    assert normal_form(one).words == normal_form(other).words


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different_statements_stay_different(one: str, other: str) -> None:
    assert normal_form(one).key != normal_form(other).key


def test_words_have_one_name_for_all_variables_and_plain_has_their_own() -> None:
    form = normal_form("Let $x > y$.")
    assert form.words == ("let", ANY_VARIABLE, ">", ANY_VARIABLE)
    assert [token[-1] for token in form.plain] == ["t", "x", ">", "y"]
    assert form.canonical[1] != form.canonical[3]


@given(st.permutations("abcdghklmpqrstuvwz"), st.sampled_from(["frac", "dfrac", "tfrac"]), st.data())
def test_renaming_spacing_and_kinds_of_fractions_change_nothing(
    names: list[str], frac: str, data: st.DataObject
) -> None:
    renamed = TEXT.replace("frac", frac)
    for old, new in zip("xyn", names, strict=False):
        for before in ("$", "{", " ", "(", "\n"):
            for after in ("$", "}", " ", ")", "+", ",", "."):
                renamed = renamed.replace(f"{before}{old}{after}", f"{before}\x00{new}\x00{after}")
    renamed = renamed.replace("f(", f"{names[3]}(").replace("\x00", "")
    blanks = data.draw(st.lists(st.sampled_from([" ", "  ", "\n", "\t"]), min_size=60, max_size=60))
    spaced = "".join(piece + blank for piece, blank in zip(renamed.split(" "), blanks, strict=False))
    assert normal_form(spaced).canonical == normal_form(TEXT).canonical


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_a_changed_number_changes_the_key(one: int, other: int) -> None:
    keys = [normal_form(f"Prove that ${number}n + 1$ is odd.").key for number in (one, other)]
    assert (keys[0] == keys[1]) == (one == other)


@given(st.text(max_size=300))
def test_any_text_has_a_form_and_blank_texts_only_have_none(text: str) -> None:
    assert bool(normal_form(text).canonical) == bool(text.strip())


@given(st.text(alphabet=r"ab12{}^_$\()[]+ fracsqtover", max_size=200))
def test_any_latex_has_a_form_that_outer_blanks_do_not_change(text: str) -> None:
    assert normal_form(text).canonical == normal_form(f"  {text}\n").canonical


@pytest.mark.parametrize(
    "piece",
    [
        r"\frac{",
        "{",
        "}",
        "$ ",
        "a$\n\n",
        r"\sqrt",
        r"{a\choose b",
        "(",
        "x^{",
        r"\begin{",
        r"\text{",
        "^{a b}",
        "1{,}",
    ],
)
def test_hostile_text_ends_soon(piece: str) -> None:
    assert normal_form(piece * (MAX_CHARS // len(piece))).canonical


def test_what_lies_beyond_the_limit_counts() -> None:
    long = "word " * (MAX_CHARS // 5)
    assert normal_form(long + "one").key != normal_form(long + "two").key


def test_all_problems_of_a_real_set_stay_different() -> None:
    if not PROOFBENCH.exists():
        pytest.skip("no imo-proofbench.csv")
    with PROOFBENCH.open(newline="") as file:
        statements = [row["Problem"] for row in csv.DictReader(file)]
    keys = {normal_form(statement).key for statement in statements}
    assert len(keys) == len(set(statements))
