"""What a terminal shows at its left margin is ours, whatever a model wrote."""

import io
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_views import standing, verification, view_of

from maxproof.report import layout
from maxproof.report.layout import cell_width, filled, quoted, shortened, table, terminal_width
from maxproof.report.text import render_candidate, render_outcome, render_run, render_verifications

FAKE = "A proof passed: candidate 9 passed all 4 verifications."
TEXTS = st.text(st.characters(codec="utf-8"), max_size=300) | st.text("a \t證\u202e\n", max_size=300)


@given(TEXTS, st.integers(layout.MIN_WIDTH, 120))
def test_a_quoted_text_keeps_every_character_and_no_line_is_wider_than_the_terminal(text, width):
    lines = quoted(text, width, "  | ").split("\n")
    assert all(line.startswith("  | ") and cell_width(line) <= width for line in lines)
    kept = "".join(line[4:] for line in lines)
    wanted = layout.visible(text).strip("\n").split("\n")
    assert kept == "".join(line.expandtabs(layout.TAB) for line in wanted)


@given(TEXTS, st.integers(layout.MIN_WIDTH, 120))
def test_a_filled_paragraph_keeps_every_word_and_stays_off_the_margin(text, width):
    lines = filled(text, width, first="1. ").split("\n")
    assert all(cell_width(line) <= width for line in lines)
    assert lines[0].startswith("1. ")
    assert all(line.startswith("  ") for line in lines[1:])
    assert "".join("".join(lines).split()) == "1." + "".join(layout.visible(text).split())


@given(TEXTS, st.integers(0, 80))
def test_a_shortened_text_is_one_line_that_fits(text, width):
    short = shortened(text, width)
    assert "\n" not in short
    assert cell_width(short) <= width


def test_lines_are_cut_after_blanks_where_there_are_some():
    assert quoted("one two three four five", 16) == "  one two three \n  four five"
    assert quoted("x" * 20, 12) == "  " + "x" * 10 + "\n  " + "x" * 10
    assert filled("one two three", 10) == "one two\n  three"
    assert shortened("the beginning of a text", 15) == "the beginning …"
    assert table([("a", "bb"), ("ccc", "d")]) == "a    bb\nccc  d"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("columns", [64, 80, 137])
def test_no_text_of_a_model_comes_to_the_margin_of_a_terminal(monkeypatch, columns):
    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("LINES", "24")
    # Wherever the terminal would cut this line, what follows could begin with the fake.
    hostile = "證" * 40 + (" " * 30 + FAKE) * 40 + "\n" + "z" * (columns - 2) + FAKE
    poor = verification(0, 1, None)
    judges = tuple(
        replace(
            j,
            assessment=hostile,
            reason=hostile,
            errors=tuple(replace(e, location=hostile, description=hostile) for e in j.errors),
        )
        for j in poor.judges
    )
    poor = replace(poor, judges=judges)
    view = view_of(standing(0, {0: poor}, text=hostile, summary=hostile), winner=0, lost={5: hostile}, stopped=hostile)
    view = replace(view, problem=replace(view.problem, id=hostile))
    for text in (
        render_outcome(view), render_run(view), render_candidate(view, 0), render_verifications({0: poor}, 1)
    ):  # fmt: skip
        for line in text.split("\n"):
            assert cell_width(line) <= columns, line
            assert not line.startswith(("A proof", "passed", "證", "z")), line


def test_the_width_is_the_terminals_and_fixed_elsewhere(monkeypatch):
    monkeypatch.setenv("COLUMNS", "77")
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert terminal_width() == layout.WIDTH
    monkeypatch.setattr(sys, "stdout", Terminal())
    assert terminal_width() == 77
    monkeypatch.setenv("COLUMNS", "5")
    assert terminal_width() == layout.MIN_WIDTH


def test_a_long_text_of_blanks_takes_no_time():
    blanks = "\t" * 100_000
    poor = verification(0, 1)
    errors = tuple(replace(e, description=blanks + "x" * 100_000 + "-" * 100_000) for e in poor.judges[0].errors)
    poor = replace(poor, judges=tuple(replace(j, errors=errors) for j in poor.judges))
    assert "x" * 60 in render_verifications({0: poor}, 1)
    assert quoted(blanks, 100).count("\n") == 100_000 * layout.TAB // 98
