"""The ways that the simulated study compares, and what it measures of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from maxproof.evaluation.study.model import TOP, Ints, Model
from maxproof.evaluation.study.parameters import SimulatorSettings
from maxproof.evaluation.study.policies import Outcome, best_of, one_shot, search
from maxproof.evaluation.study.runs import Run
from maxproof.evaluation.study.scaffolds import consolidate, mean_pool, repair_loop
from maxproof.search.settings import SearchSettings

Limited = Callable[[Model, SearchSettings, Ints], Outcome]

LIMITED: Mapping[str, Limited] = {
    "best_of_equal": best_of,
    "repair_loop": repair_loop,
    "mean_pool": mean_pool,
    "consolidate": consolidate,
}
"""Policies that may make as many calls on each problem as the search made there."""

FREE: Mapping[str, Callable[[Model, SearchSettings], Outcome]] = {
    "search": search,
    "search_argmax": lambda model, sizes: search(model, sizes, tournament=False),
    "best_of": best_of,
    "best_of_argmax": lambda model, sizes: best_of(model, sizes, tournament=False),
    "one_shot": lambda model, sizes: one_shot(model),
}

MEASURES: Mapping[str, Callable[[Outcome], np.ndarray]] = {
    "points": lambda outcome: outcome.picked,
    "pass_rate": lambda outcome: outcome.picked == TOP,
    "best_in_archive": lambda outcome: outcome.best,
    "wrong_claim_rate": lambda outcome: outcome.claimed & (outcome.picked < TOP),
    "wrong_stop_rate": lambda outcome: outcome.wrong_stop,
    "verifications": lambda outcome: outcome.verifications,
    "candidates": lambda outcome: outcome.candidates,
}
"""By problem. Points 0..7 are true points; wrong claim: the policy calls a proof right that is not; wrong stop: it
stopped for its perfect proofs and none of them is right."""

COUNTS = ("verifications", "candidates")
"""Measures without a largest value; points are at most 7, rates 1."""


@dataclass(frozen=True, slots=True)
class Way:
    """One arm. `sizes`: what it changes of the search's settings."""

    name: str
    policy: str
    sizes: Mapping[str, object] = field(default_factory=dict)


def runs_of(way: Way, settings: SimulatorSettings, sizes: SearchSettings) -> list[Run]:
    """The run of a way, last, after the one that its limit of calls comes from. Raises KeyError for no such policy."""
    changed = SearchSettings.model_validate({**sizes.model_dump(), **way.sizes})
    name = f"{way.policy} {settings.model_dump_json()} {changed.model_dump_json()}"
    if way.policy in FREE:
        free = FREE[way.policy]
        return [Run(name, settings, lambda model, _: free(model, changed))]
    limited = LIMITED[way.policy]

    def within(model: Model, limit: Ints | None) -> Outcome:
        assert limit is not None
        return limited(model, changed, limit)

    first = runs_of(Way("", "search"), settings, sizes)
    return [*first, Run(name, settings, within, limit_of=first[0].name)]
