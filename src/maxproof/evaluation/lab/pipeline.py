"""`maxproof lab run`: the stages of the study and how they hang together.

    base -> start                          the base model, measured
         -> biased-S, panel-S              RL under one biased judge, and under the four layers; seeds S
    panel-0 is the proof expert            -> harvest -> verifier, fixer -> merge -> search-N, panel-search-N

A run folder keeps its profile. A second call goes on where the first ended.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from pydantic import ValidationError

from maxproof import __version__
from maxproof.evaluation.lab.profile import LabProfile
from maxproof.evaluation.lab.stages import Stage, StageState, read_json, run_stages, write_json
from maxproof.models.journal_writer import take_lock
from maxproof.problems import InputError

RUN = "lab.json"
ROOM = "maxproof.evaluation.lab"
PROVER = "panel-0"
"""The proof expert that the later stages build on: the first seed, chosen before anything is known of it."""


def stages(profile: LabProfile) -> tuple[Stage, ...]:
    """All stages, what is needed before what needs it. Weights are core seconds of the standard profile."""
    seeds = range(profile.rl_seeds)
    arms = [
        Stage(f"{arm}-{seed}", f"{ROOM}.arms:train", ("base",), 240, f"{arm}:{seed}")
        for seed in seeds
        for arm in ("panel", "biased")
    ]
    measured = [(f"measure-{arm.name}", f"{arm.name}/checkpoint", arm.name) for arm in arms]
    return (
        Stage("base", f"{ROOM}.base:train", (), 900),
        *arms,
        Stage("measure-base", f"{ROOM}.base:measure", ("base",), 40, "base/checkpoint"),
        Stage("harvest", f"{ROOM}.experts:harvest", (PROVER,), 20),
        Stage("verifier", f"{ROOM}.experts:train_verifier", ("harvest",), 240),
        Stage("fixer", f"{ROOM}.experts:train_fixer", ("harvest",), 200),
        *(Stage(name, f"{ROOM}.base:measure", (arm,), 40, where) for name, where, arm in measured),
        Stage("measure-verifier", f"{ROOM}.base:measure", ("verifier",), 40, "verifier/checkpoint"),
        Stage("measure-fixer", f"{ROOM}.base:measure", ("fixer",), 40, "fixer/checkpoint"),
        Stage("merge", f"{ROOM}.merging:run", ("verifier", "fixer"), 240),
        Stage("measure-merged", f"{ROOM}.base:measure", ("merge",), 40, "merge/merged"),
        *(
            Stage(f"search-{shard}", f"{ROOM}.searches:run", ("merge",), 300, str(shard))
            for shard in range(profile.search_shards)
        ),
        *(
            Stage(f"panel-search-{shard}", f"{ROOM}.searches:run_with_panel", ("merge",), 300, str(shard))
            for shard in range(profile.search_shards)
        ),
    )


def run_lab(
    folder: Path, profile: LabProfile | None, workers: int, observe: Callable[[Sequence[StageState]], None]
) -> LabProfile:
    """Runs, or goes on with, the study in `folder`, and returns its profile.

    Args:
        profile: None: the folder's own.
        workers: processes at once, each on one thread.

    Raises InputError: a folder of another profile or version, no profile for a new folder, one that another process
    works in.
    """
    chosen = open_lab(folder, profile)
    with take_lock(folder / RUN):
        run_stages(folder, stages(chosen), chosen, workers, observe)
    return chosen


def open_lab(folder: Path, profile: LabProfile | None) -> LabProfile:
    """The profile of the folder; a new folder keeps the one given. Errors as `run_lab`."""
    path = folder / RUN
    if path.exists():
        kept = read_lab(folder)
        if profile is not None and profile != kept:
            raise InputError("was begun with another profile", file=path, hint="give another --out for a new run")
        begun = read_versions(folder)
        changed = [
            f"{name} {begun.get(name, 'none')}, now {number}"
            for name, number in versions().items()
            if begun.get(name) != number
        ]
        if changed:
            raise InputError(
                f"was begun with other versions: {'; '.join(changed)}",
                file=path,
                hint="install those, or give another --out",
            )
        return kept
    if profile is None:
        raise InputError("no lab run there", file=folder, hint="begin one with maxproof lab run --out FOLDER")
    write_json(path, {"profile": profile.model_dump(mode="json"), "versions": versions()})
    return profile


def read_lab(folder: Path) -> LabProfile:
    """The profile of a run. Raises InputError if there is none, or it is damaged."""
    path = folder / RUN
    try:
        return LabProfile.model_validate(json.loads(path.read_text(encoding="utf-8"))["profile"])
    except FileNotFoundError as error:
        raise InputError(
            "no lab run there", file=folder, hint="begin one with maxproof lab run --out FOLDER"
        ) from error
    except (ValueError, KeyError, TypeError, ValidationError) as error:
        what = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
        raise InputError(f"is damaged: {what}", file=path) from error


def read_versions(folder: Path) -> dict[str, str]:
    """The versions that a run was begun with. Raises InputError if the file is damaged."""
    found = read_json(folder / RUN).get("versions")
    if not isinstance(found, dict):
        raise InputError("is damaged: no versions", file=folder / RUN)
    return {str(name): str(number) for name, number in found.items()}


def versions() -> dict[str, str]:
    """What the run's numbers depend on beside the profile."""
    found = {"maxproof": __version__}
    for package in ("torch", "tokenizers", "safetensors", "numpy"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found
