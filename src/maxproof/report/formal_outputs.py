"""The derived files of a formal run's folder, each a pure function of the run."""

from __future__ import annotations

import json

from maxproof.report.formal_html import render_formal_report
from maxproof.report.formal_text import run_json
from maxproof.report.formal_view import FormalView
from maxproof.search.run_folder import write_atomically


def write_formal_outputs(view: FormalView) -> None:
    """Writes `solutions/NAME.dfy`, `result.json` and `report.html`. Raises OSError."""
    path = view.folder.path
    proofs = {entry.problem.name: entry.proof.solution for entry in view.entries if entry.proof is not None}
    if proofs:
        (path / "solutions").mkdir(exist_ok=True)
    for name, solution in proofs.items():
        write_atomically(path / "solutions" / f"{name}.dfy", solution + "\n")
    write_atomically(path / "result.json", json.dumps(run_json(view), indent=1, ensure_ascii=True) + "\n")
    write_atomically(path / "report.html", render_formal_report(view))
