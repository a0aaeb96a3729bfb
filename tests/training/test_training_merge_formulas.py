"""The merge formulas: against hand-made numbers, and by their properties."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="needs the extra train")

from maxproof.training.merge.formulas import (  # noqa: E402
    drop_and_rescale_,
    elected_mean,
    mask_seed,
    merged_tensor,
    trim_,
)
from maxproof.training.merge.settings import MergeSettings, Method  # noqa: E402

METHODS: tuple[Method, ...] = ("linear", "task_arithmetic", "ties", "dare_linear", "dare_ties")


def tensors(count: int, shape: tuple[int, ...] = (7, 5), seed: int = 0, dtype=torch.float32) -> list:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator).to(dtype) for _ in range(count)]


def merge(base, experts, **values) -> torch.Tensor:
    values.setdefault("weights", (1.0,) * len(experts))
    return merged_tensor("w", base, experts, MergeSettings(**values))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
@pytest.mark.parametrize("weights", [(1.0, 1.0, 1.0), (0.3, 0.2, 0.7)])
def test_identical_models_merge_to_that_model(method: Method, dtype, weights) -> None:
    (model,) = tensors(1, dtype=dtype)
    merged = merge(model, [model.clone()] * 3, method=method, weights=weights)
    assert merged.dtype == dtype
    if dtype == torch.float64:  # no wider type to compute in
        torch.testing.assert_close(merged, model, rtol=1e-15, atol=0)
    else:
        assert torch.equal(merged, model)


def test_linear_with_one_weight_is_that_expert_and_ignores_the_base() -> None:
    base, first, *others = tensors(4)
    assert torch.equal(merge(base, [first, *others], method="linear", weights=(1, 0, 0)), first)
    assert torch.equal(
        merge(base, [first, *others], method="linear"), merge(base * 9, [first, *others], method="linear")
    )


def test_linear_divides_by_the_sum_of_weights() -> None:
    base, a, b = tensors(3)
    torch.testing.assert_close(merge(base, [a, b], method="linear", weights=(3, 1)), (3 * a + b) / 4)


def test_task_arithmetic_with_one_expert_is_that_expert() -> None:
    base, expert = tensors(2)
    torch.testing.assert_close(merge(base, [expert], method="task_arithmetic"), expert, rtol=0, atol=1e-7)


def test_task_arithmetic_adds_scaled_task_vectors() -> None:
    base, a, b = tensors(3)
    merged = merge(base, [a, b], method="task_arithmetic", weights=(0.5, -2), scale=0.7)
    torch.testing.assert_close(merged, base + 0.7 * (0.5 * (a - base) - 2 * (b - base)))


@given(st.integers(1, 200), st.floats(0.01, 1.0), st.integers(0, 100))
def test_trim_keeps_exactly_the_largest_share(size: int, density: float, seed: int) -> None:
    (vector,) = tensors(1, (size,), seed)
    kept = trim_(vector.clone(), density)
    survivors = kept != 0
    assert int(survivors.sum()) == max(1, int(density * size))
    assert torch.equal(kept[survivors], vector[survivors])
    if not survivors.all():
        assert vector[survivors].abs().min() >= vector[~survivors].abs().max()


def test_trim_keeps_the_share_among_equal_magnitudes() -> None:
    assert int((trim_(torch.ones(10), 0.5) != 0).sum()) == 5


def test_ties_elects_the_sign_of_the_larger_sum_and_averages_those_that_agree() -> None:
    vectors = [torch.tensor([3.0, 1.0, -2.0, 0.0, 1.0]), torch.tensor([-1.0, 2.0, -4.0, 0.0, -1.0])]
    merged = elected_mean([(vectors[0].clone(), 1.0), (vectors[1].clone(), 1.0)])
    #                  +3 wins alone; (1+2)/2; both agree: -3; both trimmed; a draw moves nothing
    assert merged.tolist() == [3.0, 1.5, -3.0, 0.0, 0.0]


def test_ties_weights_count_in_the_election_and_in_the_mean() -> None:
    vectors = [torch.tensor([1.0, 1.0]), torch.tensor([-1.0, 3.0])]
    assert elected_mean([(v.clone(), w) for v, w in zip(vectors, (1.0, 3.0), strict=True)]).tolist() == [-1.0, 2.5]


def test_a_trimmed_expert_does_not_pull_the_mean_towards_zero() -> None:
    base = torch.zeros(4)
    experts = [torch.tensor([8.0, 0.1, 0.1, 0.1]), torch.tensor([0.2, 6.0, 0.2, 0.2])]
    assert merge(base, experts, method="ties", density=0.25).tolist() == [8.0, 6.0, 0.0, 0.0]


def test_an_expert_of_weight_zero_takes_no_part() -> None:
    base, a, b = tensors(3)
    for method in ("ties", "dare_ties", "task_arithmetic", "dare_linear"):
        alone = merge(base, [a], method=method, density=0.5)
        assert torch.allclose(merge(base, [a, b], method=method, weights=(1, 0), density=0.5), alone)


def test_the_expectation_of_dare_is_task_arithmetic() -> None:
    base, a, b = tensors(3, (6,))
    whole = merge(base, [a, b], method="task_arithmetic", weights=(1.0, 0.5))
    draws = torch.stack(
        [merge(base, [a, b], method="dare_linear", weights=(1.0, 0.5), density=0.6, seed=s) for s in range(4000)]
    )
    error = (draws.mean(0) - whole).abs()
    assert (error < 5 * draws.std(0) / 4000**0.5).all()
    assert (draws.std(0) > 0.05).all()  # it really drops


@given(st.floats(0.05, 1.0), st.integers(0, 50))
def test_dare_drops_or_divides_by_the_density(density: float, seed: int) -> None:
    (vector,) = tensors(1, (50,), seed)
    result = drop_and_rescale_(vector.clone(), density, seed)
    kept = result != 0
    torch.testing.assert_close(result[kept], vector[kept] / density)


def test_dare_with_density_one_drops_nothing() -> None:
    base, a, b = tensors(3)
    torch.testing.assert_close(
        merge(base, [a, b], method="dare_linear", density=1.0), merge(base, [a, b], method="task_arithmetic")
    )


def test_what_dare_drops_depends_on_seed_expert_and_name_alone() -> None:
    seeds = {mask_seed(s, e, n) for s in (0, 1) for e in (0, 1) for n in ("a", "b")}
    assert len(seeds) == 8
    assert all(0 <= seed < 2**63 for seed in seeds)
    base, a = tensors(2)
    options = MergeSettings(method="dare_linear", weights=(1.0,), seed=3)
    assert torch.equal(merged_tensor("x", base, [a], options), merged_tensor("x", base, [a], options))
    assert not torch.equal(merged_tensor("x", base, [a], options), merged_tensor("y", base, [a], options))


@settings(deadline=None)
@given(st.sampled_from(METHODS), st.integers(0, 20))
def test_the_inputs_are_left_alone_and_scalars_and_empty_tensors_work(method: Method, seed: int) -> None:
    for shape in ((), (0,), (3,), (2, 0, 4)):
        parts = tensors(3, shape, seed)
        before = [part.clone() for part in parts]
        merged = merge(parts[0], parts[1:], method=method)
        assert merged.shape == torch.Size(shape)
        assert all(torch.equal(part, old) for part, old in zip(parts, before, strict=True))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"method": "linear", "weights": (0.0, 0.0)}, "above 0"),
        ({"method": "ties", "weights": (1.0, -1.0)}, "at least 0"),
        ({"method": "linear", "weights": (1.0,), "scale": 2.0}, "no task vector"),
        ({"method": "ties", "weights": (1.0,), "density": 0.0}, "greater than 0"),
        ({"method": "ties", "weights": (1.0,), "density": 1.5}, "less than or equal to 1"),
        ({"method": "slerp", "weights": (1.0,)}, "linear"),
        ({"method": "ties", "weights": ()}, "at least 1"),
    ],
)
def test_meaningless_settings_are_refused(values, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MergeSettings(**values)
