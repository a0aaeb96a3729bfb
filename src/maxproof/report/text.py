"""A run in the terminal: plain text, and the same as plain dicts for `--json`.

Every text that a model or a file wrote has its control and hidden characters made visible, so that no answer can move
the cursor, change colours or set a window title. The strings hold no markup: print them as they are.
A candidate's text is indented.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from maxproof.models.template import visible
from maxproof.problems import InputError
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
    match_tally,
    outcome,
    points_text,
)
from maxproof.report.tables import total_usage
from maxproof.report.view import RunView
from maxproof.search.forecast import Forecast
from maxproof.search.types import Standing
from maxproof.verifier.types import MAX_POINTS, JudgeView, ScoreState, Verification

WIDTH = 100
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
    return _table(rows)


def render_outcome(view: RunView) -> str:
    """What `maxproof prove` prints: the outcome, the proof (or the best candidate with its errors), how sure, cost.

    Only a proof that passed stands under the heading "Proof".
    """
    said = outcome(view)
    parts = ["\n".join([_wrap(said.headline), *(_wrap(line) for line in said.details)])]
    if view.result.winner is not None:
        best = view.result.standing(view.result.winner)
        if said.kind == "passed":
            parts.append(_section(f"Proof (candidate {best.candidate.id})", _quoted(best.candidate.text)))
        else:
            errors = known_errors(best)
            parts.append(_section("Known errors of the best candidate", _errors(errors) if errors else "none located"))
            parts.append(
                _section(f"Best candidate, not a proof (candidate {best.candidate.id})", _quoted(best.candidate.text))
            )
        parts.append(_section("How sure", _list(how_sure(view))))
    used = _cost_line(view)
    if used:
        parts.append(used)
    return visible("\n\n".join(parts))


def render_proof_file(view: RunView) -> str:
    """The run folder's `proof.md`: the outcome, then the proof, or the best candidate after its known errors."""
    said = outcome(view)
    parts = [f"# {_line(view.problem.id)}", said.headline, *said.details]
    if view.result.winner is not None:
        best = view.result.standing(view.result.winner)
        if said.kind == "passed":
            parts.append("## Proof")
        else:
            errors = known_errors(best)
            parts += [
                "## Known errors",
                _errors(errors) if errors else "None located.",
                "## Best candidate, not a proof",
            ]
        parts.append(best.candidate.text.strip("\n"))
    return visible("\n\n".join(parts)) + "\n"


def render_run(view: RunView) -> str:
    """What `maxproof show` prints: the outcome and a table of all candidates, rounds, matches and costs."""
    result = view.result
    said = outcome(view)
    parts = [f"{view.run}: {view.problem.id}", "\n".join([_wrap(said.headline), *map(_wrap, said.details)])]
    if result.standings:
        rows = [
            (
                str(s.candidate.id),
                str(s.candidate.slot.round),
                s.candidate.slot.origin,
                "" if s.candidate.slot.parent is None else str(s.candidate.slot.parent),
                fitness_text(s),
                " ".join(f"{c.label:<3}" for c in cells(s)).rstrip(),
                "winner" if s.candidate.id == result.winner else "final" if s.candidate.id in result.finalists else "",
                textwrap.shorten(visible(s.summary), 60, placeholder=" …"),
            )
            for s in sorted(result.standings, key=lambda s: s.candidate.id)
        ]
        head = ("id", "round", "origin", "parent", "points", "samples", "", "summary")
        parts.append(_table([head, *rows]))
        parts.append("samples: ✓ passed, ✗ failed with points, ? not scored, ⊘ filtered, · not run")
    if result.lost:
        parts.append(_section("Without a candidate", _list(f"{n}: {why}" for n, why in sorted(result.lost.items()))))
    if result.rounds:
        lines = (
            f"round {r.number}: {count(len(r.added), 'candidate')} added, best {points_text(r.best)} of {MAX_POINTS}, "
            f"{len(r.perfect)} passed" + (f"; parents {', '.join(map(str, r.parents))}" if r.parents else "")
            for r in result.rounds
        )
        parts.append(_section("Rounds", _list(lines)))
    if result.matches:
        lines = (f"{m.left} against {m.right}: {m.winner} ({match_tally(m)})" for m in result.matches)
        parts.append(_section("Tournament", _list(lines)))
    parts.append(_section("Cost", "\n".join(filter(None, [_usage(view), lazy_saving(view)])) or "no call recorded"))
    return visible("\n\n".join(parts))


def render_candidate(view: RunView, candidate: int) -> str:
    """What `maxproof show --candidate ID` prints. Raises InputError for an id that the run does not have."""
    standing = find_candidate(view, candidate)
    slot = standing.candidate.slot
    origin = slot.origin if slot.parent is None else f"{slot.origin} of {slot.parent}"
    parts = [
        f"Candidate {candidate}: round {slot.round}, {origin}, {fitness_text(standing)} of {MAX_POINTS} points"
        + (", the winner" if candidate == view.result.winner else ""),
    ]
    if standing.summary:
        parts.append(_wrap(standing.summary))
    errors = known_errors(standing)
    parts.append(_section("Known errors", _errors(errors) if errors else "none reported"))
    for sample, verification in sorted(standing.verifications.items()):
        parts.append(
            _section(f"Verification {sample}: {_verdict_line(verification)}", _judges(verification, brief=True))
        )
    missing = standing.planned - len(standing.verifications)
    if missing > 0:
        parts.append(f"{count(missing, 'verification')} of {standing.planned} not run")
    parts.append(_section("Text", _quoted(standing.candidate.text)))
    return visible("\n\n".join(parts))


def find_candidate(view: RunView, candidate: int) -> Standing:
    """The candidate's standing. Raises InputError, saying why it is not there."""
    for standing in view.result.standings:
        if standing.candidate.id == candidate:
            return standing
    if candidate in view.result.lost:
        raise InputError(
            f"candidate {candidate} was never made: {visible(view.result.lost[candidate])}", field="--candidate"
        )
    ids = sorted(s.candidate.id for s in view.result.standings)
    known = f"this run has {ids[0]} to {ids[-1]}" if ids else "this run has no candidate"
    raise InputError(f"no candidate {candidate}", field="--candidate", hint=known)


def render_verification(verification: Verification) -> str:
    """What `maxproof verify` prints: the verdict, points, located errors, and each judge's view."""
    parts = [_wrap(f"Verdict: {_verdict_line(verification)}")]
    if verification.disagreement:
        parts.append(f"The judges disagree by {count_points(verification.disagreement)}.")
    for hit in verification.bad_cases:
        parts.append(_wrap(f"Filtered before any judge ({hit.family}, rule {hit.rule}): {hit.evidence}"))
    if verification.normalisation and verification.normalisation.fallback:
        parts.append(_wrap(f"Style normalisation fell back: {verification.normalisation.fallback}"))
    if verification.judges:
        parts.append(_judges(verification, brief=False))
    return visible("\n\n".join(parts))


def to_json(view: RunView) -> dict[str, Any]:
    """The run as plain dicts and lists; texts are verbatim (`json.dumps` escapes what a terminal must not see).

    `outcome` is `passed`, `not_passed` or `no_candidate`; points are 0..7 or null for not scored.
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
        "finalists": list(result.finalists),
        "candidates": [_standing_json(s) for s in sorted(result.standings, key=lambda s: s.candidate.id)],
        "lost": {str(number): reason for number, reason in sorted(result.lost.items())},
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


def verification_json(verification: Verification) -> dict[str, Any]:
    """One verification as plain dicts."""
    return {**asdict(verification), "score": verification.score}


def _verdict_line(verification: Verification) -> str:
    said = cell(verification)
    if said.state == "filtered":
        return f"filtered, {points_text(verification.points)} of {MAX_POINTS} points"
    if verification.points is None:
        return "not scored (this says nothing about the proof)" + (f": {_line(said.reason)}" if said.reason else "")
    verdict = f", {verification.verdict.value}" if verification.verdict else ""
    return f"{_STATES[verification.state]}, {points_text(verification.points)} of {MAX_POINTS} points{verdict}"


def _judges(verification: Verification, *, brief: bool) -> str:
    blocks = []
    for view in verification.judges:
        lines = [_judge_line(view)]
        if not brief:
            errors = [KnownError(e.location, e.description, ()) for e in view.errors]
            if errors:
                lines.append(textwrap.indent(_errors(errors), "  "))
            if view.assessment:
                lines.append(textwrap.indent(view.assessment.strip(), "  | ", lambda line: True))
        blocks.append("\n".join(lines))
    return ("\n" if brief else "\n\n").join(blocks) or "no judge was asked"


def _judge_line(view: JudgeView) -> str:
    if view.state is ScoreState.NOT_SCORED:
        return f"{view.judge} ({view.mode}): not scored: {_line(view.reason) or 'no reason given'}"
    verdict = view.verdict.value if view.verdict else "no verdict"
    errors = f", {count(len(view.errors), 'error')}" if view.errors else ""
    return f"{view.judge} ({view.mode}): {points_text(view.points)} of {MAX_POINTS} points, {verdict}{errors}"


def _errors(errors: Sequence[KnownError]) -> str:
    lines = []
    for number, error in enumerate(errors, start=1):
        place = f'at "{error.location}": ' if error.location else ""
        by = f" [{'; '.join(error.found_by)}]" if error.found_by else ""
        lines.append(
            textwrap.fill(
                f"{number}. {place}{error.description}{by}", WIDTH, subsequent_indent="   ", break_long_words=False
            )
        )
    return "\n".join(lines)


def _cost_line(view: RunView) -> str:
    if not view.usage:
        return ""
    total = total_usage(view.usage)
    tokens = total.prompt_tokens + total.completion_tokens
    about = "about " if total.estimated else ""
    cost = "" if total.cost is None else f", cost {about}{total.cost:,.4f}"
    took = f", {duration(view.elapsed_s)} of work" if view.elapsed_s else ""
    return f"{count(total.calls, 'call')} ({total.failed} failed), {about}{count(tokens, 'token')}{cost}{took}."


def _usage(view: RunView) -> str:
    if not view.usage:
        return ""
    head = ("role", "calls", "failed", "prompt", "cached", "completion", "reasoning", "cost")
    rows = [head]
    for row in (*view.usage, total_usage(view.usage)):
        about = "~" if row.estimated else ""
        cost = "-" if row.cost is None else about + _money(row.cost)
        tokens = (f"{about}{row.prompt_tokens:,}", f"{row.cached_tokens:,}", f"{about}{row.completion_tokens:,}")
        rows.append((row.role, f"{row.calls:,}", f"{row.failed:,}", *tokens, f"{row.reasoning_tokens:,}", cost))
    note = "\n~ estimated: a server sent no token counts" if any(row.estimated for row in view.usage) else ""
    return _table(rows) + note


def _money(amount: float | None) -> str:
    return "no prices" if amount is None else f"{amount:,.4f}"


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows)


def _section(title: str, body: str) -> str:
    title = visible(title)
    return f"{title}\n{'-' * min(len(title), WIDTH)}\n{body}"


def _quoted(text: str) -> str:
    """A model's text, indented: whatever stands at the margin is ours, so no text can fake a heading or a verdict."""
    return textwrap.indent(visible(text).strip("\n"), "  ", lambda line: True)


def _list(lines: Iterable[str]) -> str:
    return "\n".join(textwrap.fill(line, WIDTH, initial_indent="- ", subsequent_indent="  ") for line in lines)


def _line(text: str) -> str:
    return " ".join(text.split())


def _wrap(text: str) -> str:
    return textwrap.fill(text, WIDTH)
