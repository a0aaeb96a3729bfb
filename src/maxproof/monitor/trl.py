"""The monitor inside TRL's trainers: what their reward functions see and give.

    watch = TrlMonitor()
    trainer = GRPOTrainer(model, reward_funcs=watch.reward(my_reward), callbacks=[watch], ...)
    trainer.train()
    report = watch.report()

A callback alone never sees a completion, so the reward functions are wrapped: TRL (checked with 1.16) calls them with
all completions of a process, the columns of the data set, and the trainer's state. The callback hands what was rewarded
to the monitor at the end of each optimiser step, of all processes together: every process has the same report, and all
stop at the same step. What an evaluation rewards is left out.

A rollout's step is `global_step` when it was sampled; with several optimiser steps a batch, not every step has any.
Needs the extras `hf` and `monitor`.
"""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, Literal

from accelerate.utils import gather_object  # type: ignore[import-untyped]
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from maxproof.monitor.fields import FieldMap, Source
from maxproof.monitor.live import Monitor
from maxproof.monitor.settings import MonitorSettings
from maxproof.monitor.stats import Stats
from maxproof.monitor.types import Alarm, Report

_FIELDS = FieldMap(
    "trl",
    {
        "problem": Source("problem", convert="question"),
        "step": Source("step"),
        "text": Source("completion", convert="reply"),
        "thinking": Source("completion", convert="reasoning"),
        "train_reward": Source("train_reward"),
        "oracle": Source("oracle"),
        "is_proof": Source("is_proof"),
    },
)
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Function:
    column: Literal["train_reward", "oracle"]
    weight: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class _Call:
    """One call of a function: what it was asked and gave."""

    arguments: Mapping[str, Any]
    step: int
    scores: Sequence[float | None]


class TrlMonitor(TrainerCallback):
    """A callback, and the wrapper of the reward functions that feeds it.

    Attributes:
        alarms: those raised so far.

    Args:
        stop: end the training at the first alarm; the trainer saves as at any end.
        problem, is_proof: columns of the data set. Without the first, a problem's name is its prompt.
        phrases, trusted: as for `Monitor`.
    """

    def __init__(
        self,
        settings: MonitorSettings | None = None,
        *,
        stop: bool = False,
        problem: str = "problem_id",
        is_proof: str = "is_proof",
        phrases: Path | None = None,
        trusted: Stats | None = None,
    ) -> None:
        self.alarms: list[Alarm] = []
        self._monitor = Monitor(settings, _FIELDS, source="TRL", phrases=phrases, trusted=trusted)
        self._stop, self._problem, self._is_proof = stop, problem, is_proof
        self._training = False
        self._functions: list[_Function] = []
        self._calls: list[list[_Call]] = []

    def reward(
        self, function: Callable[..., Any], *, weight: float = 1.0, low: float = 0.0, high: float = 1.0
    ) -> Callable[..., Any]:
        """The same reward function, watched. Several make one train reward, their mean by `weight`; a rollout to which
        none gives a number is not scored.

        Args:
            weight: as in the trainer's `reward_weights`. low, high: what the function gives, mapped to 0..1.

        Raises ValueError for a weight that is not positive and for an empty range.
        """
        if not weight > 0:
            raise ValueError(f"weight {weight:g}: watch what training does not use with `oracle`")
        return self._watched(function, _Function("train_reward", weight, low, high))

    def oracle(self, function: Callable[..., Any], *, low: float = 0.0, high: float = 1.0) -> Callable[..., Any]:
        """The same reward function, watched as the oracle: give it the weight 0 in the trainer's `reward_weights`.

        Raises ValueError for an empty range.
        """
        return self._watched(function, _Function("oracle", 1.0, low, high))

    def report(self) -> Report:
        """The report; the last step counts as complete."""
        return self._monitor.report(complete=True)

    def on_step_begin(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        """What is rewarded from here on is of training."""
        self._training = True

    def on_step_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        """Hands what was rewarded to the monitor; tells new alarms, and stops the training if asked to.

        The number of alarms is the trainer's metric `monitor/alarms`.
        """
        self._training = False
        self._monitor.observe(gather_object(self._take()))
        self._tell(self._monitor.new_alarms(), state, control)

    def on_train_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        """The last step is complete now."""
        self._tell(self._monitor.new_alarms(complete=True), state, control)

    def _tell(self, alarms: Sequence[Alarm], state: TrainerState, control: TrainerControl) -> None:
        self.alarms.extend(alarms)
        for alarm in alarms if state.is_world_process_zero else ():
            _log.warning(
                "monitor: %s went %s from step %d on: %.4g -> %.4g (%+.1f standard deviations), raised at step %d",
                alarm.signal.value,
                alarm.direction,
                alarm.began,
                alarm.baseline,
                alarm.value,
                alarm.sigmas,
                alarm.raised,
            )
        if alarms and self._stop:
            control.should_training_stop = True

    def _watched(self, function: Callable[..., Any], kind: _Function) -> Callable[..., Any]:
        if kind.low == kind.high:
            raise ValueError(f"the range {kind.low:g}..{kind.high:g} is empty")
        self._functions.append(kind)
        calls: list[_Call] = []
        first = not self._calls
        self._calls.append(calls)

        def note(arguments: Mapping[str, Any], scores: Sequence[float | None]) -> None:
            if not self._training:
                return
            if first:
                arguments["log_metric"]("monitor/alarms", float(len(self.alarms)))
            calls.append(_Call(arguments, arguments["trainer_state"].global_step, list(scores)))

        # TRL asks the function itself, not what it wraps, whether it is to be awaited.
        bare = _bare(function)
        if inspect.iscoroutinefunction(bare) or inspect.iscoroutinefunction(type(bare).__call__):

            async def asked(**arguments: Any) -> Any:
                scores = await function(**arguments)
                note(arguments, scores)
                return scores

            asked.__name__ = _name(function)
            return asked

        def called(**arguments: Any) -> Any:
            scores = function(**arguments)
            note(arguments, scores)
            return scores

        called.__name__ = _name(function)
        return called

    def _take(self) -> list[dict[str, Any]]:
        """The rows of what was rewarded since the last call; each function was called as often as the others."""
        rows = [row for calls in zip(*self._calls, strict=True) for row in self._rows(calls)]
        for known in self._calls:
            known.clear()
        return rows

    def _rows(self, calls: Sequence[_Call]) -> list[dict[str, Any]]:
        asked, step = calls[0].arguments, calls[0].step
        names = asked.get(self._problem) or asked["prompts"]
        proofs = asked.get(self._is_proof) or [None] * len(asked["completions"])
        return [
            {
                "problem": name if isinstance(name, list) else str(name),
                "step": step,
                "completion": completion,
                "is_proof": proof,
                "train_reward": self._score("train_reward", calls, index),
                "oracle": self._score("oracle", calls, index),
            }
            for index, (name, completion, proof) in enumerate(zip(names, asked["completions"], proofs, strict=True))
        ]

    def _score(self, column: str, calls: Sequence[_Call], index: int) -> float | None:
        """The mean by weight of what the functions of a column gave, None if they gave nothing."""
        total = weights = 0.0
        for kind, call in zip(self._functions, calls, strict=True):
            score = call.scores[index]
            if kind.column == column and score is not None and isfinite(score):
                total += kind.weight * (float(score) - kind.low) / (kind.high - kind.low)
                weights += kind.weight
        return total / weights if weights else None


def _bare(function: Callable[..., Any]) -> Callable[..., Any]:
    while isinstance(function, functools.partial):
        function = function.func
    return function


def _name(function: Callable[..., Any]) -> str:
    """As TRL names a function's rewards."""
    return str(getattr(_bare(function), "__name__", type(function).__name__))
