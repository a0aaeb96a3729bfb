"""The derived files of a formal run's folder, each a pure function of the run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from maxproof.formal.folder import FormalFolder
from maxproof.formal.summary import MethodSummary, ProblemSummary
from maxproof.report.formal_html import render_formal_report
from maxproof.search.run_folder import write_atomically


def write_formal_outputs(
    folder: FormalFolder,
    problems: Sequence[ProblemSummary],
    methods: Sequence[MethodSummary],
    result: Mapping[str, Any],
) -> None:
    """Writes `solutions/NAME.dfy`, `result.json` and `report.html`. Raises OSError."""
    shortest: dict[str, str] = {}
    for summary in problems:
        if summary.accepted and summary.best is not None:
            known = shortest.get(summary.problem)
            if known is None or len(summary.best.solution) < len(known):
                shortest[summary.problem] = summary.best.solution
    if shortest:
        (folder.path / "solutions").mkdir(exist_ok=True)
    for name, solution in shortest.items():
        write_atomically(folder.path / "solutions" / f"{name}.dfy", solution + "\n")
    write_atomically(folder.path / "result.json", json.dumps(result, indent=1, ensure_ascii=True) + "\n")
    write_atomically(folder.path / "report.html", render_formal_report(folder, problems, methods))
