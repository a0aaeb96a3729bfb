"""Runs: policies under settings, each over the same seeds and problems, block by block.

A block is a few thousand problems, whose draws are shared by all runs: runs are paired by problem. Of a block only the
outcomes stay in memory, about 30 bytes for each run and problem.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from maxproof.evaluation.study.model import Draws, Ints, Model
from maxproof.evaluation.study.parameters import SimulatorSettings
from maxproof.evaluation.study.policies import Outcome

BLOCK = 2000
"""Problems at once: arrays of this many rows stay in a processor's cache."""

Policy = Callable[[Model, "Ints | None"], Outcome]
"""The second argument is the limit of calls by problem, for a run that has one."""


@dataclass(frozen=True, slots=True)
class Run:
    """One policy under one setting of the simulator.

    Attributes:
        name: unique in a study.
        limit_of: the run whose calls on each problem are the most that this one may make there; "" without a limit.
    """

    name: str
    settings: SimulatorSettings
    policy: Policy
    limit_of: str = ""


def blocks(seeds: Iterable[int], problems: int) -> list[tuple[int, int, int]]:
    """(seed, block, problems) of each block.

    Raises ValueError for less than one problem.
    """
    if problems < 1:
        raise ValueError(f"{problems} problems")
    return [
        (seed, block, min(BLOCK, problems - start))
        for seed in seeds
        for block, start in enumerate(range(0, problems, BLOCK))
    ]


def evaluate(
    runs: Sequence[Run],
    seeds: Iterable[int],
    problems: int,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Mapping[str, Outcome]:
    """The outcome of each run by name, over all seeds' problems in the same order; `by_round` has the last round only.

    Args:
        runs: one that another takes its limit from comes first.
        progress: told (done, total) runs of blocks.

    Raises ValueError for a limit of a run that is not there before, and for two different runs of one name.
    """
    if len({run.name for run in runs}) < len(runs):
        raise ValueError("two runs have one name")
    parts: dict[str, list[Outcome]] = {run.name: [] for run in runs}
    todo = blocks(seeds, problems)
    done = 0
    for seed, block, size in todo:
        draws = Draws(seed, block, size)
        for run in runs:
            limit = None
            if run.limit_of:
                if len(parts.get(run.limit_of, ())) <= len(parts[run.name]):
                    raise ValueError(f"{run.name} is limited by {run.limit_of}, which has not run")
                limit = parts[run.limit_of][-1].calls
            parts[run.name].append(_compact(run.policy(Model(run.settings, draws), limit)))
            done += 1
            progress(done, len(runs) * len(todo))
    return {name: found[0].merged(*found[1:]) for name, found in parts.items()}


def _compact(outcome: Outcome) -> Outcome:
    """The same in small integers, of the rounds only the last."""
    small = {name: getattr(outcome, name).astype(np.int16) for name in ("picked", "argmax", "best")}
    counts = {
        name: getattr(outcome, name).astype(np.int32) for name in ("calls", "verifications", "candidates", "winner")
    }
    return replace(outcome, **small, **counts, by_round=outcome.by_round[:, -1:].astype(np.int16))
