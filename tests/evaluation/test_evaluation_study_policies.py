"""The vectorised policies: the search decides as the engine does, and what must hold for every outcome holds."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

np = pytest.importorskip("numpy", reason="needs the extra study")

from maxproof.evaluation.study import engine_check  # noqa: E402
from maxproof.evaluation.study.decisions import count_votes, parents  # noqa: E402
from maxproof.evaluation.study.model import Draws, Model  # noqa: E402
from maxproof.evaluation.study.parameters import SimulatorSettings  # noqa: E402
from maxproof.evaluation.study.policies import best_of, one_shot, search  # noqa: E402
from maxproof.evaluation.study.scaffolds import consolidate, mean_pool, repair_loop  # noqa: E402
from maxproof.search.settings import SearchSettings  # noqa: E402
from maxproof.search.tournament import is_decided, tally  # noqa: E402
from maxproof.search.types import Vote  # noqa: E402

SMALL = SearchSettings(candidates=6, rounds=3, parents=2, finalists=3)

sizes_strategy = st.builds(
    lambda n, k, r, m, f, v, stop, mode, lazy, offspring, fitness, seed: SearchSettings(
        candidates=n,
        verifications=k,
        rounds=r,
        parents=min(m, n),
        finalists=min(f, n),
        votes=v,
        stop_at_perfect=stop,
        finalist_mode=mode,
        lazy=lazy and fitness == "min",
        offspring=offspring,
        fitness=fitness,
        seed=seed,
    ),
    st.integers(1, 8),
    st.integers(1, 5),
    st.integers(0, 4),
    st.integers(1, 4),
    st.integers(1, 5),
    st.sampled_from([1, 3, 5]),
    st.integers(1, 3),
    st.sampled_from(["top", "perfect"]),
    st.booleans(),
    st.sampled_from(["both", "patch", "rewrite"]),
    st.sampled_from(["min", "mean", "majority"]),
    st.integers(0, 5),
)
simulator_strategy = st.builds(
    SimulatorSettings,
    skill=st.floats(-5, 4),
    rho=st.floats(0, 1),
    judges=st.just(1),
    pass_error=st.floats(0, 0.5),
    false_alarm=st.floats(0, 0.6),
    blind_spot=st.floats(0, 0.3),
    keeps_opening=st.floats(0, 1),
    ranker_rho=st.floats(0, 1),
    position_bias=st.floats(-2, 2),
)


@pytest.mark.parametrize(
    "sizes",
    [
        SearchSettings(),
        SearchSettings(candidates=6, rounds=4, parents=3, finalists=3, votes=5, seed=4),
        SearchSettings(candidates=5, rounds=3, parents=2, finalist_mode="perfect"),
        SearchSettings(candidates=8, rounds=2, verifications=2, lazy=False, finalists=5, votes=1),
        SearchSettings(fitness="mean", lazy=False, rounds=3, summaries=False),
        SearchSettings(fitness="majority", lazy=False, rounds=3, offspring="patch"),
    ],
    ids=lambda sizes: f"N{sizes.candidates} R{sizes.rounds} {sizes.fitness} {sizes.finalist_mode}",
)
@pytest.mark.parametrize(
    "simulator",
    [
        SimulatorSettings(),
        SimulatorSettings(false_alarm=0.5, rho=0.2, keeps_opening=1, judges=3, rho_judges=0.1),
        SimulatorSettings(skill=-5, pass_error=0.2, position_bias=2),
    ],
    ids=["default", "noisy panel", "hard"],
)
def test_decides_as_the_engine_does(simulator: SimulatorSettings, sizes: SearchSettings) -> None:
    assert engine_check.disagreements(Model(simulator, Draws(0, 0, 8)), sizes, range(8)) == []


@given(simulator=simulator_strategy, sizes=sizes_strategy, seed=st.integers(0, 1000))
@settings(max_examples=25, deadline=None)
def test_decides_as_the_engine_does_whatever_the_settings(
    simulator: SimulatorSettings, sizes: SearchSettings, seed: int
) -> None:
    assert engine_check.disagreements(Model(simulator, Draws(seed, 0, 3)), sizes, range(3)) == []


def test_a_disagreement_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def other_rules(model: Model, sizes: SearchSettings) -> Any:
        return search(model, sizes.model_copy(update={"offspring": "patch", "stop_at_perfect": 1}))

    monkeypatch.setattr(engine_check, "search", other_rules)
    assert engine_check.disagreements(Model(SimulatorSettings(skill=-3), Draws(0, 0, 8)), SearchSettings(), range(8))


@given(simulator=simulator_strategy, sizes=sizes_strategy, seed=st.integers(0, 1000))
@settings(max_examples=30, deadline=None)
def test_what_must_hold_for_every_search(simulator: SimulatorSettings, sizes: SearchSettings, seed: int) -> None:
    model = Model(simulator, Draws(seed, 0, 40))
    found = search(model, sizes)
    assert (np.diff(found.by_round, axis=1) >= 0).all()
    assert (found.by_round[:, -1] == found.best).all()
    assert (found.picked <= found.best).all()
    assert (found.argmax <= found.best).all()
    full = sizes.candidates + 2 * sizes.parents * sizes.rounds
    assert ((found.candidates >= sizes.candidates) & (found.candidates <= full)).all()
    assert (found.verifications >= found.candidates).all()
    assert (found.verifications <= sizes.verifications * found.candidates).all()
    votes = sizes.votes * (sizes.finalists - 1)
    assert (found.calls <= 2 * found.candidates + found.verifications + votes).all()
    assert not (found.wrong_stop & ~found.stopped).any()
    again = search(Model(simulator, Draws(seed, 0, 40)), sizes)
    assert all((getattr(found, name) == getattr(again, name)).all() for name in ("winner", "calls", "picked"))


@given(simulator=simulator_strategy, seed=st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_scaffolds_keep_to_their_limit_and_return_what_they_have(simulator: SimulatorSettings, seed: int) -> None:
    model = Model(simulator, Draws(seed, 0, 40))
    limit = search(model, SMALL).calls
    for policy in (best_of, repair_loop, mean_pool, consolidate):
        found = policy(model, SMALL, limit)
        assert (found.calls <= limit).all(), policy.__name__
        assert (found.picked <= found.best).all(), policy.__name__
        assert (found.candidates >= 1).all(), policy.__name__
        assert not (found.wrong_stop & ~found.stopped).any(), policy.__name__
        assert (found.calls >= found.candidates + found.verifications).all(), policy.__name__


@given(simulator=simulator_strategy, sizes=sizes_strategy, seed=st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_lazy_verification_changes_calls_only(simulator: SimulatorSettings, sizes: SearchSettings, seed: int) -> None:
    model = Model(simulator, Draws(seed, 0, 40))
    eager = sizes.model_copy(update={"fitness": "min", "lazy": False})
    one, other = (search(model, s) for s in (eager, eager.model_copy(update={"lazy": True})))
    for name in ("winner", "candidates", "stopped", "by_round", "picked", "argmax"):
        assert (getattr(one, name) == getattr(other, name)).all(), name
    assert (other.verifications <= one.verifications).all()


@given(
    st.sampled_from([(1, 16, 0), (2, 16, 0), (2, 16, 1), (1, 1, 0)]),
    st.sampled_from([1, 3]),
    st.integers(0, 100),
)
@settings(max_examples=20, deadline=None)
def test_the_smallest_budgets_are_kept_too(size: tuple[int, int, int], judges: int, seed: int) -> None:
    candidates, samples, rounds = size
    sizes = SearchSettings(candidates=candidates, verifications=samples, rounds=rounds, parents=1, finalists=1)
    model = Model(SimulatorSettings(judges=judges), Draws(seed, 0, 40))
    limit = search(model, sizes).calls
    for policy in (best_of, repair_loop, mean_pool, consolidate):
        found = policy(model, sizes, limit)
        assert (found.calls <= limit).all(), policy.__name__
        assert not (found.claimed & (found.verifications == 0)).any(), policy.__name__


def test_more_first_proofs_are_the_same_proofs_and_more() -> None:
    model = Model(SimulatorSettings(), Draws(0, 0, 100))
    few, many = best_of(model, SMALL, np.full(100, 30)), best_of(model, SMALL, np.full(100, 90))
    assert (many.candidates > few.candidates).all()
    assert (many.best >= few.best).all()
    assert (one_shot(model).picked <= few.best).all()


def test_best_of_uses_its_limit() -> None:
    model = Model(SimulatorSettings(), Draws(0, 0, 300))
    found = best_of(model, SearchSettings(), np.full(300, 200))
    assert float((200 - found.calls).mean()) < 6


@given(st.lists(st.booleans(), min_size=5, max_size=5), st.sampled_from([1, 3, 5]), st.booleans())
@settings(max_examples=80, deadline=None)
def test_votes_are_counted_as_in_the_tournament(for_left: list[bool], votes: int, start: bool) -> None:
    first = [(vote % 2 == 0) == start for vote in range(votes)]
    cast = [Vote(v, 1 if first[v] else 2, 1 if for_left[v] else 2) for v in range(votes)]
    lead, one_place, asked = count_votes(np.array(for_left[:votes])[:, None], first)
    winner = tally(cast, 1, 2)
    assert winner == (None if one_place[0] or lead[0] == 0 else 1 if lead[0] > 0 else 2)
    wave = votes // 2 + 1
    assert asked[0] == (wave if is_decided(cast[:wave], votes) else votes)


def test_parents_are_of_different_families_while_there_are_any() -> None:
    key = np.array([[50, 40, 30, 20, -1], [50, 40, -1, -1, -1], [-1, -1, -1, -1, -1]])
    family = np.array([[1, 1, 2, 1, 3], [1, 1, 2, 2, 2], [0, 0, 0, 0, 0]])
    assert parents(key, family, 3).tolist() == [[0, 1, 2], [0, 1, -1], [-1, -1, -1]]
    assert parents(key, family, 2).tolist() == [[0, 2], [0, 1], [-1, -1]]


def test_engine_search_runs_alone() -> None:
    model = Model(SimulatorSettings(), Draws(0, 0, 2))
    result, roles = asyncio.run(engine_check.search_problem(model, SMALL, 1))
    assert result.winner is not None
    assert roles.true_points(result.winner) in (0, 1, 6, 7)
