"""What a training run needs beside the weights to go on exactly where it stopped: optimiser, random numbers, position.

Tensors go to a safetensors file and everything else to JSON: nothing is unpickled, so a state from elsewhere can't run
code.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from maxproof.problems import InputError
from maxproof.training.model import Decoder

TENSORS, NUMBERS = "state.safetensors", "state.json"
_RANDOM = "random.torch"


@dataclass(frozen=True, slots=True)
class TrainState:
    """A run after `step` optimiser steps.

    Attributes:
        step: optimiser steps done.
        position: how far the data was read, in units of the trainer's own.
        tensors: the optimiser's, as `<parameter>/<name>`, and torch's random state.
        extra: whatever else the trainer needs, as JSON values.
    """

    step: int
    position: int
    tensors: Mapping[str, Tensor]
    extra: Mapping[str, Any] = field(default_factory=dict)


def capture(
    model: Decoder,
    *optimizers: torch.optim.Optimizer,
    step: int,
    position: int = 0,
    extra: Mapping[str, Any] | None = None,
) -> TrainState:
    """A copy of the run's state; training on does not change it."""
    tensors = {_RANDOM: torch.get_rng_state()}
    for name, weights in model.named_parameters():
        for optimizer in optimizers:
            for key, value in optimizer.state.get(weights, {}).items():
                tensors[f"{name}/{key}"] = torch.as_tensor(value).detach().cpu().clone()
    return TrainState(step, position, tensors, dict(extra or {}))


def restore(state: TrainState, model: Decoder, *optimizers: torch.optim.Optimizer) -> None:
    """Puts optimisers (each parameter is in one of them) and random numbers back as they were.

    Raises InputError if the state is of a model with other parameters.
    """
    by_name = dict(model.named_parameters())
    fresh: dict[Tensor, dict[str, Tensor]] = {}
    for full, value in state.tensors.items():
        name, _, key = full.rpartition("/")
        if full == _RANDOM:
            continue
        weights = by_name.get(name)
        if weights is None:
            raise InputError(f"the model has no parameter {name!r}; the state is another model's", file=TENSORS)
        if value.dim() and value.shape != weights.shape:
            raise InputError(f"has shape {list(value.shape)}, expected {list(weights.shape)}", file=TENSORS, field=full)
        # AdamW counts its steps in a tensor that stays on the CPU.
        fresh.setdefault(weights, {})[key] = value.clone() if key == "step" else value.to(weights.device, copy=True)
    for optimizer in optimizers:
        optimizer.state.clear()
        for group in optimizer.param_groups:
            optimizer.state.update({weights: fresh[weights] for weights in group["params"] if weights in fresh})
    if _RANDOM in state.tensors:
        torch.set_rng_state(state.tensors[_RANDOM])


def state_files(state: TrainState) -> dict[str, bytes]:
    """The files of a state: their names and contents."""
    numbers = {"step": state.step, "position": state.position, "extra": dict(state.extra)}
    return {
        TENSORS: save({name: value.contiguous() for name, value in state.tensors.items()}),
        NUMBERS: (json.dumps(numbers, indent=2, sort_keys=True) + "\n").encode(),
    }


def load_state(folder: Path) -> TrainState | None:
    """The state in a checkpoint's folder; None if it has none.

    Raises InputError naming the file if it is damaged.
    """
    path = folder / NUMBERS
    if not path.exists():
        return None
    try:
        numbers = json.loads(path.read_bytes())
        step, position, extra = int(numbers["step"]), int(numbers["position"]), dict(numbers["extra"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(f"not the state of a training run: {error!r}", file=path) from error
    path = folder / TENSORS
    try:
        tensors = load(path.read_bytes())
    except (OSError, SafetensorError) as error:
        raise InputError(f"can't be read: {error}", file=path) from error
    return TrainState(step, position, tensors, extra)
