"""The loop: budget, ids, lazy against eager, order of completion, refused and failed calls."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from search_fakes import PREFIX, FakeRoles, Scheduler, Table, play

from maxproof.models.types import CallNotRun
from maxproof.search.engine import search
from maxproof.search.events import CandidateLost, RoundClosed, Stopped, Verified
from maxproof.search.settings import SearchSettings
from maxproof.search.types import StopReason

NEVER_PERFECT = Table(1, levels=(1, 6), not_scored=0, filtered=0)
ALWAYS_PERFECT = Table(1, levels=(7,), not_scored=0, filtered=0)

small = st.builds(
    SearchSettings,
    candidates=st.integers(3, 9),
    verifications=st.integers(1, 4),
    rounds=st.integers(0, 3),
    parents=st.integers(1, 3),
    stop_at_perfect=st.integers(1, 3),
    finalists=st.integers(1, 5),
    finalist_mode=st.sampled_from(["top", "perfect"]),
    votes=st.sampled_from([1, 3, 5]),
    diversity_prefix=st.sampled_from([1, PREFIX, 40]),
    seed=st.integers(0, 1000),
)
tables = st.builds(
    Table,
    seed=st.integers(0, 10**6),
    levels=st.sampled_from([(0, 1, 1, 6, 7, 7, 7), (0, 0, 1, 1), (6, 7), (7,), (0, 1, 2.5, 3, 6, 7)]),
    not_scored=st.sampled_from([0, 0.2, 0.6, 1]),
    filtered=st.sampled_from([0, 0.2, 0.8]),
    failing=st.sampled_from([0, 0.1]),
    always_first=st.booleans(),
)


def decisions(result):
    return (
        [(r.number, r.parents, r.added, r.best) for r in result.rounds],
        result.stop,
        result.finalists,
        result.matches,
        result.winner,
        result.lost,
        [(s.candidate, s.summary) for s in result.standings],
    )


def refining(fakes):
    return sorted(repr(call) for call in fakes.calls if call[0] in ("patch", "rewrite"))


@settings(max_examples=250, deadline=None)
@given(small, tables, st.integers(0, 10**6))
def test_lazy_decides_as_eager(parameters, table, order):
    lazy, lazy_calls = play(parameters, table, order=order)
    eager, eager_calls = play(parameters.model_copy(update={"lazy": False}), table, order=order + 1)
    assert decisions(lazy) == decisions(eager)
    assert refining(lazy_calls) == refining(eager_calls)
    assert lazy_calls.count("verify") <= eager_calls.count("verify")
    assert lazy.verifications_run <= lazy.verifications_eager == eager.verifications_run


@settings(max_examples=250, deadline=None)
@given(small, tables, st.integers(0, 10**6), st.integers(0, 10**6), st.sampled_from([0, 0, 0.05, 0.3]), st.booleans())
def test_order_of_completion_changes_nothing(parameters, table, one, other, refused, lazy):
    parameters = parameters.model_copy(update={"lazy": lazy})
    table = replace(table, refused=refused)
    runs = [play(parameters, table, order=order) for order in (one, other, None)]
    results = [result for result, _ in runs]
    assert results[0] == results[1] == results[2]
    asked = [sorted(map(repr, fakes.calls)) for _, fakes in runs]
    assert asked[0] == asked[1] == asked[2]


@settings(max_examples=150, deadline=None)
@given(small, tables, st.integers(0, 10**6), st.integers(0, 120))
def test_refused_calls_at_any_point_still_give_a_result(parameters, table, order, refuse_after):
    whole, _ = play(parameters, table, order=order)
    result, fakes = play(parameters, table, order=order, refuse_after=refuse_after)
    if len(fakes.calls) <= refuse_after:
        assert result == whole
        return
    known = {s.candidate.id for s in result.standings}
    assert (result.winner is None) == (not known)
    assert result.winner in known or not known
    assert set(result.finalists) <= known
    best = [r.best for r in result.rounds if r.best is not None]
    assert best == sorted(best)
    for candidate, reason in result.lost.items():
        assert candidate not in known
        assert reason


@settings(max_examples=100, deadline=None)
@given(small, tables)
def test_laws_of_the_archive(parameters, table):
    events = []
    result, fakes = play(parameters, table, observe=events.append)
    n, m = parameters.candidates, parameters.parents
    ids = [s.candidate.id for s in result.standings]
    assert ids == sorted(set(ids))
    for standing in result.standings:
        slot = standing.candidate.slot
        assert slot.round == (0 if slot.id < n else (slot.id - n) // (2 * m) + 1)
        assert (slot.parent is None) == (slot.round == 0)
        # The first sample is always there, the others are a prefix of the plan.
        assert list(standing.verifications) == list(range(len(standing.verifications))) != []
    for opened in result.rounds[1:]:
        assert 1 <= len(opened.parents) <= m
        offspring = [(call[0], call[2]) for call in fakes.calls if call[0] in ("patch", "rewrite")]
        for parent in opened.parents:
            standing = result.standing(parent)
            assert standing.exact
            assert standing.fitness is not None
            assert standing.fitness < 7
            assert ("patch", parent) in offspring
            assert ("rewrite", parent) in offspring
    assert fakes.count("patch") == fakes.count("rewrite") == sum(len(r.parents) for r in result.rounds)
    assert sorted([*ids, *result.lost]) == sorted(
        call[1] for call in fakes.calls if call[0] in ("generate", "patch", "rewrite")
    )
    best = [r.best for r in result.rounds if r.best is not None]
    assert best == sorted(best)
    assert (result.stop is StopReason.PERFECT) <= (len(result.rounds[-1].perfect) >= parameters.stop_at_perfect)
    assert [e.round for e in events if isinstance(e, RoundClosed)] == list(result.rounds)
    assert [e.reason for e in events if isinstance(e, Stopped)] == [result.stop]
    assert {e.candidate for e in events if isinstance(e, CandidateLost)} == set(result.lost)
    assert sum(isinstance(e, Verified) for e in events) == fakes.count("verify")


def test_full_run_costs_what_the_published_tables_say():
    result, fakes = play(SearchSettings(lazy=False, diversity_prefix=1000), NEVER_PERFECT, order=None)
    assert len(result.standings) == 112
    assert fakes.count("verify") == 448
    assert fakes.count("summarise") == 112
    assert fakes.count("rank") <= 9
    assert result.stop is StopReason.ROUNDS
    assert [r.number for r in result.rounds] == list(range(11))
    assert all(len(r.parents) == 4 and len(r.added) == 8 for r in result.rounds[1:])


def test_a_stop_at_round_0_ends_after_the_first_candidates():
    result, fakes = play(SearchSettings(lazy=False), ALWAYS_PERFECT, order=None)
    assert (fakes.count("generate"), fakes.count("verify"), fakes.count("summarise")) == (32, 128, 32)
    assert fakes.count("patch") == 0
    assert result.stop is StopReason.PERFECT
    assert result.passed


def test_lazy_verifies_only_the_finalists_when_all_are_perfect():
    result, fakes = play(SearchSettings(), ALWAYS_PERFECT, order=3)
    assert fakes.count("verify") == 32 + 4 * 3
    assert result.passed


def test_one_perfect_candidate_does_not_stop_a_search_for_two():
    table = Table(5, levels=(1,), not_scored=0, filtered=0)

    class OnePerfect(Table):
        def verification(self, candidate, sample):
            quality = ALWAYS_PERFECT if candidate == 2 else table
            return quality.verification(candidate, sample)

    result, _ = play(SearchSettings(candidates=4, parents=2, rounds=2), OnePerfect(5, filtered=0))
    assert result.stop is StopReason.ROUNDS
    assert all(2 not in r.parents for r in result.rounds)
    assert result.rounds[-1].perfect == (2,)


def test_a_candidate_with_a_sample_not_scored_is_neither_perfect_nor_a_parent():
    class OneMissing(Table):
        def verification(self, candidate, sample):
            if sample == 1:
                return Table(0, not_scored=1, filtered=0).verification(candidate, sample)
            return ALWAYS_PERFECT.verification(candidate, sample)

    result, _ = play(SearchSettings(candidates=4, parents=2, rounds=2), OneMissing(0, filtered=0))
    assert result.stop is StopReason.NO_PARENTS
    assert not result.passed
    assert result.rounds[0].best == 7


def test_nothing_scored_still_gives_finalists_but_no_proof():
    result, _ = play(SearchSettings(candidates=4, parents=2, rounds=2), Table(0, not_scored=1, filtered=0))
    assert result.stop is StopReason.NO_PARENTS
    assert len(result.finalists) == 4
    assert result.winner is not None
    assert not result.passed


def test_every_slot_lost():
    result, fakes = play(SearchSettings(candidates=4), Table(0, failing=1))
    assert result.winner is None
    assert not result.passed
    assert result.stop is StopReason.NO_PARENTS
    assert sorted(result.lost) == [0, 1, 2, 3]
    assert fakes.count("verify") == 0


def test_a_perfect_candidate_stops_the_search_even_if_its_siblings_were_refused():
    class SomeRefused(Table):
        def trouble(self, *key):
            if key[:2] == ("generate", 3):
                raise CallNotRun("budget")

        def verification(self, candidate, sample):
            return ALWAYS_PERFECT.verification(candidate, sample)

    result, _ = play(SearchSettings(candidates=4), SomeRefused(0, filtered=0))
    assert result.stop is StopReason.PERFECT
    assert list(result.lost) == [3]


def test_a_refused_verification_never_outranks_a_perfect_candidate():
    class Refusing(Table):
        def trouble(self, *key):
            if key[0] == "verify" and key[1] != 1 and key[2] > 0:
                raise CallNotRun("budget")

        def verification(self, candidate, sample):
            return ALWAYS_PERFECT.verification(candidate, sample)

    parameters = SearchSettings(candidates=4, finalists=1)
    result, _ = play(parameters, Refusing(0, filtered=0))
    assert result.stop is StopReason.NOT_RUN
    assert result.winner == 1
    assert result.passed


def test_refused_summaries_end_the_refinement():
    class NoSummaries(Table):
        def trouble(self, *key):
            if key[:2] == ("summarise", 2):
                raise CallNotRun("budget")

        def verification(self, candidate, sample):
            return NEVER_PERFECT.verification(candidate, sample)

    result, fakes = play(SearchSettings(candidates=4), NoSummaries(0))
    assert result.stop is StopReason.NOT_RUN
    assert len(result.rounds) == 1
    assert fakes.count("patch") == 0
    assert fakes.count("rank") > 0
    assert [s.summary for s in result.standings] == ["summary 0", "summary 1", "", "summary 3"]


async def test_no_barrier_between_the_stages_of_a_round():
    """One proof is written only after another is fully verified and summarised: nothing waits for the whole stage."""
    verified, summarised = asyncio.Event(), asyncio.Event()

    class Waiting(FakeRoles):
        async def generate(self, slot):
            if slot.id == 3:
                await verified.wait()
                await summarised.wait()
            return await super().generate(slot)

        async def verify(self, candidate, samples):
            if samples[-1] == 3:
                verified.set()
            return await super().verify(candidate, samples)

        async def summarise(self, candidate, first):
            summarised.set()
            return await super().summarise(candidate, first)

    fakes = Waiting(ALWAYS_PERFECT, Scheduler(None))
    async with asyncio.timeout(30):
        result = await search(SearchSettings(candidates=4), fakes.roles)
    assert len(result.standings) == 4


@pytest.mark.parametrize("mode", ["top", "perfect"])
def test_finalist_modes_after_an_early_stop(mode):
    class TwoPerfect(Table):
        def verification(self, candidate, sample):
            table = ALWAYS_PERFECT if candidate in (1, 4) else NEVER_PERFECT
            return table.verification(candidate, sample)

    result, _ = play(SearchSettings(candidates=6, finalist_mode=mode), TwoPerfect(0, filtered=0))
    assert result.stop is StopReason.PERFECT
    assert set(result.finalists[:2]) == {1, 4}
    assert len(result.finalists) == (4 if mode == "top" else 2)


def test_siblings_and_parents_are_those_of_the_round_before():
    _, fakes = play(SearchSettings(candidates=4, parents=2, rounds=3), NEVER_PERFECT, order=None)
    for call in fakes.calls:
        if call[0] in ("patch", "rewrite"):
            slot, parent, siblings = call[1], call[2], call[-1]
            first_of_round = 4 + 4 * ((slot - 4) // 4)
            assert [i for i, _ in siblings] == [i for i in range(first_of_round) if i != parent]
            assert all(summary == f"summary {i}" for i, summary in siblings)


def test_a_bug_in_a_role_is_raised():
    class Broken(Table):
        def draft(self, candidate):
            raise ZeroDivisionError

    with pytest.raises(ExceptionGroup) as caught:
        play(SearchSettings(candidates=2, parents=1), Broken(0))
    assert caught.group_contains(ZeroDivisionError)
