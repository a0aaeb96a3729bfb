"""CISPO's objective (MaxProof section 2.3; MiniMax-M1, arXiv 2506.13585).

For a group of G answers y_i with T_i tokens each,

    rho_it = pi_theta(y_it) / pi_old(y_it)                                          importance weight of a token
    J      = E[ 1 / (sum_i T_i) * sum_i sum_t  sg(clip(rho_it, low, high)) * A_i * log pi_theta(y_it) ]

sg is stop-gradient: rho is a weight and nothing flows through it. So every token keeps a gradient, also where rho is
outside of [low, high] and PPO's clipping would drop it. [low, high] is an absolute interval, not offsets from 1.
The tokens are normalised *per group*, over its scored members; E is the mean over the batch's groups. There is no KL
term. The loss is -J.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class WeightStats:
    """Of the importance weights of some tokens, as sums, so that the stats of two batches add up.

    Attributes:
        tokens: how many.
        below, above: tokens whose ratio is below `low` or above `high`, so that its weight was clipped.
        ratio: sum of rho. kl: sum of rho - 1 - log rho, which estimates KL(old || new) a token, >= 0.
        all_one: every ratio is exactly 1, so that clipping can't do anything.
    """

    tokens: int = 0
    below: int = 0
    above: int = 0
    ratio: float = 0.0
    kl: float = 0.0
    all_one: bool = True

    def __add__(self, other: WeightStats) -> WeightStats:
        return WeightStats(
            self.tokens + other.tokens,
            self.below + other.below,
            self.above + other.above,
            self.ratio + other.ratio,
            self.kl + other.kl,
            self.all_one and other.all_one,
        )

    @property
    def share_below(self) -> float:
        return self.below / self.tokens if self.tokens else 0.0

    @property
    def share_above(self) -> float:
        return self.above / self.tokens if self.tokens else 0.0

    @property
    def mean_ratio(self) -> float:
        return self.ratio / self.tokens if self.tokens else 1.0

    @property
    def mean_kl(self) -> float:
        return self.kl / self.tokens if self.tokens else 0.0


def clipped_weights(logprobs: Tensor, old_logprobs: Tensor, low: float, high: float) -> Tensor:
    """sg(clip(rho, low, high)), in the shape of the arguments; no gradient."""
    return (logprobs.detach() - old_logprobs.detach()).exp().clamp(low, high)


def cispo_loss(
    logprobs: Tensor,
    old_logprobs: Tensor,
    advantages: Tensor,
    groups: Tensor,
    *,
    low: float,
    high: float,
) -> tuple[Tensor, WeightStats]:
    """The *sum* over groups of -J_group, a scalar: divide it by the number of groups of the batch.

    All answer tokens (i, t) of scored members of all groups are in one dimension, answers one after another.

    Args:
        logprobs: [tokens] log pi_theta(y_it), with gradient.
        old_logprobs: [tokens] log pi_old(y_it).
        advantages: [tokens] A_i of the answer that the token belongs to.
        groups: [tokens] int64, the group of that answer: 0..groups-1, each at least once.
        low, high: the absolute interval of the importance weight.
    """
    weights = clipped_weights(logprobs, old_logprobs, low, high)
    length = torch.bincount(groups).to(logprobs.dtype)  # sum_i T_i of each group
    loss = -(weights * advantages * logprobs / length[groups]).sum()
    return loss, _stats(logprobs, old_logprobs, low, high)


@torch.no_grad()
def _stats(logprobs: Tensor, old_logprobs: Tensor, low: float, high: float) -> WeightStats:
    difference = (logprobs - old_logprobs).double()
    ratio = difference.exp()
    return WeightStats(
        tokens=ratio.numel(),
        below=int((ratio < low).sum()),
        above=int((ratio > high).sum()),
        ratio=float(ratio.sum()),
        kl=float((ratio - 1 - difference).sum()),
        all_one=bool((difference == 0).all()),
    )
