"""Formal results in the terminal, and the same as plain dicts for `--json`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from maxproof.formal.checkers.certify import verdict_words
from maxproof.formal.checkers.types import CheckState
from maxproof.formal.results import Attempt, Status
from maxproof.formal.solution.feedback import OPENINGS, describe
from maxproof.formal.solution.types import SolutionVerdict
from maxproof.formal.solution.wrap import PROBLEM_LINES
from maxproof.formal.summary import MethodSummary, PassAtK, ProblemSummary
from maxproof.formal.syntax.ast import NOWHERE
from maxproof.models.template import visible
from maxproof.report.formal_view import Entry, FormalView
from maxproof.report.layout import filled, one_line, quoted, table, terminal_width
from maxproof.statistics import MeanRate, Rate

STATUS_NAMES: Final = {
    Status.SOLVED: "solved",
    Status.OPEN: "open",
    Status.VACUOUS: "vacuous",
    Status.REFUTED: "refuted",
    Status.ILL_FORMED: "ill-formed",
}
STATUS_MEANINGS: Final = {
    Status.SOLVED: "a proof was accepted",
    Status.OPEN: "no proof was found",
    Status.VACUOUS: "its hypotheses contradict each other, so that anything follows; it doesn't count as solved",
    Status.REFUTED: "a counterexample meets all its hypotheses",
    Status.ILL_FORMED: "the statement, or a definition beside it, has no meaning for some values or doesn't resolve",
}
SHOWN_K: Final = (1, 2, 4, 8, 16, 32, 64)
NAMES_TOLD: Final = 20


def render_verdict(verdict: SolutionVerdict, status: Status) -> str:
    """The verdict, a line for each finding, and who gave it. `status`: what the problem has by it."""
    width = terminal_width()
    if status is Status.VACUOUS:
        lines = [filled(f"Vacuous: {STATUS_MEANINGS[status]}", width), "Accepted all the same."]
    elif verdict.accepted and verdict.result is not None:
        words = verdict_words(verdict.result, verdict.certified)
        lines = [words[0].upper() + words[1:]]
    else:
        unsound = status in (Status.REFUTED, Status.ILL_FORMED)
        said = f"{STATUS_NAMES[status].capitalize()}: {STATUS_MEANINGS[status]}"
        lines = [*([filled(said, width)] if unsound else []), OPENINGS[verdict.state]]
    lines += [filled(describe(finding), width, first="- ") for finding in verdict.findings]
    if verdict.result is not None:
        counted = "" if verdict.accepted else f"{verdict.proved} of {verdict.total} obligations proved, "
        cached = ", from the cache" if verdict.result.cached else f" in {verdict.result.seconds:.2f} s"
        lines.append(f"{counted}checked by {verdict.result.tool}{cached}")
    if verdict.certified is not None and verdict.certified.state is CheckState.PROVED:
        lines.append(f"certified by {verdict.certified.tool} in {verdict.certified.seconds:.2f} s")
    return "\n".join(lines)


def verdict_json(verdict: SolutionVerdict, status: Status) -> dict[str, Any]:
    """The verdict with its findings and the results behind it.

    Places are in the submission; one with `"file": "problem"` is in the problem file; null where there is none.
    """
    return {"accepted": verdict.accepted, "status": status, **_with_places(asdict(verdict))}


def _with_places(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_with_places(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() != {"line", "column"} or not isinstance(value["line"], int):
        return {key: _with_places(item) for key, item in value.items()}
    if value == asdict(NOWHERE):
        return None
    if value["line"] > PROBLEM_LINES:
        return {**value, "line": value["line"] - PROBLEM_LINES, "file": "problem"}
    return value


def render_set(view: FormalView, *, each_problem: bool) -> str:
    """A run over a set: one row for each problem, then one for each method, and what numbers alone don't say."""
    width = terminal_width()
    blocks = [render_problems(view)] if each_problem else []
    blocks.append(render_methods(view.methods))
    if any(len(summary.pass_at) > 1 for summary in view.methods):
        blocks.append(render_pass_at(view.methods))
    notes = []
    for summary in view.whole:
        if summary.unstable:
            notes.append(filled(f"unstable under {summary.method}: {named(summary.unstable)}", width))
        if summary.errors:
            told = ", ".join(f"{count} {kind}" for kind, count in summary.errors.items())
            notes.append(filled(f"refused under {summary.method}: {told}", width))
    if view.folder.unreadable:
        notes.append(f"unreadable, and left out: {len(view.folder.unreadable)}")
        notes += [filled(one_line(line), width, first="- ") for line in view.folder.unreadable[:NAMES_TOLD]]
    if view.unscored:
        names = named(dict.fromkeys(attempt.problem for attempt in view.unscored))
        notes.append(filled(f"not scored, and tried again on resume: {names}", width))
    return "\n\n".join([*blocks, *(["\n".join(notes)] if notes else [])])


def named(names: Sequence[str] | dict[str, None]) -> str:
    """Names in a line, at most `NAMES_TOLD` of them."""
    told = list(names)
    more = f" and {len(told) - NAMES_TOLD} more" if len(told) > NAMES_TOLD else ""
    return visible(", ".join(told[:NAMES_TOLD])) + more


def render_methods(summaries: Sequence[MethodSummary]) -> str:
    """One row for each method and split: every status apart, rates with their 95 % intervals."""
    asked = any(summary.calls for summary in summaries)
    head = ["method", "split", "solved", "of all", "open", "vacuous", "refuted", "ill-formed", "unstable"]
    rows = [(*head, "not scored", "checks", "s", *(("calls", "tokens") if asked else ()))]
    for summary in summaries:
        counts = summary.counts
        told = [
            visible(summary.method),
            visible(summary.split) or "-",
            rate_text(summary.solved),
            f"{counts[Status.SOLVED]}/{summary.solved_of_all.total}",
            *(str(counts[s]) for s in (Status.OPEN, Status.VACUOUS, Status.REFUTED, Status.ILL_FORMED)),
            str(len(summary.unstable)),
            str(summary.unscored),
            str(summary.checks),
            f"{summary.seconds:.1f}",
        ]
        rows.append((*told, *((str(summary.calls), str(summary.tokens)) if asked else ())))
    return table(rows)


def render_pass_at(summaries: Sequence[MethodSummary]) -> str:
    """pass@k by method and split, with 95 % intervals."""
    shown = [(summary, shown_pass_at(summary)) for summary in summaries]
    ks = sorted({one.k for _, row in shown for one in row})
    rows = [("method", "split", *(f"pass@{k}" for k in ks))]
    for summary, row in shown:
        cells = {one.k: rate_text(one.rate) for one in row}
        rows.append((visible(summary.method), visible(summary.split) or "-", *(cells.get(k, "-") for k in ks)))
    return table(rows)


def shown_pass_at(summary: MethodSummary) -> list[PassAtK]:
    """The k that are told of: 1, 2, 4, ... and the largest."""
    return [one for one in summary.pass_at if one.k in SHOWN_K or one.k == len(summary.pass_at)]


def rate_text(rate: Rate | MeanRate) -> str:
    """`57.0 % [51.2, 62.6]`."""
    return f"{100 * rate.value:.1f} % [{100 * rate.low:.1f}, {100 * rate.high:.1f}]"


def render_problems(view: FormalView) -> str:
    """One row for each problem: its status, and what each method made of it."""
    rows = [("problem", "status", *view.method_names)]
    for entry in view.entries:
        cells = [outcome_text(entry.methods.get(name)) for name in view.method_names]
        rows.append((visible(entry.problem.name), STATUS_NAMES[entry.status], *cells))
    return table(rows)


def outcome_text(summary: ProblemSummary | None) -> str:
    """`proved, 0.12 s`, `proved 2/5, 0.12 s`, `open, 3/4 obligations`; - if nothing was tried."""
    if summary is None or summary.best is None:
        return "-"
    if summary.accepted:
        share = f" {summary.accepted}/{summary.attempts}" if summary.attempts > 1 else ""
        return f"proved{share}, {summary.best.seconds:.2f} s"
    if not summary.attempts:
        return "not scored"
    return f"open, {summary.best.proved}/{summary.best.total} obligations"


def render_proof(view: FormalView) -> str:
    """A run on one problem: the shortest accepted proof with who accepted it, or what each method left open."""
    width = terminal_width()
    (entry,) = view.entries
    lines = [] if entry.status in (Status.SOLVED, Status.OPEN) else [filled(status_line(entry), width)]
    if entry.proof is not None:
        head = attempt_line(entry.proof) if entry.status is Status.SOLVED else "Accepted all the same:"
        if view.folder.formal.certify and not entry.proof.certified:
            head += "\nNot certified: no installed Dafny accepted it"
        return "\n".join([*lines, head, "", quoted(entry.proof.solution, width)])
    for attempt in view.attempts:
        lines.append(attempt_line(attempt))
        lines += [filled(finding, width, indent="    ", first="  - ") for finding in attempt.findings]
    return "\n".join(lines or [f"Nothing was tried on {entry.problem.name}"])


def status_line(entry: Entry) -> str:
    """`Vacuous: NAME: its hypotheses contradict ...`."""
    return f"{STATUS_NAMES[entry.status].capitalize()}: {entry.problem.name}: {STATUS_MEANINGS[entry.status]}"


def attempt_line(attempt: Attempt) -> str:
    """One line about an attempt: the verdict in the words that its checker allows, and what it took."""
    spent = f"{attempt.checks} {'check' if attempt.checks == 1 else 'checks'}, {attempt.seconds:.2f} s"
    if attempt.calls:
        spent += f", {attempt.calls} model {'call' if attempt.calls == 1 else 'calls'}"
    if not attempt.accepted:
        verdict = "Not proved" if attempt.scored else "Not scored"
        # Where there are findings the first of them is the reason.
        reason = "" if attempt.scored and attempt.findings else f": {one_line(attempt.reason)}"
        return f"{verdict}: {attempt.problem} by {attempt.method} ({spent}){reason}"
    return f"{proved_label(attempt.checker, attempt.certified)}: {attempt.problem} by {attempt.method} ({spent})"


def proved_label(checker: str, certified: str) -> str:
    """`Proved` where a Dafny accepted it; the embedded checker's word is named as such."""
    if certified:
        return f"Proved, certified by {certified}"
    if checker.startswith("dafny"):
        return f"Proved by {checker}"
    return f"Proved ({checker.replace('embedded', 'embedded checker', 1)})"


def run_json(view: FormalView) -> dict[str, Any]:
    """All of a formal run."""
    return {
        "run": view.folder.path.name,
        "stopped": view.stop.reason,
        "unreadable": list(view.folder.unreadable),
        "statuses": {entry.problem.name: entry.status for entry in view.entries},
        "methods": [asdict(summary) for summary in view.methods],
        "problems": [
            {key: value for key, value in asdict(summary).items() if key != "best"} | {"unstable": summary.unstable}
            for entry in view.entries
            for summary in entry.methods.values()
        ],
        "attempts": [asdict(attempt) for attempt in view.attempts],
    }
