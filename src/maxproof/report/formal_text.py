"""Formal results in the terminal, and the same as plain dicts for `--json`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from maxproof.formal.checkers.certify import verdict_words
from maxproof.formal.checkers.types import CheckState
from maxproof.formal.results import Attempt, Status
from maxproof.formal.solution.feedback import OPENINGS, describe
from maxproof.formal.solution.types import SolutionVerdict
from maxproof.formal.statistics import Rate
from maxproof.formal.summary import MethodSummary, ProblemSummary
from maxproof.report.layout import filled, one_line, quoted, table, terminal_width

STATUS_NAMES = {
    Status.SOLVED: "solved",
    Status.OPEN: "open",
    Status.VACUOUS: "vacuous",
    Status.REFUTED: "refuted",
    Status.ILL_FORMED: "ill-formed",
}


def render_verdict(verdict: SolutionVerdict) -> str:
    """The verdict, a line for each finding, and who gave it."""
    width = terminal_width()
    if verdict.accepted and verdict.result is not None:
        words = verdict_words(verdict.result, verdict.certified)
        lines = [words[0].upper() + words[1:]]
    else:
        lines = [OPENINGS[verdict.state]]
    lines += [filled(describe(finding), width, first="- ") for finding in verdict.findings]
    if verdict.result is not None:
        counted = "" if verdict.accepted else f"{verdict.proved} of {verdict.total} obligations proved, "
        lines.append(f"{counted}checked by {verdict.result.tool} in {verdict.result.seconds:.2f} s")
    if verdict.certified is not None and verdict.certified.state is CheckState.PROVED:
        lines.append(f"certified by {verdict.certified.tool} in {verdict.certified.seconds:.2f} s")
    return "\n".join(lines)


def verdict_json(verdict: SolutionVerdict) -> dict[str, Any]:
    """The verdict with its findings and the results behind it."""
    return {"accepted": verdict.accepted, **asdict(verdict)}


def render_methods(summaries: Sequence[MethodSummary]) -> str:
    """One row for each method and split: every status apart, rates with their 95 % intervals."""
    head = (
        "method",
        "split",
        "solved",
        "of all",
        "open",
        "vacuous",
        "refuted",
        "ill-formed",
        "unstable",
        "checks",
        "s",
    )
    rows: list[tuple[str, ...]] = [head]
    for summary in summaries:
        counts = summary.counts
        rows.append(
            (
                summary.method,
                summary.split or "-",
                rate_text(summary.solved),
                f"{counts[Status.SOLVED]}/{summary.solved_of_all.total}",
                *(str(counts[s]) for s in (Status.OPEN, Status.VACUOUS, Status.REFUTED, Status.ILL_FORMED)),
                str(len(summary.unstable)),
                str(summary.checks),
                f"{summary.seconds:.1f}",
            )
        )
    return table(rows)


def rate_text(rate: Rate) -> str:
    """`57.0 % [51.2, 62.6]`."""
    return f"{100 * rate.value:.1f} % [{100 * rate.low:.1f}, {100 * rate.high:.1f}]"


def render_problems(problems: Sequence[ProblemSummary]) -> str:
    """One row for each problem and method."""
    rows = [("problem", "method", "status", "accepted", "obligations", "s")]
    for summary in problems:
        best = summary.best
        rows.append(
            (
                summary.problem,
                summary.method,
                STATUS_NAMES[summary.status],
                f"{summary.accepted}/{summary.attempts}",
                f"{best.proved}/{best.total}" if best else "-",
                f"{best.seconds:.2f}" if best else "-",
            )
        )
    return table(rows)


def render_one(problems: Sequence[ProblemSummary], attempts: Sequence[Attempt]) -> str:
    """A run on one problem: the shortest accepted proof with who accepted it, or what each method left open."""
    width = terminal_width()
    accepted = [s.best for s in problems if s.accepted and s.best is not None]
    if accepted:
        best = min(accepted, key=lambda attempt: len(attempt.solution))
        status = next(summary.status for summary in problems)
        head = attempt_line(best) if status is Status.SOLVED else f"{STATUS_NAMES[status]}: anything would be proved"
        return "\n".join([head, "", quoted(best.solution, width)])
    lines = []
    for attempt in attempts:
        lines.append(attempt_line(attempt))
        lines += [filled(finding, width, indent="    ", first="  - ") for finding in attempt.findings]
    return "\n".join(lines)


def attempt_line(attempt: Attempt) -> str:
    """One line about an attempt: the verdict in the words that its checker allows, and what it took."""
    spent = f"{attempt.checks} checks, {attempt.seconds:.2f} s"
    if attempt.calls:
        spent += f", {attempt.calls} model calls"
    if not attempt.accepted:
        return f"Not proved: {attempt.problem} by {attempt.method} ({spent}): {one_line(attempt.reason)}"
    return f"{proved_label(attempt.checker, attempt.certified)}: {attempt.problem} by {attempt.method} ({spent})"


def proved_label(checker: str, certified: str) -> str:
    """`Proved` where a Dafny accepted it; the embedded checker's word is named as such."""
    if certified:
        return f"Proved, certified by {certified}"
    if checker.startswith("dafny"):
        return f"Proved by {checker}"
    return f"Proved ({checker.replace('embedded', 'embedded checker', 1)})"


def run_json(
    problems: Sequence[ProblemSummary], methods: Sequence[MethodSummary], attempts: Sequence[Attempt]
) -> dict[str, Any]:
    """All of a formal run."""
    return {
        "methods": [asdict(summary) for summary in methods],
        "problems": [
            {key: value for key, value in asdict(summary).items() if key != "best"} | {"unstable": summary.unstable}
            for summary in problems
        ],
        "attempts": [asdict(attempt) for attempt in attempts],
    }
