"""The folder of an RL run: the names in it, who trains in it, what it was started with, whether a state was saved."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from maxproof.models.journal_writer import take_lock
from maxproof.problems import InputError
from maxproof.problems.text import read_text
from maxproof.search.run_folder import write_atomically
from maxproof.training.checkpoint import LATEST, Checkpoint, digest
from maxproof.training.settings import CispoSettings
from maxproof.training.types import Task

CHECKPOINT, BEST, ROLLOUTS, RUN = LATEST, "best", "rollouts.jsonl", "run.json"
MAX_RUN_BYTES = 1024 * 1024


@contextmanager
def locked(out: Path) -> Iterator[None]:
    """Makes the folder, and keeps other processes from training in it. Raises InputError, naming who does already."""
    out.mkdir(parents=True, exist_ok=True)
    lock = take_lock(out / RUN)
    try:
        yield
    finally:
        lock.release()


def is_saved(folder: Path) -> bool:
    """A checkpoint is there, or the half of a swap that `load_checkpoint` completes."""
    return folder.exists() or folder.with_name(f".{folder.name}.old").exists()


def claim(out: Path, start: Checkpoint, tasks: Sequence[Task], settings: CispoSettings) -> None:
    """Writes `run.json`, or compares with it. Raises InputError, naming what differs."""
    listed = hashlib.sha256("".join(f"{task.id!r} {task.prompt!r}\n" for task in tasks).encode()).hexdigest()
    run: dict[str, Any] = {
        "start": digest(start),
        "tasks": listed,
        "settings": settings.model_dump(mode="json", exclude={"steps", "save_every"}),
    }
    path = out / RUN
    if not path.exists():
        if is_saved(out / CHECKPOINT) or (out / ROLLOUTS).exists():
            raise InputError(f"holds a run without its {RUN}", file=out, hint="name another folder")
        write_atomically(path, json.dumps(run, indent=2, sort_keys=True) + "\n")
        return
    try:
        known = json.loads(read_text(path, MAX_RUN_BYTES))
        differs = [key for key in run if known[key] != run[key]]
        changed = sorted(key for key in run["settings"] if known["settings"].get(key) != run["settings"][key])
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        raise InputError("not what a training run writes", file=path, hint="name another folder") from None
    if differs:
        what = {
            "start": "starts from another model",
            "tasks": "has other tasks",
            "settings": f"has other settings: {', '.join(changed)}",
        }
        raise InputError(f"this run {what[differs[0]]}", file=out, hint="name another folder, or give what it had")
