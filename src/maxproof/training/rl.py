"""Group-based reinforcement learning with CISPO (MaxProof sections 2.3 and 3), for provers and verifiers alike.

One step: choose prompts, sample G answers to each, have all of them rewarded at once, write them down, turn rewards
into advantages (`advantage.py`), optimise on the groups that have a spread (`policy_update.py`).

    out/rollouts.jsonl   every rollout, durable before it is trained on (`rollouts.py`)
    out/checkpoint/      the last state that was saved, to resume from
    out/best/            the best model by `validate`, where that is given
    out/run.json         what the run was started with; its .lock is held by the process that trains

Everything follows from the settings' seed: a run that is killed and resumed ends with the same weights, bit for bit (on
one machine, with one number of threads). It repeats the steps since the last saved one without asking for any reward
that is in `rollouts.jsonl`.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from maxproof.problems import InputError
from maxproof.training.advantage import Dropped, GroupAdvantages, group_advantages
from maxproof.training.checkpoint import Checkpoint, copy_model, load_checkpoint, save_checkpoint, trained
from maxproof.training.policy_update import Answered, Group, NotFinite, UpdateReport, adamw, update_policy
from maxproof.training.rl_folder import BEST, CHECKPOINT, ROLLOUTS, claim, is_saved, locked
from maxproof.training.rl_report import StepReport as StepReport
from maxproof.training.rl_report import step_report
from maxproof.training.rollouts import RolloutLog, RolloutRecord, record_of
from maxproof.training.sampling import sample
from maxproof.training.settings import CispoSettings
from maxproof.training.state import TrainState, capture, load_state, restore
from maxproof.training.types import Reward, RewardFunction, Rollout, Sampled, Task

OVERSAMPLING = 2
"""A step has at most this many times `prompts` groups."""
RATIO_ONE = "the importance weight is identically 1, so its clipping does nothing: one optimiser step in this batch"

_MISSED = ("scored", "not_scored", "no_spread", "too_few_scored", "reward_sum")

Validate = Callable[[Checkpoint], float]
"""Higher is better; deterministic, or a resumed run may keep another `best`."""


@dataclass(slots=True)
class _Progress:
    """What a run carries from step to step beside weights and optimiser; all of it is in the saved state.

    Attributes:
        step: steps done. drawn: tasks drawn so far. prompts: how many the next step draws.
        empty: batches in a row without a usable group; missed: what became of their rollouts and groups.
        best: what `validate` gave for the model in `best`.
    """

    prompts: int
    step: int = 0
    drawn: int = 0
    empty: int = 0
    missed: dict[str, float] = field(default_factory=dict)
    best: float | None = None

    @classmethod
    def of(cls, state: TrainState) -> _Progress:
        extra = state.extra
        return cls(extra["prompts"], state.step, state.position, extra["empty"], dict(extra["missed"]), extra["best"])

    def extra(self) -> dict[str, object]:
        return {"prompts": self.prompts, "empty": self.empty, "missed": self.missed, "best": self.best}


async def train_rl(
    checkpoint: Checkpoint,
    tasks: Sequence[Task],
    reward: RewardFunction,
    settings: CispoSettings,
    out: Path,
    *,
    observe: Callable[[StepReport], None] | None = None,
    validate: Validate | None = None,
) -> Checkpoint:
    """Trains from `checkpoint` (which stays as it is); the model after the last step.

    Where `out` has a run with the same start, tasks and settings (`steps` and `save_every` may differ), it goes on.
    `reward` is asked for each rollout by itself, once: it must not depend on what else is in the batch.
    `validate` is asked at the start and at every save; `out/best` has the model of the highest value.

    Raises InputError: nothing to train on, settings that can't learn, a folder of another run or one that
    another process trains in, `max_empty_batches` batches in a row without a usable group (with counts), a loss that is
    not finite (the last saved state stays), a reward out of 0..1, a file that can't be read or written. What `reward`
    raises passes through. In each case but that of the loss all finished steps are kept.
    """
    _check(tasks, settings)
    with locked(out):
        run = _Run(checkpoint, tasks, settings, out, validate)
        if run.progress.step == 0 and validate is not None and run.progress.best is None:
            run.judge_model(validate)
        while run.progress.step < settings.steps:
            report = await run.do_step(reward)
            if observe is not None:
                observe(report)
            run.check_usable()
        return run.snapshot()


class _Run:
    """One session of a run: the model in training, where it stands, and its folder."""

    def __init__(
        self, start: Checkpoint, tasks: Sequence[Task], settings: CispoSettings, out: Path, validate: Validate | None
    ) -> None:
        self._start, self._tasks, self._settings, self._out, self._validate = start, tasks, settings, out, validate
        claim(out, start, tasks, settings)
        state = None
        self.model, self.progress = copy_model(start.model), _Progress(settings.prompts)
        if is_saved(out / CHECKPOINT):
            self.model = load_checkpoint(out / CHECKPOINT, start.model.device).model
            state = load_state(out / CHECKPOINT)
            if state is None:
                raise InputError("holds a checkpoint that no training can be resumed from", file=out / CHECKPOINT)
            self.progress = _Progress.of(state)
        self._optimizer = adamw(self.model, settings)
        if state is not None:
            restore(state, self.model, self._optimizer)
        self._saved = self.progress.step if state is not None else -1
        self._log = RolloutLog(out / ROLLOUTS, self.progress.step)
        self._seconds: list[float] = []
        self._warned = False

    def snapshot(self) -> Checkpoint:
        """The model as it is now."""
        return trained(
            self._start,
            self.model,
            trained_by="cispo",
            seed=self._settings.seed,
            step=self.progress.step,
            notes={"settings": self._settings.model_dump(mode="json")},
        )

    def save(self) -> None:
        """The state after the last whole step, once."""
        if self._saved == self.progress.step:
            return
        state = capture(
            self.model,
            self._optimizer,
            step=self.progress.step,
            position=self.progress.drawn,
            extra=self.progress.extra(),
        )
        save_checkpoint(self._out / CHECKPOINT, self.snapshot(), state=state)
        self._saved = self.progress.step

    def judge_model(self, validate: Validate) -> float:
        """Validates the model, and keeps it if it is the best so far."""
        value = validate(self.snapshot())
        if not math.isfinite(value):
            raise InputError(f"validation gave {value}, expected a finite number", field="validate")
        if self.progress.best is None or value > self.progress.best:
            save_checkpoint(self._out / BEST, self.snapshot())
            self.progress.best = value
        return value

    async def do_step(self, reward: RewardFunction) -> StepReport:
        begun = time.monotonic()
        tasks = self._next_tasks()
        rollouts, samples, prompts = self._sample(tasks)
        sampled = time.monotonic()
        try:
            records = await _rewarded(reward, rollouts, self._log.recorded(self.progress.step))
        except BaseException:
            self.save()  # the last whole step, so that an interrupted run repeats no more than this one
            raise
        self._log.write(self.progress.step, records)
        rewarded = time.monotonic()

        size = self._settings.group
        by_group = [records[start : start + size] for start in range(0, len(records), size)]
        advantages = [self._advantages(group) for group in by_group]
        kept = _trainable(advantages, samples, prompts, size)
        update = self._update(kept) if kept else None
        dropped = Counter(found.dropped for found in advantages if found.dropped is not None)
        self._advance(len(tasks), len(kept), records, dropped)

        done = self.progress.step
        validation = None
        if done % self._settings.save_every == 0 or done == self._settings.steps:
            if self._validate is not None:
                validation = self.judge_model(self._validate)
            self.save()
        ended = time.monotonic()
        self._seconds.append(ended - begun)
        mean_s = math.fsum(self._seconds) / len(self._seconds)
        unclipped = update is not None and update.weights.all_one and not self._warned
        self._warned |= unclipped
        return step_report(
            records,
            samples,
            update,
            step=done - 1,
            steps=self._settings.steps,
            groups=len(tasks),
            kept=len(kept),
            dropped={str(reason): count for reason, count in sorted(dropped.items())},
            sampling_s=sampled - begun,
            reward_s=rewarded - sampled,
            training_s=ended - rewarded,
            eta_s=mean_s * (self._settings.steps - done),
            validation=validation,
            warning=RATIO_ONE if unclipped else "",
        )

    def check_usable(self) -> None:
        """Raises InputError after too many batches in a row that taught nothing."""
        progress = self.progress
        if progress.empty < self._settings.max_empty_batches:
            return
        scored, not_scored, flat, few, total = (progress.missed[name] for name in _MISSED)
        message = (
            f"{progress.empty} batches in a row had no usable group: {scored:.0f} rollouts scored, "
            f"{not_scored:.0f} not scored; groups dropped: {flat:.0f} without spread, {few:.0f} with fewer than two "
            "scored"
        )
        if few >= flat:
            hint = "the reward does not score: see what its judges answer"
        else:
            hint = f"the mean reward is {total / scored:.3f}: take tasks that are solved sometimes"
        progress.empty, progress.missed = 0, {}  # a resumed run tries afresh
        self._saved = -1
        self.save()
        raise InputError(message, file=self._out, hint=hint)

    def _next_tasks(self) -> list[Task]:
        drawn = range(self.progress.drawn, self.progress.drawn + self.progress.prompts)
        return [self._tasks[index] for index in draws(len(self._tasks), self._settings.seed, drawn)]

    def _sample(self, tasks: Sequence[Task]) -> tuple[list[Rollout], list[Sampled], list[list[int]]]:
        """All rollouts of the step, group after group, with their tokens; and each group's prompt as tokens."""
        places = [(group, member) for group in range(len(tasks)) for member in range(self._settings.group)]
        step, tokenizer = self.progress.step, self._start.tokenizer
        samples = sample(
            self.model,
            tokenizer,
            [tasks[group].prompt for group, _ in places],
            self._settings.sampling,
            [rollout_seed(self._settings.seed, step, group, member) for group, member in places],
        )
        rollouts = [
            Rollout(
                step,
                tasks[group].id,
                group,
                member,
                tasks[group].prompt,
                tokenizer.decode(found.ids),
                found.finished,
            )
            for (group, member), found in zip(places, samples, strict=True)
        ]
        return rollouts, samples, tokenizer.encode_batch([task.prompt for task in tasks], prompts=True)

    def _advantages(self, group: Sequence[RolloutRecord]) -> GroupAdvantages:
        rewards = [record.train_reward for record in group]
        return group_advantages(rewards, std_threshold=self._settings.std_threshold, epsilon=self._settings.epsilon)

    def _update(self, groups: Sequence[Group]) -> UpdateReport:
        try:
            return update_policy(self.model, self._optimizer, groups, self._settings)
        except NotFinite as error:
            kept = f"the state after step {self._saved} stays in {CHECKPOINT}" if self._saved >= 0 else "nothing saved"
            raise InputError(
                f"training broke at step {self.progress.step + 1}: {error}",
                file=self._out,
                hint=f"{kept}; start again with a lower learning_rate",
            ) from None

    def _advance(self, groups: int, kept: int, records: Sequence[RolloutRecord], dropped: Counter[Dropped]) -> None:
        progress, wanted = self.progress, self._settings.prompts
        progress.step += 1
        progress.drawn += groups
        # As many prompts as give a full batch if the same share of groups is dropped again.
        progress.prompts = min(OVERSAMPLING * wanted, max(wanted, -(-wanted * groups // kept))) if kept else 2 * wanted
        if kept:
            progress.empty, progress.missed = 0, {}
            return
        progress.empty += 1
        rewards = [record.train_reward for record in records if record.train_reward is not None]
        flat, few = dropped[Dropped.NO_SPREAD], dropped[Dropped.TOO_FEW_SCORED]
        counts = (len(rewards), len(records) - len(rewards), flat, few, math.fsum(rewards))
        for name, count in zip(_MISSED, counts, strict=True):
            progress.missed[name] = progress.missed.get(name, 0) + count


def draws(count: int, seed: int, positions: range) -> list[int]:
    """Which of `count` tasks stand at these places of an endless sequence: one permutation after another, by seed."""
    orders: dict[int, list[int]] = {}
    for epoch in range(positions.start // count, (positions.stop - 1) // count + 1):
        orders[epoch] = list(range(count))
        Random(f"{seed}/{epoch}").shuffle(orders[epoch])
    return [orders[position // count][position % count] for position in positions]


def rollout_seed(seed: int, step: int, group: int, member: int) -> int:
    """63 bits for one rollout: the same whatever else is sampled."""
    data = hashlib.blake2b(f"{seed}/{step}/{group}/{member}".encode(), digest_size=8).digest()
    return int.from_bytes(data, "big") >> 1


async def _rewarded(
    reward: RewardFunction, rollouts: Sequence[Rollout], recorded: Sequence[RolloutRecord]
) -> list[RolloutRecord]:
    """The record of each rollout: what is recorded of the same one already, else what `reward` says."""
    known = {(record.group, record.sample): record for record in recorded}
    found = [known.get((rollout.group, rollout.sample)) for rollout in rollouts]
    same = [
        record if record is not None and _identity(record) == _identity(record_of(rollout, Reward(None))) else None
        for rollout, record in zip(rollouts, found, strict=True)
    ]
    asked = [rollout for rollout, record in zip(rollouts, same, strict=True) if record is None]
    rewards = await reward(asked) if asked else []
    if len(rewards) != len(asked):
        raise InputError(f"{len(rewards)} rewards for {len(asked)} rollouts", field="reward")
    fresh = (record_of(rollout, value) for rollout, value in zip(asked, rewards, strict=True))
    return [record if record is not None else next(fresh) for record in same]


def _identity(record: RolloutRecord) -> tuple[object, ...]:
    return record.problem, record.prompt, record.text, record.thinking, record.finished


def _trainable(
    advantages: Sequence[GroupAdvantages], samples: Sequence[Sampled], prompts: Sequence[Sequence[int]], size: int
) -> list[Group]:
    """The kept groups as tokens, without the members that are masked."""
    return [
        tuple(
            Answered(tuple(prompts[number]), found.ids, value)
            for found, value in zip(samples[number * size : (number + 1) * size], group.advantages, strict=True)
            if value is not None
        )
        for number, group in enumerate(advantages)
        if group.dropped is None
    ]


def _check(tasks: Sequence[Task], settings: CispoSettings) -> None:
    if not tasks:
        raise InputError("no task to train on", field="tasks")
    if settings.group < 2:
        raise InputError("a group of one rollout has no spread", field="group", hint="at least 2")
    if settings.sampling.temperature == 0:
        raise InputError(
            "greedy sampling gives equal rollouts, so no group has a spread", field="sampling.temperature", hint="1.0"
        )
