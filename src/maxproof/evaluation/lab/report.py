"""`maxproof lab report`: one HTML file that loads nothing, and the same as Markdown."""

from __future__ import annotations

from pathlib import Path

from maxproof.evaluation.lab.results import read_results
from maxproof.evaluation.lab.sections import all_sections
from maxproof.report.blocks import to_html, to_markdown
from maxproof.search.run_folder import write_atomically

TITLE = "The pipeline in the proof world, measured"


def write_report(run: Path) -> tuple[Path, Path]:
    """Writes `report.html` and `report.md` into the run folder and returns their paths.

    Raises InputError if there is no lab run, or a file of it is damaged.
    """
    results = read_results(run)
    sections = all_sections(results)
    subtitle = f"profile {results.profile.name}, seed {results.profile.seed}, {results.profile.rl_seeds} RL seeds"
    paths = run / "report.html", run / "report.md"
    write_atomically(paths[0], to_html("MaxProof lab report", TITLE, subtitle, sections))
    write_atomically(paths[1], to_markdown(TITLE, subtitle, sections))
    return paths
