"""What the commands of `maxproof data` share: the progress bar, settings from flags, and what they tell at the end."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import typer
from pydantic import BaseModel, ValidationError

from maxproof.models.template import visible
from maxproof.problems import InputError
from maxproof.problems.data.files import DataWriter, rejects_path

if TYPE_CHECKING:
    from maxproof.problems.data.balance import BalanceCounts, BalanceSettings
    from maxproof.problems.data.decontaminate import DecontaminateCounts, EvaluationIndex
    from maxproof.problems.text import Advance

SHOWN_TECHNIQUES = 20
_MAX_CELL = 60

Settings = TypeVar("Settings", bound=BaseModel)


@contextmanager
def bar(files: Sequence[Path], *, quiet: bool, passes: int = 1) -> Iterator[Advance | None]:
    """A progress bar by bytes on standard error, if that is a terminal; `files` are read `passes` times."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeElapsedColumn, TimeRemainingColumn

    columns = (BarColumn(), DownloadColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        total = passes * sum(path.stat().st_size for path in files if path.exists())
        task = progress.add_task("", total=total)
        yield lambda size: progress.advance(task, size)


def settings_of(kind: type[Settings], values: Mapping[str, object]) -> Settings:
    """Settings from the flags that were given (not None). Raises InputError that names the flag."""
    try:
        return kind.model_validate({key: value for key, value in values.items() if value is not None})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = str(first["loc"][0]) if first["loc"] else ""
        raise InputError(
            first["msg"].removeprefix("Value error, "), field="--" + name.replace("_", "-") if name else None
        ) from None


def shares_of(text: str, flag: str) -> dict[str, float]:
    """`NAME=SHARE,...` as numbers. Raises InputError."""
    shares: dict[str, float] = {}
    for part in text.split(","):
        name, _, value = part.partition("=")
        try:
            share = float(value)
        except ValueError:
            raise InputError(f"expected NAME=SHARE, got {part.strip()!r}", field=flag) from None
        if not name.strip() or name.strip() in shares:
            raise InputError(f"expected each name once, got {part.strip()!r}", field=flag)
        shares[name.strip()] = share
    return shares


def told(writer: DataWriter, found: Mapping[str, object], lines: Sequence[str], *, as_json: bool, quiet: bool) -> None:
    """Tells the counts of a finished step on standard output.

    Raises InputError when rows were read and none of them was of use.
    """
    rejects = rejects_path(writer.path)
    kept = {"out": str(writer.path), "written": writer.written, "rejected": writer.rejected, "dropped": writer.dropped}
    if not writer.written and writer.rejected and not writer.dropped:
        first = writer.first_rejects[0]
        raise InputError(
            f"none of {writer.rejected:,} rows could be used; the first: {first.place.file}, {first.reason}",
            file=rejects,
        )
    if as_json:
        where = str(rejects) if writer.rejected or writer.dropped else None
        typer.echo(json.dumps({**kept, **found, "rejects": where}, indent=2))
        return
    if quiet:
        return
    for line in lines:
        typer.echo(visible(line))
    for reject in writer.first_rejects:
        typer.echo(visible(f"rejected: {reject.place.error(reject.reason)}").replace("\n", " "))
    if writer.rejected > len(writer.first_rejects):
        typer.echo(f"          … and {writer.rejected - len(writer.first_rejects):,} more")
    typer.echo(f"{writer.written:,} records: {writer.path}")
    if writer.rejected or writer.dropped:
        typer.echo(f"{writer.rejected:,} rejected, {writer.dropped:,} dropped: {rejects}")


def table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Aligned lines; the first column to the left, the others to the right."""
    cells = [[_short(cell) for cell in row] for row in (headers, *rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(headers))]
    return [
        "  ".join(cell.rjust(width) if column else cell.ljust(width) for column, (cell, width) in enumerate(pairs))
        for pairs in (list(zip(row, widths, strict=True)) for row in cells)
    ]


def _short(text: str) -> str:
    flat = " ".join(visible(text).split())
    return flat if len(flat) <= _MAX_CELL else flat[: _MAX_CELL - 1] + "…"


def pair_lines(counts: DecontaminateCounts, index: EvaluationIndex, threshold: float, flag: bool) -> list[str]:
    """The first pairs as a table, and how many there were."""
    rows = [
        (
            f"{match.file}:{match.line}",
            match.id,
            match.evaluation_id,
            match.kind if match.part == "statement" else f"{match.kind} ({match.part})",
            f"{match.jaccard:.3f}",
            f"{match.containment:.3f}",
        )
        for match in counts.first_pairs
    ]
    lines = table(("record", "id", "evaluation problem", "kind", "Jaccard", "contained"), rows) if rows else []
    if counts.pairs > len(rows):
        lines.append(f"… and {counts.pairs - len(rows):,} more pairs")
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(counts.by_kind.items())) or "none"
    matched = sum(counts.by_kind.values())
    lines.append(
        f"{counts.records:,} records against {counts.evaluation:,} evaluation problems: {matched:,} "
        f"{'flagged' if flag else 'dropped'} ({kinds})"
    )
    lines.append(
        f"a pair at the threshold {threshold:g} is found with a chance of {index.bands.chance(threshold):.3f}, "
        f"at {(1 + threshold) / 2:g} of {index.bands.chance((1 + threshold) / 2):.5f}"
    )
    return lines


def balance_json(counts: BalanceCounts) -> dict[str, object]:
    """The mix before and after."""
    return {
        when: {
            "records": tally.records,
            "domains": dict(sorted(tally.domains.items())),
            "levels": dict(sorted(tally.levels.items())),
            "techniques": dict(sorted(tally.techniques.items())),
        }
        for when, tally in (("before", counts.before), ("after", counts.after))
    }


def balance_lines(counts: BalanceCounts, settings: BalanceSettings) -> list[str]:
    """Tables of domains, levels and techniques, before and after."""
    before, after = counts.before, counts.after
    lines = _mix("domain", before.domains, after.domains, before.records, after.records, settings.domains)
    lines += ["", *_mix("level", before.levels, after.levels, before.records, after.records, settings.levels)]
    names = [name for name, _ in before.techniques.most_common(SHOWN_TECHNIQUES)]
    if names:
        shown = {name: before.techniques[name] for name in names}
        lines += ["", *_mix("technique", shown, after.techniques, before.records, after.records, {})]
        kept = sum(1 for count in after.techniques.values() if count)
        lines.append(f"{kept:,} of {len(before.techniques):,} techniques are left")
    return [*lines, ""]


def _mix(
    name: str,
    before: Mapping[str, int],
    after: Mapping[str, int],
    total_before: int,
    total_after: int,
    targets: Mapping[str, float],
) -> list[str]:
    def share(count: int, total: int) -> str:
        return f"{count / total:.1%}" if total else "-"

    rows = [
        (
            key, f"{count:,}", share(count, total_before), f"{after.get(key, 0):,}",
            share(after.get(key, 0), total_after), f"{targets[key]:.1%}" if key in targets else "",
        )
        for key, count in sorted(before.items(), key=lambda item: (-item[1], item[0]))
    ]  # fmt: skip
    return table((name, "before", "share", "after", "share", "target"), rows)
