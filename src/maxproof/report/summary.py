"""A run in plain words: the outcome, how sure it is, and the errors known. HTML and terminal say the same sentences.

Nothing here is escaped: whoever writes the words out does that, for HTML or for a terminal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from maxproof.lab.types import OracleReport, StepVerdict
from maxproof.models.caller import NOT_RECORDED
from maxproof.models.types import StopKind
from maxproof.report.view import RunView
from maxproof.search.types import Match, SearchResult, Standing, StopReason, Vote
from maxproof.verifier.types import MAX_POINTS, ScoreState, Verification

CellState = Literal["passed", "failed", "not_scored", "filtered", "not_run"]

SYMBOLS: dict[CellState, str] = {"passed": "✓", "failed": "✗", "not_scored": "?", "filtered": "⊘", "not_run": "·"}
MEANINGS: dict[CellState, str] = {
    "passed": "passed",
    "failed": "failed (points)",
    "not_scored": "not scored",
    "filtered": "filtered before any judge",
    "not_run": "not run",
}

NOT_WRITTEN = "not written yet"
UNREADABLE = "the ranker's reply could not be read"

_STOPS = {
    StopReason.PERFECT: "The rounds ended early: enough candidates passed all their verifications.",
    StopReason.ROUNDS: "All refinement rounds were run.",
    StopReason.NO_PARENTS: "The rounds ended early: no candidate was left that could be refined.",
    StopReason.NOT_RUN: "The rounds ended early: a call could not be run.",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run: `headline` in one sentence, `details` in further ones."""

    kind: Literal["passed", "not_passed", "no_candidate", "unfinished"]
    headline: str
    details: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KnownError:
    """An error that judges reported; `found_by` lists who and in which samples, e.g. `free (samples 0, 2)`."""

    location: str
    description: str
    found_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """One place of the verdict matrix: candidate x sample."""

    state: CellState
    points: float | None = None
    reason: str = ""

    @property
    def label(self) -> str:
        """The symbol, with the points of a failure: `✓`, `✗ 1`, `?`, `⊘`, `·`."""
        symbol = SYMBOLS[self.state]
        return f"{symbol} {points_text(self.points)}" if self.state == "failed" else symbol


def outcome(view: RunView) -> Outcome:
    """The outcome; only `SearchResult.passed` makes it "passed"."""
    result = view.result
    if unfinished(view):
        return _unfinished(result)
    ended = [f"The run was stopped: {view.stopped}", *_go_on(view)] if view.stopped else [_STOPS[result.stop]]
    if result.winner is None:
        why = f" All {count(len(result.lost), 'attempt')} failed." if result.lost else ""
        return Outcome("no_candidate", f"No candidate: not one proof attempt could be made.{why}", tuple(ended))
    best = result.standing(result.winner)
    if result.passed:
        headline = f"A proof passed: candidate {result.winner} passed {_what_passed(best)}."
        return Outcome("passed", headline, tuple(ended))
    others = _passed_others(result)
    if others:
        headline = (
            f"No proof is returned: the tournament chose candidate {result.winner}, which did not pass, over "
            f"{_ids(others)}, which did."
        )
    else:
        headline = f"No candidate passed. Candidate {result.winner} is the best one found; it is not a proof."
    return Outcome("not_passed", headline, (_why_not_passed(best), *ended))


def unfinished(view: RunView) -> bool:
    """The run is going on, or was killed or interrupted: calls are missing and no reason for that is recorded."""
    missing = (vote.reason == NOT_RECORDED for match in view.result.matches for vote in match.votes)
    return not view.stopped and (view.result.stop is StopReason.NOT_RUN or any(missing))


def winner_name(view: RunView) -> str:
    """What the winner is to be called: no tournament has chosen it while the run is unfinished."""
    return "best so far" if unfinished(view) else "winner"


def shown_matches(view: RunView) -> tuple[Match, ...]:
    """The tournament, without the matches of an unfinished run that no vote was asked for yet."""
    if not unfinished(view):
        return view.result.matches
    return tuple(m for m in view.result.matches if any(vote.reason != NOT_RECORDED for vote in m.votes))


def _unfinished(result: SearchResult) -> Outcome:
    if result.winner is None:
        found = "no candidate is written yet"
    elif result.passed:
        best = result.standing(result.winner)
        found = f"candidate {result.winner} has passed {_what_passed(best)}"
    elif result.standing(result.winner).fitness is None:
        found = "no candidate is scored yet"
    else:
        found = f"no candidate has passed yet; candidate {result.winner} is the best so far, which is not a proof"
    details = ("The run is still going on, or it was killed or interrupted.",)
    return Outcome("unfinished", f"Unfinished: {found}. If it has ended, go on with maxproof resume RUN.", details)


def _what_passed(best: Standing) -> str:
    """Of a perfect candidate: by majority it may have failed some."""
    passed = sum(v.state is ScoreState.PASSED for v in best.verifications.values())
    if passed < best.planned:
        return f"{passed} of {count(best.planned, 'verification')}, which is a majority"
    return f"all {count(best.planned, 'verification')}" if best.planned > 1 else "its verification"


def _go_on(view: RunView) -> list[str]:
    if view.result.passed or view.stop_kind is StopKind.NONE:
        return []
    return [go_on_line(view.stop_kind, view.stopped)]


def go_on_line(kind: StopKind, reason: str, run: str = "RUN") -> str:
    """How to go on with a stopped run: a budget needs a higher limit, anything else just another try."""
    limits = ("--max-calls", "--max-tokens", "--max-cost", "--deadline")
    named = [limit for limit in limits if limit.strip("-").replace("-", "_") in reason]
    flag = f" {(named or limits)[0]} …" if kind is StopKind.BUDGET else ""
    return f"Go on with: maxproof resume {run}{flag}"


@dataclass(frozen=True, slots=True)
class Overall:
    """What all the verifications of one proof say together; `points` 0..7, None unless passed or failed."""

    state: Literal["passed", "failed", "not_scored", "partly_run"]
    points: float | None
    headline: str


def overall(verifications: Mapping[int, Verification], planned: int) -> Overall:
    """The verdict over `planned` >= 1 samples: the lowest counts, so a failed one decides even if some are missing.

    It is passed only if all of them were run, scored and passed.
    """
    run = len(verifications)
    failed = [v.points for v in verifications.values() if v.state is ScoreState.FAILED and v.points is not None]
    missing = f"; {planned - run} of {planned} not run" if run < planned else ""
    if failed:
        low = min(failed)
        lowest = f"the lowest of {count(run, 'verification')} is " if run > 1 else ""
        return Overall("failed", low, f"Failed: {lowest}{points_text(low)} of {MAX_POINTS} points{missing}.")
    passed = sum(v.state is ScoreState.PASSED for v in verifications.values())
    if run < planned:
        said = f"Partly run: {run} of {count(planned, 'verification')}, {passed} passed; this is no verdict."
        return Overall("partly_run", None, said)
    if passed < run:
        said = f"Not scored: {run - passed} of {count(run, 'verification')}, which says nothing about the proof."
        return Overall("not_scored", None, said)
    each = f"all {run} verifications gave " if run > 1 else ""
    return Overall("passed", float(MAX_POINTS), f"Passed: {each}{MAX_POINTS} of {MAX_POINTS} points.")


def lost_slots(result: SearchResult) -> list[tuple[int, str]]:
    """The slots without a candidate by id, each with the reason."""
    return [(n, NOT_WRITTEN if why == NOT_RECORDED else why) for n, why in sorted(result.lost.items())]


def how_sure(view: RunView) -> tuple[str, ...]:
    """What speaks for the winner and what does not, one sentence each; empty without a winner."""
    result = view.result
    if result.winner is None:
        return ()
    best = result.standing(result.winner)
    tournament = "" if unfinished(view) else _tournament_line(result)
    lines = [_verifications_line(best), _judges_line(best), tournament]
    others = _passed_others(result)
    lines.append(f"Also passed: {_ids(others)}." if others else "No other candidate passed.")
    lines.append(
        "What it rests on: the judges that were configured. A pass means that they found no error; it is not a formal "
        "verification."
    )
    if view.oracle is not None:
        lines.append(f"{oracle_line(view.oracle)} It had no part in the search, nor in this outcome.")
    return tuple(line for line in lines if line)


def oracle_line(report: OracleReport) -> str:
    """What the lab's exact oracle says of a text: verdict, points, and the first sentence that is wrong or a leap."""
    bad = (StepVerdict.FALSE, StepVerdict.LEAP, StepVerdict.UNREADABLE)
    first = next((f"; sentence {n} is {s.verdict}" for n, s in enumerate(report.sentences, 1) if s.verdict in bad), "")
    goal = "" if report.goal or first else "; the goal is not reached"
    return f"Exact oracle of the lab: {report.verdict}, {report.points:g} of {MAX_POINTS} points{first}{goal}."


def known_errors(standing: Standing) -> tuple[KnownError, ...]:
    """The errors reported in a candidate, first found first; the same error from several judges is listed once."""
    found: dict[tuple[str, str], dict[str, list[int]]] = {}
    for sample, verification in sorted(standing.verifications.items()):
        reports = [("filter", f"rule {hit.rule}", hit.evidence) for hit in verification.bad_cases]
        reports += [(view.judge, e.location, e.description) for view in verification.judges for e in view.errors]
        for who, location, description in reports:
            found.setdefault((location, description), {}).setdefault(who, []).append(sample)
    return tuple(
        KnownError(
            location,
            description,
            tuple(f"{who} ({_samples(list(dict.fromkeys(samples)))})" for who, samples in by.items()),
        )
        for (location, description), by in found.items()
    )


def cells(standing: Standing) -> tuple[Cell, ...]:
    """The candidate's row of the verdict matrix, one cell for each planned sample."""
    width = max([standing.planned, *(k + 1 for k in standing.verifications)])
    return tuple(cell(standing.verifications.get(k)) for k in range(width))


def cell(verification: Verification | None) -> Cell:
    """A sample's cell; None is a sample that was not run."""
    if verification is None:
        return Cell("not_run")
    if verification.bad_cases:
        return Cell("filtered", verification.points, "; ".join(hit.evidence for hit in verification.bad_cases))
    if verification.state is ScoreState.NOT_SCORED:
        reasons = (f"{view.judge}: {view.reason}" for view in verification.judges if view.reason)
        return Cell("not_scored", None, "; ".join(reasons))
    if verification.state is ScoreState.PASSED:
        return Cell("passed", verification.points)
    return Cell("failed", verification.points, verification.verdict.value if verification.verdict else "")


def fitness_text(standing: Standing) -> str:
    """`7`, `≤ 6` while an upper bound, `?` when verified but not scored, `·` when not verified."""
    if standing.fitness is None:
        return "?" if standing.verifications else "·"
    return points_text(standing.fitness) if standing.exact else f"≤ {points_text(standing.upper_bound)}"


def filtered(standing: Standing) -> bool:
    """Layer 1 turned the candidate down: no judge saw it."""
    return any(verification.bad_cases for verification in standing.verifications.values())


def lazy_saving(view: RunView) -> str:
    """What lazy verification saved, as a sentence; "" when nothing is known of it, or when calls are missing."""
    if view.verifications_eager <= 0 or view.result.stop is StopReason.NOT_RUN:
        return ""
    saved = max(0, view.verifications_eager - view.verifications_run)
    share = round(100 * saved / view.verifications_eager)
    calls = saved * view.judge_calls_per_verification
    return (
        f"Lazy verification ran {view.verifications_run:,} of the {view.verifications_eager:,} verifications that the "
        f"eager search would have run: {saved:,} saved ({share} %), about {count(calls, 'judge call')}."
    )


def match_tally(match: Match, stopped: str = "") -> str:
    """The valid votes of a match, the winner's first, and what decided it: `1 : 1, 1 invalid, decided by fitness`.

    `stopped` is what ended the run early: it tells votes that were not asked from votes that got no answer.
    """
    won = sum(vote.choice == match.winner for vote in match.votes)
    valid = [vote for vote in match.votes if vote.choice is not None]
    parts = [f"{won} : {len(valid) - won}"]
    states = [vote_state(vote, stopped) for vote in match.votes]
    parts += [f"{states.count(state)} {state}" for state in ("invalid", "unanswered", "not run") if state in states]
    if match.decided_by != "votes":
        one_position = len({vote.choice == vote.first for vote in valid}) == 1 and len({v.first for v in valid}) == 2
        why = "every valid vote picked the same position, " if one_position else ""
        parts.append(f"{why}decided by {'fitness' if match.decided_by == 'fitness' else 'lower id'}")
    return ", ".join(parts)


def vote_state(vote: Vote, stopped: str = "") -> Literal["valid", "invalid", "unanswered", "not run"]:
    """`invalid`: the reply could not be read; `unanswered`: the call failed; `not run`: it was never asked."""
    if vote.choice is not None:
        return "valid"
    if vote.reason == NOT_RECORDED or (stopped and vote.reason == stopped):
        return "not run"
    return "invalid" if vote.reason in ("", UNREADABLE) else "unanswered"


def points_text(points: float | None) -> str:
    """Points without needless zeros; `?` for None."""
    return "?" if points is None else f"{points:g}"


def count(number: int, noun: str, plural: str = "") -> str:
    """`1 call`, `2 calls`, `1,000 matches`; the plural is the noun with an s unless given."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def duration(seconds: float) -> str:
    """`42 s`, `3 min 05 s`, `2 h 07 min`."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def _ids(standings: Iterable[Standing]) -> str:
    ids = [standing.candidate.id for standing in standings]
    return f"candidate{'' if len(ids) == 1 else 's'} {', '.join(map(str, ids))}"


def _passed_others(result: SearchResult) -> list[Standing]:
    return [s for s in result.standings if s.perfect and s.candidate.id != result.winner]


def _why_not_passed(best: Standing) -> str:
    states = [cell(verification).state for verification in best.verifications.values()]
    if "filtered" in states:
        return "It was filtered before any judge saw it."
    if not states:
        return "None of its verifications was run, so nothing is known of its errors."
    if "failed" in states:
        errors = len(known_errors(best))
        known = f"; {count(errors, 'error')} known" if errors else ""
        return f"It failed {states.count('failed')} of {count(len(states), 'verification')}{known}."
    if "not_scored" in states:
        return (
            f"{states.count('not_scored')} of its {count(len(states), 'verification')} could not be scored, and a "
            "candidate passes only with all of them scored."
        )
    return f"Only {len(states)} of its {count(best.planned, 'verification')} were run; those passed."


def _verifications_line(best: Standing) -> str:
    states = [c.state for c in cells(best)]
    named = [f"{states.count(state)} {MEANINGS[state].split(' (')[0]}" for state in MEANINGS if state in states]
    return f"Verifications: {', '.join(named)}, of {best.planned} planned."


def _judges_line(best: Standing) -> str:
    views = [view for verification in best.verifications.values() for view in verification.judges]
    if not views:
        return ""
    scored = [view.points for view in views if view.points is not None]
    missing = f"; {len(views) - len(scored)} not scored" if len(scored) < len(views) else ""
    if not scored:
        return f"Judges: {count(len(views), 'view')}, none scored."
    low, high = min(scored), max(scored)
    largest = max(verification.disagreement for verification in best.verifications.values())
    if low == high:
        said = f"all scored ones gave {points_text(low)} of {MAX_POINTS} points"
    else:
        said = f"from {points_text(low)} to {points_text(high)} of {MAX_POINTS} points"
    return (
        f"Judges: {count(len(views), 'view')}, {said}{missing}; largest disagreement within one verification: "
        f"{count_points(largest)}."
    )


def count_points(points: float) -> str:
    """`1 point`, `6.5 points`."""
    return f"{points_text(points)} point{'' if points == 1 else 's'}"


def _tournament_line(result: SearchResult) -> str:
    played = [match for match in result.matches if result.winner in (match.left, match.right)]
    if not played:
        return "Tournament: none; there was one finalist." if len(result.finalists) <= 1 else "Tournament: none."
    valid = [vote for match in played for vote in match.votes if vote.choice is not None]
    won = sum(vote.choice == result.winner for vote in valid)
    broken = sum(match.decided_by != "votes" for match in played)
    ties = f"; {count(broken, 'match', 'matches')} decided by a tie-break" if broken else ""
    matches = count(len(played), "match", "matches")
    return f"Tournament: won {matches}, with {won} of {count(len(valid), 'valid vote')}{ties}."


def _samples(numbers: list[int]) -> str:
    return f"sample{'' if len(numbers) == 1 else 's'} {', '.join(map(str, numbers))}"
