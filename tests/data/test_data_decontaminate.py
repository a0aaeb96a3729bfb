"""Copies and near-copies of evaluation problems are found, with true scores; other problems stay."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("datasketch", reason="needs the extra data")

import numpy as np

from maxproof.problems import InputError, Problem, load_problems
from maxproof.problems.data.decontaminate import (
    DecontaminateSettings,
    EvaluationIndex,
    Match,
    decontaminate,
    read_evaluation_set,
)
from maxproof.problems.data.files import DataWriter, Reject, beside_path, read_data, rejects_path
from maxproof.problems.data.near_duplicates import (
    band_keys,
    bands_for,
    grams_of,
    jaccard,
    overlap,
    signatures,
)
from maxproof.problems.data.normal_form import normal_form
from maxproof.problems.data.record import DataRecord
from maxproof.problems.errors import Place

PROOFBENCH = Path(__file__).parents[3] / "shared" / "data" / "imo-proofbench.csv"
EVALUATION = [
    Problem("sum", r"Let $a, b, c$ be positive reals with $a + b + c = 3$. Show $\frac{a}{b} + \frac{b}{c} \geq 2$."),
    Problem("walk", "A knight starts in a corner of a board with 2024 rows and visits every square exactly once. Prove "
            "that it ends on a square of the other colour when the number of columns is odd and at least five."),
]  # fmt: skip


def matches(statement: str, **settings: object) -> list[Match]:
    index = EvaluationIndex(
        [(Place("eval.jsonl", number), problem) for number, problem in enumerate(EVALUATION, 1)],
        DecontaminateSettings.model_validate(settings),
    )
    return index.matches(Problem("mine", statement), Place("mine.jsonl", 7))


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        (EVALUATION[0].statement.replace(". ", ".\n"), "exact"),
        (r"Let \(a,b,c\) be positive reals with \(a+b+c=3\). Show $a/b + \dfrac bc \ge 2$", "normalised"),
        (r"Let $x, y, z$ be positive reals with $x+y+z = 3$. Show $\tfrac{x}{y}+y/z ≥ 2$.", "renamed"),
    ],
)
def test_a_copy_is_told_by_how_it_was_changed(statement: str, kind: str) -> None:
    (match,) = matches(statement)
    assert (match.kind, match.evaluation_id, match.jaccard, match.containment) == (kind, "sum", 1.0, 1.0)
    assert (match.file, match.line, match.evaluation_file, match.evaluation_line) == ("mine.jsonl", 7, "eval.jsonl", 1)


def test_a_near_copy_has_its_true_score() -> None:
    changed = EVALUATION[1].statement.replace("exactly", "just")
    (match,) = matches(changed)
    assert match.kind == "near"
    grams = len(EVALUATION[1].statement.split()) - 3
    assert match.jaccard == pytest.approx((grams - 4) / (grams + 4))
    assert matches(changed, threshold=0.9) == []


def test_another_number_is_another_problem_but_near() -> None:
    (match,) = matches(EVALUATION[1].statement.replace("2024", "2025"))
    assert match.kind == "near"
    assert matches("Prove that every tree with at least two vertices has at least two leaves, by any method.") == []


def test_a_problem_with_text_around_it_is_found_by_containment() -> None:
    quoted = " ".join(f"word{number}" for number in range(60)) + EVALUATION[1].statement
    assert matches(quoted, containment=0) == []
    (match,) = matches(quoted)
    assert match.kind == "contained"
    assert match.containment == 1.0
    assert match.jaccard < 0.6


_TEXTS = st.lists(st.lists(st.sampled_from("pqrstu"), min_size=1, max_size=30).map(" ".join), min_size=1, max_size=6)


@given(_TEXTS, _TEXTS, st.sampled_from([0.5, 0.75, 0.9, 1.0]))
def test_all_that_is_contained_is_found(known: list[str], texts: list[str], containment: float) -> None:
    settings = DecontaminateSettings(containment=containment, ngram=2, min_grams=2, threshold=1)
    words = [text.replace(" ", " word ") for text in known]
    index = EvaluationIndex([(Place("e"), Problem(str(at), text)) for at, text in enumerate(words)], settings)
    for text in texts:
        longer = text.replace(" ", " word ") + " and more"
        grams = grams_of(normal_form(longer).words, 2)
        sets = {str(at): grams_of(normal_form(word).words, 2) for at, word in enumerate(words)}
        expected = {
            id for id, known in sets.items() if len(known) >= 2 and overlap(known, grams) >= containment * len(known)
        }
        assert {match.evaluation_id for match in index.matches(Problem("m", longer), Place("m"))} == expected


def test_a_threshold_of_one_leaves_copies_only() -> None:
    assert bands_for(1.0).bands >= 2
    assert [match.kind for match in matches(EVALUATION[1].statement, threshold=1)] == ["exact"]
    assert matches(EVALUATION[1].statement.replace("2024", "2025"), threshold=1, containment=0) == []


def test_short_texts_are_only_compared_as_copies() -> None:
    index = EvaluationIndex([(Place("e"), Problem("e", "Compute it."))], DecontaminateSettings())
    assert [match.kind for match in index.matches(Problem("m", "compute it"), Place("m"))] == ["normalised"]
    assert index.matches(Problem("m", "Compute this."), Place("m")) == []


def test_references_are_compared_if_asked_for() -> None:
    problem = Problem("e", "Statement one.", reference=EVALUATION[1].statement)
    mine = Problem("m", "Quite another statement.", reference=EVALUATION[1].statement)
    for references in (False, True):
        index = EvaluationIndex([(Place("e"), problem)], DecontaminateSettings(references=references))
        assert [match.part for match in index.matches(mine, Place("m"))] == ["reference"] * references


def test_the_step_drops_or_flags_and_writes_pairs(tmp_path: Path) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    copy = DataRecord(id="copy", statement=EVALUATION[0].statement.replace("a", "u"))
    kept = DataRecord(id="kept", statement="Prove that every tree has a leaf.")
    copy = copy.model_copy(update={"statement": EVALUATION[0].statement})
    source.write_text("".join(row.model_dump_json() + "\n" for row in (copy, kept)) + "bad\n")
    index = EvaluationIndex([(Place("e"), problem) for problem in EVALUATION], DecontaminateSettings())
    for flag in (False, True):
        with DataWriter(out, inputs=(source,), beside=("pairs",)) as writer:
            counts = decontaminate(source, index, writer, flag=flag)
        assert (counts.records, counts.by_kind, writer.rejected, writer.dropped) == (2, {"exact": 1}, 1, int(not flag))
        rows = [row for _, row in read_data(out) if not isinstance(row, Reject)]
        assert [row.id for row in rows] == ["copy"] * flag + ["kept"]
        assert json.loads(beside_path(out, "pairs").read_text())["evaluation_id"] == "sum"
        reasons = [json.loads(line)["reason"] for line in rejects_path(out).read_text().splitlines()]
        assert len(reasons) == 2 - flag
    assert rows[0].provenance[-1].notes == {"contaminated": "exact", "with": "sum", "jaccard": 1.0}
    assert rows[1].provenance[-1].notes == {}


def test_a_bad_evaluation_set_is_an_error(tmp_path: Path) -> None:
    for text, message in (('{"statement": "x"}\nbad\n', "eval.jsonl:2"), ("\n", "no problem")):
        path = tmp_path / "eval.jsonl"
        path.write_text(text)
        with pytest.raises(InputError, match=message):
            list(read_evaluation_set(path))


def test_a_real_set_is_found_in_itself_and_nowhere_else() -> None:
    if not PROOFBENCH.exists():
        pytest.skip("no imo-proofbench.csv")
    index = EvaluationIndex(read_evaluation_set(PROOFBENCH), DecontaminateSettings())
    for problem in load_problems(PROOFBENCH):
        found = index.matches(problem, Place(PROOFBENCH))
        assert (found[0].kind, found[0].evaluation_id) == ("exact", problem.id)
        renamed = problem.statement.replace("\\frac", "\\dfrac").replace("\\ge ", "\\geq ")
        assert index.matches(Problem("r", renamed), Place("r"))[0].jaccard == 1.0


@given(
    st.lists(st.sampled_from("abcd"), max_size=30), st.lists(st.sampled_from("abcd"), max_size=30), st.integers(1, 5)
)
def test_scores_are_those_of_sets_of_ngrams(one: list[str], other: list[str], ngram: int) -> None:
    def sets(words: list[str]) -> set[tuple[str, ...]]:
        length = min(ngram, max(len(words), 1))
        return {tuple(words[at : at + length]) for at in range(max(len(words) - length, 0) + 1)}

    first, second = grams_of(one, ngram), grams_of(other, ngram)
    assert len(first) == len(sets(one))
    assert overlap(first, second) == len(sets(one) & sets(other))
    assert jaccard(first, second) == pytest.approx(len(sets(one) & sets(other)) / len(sets(one) | sets(other)))


@pytest.mark.parametrize("threshold", [0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
def test_bands_lose_at_most_what_is_stated(threshold: float) -> None:
    bands = bands_for(threshold)
    assert bands.bands * bands.rows <= 128
    assert 1 - bands.chance(threshold) <= 0.02
    assert bands.chance(threshold) < bands.chance(threshold + 0.05)


def test_the_measured_recall_is_that_of_the_curve() -> None:
    rng = random.Random(5)
    bands = bands_for(0.6)
    for shared, similarity in ((450, 0.6), (300, 1 / 3)):
        hits = 0
        for trial in range(300):
            pool = np.array([rng.getrandbits(64) for _ in range(1200 - shared)], dtype=np.uint64)
            rest = (1200 - 2 * shared) // 2
            one, other = (
                np.unique(pool[: shared + rest]),
                np.unique(np.concatenate([pool[:shared], pool[shared + rest :]])),
            )
            assert jaccard(one, other) == pytest.approx(similarity, abs=0.01)
            first, second = (band_keys(s.hashvalues, bands) for s in signatures([one, other], seed=trial))
            hits += bool(np.any(first == second))
        expected = bands.chance(similarity)
        assert abs(hits / 300 - expected) < 4 * (expected * (1 - expected) / 300) ** 0.5 + 0.005
