"""The emitted TRL configuration through TRL's own loss code: the same weights and gradients as ours."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs the extra train")
trl = pytest.importorskip("trl", reason="needs the extra hf")
datasets = pytest.importorskip("datasets", reason="needs the extra hf")
transformers = pytest.importorskip("transformers", reason="needs the extra hf")
yaml = pytest.importorskip("yaml")
tokenizers = pytest.importorskip("tokenizers")

from maxproof.training.cispo import cispo_loss  # noqa: E402
from maxproof.training.dialects.groups import drop_flat_groups  # noqa: E402
from maxproof.training.dialects.spec import Launch, spec_of  # noqa: E402
from maxproof.training.dialects.trl import to_trl  # noqa: E402
from maxproof.training.settings import CispoSettings, SamplingSettings  # noqa: E402

RATIOS = torch.tensor([[0.1, 1.0, 3.0, 9.0], [9.0, 3.0, 1.0, 0.1], [1.0, 9.0, 0.1, 3.0], [3.0, 0.1, 9.0, 1.0]])
ADVANTAGES = torch.tensor([1.5, -0.5, -1.2, 0.2])
MASK = torch.tensor([[1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 0], [1, 1, 0, 0]])
SETTINGS = CispoSettings(group=4, prompts=2, minibatches=2, sampling=SamplingSettings(max_new_tokens=4))


def no_reward(completions: list[str], **_: object) -> list[float]:
    return [0.0] * len(completions)


def make_trainer(out: Path, reward: Callable, **changes: object):
    """A real GRPOTrainer under the emitted YAML, on a model of some hundred weights."""
    backend = tokenizers.Tokenizer(tokenizers.models.WordLevel({f"w{i}": i for i in range(12)}, unk_token="w0"))
    backend.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=backend, unk_token="w0", pad_token="w1", eos_token="w2"
    )
    config = transformers.LlamaConfig(
        vocab_size=12,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        eos_token_id=2,
        pad_token_id=1,
    )
    torch.manual_seed(0)
    launch = Launch("model", "data", out=str(out), gpus=1, micro_batch=4)
    values = yaml.safe_load(to_trl(spec_of(SETTINGS), launch).files["trl_cispo.yaml"])
    for name in ("model_name_or_path", "dataset_name", "reward_funcs"):  # for the command line, not for GRPOConfig
        del values[name]
    here = {"bf16": False, "use_cpu": True, "report_to": "none", "disable_tqdm": True}
    return trl.GRPOTrainer(
        model=transformers.LlamaForCausalLM(config),
        reward_funcs=reward,
        args=trl.GRPOConfig(**(values | here | changes)),
        train_dataset=datasets.Dataset.from_list([{"prompt": "w3 w4"}, {"prompt": "w5"}] * 8),
        processing_class=tokenizer,
    )


@pytest.fixture(scope="module")
def trainer(tmp_path_factory: pytest.TempPathFactory):
    made = make_trainer(tmp_path_factory.mktemp("trl"), no_reward)
    made.current_gradient_accumulation_steps = made.args.gradient_accumulation_steps  # set by train()
    made.model.train()
    return made


def inputs(old_logprobs: torch.Tensor) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    prompts = torch.randint(3, 12, (4, 2), generator=generator)
    return {
        "prompt_ids": prompts,
        "prompt_mask": torch.ones_like(prompts),
        "completion_ids": torch.randint(3, 12, (4, 4), generator=generator),
        "completion_mask": MASK,
        "advantages": ADVANTAGES,
        "old_per_token_logps": old_logprobs,
        # Of the whole generation batch, which is two optimiser steps of as many tokens each.
        "num_items_in_batch": 2.0 * MASK.sum(),
    }


def ours(logprobs: torch.Tensor, old_logprobs: torch.Tensor) -> torch.Tensor:
    """Our loss of the same tokens, as one group."""
    tokens = MASK.bool()
    advantages = ADVANTAGES[:, None].expand(4, 4)[tokens]
    groups = torch.zeros(int(tokens.sum()), dtype=torch.int64)
    interval = {"low": SETTINGS.weight_low, "high": SETTINGS.weight_high}
    loss, _ = cispo_loss(logprobs[tokens], old_logprobs[tokens], advantages, groups, **interval)
    return loss


def test_two_optimiser_steps_a_batch_so_that_trl_keeps_old_log_probabilities(trainer) -> None:
    arguments = trainer.args
    assert arguments.generation_batch_size == SETTINGS.prompts * SETTINGS.group
    assert arguments.steps_per_generation == SETTINGS.minibatches * arguments.gradient_accumulation_steps
    # TRL's condition for computing them, without which the ratio is 1.
    assert arguments.gradient_accumulation_steps % (arguments.steps_per_generation * trainer.num_iterations) != 0


def test_weights_and_gradients_are_ours(trainer, monkeypatch: pytest.MonkeyPatch) -> None:
    logprobs = torch.full((4, 4), -1.0, dtype=torch.float64) - torch.arange(16).view(4, 4) / 16
    old = logprobs - RATIOS.double().log()
    theirs = logprobs.clone().requires_grad_()

    def per_token(*_: object, **__: object):
        return theirs, torch.zeros(4, 4), None

    monkeypatch.setattr(trainer, "_get_per_token_logps_and_entropies", per_token)
    loss = trainer._compute_loss(trainer.model, inputs(old))
    loss.backward()

    weights = -theirs.grad * MASK.sum() / ADVANTAGES[:, None]
    expected = torch.where(MASK.bool(), RATIOS.double().clamp(max=5.0), 0.0)
    torch.testing.assert_close(weights, expected)

    mine = logprobs.clone().requires_grad_()
    own = ours(mine, old)
    own.backward()
    torch.testing.assert_close(loss, own)
    torch.testing.assert_close(theirs.grad, mine.grad)


def test_gradients_of_a_real_model_are_ours(trainer) -> None:
    model = trainer.model
    batch = inputs(torch.zeros(4, 4))
    ids = torch.cat([batch["prompt_ids"], batch["completion_ids"]], dim=1)

    def logprobs() -> torch.Tensor:
        logits = model(input_ids=ids).logits[:, 1:-1] / SETTINGS.sampling.temperature
        return logits.log_softmax(-1).gather(-1, batch["completion_ids"][..., None]).squeeze(-1)

    with torch.no_grad():
        batch["old_per_token_logps"] = logprobs() - RATIOS.log()
    model.zero_grad()
    trainer._compute_loss(model, batch).backward()
    theirs = {name: weight.grad.clone() for name, weight in model.named_parameters()}
    model.zero_grad()
    ours(logprobs(), batch["old_per_token_logps"]).backward()
    for name, weight in model.named_parameters():
        torch.testing.assert_close(theirs[name], weight.grad, rtol=1e-4, atol=1e-6)
    assert any(gradient.abs().max() > 1e-3 for gradient in theirs.values())


def test_flat_groups_change_nothing_and_others_do(tmp_path: Path) -> None:
    """Two real steps: with groups that the filter drops the weights stay; with spread they move. Never NaN."""
    moved = {}
    for name, spread in (("flat", 0.01), ("spread", 1.0)):

        def reward(completions: list[str], spread: float = spread, **_: object) -> list[float | None]:
            rewards = [spread * (i % 2) for i in range(len(completions))]
            return drop_flat_groups(rewards, SETTINGS.group, SETTINGS.std_threshold)

        made = make_trainer(tmp_path / name, reward, max_steps=2, save_strategy="no")
        before = {key: weight.clone() for key, weight in made.model.state_dict().items()}
        made.train()
        after = made.model.state_dict()
        assert all(weight.isfinite().all() for weight in after.values())
        moved[name] = max(float((after[key] - before[key]).abs().max()) for key in before)
    assert moved["flat"] == 0
    assert moved["spread"] > 0


def test_a_cap_left_out_would_fall_back_to_one_fifth(trainer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Why epsilon_high is always emitted."""
    assert trainer.epsilon_high == SETTINGS.weight_high
    unset = trl.GRPOConfig(output_dir="unused", loss_type="cispo", bf16=False, use_cpu=True, report_to="none")
    assert (unset.epsilon_high, unset.epsilon) == (None, 0.2)


def test_trl_reads_the_emitted_file_from_its_command_line(tmp_path: Path) -> None:
    from trl.scripts.grpo import GRPOScriptArguments

    path = tmp_path / "trl_cispo.yaml"
    launch = Launch("model", "data", out=str(tmp_path), gpus=1)
    path.write_text(to_trl(spec_of(CispoSettings()), launch).files["trl_cispo.yaml"] + "bf16: false\nuse_cpu: true\n")
    parser = trl.TrlParser((GRPOScriptArguments, trl.GRPOConfig, trl.ModelConfig))
    script, arguments, model = parser.parse_args_and_config(args=["--config", str(path)])
    assert script.reward_funcs == ["maxproof_trl.reward"]
    assert (arguments.loss_type, arguments.epsilon_high, arguments.beta) == ("cispo", 5.0, 0.0)
    assert model.model_name_or_path == "model"
