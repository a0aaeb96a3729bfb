"""What `maxproof data rubric`, `annotate` and `filter` do: records from a file, through a model, to a file."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from maxproof.cli.errors import ExitCode
from maxproof.models.caller import JournaledCaller
from maxproof.models.template import visible
from maxproof.models.types import CallProgress, Stop, StopKind
from maxproof.problems import InputError, Problem
from maxproof.problems.data.files import DataWriter, Reject, read_data, rejects_path
from maxproof.problems.data.record import DataRecord
from maxproof.problems.errors import Place, nearest
from maxproof.problems.load import load_problems
from maxproof.report.summary import count
from maxproof.search.journal_folder import open_folder
from maxproof.search.settings import RunSettings
from maxproof.training.data.calls import Unused, Work, run_records

MAX_SHOWN_CHARS = 300


@dataclass(frozen=True, slots=True)
class Files:
    """Where a step reads and writes; `calls` is the folder of its journal."""

    records: Path
    out: Path
    calls: Path


@dataclass(slots=True)
class Done:
    """What became of the records.

    Attributes:
        unused: records that a model was asked about and that did not go on, by the first words of the reason.
        first: the first few rejects, a line each.
        calls: totals over all sessions.
    """

    files: Files
    written: int = 0
    rejected: int = 0
    unused: Counter[str] = field(default_factory=Counter)
    first: tuple[str, ...] = ()
    calls: CallProgress | None = None
    stop: Stop = field(default_factory=Stop)

    @property
    def only_bad_rows(self) -> bool:
        """There were rows, and none of them was a record."""
        return bool(self.rejected) and not self.written and not self.unused and not self.stop

    @property
    def exit_code(self) -> ExitCode:
        if self.stop.kind is StopKind.BUDGET:
            return ExitCode.BUDGET
        return ExitCode.NO_MODEL if self.stop.kind is StopKind.ENDPOINT else ExitCode.PASSED

    def to_json(self) -> dict[str, Any]:
        calls = self.calls
        return {
            "out": str(self.files.out),
            "records": self.written,
            "rejects": str(rejects_path(self.files.out)) if self.rejected else None,
            "rejected": self.rejected,
            "unused": dict(sorted(self.unused.items())),
            "journal": str(self.files.calls),
            "calls": calls.finished if calls else 0,
            "replayed": calls.replayed if calls else 0,
            "failed_calls": calls.failed if calls else 0,
            "tokens": calls.total_tokens if calls else 0,
            "cost": calls.cost if calls else None,
            "stopped": self.stop.reason,
        }

    def to_text(self) -> str:
        lines = [f"{count(self.written, 'record')}: {self.files.out}"]
        if self.rejected:
            lines.append(f"{self.rejected:,} rejected: {rejects_path(self.files.out)}")
            bad = self.rejected - self.unused.total()
            rows = [*sorted(self.unused.items()), *([("bad row", bad)] if bad else [])]
            lines += [f"  {number:,} {reason}" for reason, number in rows]
            lines += [f"  {line[:MAX_SHOWN_CHARS]}" for line in self.first]
        if self.calls is not None:
            cost = "" if self.calls.cost is None else f", cost {self.calls.cost:.2f}"
            lines.append(
                f"{count(self.calls.finished, 'call')} ({self.calls.replayed:,} from the journal, "
                f"{self.calls.failed:,} failed), {self.calls.total_tokens:,} tokens{cost}: {self.files.calls}"
            )
        if self.stop:
            lines.append(f"Not all was asked: {self.stop.reason}. The same command goes on.")
        return visible("\n".join(lines))


async def run_step(
    step: str,
    files: Files,
    settings: RunSettings,
    work_with: Callable[[JournaledCaller], Work],
    *,
    window: int,
    quiet: bool,
) -> Done:
    """Does one step for all records, or goes on with it.

    Args:
        step: its name, for the journal.
        work_with: what is done with a record, given who answers the calls.
        window: records under way at a time.

    Raises InputError.
    """
    done = Done(files)
    with DataWriter(files.out, inputs=(files.records,)) as writer, _bar(files.records, quiet) as advance:
        async with open_folder(files.calls, settings, f"data {step}", failed_again=True) as caller:
            work = work_with(caller)

            async def counted(record: DataRecord) -> DataRecord | Unused:
                result = await work(record)
                if isinstance(result, Unused):
                    done.unused[result.reason.partition(":")[0]] += 1
                return result

            def keep(place: Place, row: DataRecord | Reject) -> None:
                if isinstance(row, Reject):
                    writer.reject(row)
                else:
                    writer.write(row)
                advance(
                    0, f"{writer.written:,} kept, {writer.rejected:,} rejected, {caller.progress().finished:,} calls"
                )

            await run_records(read_data(files.records, lambda size: advance(size, "")), counted, keep, window=window)
            await caller.finish(f"data {step}")
            done.calls, done.stop = caller.progress(), caller.stop
        done.written, done.rejected = writer.written, writer.rejected
        done.first = tuple(f"{reject.place}: {reject.reason}" for reject in writer.first_rejects)
    return done


@contextmanager
def _bar(path: Path, quiet: bool) -> Iterator[Callable[[int, str], None]]:
    """A function that is told how many bytes of `path` were read and how things stand; it shows them on a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda size, text: None
        return
    # Of use on a terminal only, and slow to import.
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=path.stat().st_size if path.exists() else None)
        yield lambda size, text: progress.update(task, advance=size, description=text or None)


def read_examples(path: Path, ids: str | None) -> list[DataRecord]:
    """The examples of grading schemes in a file of records or problems; `ids` chooses some, with commas between.

    Raises InputError, also for an id that isn't there.
    """
    found = list(_examples(path))
    if ids is None:
        return found
    by_id = {record.id: record for record in found}
    wanted = [id.strip() for id in ids.split(",") if id.strip()]
    for id in wanted:
        if id not in by_id:
            raise InputError(f"no example has the id {id!r}", file=path, hint=nearest(id, by_id))
    return [by_id[id] for id in wanted]


def _examples(path: Path) -> Iterator[DataRecord]:
    if path.suffix.lower() != ".jsonl":
        yield from map(_record_of, load_problems(path))
        return
    for place, row in read_data(path):
        if isinstance(row, Reject):
            raise place.error(row.reason)
        yield row


def _record_of(problem: Problem) -> DataRecord:
    return DataRecord(
        id=problem.id, statement=problem.statement, reference=problem.reference, answer=problem.answer,
        rubric=problem.rubric, domain=problem.domain, level=problem.level, source=problem.source,
    )  # fmt: skip
