"""Sentences and claims: headers, openers and phrases go, claims stay, hostile texts end quickly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxproof.lab import style, wording
from maxproof.lab.language import CUT_OFF, MAX_CHARS, MAX_SENTENCES, Sentence, answer_of, sentences


def claims(text: str) -> list[str]:
    return [sentence.claim for sentence in sentences(text)]


@pytest.mark.parametrize(
    "text",
    [
        "3 x = 6.",
        "3 x = 6",
        "Step 3: 3 x = 6.",
        "**Step 3.** So, it follows that 3 x = 6.",
        "### Step 3: We get 3 x = 6.",
        "3. Clearly, 3 x = 6.",
        "3) Therefore 3 x = 6",
        "* Hence 3 x = 6.",
        "- Hence 3 x = 6.",
        "We are given that 3 x = 6.",
        "To solve this problem, we note that 3 x = 6.",
        "To find the value, note that 3 x = 6.",
        "After simplification, $3 x = 6$.",
        "It can be shown that 3 x = 6!",
        "Now, next, so, then 3 x = 6.",
    ],
)
def test_what_is_before_a_claim_goes(text: str) -> None:
    assert claims(text) == ["3 x = 6"]


@pytest.mark.parametrize(
    "text",
    [
        "We are given a problem.",
        "### Verification",
        "Step 4",
        "Step 4:",
        "7.",
        "**Step 12.**",
        "We multiply both sides by 3.",
        "Divide by 2.",
        "This is the key step.",
        "Wir rechnen vorsichtig.",
        "---",
    ],
)
def test_words_claim_nothing(text: str) -> None:
    assert claims(text) == [""]


@pytest.mark.parametrize(
    "text",
    ["There is no solution.", "This is not true.", "x ≈ 2", "𝟛𝕩", "So y is 7 maybe.", "The answer is seven.", "²"],
)
def test_what_may_be_a_claim_is_one(text: str) -> None:
    assert all(claims(text))


def test_suppositions_are_not_cut_off() -> None:
    assert claims("Suppose x = 2.") == ["Suppose x = 2"]
    assert claims("If x = 2 then y = 3.") == ["If x = 2 then y = 3"]


def test_sentences_end_at_stops_and_lines() -> None:
    text = "So 3 x = 6. Then x = 2.\n\n2. x = 2. The answer is 2."
    assert claims(text) == ["3 x = 6", "x = 2", "x = 2", "The answer is 2"]
    assert sentences("  Then x = 2. ")[0] == Sentence("Then x = 2.", "x = 2")
    assert claims("x = 3.5") == ["x = 3.5"]


def test_a_negative_number_is_no_list_mark() -> None:
    assert claims("-3 x = 6") == ["-3 x = 6"]


def test_symbols_take_their_ascii_form() -> None:
    assert claims("x² − 2 ≥ 3 · 1") == ["x^2 - 2 >= 3 * 1"]


def test_answers_are_named() -> None:
    assert answer_of("The answer is x = 2 and y = 3") == "x = 2 and y = 3"
    assert answer_of("the final answer is: -3/4") == "-3/4"
    assert answer_of("x = 2") is None


def test_every_piece_of_style_is_cut_off() -> None:
    for words in (wording.CONNECTIVES, wording.HAND_WAVES, wording.PREFIXES, style.CONNECTIVES, style.HAND_WAVES):
        for phrase in words:
            assert claims(f"{phrase} 3 x = 6.") == ["3 x = 6"], phrase
    for words in (wording.OPENERS, wording.FILLERS, style.OPENERS, style.FILLERS, style.SECTION_TITLES):
        for phrase in words:
            assert not any(claims(phrase)), phrase


@given(st.text())
def test_any_text_is_cut_and_nothing_is_lost(text: str) -> None:
    found = sentences(text)
    assert "".join("".join(sentence.text for sentence in found).split()) == "".join(text.split())
    assert all(sentence.text for sentence in found)


@pytest.mark.parametrize(
    "unit", ["a", ". ", "\n", "x = 1.\n", "Step 1: ", "**", "So, ", "(", "# ", "\u202e", "To prove it "]
)
def test_huge_texts_are_capped(unit: str) -> None:
    found = sentences(unit * (5_000_000 // len(unit)))
    assert len(found) <= MAX_SENTENCES + 1
    assert all(len(sentence.claim) <= MAX_CHARS for sentence in found)


def test_what_is_cut_off_is_seen() -> None:
    assert sentences("x = 1.\n" * (MAX_SENTENCES + 1))[-1].claim == CUT_OFF
    assert sentences(" " * MAX_CHARS + "x = 1")[-1].claim == CUT_OFF
    assert sentences("x = 1." + " " * MAX_CHARS)[-1].claim == "x = 1"


@pytest.mark.parametrize(
    ("hidden", "claim"),
    [
        ("We multiply and find x ＝ 7.", "We multiply and find x ＝ 7"),  # a fullwidth sign relates, too
        ("We add, so x ⟹ 7.", "We add, so x ⟹ 7"),
        ("We compute x is 7.", "We compute x is 7"),
        ("Use this: the answer is 7.", "Use this: the answer is 7"),
        ("3 x = 2**3.", "3 x = 2_3"),  # markup within a formula is not cut off: 23 is not what it says
        ("2 ** x = 8.", "2_x = 8"),
        ("− x = 2.", "- x = 2"),  # a minus sign is no hyphen
    ],
)
def test_no_false_claim_hides_as_words_or_is_read_as_another(hidden: str, claim: str) -> None:
    assert claims(hidden) == [claim]


def test_a_minus_within_a_line_is_no_list_mark() -> None:
    assert claims("2 x = 4. - x = 2.") == ["2 x = 4", "- x = 2"]
    assert claims("- x = 2.") == ["x = 2"]


def test_saying_what_is_done_is_still_no_claim() -> None:
    for words in ("We multiply both sides by 3 to get", "Add 3 to both sides.", "We divide by −3 × 2:"):
        assert not any(claims(words)), words
