"""Runs a graph of stages, each in a process of its own, as many at once as there are workers.

A stage is a function `(folder, profile, tell) -> result` that writes into its folder what it makes and returns a JSON
object, which is kept as `result.json`: that file, written last and atomically, says that the stage is done. A run that
was killed goes on with the stages that are not done; a stage that checkpoints goes on from its checkpoint. What a stage
computes depends on the profile and on the stages it needs, never on how many workers there were or who was first.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle
import resource
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from maxproof.evaluation.lab.profile import LabProfile
from maxproof.problems import InputError
from maxproof.search.run_folder import write_atomically

RESULT = "result.json"
PROGRESS = "progress.json"

Result = dict[str, Any]
Tell = Callable[[float, str], None]
"""Says how far a stage is: share done in [0, 1], and what it does in a few words."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage.

    Attributes:
        name: unique; the folder under `stages/`.
        run: `module:function`, importable in a fresh process.
        needs: stages that must be done before.
        weight: what it costs beside the others, in core seconds as measured; for the remaining time only.
        argument: tells apart stages that share a function, e.g. a seed or a model's name.
    """

    name: str
    run: str
    needs: tuple[str, ...] = ()
    weight: float = 1.0
    argument: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a stage works: its own folder, and those of the stages it needs."""

    run: Path
    stage: Stage

    @property
    def own(self) -> Path:
        return stage_folder(self.run, self.stage.name)

    def folder(self, name: str) -> Path:
        """The folder of another stage."""
        return stage_folder(self.run, name)

    def result(self, name: str) -> Result:
        """The result of a stage that is done. Raises InputError if it is not."""
        found = read_result(self.run, name)
        if found is None:
            raise InputError(f"stage {name} is not done", file=self.folder(name))
        return found


@dataclass(frozen=True, slots=True)
class StageState:
    """How one stage stands: `share` in [0, 1], `text` in a few words, `seconds` of work so far."""

    name: str
    state: str
    share: float
    text: str
    seconds: float


def stage_folder(run: Path, name: str) -> Path:
    """Where a stage keeps everything that it writes."""
    return run / "stages" / name


def read_result(run: Path, name: str) -> Result | None:
    """The result of a stage, None if it is not done. Raises InputError if the file is damaged."""
    path = stage_folder(run, name) / RESULT
    return read_json(path) if path.exists() else None


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object. Raises InputError if the file is damaged."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"is damaged: {error}", file=path, hint="delete it: the stage is then run again") from None
    if not isinstance(found, dict):
        raise InputError("is damaged: no JSON object", file=path, hint="delete it: the stage is then run again")
    return found


def write_json(path: Path, value: object) -> None:
    """Writes atomically: the file is there whole, or as it was."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, json.dumps(value, ensure_ascii=False, indent=1))


def run_stages(
    run: Path,
    stages: Sequence[Stage],
    profile: LabProfile,
    workers: int,
    observe: Callable[[Sequence[StageState]], None],
    *,
    every_s: float = 1.0,
) -> None:
    """Runs what is not done, in the order given where several could start.

    Args:
        observe: is told how all stages stand, about every `every_s` seconds and at the end.

    Raises what a stage raised (after those that run have ended), InputError when a worker was killed.
    """
    done = {stage.name for stage in stages if read_result(run, stage.name) is not None}
    waiting = [stage for stage in stages if stage.name not in done]
    # Set for the workers, before they import what reads it.
    os.environ["OMP_NUM_THREADS"] = "1"
    running: dict[Future[None], Stage] = {}
    failure: BaseException | None = None
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_end_with, initargs=(os.getpid(),)) as pool:
        try:
            while waiting or running:
                ready = [s for s in waiting if failure is None and done.issuperset(s.needs)]
                for stage in ready[: workers - len(running)]:
                    waiting.remove(stage)
                    running[pool.submit(_work, run, stage, profile)] = stage
                if not running:
                    break
                finished, _ = wait(running, timeout=every_s, return_when=FIRST_COMPLETED)
                for future in finished:
                    stage = running.pop(future)
                    error = future.exception()
                    if error is None:
                        done.add(stage.name)
                    else:
                        failure = failure or error
                observe(states(run, stages, {stage.name for stage in running.values()}))
        except BaseException:
            for process in list((pool._processes or {}).values()):
                process.terminate()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    if isinstance(failure, BrokenProcessPool):
        raise InputError("a worker process was killed, perhaps for memory", file=run, hint="run the same command again")
    if failure is not None:
        raise failure


def _work(run: Path, stage: Stage, profile: LabProfile) -> None:
    """`run_stage` in a worker. An error that would not survive the way to the parent becomes one that does."""
    try:
        run_stage(run, stage, profile)
    except Exception as error:
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # noqa: BLE001 - whatever its class does when it is pickled
            raise RuntimeError(f"stage {stage.name}: {type(error).__name__}: {error}") from None
        raise


def _end_with(parent: int) -> None:
    """Ends this process when its parent is gone, however that ended: no stage works on for nobody."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def run_stage(run: Path, stage: Stage, profile: LabProfile) -> None:
    """Runs one stage in this process and keeps its result, with what it cost.

    Beside the stage's own keys, the result has: seconds, of work in all sessions; started and ended, Unix seconds, the
    first start of all sessions (null where a session did not note it); peak_mib, the most memory that this process had
    resident so far, and peak_mib_before, the same when the stage began. A worker runs several stages: where the two are
    equal, the stage had at most that.
    """
    place = Place(run, stage)
    place.own.mkdir(parents=True, exist_ok=True)
    kept = _progress(place.own)
    before = float(kept.get("seconds", 0.0))
    started = kept.get("started", None if kept else round(time.time(), 1))
    peak_before = _peak_mib()
    begun = last = time.monotonic()

    def note(share: float, text: str, seconds: float) -> None:
        found = {"share": share, "text": text, "seconds": seconds, "started": started}
        write_json(place.own / PROGRESS, found)

    note(float(kept.get("share", 0.0)), str(kept.get("text", "")), before)

    def tell(share: float, text: str) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= 1:
            last = now
            note(share, text, before + now - begun)

    module, _, function = stage.run.partition(":")
    work: Callable[[Place, LabProfile, Tell], Result] = getattr(import_module(module), function)
    result = work(place, profile, tell)
    seconds = before + time.monotonic() - begun
    note(1.0, "done", seconds)
    cost = {
        "seconds": round(seconds, 1),
        "started": started,
        "ended": round(time.time(), 1),
        "peak_mib": _peak_mib(),
        "peak_mib_before": peak_before,
    }
    write_json(place.own / RESULT, {**result, **cost})


def states(run: Path, stages: Sequence[Stage], running: set[str]) -> list[StageState]:
    """How every stage stands, read from the run folder."""
    found = []
    for stage in stages:
        folder = stage_folder(run, stage.name)
        progress = _progress(folder)
        state = "done" if (folder / RESULT).exists() else "running" if stage.name in running else "waiting"
        share = 1.0 if state == "done" else float(progress.get("share", 0.0))
        found.append(
            StageState(stage.name, state, share, str(progress.get("text", "")), float(progress.get("seconds", 0.0)))
        )
    return found


def remaining_s(stages: Sequence[Stage], now: Sequence[StageState], workers: int) -> float | None:
    """Seconds that are left, from the weights and the speed so far; None before anything is known."""
    weights = {stage.name: stage.weight for stage in stages}
    worked = sum(weights[s.name] * s.share for s in now)
    spent = sum(s.seconds for s in now)
    if worked <= 0 or spent <= 0:
        return None
    left = sum(weights[s.name] * (1 - s.share) for s in now) * spent / worked
    return max(left / workers, _longest_path(stages, now) * spent / worked)


def _longest_path(stages: Sequence[Stage], now: Sequence[StageState]) -> float:
    share: Mapping[str, float] = {s.name: s.share for s in now}
    ends: dict[str, float] = {}
    for stage in stages:  # needs come before what needs them
        ends[stage.name] = max((ends[n] for n in stage.needs), default=0.0) + stage.weight * (1 - share[stage.name])
    return max(ends.values(), default=0.0)


def _progress(folder: Path) -> Result:
    try:
        found = json.loads((folder / PROGRESS).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _peak_mib() -> int:
    """The most memory that this process has had resident, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (2**20 if sys.platform == "darwin" else 2**10))  # bytes on macOS, KiB elsewhere
