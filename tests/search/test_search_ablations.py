"""The search without one of its parts: other fitness rules, one kind of offspring, no summaries."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from statistics import fmean, median_low
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from search_fakes import PREFIX, Table, play

from maxproof.models.settings import EndpointSettings
from maxproof.problems import Problem
from maxproof.report.summary import outcome
from maxproof.report.view import RunView
from maxproof.search.forecast import forecast
from maxproof.search.run_folder import create_run, open_run
from maxproof.search.selection import prospect
from maxproof.search.settings import RunSettings, SearchSettings
from maxproof.search.types import Candidate, Fitness, Slot, Standing, StopReason, majority_points
from maxproof.verifier.types import Draft, ScoreState, Verification

RULES: tuple[Fitness, ...] = ("min", "mean", "majority")
POINTS = st.lists(st.sampled_from([0.0, 1.0, 2.5, 6.0, 7.0]), min_size=1, max_size=9)


def standing(rule: Fitness, *points: float | None, planned: int = 0) -> Standing:
    """A candidate with these verifications by sample; None is not scored."""
    found = {}
    for sample, value in enumerate(points):
        state = ScoreState.NOT_SCORED if value is None else ScoreState.PASSED if value == 7 else ScoreState.FAILED
        found[sample] = Verification(sample, state, value, None, f"critique {sample}")
    candidate = Candidate(Slot(0, 0, "generate"), Draft("text"))
    return Standing(candidate, planned or len(points), found, rule=rule)


@given(POINTS)
def test_the_rules_are_minimum_mean_and_lower_median(points: list[float]) -> None:
    assert standing("min", *points).fitness == min(points)
    assert standing("mean", *points).fitness == pytest.approx(fmean(points))
    assert standing("majority", *points).fitness == majority_points(points) == median_low(points)
    assert majority_points(points) >= min(points)


@given(POINTS)
def test_a_majority_is_more_than_half(points: list[float]) -> None:
    value = majority_points(points)
    assert sum(p >= value for p in points) > len(points) / 2
    assert not any(sum(p >= other for p in points) > len(points) / 2 for other in points if other > value)


def test_perfect_is_all_or_by_majority_more_than_half_of_all_samples() -> None:
    assert [standing(rule, 7, 7, 7, 7).perfect for rule in RULES] == [True, True, True]
    assert [standing(rule, 7, 7, 7, 1).perfect for rule in RULES] == [False, False, True]
    assert [standing(rule, 7, 7, 1, 1).perfect for rule in RULES] == [False, False, False]
    assert [standing(rule, 7, 7, 7, None).perfect for rule in RULES] == [False, False, True]
    assert [standing(rule, 7, 7, None, None).perfect for rule in RULES] == [False, False, False]
    assert [standing(rule, 7, 7, 7, planned=4).perfect for rule in RULES] == [False, False, False]


def test_the_critique_is_of_the_sample_that_decides() -> None:
    points = (7.0, 6.0, 1.0, 6.0)
    assert standing("min", *points).critique == "critique 2"
    assert standing("mean", *points).critique == "critique 2"
    assert standing("majority", *points).critique == "critique 1"
    assert standing("majority", None, None).critique == ""


@given(st.sampled_from(RULES), st.lists(st.sampled_from([0.0, 1.0, 6.0, 7.0, None]), min_size=1, max_size=6))
def test_bounds_only_fall_and_end_at_the_fitness(rule: Fitness, points: list[float | None]) -> None:
    seen = [standing(rule, *points[:run], planned=len(points)) for run in range(len(points) + 1)]
    bounds = [s.upper_bound for s in seen]
    assert all(later <= earlier + 1e-9 for earlier, later in pairwise(bounds))
    assert seen[-1].exact
    if seen[-1].fitness is not None:
        assert bounds[-1] == pytest.approx(seen[-1].fitness)
        assert all(bound >= seen[-1].fitness - 1e-9 for bound in bounds)
    assert not any(s.exact for s in seen[:-1] if rule != "min")


def test_a_majority_with_a_gap_ranks_among_the_perfect_and_the_others_behind_them() -> None:
    assert prospect(standing("majority", 7, 7, 7, None), refused=False).certain
    assert not prospect(standing("majority", 7, 7, None, None), refused=False).certain
    assert not prospect(standing("min", 7, 7, 7, None), refused=False).certain
    refused = prospect(standing("mean", 7, 1, planned=4), refused=True)
    assert (refused.points, refused.settled, refused.certain) == (4.0, True, False)


@pytest.mark.parametrize("fitness", ["mean", "majority"])
def test_only_a_minimum_can_be_lazy(fitness: str) -> None:
    with pytest.raises(ValidationError, match="set lazy = false"):
        SearchSettings.model_validate({"fitness": fitness})
    assert SearchSettings.model_validate({"fitness": fitness, "lazy": False}).fitness == fitness


small: st.SearchStrategy[SearchSettings] = st.builds(
    SearchSettings,
    candidates=st.integers(3, 7),
    verifications=st.integers(1, 4),
    rounds=st.integers(0, 3),
    parents=st.integers(1, 3),
    stop_at_perfect=st.integers(1, 3),
    finalists=st.integers(1, 4),
    diversity_prefix=st.sampled_from([1, PREFIX, 40]),
    seed=st.integers(0, 1000),
    lazy=st.just(value=False),
    fitness=st.sampled_from(RULES),
    offspring=st.sampled_from(["both", "patch", "rewrite"]),
    summaries=st.booleans(),
)


@given(small, st.integers(0, 10**6), st.integers(0, 10**6), st.sampled_from([0, 0.05]))
@settings(max_examples=120, deadline=None)
def test_every_variant_obeys_the_laws_of_the_search(
    parameters: SearchSettings, seed: int, order: int, refused: float
) -> None:
    table = Table(seed, not_scored=0.2, failing=0.05, refused=refused)
    result, fakes = play(parameters, table, order=order)
    assert result == play(parameters, table, order=None)[0]
    kinds = {call[0] for call in fakes.calls} & {"patch", "rewrite"}
    assert kinds <= {"both": {"patch", "rewrite"}}.get(parameters.offspring, {parameters.offspring})
    n, m = parameters.candidates, parameters.parents
    for found in result.standings:
        slot = found.candidate.slot
        assert found.rule == parameters.fitness
        assert slot.round == (0 if slot.id < n else (slot.id - n) // (2 * m) + 1)
    for opened in result.rounds[1:]:
        for parent in opened.parents:
            fitness = result.standing(parent).fitness
            assert fitness is not None
            assert fitness < 7
            assert not result.standing(parent).perfect
            offspring = [call for call in fakes.calls if call[0] in ("patch", "rewrite") and call[2] == parent]
            assert len(offspring) >= 2
    if result.stop is StopReason.PERFECT:
        assert sum(s.perfect for s in result.standings) >= parameters.stop_at_perfect


def test_without_summaries_nobody_is_asked_for_one_or_told_one() -> None:
    table = Table(1, levels=(1, 6), not_scored=0, filtered=0)
    parameters = SearchSettings(candidates=4, rounds=2, parents=2, summaries=False)
    result, fakes = play(parameters, table)
    assert fakes.count("summarise") == 0
    told: list[Any] = [call[-1] for call in fakes.calls if call[0] in ("patch", "rewrite")]
    assert told
    assert all(summary == "" for siblings in told for _, summary in siblings)
    assert {s.summary for s in result.standings} == {""}


def test_rules_choose_differently() -> None:
    base = SearchSettings(candidates=8, rounds=3, parents=2, lazy=False)
    taken = set()
    for seed in range(20):
        table = Table(seed, levels=(0, 1, 6), not_scored=0, filtered=0)
        found = {rule: play(base.model_copy(update={"fitness": rule}), table)[0] for rule in RULES}
        taken.add(len({tuple(r.parents for r in result.rounds) for result in found.values()}))
    assert 3 in taken


def test_the_forecast_counts_what_a_variant_asks() -> None:
    problem = Problem("p", "x" * 400)
    base = RunSettings(endpoints={"default": EndpointSettings(base_url="http://localhost/v1")})

    def refiner(**changes: object) -> tuple[int, int]:
        chosen = base.model_copy(update={"search": SearchSettings().model_copy(update=changes)})
        (row,) = [role for role in forecast(problem, chosen).full.roles if role.role == "refiner"]
        return row.calls, row.prompt_tokens

    assert refiner()[0] == refiner(offspring="patch")[0] == refiner(offspring="rewrite")[0] == 80
    assert refiner(offspring="rewrite")[1] < refiner()[1] < refiner(offspring="patch")[1]
    assert refiner(summaries=False)[1] < refiner()[1]
    chosen = base.model_copy(update={"search": SearchSettings(summaries=False)})
    roles = {role.role: role.calls for role in forecast(problem, chosen).full.roles}
    assert roles["summariser"] == 0


def test_a_run_of_an_earlier_version_opens_with_the_published_defaults(tmp_path: Any) -> None:
    folder = create_run(tmp_path / "run", "prove", Problem("p", "Show it."), RunSettings(), "0.1")
    text = folder.to_json()
    for name in ("fitness", "offspring", "summaries"):
        text = "\n".join(line for line in text.split("\n") if not line.strip().startswith(f'"{name}"'))
    assert "offspring" not in text
    (tmp_path / "run" / "run.json").write_text(text, encoding="utf-8")
    assert open_run(tmp_path / "run").settings.search == SearchSettings()


def test_the_report_says_what_passed_by_majority() -> None:
    table = Table(1, levels=(7,), not_scored=0, filtered=0)
    result, _ = play(SearchSettings(candidates=4, rounds=0, fitness="majority", lazy=False), table)
    assert result.winner is not None
    voted = replace(standing("majority", 7, 7, 7, 1), candidate=result.standing(result.winner).candidate)
    shown = replace(result, standings=(voted,), finalists=(result.winner,), matches=())
    view = RunView("run", Problem("p", "Show it."), shown)
    assert outcome(view).headline.endswith("passed 3 of 4 verifications, which is a majority.")
