"""Measures of a prover: unbiased best@k, greedy and sampled side by side."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from statistics import mean

import pytest

from maxproof.evaluation.lab import measure
from maxproof.evaluation.lab.measure import measure_prover
from maxproof.lab.generate import LabProblem, problems
from maxproof.training.settings import SamplingSettings

PROBLEMS = problems("test", 12, 0)
WRONG = "The answer is 12345."


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Of 8 samples of problem i the first `passes[i]` pass; the greedy proof passes where i is even."""
    counts = [i % 5 for i in range(len(PROBLEMS))]
    counts[7] = 8

    def prove(
        checkpoint: object, found: Sequence[LabProblem], sampling: SamplingSettings, seed: int, samples: int
    ) -> list[list[str]]:
        assert seed == 3
        if sampling.temperature == 0:
            assert samples == 1
            return [[p.problem.reference or "" if i % 2 == 0 else WRONG] for i, p in enumerate(found)]
        assert sampling.temperature == 1
        return [
            [p.problem.reference or "" if n < counts[i] else WRONG for n in range(samples)] for i, p in enumerate(found)
        ]

    monkeypatch.setattr(measure, "prove", prove)
    return counts


def test_best_at_k_is_the_mean_over_all_choices_of_k_samples(passes: list[int]) -> None:
    found = measure_prover(None, PROBLEMS, 8, SamplingSettings(temperature=0.5), 3)  # type: ignore[arg-type]
    assert tuple(found.best_at) == (1, 2, 4, 8)
    for k, rate in found.best_at.items():
        by_hand = mean(mean(any(n < c for n in chosen) for chosen in combinations(range(8), k)) for c in passes)
        assert rate.value == pytest.approx(by_hand)
        assert rate.low <= rate.value <= rate.high
    assert found.passes_by_problem == tuple(passes)
    assert mean(found.passes_by_problem) / 8 == pytest.approx(found.best_at[1].value)


def test_greedy_and_sampled_are_told_apart(passes: list[int]) -> None:
    found = measure_prover(None, PROBLEMS, 8, SamplingSettings(), 3)  # type: ignore[arg-type]
    assert (found.greedy.successes, found.greedy.total) == (6, 12)
    assert found.greedy_by_problem == (1, 0) * 6
    assert found.greedy_points == 3.5
    assert found.sampled_points == pytest.approx(7 * sum(passes) / 96)
    assert sum(count for count, *_ in found.by_technique.values()) == len(PROBLEMS)
    assert set(found.by_technique) == {f"{p.question.domain}/{p.technique}" for p in PROBLEMS}
    assert sum(any_pass for *_, any_pass in found.by_technique.values()) == sum(c > 0 for c in passes)


def test_its_json_has_texts_as_keys(passes: list[int]) -> None:
    found = measure_prover(None, PROBLEMS, 8, SamplingSettings(), 3).to_json()  # type: ignore[arg-type]
    assert list(found["best_at"]) == ["1", "2", "4", "8"]
    assert found["greedy"]["total"] == 12


def test_proofs_do_not_depend_on_what_is_proved_with_them() -> None:
    pytest.importorskip("torch", reason="needs the extra train")
    from maxproof.training.checkpoint import new_checkpoint
    from maxproof.training.settings import ModelShape
    from maxproof.training.tokenizer import build_tokenizer

    tokenizer = build_tokenizer(f"{p.problem.statement} {p.problem.reference}" for p in PROBLEMS)
    checkpoint = new_checkpoint(ModelShape(layers=1, width=16, heads=2, hidden=16), tokenizer, 0)
    sampling = SamplingSettings(max_new_tokens=6)
    all_of_them = measure.prove(checkpoint, PROBLEMS[:3], sampling, 0, 2)
    assert [len(row) for row in all_of_them] == [2, 2, 2]
    assert measure.prove(checkpoint, PROBLEMS[:1], sampling, 0, 2) == all_of_them[:1]
    assert measure.prove(checkpoint, PROBLEMS[:3], sampling, 1, 2) != all_of_them
