"""What a trainer is told, before it is put into that trainer's words.

Two conventions exist for the same two numbers. Here the interval [low, high] of the importance weight is absolute, as
in TRL; verl, slime, NeMo-RL and SkyRL want offsets from 1: low = 1 - offset_low, high = 1 + offset_high. A number
copied from one to the other is another algorithm, silently.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from maxproof.problems.errors import InputError
from maxproof.training.settings import CispoSettings


@dataclass(frozen=True, slots=True)
class CispoSpec:
    """The algorithm.

    Attributes:
        low, high: the absolute interval that an importance weight is clipped to.
        std_threshold: a group is used iff the population std of its rewards (0..1) exceeds it, strictly.
        epsilon: added to the std.
        group: G, rollouts a problem. prompts: problems a step.
        minibatches: optimiser steps a batch of rollouts, each on its own part.
        max_empty_batches: batches without a usable group that end the run.
        steps, save_every: in batches of rollouts.
    """

    low: float
    high: float
    std_threshold: float
    epsilon: float
    group: int
    prompts: int
    minibatches: int
    learning_rate: float
    clip_norm: float
    max_empty_batches: int
    steps: int
    save_every: int
    seed: int
    temperature: float
    top_p: float
    max_new_tokens: int

    @property
    def offset_low(self) -> float:
        """low = 1 - offset_low; 1 is no effective lower bound."""
        return 1 - self.low

    @property
    def offset_high(self) -> float:
        """high = 1 + offset_high."""
        return self.high - 1

    @property
    def samples(self) -> int:
        """Rollouts a step."""
        return self.prompts * self.group


@dataclass(frozen=True, slots=True)
class Launch:
    """Where it runs; nothing here changes the algorithm.

    Attributes:
        model: folder or name. data: the file of prompts, in the trainer's own format. out: folder of checkpoints.
        nodes, gpus: machines, and GPUs on each.
        micro_batch: sequences on a GPU at once in training.
        prompt_tokens: the longest prompt.
        tensor_parallel: GPUs that one rollout engine spans.
        reward_url: of a running `maxproof reward serve`.
    """

    model: str
    data: str
    out: str = "checkpoints"
    nodes: int = 1
    gpus: int = 8
    micro_batch: int = 1
    prompt_tokens: int = 1024
    tensor_parallel: int = 1
    reward_url: str = "http://127.0.0.1:8300"

    def __post_init__(self) -> None:
        for name in ("nodes", "gpus", "micro_batch", "prompt_tokens", "tensor_parallel"):
            if getattr(self, name) < 1:
                raise InputError(f"{getattr(self, name)} is less than 1", field=name)

    @property
    def world(self) -> int:
        return self.nodes * self.gpus


@dataclass(frozen=True, slots=True)
class DialectConfig:
    """The translation.

    Attributes:
        trainer: its name. version: the release or commit whose source the option names were read in.
        files: name -> text.
        notes: what differs from the specification, or needs a hand. A note that begins with WARNING changes the
            algorithm.
    """

    trainer: str
    version: str
    files: Mapping[str, str]
    notes: tuple[str, ...]


def spec_of(settings: CispoSettings) -> CispoSpec:
    """The part of our trainer's settings that other trainers know too."""
    return CispoSpec(
        low=settings.weight_low,
        high=settings.weight_high,
        std_threshold=settings.std_threshold,
        epsilon=settings.epsilon,
        group=settings.group,
        prompts=settings.prompts,
        minibatches=settings.minibatches,
        learning_rate=settings.learning_rate,
        clip_norm=settings.clip_norm,
        max_empty_batches=settings.max_empty_batches,
        steps=settings.steps,
        save_every=settings.save_every,
        seed=settings.seed,
        temperature=settings.sampling.temperature,
        top_p=settings.sampling.top_p,
        max_new_tokens=settings.sampling.max_new_tokens,
    )


def parts(whole: int, by: int, what: str) -> int:
    """whole / by. Raises InputError if that isn't a whole number of at least 1."""
    if whole % by or whole < by:
        raise InputError(f"{what}: {whole} can't be cut into {by} equal parts")
    return whole // by


def refuse_lower_bound(spec: CispoSpec, trainer: str) -> None:
    """Raises InputError for what clamps weights from above only."""
    if spec.low > 0:
        raise InputError(
            f"{trainer}'s CISPO has no lower bound of the importance weight, so {spec.low:g} can't be expressed",
            field="weight_low",
            hint="set it to 0, as CISPO's origin does, or use verl, slime, nemo-rl or skyrl",
        )


def ratio_notes(spec: CispoSpec) -> tuple[str, ...]:
    """A warning where clipping can't do anything."""
    if spec.minibatches > 1:
        return ()
    return (
        "WARNING: one optimiser step a batch (minibatches = 1): the ratio of new to old policy is always 1, so the "
        "clip does nothing and this is REINFORCE with a group baseline.",
    )


def std_note(spec: CispoSpec, epsilon: str) -> str:
    """For trainers that divide advantages by the sample std."""
    factor = math.sqrt((spec.group - 1) / spec.group)
    return (
        f"Advantages are divided by the sample standard deviation + {epsilon}, here by the population's + "
        f"{spec.epsilon:g}: all are smaller by sqrt((G-1)/G) = {factor:.3f}, a factor on the learning rate."
    )


TOKEN_NOTE = (
    "The loss is divided by the tokens of the mini-batch, here by those of each group: a group with longer answers "
    "weighs more. Both agree where groups have equally many tokens."
)
