"""What is told of each training step."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from maxproof.training.advantage import mean_and_std
from maxproof.training.cispo import WeightStats
from maxproof.training.policy_update import UpdateReport
from maxproof.training.rollouts import RolloutRecord
from maxproof.training.types import Sampled


@dataclass(frozen=True, slots=True)
class StepReport:
    """One step.

    Attributes:
        step: 0-based, of `steps`.
        groups: sampled. kept: used. dropped: the others, by reason.
        rollouts: sampled. scored: of them with a reward; the next four are over these, None without any.
        reward_mean, reward_std: population. pass_rate: share with reward 1. oracle_mean: where an oracle was recorded.
        finished: share of the rollouts that ended by themselves.
        tokens: sampled. length_mean: tokens an answer, length_max: the longest.
        loss, gradient_norm: None when no group was kept.
        weights: importance weights of the trained tokens.
        sampling_s, reward_s, training_s: seconds. eta_s: seconds to the end of the run, by this session's mean step.
        validation: what `validate` gave after this step, None if it was not asked.
        warning: for the user, "" mostly.
    """

    step: int
    steps: int
    groups: int
    kept: int
    dropped: Mapping[str, int]
    rollouts: int
    scored: int
    reward_mean: float | None
    reward_std: float | None
    pass_rate: float | None
    oracle_mean: float | None
    finished: float
    tokens: int
    length_mean: float
    length_max: int
    loss: float | None
    gradient_norm: float | None
    weights: WeightStats
    sampling_s: float
    reward_s: float
    training_s: float
    eta_s: float
    validation: float | None = None
    warning: str = ""


def step_report(
    records: Sequence[RolloutRecord],
    samples: Sequence[Sampled],
    update: UpdateReport | None,
    *,
    step: int,
    steps: int,
    groups: int,
    kept: int,
    dropped: Mapping[str, int],
    sampling_s: float,
    reward_s: float,
    training_s: float,
    eta_s: float,
    validation: float | None,
    warning: str,
) -> StepReport:
    """The report of a step with these rollouts; see `StepReport` for the rest."""
    rewards = [record.train_reward for record in records if record.train_reward is not None]
    truths = [record.oracle for record in records if record.oracle is not None]
    mean, std = mean_and_std(rewards) if rewards else (None, None)
    lengths = [len(found.ids) for found in samples]
    return StepReport(
        step=step,
        steps=steps,
        groups=groups,
        kept=kept,
        dropped=dropped,
        rollouts=len(records),
        scored=len(rewards),
        reward_mean=mean,
        reward_std=std,
        pass_rate=sum(value == 1 for value in rewards) / len(rewards) if rewards else None,
        oracle_mean=math.fsum(truths) / len(truths) if truths else None,
        finished=sum(found.finished for found in samples) / len(samples),
        tokens=sum(lengths),
        length_mean=sum(lengths) / len(lengths),
        length_max=max(lengths),
        loss=update.loss if update else None,
        gradient_norm=update.gradient_norm if update else None,
        weights=update.weights if update else WeightStats(),
        sampling_s=sampling_s,
        reward_s=reward_s,
        training_s=training_s,
        eta_s=eta_s,
        validation=validation,
        warning=warning,
    )
