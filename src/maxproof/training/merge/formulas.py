"""The merge methods, on one tensor at a time.

theta_0 is the base's tensor, theta_i expert i's, tau_i = theta_i - theta_0 its task vector, w_i its weight and lambda
the scale. Everything is computed one precision above what is stored (float32 for 16-bit tensors, else float64), so that
merging identical models gives that model: exactly, or to rounding if it is stored in float64.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from maxproof.training.merge.settings import MergeSettings


def merged_tensor(name: str, base: Tensor, experts: Iterable[Tensor], settings: MergeSettings) -> Tensor:
    """The merged tensor, in the base's dtype and shape.

    Args:
        name: the tensor's name in the checkpoint; with the seed it fixes what DARE drops, whatever the order of shards.
        base, experts: floating-point tensors of one shape; the experts are read one after another.
    """
    wide = torch.float32 if base.element_size() <= 2 else torch.float64
    start = base.to(wide)
    weighted = zip(experts, settings.weights, strict=True)
    if settings.method == "linear":
        return linear(((expert.to(wide), weight) for expert, weight in weighted)).to(base.dtype)
    vectors = ((_task_vector(name, start, expert, i, settings), weight) for i, (expert, weight) in enumerate(weighted))
    step = elected_mean(vectors) if settings.method in ("ties", "dare_ties") else weighted_sum(vectors)
    return step.mul_(settings.scale).add_(start).to(base.dtype)


def _task_vector(name: str, start: Tensor, expert: Tensor, index: int, settings: MergeSettings) -> Tensor:
    vector = expert.to(start.dtype, copy=True).sub_(start)
    if settings.method == "ties":
        return trim_(vector, settings.density)
    if settings.method in ("dare_linear", "dare_ties"):
        return drop_and_rescale_(vector, settings.density, mask_seed(settings.seed, index, name))
    return vector


def linear(weighted: Iterable[tuple[Tensor, float]]) -> Tensor:
    """sum_i w_i theta_i / sum_i w_i: model soups (arXiv 2203.05482), with weights. The base takes no part."""
    total, divisor = None, 0.0
    for tensor, weight in weighted:
        total = tensor * weight if total is None else total.add_(tensor, alpha=weight)
        divisor += weight
    assert total is not None
    return total.div_(divisor)


def weighted_sum(weighted: Iterable[tuple[Tensor, float]]) -> Tensor:
    """sum_i w_i tau_i: the step of task arithmetic (arXiv 2212.04089, section 2: theta_0 + lambda sum_i tau_i)."""
    total = None
    for vector, weight in weighted:
        total = vector * weight if total is None else total.add_(vector, alpha=weight)
    assert total is not None
    return total


def trim_(vector: Tensor, density: float) -> Tensor:
    """TIES, step 1 (arXiv 2306.01708, section 3): keeps the `density` share of largest magnitude, zeroes the rest.

    In place. Of n elements floor(density n) are kept, at least one; the share is per tensor, not over the whole model,
    which would need all of it in memory.
    """
    flat = vector.view(-1)
    kept = max(1, int(density * flat.numel()))
    if kept < flat.numel():
        dropped = torch.ones_like(flat, dtype=torch.bool)
        dropped[torch.topk(flat.abs(), kept, sorted=False).indices] = False
        flat.masked_fill_(dropped, 0)
    return vector


def elected_mean(weighted: Iterable[tuple[Tensor, float]]) -> Tensor:
    """TIES, steps 2 and 3 (arXiv 2306.01708, section 3), with weights:

        gamma = sign(sum_i w_i tau_i)                                             element by element
        tau   = sum_{i in A} w_i tau_i / sum_{i in A} w_i      A: the i with sign(tau_i) = gamma, not 0

    A disagreeing or trimmed expert doesn't pull the mean towards zero; where gamma is 0, tau is 0.
    """
    vectors = list(weighted)
    gamma = weighted_sum(vectors).sign_()
    total, divisor = torch.zeros_like(gamma), torch.zeros_like(gamma)
    for vector, weight in vectors:
        agrees = (vector.sign() == gamma).logical_and_(gamma != 0)
        total.add_(vector.mul_(agrees), alpha=weight)
        divisor.add_(agrees, alpha=weight)
    return total.div_(divisor.masked_fill_(divisor == 0, 1))


def drop_and_rescale_(vector: Tensor, density: float, seed: int) -> Tensor:
    """DARE (arXiv 2311.03099, section 3.2): each element is dropped with p = 1 - density, the rest divided by 1 - p.

    In place; its expectation over seeds is the vector itself.
    """
    generator = torch.Generator().manual_seed(seed)
    kept = torch.rand(vector.shape, generator=generator) < density
    return vector.mul_(kept).div_(density)


def mask_seed(seed: int, expert: int, name: str) -> int:
    """One mask an expert and tensor, independent of the others. 0..2^63-1."""
    digest = hashlib.sha256(f"{seed}\0{expert}\0{name}".encode()).digest()
    return int.from_bytes(digest[:8], "little") >> 1


def equal_tensors(tensors: Sequence[Tensor]) -> bool:
    """Whether all are the same, bit by bit up to NaN."""
    return all(torch.equal(tensors[0], other) for other in tensors[1:])
