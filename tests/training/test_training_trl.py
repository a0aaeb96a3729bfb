"""The reward function for TRL: its signature, and real steps of a real GRPOTrainer on a tiny random model, offline."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from judge_fakes import FAIR_PANEL, GOOD, OneByOne

from maxproof.lab.generate import problems
from maxproof.lab.judges import LabJudges
from maxproof.models.types import Answer, Call, CallFailed, CallNotRun, FailureKind, NoAnswer
from maxproof.problems import InputError, Problem
from maxproof.training.reward import VerifierReward
from maxproof.training.trl import NotJudged, local_reward, text_of
from maxproof.verifier import VerifierSettings

MADE = [made.problem for made in problems("train", 4, 0)]
BAD = (
    '<assessment>no</assessment><errors>1. Location: "all"\nDescription: nothing</errors>'
    "<verdict>fundamentally_wrong</verdict>"
)


def lab_reward() -> VerifierReward:
    return VerifierReward(VerifierSettings(), lambda _: LabJudges(FAIR_PANEL), MADE)


class Judges(OneByOne):
    """Answers by number of verified rollout, in the order in which they are asked: GOOD, BAD, or no answer."""

    def __init__(self, *outcomes: str | NoAnswer) -> None:
        self.outcomes = outcomes
        self.seen: dict[int, str | NoAnswer] = {}

    async def ask(self, call: Call) -> Answer:
        number = len(self.seen)
        outcome = self.seen.setdefault(call.address.candidate, self.outcomes[number % len(self.outcomes)])
        if isinstance(outcome, NoAnswer):
            raise outcome
        return Answer(outcome)


def judged(problem: Problem, *outcomes: str | NoAnswer) -> VerifierReward:
    judges = Judges(*outcomes)
    return VerifierReward(VerifierSettings(), lambda _: judges, [problem])


def call(reward: Any, completions: list[Any], **columns: Any) -> list[float | None]:
    prompts = columns.pop("prompts", ["prompt"] * len(completions))
    return asyncio.run(reward(prompts=prompts, completions=completions, **columns))


# --- the function -----------------------------------------------------------------------------------------------------


def test_plain_and_conversational_completions() -> None:
    first, second = MADE[:2]
    completions = [
        first.reference,
        [{"role": "assistant", "content": second.reference}],
        [{"role": "assistant", "content": "I don't know, but it is a nice problem."}],
        [
            {"role": "assistant", "content": "Let me look it up."},
            {"role": "tool", "content": "nothing found"},
            {"role": "assistant", "content": [{"type": "text", "text": first.reference}]},
        ],
    ]
    ids = [first.id, second.id, second.id, first.id]
    assert call(local_reward(lab_reward()), completions, problem_id=ids) == [1.0, 1.0, 0.0, 1.0]
    assert text_of([{"role": "tool", "content": "x"}]) == ""
    assert text_of([{"role": "assistant", "content": None}]) == ""


def test_a_failed_judge_is_none_and_told_as_a_metric() -> None:
    logged: dict[str, float] = {}
    reward = local_reward(judged(MADE[0], GOOD, CallFailed(FailureKind.TIMEOUT, "slow"), BAD, GOOD))
    texts = [f"{MADE[0].reference}\nThat is all, number {index}." for index in range(4)]
    found = call(reward, texts, problem_id=[MADE[0].id] * 4, log_metric=logged.__setitem__, trainer_state=None)
    assert found == [1.0, None, 0.0, 1.0]
    assert logged == {"maxproof/not_scored": 0.25}


def test_judges_that_are_gone_end_the_training() -> None:
    reward = local_reward(judged(MADE[0], GOOD, CallNotRun("the budget is spent")))
    with pytest.raises(NotJudged):
        call(reward, [MADE[0].reference, "Another answer to it."], problem_id=[MADE[0].id] * 2)


def test_a_cut_answer_is_worth_nothing_where_the_ends_are_known() -> None:
    text = MADE[0].reference
    ids = {"problem_id": [MADE[0].id] * 3, "completion_ids": [[5, 2], [5, 6], []]}
    assert call(local_reward(lab_reward(), eos_ids=[2]), [text] * 3, **ids) == [1.0, 0.0, 0.0]
    assert call(local_reward(lab_reward()), [text] * 3, **ids) == [1.0, 1.0, 1.0]
    with pytest.raises(InputError, match="completion_ids"):
        call(local_reward(lab_reward(), eos_ids=[2]), [text], problem_id=[MADE[0].id])


def test_rows_without_a_known_problem_are_refused() -> None:
    with pytest.raises(InputError, match="no column problem_id"):
        call(local_reward(lab_reward()), ["text"])
    with pytest.raises(InputError, match="no problem has the id"):
        call(local_reward(lab_reward()), ["text"], problem_id=["other"])


def test_the_functions_need_no_trainer_and_no_server_to_be_imported() -> None:
    code = (
        "import sys, maxproof.training.trl, maxproof.training.verl\n"
        "assert not {'torch', 'trl', 'starlette', 'uvicorn'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# --- in TRL's own trainer ---------------------------------------------------------------------------------------------


def make_trainer(out: Path, reward: Any, rows: list[dict[str, Any]], **changes: Any) -> Any:
    """A real GRPOTrainer with CISPO; a random Llama whose tokens are words of the lab's proofs."""
    torch = pytest.importorskip("torch", reason="needs the extra train")
    trl = pytest.importorskip("trl", reason="needs the extra hf")
    datasets = pytest.importorskip("datasets", reason="needs the extra hf")
    transformers = pytest.importorskip("transformers", reason="needs the extra hf")
    tokenizers = pytest.importorskip("tokenizers", reason="needs the extra train")
    torch.set_num_threads(1)
    words = sorted({word for problem in MADE for word in f"{problem.statement} {problem.reference}".split()})
    names = ["<unk>", "<pad>", "<end>", "<user>", "<assistant>", *words]
    backend = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: index for index, word in enumerate(names)}, unk_token="<unk>")
    )
    backend.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=backend, unk_token="<unk>", pad_token="<pad>", eos_token="<end>"
    )
    tokenizer.chat_template = (
        "{% for message in messages %}<{{ message['role'] }}> {{ message['content'] }} <end> {% endfor %}"
        "{% if add_generation_prompt %}<assistant>{% endif %}"
    )
    config = transformers.LlamaConfig(
        vocab_size=len(names),
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        eos_token_id=2,
        pad_token_id=1,
    )
    torch.manual_seed(0)
    arguments = {
        "loss_type": "cispo",
        "epsilon_high": 5.0,
        "beta": 0.0,
        "num_generations": 4,
        "per_device_train_batch_size": 4,
        "gradient_accumulation_steps": 2,
        "max_completion_length": 12,
        "max_steps": 2,
        "learning_rate": 0.01,
        "output_dir": str(out),
        "save_strategy": "no",
        "logging_steps": 1,
        "report_to": "none",
        "use_cpu": True,
        "bf16": False,
        "disable_tqdm": True,
        "seed": 0,
    }
    return trl.GRPOTrainer(
        model=transformers.LlamaForCausalLM(config),
        reward_funcs=reward,
        args=trl.GRPOConfig(**(arguments | changes)),
        train_dataset=datasets.Dataset.from_list(rows),
        processing_class=tokenizer,
    )


def rows(*, conversational: bool, count: int = 4) -> list[dict[str, Any]]:
    def prompt(problem: Problem) -> Any:
        return [{"role": "user", "content": problem.statement}] if conversational else problem.statement

    return [{"prompt": prompt(problem), "problem_id": problem.id} for problem in MADE[:count]]


@pytest.mark.parametrize("conversational", [False, True])
def test_two_steps_of_cispo_with_judges_of_the_lab(conversational: bool, tmp_path: Path) -> None:
    trainer = make_trainer(
        tmp_path, local_reward(lab_reward(), eos_ids=[2]), rows(conversational=conversational), max_steps=2
    )
    trainer.train()
    steps = [entry for entry in trainer.state.log_history if "reward" in entry]
    assert trainer.state.global_step == len(steps) == 2
    for entry in steps:
        assert 0 <= entry["rewards/maxproof/mean"] <= 1
        assert entry["maxproof/not_scored"] == 0
    assert all(weight.isfinite().all() for weight in trainer.model.state_dict().values())


def weights_after(tmp_path: Path, *outcomes: str | NoAnswer) -> tuple[list[Any], list[float], float]:
    """One generation of one group of 4; (weights, its advantages, how far the weights moved)."""
    trainer = make_trainer(
        tmp_path,
        local_reward(judged(MADE[0], *outcomes)),
        rows(conversational=False, count=1),
        max_steps=1,
        gradient_accumulation_steps=1,
        generation_kwargs={"min_new_tokens": 12},  # no text so short that layer 1 stops it
    )
    before = {key: weight.clone() for key, weight in trainer.model.state_dict().items()}
    trainer.train()
    after = trainer.model.state_dict()
    moved = max(float((after[key] - before[key]).abs().max()) for key in before)
    return list(after.values()), list(trainer._logs["advantages"]), moved


def test_not_scored_is_masked_it_moves_nothing_and_is_not_in_the_baseline(tmp_path: Path) -> None:
    failed = CallFailed(FailureKind.TIMEOUT, "slow")
    _, advantages, moved = weights_after(tmp_path / "mixed", GOOD, failed, BAD, GOOD)
    assert moved > 0
    # Mean 2/3 and sample std of the three that are scored; a zero in the fourth's place would make it 1/2.
    expected = [(1 - 2 / 3) / 0.5774, 0.0, (0 - 2 / 3) / 0.5774, (1 - 2 / 3) / 0.5774]
    assert sorted(advantages) == pytest.approx(sorted(expected), abs=2e-3)

    weights, advantages, moved = weights_after(tmp_path / "none", failed, failed, failed, failed)
    assert (advantages, moved) == ([0.0] * 4, 0.0)
    assert all(weight.isfinite().all() for weight in weights)


def test_a_spent_budget_ends_trl(tmp_path: Path) -> None:
    with pytest.raises(NotJudged):
        weights_after(tmp_path, GOOD, CallNotRun("the budget is spent"))
