"""An evaluation on several machines: which units a shard runs, and how the folders of shards become one.

Shard i of n has every n-th problem of the dataset, with all its seeds: shards are disjoint and together the whole,
whoever runs them and when. They may share one folder on shared storage, which is then whole by itself, or have one
each, which `merge` joins.
"""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from maxproof.evaluation.dataset.folder import Asked, EvalFolder, Unit, create_eval, differences, open_eval
from maxproof.evaluation.dataset.spent import unit_state
from maxproof.evaluation.dataset.units import HUMAN_GRADES
from maxproof.evaluation.oracle.human_grades import HumanGrade, grades_text, read_grades
from maxproof.models.journal_writer import take_lock
from maxproof.problems import InputError
from maxproof.search.run_folder import write_atomically

_SHARD = re.compile(r"([1-9]\d{0,5})/([1-9]\d{0,5})", re.ASCII)
_FILES = ("run.json", "journal.sqlite", "journal.sqlite-wal", "outcome.json", "oracle.sqlite", "oracle.sqlite-wal",
          "grades.json")  # fmt: skip
_JOURNALS = ("journal.sqlite", "oracle.sqlite")


@dataclass(frozen=True, slots=True)
class Shard:
    """Shard `index` of `count`, 1 <= index <= count."""

    index: int
    count: int

    def units(self, folder: EvalFolder) -> tuple[Unit, ...]:
        """The units of the shard, in the evaluation's order."""
        place = {problem: number for number, problem in enumerate(folder.problems)}
        return tuple(unit for unit in folder.units() if place[unit.problem] % self.count == self.index - 1)


@dataclass(frozen=True, slots=True)
class Merged:
    """What came together.

    Attributes:
        taken: units copied now. missing: units that no shard has begun. unfinished: those that are not done.
        duplicates: units in several shards, with the folder that was taken.
    """

    folder: EvalFolder
    taken: int
    missing: tuple[Unit, ...]
    unfinished: tuple[Unit, ...]
    duplicates: tuple[tuple[Unit, Path], ...]


def read_shard(text: str) -> Shard:
    """`2/8`. Raises InputError."""
    found = _SHARD.fullmatch(text.strip())
    if not found or int(found[1]) > int(found[2]):
        raise InputError(f"expected I/N with 1 <= I <= N, got {text!r}", field="--shard", hint="e.g. --shard 2/8")
    return Shard(int(found[1]), int(found[2]))


def merge(shards: Sequence[Path], out: Path) -> Merged:
    """Copies the units of the shards' folders into `out`, a new evaluation or an earlier merge of the same.

    Of a unit that several shards have, the one that is furthest counts, then the first. Shards are only read.

    Raises InputError: evaluations that differ, naming how; a shard at work; `out` that can't be written.
    """
    folders = [open_eval(path) for path in shards]
    if any(path.resolve() == out.resolve() for path in shards):
        raise InputError("is one of the shards", file=out, hint="name another folder with --out")
    asked = _agreed(folders)
    if (out / "eval.json").exists():
        merged = open_eval(out)
        _check_same(merged, folders[0])
        merged = merged.save(asked)
    else:
        given = folders[0].proofs if (folders[0].path / "proofs.jsonl").exists() else None
        merged = create_eval(out, asked, tuple(folders[0].problems.values()), given)
    taken = 0
    missing, unfinished, duplicates = [], [], []
    for unit in merged.units():
        begun = [folder for folder in folders if _begun(folder, unit)]
        best = max(begun, key=lambda folder: _progress(folder, unit), default=None)
        if len(begun) > 1 and best is not None:
            duplicates.append((unit, best.path))
        if best is not None and (not _begun(merged, unit) or _progress(merged, unit) < _progress(best, unit)):
            _copy(best, merged, unit)
            taken += 1
        if not _begun(merged, unit):
            missing.append(unit)
        elif _progress(merged, unit) < 2:
            unfinished.append(unit)
    _join_grades(folders, merged)
    return Merged(merged, taken, tuple(missing), tuple(unfinished), tuple(duplicates))


def _agreed(folders: Sequence[EvalFolder]) -> Asked:
    """What all of them were asked: with the most seeds, and with an oracle if one has it."""
    first = folders[0]
    for folder in folders[1:]:
        _check_same(folder, first)
    longest = max((folder.asked for folder in folders), key=lambda asked: len(asked.seeds))
    graded = next((folder.asked for folder in folders if folder.asked.oracle != "none"), first.asked)
    served = {name: model for folder in reversed(folders) for name, model in folder.asked.served.items()}
    oracle = {name: getattr(graded, name) for name in ("oracle", "oracle_settings", "statistic")}
    return first.asked.model_copy(update={"seeds": longest.seeds, "served": served, **oracle})


def _check_same(one: EvalFolder, other: EvalFolder) -> None:
    names = differences(one.asked, other.asked)
    shared = one.asked.served.keys() & other.asked.served.keys()
    names += [f"served.{name}" for name in sorted(shared) if one.asked.served[name] != other.asked.served[name]]
    if names:
        raise InputError(
            f"is another evaluation than {other.path}: {', '.join(names[:8])} differ"
            + (f" [and {len(names) - 8} more]" if len(names) > 8 else ""),
            file=one.path / "eval.json",
        )


def _begun(folder: EvalFolder, unit: Unit) -> bool:
    place = folder.unit(unit)
    return place.outcome.exists() or place.journal.exists()


def _progress(folder: EvalFolder, unit: Unit) -> int:
    state = unit_state(folder, unit)
    # What people graded is looked up whenever a report is made.
    return state.method_done + (state.method_done and (state.graded or folder.asked.oracle == "grades"))


def _join_grades(folders: Sequence[EvalFolder], merged: EvalFolder) -> None:
    """One file of people's grades: a row is there as often as in the shard that has it most often.

    Grades made from a shard's own file are dropped, so that they are looked up anew. Raises InputError.
    """
    files = [path for folder in folders if (path := folder.path / HUMAN_GRADES).exists()]
    if not files:
        return
    rows: Counter[HumanGrade] = Counter()
    for path in files:
        rows |= Counter(read_grades(path))
    write_atomically(merged.path / HUMAN_GRADES, grades_text(tuple(rows.elements())))
    for unit in merged.units():
        merged.unit(unit).grades.unlink(missing_ok=True)


def _copy(source: EvalFolder, target: EvalFolder, unit: Unit) -> None:
    """The unit's files, whole or not at all. Raises InputError if its journals are being written."""
    here, there = source.unit(unit).path, target.unit(unit).path
    locks = [take_lock(here / name) for name in _JOURNALS if (here / name).exists()]
    try:
        partial = there.with_name(f".{there.name}.{os.getpid()}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        for name in _FILES:
            if (here / name).exists():
                shutil.copyfile(here / name, partial / name)
        shutil.rmtree(there, ignore_errors=True)
        partial.rename(there)
    except OSError as error:
        raise InputError(f"can't be written: {error.strerror}", file=there) from error
    finally:
        for lock in locks:
            lock.release()
