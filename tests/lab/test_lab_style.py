"""Dress changes nothing, is read off again, and its published kinds are stripped by the verifier's normaliser."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxproof.lab.canonical import canonical
from maxproof.lab.generate import all_techniques, lab_problem
from maxproof.lab.language import sentences
from maxproof.lab.mutations import MUTATIONS
from maxproof.lab.oracle import grade
from maxproof.lab.style import (
    GIVEN_OPENERS,
    LONG_CHARS,
    SECTION_TITLES,
    TASK_OPENERS,
    StyleMix,
    render,
    style_of,
    style_score,
)
from maxproof.lab.types import Style
from maxproof.lab.wording import OPENERS
from maxproof.verifier.normalise import normalise_text

CLAIMS = ("3 * 5 = 1 (mod 7).", "1 + 4 = 5 (mod 7).", "5 * 2 = 3 (mod 7).", "The answer is 3.")
STYLES = st.builds(Style, st.integers(0, len(OPENERS) - 1), st.booleans(), st.booleans(), st.booleans(), st.booleans())
CELLS = st.tuples(st.sampled_from(all_techniques()), st.integers(1, 4), st.integers(0, 10_000))


def test_a_full_dress() -> None:
    style = Style(opener=4, headers=True, connectives=True, filler=True, verification=True)
    text = render(CLAIMS, style, Random(3), frozenset({2}))
    lines = text.split("\n")
    assert lines[0] == OPENERS[4]
    assert lines[1] == "Step 1: 3 * 5 = 1 (mod 7)."
    assert lines[-2] in SECTION_TITLES
    assert lines[-1] == CLAIMS[-1]
    assert any(
        line.startswith("Step 3:") and line.endswith(CLAIMS[2]) and line != f"Step 3: {CLAIMS[2]}" for line in lines
    )


@given(STYLES, st.integers(0, 99), st.frozensets(st.integers(0, 3)))
def test_rendering_is_canonical_and_a_function_of_its_arguments(style: Style, seed: int, leaps: frozenset[int]) -> None:
    text = render(CLAIMS, style, Random(seed), leaps)
    assert text == render(CLAIMS, style, Random(seed), leaps)
    assert canonical(text) == text
    claims = [sentence.claim for sentence in sentences(text) if sentence.claim]
    assert claims[:3] == [claim.removesuffix(".") for claim in CLAIMS[:3]]


@given(STYLES, st.integers(0, 99))
def test_the_dress_is_read_off_again(style: Style, seed: int) -> None:
    read = style_of(render(CLAIMS, style, Random(seed)))
    assert (read.opener, read.headers) == (style.opener, style.headers)
    assert read.connectives <= style.connectives
    assert read.filler <= style.filler
    assert read.verification <= style.verification


@settings(deadline=None, max_examples=60)
@given(CELLS, STYLES, st.integers(0, 99))
def test_the_normaliser_strips_the_packaging_and_leaves_the_claims(
    cell: tuple[tuple[str, str], int, int], style: Style, seed: int
) -> None:
    (domain, technique), level, number = cell
    made = lab_problem(domain, technique, level, number)
    claims = made.question.solve(technique)
    text = render(claims, style, Random(seed))
    bare, _ = normalise_text(text)
    left = style_of(bare)
    assert (left.opener, left.headers, left.verification) == (0, False, False)
    found = [sentence.claim for sentence in sentences(bare) if sentence.claim]
    assert [claim.lower() for claim in found] == [claim.removesuffix(".").lower() for claim in claims]
    assert style_score(bare) <= style_score(text)


@settings(deadline=None, max_examples=60)
@given(CELLS, STYLES, st.sampled_from([None, *MUTATIONS]), st.integers(0, 99))
def test_style_never_changes_the_points(
    cell: tuple[tuple[str, str], int, int], style: Style, name: str | None, seed: int
) -> None:
    (domain, technique), level, number = cell
    made = lab_problem(domain, technique, level, number)
    claims = made.question.solve(technique)
    if name is not None:
        claims = MUTATIONS[name](claims, Random(seed)) or claims
    plain = grade(made.question, "\n".join(claims))
    text = render(claims, style, Random(seed), frozenset({len(claims) - 1}))
    for dressed in (text, normalise_text(text)[0], canonical(text), canonical(normalise_text(text)[0])):
        report = grade(made.question, dressed)
        assert (report.points, report.verdict) == (plain.points, plain.verdict)


def test_styles_are_drawn_at_the_rates_of_the_mix() -> None:
    rng = Random(0)
    styles = [StyleMix().draw(rng) for _ in range(4_000)]
    shares = [sum(style.opener in kind for style in styles) / 4_000 for kind in (TASK_OPENERS, GIVEN_OPENERS)]
    assert shares == pytest.approx([StyleMix().task, StyleMix().given], abs=0.03)
    assert sum(style.verification for style in styles) / 4_000 == pytest.approx(0.15, abs=0.03)
    assert StyleMix(0, 0, 0, 0, 0, 0).draw(rng) == Style()


@pytest.mark.parametrize("rates", [{"task": 0.9, "given": 0.2}, {"headers": 1.1}, {"filler": -0.1}])
def test_what_is_no_mix_is_refused(rates: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="not probabilities"):
        StyleMix(**rates)


@pytest.mark.parametrize(
    ("text", "style"),
    [
        ("We are given that x = 2.\nx = 2.", Style(opener=GIVEN_OPENERS[0])),
        ("To prove the claim, we add.\nx = 2.", Style(opener=TASK_OPENERS[0])),
        (
            "**Step 1.** x = 2.\n**Step 2.** x = 3.\n**Final Verification**\nx = 2.",
            Style(headers=True, verification=True),
        ),
        ("", Style()),
    ],
)
def test_the_dress_of_texts_of_others(text: str, style: Style) -> None:
    assert style_of(text) == style


@given(st.text(max_size=200))
def test_a_style_score_is_a_share(text: str) -> None:
    assert 0 <= style_score(text) <= 1


def test_more_packaging_scores_higher() -> None:
    claims = CLAIMS * 8
    dressed = render(claims, Style(4, True, True, True, True), Random(0))
    assert len(dressed) > LONG_CHARS
    assert style_score(dressed) == 1
    assert style_score(render(CLAIMS, Style(1), Random(0))) < style_score(render(CLAIMS, Style(4), Random(0)))
