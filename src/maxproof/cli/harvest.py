"""`maxproof harvest`: from the rollouts of a training run to the data of the verifier and fixer experts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from maxproof.cli import options as o
from maxproof.cli.errors import reporting
from maxproof.problems import InputError

if TYPE_CHECKING:
    from maxproof.training.harvest import Counts, HarvestSettings


def harvest(
    rollouts: Annotated[
        list[Path], typer.Argument(metavar="ROLLOUTS...", help="rollouts.jsonl files, or folders that hold them.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder of the harvest: new, empty or an older one.")],
    problems: Annotated[
        Path | None,
        typer.Option("--problems", help="Their problems, for the statements. Default: what the prompts say."),
    ] = None,
    validation_share: Annotated[
        float | None, typer.Option("--validation-share", help="Share of the problems held out. Default 0.2.")
    ] = None,
    class_ratio: Annotated[
        float | None,
        typer.Option("--class-ratio", help="The most frequent verdict over the rarest at most. Default 1: even."),
    ] = None,
    class_cap: Annotated[
        int | None, typer.Option("--class-cap", help="Examples of one verdict in one split at most.")
    ] = None,
    as_written: Annotated[
        bool, typer.Option("--as-written", help="The judges saw proofs without layer 2: keep them as they are.")
    ] = False,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Of what is kept of a frequent verdict. Default 0.")
    ] = None,
    format: Annotated[
        Literal["records", "chat"],
        typer.Option("--format", help="records for `maxproof train`; chat: messages for any trainer."),
    ] = "records",
    as_json: Annotated[bool, typer.Option("--json", help="The counts as JSON.")] = False,
    quiet: o.Quiet = False,
) -> None:
    """Collect what the deciding judges said of each proof: examples for a verifier, triples for a fixer."""
    with reporting(as_json):
        from maxproof.training.harvest import harvest as harvested_from
        from maxproof.training.harvest_files import read_all_rollouts, rollout_files, write_harvest

        settings = _settings(
            {
                "validation_share": validation_share,
                "class_ratio": class_ratio,
                "class_cap": class_cap,
                "seed": seed,
                "normalised": not as_written,
            }
        )
        files = rollout_files(rollouts)
        harvested = harvested_from(read_all_rollouts(files), settings, _statements(problems))
        if not harvested.examples:
            raise InputError(f"nothing to harvest: {_reasons(harvested.counts)}", field="ROLLOUTS")
        unsayable = write_harvest(out, harvested, settings, format)
        if as_json:
            counts = asdict(harvested.counts)
            found = {"out": str(out), "triples": len(harvested.triples), "unsayable": unsayable, **counts}
            typer.echo(json.dumps(found, indent=2))
        elif not quiet:
            typer.echo(_text(harvested.counts, len(harvested.triples), unsayable))
            typer.echo(f"Harvest: {out}")


def _settings(values: Mapping[str, object]) -> HarvestSettings:
    from pydantic import ValidationError

    from maxproof.training.harvest import HarvestSettings

    try:
        return HarvestSettings.model_validate({key: value for key, value in values.items() if value is not None})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = "--" + "-".join(str(part) for part in first["loc"]).replace("_", "-")
        raise InputError(first["msg"].removeprefix("Value error, "), field=field) from None


def _statements(problems: Path | None) -> dict[str, str]:
    from maxproof.problems import load_problems

    return {problem.id: problem.statement for problem in load_problems(problems)} if problems is not None else {}


def _reasons(counts: Counts) -> str:
    reasons = ", ".join(f"{count} {reason}" for reason, count in counts.dropped.items())
    return f"{counts.candidates} candidates" + (f", {reasons}" if reasons else "")


def _text(counts: Counts, triples: int, unsayable: int) -> str:
    """A table of the verdicts before and after, and what was left out."""
    verdicts = list(next(iter(counts.before.values())))
    width = max(map(len, verdicts))
    lines = [f"Read: {_reasons(counts)}", f"{'':{width}}  " + "  ".join(f"{split:>16}" for split in counts.before)]
    for verdict in verdicts:
        cells = [f"{counts.before[split][verdict]} -> {counts.after[split][verdict]}" for split in counts.before]
        lines.append(f"{verdict:{width}}  " + "  ".join(f"{cell:>16}" for cell in cells))
    lines.append(f"{'problems':{width}}  " + "  ".join(f"{count:>16}" for count in counts.problems.values()))
    lines.append(f"Triples for a fixer: {triples}")
    if counts.missing:
        lines.append(f"Missing verdicts: {', '.join(counts.missing)}")
    if unsayable:
        lines.append(f"Left out, as no reply can say them: {unsayable}")
    return "\n".join(lines)
