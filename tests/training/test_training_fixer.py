"""The fixer: what counts as a repair, its training set and its figures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from maxproof.lab.domains import read_question
from maxproof.lab.generate import problems
from maxproof.lab.judges import PANEL, LabJudges
from maxproof.problems import InputError, Problem
from maxproof.training.fixer import (
    Accept,
    Correction,
    FixerSettings,
    chosen,
    is_accepted,
    patch_prompt_of,
    repair_figures,
    repairs,
)
from maxproof.training.harvest import Counts, Harvest, Harvested, HarvestSettings, Triple
from maxproof.training.harvest_files import write_harvest
from maxproof.training.reward import VerifierReward
from maxproof.training.settings import ModelShape, SamplingSettings, SftSettings
from maxproof.training.types import Reward, Rollout
from maxproof.training.verifier_expert import in_marks
from maxproof.verifier.aggregate import aggregate
from maxproof.verifier.settings import PointsMap, VerifierSettings
from maxproof.verifier.types import JudgeView, LocatedError, ScoreState, Verdict

N, M, H, F = Verdict
FLAWED = "3 x = 6.\nx = 3.\nThe answer is 3."
RIGHT = "3 x = 6.\nx = 2.\nThe answer is 2."


def triple(problem: str = "p", flawed: str = FLAWED) -> Triple:
    errors = (LocatedError("x = 3.", "this is false"),)
    return Triple(problem, "Solve 3 x = 6.", flawed, "Verdict: has_errors", H, errors, 0, "train")


def reward(*verdicts: Verdict | None) -> Reward:
    views = []
    for number, verdict in enumerate(verdicts):
        points = None if verdict is None else float(getattr(PointsMap(), verdict.value))
        state = ScoreState.NOT_SCORED if points is None else ScoreState.PASSED if points == 7 else ScoreState.FAILED
        views.append(JudgeView(f"j{number}", "free", state, points, verdict))
    verification = aggregate(0, views)
    return Reward(verification.score, verification)


def correction(
    text: str, result: Reward, sample: int = 0, of: Triple | None = None, finished: bool = True
) -> Correction:
    return Correction(of or triple(), sample, "<patch> ... <sep>", text, finished, result)


@pytest.mark.parametrize(
    ("verdicts", "strict", "loose"),
    [
        ((N, N, N), True, True),
        ((N, M, N), False, True),
        ((N, H, N), False, False),
        ((N, None, N), False, False),  # not scored
        ((M, None, N), False, True),  # failed already, whatever the missing judge would say
        ((F,), False, False),
    ],
)
def test_acceptance(verdicts: Sequence[Verdict | None], strict: bool, loose: bool) -> None:
    assert is_accepted(reward(*verdicts), "no_errors") is strict
    assert is_accepted(reward(*verdicts), "minor_gaps") is loose


@pytest.mark.parametrize(("value", "strict", "loose"), [(1.0, True, True), (6 / 7, False, True), (0.8, False, False)])
def test_acceptance_without_a_verification(value: float, strict: bool, loose: bool) -> None:
    assert is_accepted(Reward(value), "no_errors") is strict
    assert is_accepted(Reward(value), "minor_gaps") is loose
    assert not is_accepted(Reward(None), "minor_gaps")


texts = st.sampled_from([RIGHT, FLAWED, "x = 2.\nThe answer is 2.", "Step 1: x = 2.\nThe answer is 2.", ""])
results = st.lists(st.sampled_from([*Verdict, None]), min_size=1, max_size=3).map(lambda found: reward(*found))


@given(
    st.lists(st.tuples(st.sampled_from(["p", "q"]), texts, results, st.booleans()), max_size=20),
    st.sampled_from(["no_errors", "minor_gaps"]),
    st.integers(1, 3),
)
def test_the_set_holds_only_accepted_repairs(
    drawn: list[tuple[str, str, Reward, bool]], accept: Accept, keep: int
) -> None:
    corrections = [
        correction(text, result, number, triple(problem), finished)
        for number, (problem, text, result, finished) in enumerate(drawn)
    ]
    kept, counts = repairs(corrections, accept, keep)
    allowed = {N} if accept == "no_errors" else {N, M}
    for repair in kept:
        assert repair.verdict in allowed
        assert repair.repaired_proof != FLAWED
        assert any(
            one.text == repair.repaired_proof and one.finished and is_accepted(one.reward, accept)
            for one in corrections
            if one.triple.problem == repair.problem
        )
    for problem in ("p", "q"):
        mine = [repair.repaired_proof for repair in kept if repair.problem == problem]
        assert len(mine) == len(set(mine)) <= keep
    left_out = counts.not_scored + counts.unchanged + counts.rejected + counts.repeated + counts.beyond_keep
    assert counts.corrections == len(corrections) == counts.repairs + left_out
    assert counts.repairs == len(kept)


def test_why_corrections_are_left_out() -> None:
    corrections = [
        correction(RIGHT, reward(N)),
        correction(RIGHT.replace("3 x", "3  x"), reward(N)),  # the same text
        correction("x = 2.\nThe answer is 2.", reward(N)),
        correction(FLAWED, reward(N)),  # a judge overlooked the error this time
        correction("x = 2.", reward(H)),
        correction("x = 2. Well.", reward(None, N)),
        correction("x = 2", reward(N), finished=False),
    ]
    kept, counts = repairs(corrections, "no_errors", 1)
    assert [repair.repaired_proof for repair in kept] == [RIGHT]
    assert (counts.repeated, counts.beyond_keep, counts.unchanged) == (1, 1, 1)
    assert (counts.rejected, counts.not_scored, counts.repaired) == (2, 1, 1)


def test_patch_prompts_name_the_errors() -> None:
    prompt = patch_prompt_of(triple())
    assert prompt is not None
    assert prompt.startswith("<patch> Solve 3 x = 6. <sep> 1: 3 x = 6. 2: x = 3.")
    assert prompt.endswith("<sep> 2 false <sep>")
    assert patch_prompt_of(triple(flawed="")) is None


def test_triples_are_chosen_by_seed() -> None:
    many = [triple(f"p{number}") for number in range(30)] + [triple("empty", "")]
    first = chosen(many, 10, 0)
    assert len(first) == 10
    assert first == chosen(many, 10, 0) != chosen(many, 10, 1)
    assert [one.problem for one in first] == sorted((one.problem for one in first), key=lambda name: int(name[1:]))
    assert len(chosen(many, None, 0)) == 30


def test_figures() -> None:
    def oracle(statement: str, proof: str) -> Verdict | None:
        return N if "2" in proof.split("\n")[-1] else H

    p, q = triple("p"), triple("q")
    found = repair_figures(
        [
            correction(RIGHT, reward(N), 0, p),
            correction("The answer is 4.", reward(N), 1, p),  # a wrong acceptance
            correction("The answer is 2.", reward(H), 0, q),
            correction(FLAWED, reward(N), 1, q),  # unchanged
            correction(RIGHT, reward(None), 2, q),
        ],
        "no_errors",
        oracle,
    )
    assert (found.corrections, found.not_scored) == (5, 1)
    assert (found.accepted.value, found.any_accepted.value) == (0.5, 0.5)
    assert found.right is not None
    assert found.any_right is not None
    assert (found.right.value, found.any_right.value) == (0.5, 1.0)
    assert found.wrongly_accepted is not None
    assert (found.wrongly_accepted.successes, found.wrongly_accepted.total) == (1, 2)
    assert repair_figures([], "no_errors", None).right is None


# --- with a model -----------------------------------------------------------------------------------------------------


STATEMENTS = tuple(f"Solve {a} x + {b} = {a * x + b}." for a in range(2, 6) for b, x in ((3, 2), (1, 5), (4, 3)))


def lab_triples() -> tuple[list[Triple], VerifierReward, list[str]]:
    """A flawed proof of each statement (the answer alone), what scores repairs, and right proofs."""
    questions = [read_question(statement) for statement in STATEMENTS]
    proofs = ["\n".join(one.solve("isolation")) for one in questions if one is not None]
    made = [Problem(f"p{number}", statement) for number, statement in enumerate(STATEMENTS)]
    triples = [
        Triple(one.id, one.statement, proof.split("\n")[-1], "", H, (), 0, "train")
        for one, proof in zip(made, proofs, strict=True)
    ]
    judges = LabJudges(PANEL, seed=1)
    return triples, VerifierReward(VerifierSettings(), lambda problem: judges, made), proofs


async def test_training_and_evaluation(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="needs the extra train")
    from maxproof.training.checkpoint import new_checkpoint
    from maxproof.training.fixer import evaluate_fixer, train_fixer
    from maxproof.training.sft import train_sft
    from maxproof.training.tokenizer import build_tokenizer
    from maxproof.training.types import Example

    torch.set_num_threads(1)
    triples, score, proofs = lab_triples()
    prompts = [patch_prompt_of(one) or "" for one in triples]
    tokenizer = build_tokenizer([*prompts, *proofs])
    start = new_checkpoint(ModelShape(layers=2, width=64, heads=2, hidden=128), tokenizer, 0)
    settings = FixerSettings(
        corrections=3,
        sampling=SamplingSettings(max_new_tokens=40),
        sft=SftSettings(steps=20, batch=8, learning_rate=5e-3, warmup=2),
    )
    with pytest.raises(InputError, match="none of 36 corrections was accepted"):
        await train_fixer(start, triples, score, settings, tmp_path / "none", seed=0)
    # A prover that has learnt some of the answers by heart: enough to give repairs.
    by_heart = [Example(prompt, proof) for prompt, proof in zip(prompts, proofs, strict=True)]
    sft = SftSettings(steps=200, batch=12, learning_rate=4e-3, warmup=5)
    prover = train_sft(start, by_heart, sft, tmp_path / "prover", 0)
    counts: list[object] = []
    trained = await train_fixer(
        prover, triples, score, settings, tmp_path / "out", seed=0, student=start, tell=counts.append
    )
    lines = (tmp_path / "out" / "repairs.jsonl").read_text().splitlines()
    assert lines
    assert all(json.loads(line)["verdict"] == "no_errors" for line in lines)
    assert len(counts) == 1

    found = await evaluate_fixer(prover, triples, score, settings, 0)
    assert found.greedy.accepted.value > 0.3
    assert found.sampled.any_accepted.value >= found.sampled.accepted.value
    assert (found.triples, found.problems, found.sampled.corrections) == (12, 12, 36)
    assert found.greedy.right is None
    await evaluate_fixer(trained, triples, score, settings, 0)


async def test_the_score_is_asked_about_the_problem_of_the_triple() -> None:
    pytest.importorskip("torch", reason="needs the extra train")
    from maxproof.training.checkpoint import new_checkpoint
    from maxproof.training.fixer import sample_corrections
    from maxproof.training.tokenizer import build_tokenizer

    asked: list[Rollout] = []

    async def score(rollouts: Sequence[Rollout]) -> list[Reward]:
        asked.extend(rollouts)
        return [Reward(None) for _ in rollouts]

    start = new_checkpoint(ModelShape(layers=1, width=16, heads=2, hidden=16), build_tokenizer([FLAWED]), 0)
    triples = [triple("a"), triple("empty", ""), triple("b")]
    found = await sample_corrections(start, triples, score, SamplingSettings(max_new_tokens=4), 2, 0)
    assert [(one.task, one.group, one.sample) for one in asked] == [("a", 0, 0), ("a", 0, 1), ("b", 1, 0), ("b", 1, 1)]
    assert [one.triple.problem for one in found] == ["a", "a", "b", "b"]


# --- command ----------------------------------------------------------------------------------------------------------


def test_problems_of_the_lab_are_found_by_their_id() -> None:
    pytest.importorskip("torch", reason="needs the extra train")
    from maxproof.cli.train_experts_work import problems_of
    from maxproof.lab.oracle import true_verdict

    (made,) = problems("train", 1, seed=5, levels=(1,))
    own = Triple(made.problem.id, made.problem.statement, "x", "", H, (), 0, "train")
    foreign = Triple(made.problem.id + "0", "Prove it.", "x", "", H, (), 0, "train")
    hostile = [
        Triple(name, "Prove it.", "x", "", H, (), 0, "train") for name in ("", "a-b-1-2", "linear-isolation-9-1", "-")
    ]
    found = problems_of([own, foreign, *hostile], None)
    assert found[own.problem] == made.problem
    assert true_verdict(own.statement, "") is F
    assert true_verdict(foreign.statement, "x") is None
    assert all(not found[one.problem].rubric for one in (foreign, *hostile))


def test_commands_train_both_experts(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs the extra train")
    from maxproof.cli.train import train_app
    from maxproof.training.checkpoint import load_checkpoint, new_checkpoint, save_checkpoint
    from maxproof.training.tokenizer import build_tokenizer

    triples, _, proofs = lab_triples()
    marked = [in_marks(example_of(one)) for one in triples]
    texts = [text for one in marked if one is not None for text in (one.prompt, one.answer)]
    tokenizer = build_tokenizer([*texts, *proofs, *(patch_prompt_of(one) or "" for one in triples)])
    start = new_checkpoint(ModelShape(layers=1, width=16, heads=2, hidden=16), tokenizer, 0)
    save_checkpoint(tmp_path / "start", start)
    splits = [replace(one, split="validation") if n % 3 == 0 else one for n, one in enumerate(triples)]
    found = Harvested(tuple(map(example_of, splits)), tuple(splits), Counts(12))
    write_harvest(tmp_path / "harvest", found, HarvestSettings(), "records")

    def run(*arguments: str) -> Result:
        files = ["--model", str(tmp_path / "start"), "--harvest", str(tmp_path / "harvest"), "--sft-steps", "3"]
        return CliRunner().invoke(train_app, [arguments[0], *files, *arguments[1:]])

    out = str(tmp_path / "verifier")
    verifier = run("verifier", "--out", out, "--no-rl", "--json")
    assert verifier.exit_code == 0, verifier.output
    told = json.loads(verifier.stdout)
    assert told["examples"] == 8
    assert told["after"]["greedy"]["answers"] == 4
    assert load_checkpoint(Path(told["checkpoint"])).meta.step == 3
    assert (
        run("verifier", "--out", out, "--no-rl", "--json").stdout == verifier.stdout
    )  # goes on: nothing is left to do

    fixer = run("fixer", "--out", str(tmp_path / "fixer"), "--judges", "lab-panel", "--corrections", "1")
    assert fixer.exit_code == 2
    *progress, error = fixer.stderr.splitlines()
    assert "none of 8 corrections was accepted" in error
    assert progress[0] == "samples corrections"
    assert not any("error" in line for line in progress)
    chat = run("verifier", "--out", out, "--harvest", str(tmp_path / "start"))
    assert (chat.exit_code, "not a harvest" in chat.stderr) == (2, True)
    wrong = run("verifier", "--out", out, "--group", "1")
    assert (wrong.exit_code, "group" in wrong.stderr) == (2, True)


def example_of(one: Triple) -> Harvest:
    errors = (LocatedError(one.flawed_proof, "this is a leap"),)
    return Harvest(one.problem, one.statement, one.flawed_proof, H, errors, "", "", "free", 0, one.split)
