"""A run in the terminal: plain text, and the same as plain dicts for `--json`.

Every text that a model or a file wrote has its control and hidden characters made visible, so that no answer can move
the cursor, change colours or set a window title. The strings hold no markup: print them as they are.
What a model wrote is indented and cut to the terminal's width (`layout.py`): what stands at the margin is ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from textwrap import indent
from typing import Any

from maxproof.models.template import visible
from maxproof.models.types import RoleUsage
from maxproof.problems import InputError
from maxproof.report.layout import WIDTH, cell_width, filled, listed, one_line, quoted, shortened, table, terminal_width
from maxproof.report.summary import (
    KnownError,
    cell,
    cells,
    count,
    count_points,
    duration,
    fitness_text,
    how_sure,
    known_errors,
    lazy_saving,
    lost_slots,
    match_tally,
    outcome,
    overall,
    points_text,
    shown_matches,
    unfinished,
    winner_name,
)
from maxproof.report.tables import total_usage, usage_rows
from maxproof.report.view import RunView
from maxproof.search.forecast import Forecast
from maxproof.search.types import Standing
from maxproof.verifier.types import MAX_POINTS, JudgeView, ScoreState, Verification

_STATES = {ScoreState.PASSED: "passed", ScoreState.FAILED: "failed", ScoreState.NOT_SCORED: "not scored"}


def render_forecast(estimate: Forecast) -> str:
    """What `maxproof prove` prints before its first call: calls, tokens and money for a stop at round 0 and at the end.

    Calls are ceilings but for one re-ask of each unreadable reply; money is left out where prices are missing.
    """
    ways = (estimate.first_round, estimate.full)
    rows = [
        ("Forecast", "stop at round 0", "all rounds"),
        ("candidates", *(f"{way.candidates:,}" for way in ways)),
        ("calls, without re-asks", *(f"{way.calls:,}" for way in ways)),
        ("tokens, typical", *(f"{way.tokens:,}" for way in ways)),
        ("tokens, worst case", *(f"{way.worst_tokens:,}" for way in ways)),
        ("cost, typical", *(_money(way.cost) for way in ways)),
        ("cost, worst case", *(_money(way.worst_cost) for way in ways)),
    ]
    if all(way.cost is None for way in ways):
        rows = rows[:-2]
    return table(rows)


def render_outcome(view: RunView) -> str:
    """What `maxproof prove` prints: the outcome, the proof (or the best candidate with its errors), how sure, cost.

    Only a proof that passed stands under the heading "Proof".
    """
    said = outcome(view)
    parts = [_paragraphs(said.headline, *said.details)]
    if view.result.winner is not None:
        best = view.result.standing(view.result.winner)
        if view.result.passed:
            parts.append(
                _section(f"Proof (candidate {best.candidate.id})", quoted(best.candidate.text, terminal_width()))
            )
        else:
            errors = known_errors(best)
            parts.append(_section("Known errors of the best candidate", _errors(errors) or "none located"))
            parts.append(
                _section(
                    f"Best candidate, not a proof (candidate {best.candidate.id})",
                    quoted(best.candidate.text, terminal_width()),
                )
            )
        parts.append(_section("How sure", listed(how_sure(view), terminal_width())))
    used = _cost_line(view.usage, view.elapsed_s)
    if used:
        parts.append(used)
    return visible("\n\n".join(parts))


def render_proof_file(view: RunView) -> str:
    """The run folder's `proof.md`: the outcome, then the proof, or the best candidate after its known errors."""
    said = outcome(view)
    parts = [f"# {one_line(view.problem.id)}", said.headline, *said.details]
    if view.result.winner is not None:
        best = view.result.standing(view.result.winner)
        if view.result.passed:
            parts.append("## Proof")
        else:
            errors = known_errors(best)
            parts += [
                "## Known errors",
                _errors(errors, WIDTH) or "None located.",
                "## Best candidate, not a proof",
            ]
        parts.append(best.candidate.text.strip("\n"))
    return visible("\n\n".join(parts)) + "\n"


def render_run(view: RunView) -> str:
    """What `maxproof show` prints: the outcome and a table of all candidates, rounds, matches and costs."""
    result = view.result
    said = outcome(view)
    width = terminal_width()
    parts = [_paragraphs(f"{view.run}: {view.problem.id}"), _paragraphs(said.headline, *said.details)]
    if result.standings:
        ordered = sorted(result.standings, key=lambda s: s.candidate.id)
        rows = [
            (
                str(s.candidate.id),
                str(s.candidate.slot.round),
                s.candidate.slot.origin,
                "" if s.candidate.slot.parent is None else str(s.candidate.slot.parent),
                fitness_text(s),
                " ".join(f"{c.label:<3}" for c in cells(s)).rstrip(),
                _place(s, view),
            )
            for s in ordered
        ]
        head = ("id", "round", "origin", "parent", "points", "samples", "")
        plain = table([head, *rows]).split("\n")
        room = width - 2 - max(map(cell_width, plain))
        summaries = ["summary", *(s.summary for s in ordered)]
        lines = zip(plain, summaries, strict=True)
        parts.append(table([(line, shortened(summary, min(room, 60))) for line, summary in lines]))
        parts.append(_paragraphs("samples: ✓ passed, ✗ failed with points, ? not scored, ⊘ filtered, · not run"))
    if result.lost:
        parts.append(_section("Without a candidate", listed((f"{n}: {why}" for n, why in lost_slots(result)), width)))
    if result.rounds:
        closed = (
            f"round {r.number}: {count(len(r.added), 'candidate')} added, best {points_text(r.best)} of {MAX_POINTS}, "
            f"{len(r.perfect)} passed" + (f"; parents {', '.join(map(str, r.parents))}" if r.parents else "")
            for r in result.rounds
        )
        parts.append(_section("Rounds", listed(closed, width)))
    matches = shown_matches(view)
    if matches:
        played = (f"{m.left} against {m.right}: {m.winner} ({match_tally(m, view.stopped)})" for m in matches)
        parts.append(_section("Tournament", listed(played, width)))
    parts.append(
        _section("Cost", "\n".join(filter(None, [_usage(view), _paragraphs(lazy_saving(view))])) or "no call recorded")
    )
    return visible("\n\n".join(parts))


def _place(standing: Standing, view: RunView) -> str:
    number = standing.candidate.id
    if number == view.result.winner:
        return winner_name(view)
    return "final" if number in view.result.finalists and not unfinished(view) else ""


def render_candidate(view: RunView, candidate: int) -> str:
    """What `maxproof show --candidate ID` prints. Raises InputError for an id that the run does not have."""
    standing = find_candidate(view, candidate)
    slot = standing.candidate.slot
    origin = slot.origin if slot.parent is None else f"{slot.origin} of {slot.parent}"
    parts = [
        f"Candidate {candidate}: round {slot.round}, {origin}, {fitness_text(standing)} of {MAX_POINTS} points"
        + (f", the {winner_name(view)}" if candidate == view.result.winner else ""),
    ]
    if standing.summary:
        parts.append(quoted(standing.summary, terminal_width()))
    errors = known_errors(standing)
    parts.append(_section("Known errors", _errors(errors) or "none reported"))
    parts += [
        _section(f"Verification {sample}: {_verdict_line(verification)}", _judges(verification, brief=True))
        for sample, verification in sorted(standing.verifications.items())
    ]
    missing = standing.planned - len(standing.verifications)
    if missing > 0:
        parts.append(f"{count(missing, 'verification')} of {standing.planned} not run")
    parts.append(_section("Text", quoted(standing.candidate.text, terminal_width())))
    return visible("\n\n".join(parts))


def find_candidate(view: RunView, candidate: int) -> Standing:
    """The candidate's standing. Raises InputError, saying why it is not there."""
    for standing in view.result.standings:
        if standing.candidate.id == candidate:
            return standing
    if candidate in view.result.lost:
        raise InputError(
            f"candidate {candidate} was not made: {visible(dict(lost_slots(view.result))[candidate])}",
            field="--candidate",
        )
    ids = sorted(s.candidate.id for s in view.result.standings)
    known = f"this run has {ids[0]} to {ids[-1]}" if ids else "this run has no candidate"
    raise InputError(f"no candidate {candidate}", field="--candidate", hint=known)


def render_verifications(
    verifications: Mapping[int, Verification], planned: int, usage: Sequence[RoleUsage] = (), elapsed_s: float = 0.0
) -> str:
    """What `maxproof verify` prints: the verdict over all `planned` samples, then each sample, then what it cost.

    A sample has its verdict, points, located errors, and each judge's view.
    """
    parts = [_paragraphs(overall(verifications, planned).headline)]
    parts += [_section(f"Verification {k}: {_verdict_line(v)}", _sample(v)) for k, v in sorted(verifications.items())]
    used = _cost_line(usage, elapsed_s)
    return visible("\n\n".join([*parts, used] if used else parts))


def _sample(verification: Verification) -> str:
    notes = [f"Filtered before any judge ({h.family}, rule {h.rule}): {h.evidence}" for h in verification.bad_cases]
    if verification.disagreement:
        notes.append(f"The judges disagree by {count_points(verification.disagreement)}.")
    if verification.normalisation and verification.normalisation.fallback:
        notes.append(f"Style normalisation fell back: {verification.normalisation.fallback}")
    judges = [_judges(verification, brief=False)] if verification.judges else []
    return "\n\n".join([*([_paragraphs(*notes)] if notes else []), *judges])


def to_json(view: RunView) -> dict[str, Any]:
    """The run as plain dicts and lists; texts are verbatim (`json.dumps` escapes what a terminal must not see).

    `outcome` is `passed`, `not_passed`, `no_candidate` or `unfinished`; points are 0..7 or null for not scored.
    """
    result = view.result
    said = outcome(view)
    return {
        "run": view.run,
        "version": view.version,
        "problem": asdict(view.problem),
        "outcome": said.kind,
        "headline": said.headline,
        "details": list(said.details),
        "how_sure": list(how_sure(view)),
        "stopped": view.stopped,
        "stop": result.stop.value,
        "winner": result.winner,
        "proof": result.standing(result.winner).candidate.text if result.winner is not None and result.passed else None,
        "oracle": None if view.oracle is None else asdict(view.oracle),
        "finalists": list(result.finalists),
        "candidates": [_standing_json(s) for s in sorted(result.standings, key=lambda s: s.candidate.id)],
        "lost": {str(number): reason for number, reason in lost_slots(result)},
        "rounds": [asdict(r) for r in result.rounds],
        "matches": [asdict(m) for m in result.matches],
        "usage": [asdict(u) for u in view.usage],
        "total": asdict(total_usage(view.usage)),
        "verifications": {"run": view.verifications_run, "eager": view.verifications_eager},
        "elapsed_s": view.elapsed_s,
        "settings": dict(view.settings),
    }


def candidate_json(view: RunView, candidate: int) -> dict[str, Any]:
    """One candidate as plain dicts; `exact` false: `points` is an upper bound. Raises InputError for an unknown id."""
    return _standing_json(find_candidate(view, candidate))


def _standing_json(standing: Standing) -> dict[str, Any]:
    slot = standing.candidate.slot
    return {
        "id": slot.id,
        "round": slot.round,
        "origin": slot.origin,
        "parent": slot.parent,
        "points": standing.fitness,
        "exact": standing.exact,
        "passed": standing.perfect,
        "summary": standing.summary,
        "text": standing.candidate.text,
        "verifications": [verification_json(v) for _, v in sorted(standing.verifications.items())],
        "planned": standing.planned,
    }


def verifications_json(
    verifications: Mapping[int, Verification], planned: int, usage: Sequence[RoleUsage] = ()
) -> dict[str, Any]:
    """The verdict over all samples and each of them: `state` is `passed`, `failed`, `not_scored` or `partly_run`."""
    said = overall(verifications, planned)
    return {
        "state": said.state,
        "points": said.points,
        "headline": said.headline,
        "planned": planned,
        "verifications": [verification_json(v) for _, v in sorted(verifications.items())],
        "usage": [asdict(row) for row in usage],
        "total": asdict(total_usage(usage)),
    }


def verification_json(verification: Verification) -> dict[str, Any]:
    """One verification as plain dicts."""
    return {**asdict(verification), "score": verification.score}


def _verdict_line(verification: Verification) -> str:
    said = cell(verification)
    if said.state == "filtered":
        return f"filtered, {points_text(verification.points)} of {MAX_POINTS} points"
    if verification.points is None:
        return "not scored (this says nothing about the proof)" + (f": {one_line(said.reason)}" if said.reason else "")
    verdict = f", {verification.verdict.value}" if verification.verdict else ""
    return f"{_STATES[verification.state]}, {points_text(verification.points)} of {MAX_POINTS} points{verdict}"


def _judges(verification: Verification, *, brief: bool) -> str:
    width = terminal_width()
    blocks = []
    for view in verification.judges:
        lines = [_paragraphs(_judge_line(view))]
        if not brief:
            errors = [KnownError(e.location, e.description, ()) for e in view.errors]
            if errors:
                lines.append(indent(_errors(errors, width - 2), "  "))
            if view.assessment:
                lines.append(quoted(view.assessment.strip(), width, "  | "))
        blocks.append("\n".join(lines))
    return ("\n" if brief else "\n\n").join(blocks) or "no judge was asked"


def _judge_line(view: JudgeView) -> str:
    if view.state is ScoreState.NOT_SCORED:
        return f"{view.judge} ({view.mode}): not scored: {one_line(view.reason) or 'no reason given'}"
    verdict = view.verdict.value if view.verdict else "no verdict"
    errors = f", {count(len(view.errors), 'error')}" if view.errors else ""
    return f"{view.judge} ({view.mode}): {points_text(view.points)} of {MAX_POINTS} points, {verdict}{errors}"


def _errors(errors: Sequence[KnownError], width: int = 0) -> str:
    lines = []
    for number, error in enumerate(errors, start=1):
        place = f'at "{error.location}": ' if error.location else ""
        by = f" [{'; '.join(error.found_by)}]" if error.found_by else ""
        text = f"{place}{error.description}{by}"
        lines.append(filled(text, width or terminal_width(), indent="   ", first=f"{number}. "))
    return "\n".join(lines)


def _cost_line(usage: Sequence[RoleUsage], elapsed_s: float) -> str:
    if not usage:
        return ""
    total = total_usage(usage)
    tokens = total.prompt_tokens + total.completion_tokens
    about = "about " if total.estimated else ""
    cost = "" if total.cost is None else f", cost {about}{total.cost:,.4f}"
    took = f", {duration(elapsed_s)} of work" if elapsed_s else ""
    return f"{count(total.calls, 'call')} ({total.failed} failed), {about}{count(tokens, 'token')}{cost}{took}."


def _usage(view: RunView) -> str:
    if not view.usage:
        return ""
    head = ("role", "calls", "failed", "prompt", "cached", "completion", "reasoning", "cost")
    rows = [head]
    for row in usage_rows(view.usage):
        about = "~" if row.estimated else ""
        cost = "-" if row.cost is None else about + _money(row.cost)
        tokens = (f"{about}{row.prompt_tokens:,}", f"{row.cached_tokens:,}", f"{about}{row.completion_tokens:,}")
        rows.append((row.role, f"{row.calls:,}", f"{row.failed:,}", *tokens, f"{row.reasoning_tokens:,}", cost))
    note = "\n~ estimated: a server sent no token counts" if any(row.estimated for row in view.usage) else ""
    return table(rows) + note


def _money(amount: float | None) -> str:
    return "no prices" if amount is None else f"{amount:,.4f}"


def _section(title: str, body: str) -> str:
    title = filled(title, terminal_width())
    return f"{title}\n{'-' * max(map(cell_width, title.splitlines()))}\n{body}"


def _paragraphs(*texts: str) -> str:
    return "\n".join(filled(text, terminal_width()) for text in texts)
