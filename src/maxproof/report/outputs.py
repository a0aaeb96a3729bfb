"""The derived files of a run folder, each a pure function of the run."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from maxproof import __version__
from maxproof.lab.domains import read_question
from maxproof.lab.oracle import grade
from maxproof.report.text import render_proof_file, to_json
from maxproof.report.view import RunView
from maxproof.search.run import ProveOutcome
from maxproof.search.run_folder import RunFolder, write_atomically
from maxproof.verifier import judge_calls


def view_of(folder: RunFolder, outcome: ProveOutcome, settings: dict[str, str]) -> RunView:
    """Everything a report shows. `settings` are the run's, by dotted name, as text."""
    account, result = outcome.account, outcome.result
    question = read_question(folder.problem.statement)
    started = datetime.fromtimestamp(account.started, UTC).isoformat(timespec="seconds") if account.started else ""
    return RunView(
        run=folder.name,
        problem=folder.problem,
        result=result,
        settings=settings,
        usage=account.usage,
        stopped=account.stop.reason,
        stop_kind=account.stop.kind,
        started=started,
        elapsed_s=account.elapsed_s,
        verifications_run=result.verifications_run,
        verifications_eager=result.verifications_eager,
        judge_calls_per_verification=judge_calls(folder.settings.verifier, folder.problem),
        version=__version__,
        oracle=None
        if question is None or result.winner is None
        else grade(question, result.standing(result.winner).candidate.text),
    )


def write_outputs(path: Path, view: RunView) -> None:
    """Writes `proof.md`, `result.json` and `report.html`. Raises OSError."""
    # Needed when a run ends; at its start the import would only delay the first call.
    from maxproof.report.html import render_report

    write_atomically(path / "proof.md", render_proof_file(view))
    write_atomically(path / "result.json", json.dumps(to_json(view), indent=2, ensure_ascii=True) + "\n")
    write_atomically(path / "report.html", render_report(view))
