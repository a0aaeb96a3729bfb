"""`maxproof data split` with its check: two looks for near-duplicates, by different signatures."""

from __future__ import annotations

import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from maxproof.cli.data_work import bar, table
from maxproof.problems.data.files import DataWriter, make_parent
from maxproof.problems.data.near_duplicates import bands_for
from maxproof.problems.data.split import SPLITS, Leak, SplitCounts, SplitSettings, leaks, split


@dataclass(frozen=True, slots=True)
class Done:
    """A finished split; `leaks`: None if it was not checked."""

    writer: DataWriter
    counts: SplitCounts
    settings: SplitSettings
    leaks: list[Leak] | None

    def to_json(self) -> dict[str, object]:
        found = None if self.leaks is None else [leak.records for leak in self.leaks]
        return {**asdict(self.counts), "leaks": found}

    def lines(self) -> list[str]:
        """A table of domains and splits, and what was found of clusters."""
        counts = self.counts
        rows = [(domain, *(f"{row[name]:,}" for name in SPLITS)) for domain, row in counts.by_domain.items()]
        total = sum(counts.of(name) for name in SPLITS)
        rows.append(("all", *(f"{counts.of(name):,}" for name in SPLITS)))
        rows.append(("share", *(f"{counts.of(name) / total:.1%}" if total else "-" for name in SPLITS)))
        rows.append(("clusters", *(f"{counts.clusters[name]:,}" for name in SPLITS)))
        lines = table(("domain", *SPLITS), rows)
        settings = self.settings.clusters
        chance = bands_for(settings.threshold, settings.permutations).chance(settings.threshold)
        lines.append(
            f"{sum(counts.clusters.values()):,} clusters, the largest of {counts.largest_cluster:,} records; "
            f"{counts.compared:,} candidate pairs compared, {counts.linked:,} near; a pair at the threshold "
            f"{settings.threshold:g} is found with a chance of {chance:.3f}"
        )
        if counts.not_compared:
            lines.append(f"{counts.not_compared:,} comparisons in very large buckets were left out")
        if self.leaks is not None:
            lines.append(f"checked by other signatures: {len(self.leaks)} clusters in more than one split")
            lines += ["leak: " + ", ".join(f"{id} ({name})" for id, name in leak.records) for leak in self.leaks]
        return lines


def split_and_check(
    records: Path, out: Path, settings: SplitSettings, *, files: bool, check: bool, strict: bool, quiet: bool
) -> Done:
    """Splits and, if asked to, checks what was written. Raises InputError."""
    writer = DataWriter(out, inputs=(records,), beside=SPLITS if files else (), strict=strict)
    make_parent(out)
    # Beside the output: the system's folder for temporary files may be in memory.
    with tempfile.TemporaryDirectory(prefix=".maxproof-split-", dir=out.parent) as name:
        folder = Path(name)
        with bar([records], quiet=quiet, passes=2) as advance, writer:
            counts = split(records, writer, settings, folder, advance, files=files)
        found: list[Leak] | None = None
        if check:
            other = settings.clusters.model_copy(update={"seed": settings.clusters.seed + 1})
            with bar([out], quiet=quiet) as advance:
                found = leaks(out, other, folder, advance)
    return Done(writer, counts, settings, found)
