"""The decisions, as pure functions: monotone in what becomes known, and right in small examples."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxproof.search.archive import Archive, diversity_class
from maxproof.search.selection import (
    FINAL,
    Prospect,
    finalists_choice,
    next_samples,
    parents_choice,
    prospect,
    ranking,
    stop_choice,
    tie_break,
    unseen,
)
from maxproof.search.types import Candidate, Slot, Standing
from maxproof.verifier.types import BadCaseHit, Draft, ScoreState, Verification


def verification(sample, points, filtered=False):
    state = ScoreState.NOT_SCORED if points is None else ScoreState.PASSED if points == 7 else ScoreState.FAILED
    hits = (BadCaseHit("empty", "empty", "nothing"),) if filtered else ()
    return Verification(sample, state, points, None, f"critique {sample}", bad_cases=hits)


def standing(candidate, *points, planned=4, filtered=False, text="x"):
    samples = {k: verification(k, p, filtered) for k, p in enumerate(points)}
    return Standing(Candidate(Slot(candidate, 0, "generate"), Draft(text)), planned, samples)


def settled(candidate, points, *, certain=True, perfect=None, filtered=False):
    return Prospect(candidate, points, certain, True, points == 7 if perfect is None else perfect, filtered)


@pytest.mark.parametrize(
    ("points", "refused", "expected"),
    [
        ((), False, Prospect(0, 7, certain=True, settled=False)),
        ((7,), False, Prospect(0, 7, certain=True, settled=False)),
        ((7, 6), False, Prospect(0, 6, certain=True, settled=False)),
        ((0,), False, Prospect(0, 0, certain=True, settled=True)),
        ((7, 7, 7, 7), False, Prospect(0, 7, certain=True, settled=True, perfect=True)),
        ((7, 7, None), False, Prospect(0, 7, certain=False, settled=False)),
        ((7, 7, None, 7), False, Prospect(0, 7, certain=False, settled=True)),
        ((6, None, 7, 7), False, Prospect(0, 6, certain=True, settled=True)),
        ((None,), False, Prospect(0, 7, certain=False, settled=False)),
        ((None,) * 4, False, Prospect(0, -1, certain=False, settled=True)),
        ((), True, Prospect(0, -1, certain=False, settled=True)),
        ((7,), True, Prospect(0, 7, certain=False, settled=True)),
        ((6,), True, Prospect(0, 6, certain=False, settled=True)),
        ((0,), True, Prospect(0, 0, certain=True, settled=True)),
    ],
)
def test_prospect(points, refused, expected):
    found = prospect(standing(0, *points), refused)
    if expected.points == -1:
        assert (found.points, found.settled, found.perfect) == (-1, True, False)
    else:
        assert found == expected


def test_a_filtered_candidate_ranks_behind_other_zeros():
    found = prospect(standing(0, 0, filtered=True), refused=False)
    assert found == Prospect(0, 0, certain=False, settled=True, filtered=True)


def test_the_critique_is_that_of_the_lowest_sample_with_the_minimum():
    assert standing(0, 6, 1, 7, 1).critique == "critique 1"
    assert standing(0, None, 7, 7, 7).critique == "critique 1"
    assert standing(0, None).critique == ""


def test_ranking_puts_perfect_first_then_points_and_the_unscored_last():
    prospects = [
        settled(0, -1.0, certain=False, perfect=False),
        settled(1, 0, certain=False, filtered=True),
        settled(2, 0),
        settled(3, 6),
        settled(4, 7, certain=False, perfect=False),
        settled(5, 7),
    ]
    assert [p.id for p in ranking(prospects, 0, FINAL)] == [5, 4, 3, 2, 1, 0]


def test_ties_are_drawn_anew_for_each_round_and_seed():
    ids = range(20)
    orders = {
        tuple(sorted(ids, key=lambda c, s=seed, label=label: tie_break(s, label, c)))
        for seed in (0, 1)
        for label in ("round 1", "round 2", FINAL)
    }
    assert len(orders) == 6


def test_parents_are_one_of_each_class_with_places_refilled_in_rank_order():
    ranked = [settled(0, 6), settled(1, 6), settled(2, 6), settled(3, 1), settled(4, 0, filtered=True, certain=False)]
    classes = {0: "a", 1: "a", 2: "a", 3: "b", 4: "c"}
    assert parents_choice(ranked, 2, classes.__getitem__).chosen == (0, 3)
    assert parents_choice(ranked, 3, classes.__getitem__).chosen == (0, 1, 3)
    assert parents_choice(ranked, 4, classes.__getitem__).chosen == (0, 1, 2, 3)
    assert parents_choice(ranked, 9, classes.__getitem__).chosen == (0, 1, 2, 3, 4)


def test_no_parent_without_a_known_error():
    ranked = [settled(0, 7), settled(1, 7, certain=False, perfect=False), settled(2, -1.0, perfect=False)]
    assert parents_choice(ranked, 4, str).chosen == ()


def test_stop_needs_the_head_only():
    ranked = [Prospect(i, 7, certain=True, settled=False) for i in range(9)]
    assert stop_choice(ranked, 2, 4).needed == {0, 1, 2, 3}
    assert stop_choice(ranked, 6, 4).needed == set(range(6))
    assert stop_choice([settled(0, 7), *ranked[1:]], 2, 2).needed == {1}
    # Whoever can't be perfect need not be verified for the stop.
    assert stop_choice([Prospect(0, 7, False, False), Prospect(1, 6, True, False)], 2, 4).needed == set()


def test_finalists():
    ranked = [settled(0, 7), Prospect(1, 7, True, False), settled(2, 7, certain=False, perfect=False), settled(3, 1)]
    top = finalists_choice(ranked, 4, only_perfect=False)
    assert top.chosen == (0, 1, 2, 3)
    assert top.needed == {1}
    perfect = finalists_choice(ranked, 4, only_perfect=True)
    assert perfect.chosen == (0, 1)
    assert perfect.needed == {1}


def test_waves():
    assert list(next_samples(0, 4, lazy=True)) == [0]
    assert list(next_samples(1, 4, lazy=True)) == [1, 2, 3]
    assert list(next_samples(0, 4, lazy=False)) == [0, 1, 2, 3]
    assert list(next_samples(0, 1, lazy=True)) == [0]


def test_near_duplicates_share_a_class_and_short_texts_only_their_own():
    prefix = 40
    shared = "Let $n$ be an integer and consider the residues of its powers. "
    one, two = diversity_class(shared + "First way.", prefix), diversity_class(shared.upper() + "\n\nOther", prefix)
    assert diversity_class(shared + "Second way.", prefix) == one == two.replace("$N$", "$n$")
    assert diversity_class("Let  $n$\nbe", prefix) == diversity_class("Let $n$ be", prefix) != one
    assert diversity_class("Let $n$ be an", prefix) != diversity_class("Let $n$ be", prefix)
    assert diversity_class("", prefix) == ""


def test_two_near_duplicates_are_never_both_parents_while_others_are_left():
    archive = Archive(verifications=1, diversity_prefix=30)
    texts = ["The sum telescopes, hence the claim: one", "The sum telescopes, hence the claim: two", "By induction"]
    for i, text in enumerate(texts):
        archive.add(Candidate(Slot(i, 0, "generate"), Draft(text)))
        archive.record(i, verification(0, 6 if i < 2 else 1))
    for seed in range(10):
        ranked = ranking(archive.prospects(), seed, "round 1")
        chosen = parents_choice(ranked, 2, archive.class_of).chosen
        assert set(chosen) in ({0, 2}, {1, 2})


points = st.sampled_from([0.0, 1.0, 6.0, 7.0, 7.0, None])
pools = st.lists(st.lists(points, min_size=3, max_size=3), min_size=1, max_size=8)


@settings(max_examples=400, deadline=None)
@given(pools, st.data())
def test_news_of_an_unchosen_candidate_changes_no_choice_and_the_needed_stay_needed(pool, data):
    """The two facts that make lazy verification independent of order (docs/search.md)."""
    k = 3
    known = [data.draw(st.integers(0, k)) for _ in pool]
    seed = data.draw(st.integers(0, 50))
    classes = [data.draw(st.sampled_from("abc")) for _ in pool]
    size = data.draw(st.integers(1, 4))

    def prospects():
        return [
            prospect(standing(i, *row[:n], planned=k), False) if n else unseen(i)
            for i, (row, n) in enumerate(zip(pool, known, strict=True))
        ]

    def decide():
        ranked = ranking(prospects(), seed, "x")
        return {
            "stop": stop_choice(ranked, size, size),
            "parents": parents_choice(ranked, size, classes.__getitem__),
            "finalists": finalists_choice(ranked, size, only_perfect=False),
            "perfect": finalists_choice(ranked, size, only_perfect=True),
        }

    while open_ones := [p.id for p in prospects() if not p.settled]:
        before = decide()
        changed = data.draw(st.sampled_from(open_ones))
        known[changed] += 1
        after = decide()
        for name, choice in before.items():
            if changed not in choice.chosen:
                assert after[name].chosen == choice.chosen, name
                assert after[name].needed == choice.needed, name
            assert choice.needed - {changed} <= after[name].needed, name


def test_filtered_candidates_play_no_match_unless_there_is_nothing_else() -> None:
    filtered = [Prospect(i, 0.0, certain=False, settled=True, filtered=True) for i in range(3)]
    weak = Prospect(7, 0.0, certain=True, settled=True)
    assert finalists_choice(ranking([*filtered, weak], 0, FINAL), 4, False).chosen == (7,)
    assert len(finalists_choice(ranking(filtered, 0, FINAL), 4, False).chosen) == 1
