"""Problems by seed; no shape in two splits."""

from collections import Counter

import pytest

from maxproof.lab.domains import DOMAINS, read_question
from maxproof.lab.generate import SPLITS, all_techniques, lab_problem, problems, split_of
from maxproof.lab.oracle import grade
from maxproof.verifier.types import MAX_POINTS


@pytest.mark.parametrize("cell", all_techniques(), ids="-".join)
def test_a_problem_has_a_right_reference_and_is_read_back(cell: tuple[str, str]) -> None:
    for level in (1, 2, 3, 4):
        for seed in range(8):
            made = lab_problem(*cell, level, seed)
            assert made == lab_problem(*cell, level, seed)
            assert read_question(made.problem.statement) == made.question
            assert made.problem.reference is not None
            report = grade(made.question, made.problem.reference)
            assert (report.points, report.goal) == (MAX_POINTS, True)
            if made.problem.answer is not None:
                assert made.problem.reference.endswith(f"The answer is {made.problem.answer}.")
            assert made.problem.level == str(level)


def test_no_shape_and_no_statement_is_in_two_splits() -> None:
    made = {split: problems(split, 100, seed=1) for split in SPLITS}
    shapes = [{entry.question.structure for entry in made[split]} for split in SPLITS]
    assert not shapes[0] & shapes[1]
    assert not shapes[0] & shapes[2]
    assert not shapes[1] & shapes[2]
    statements = [entry.problem.statement for split in SPLITS for entry in made[split]]
    assert len(statements) == len(set(statements)) == 300
    assert all(split_of(entry.question) == split for split in SPLITS for entry in made[split])


def test_the_same_seed_gives_the_same_problems_and_another_one_others() -> None:
    first, again, other = problems("train", 60, 3), problems("train", 60, 3), problems("train", 60, 4)
    assert first == again
    assert {entry.problem.id for entry in first} != {entry.problem.id for entry in other}
    assert problems("train", 30, 3) == first[:30]


@pytest.mark.parametrize("split", SPLITS)
def test_techniques_and_levels_are_balanced(split: str) -> None:
    cells = len(all_techniques()) * 3
    made = problems(split, cells * 2, seed=0)  # type: ignore[arg-type]
    count = Counter((entry.question.domain, entry.technique) for entry in made)
    assert set(count) == set(all_techniques())
    assert max(count.values()) <= 2 * min(count.values())


def test_filters() -> None:
    domain = next(iter(DOMAINS))
    technique = DOMAINS[domain].techniques[0]
    made = problems("test", 12, 0, levels=(4,), domains=(domain,), techniques=(technique,))
    assert {(entry.question.domain, entry.technique, entry.problem.level) for entry in made} == {
        (domain, technique, "4")
    }


def test_too_many_are_refused() -> None:
    with pytest.raises(ValueError, match="only 0 of 5"):
        problems("test", 5, 0, techniques=("no_such_technique",))
