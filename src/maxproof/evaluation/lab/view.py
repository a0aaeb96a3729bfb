"""The stages of a lab run as a table for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from maxproof.evaluation.lab.stages import StageState


def stage_table(now: Sequence[StageState], left_s: float | None) -> Group:
    """One row for each stage: how far it is, its seconds of work, what it does. `left_s`: seconds, None if unknown."""
    table = Table(box=None, pad_edge=False)
    for title in ("stage", "", "work", ""):
        table.add_column(title, no_wrap=True)
    for stage in now:
        style = {"done": "green", "running": "bold", "waiting": "dim"}[stage.state]
        table.add_row(
            Text(stage.name, style),
            ProgressBar(1.0, stage.share, width=24),
            Text(f"{stage.seconds:.0f} s", style),
            Text(stage.text if stage.state == "running" else stage.state, style),
        )
    left = "" if left_s is None else f"about {left_s / 60:.0f} min left"
    done = sum(stage.state == "done" for stage in now)
    return Group(table, Text(f"{done} of {len(now)} stages done  {left}"))
