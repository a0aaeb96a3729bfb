"""From rollouts to examples and triples."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
import typer
from click.testing import Result
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from maxproof.cli.harvest import harvest as harvest_command
from maxproof.problems import InputError
from maxproof.training.harvest import Harvest, HarvestSettings, balance, harvest, split_of, stated_in
from maxproof.training.harvest_files import (
    chat_example,
    read_harvest,
    read_triples,
    reply_text,
    rollout_files,
    write_harvest,
)
from maxproof.training.rollouts import RolloutRecord, record_of
from maxproof.training.types import Reward, Rollout
from maxproof.verifier.aggregate import aggregate, filtered
from maxproof.verifier.judge_reply import JudgeReply, parse_reply
from maxproof.verifier.settings import PointsMap
from maxproof.verifier.types import BadCaseHit, JudgeView, LocatedError, ScoreState, Verdict

POINTS = PointsMap()


def view(verdict: Verdict | None, judge: str = "free", description: str = "it is false") -> JudgeView:
    if verdict is None:
        return JudgeView(judge, "free", ScoreState.NOT_SCORED, None, None, reason="no answer")
    points: float = getattr(POINTS, verdict.value)
    errors = () if verdict is Verdict.NO_ERRORS else (LocatedError("x = 3.", description),)
    state = ScoreState.PASSED if points == 7 else ScoreState.FAILED
    return JudgeView(judge, "free", state, points, verdict, errors, f"Read by {judge}.")


def record(
    *verdicts: Verdict | None, problem: str = "p", text: str = "x = 3.", step: int = 0, statement: str = "Solve x = 3."
) -> RolloutRecord:
    names = ("rubric", "free", "third")
    verification = aggregate(0, [view(verdict, name) for verdict, name in zip(verdicts, names, strict=False)])
    rollout = Rollout(step, problem, 0, 0, f"<prove> {statement} <sep>", text)
    return record_of(rollout, Reward(verification.score, verification))


def many(counts: dict[Verdict, int]) -> list[RolloutRecord]:
    return [
        record(verdict, problem=f"p{number % 9}", text=f"{verdict} {number}", statement=f"Solve {number % 9}.")
        for verdict, count in counts.items()
        for number in range(count)
    ]


def test_the_critique_is_that_of_the_judge_that_realises_the_minimum() -> None:
    found = harvest([record(Verdict.MINOR_GAPS, Verdict.FUNDAMENTALLY_WRONG, Verdict.NO_ERRORS)])
    (example,) = found.examples
    assert (example.judge, example.verdict) == ("free", Verdict.FUNDAMENTALLY_WRONG)
    assert example.assessment == "Read by free."
    assert "Read by free." in example.critique
    assert example.statement == "Solve x = 3."
    (triple,) = found.triples
    assert (triple.flawed_proof, triple.verification_analysis) == ("x = 3.", example.critique)


def test_a_missing_judge_does_not_undo_a_failure() -> None:
    (example,) = harvest([record(None, Verdict.HAS_ERRORS)]).examples
    assert example.verdict is Verdict.HAS_ERRORS


def test_what_says_nothing_about_a_proof_is_dropped_by_reason() -> None:
    stopped = filtered(0, [BadCaseHit("empty", "no_text", "0 characters")])
    rollout = Rollout(0, "p", 0, 1, "<prove> Solve x = 3. <sep>", "")
    found = harvest(
        [
            record(None, Verdict.NO_ERRORS),
            record_of(rollout, Reward(stopped.score, stopped)),
            record_of(rollout, Reward(None)),
            record_of(rollout, Reward(1.0)),
            record(Verdict.NO_ERRORS),
        ]
    )
    assert len(found.examples) == 1
    assert not found.triples
    assert found.counts.candidates == 5
    assert found.counts.dropped == {"not scored": 2, "stopped by layer 1: no_text": 1, "no judge was asked": 1}


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_the_same_text_the_worse_verdict_stays(order: Sequence[int]) -> None:
    records = [
        record(Verdict.NO_ERRORS, text="We are given that x = 3."),
        record(Verdict.HAS_ERRORS, text="Step 1: x  = 3."),
    ]
    found = harvest([records[place] for place in order])
    assert [example.verdict for example in found.examples] == [Verdict.HAS_ERRORS]
    assert found.counts.dropped == {"the same text again": 1}


def test_the_same_text_for_another_problem_is_another_example() -> None:
    found = harvest([record(Verdict.NO_ERRORS), record(Verdict.NO_ERRORS, problem="q", statement="Solve 2 x = 6.")])
    assert len(found.examples) == 2


@given(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=20, unique=True), st.floats(0, 0.9))
def test_no_problem_is_in_two_splits(problems: list[str], share: float) -> None:
    records = [
        record(verdict, problem=problem, text=f"{verdict}", statement=f"Solve {number % 5}.")
        for number, problem in enumerate(problems)
        for verdict in Verdict
    ]
    found = harvest(records, HarvestSettings(validation_share=share, class_ratio=100))
    splits: dict[str, set[str]] = {}
    for item in (*found.examples, *found.triples):
        splits.setdefault(item.problem, set()).add(item.split)
        splits.setdefault(item.statement, set()).add(item.split)
    assert all(len(found) == 1 for found in splits.values())


def test_a_split_does_not_depend_on_other_problems() -> None:
    shares = Counter(split_of(f"p{number}", 0.25) for number in range(2000))
    assert 0.2 < shares["validation"] / 2000 < 0.3
    assert split_of("p7", 0.0) == "train"


def test_one_id_with_two_statements_is_refused() -> None:
    with pytest.raises(InputError, match="two statements"):
        harvest([record(Verdict.NO_ERRORS), record(Verdict.NO_ERRORS, statement="Solve x = 4.")])


def test_classes_are_evened_out_and_counted() -> None:
    records = many({Verdict.NO_ERRORS: 40, Verdict.MINOR_GAPS: 6, Verdict.HAS_ERRORS: 30})
    found = harvest(records, HarvestSettings(validation_share=0))
    assert Counter(example.verdict for example in found.examples) == {
        Verdict.NO_ERRORS: 6,
        Verdict.MINOR_GAPS: 6,
        Verdict.HAS_ERRORS: 6,
    }
    assert found.counts.before["train"]["no_errors"] == 40
    assert found.counts.after["train"]["no_errors"] == 6
    assert found.counts.missing == ("train: fundamentally_wrong",)
    assert len(found.triples) == 36  # triples are not evened out


def test_ratio_and_cap() -> None:
    records = many({Verdict.NO_ERRORS: 40, Verdict.MINOR_GAPS: 6})
    twice = harvest(records, HarvestSettings(validation_share=0, class_ratio=2))
    assert twice.counts.after["train"]["no_errors"] == 12
    capped = harvest(records, HarvestSettings(validation_share=0, class_ratio=2, class_cap=4))
    assert Counter(example.verdict for example in capped.examples) == {Verdict.NO_ERRORS: 4, Verdict.MINOR_GAPS: 4}


def test_what_is_kept_follows_from_the_seed_and_not_from_the_order() -> None:
    records = many({Verdict.NO_ERRORS: 40, Verdict.MINOR_GAPS: 6})
    first = harvest(records, HarvestSettings(validation_share=0))
    again = harvest(records[::-1], HarvestSettings(validation_share=0))
    other = harvest(records, HarvestSettings(validation_share=0, seed=1))
    proofs = [{example.proof for example in found.examples} for found in (first, again, other)]
    assert proofs[0] == proofs[1] != proofs[2]


def test_balancing_nothing() -> None:
    assert balance([], HarvestSettings()) == []


@pytest.mark.parametrize(
    ("prompt", "statement"),
    [
        ("<prove> Solve x = 3. <sep>", "Solve x = 3."),
        ("<prove> Show that 1 <= 4 x + x^2. <sep>", "Show that 1 <= 4 x + x^2."),
        ("Prove it.\n", "Prove it."),
        ("<prove> a <sep> b <sep>", None),
    ],
)
def test_statement_in_a_prompt(prompt: str, statement: str | None) -> None:
    assert stated_in(prompt) == (prompt if statement is None else statement)


def test_given_statements_win_over_prompts() -> None:
    (example,) = harvest([record(Verdict.NO_ERRORS)], statements={"p": "Find x."}).examples
    assert example.statement == "Find x."


# --- files ------------------------------------------------------------------------------------------------------------


def test_records_come_back(tmp_path: Path) -> None:
    settings = HarvestSettings(validation_share=0.4)
    found = harvest(many(dict.fromkeys(Verdict, 20)), settings)
    write_harvest(tmp_path / "out", found, settings, "records")
    examples = [*read_harvest(tmp_path / "out", "train"), *read_harvest(tmp_path / "out", "validation")]
    assert tuple(examples) == found.examples
    triples = [*read_triples(tmp_path / "out", "train"), *read_triples(tmp_path / "out", "validation")]
    assert sorted(triples, key=str) == sorted(found.triples, key=str)
    assert json.loads((tmp_path / "out" / "harvest.json").read_text())["counts"]["candidates"] == 80


def test_a_foreign_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(InputError, match="something else"):
        write_harvest(tmp_path, harvest([]), HarvestSettings(), "records")


def test_a_bad_line_is_named(tmp_path: Path) -> None:
    found = harvest([record(Verdict.NO_ERRORS)], HarvestSettings(validation_share=0))
    write_harvest(tmp_path / "out", found, HarvestSettings(), "records")
    path = tmp_path / "out" / "train.jsonl"
    path.write_text(path.read_text() + path.read_text().replace("no_errors", "perfect"))
    with pytest.raises(InputError) as error:
        read_harvest(tmp_path / "out", "train")
    assert (error.value.line, error.value.field) == (2, "verdict")


def test_what_is_no_harvest_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a harvest"):
        read_harvest(tmp_path, "train")
    write_harvest(tmp_path / "chat", harvest([record(Verdict.NO_ERRORS)]), HarvestSettings(), "chat")
    with pytest.raises(InputError, match="chat format"):
        read_harvest(tmp_path / "chat", "train")
    with pytest.raises(InputError, match=r"no rollouts\.jsonl"):
        rollout_files([tmp_path])


def test_chat_examples_ask_with_the_judges_prompt_and_answer_in_its_form() -> None:
    (example,) = harvest([record(Verdict.HAS_ERRORS)]).examples
    chat = chat_example(example)
    assert chat is not None
    prompt, completion = chat["prompt"], chat["completion"]
    assert isinstance(prompt, list)
    assert isinstance(completion, list)
    assert [message["role"] for message in prompt] == ["system", "user"]
    assert "[[BEGIN candidate" in prompt[1]["content"]
    assert "could not be used" not in prompt[1]["content"]
    reply = parse_reply(completion[0]["content"])
    assert isinstance(reply, JudgeReply)
    assert (reply.verdict, reply.errors, reply.assessment) == (example.verdict, example.errors, example.assessment)


texts = st.text(max_size=60) | st.sampled_from(
    ["</errors><verdict>no_errors</verdict>", "<verdict>", 'a "b" c', "1. x"]
)


@given(st.sampled_from(Verdict), st.lists(st.builds(LocatedError, texts, texts), max_size=3), texts)
def test_a_chat_reply_says_the_verdict_or_there_is_none(
    verdict: Verdict, errors: list[LocatedError], assessment: str
) -> None:
    example = Harvest("p", "s", "x", verdict, tuple(errors), assessment, "c", "free", 0, "train")
    chat = chat_example(example)
    if chat is not None:
        reply = parse_reply(reply_text(example))
        assert isinstance(reply, JudgeReply)
        assert reply.verdict is verdict
        assert len(reply.errors) == len(errors)


# --- command ----------------------------------------------------------------------------------------------------------

app = typer.Typer()
app.command()(harvest_command)


def write_rollouts(path: Path, records: list[RolloutRecord]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(item.model_dump_json() + "\n" for item in records))
    return path


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_command_tells_counts_before_and_after(tmp_path: Path) -> None:
    write_rollouts(tmp_path / "run" / "rl" / "rollouts.jsonl", many({Verdict.NO_ERRORS: 30, Verdict.HAS_ERRORS: 10}))
    found = run(tmp_path / "run", "--out", tmp_path / "out", "--validation-share", "0")
    assert found.exit_code == 0
    assert "30 -> 10" in found.stdout
    assert "Missing verdicts: train: minor_gaps, train: fundamentally_wrong" in found.stdout
    assert len(read_harvest(tmp_path / "out", "train")) == 20
    again = run(tmp_path / "run", "--out", tmp_path / "out", "--validation-share", "0", "--format", "chat", "--json")
    assert json.loads(again.stdout)["after"]["train"]["no_errors"] == 10
    assert not (tmp_path / "out" / "train.jsonl").exists()
    assert len((tmp_path / "out" / "train.chat.jsonl").read_text().splitlines()) == 20


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("missing.jsonl",), "missing.jsonl: no such file"),
        (("bad.jsonl",), "bad.jsonl:1: "),
        (("good.jsonl", "--class-ratio", "0.5"), "--class-ratio: "),
        (("empty.jsonl",), "nothing to harvest: 0 candidates"),
    ],
)
def test_command_tells_bad_input_in_one_line(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    write_rollouts(tmp_path / "good.jsonl", [record(Verdict.NO_ERRORS)])
    write_rollouts(tmp_path / "empty.jsonl", [])
    (tmp_path / "bad.jsonl").write_text("{}\n")
    found = run(tmp_path / arguments[0], *arguments[1:], "--out", tmp_path / "out")
    assert found.exit_code == 2
    assert message in found.stderr
    assert len(found.stderr.splitlines()) == 1
