"""Measuring speed: what is counted, and that what is timed stays as it was."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="needs the extra train")

from maxproof.training import sampling  # noqa: E402
from maxproof.training.checkpoint import Checkpoint, digest, new_checkpoint  # noqa: E402
from maxproof.training.model import flops_per_token, use_threads  # noqa: E402
from maxproof.training.policy_update import Answered  # noqa: E402
from maxproof.training.settings import CispoSettings, ModelShape, SamplingSettings, SftSettings  # noqa: E402
from maxproof.training.speed import (  # noqa: E402
    bound_tokens_per_s,
    product_flops_per_s,
    rl_passes,
    rl_training_speed,
    sampling_speed,
    sft_speed,
)
from maxproof.training.tokenizer import build_tokenizer  # noqa: E402
from maxproof.training.types import Example, Sampled  # noqa: E402


@pytest.fixture
def start() -> Checkpoint:
    use_threads(1)
    shape = ModelShape(layers=1, width=16, heads=2, hidden=16)
    return new_checkpoint(shape, build_tokenizer(["a b c d"]), 0)


def test_the_bound_is_operations_over_operations(start: Checkpoint) -> None:
    one = flops_per_token(start.model.shape, start.model.vocabulary, 40)
    assert bound_tokens_per_s(start.model, 6 * one, 40.0, 3) == pytest.approx(2)
    assert product_flops_per_s(0.0) > 0


def test_in_rl_only_later_minibatches_need_another_pass() -> None:
    assert rl_passes(CispoSettings(minibatches=1)) == 3
    assert rl_passes(CispoSettings(minibatches=2)) == 3.5


def test_what_is_timed_is_not_changed(start: Checkpoint) -> None:
    before = digest(start)
    speed, answers = sampling_speed(start, ["<prove> a <sep>"] * 3, SamplingSettings(max_new_tokens=4))
    assert (len(answers), speed > 0) == (3, True)
    assert sft_speed(start, [Example("<prove> a <sep>", "b c")] * 8, SftSettings(batch=4), 2) > 0
    prompt = tuple(start.tokenizer.encode("a b"))
    groups = [(Answered(prompt, prompt, 1.0), Answered(prompt, prompt, -1.0))] * 2
    assert rl_training_speed(start, groups, CispoSettings(learning_rate=0.1)) > 0
    assert digest(start) == before


def test_sampled_tokens_are_counted_and_the_best_try_kept(start: Checkpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [Sampled((1, 2), (0.0, 0.0), True), Sampled((1,), (0.0,), True)]
    times = iter([0.0, 3.0, 10.0, 11.0])
    monkeypatch.setattr(sampling, "sample", lambda *args: answers)
    monkeypatch.setattr("maxproof.training.speed.time.perf_counter", lambda: next(times))
    assert sampling_speed(start, ["a", "b"], SamplingSettings(), repeats=2) == (3.0, answers)
