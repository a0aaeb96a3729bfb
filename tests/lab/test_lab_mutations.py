"""Every operator costs a right proof points, in every domain."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxproof.lab.generate import all_techniques, lab_problem
from maxproof.lab.mutations import MUTATIONS, mutate
from maxproof.lab.oracle import grade
from maxproof.verifier.types import MAX_POINTS


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(all_techniques()), st.integers(1, 4), st.integers(0, 10_000), st.sampled_from(list(MUTATIONS)))
def test_every_mutation_lowers_the_points_of_a_right_proof(
    cell: tuple[str, str], level: int, seed: int, name: str
) -> None:
    made = lab_problem(*cell, level, seed)
    claims = made.question.solve(cell[1])
    assert grade(made.question, "\n".join(claims)).points == MAX_POINTS
    spoilt = mutate(made.question, claims, name, Random(seed))
    if spoilt is not None:
        assert grade(made.question, "\n".join(spoilt)).points < MAX_POINTS
        assert spoilt == mutate(made.question, claims, name, Random(seed))


@pytest.mark.parametrize("cell", all_techniques(), ids="-".join)
def test_most_operators_apply_somewhere_in_every_technique(cell: tuple[str, str]) -> None:
    applied = set()
    for seed in range(12):
        made = lab_problem(*cell, 1 + seed % 3, seed)
        claims = made.question.solve(cell[1])
        applied |= {name for name in MUTATIONS if mutate(made.question, claims, name, Random(seed)) is not None}
    assert len(applied) >= len(MUTATIONS) - 3
    assert applied >= {"wrong_number", "dropped_end"}


def test_an_operator_that_does_not_apply_says_so() -> None:
    made = lab_problem(*all_techniques()[0], 1, 0)
    for name in MUTATIONS:
        assert MUTATIONS[name]((), Random(0)) is None
    for name in ("dropped_step", "dropped_end", "answer_only"):
        assert mutate(made.question, ("The answer is 3.",), name, Random(0)) is None
    with pytest.raises(KeyError):
        mutate(made.question, ("The answer is 3.",), "no_such_operator", Random(0))
