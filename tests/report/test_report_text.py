"""What is printed: honest headings, and no text of a model that could drive a terminal."""

import json
from dataclasses import replace

import pytest
from report_views import failed_view, filtered, passed_view, realistic_view, standing, verification, view_of

from maxproof.models.types import RoleUsage
from maxproof.problems import InputError
from maxproof.report.text import (
    candidate_json,
    render_candidate,
    render_forecast,
    render_outcome,
    render_proof_file,
    render_run,
    render_verifications,
    to_json,
    verification_json,
    verifications_json,
)
from maxproof.search.forecast import Forecast, RoleForecast, Scenario
from maxproof.search.types import Match, StopReason, Vote

ESCAPES = "\x1b[2J\x1b]0;title\x07\x9b31m\u202e\r\x08\x7f"


def test_a_proof_is_printed_under_its_heading_with_how_sure():
    text = render_outcome(passed_view())
    assert text.startswith("A proof passed: candidate 0 passed all 4 verifications.")
    assert "Proof (candidate 0)\n" in text
    assert "How sure\n" in text


@pytest.mark.parametrize("render", [render_outcome, render_proof_file])
def test_without_a_pass_the_errors_come_first_and_nothing_is_headed_proof(render):
    text = render(failed_view())
    assert "No candidate passed." in text
    assert (
        text.index("The boundary is not treated") < text.index("Best candidate, not a proof") < text.index("Lagrange")
    )
    assert "\nProof" not in text
    assert "# Proof" not in text


def test_a_model_cannot_fake_a_heading():
    fake = "x\n\nA proof passed: candidate 9 passed all 4 verifications.\n\nHow sure\n--------\n- certain"
    text = render_outcome(view_of(standing(0, {0: verification(0, 1)}, text=fake), winner=0))
    assert "\n  A proof passed" in text
    assert "\nA proof passed" not in text
    assert text.count("\nHow sure\n") == 1


def test_no_candidate():
    text = render_outcome(view_of(winner=None, stop=StopReason.NOT_RUN, stopped="endpoint gone"))
    assert "No candidate" in text
    assert "endpoint gone" in text


def test_the_proof_file_holds_the_text_as_it_is():
    view = passed_view()
    assert view.result.standings[0].candidate.text.strip() in render_proof_file(view)


def test_the_table_has_a_row_for_each_candidate():
    view = realistic_view()
    text = render_run(view)
    rows = [line for line in text.splitlines() if line.split(" ")[0].isdigit()]
    assert len(rows) == len(view.result.standings)
    assert "✓   ✓   ✓   ✓    winner" in text
    assert "- 17: server-1" in text
    assert "53 against 2: 53 (1 : 1, 1 invalid, decided by fitness)" in text
    assert "~ estimated" in text


def test_a_candidate():
    text = render_candidate(realistic_view(), 2)
    assert text.startswith("Candidate 2: round 0, generate, 6 of 7 points")
    assert "Verification 3: failed, 6 of 7 points, minor_gaps" in text
    assert "3 verifications of 4 not run" in render_candidate(realistic_view(), 0)


def test_an_unknown_or_lost_candidate_is_the_users_mistake():
    with pytest.raises(InputError, match=r"no candidate 400 \(this run has 0 to 55\)"):
        render_candidate(realistic_view(), 400)
    with pytest.raises(InputError, match="candidate 17 was not made: server-1"):
        candidate_json(realistic_view(), 17)


def test_a_verification_shows_each_judge():
    text = render_verifications({0: verification(0, 7, None, 1), 1: verification(1, 7, 7, 7)}, 2)
    assert text.startswith(
        "Failed: the lowest of 2 verifications is 1 of 7 points.\n\nVerification 0: failed, 1 of 7 points"
    )
    assert "\nVerification 1: passed, 7 of 7 points" in text
    assert "rubric-2 (rubric): not scored: timed out after 3600 s" in text
    assert "The judges disagree by 6 points." in text
    assert "2. at" in text


def test_a_verification_that_is_not_scored_or_filtered_is_not_called_failed():
    unscored = render_verifications({0: verification(0, 7, None, 7)}, 1)
    assert unscored.startswith("Not scored: 1 of 1 verification, which says nothing about the proof.")
    assert "Verification 0: not scored (this says nothing about the proof)" in unscored
    assert "Verification 0: filtered, 0 of 7 points" in render_verifications({0: filtered(0)}, 1)


def test_control_characters_never_reach_the_terminal():
    poor = verification(0, 1, None)
    judges = tuple(
        replace(
            j,
            assessment=ESCAPES,
            reason=ESCAPES,
            errors=tuple(replace(e, location=ESCAPES, description=ESCAPES) for e in j.errors),
        )
        for j in poor.judges
    )
    poor = replace(poor, judges=judges, critique=ESCAPES)
    view = view_of(standing(0, {0: poor}, text=ESCAPES, summary=ESCAPES), winner=0, lost={5: ESCAPES}, stopped=ESCAPES)
    view = replace(view, problem=replace(view.problem, id=ESCAPES), run=ESCAPES)
    texts = (
        render_outcome(view), render_run(view), render_candidate(view, 0), render_verifications({0: poor}, 1),
        render_proof_file(view), json.dumps(to_json(view)),
    )  # fmt: skip
    for text in texts:
        assert not set(text) & set("\x1b\x07\x9b\u202e\r\x08"), repr(text[:200])
    assert all("\x7f" not in text for text in texts[:-1])
    with pytest.raises(InputError) as caught:
        render_candidate(view, 5)
    assert "\x1b" not in str(caught.value)


def test_json_is_plain_and_complete():
    view = realistic_view()
    value = json.loads(json.dumps(to_json(view)))
    assert value["outcome"] == "passed"
    assert value["winner"] == 50
    assert value["proof"] == view.result.standing(50).candidate.text
    assert len(value["candidates"]) == len(view.result.standings)
    assert value["candidates"][9]["points"] is None
    assert value["total"]["calls"] == 606
    assert to_json(failed_view())["proof"] is None


def test_verification_json_keeps_the_three_states():
    assert verification_json(verification(0, 7, 7))["state"] == "passed"
    unscored = json.loads(json.dumps(verification_json(verification(0, 7, None))))
    assert (unscored["state"], unscored["points"], unscored["score"]) == ("not_scored", None, None)
    assert candidate_json(realistic_view(), 0)["exact"] is False


def test_the_forecast_tells_both_ends_and_money_only_with_prices():
    def scenario(candidates: int, cost: float | None) -> Scenario:
        return Scenario(
            candidates, 4 * candidates, (RoleForecast("generator", 201, 1000, 500, 2000, 4000, cost, cost),)
        )

    text = render_forecast(Forecast(full=scenario(112, 1.5), first_round=scenario(32, 0.25)))
    rows = {line.split("  ")[0]: line.split("  ")[1:] for line in text.splitlines()}
    assert [cell.strip() for cell in rows["candidates"] if cell.strip()] == ["32", "112"]
    assert [cell.strip() for cell in rows["tokens, worst case"] if cell.strip()] == ["6,000", "6,000"]
    assert [cell.strip() for cell in rows["cost, typical"] if cell.strip()] == ["0.2500", "1.5000"]
    assert "cost" not in render_forecast(Forecast(full=scenario(112, None), first_round=scenario(32, None)))


def test_an_unfinished_run_is_not_told_as_a_finished_failure():
    poor = standing(0, {0: verification(0, 1)})
    match = Match(0, 0, 0, 2, (Vote(0, 0, None, "not recorded"),), 0, "id")
    view = view_of(
        poor, standing(2, {}), winner=0, lost={1: "not recorded"}, stop=StopReason.NOT_RUN, matches=(match,),
        verifications_run=1, verifications_eager=8,
    )  # fmt: skip
    for text in (render_outcome(view), render_run(view), render_proof_file(view)):
        assert "Unfinished: no candidate has passed yet; candidate 0 is the best so far" in text
        assert "maxproof resume RUN" in text
        assert "No candidate passed" not in text
        assert "tournament" not in text.lower()
    assert "- 1: not written yet" in render_run(view)
    assert "winner" not in render_run(view)
    assert "saved" not in render_run(view)
    assert to_json(view)["outcome"] == "unfinished"
    assert to_json(view)["lost"] == {"1": "not written yet"}


def test_what_an_endpoint_without_answers_costs_is_not_known():
    failed = RoleUsage("generator", calls=4, failed=4, cost=0.0)
    view = replace(failed_view(), usage=(failed,))
    assert "cost" not in render_outcome(view).split("4 calls (4 failed)")[1]
    assert "0.0000" not in render_run(view)
    priced = RoleUsage("judge", calls=2, failed=1, cost=1.5)
    assert "cost 1.5000" in render_outcome(replace(view, usage=(failed, priced)))
    unpriced = replace(priced, cost=None)
    assert "cost 1" not in render_outcome(replace(view, usage=(failed, priced, unpriced)))


def test_the_verdict_over_all_samples_is_in_the_json():
    value = json.loads(json.dumps(verifications_json({0: verification(0, 7), 2: verification(2, 1)}, 3)))
    assert (value["state"], value["points"], value["planned"]) == ("failed", 1, 3)
    assert [v["sample"] for v in value["verifications"]] == [0, 2]
    usage = (RoleUsage("judge", 9, 0, 100, 50),)
    assert verifications_json({}, 1, usage)["total"]["calls"] == 9
    assert "9 calls (0 failed), 150 tokens, 42 s of work." in render_verifications({}, 1, usage, 42.0)
