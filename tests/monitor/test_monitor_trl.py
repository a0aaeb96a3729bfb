"""The monitor in a real GRPOTrainer on a tiny random model, offline."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("polars", reason="needs the extra monitor")
torch = pytest.importorskip("torch", reason="needs the extra train")
trl = pytest.importorskip("trl", reason="needs the extra hf")
datasets = pytest.importorskip("datasets", reason="needs the extra hf")
transformers = pytest.importorskip("transformers", reason="needs the extra hf")
tokenizers = pytest.importorskip("tokenizers", reason="needs the extra train")

from maxproof.monitor.live import stats_of  # noqa: E402
from maxproof.monitor.settings import MonitorSettings  # noqa: E402
from maxproof.monitor.trl import TrlMonitor  # noqa: E402
from maxproof.monitor.types import Signal  # noqa: E402

WORDS = [f"word{index}" for index in range(30)]
PROMPTS = ["word1 word2 word3", "word4 word5", "word6", "word7"]


def train(out: Path, rewards: Any, watch: TrlMonitor, *, evaluate: bool = False, **changes: Any) -> Any:
    """A trained GRPOTrainer: 4 completions an optimiser step."""
    torch.set_num_threads(1)
    names = ["<unk>", "<pad>", "<end>", *WORDS]
    backend = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: index for index, word in enumerate(names)}, unk_token="<unk>")
    )
    backend.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    config = transformers.LlamaConfig(
        vocab_size=len(names),
        hidden_size=8,
        intermediate_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        eos_token_id=2,
        pad_token_id=1,
    )
    torch.manual_seed(0)
    arguments = {
        "num_generations": 4,
        "per_device_train_batch_size": 4,
        "max_completion_length": 6,
        "max_steps": 3,
        "output_dir": str(out),
        "save_strategy": "no",
        "logging_steps": 1,
        "report_to": "none",
        "use_cpu": True,
        "bf16": False,
        "disable_tqdm": True,
        "seed": 0,
    }
    data = datasets.Dataset.from_list(
        [{"prompt": text, "problem_id": f"p{at}", "is_proof": at == 0} for at, text in enumerate(PROMPTS)]
    )
    trainer = trl.GRPOTrainer(
        model=transformers.LlamaForCausalLM(config),
        reward_funcs=rewards,
        args=trl.GRPOConfig(**(arguments | changes)),
        train_dataset=data,
        eval_dataset=data if evaluate else None,
        processing_class=transformers.PreTrainedTokenizerFast(
            tokenizer_object=backend, unk_token="<unk>", pad_token="<pad>", eos_token="<end>"
        ),
        callbacks=[watch],
    )
    trainer.train()
    return trainer


def half(completions: list[str], **_: Any) -> list[float]:
    return [1.0 if "word1" in text.split() else 0.5 for text in completions]


def nothing_from_step_12_on(completions: list[str], trainer_state: Any, **_: Any) -> list[float | None]:
    return [None if trainer_state.global_step >= 12 else index / 4 for index, _ in enumerate(completions)]


def test_every_rollout_of_training_is_seen_once_and_none_of_an_evaluation(tmp_path: Path) -> None:
    watch = TrlMonitor()
    changes = {"eval_strategy": "steps", "eval_steps": 1, "per_device_eval_batch_size": 4}
    train(tmp_path, watch.reward(half), watch, evaluate=True, **changes)
    report = watch.report()
    assert report.rollouts == 12
    assert [reading.step for reading in report.series[Signal.NOT_SCORED]] == [0, 1, 2]
    assert [reading.count for reading in report.series[Signal.VISIBLE_LENGTH]] == [4, 4, 4]
    assert report.skipped == {}


def test_several_optimiser_steps_a_batch_and_accumulation(tmp_path: Path) -> None:
    watch = TrlMonitor()
    train(tmp_path, watch.reward(half), watch, gradient_accumulation_steps=2, steps_per_generation=4, max_steps=4)
    report = watch.report()
    counted = [(reading.step, reading.count) for reading in report.series[Signal.VISIBLE_LENGTH]]
    assert counted == [(0, 16), (2, 16)]


async def awaited(completions: list[str], **_: Any) -> list[float]:
    return [7.0] * len(completions)


def test_rewards_are_averaged_by_weight_and_an_oracle_stays_apart(tmp_path: Path) -> None:
    watch = TrlMonitor()
    functions = [
        watch.reward(functools.partial(nothing_from_step_12_on), weight=1),
        watch.reward(awaited, weight=3, high=7),
        watch.oracle(lambda completions, **_: [0.25] * len(completions)),
    ]
    trainer = train(tmp_path, functions, watch, reward_weights=[1.0, 3.0, 0.0], max_steps=2)
    report = watch.report()
    # the mean of 0, 1/4, 2/4, 3/4 is 3/8
    assert [reading.value for reading in report.series[Signal.TRAIN_EVAL_GAP]] == pytest.approx(
        [(3 / 8 + 3) / 4 - 0.25] * 2
    )
    assert "rewards/nothing_from_step_12_on/mean" in trainer.state.log_history[0]
    assert "rewards/awaited/mean" in trainer.state.log_history[0]
    assert trainer.state.log_history[0]["monitor/alarms"] == 0


def test_it_logs_an_alarm_and_ends_the_training(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    watch = TrlMonitor(MonitorSettings(baseline=10), stop=True)
    trainer = train(tmp_path, watch.reward(nothing_from_step_12_on), watch, max_steps=60)
    assert [alarm.signal for alarm in watch.alarms] == [Signal.NOT_SCORED]
    assert watch.alarms[0].began == 12
    assert watch.alarms[0].raised < trainer.state.global_step < 40
    assert "monitor: not_scored went up from step 12 on: 0 -> 1" in caplog.text


def test_a_trusted_run_is_the_baseline_from_the_first_step_on(tmp_path: Path) -> None:
    healthy = tmp_path / "healthy.jsonl"
    rows = ({"problem": "p", "step": n // 4, "text": f"a{n % 3}", "train_reward": 0.5} for n in range(80))
    healthy.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    watch = TrlMonitor(stop=True, trusted=stats_of([healthy]))
    trainer = train(tmp_path, watch.reward(half), watch, max_steps=30)
    assert Signal.VISIBLE_LENGTH in {alarm.signal for alarm in watch.alarms}
    assert trainer.state.global_step < 20
    assert watch.report().baseline == (-20, -1)


def test_a_bad_range_or_weight_is_refused() -> None:
    watch = TrlMonitor()
    with pytest.raises(ValueError, match="oracle"):
        watch.reward(half, weight=0)
    with pytest.raises(ValueError, match="empty"):
        watch.oracle(half, low=1, high=1)
