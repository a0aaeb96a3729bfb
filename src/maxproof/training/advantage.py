"""Advantages of a group of rollouts, and which groups are used (MaxProof section 2.3).

    A_i = (R_i - mu) / (sigma + eps)

mu and sigma are the mean and the *population* standard deviation of the group's scored members. A group is used iff
sigma > tau, strictly. A member that is not scored is masked: it has no advantage and no part in mu and sigma.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from maxproof.problems import InputError


class Dropped(StrEnum):
    """Why a group is not used."""

    TOO_FEW_SCORED = "too_few_scored"  # fewer than two members have a reward: there is nothing to compare
    NO_SPREAD = "no_spread"  # sigma <= tau


@dataclass(frozen=True, slots=True)
class GroupAdvantages:
    """One group.

    Attributes:
        advantages: one a member, in order; None where the member is masked (not scored, or its group is dropped).
        mean: of the scored rewards; None with none scored. std: population, likewise.
        dropped: None iff the group is used.
    """

    advantages: tuple[float | None, ...]
    mean: float | None
    std: float | None
    dropped: Dropped | None


def group_advantages(rewards: Sequence[float | None], *, std_threshold: float, epsilon: float) -> GroupAdvantages:
    """The advantages of one group of G >= 2 rewards; None is "not scored".

    Raises InputError for G < 2 (one rollout has no spread) and for a reward that is not a finite number.
    """
    if len(rewards) < 2:
        raise InputError(
            f"a group of {len(rewards)} has no spread: every advantage would be 0", field="group", hint="at least 2"
        )
    scored = [reward for reward in rewards if reward is not None]
    for reward in scored:
        if not math.isfinite(reward):
            raise InputError(f"a reward is {reward}, expected a finite number or none", field="reward")
    nothing = (None,) * len(rewards)
    if not scored:
        return GroupAdvantages(nothing, None, None, Dropped.TOO_FEW_SCORED)
    mean, std = mean_and_std(scored)
    if len(scored) < 2:
        return GroupAdvantages(nothing, mean, std, Dropped.TOO_FEW_SCORED)
    if not std > std_threshold:
        return GroupAdvantages(nothing, mean, std, Dropped.NO_SPREAD)
    advantages = tuple(None if reward is None else (reward - mean) / (std + epsilon) for reward in rewards)
    return GroupAdvantages(advantages, mean, std, None)


def mean_and_std(values: Sequence[float]) -> tuple[float, float]:
    """Mean and population standard deviation of at least one value; equal values have exactly 0."""
    if min(values) == max(values):  # rounding of the mean must not make a spread where there is none
        return values[0], 0.0
    mean = math.fsum(values) / len(values)
    return mean, math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
