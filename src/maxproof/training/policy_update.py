"""One step of optimisation on the groups of a batch: old log-probabilities, minibatches, AdamW.

The groups are split into minibatches of whole groups, each of which is one optimiser step. pi_old is the policy before
the first of them, and its log-probabilities come from the same forward pass as those of training, not from the sampler:
what the sampler's key-value cache rounds otherwise would else be part of the ratio. So the first minibatch has a ratio
of exactly 1, and clipping acts in the later ones.

A minibatch is computed in pieces of whole groups that fit in memory; the gradients of the pieces add up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from maxproof.training.cispo import WeightStats, cispo_loss
from maxproof.training.model import Batch, Decoder, answer_logprobs, collate
from maxproof.training.settings import CispoSettings

MAX_TOKENS = 32_768
"""Positions, padding included, that a piece has at most; a group that is larger is a piece of its own."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A rollout with an advantage, as tokens: the prompt's, and the answer's with the end token if it was reached."""

    prompt: tuple[int, ...]
    answer: tuple[int, ...]
    advantage: float


Group = tuple[Answered, ...]


@dataclass(frozen=True, slots=True)
class UpdateReport:
    """What one step of optimisation did.

    Attributes:
        loss: mean over the minibatches of -J. gradient_norm: likewise, before clipping.
        weights: of all minibatches. updates: optimiser steps.
    """

    loss: float
    gradient_norm: float
    weights: WeightStats
    updates: int


class NotFinite(ArithmeticError):
    """The loss or a gradient is NaN or infinite; the minibatch at fault has changed no weight."""


@dataclass(frozen=True, slots=True)
class _Piece:
    batch: Batch
    advantages: Tensor  # [answer tokens]
    groups: Tensor  # [answer tokens], 0.. within the piece
    count: int  # groups


def adamw(model: Decoder, settings: CispoSettings) -> torch.optim.AdamW:
    """The optimiser: constant learning rate, betas 0.9 and 0.95 (as MiniMax-M1), no weight decay (ours)."""
    return torch.optim.AdamW(model.parameters(), settings.learning_rate, betas=(0.9, 0.95), weight_decay=0.0)


def update_policy(
    model: Decoder, optimizer: torch.optim.Optimizer, groups: Sequence[Group], settings: CispoSettings
) -> UpdateReport:
    """Trains `model` on at least one group, in place.

    Raises NotFinite. Then earlier minibatches of this step may have changed the weights: go back to a checkpoint.
    """
    minibatches = [[_piece(part, model) for part in _fitting(some)] for some in _split(groups, settings.minibatches)]
    # The first minibatch sees pi_old itself; only the later ones need it kept.
    old = [
        None if index == 0 else [_logprobs(model, piece) for piece in pieces]
        for index, pieces in enumerate(minibatches)
    ]
    weights = WeightStats()
    losses, norms = [], []
    for pieces, kept in zip(minibatches, old, strict=True):
        total = sum(piece.count for piece in pieces)
        optimizer.zero_grad(set_to_none=True)
        loss = 0.0
        for index, piece in enumerate(pieces):
            logprobs = answer_logprobs(model, piece.batch)
            summed, stats = cispo_loss(
                logprobs,
                logprobs.detach() if kept is None else kept[index],
                piece.advantages,
                piece.groups,
                low=settings.weight_low,
                high=settings.weight_high,
            )
            (summed / total).backward()  # type: ignore[no-untyped-call]
            loss += float(summed.detach()) / total
            weights += stats
        norm = float(torch.nn.utils.clip_grad_norm_(model.parameters(), settings.clip_norm))
        if not (math.isfinite(loss) and math.isfinite(norm)):
            raise NotFinite(f"loss {loss}, gradient norm {norm}")
        optimizer.step()
        losses.append(loss)
        norms.append(norm)
    return UpdateReport(math.fsum(losses) / len(losses), math.fsum(norms) / len(norms), weights, len(losses))


def _split(groups: Sequence[Group], count: int) -> list[Sequence[Group]]:
    """At most `count` runs of groups, none empty, whose sizes differ by one at most."""
    count = min(count, len(groups))
    bounds = [index * len(groups) // count for index in range(count + 1)]
    return [groups[start:end] for start, end in pairwise(bounds)]


def _fitting(groups: Sequence[Group]) -> list[list[Group]]:
    """Runs of groups whose padded batch has at most MAX_TOKENS positions, where that can be."""
    parts: list[list[Group]] = []
    rows = length = 0
    for group in groups:
        longest = max(len(member.prompt) + len(member.answer) for member in group)
        if parts and (rows + len(group)) * max(length, longest) <= MAX_TOKENS:
            parts[-1].append(group)
            rows, length = rows + len(group), max(length, longest)
        else:
            parts.append([group])
            rows, length = len(group), longest
    return parts


def _piece(groups: Sequence[Group], model: Decoder) -> _Piece:
    members = [(number, member) for number, group in enumerate(groups) for member in group]
    lengths = torch.tensor([len(member.answer) for _, member in members])
    advantages = torch.tensor([member.advantage for _, member in members], dtype=torch.float32)
    numbers = torch.tensor([number for number, _ in members])
    return _Piece(
        collate([(member.prompt, member.answer) for _, member in members], model.device),
        advantages.repeat_interleave(lengths).to(model.device),
        numbers.repeat_interleave(lengths).to(model.device),
        len(groups),
    )


@torch.no_grad()
def _logprobs(model: Decoder, piece: _Piece) -> Tensor:
    return answer_logprobs(model, piece.batch)
