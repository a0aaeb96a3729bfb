"""Brackets, votes, ties."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxproof.models.types import CallFailed, CallNotRun, FailureKind
from maxproof.search.tournament import bracket, is_decided, left_first, tally, tournament
from maxproof.search.types import Candidate, Slot, Standing, Vote
from maxproof.verifier.types import Draft, ScoreState, Verification


def standing(candidate, points=7.0):
    state = ScoreState.PASSED if points == 7 else ScoreState.FAILED
    verification = Verification(0, state, points, None, "")
    return Standing(Candidate(Slot(candidate, 0, "generate"), Draft("")), 1, {0: verification})


class Ranker:
    """`choose(first id, second id, match, vote)` gives the reply; `asked` lists the questions."""

    def __init__(self, choose):
        self.choose = choose
        self.asked = []

    async def rank(self, match, vote, first, second):
        self.asked.append((match, vote, first.candidate.id, second.candidate.id))
        await asyncio.sleep(0)
        return self.choose(first.candidate.id, second.candidate.id, match, vote)


def play(finalists, ranker, votes=3, seed=0):
    return asyncio.run(tournament(finalists, votes, seed, ranker, lambda _event: None))


def lowest_id(first, second, _match, _vote):
    return "first" if first < second else "second"


def test_four_finalists_play_three_matches_by_seed():
    ranker = Ranker(lowest_id)
    matches, winner = play([standing(i) for i in (40, 30, 20, 10)], ranker)
    assert [(m.number, m.stage, m.left, m.right, m.winner) for m in matches] == [
        (0, 0, 40, 10, 10),
        (1, 0, 30, 20, 20),
        (2, 1, 10, 20, 10),
    ]
    assert winner == 10
    assert len(ranker.asked) == 6  # two votes of three decide each match


@pytest.mark.parametrize(("players", "expected"), [(1, 0), (2, 1), (3, 2), (5, 4), (6, 5), (8, 7)])
def test_one_match_fewer_than_players_and_byes_for_the_best(players, expected):
    matches, winner = play([standing(i) for i in range(players)], Ranker(lowest_id))
    assert len(matches) == expected
    assert [m.number for m in matches] == list(range(expected))
    assert winner == 0
    first_stage = {i for m in matches if m.stage == 0 for i in (m.left, m.right)}
    size = 1 << (players - 1).bit_length()
    assert first_stage == (set(range(size - players, players)) if players > 1 else set())


def test_the_eight_bracket_keeps_the_best_apart():
    pairs = []

    def leaves(node):
        if node.seat is not None:
            return [node.seat]
        left, right = leaves(node.left), leaves(node.right)
        if len(left) == 1:
            pairs.append((left[0], right[0]))
        return left + right

    leaves(bracket(8))
    assert pairs == [(0, 7), (3, 4), (1, 6), (2, 5)]


def test_no_finalist_no_winner():
    assert play([], Ranker(lowest_id)) == ((), None)


def test_an_always_first_ranker_gives_a_tie_that_fitness_breaks_then_the_id():
    ranker = Ranker(lambda *_: "first")
    (match,), winner = play([standing(5, 6), standing(3, 7)], ranker)
    assert (winner, match.decided_by, len(match.votes)) == (3, "fitness", 3)
    (match,), winner = play([standing(5), standing(3)], ranker)
    assert (winner, match.decided_by) == (3, "id")


def test_order_is_swapped_from_vote_to_vote():
    ranker = Ranker(lambda *_: None)
    (match,), _ = play([standing(1), standing(2)], ranker, votes=5)
    shown = [vote.first for vote in match.votes]
    assert all(a != b for a, b in pairwise(shown))
    assert {left_first(seed, 0, 0) for seed in range(20)} == {True, False}


def test_an_invalid_vote_is_dropped():
    def choose(first, second, _match, vote):
        return None if vote == 0 else lowest_id(first, second, 0, 0)

    (match,), winner = play([standing(2), standing(1)], Ranker(choose))
    assert winner == 1
    assert [vote.choice for vote in match.votes] == [None, 1, 1]
    assert match.decided_by == "votes"
    assert match.votes[0].reason


@pytest.mark.parametrize("failure", [CallNotRun("budget"), CallFailed(FailureKind.TIMEOUT, "too slow")])
def test_a_vote_without_an_answer_is_missing(failure):
    def choose(*_):
        raise failure

    (match,), winner = play([standing(2, 6), standing(1, 1)], Ranker(choose))
    assert winner == 2
    assert match.decided_by == "fitness"
    assert all(vote.choice is None and str(failure) in vote.reason for vote in match.votes)


cast = st.lists(st.tuples(st.booleans(), st.sampled_from(["first", "second", None])), min_size=1, max_size=7)


@settings(max_examples=500)
@given(cast, st.booleans())
def test_a_decided_match_keeps_its_winner_whatever_votes_follow(choices, start):
    planned = len(choices) + 1 - len(choices) % 2
    votes = []
    decided = None
    for i, (_, choice) in enumerate(choices):
        first, second = (1, 2) if (i + start) % 2 == 0 else (2, 1)
        votes.append(Vote(i, first, first if choice == "first" else second if choice == "second" else None))
        if decided is not None:
            assert tally(votes, 1, 2) == decided
        elif is_decided(votes, planned) and i + 1 < planned:
            decided = tally(votes, 1, 2)
            assert decided is not None


@settings(max_examples=200)
@given(st.integers(0, 1000), st.sampled_from([1, 3, 5]), st.integers(2, 9))
def test_the_winner_is_that_of_all_votes(seed, votes, players):
    """Votes left out can't have mattered: a ranker that answers by its own table, asked in full, agrees."""

    def choose(first, second, match, vote):
        roll = hash((seed, match, vote, first, second)) % 5
        return None if roll == 0 else "first" if roll < 3 else "second"

    finalists = [standing(i, 7 - i % 2) for i in range(players)]
    matches, winner = play(finalists, Ranker(choose), votes, seed)
    for match in matches:
        full = []
        for index in range(votes):
            first, second = (
                (match.left, match.right) if left_first(seed, match.number, index) else (match.right, match.left)
            )
            picked = choose(first, second, match.number, index)
            full.append(Vote(index, first, None if picked is None else first if picked == "first" else second))
        expected = tally(full, match.left, match.right)
        assert (match.decided_by == "votes") == (expected is not None)
        if expected is not None:
            assert match.winner == expected
    assert winner == matches[-1].winner
