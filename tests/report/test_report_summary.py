"""The sentences about a run: nothing that did not pass is called a proof."""

from dataclasses import replace

import pytest
from report_views import failed_view, filtered, passed_view, realistic_view, standing, verification, view_of

from maxproof.models.types import StopKind
from maxproof.report.summary import (
    cells,
    fitness_text,
    how_sure,
    known_errors,
    lazy_saving,
    match_tally,
    outcome,
    overall,
)
from maxproof.search.types import Match, StopReason, Vote


def test_a_passed_run():
    said = outcome(passed_view())
    assert said.kind == "passed"
    assert said.headline == "A proof passed: candidate 0 passed all 4 verifications."


def test_a_failed_run_counts_failures_and_errors():
    said = outcome(failed_view())
    assert said.kind == "not_passed"
    assert said.headline == "No candidate passed. Candidate 0 is the best one found; it is not a proof."
    assert said.details[0] == "It failed 4 of 4 verifications; 2 errors known."


@pytest.mark.parametrize(
    ("verifications", "why"),
    [
        ({}, "None of its verifications was run"),
        ({0: verification(0, 7, 7, 7)}, "Only 1 of its 4 verifications were run; those passed."),
        ({k: verification(k, 7, None, 7) for k in range(4)}, "4 of its 4 verifications could not be scored"),
        ({0: filtered(0)}, "It was filtered before any judge saw it."),
    ],
)
def test_why_the_best_did_not_pass(verifications, why):
    said = outcome(view_of(standing(3, verifications), winner=3))
    assert said.kind == "not_passed"
    assert said.details[0].startswith(why)


def test_a_winner_that_failed_while_another_passed_is_said():
    good = standing(1, {k: verification(k, 7, 7, 7) for k in range(4)})
    poor = standing(2, {0: verification(0, 6, 7, 7)})
    said = outcome(view_of(good, poor, winner=2))
    assert said.kind == "not_passed"
    assert "candidate 2, which did not pass, over candidate 1, which did" in said.headline


def test_no_candidate_and_a_stop():
    view = view_of(winner=None, lost={0: "gone", 1: "gone"}, stop=StopReason.NOT_RUN, stopped="the budget is spent")
    said = outcome(view)
    assert said.kind == "no_candidate"
    assert "All 2 attempts failed." in said.headline
    assert said.details == ("The run was stopped: the budget is spent",)
    assert how_sure(view) == ()


def test_how_sure_names_votes_judges_and_the_limits_of_a_pass():
    lines = "\n".join(how_sure(realistic_view()))
    assert "Verifications: 4 passed, of 4 planned." in lines
    assert "12 views, all scored ones gave 7 of 7 points" in lines
    assert "won 2 matches, with 5 of 6 valid votes" in lines
    assert "Also passed: candidate 53." in lines
    assert "not a formal verification" in lines


def test_disagreement_and_missing_judges_are_said():
    view = view_of(standing(0, {0: verification(0, 7, None, 1)}), winner=0)
    line = next(line for line in how_sure(view) if line.startswith("Judges"))
    assert line == (
        "Judges: 3 views, from 1 to 7 of 7 points; 1 not scored; "
        "largest disagreement within one verification: 6 points."
    )


def test_the_same_error_is_listed_once_with_all_who_found_it():
    errors = known_errors(standing(0, {0: verification(0, 1, 7, 1), 2: verification(2, 1, 7, 7)}))
    assert [e.found_by for e in errors] == [("rubric-1 (samples 0, 2)", "free (sample 0)")] * 2


def test_a_filter_hit_is_a_known_error():
    (error,) = known_errors(standing(0, {0: filtered(0)}))
    assert error.location == "rule ngram_loop"
    assert "12-gram" in error.description


def test_the_five_states_of_a_cell():
    row = cells(
        standing(
            0, {0: verification(0, 7, 7), 1: verification(1, 6, 7), 2: verification(2, None), 3: filtered(3)}, planned=5
        )
    )
    assert [c.state for c in row] == ["passed", "failed", "not_scored", "filtered", "not_run"]
    assert [c.label for c in row] == ["✓", "✗ 6", "?", "⊘", "·"]


def test_fitness_says_bound_unscored_and_unrun():
    assert fitness_text(standing(0, {0: verification(0, 6, 7)})) == "≤ 6"
    assert fitness_text(standing(0, {0: verification(0, 0, 7)})) == "0"
    assert fitness_text(standing(0, {0: verification(0, None)})) == "?"
    assert fitness_text(standing(0, {})) == "·"


def test_lazy_saving():
    assert lazy_saving(realistic_view()) == (
        "Lazy verification ran 162 of the 220 verifications that the eager search would have run: 58 saved (26 %), "
        "about 174 judge calls."
    )
    assert lazy_saving(passed_view()) == ""
    assert "0 saved (0 %)" in lazy_saving(replace(passed_view(), verifications_run=4, verifications_eager=4))


def test_match_tally_tells_invalid_votes_and_tie_breaks():
    votes = (Vote(0, 1, 1), Vote(1, 2, 2), Vote(2, 1, None))
    assert match_tally(Match(0, 0, 1, 2, votes, 1, "id")) == (
        "1 : 1, 1 invalid, every valid vote picked the same position, decided by lower id"
    )
    assert match_tally(Match(0, 0, 1, 2, votes[:1], 1, "votes")) == "1 : 0"


def test_a_match_tells_the_winners_votes_first_and_why_votes_did_not_decide():
    assert match_tally(Match(0, 0, 4, 6, (Vote(0, 4, 6), Vote(1, 6, 6)), 6, "votes")) == "2 : 0"
    votes = (Vote(0, 1, 1), Vote(1, 2, 2), Vote(2, 1, 1))
    assert match_tally(Match(0, 0, 1, 2, votes, 1, "id")) == (
        "2 : 1, every valid vote picked the same position, decided by lower id"
    )


def test_votes_that_were_not_asked_are_not_called_invalid():
    reasons = ("the budget is spent", "not recorded", "server-1: refused", "the ranker's reply could not be read")
    votes = tuple(Vote(n, 1, None, reason) for n, reason in enumerate(reasons))
    match = Match(0, 0, 1, 2, votes, 1, "id")
    assert match_tally(match, "the budget is spent") == (
        "0 : 0, 1 invalid, 1 unanswered, 2 not run, decided by lower id"
    )


@pytest.mark.parametrize("lost", [{}, {0: "not recorded"}])
def test_a_run_that_has_not_ended_is_unfinished(lost):
    said = outcome(view_of(winner=None, lost=lost, stop=StopReason.NOT_RUN))
    assert said.kind == "unfinished"
    assert said.headline.startswith("Unfinished: no candidate is written yet")
    assert "maxproof resume RUN" in said.headline
    assert "failed" not in said.headline


def test_a_run_killed_in_its_tournament_is_unfinished_too():
    good = standing(1, {k: verification(k, 7, 7, 7) for k in range(4)})
    match = Match(0, 0, 1, 2, (Vote(0, 1, None, "not recorded"),), 1, "id")
    view = view_of(good, standing(2, {}), winner=1, matches=(match,))
    assert outcome(view).headline.startswith("Unfinished: candidate 1 has passed all 4 verifications.")
    assert outcome(replace(view, stopped="the deadline is over")).kind == "passed"


@pytest.mark.parametrize(
    ("kind", "reason", "line"),
    [
        (StopKind.BUDGET, "the budget max_tokens = 9 is reached", "Go on with: maxproof resume RUN --max-tokens …"),
        (StopKind.BUDGET, "the deadline_s of 9 s is over", "Go on with: maxproof resume RUN --deadline …"),
        (StopKind.ENDPOINT, "gone", "Go on with: maxproof resume RUN"),
    ],
)
def test_a_stopped_run_says_how_to_go_on(kind, reason, line):
    view = view_of(standing(0, {}), winner=0, stop=StopReason.NOT_RUN, stopped=reason, stop_kind=kind)
    assert outcome(view).details[-1] == line
    assert not any("resume" in said for said in outcome(replace(passed_view(), stopped=reason, stop_kind=kind)).details)


@pytest.mark.parametrize(
    ("points", "planned", "state", "headline"),
    [
        ([(1,), (7,), (7,)], 3, "failed", "Failed: the lowest of 3 verifications is 1 of 7 points."),
        ([(6,)], 1, "failed", "Failed: 6 of 7 points."),
        ([(6,)], 3, "failed", "Failed: 6 of 7 points; 2 of 3 not run."),
        ([(7,), (7,)], 2, "passed", "Passed: all 2 verifications gave 7 of 7 points."),
        ([(7,)], 1, "passed", "Passed: 7 of 7 points."),
        ([(7,)], 3, "partly_run", "Partly run: 1 of 3 verifications, 1 passed; this is no verdict."),
        ([], 1, "partly_run", "Partly run: 0 of 1 verification, 0 passed; this is no verdict."),
        ([(7,), (None,)], 2, "not_scored", "Not scored: 1 of 2 verifications, which says nothing about the proof."),
    ],
)
def test_the_verdict_over_all_verifications(points, planned, state, headline):
    said = overall({k: verification(k, *values) for k, values in enumerate(points)}, planned)
    assert (said.state, said.headline) == (state, headline)
    assert said.points == {"passed": 7, "failed": min((p[0] for p in points if p[0]), default=None)}.get(state)
