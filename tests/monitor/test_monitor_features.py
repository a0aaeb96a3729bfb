"""What a text says of itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pl = pytest.importorskip("polars", reason="needs the extra monitor")

from maxproof.monitor.features import add_features, opener  # noqa: E402
from maxproof.monitor.fields import MAPS  # noqa: E402
from maxproof.monitor.phrases import load_phrases  # noqa: E402
from maxproof.monitor.read import frame_of  # noqa: E402
from maxproof.problems import InputError  # noqa: E402

PHRASES = load_phrases()


def features(text: str, thinking: str | None = None, phrases: Any = PHRASES) -> dict[str, Any]:
    batch = frame_of([{"problem": "p", "step": 0, "text": text, "thinking": thinking}], MAPS["maxproof"])
    (row,) = add_features(batch.frame, phrases).to_dicts()
    return dict(row)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("To prove that $n^2$ is even", "to prove that"),
        ("to  PROVE\n**that**", "to prove that"),
        ("We are given $x$", "we are given"),
        ("We're given 3 points", "we're given <m>"),
        ("Let $x = \\frac{1}{2}$ be", "let <m> be"),
        ("Let n be", "let <m> be"),
        ("Let \\(a\\), \\(b\\) and 7 be", "let <m> and"),
        ("### Step 12: we", "step <m> we"),
        ("A proof by induction", "a proof by"),
        ("我们需要证明：对任意", "我们 需要 证明"),
        ("<m> is no tag", "<m> is no"),
        ("", ""),
        ("...", ""),
        ("$ never closed " * 100, "<m> never closed"),
        ("x" * 1000, "x" * 60),
    ],
)
def test_openers_forget_maths_numbers_case_and_marks(text: str, expected: str) -> None:
    assert pl.select(opener(pl.lit(text))).item() == expected


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("It can be\n shown that, clearly, it holds.", 2),
        ("ITS CLEARLYNESS is unclear", 0),
        ("显然成立，经过化简，不难看出结论。", 3),
        ("After simplification, it is easy to see that this is trivially true.", 3),
        ("Every step is shown.", 0),
    ],
)
def test_hand_waving_is_counted_in_both_languages(text: str, count: int) -> None:
    assert features(text)["hand_waving"] == count


def test_self_correction_is_counted_in_thinking_only() -> None:
    row = features("Wait, wait.", "Wait, that's wrong. Hold on... 等等，不对。 I waited.")
    assert row["self_correction"] == 5
    assert features("Wait.")["self_correction"] is None


def test_a_chinese_character_is_a_word() -> None:
    row = features("We show 对任意 x_1, done", "")
    assert row["words"] == 7
    assert (row["thinking_words"], row["thinking_chars"]) == (0, 0)


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("### Step 1: Setup\nx", "step_header"),
        ("**Step 2.** We", "step_header"),
        ("So.\n\n**Verification:** it holds", "verification_section"),
        ("## Final Check\nok", "verification_section"),
        ("## Conclusion\nHence", "conclusion_section"),
        ("**Given:**\n", "setup_section"),
        ("第一步：设", "step_header_chinese"),
        ("**验证**：", "verification_section_chinese"),
        ("### Proof Strategy:\n", "strategy_section"),
    ],
)
def test_marks_of_structure(text: str, mark: str) -> None:
    row = features(text)
    assert row[f"template.{mark}"]
    assert row["templates"] == 1


@pytest.mark.parametrize(
    "text",
    [
        "The next step 1 follows.",
        "We check that it holds.",
        "In conclusion, it holds.",
        "Verification of this is easy",
    ],
)
def test_ordinary_sentences_are_no_structure(text: str) -> None:
    assert features("It holds. " + text)["templates"] == 0


def test_a_users_lists_add_to_ours(tmp_path: Path) -> None:
    (tmp_path / "hand_waving.txt").write_text("# ours\n\nby magic (sic)\n", encoding="utf-8")
    (tmp_path / "templates.txt").write_text("box = \\\\boxed\nstep_header = ^Etape \\d", encoding="utf-8")
    row = features("By  Magic (SIC) this clearly holds.\nEtape 3 \\boxed{4}\nStep 4: x", phrases=load_phrases(tmp_path))
    assert row["hand_waving"] == 2
    assert row["template.box"]
    assert row["template.step_header"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("handwaving.txt", "x", "did you mean hand_waving.txt"),
        ("templates.txt", "# a\nbox = (", r"templates\.txt:2: not a regular expression"),
        ("templates.txt", "Box", r"templates\.txt:1: expected NAME = REGULAR EXPRESSION"),
    ],
)
def test_bad_lists_are_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        load_phrases(tmp_path)


def test_a_folder_without_lists_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no list of phrases"):
        load_phrases(tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        load_phrases(tmp_path / "gone")


@pytest.mark.parametrize(
    "text",
    [
        "a\0wait",
        "\u202ewait\u2066",
        "<" * 200_000,
        "$" * 200_000,
        "\\(" * 100_000,
        "step 1:\n" * 50_000,
        "it can be " * 100_000,
    ],
    ids=["nul", "bidi", "angles", "dollars", "open maths", "headers", "near phrases"],
)
def test_hostile_texts_end_quickly(text: str) -> None:
    row = features(text, text)
    assert row["visible_chars"] == len(text)
    assert len(row["opener"]) <= 60
