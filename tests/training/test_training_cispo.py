"""CISPO on a toy softmax policy, against the closed form of its gradient."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch", reason="needs the extra train")

from maxproof.training.cispo import WeightStats, cispo_loss, clipped_weights  # noqa: E402

RATIOS = (0.1, 1.0, 3.0, 9.0)


def toy(seed: int = 0, n: int = 4, t: int = 5, vocab: int = 7):  # type: ignore[no-untyped-def]
    """Logits of a policy that has one softmax a position, sampled tokens, advantages, a mask and two groups."""
    rng = torch.Generator().manual_seed(seed)
    logits = torch.randn(n, t, vocab, generator=rng, dtype=torch.float64, requires_grad=True)
    actions = torch.randint(vocab, (n, t), generator=rng)
    lengths = torch.randint(1, t + 1, (n,), generator=rng)
    mask = torch.arange(t)[None] < lengths[:, None]
    advantages = torch.randn(n, generator=rng, dtype=torch.float64)
    groups = torch.tensor([0, 0, 1, 1])
    return logits, actions, advantages, mask, groups


def logprobs_of(logits, actions):  # type: ignore[no-untyped-def]
    return logits.log_softmax(-1).gather(-1, actions[..., None])[..., 0]


def closed_form(logits, actions, advantages, mask, groups, weights):  # type: ignore[no-untyped-def]
    """d(-J)/d logits = -(w A / sum T) (onehot - softmax), token by token, for the sum over groups."""
    result = torch.zeros_like(logits)
    for i in range(logits.shape[0]):
        total = sum(int(mask[j].sum()) for j in range(logits.shape[0]) if groups[j] == groups[i])
        for t in range(logits.shape[1]):
            if mask[i, t]:
                onehot = torch.zeros(logits.shape[2], dtype=logits.dtype)
                onehot[actions[i, t]] = 1
                softmax = logits[i, t].detach().softmax(-1)
                result[i, t] = -weights[i, t] * advantages[i] / total * (onehot - softmax)
    return result


@pytest.mark.parametrize("seed", range(3))
def test_the_gradient_is_the_closed_form(seed: int) -> None:
    logits, actions, advantages, mask, groups = toy(seed)
    logprobs = logprobs_of(logits, actions)
    old = logprobs.detach() + torch.randn(logprobs.shape, dtype=torch.float64) * 2
    loss, _ = loss_of(logprobs, old, advantages, mask, groups, low=0.5, high=2.0)
    loss.backward()
    weights = (logprobs.detach() - old).exp().clamp(0.5, 2.0)
    assert torch.allclose(logits.grad, closed_form(logits, actions, advantages, mask, groups, weights), atol=1e-12)


def test_at_ratio_one_it_is_reinforce() -> None:
    logits, actions, advantages, mask, groups = toy()
    logprobs = logprobs_of(logits, actions)
    loss, stats = loss_of(logprobs, logprobs.detach(), advantages, mask, groups, low=0.0, high=5.0)
    loss.backward()
    ours = logits.grad.clone()
    logits.grad = None
    plain = logprobs_of(logits, actions)
    reinforce = 0
    for group in (0, 1):
        rows = groups == group
        summed = (plain[rows] * mask[rows] * advantages[rows][:, None]).sum()
        reinforce = reinforce - summed / mask[rows].sum()
    reinforce.backward()
    assert torch.allclose(ours, logits.grad, atol=1e-12)
    assert stats.all_one
    assert stats.mean_ratio == 1.0
    assert stats.mean_kl == 0.0


def loss_of(logprobs, old, advantages, mask, groups, *, low, high):  # type: ignore[no-untyped-def]
    """`cispo_loss` of padded answers [N, T]."""
    wide = mask.shape
    return cispo_loss(
        logprobs[mask],
        old[mask],
        advantages[:, None].expand(wide)[mask],
        groups[:, None].expand(wide)[mask],
        low=low,
        high=high,
    )


ONE, FIRST = torch.ones(1, 1, dtype=torch.bool), torch.zeros(1, dtype=torch.long)


def one_token(ratio: float, advantage: float):  # type: ignore[no-untyped-def]
    logits = torch.zeros(1, 1, 3, dtype=torch.float64, requires_grad=True)
    logprobs = logprobs_of(logits, torch.tensor([[1]]))
    old = logprobs.detach() - math.log(ratio)
    return logits, logprobs, old, torch.tensor([advantage], dtype=torch.float64)


@pytest.mark.parametrize(("ratio", "advantage"), [(9.0, 1.0), (0.1, -1.0)])
def test_tokens_out_of_range_keep_a_gradient_where_ppo_has_none(ratio: float, advantage: float) -> None:
    logits, logprobs, old, advantages = one_token(ratio, advantage)
    weight = (logprobs - old).exp()
    ppo = -torch.minimum(weight * advantages, weight.clamp(0.8, 1.2) * advantages).sum()
    (of_ppo,) = torch.autograd.grad(ppo, logits, retain_graph=True)
    assert torch.count_nonzero(of_ppo) == 0
    loss, _ = loss_of(logprobs, old, advantages, ONE, FIRST, low=0.8, high=1.2)
    (ours,) = torch.autograd.grad(loss, logits)
    assert float(ours.abs().min()) > 0.1


@pytest.mark.parametrize(("ratio", "weight"), [(0.1, 0.1), (1.0, 1.0), (3.0, 3.0), (9.0, 5.0)])
def test_weights_of_an_absolute_interval(ratio: float, weight: float) -> None:
    logits, logprobs, old, advantages = one_token(ratio, 1.0)
    assert float(clipped_weights(logprobs, old, 0.0, 5.0)) == pytest.approx(weight)
    loss, stats = loss_of(logprobs, old, advantages, ONE, FIRST, low=0.0, high=5.0)
    (gradient,) = torch.autograd.grad(loss, logits)
    # d(-w log p)/d logit of the token = -w (1 - p), p = 1/3
    assert float(gradient[0, 0, 1]) == pytest.approx(-weight * 2 / 3)
    assert stats.above == (ratio == 9.0)
    assert stats.below == 0


def test_no_gradient_flows_through_the_ratio() -> None:
    logprobs = torch.tensor([[-1.0]], dtype=torch.float64, requires_grad=True)
    old = torch.tensor([[-2.0]], dtype=torch.float64, requires_grad=True)
    loss, _ = loss_of(
        logprobs,
        old,
        torch.ones(1, dtype=torch.float64),
        ONE,
        FIRST,
        low=0.0,
        high=5.0,
    )
    gradient, of_old = torch.autograd.grad(loss, (logprobs, old), allow_unused=True)
    assert float(gradient) == pytest.approx(-math.e)  # through the ratio it would be -e (1 + log p) = 0
    assert of_old is None


def test_long_groups_weigh_no_more_than_short_ones() -> None:
    """Token normalisation is per group: a group's loss is a mean over its own tokens."""
    logprobs = torch.full((4, 10), -1.0)
    mask = torch.zeros(4, 10, dtype=torch.bool)
    mask[:2, :10] = True
    mask[2:, :1] = True
    loss, _ = loss_of(logprobs, logprobs, torch.ones(4), mask, torch.tensor([0, 0, 1, 1]), low=0.0, high=5.0)
    assert float(loss) == pytest.approx(2.0)
    # within a group it is per token, not per answer
    mask[1, 1:] = False
    advantages = torch.tensor([1.0, -1.0, 1.0, 1.0])
    loss, _ = loss_of(logprobs, logprobs, advantages, mask, torch.tensor([0, 0, 1, 1]), low=0.0, high=5.0)
    assert float(loss) == pytest.approx((10 - 1) / 11 + 1)


def test_stats_add_up() -> None:
    old = torch.zeros(1, 4)
    new = torch.tensor([RATIOS]).log()
    _, stats = loss_of(new, old, torch.ones(1), torch.ones(1, 4, dtype=torch.bool), FIRST, low=0.5, high=5.0)
    assert (stats.tokens, stats.below, stats.above, stats.all_one) == (4, 1, 1, False)
    assert stats.mean_ratio == pytest.approx(sum(RATIOS) / 4)
    assert stats.mean_kl == pytest.approx(sum(r - 1 - math.log(r) for r in RATIOS) / 4, rel=1e-5)
    both = stats + stats
    assert (both.share_below, both.share_above) == (0.25, 0.25)
    assert both.mean_kl == pytest.approx(stats.mean_kl)
    assert (WeightStats() + stats) == stats
