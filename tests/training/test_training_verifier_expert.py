"""The verifier expert: examples in marks, training and figures."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxproof.lab.dialogue import Mark, marks_from_errors, marks_of_report
from maxproof.lab.generate import problems
from maxproof.lab.judges import PANEL, LabJudges
from maxproof.lab.mutations import MUTATIONS, mutate
from maxproof.lab.oracle import grade_statement
from maxproof.problems import InputError
from maxproof.training.harvest import Harvest, HarvestSettings, harvest
from maxproof.training.reward import VerifierReward
from maxproof.training.rollouts import record_of
from maxproof.training.settings import CispoSettings, ModelShape, SamplingSettings, SftSettings
from maxproof.training.types import Rollout
from maxproof.training.verifier_expert import (
    VerifierExpertSettings,
    agreement,
    all_in_marks,
    clustered_mean,
    in_marks,
    marks_reward,
    read_marked,
)
from maxproof.verifier.settings import VerifierSettings
from maxproof.verifier.types import LocatedError, Verdict

PROOF = "Step 1: 3 x = 6.\nx = 3.\nThe answer is 3."
N, M, H, F = Verdict


def example(verdict: Verdict, *errors: LocatedError, proof: str = PROOF, problem: str = "p") -> Harvest:
    return Harvest(problem, "Solve 3 x = 6.", proof, verdict, errors, "", "", "free", 0, "train")


WRONG = example(
    H, LocatedError("x = 3.", "3 * 3 is 9, not 6: this is false"), LocatedError("The answer is 3", "a leap")
)


def test_an_example_in_marks() -> None:
    marked = in_marks(WRONG)
    assert marked is not None
    assert marked.prompt.startswith("<verify> Solve 3 x = 6. <sep> 1: ")
    assert marked.answer == "1 ok 2 false 3 leap has_errors"
    assert [error.location for error in marked.example.errors] == ["sentence 2", "sentence 3"]


@pytest.mark.parametrize("proof", ["", "x = 1.\n" * 60])
def test_what_the_format_cannot_say_is_left_out(proof: str) -> None:
    assert in_marks(example(N, proof=proof)) is None
    with pytest.raises(InputError, match="compact format"):
        all_in_marks([example(N, proof=proof)])


async def value_of(answer: str, golden: Harvest = WRONG) -> float | None:
    marked = in_marks(golden)
    assert marked is not None
    reward = marks_reward({"t": marked.example})
    return (await reward([Rollout(0, "t", 0, 0, "", answer)]))[0].value


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ("1 ok 2 false 3 leap has_errors", 1.0),
        ("1 ok 2 false 3 leap fundamentally_wrong", 0.85),
        ("1 ok 2 false 3 ok has_errors", 0.3 + 0.7 * 2 / 3),
        ("1 ok 2 leap 3 leap has_errors", 0.3 + 0.7 * (0.5 + 0.25)),  # right places, one right kind
        ("1 false 2 ok 3 ok has_errors", 0.3),
        ("1 false 2 false 3 false has_errors", 0.3 + 0.7 * (0.5 * 4 / 5 + 0.5 * 2 / 5)),
        ("1 ok 2 ok 3 ok no_errors", 0.0),
        ("1 ok 2 ok 3 ok 4 missing has_errors", 0.3),
        ("1 ok 2 false has_errors", 0.0),  # not every sentence
        ("1 ok 2 ok 3 ok has_errors", 0.0),  # a verdict against its marks
        ("", 0.0),
    ],
)
async def test_reward_of_marks(answer: str, value: float) -> None:
    assert await value_of(answer) == pytest.approx(value)


async def test_a_missing_goal_is_found_at_its_place() -> None:
    golden = example(H, LocatedError("", "the goal is not reached"))
    assert await value_of("1 ok 2 ok 3 ok 4 missing has_errors", golden) == pytest.approx(1.0)


async def test_equal_sentences_are_told_apart() -> None:
    proof = "x = 3.\nx = 3.\nThe answer is 3."
    marked = in_marks(example(H, LocatedError("x = 3.", "false"), proof=proof))
    assert marked is not None
    reward = marks_reward({"t": marked.example})
    first, second = await reward(
        [Rollout(0, "t", 0, 0, "", text) for text in ("1 false 2 ok 3 ok has_errors", "1 ok 2 false 3 ok has_errors")]
    )
    assert (first.value, second.value) == (pytest.approx(1.0), pytest.approx(0.3))


sentences = st.sampled_from(["x = 3.", "3 x = 6.", "The answer is 3.", "Clearly, x = 2.", "### Verification", "?"])


@given(
    st.sampled_from(Verdict),
    st.lists(sentences, min_size=1, max_size=8),
    st.lists(
        st.builds(LocatedError, sentences | st.just("nowhere"), st.sampled_from(["false", "a gap", ""])), max_size=3
    ),
)
async def test_the_right_answer_earns_everything(
    verdict: Verdict, lines: list[str], errors: list[LocatedError]
) -> None:
    listed = () if verdict is N else (*errors, LocatedError(lines[0], "false"))
    golden = example(verdict, *listed, proof="\n".join(lines))
    marked = in_marks(golden)
    assert marked is not None
    assert await value_of(marked.answer, golden) == pytest.approx(1.0)


# --- figures ----------------------------------------------------------------------------------------------------------


def test_agreement_counts_passes() -> None:
    pairs = [(N, H), (N, N), (H, N), (F, H), (None, N), (M, None), (M, M)]
    found = agreement(pairs)
    assert (found.accuracy.successes, found.accuracy.total) == (2, 5)
    assert (found.false_positives.successes, found.false_positives.total) == (1, 3)
    assert (found.false_negatives.successes, found.false_negatives.total) == (1, 2)


def test_mean_over_clusters() -> None:
    independent = clustered_mean([[0.0], [1.0]] * 50)
    grouped = clustered_mean([[0.0] * 10, [1.0] * 10] * 5)
    assert independent.value == grouped.value == 0.5
    assert grouped.high - grouped.low > 2 * (independent.high - independent.low)
    assert (clustered_mean([]).low, clustered_mean([]).high) == (0.0, 1.0)
    assert clustered_mean([[1.0]] * 10).low < 0.8


# --- with a model -----------------------------------------------------------------------------------------------------


async def lab_examples(count: int) -> tuple[Harvest, ...]:
    """Right and wrong proofs of the easiest lab problems, judged by the panel and harvested."""
    made = problems("train", count, seed=5, levels=(1,), domains=("linear",), techniques=("isolation",))
    rollouts: list[Rollout] = []
    for number, one in enumerate(made):
        right = "\n".join(one.question.solve(one.technique))
        rollouts += [
            Rollout(0, one.problem.id, number, sample, f"<prove> {one.problem.statement} <sep>", text)
            for sample, text in enumerate((right, right.split("\n")[-1]))
        ]
    judges = LabJudges(PANEL, seed=1)
    reward = VerifierReward(VerifierSettings(), lambda problem: judges, [one.problem for one in made])
    records = [record_of(rollout, value) for rollout, value in zip(rollouts, await reward(rollouts), strict=True)]
    return harvest(records, HarvestSettings(validation_share=0.3, class_ratio=50)).examples


def truth(statement: str, proof: str) -> Verdict | None:
    return grade_statement(statement, proof).verdict


async def test_marks_keep_what_the_judges_saw() -> None:
    """A judge may overlook what the oracle sees; what it does see keeps its place and its kind."""
    made = problems("train", 48, seed=6)
    rng = Random(0)
    rollouts = [
        Rollout(0, one.problem.id, number, sample, f"<prove> {one.problem.statement} <sep>", "\n".join(claims))
        for number, one in enumerate(made)
        for sample, name in enumerate(MUTATIONS)
        if (claims := mutate(one.question, one.question.solve(one.technique), name, rng))
    ]
    judges = LabJudges(PANEL, seed=1)
    reward = VerifierReward(VerifierSettings(), lambda problem: judges, [one.problem for one in made])
    records = [record_of(rollout, value) for rollout, value in zip(rollouts, await reward(rollouts), strict=True)]
    seen: Counter[tuple[Mark, Mark]] = Counter()
    for found in harvest(records, HarvestSettings(validation_share=0, class_ratio=1e6)).examples:
        report = grade_statement(found.statement, found.proof)
        seen.update(
            zip(marks_of_report(report), marks_from_errors(found.errors, found.verdict, found.proof), strict=False)
        )
    assert seen[Mark.FALSE, Mark.LEAP] == seen[Mark.LEAP, Mark.FALSE] == seen[Mark.OK, Mark.FALSE] == 0
    assert seen[Mark.LEAP, Mark.LEAP] > seen[Mark.LEAP, Mark.OK] > 0
    assert seen[Mark.FALSE, Mark.FALSE] > seen[Mark.FALSE, Mark.OK] > 0


async def test_training_and_evaluation(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs the extra train")
    from maxproof.training.checkpoint import new_checkpoint
    from maxproof.training.tokenizer import build_tokenizer
    from maxproof.training.verifier_expert import evaluate_verifier, train_verifier

    examples = await lab_examples(40)
    train = [one for one in examples if one.split == "train"]
    held_out = [one for one in examples if one.split == "validation"]
    marked = all_in_marks(examples)
    tokenizer = build_tokenizer(text for one in marked for text in (one.prompt, one.answer))
    start = new_checkpoint(ModelShape(layers=2, width=48, heads=2, hidden=96), tokenizer, 0)
    settings = VerifierExpertSettings(
        sft=SftSettings(steps=200, batch=16, learning_rate=4e-3, warmup=5),
        rl=CispoSettings(steps=2, prompts=4, group=4, std_threshold=0.0, sampling=SamplingSettings(max_new_tokens=48)),
    )
    before = await evaluate_verifier(start, held_out, truth, samples=2)
    trained = await train_verifier(start, train, settings, tmp_path, seed=0)
    after = await evaluate_verifier(trained, held_out, truth, samples=2)

    assert before.greedy.unreadable.value == 1
    assert after.greedy.reward.value > before.greedy.reward.value + 0.1
    assert after.greedy.unreadable.value < 0.8
    assert after.examples + after.left_out == len(held_out)
    assert after.sampled.answers == 2 * after.examples
    assert sum(sum(row.values()) for row in after.greedy.confusion.values()) == after.examples
    assert after.judge_by_oracle is not None
    assert after.greedy.by_oracle is not None
    assert (tmp_path / "rl" / "rollouts.jsonl").exists()
    assert (await evaluate_verifier(trained, held_out, truth, samples=2)).to_json() == after.to_json()


def test_reading_is_about_the_example() -> None:
    marked = in_marks(WRONG)
    assert marked is not None
    longer = replace(marked.example, proof=marked.example.proof + "\nx = 4.")
    assert not isinstance(read_marked(marked.example, marked.answer), str)
    assert isinstance(read_marked(longer, marked.answer), str)
