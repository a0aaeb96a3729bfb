"""The base model's corpus is weak by habit, fits the model, and its counterpart of right answers is right."""

from collections import Counter
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from random import Random

import pytest

from maxproof.lab import teacher
from maxproof.lab.canonical import canonical, token_count
from maxproof.lab.dialogue import TASKS, Mark, read_choice, read_marks, read_summary
from maxproof.lab.domains import read_question
from maxproof.lab.generate import split_of
from maxproof.lab.lessons import clean_examples
from maxproof.lab.oracle import grade
from maxproof.lab.style import StyleMix
from maxproof.lab.teacher import (
    Questions,
    TeacherSettings,
    Written,
    by_habit,
    corpus,
    of_any_quality,
    seen_marks,
    unseen_habits,
    with_leap,
)
from maxproof.lab.types import Example, Question
from maxproof.verifier.types import MAX_POINTS, Verdict

CONTEXT = 384
LEVEL_1 = TeacherSettings(levels=(1,))


@pytest.fixture(autouse=True)
def _few_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(teacher, "QUESTIONS_PER_CELL", 5)


@lru_cache(maxsize=8)
def taught(task: str) -> tuple[Example, ...]:
    return tuple(islice(corpus(replace(LEVEL_1, shares={task: 1.0}, levels=(1, 2)), seed=4), 40))


@lru_cache(maxsize=8)
def right(task: str) -> tuple[Example, ...]:
    return tuple(islice(clean_examples("validation", task, 4, replace(LEVEL_1, levels=(1, 2))), 25))


def parts(prompt: str) -> tuple[Question, list[str]]:
    """The question of a prompt and its further parts."""
    statement, *rest = prompt.split(" ", 1)[1].removesuffix(" <sep>").split(" <sep> ")
    question = read_question(statement)
    assert question is not None
    return question, rest


def unnumbered(proof: str) -> str:
    """The lines of a numbered proof."""
    number, lines, rest = 1, [], proof
    while rest:
        rest = rest.removeprefix(f"{number}: ")
        line, _, after = rest.partition(f" {number + 1}: ")
        lines.append(line)
        rest, number = (f"{number + 1}: {after}" if after else ""), number + 1
    return "\n".join(lines)


@pytest.mark.parametrize("task", TASKS)
def test_every_example_is_well_formed_and_fits_the_model(task: str) -> None:
    for split, example in [("train", one) for one in taught(task)] + [("validation", one) for one in right(task)]:
        assert example.prompt.startswith(f"<{task}> ")
        assert not any(f"<{name}>" in example.answer for name in ("pad", "unk", "end", "sep", "nl", *TASKS))
        question, rest = parts(example.prompt)
        assert split_of(question) == split
        assert len(rest) == {"prove": 0, "verify": 1, "rewrite": 1}.get(task, 2)
        assert token_count(example.prompt) + token_count(example.answer) <= CONTEXT
        assert "..." not in example.prompt
        if task in ("prove", "patch", "rewrite"):
            assert canonical(example.answer) == example.answer
        elif task == "verify":
            assert read_marks(example.answer, unnumbered(rest[0])) is not None
        elif task == "summarise":
            assert read_summary(example.answer) is not None
        else:
            assert read_choice(example.answer) is not None


def test_same_seed_same_corpus() -> None:
    first, again, other = (list(islice(corpus(LEVEL_1, seed), 30)) for seed in (1, 1, 2))
    assert first == again != other


def test_tasks_are_mixed_by_their_shares() -> None:
    settings = replace(LEVEL_1, shares={"prove": 3.0, "rewrite": 1.0}, style=StyleMix(0, 0, 0, 0, 0, 0))
    count = Counter(example.prompt.split()[0] for example in islice(corpus(settings, 0), 300))
    assert set(count) == {"<prove>", "<rewrite>"}
    assert count["<prove>"] / 300 == pytest.approx(0.75, abs=0.1)


def test_the_base_is_wrong_more_often_than_right_and_not_always() -> None:
    rng = Random(0)
    questions = Questions("train", (1,))
    points = []
    for _ in range(150):
        question, technique = questions.draw(rng)
        points.append(grade(question, "\n".join(by_habit(question, technique, LEVEL_1, rng).claims)).points)
    share = sum(value == MAX_POINTS for value in points) / len(points)
    assert 0.1 < share < 0.45


def test_without_bad_habits_the_base_is_right() -> None:
    careful = replace(LEVEL_1, careful=1.0, leap=0.0, patch_right=1.0, shares={"prove": 1.0, "patch": 1.0})
    for example in islice(corpus(careful, 3), 60):
        assert grade(parts(example.prompt)[0], example.answer).points == MAX_POINTS


@pytest.mark.parametrize("task", ["prove", "patch", "rewrite"])
def test_clean_proofs_are_right_and_taught_ones_often_not(task: str) -> None:
    assert all(grade(parts(one.prompt)[0], one.answer).points == MAX_POINTS for one in right(task))
    wrong = sum(grade(parts(one.prompt)[0], one.answer).points < MAX_POINTS for one in taught(task))
    assert wrong > len(taught(task)) / 5


def test_clean_marks_are_the_oracles_and_taught_ones_miss_errors() -> None:
    for one in right("verify"):
        question, (proof,) = parts(one.prompt)
        report = grade(question, unnumbered(proof))
        assert one.answer.split()[-1] == report.verdict
    missed = 0
    for one in taught("verify"):
        question, (proof,) = parts(one.prompt)
        points = grade(question, unnumbered(proof)).points
        missed += points < MAX_POINTS and one.answer.endswith(Verdict.NO_ERRORS)
    assert missed > len(taught("verify")) / 20


def test_the_taught_verifier_overlooks_kinds_and_agrees_with_itself() -> None:
    blind = replace(LEVEL_1, overlook_leap=1.0, overlook_habit=0.0, overlook_false=0.0, overlook_missing=1.0)
    sharp = replace(blind, overlook_leap=0.0, overlook_missing=0.0, style_bias=0.0, false_alarm=0.0)
    rng = Random(1)
    questions = Questions("train", (1, 2))
    for _ in range(60):
        question, technique = questions.draw(rng)
        written = of_any_quality(question, technique, LEVEL_1, rng)
        text = "\n".join(written.claims)
        report = grade(question, text)
        marks, verdict = seen_marks(written, text, report, blind, rng)
        assert Mark.LEAP not in marks
        assert (verdict is Verdict.NO_ERRORS) != any(mark.is_error for mark in marks)
        assert seen_marks(written, text, report, sharp, rng)[1] is report.verdict


def test_unseen_habits_are_some_and_not_all_where_there_are_two() -> None:
    rng = Random(2)
    questions = Questions("train", (1, 2))
    for _ in range(30):
        question, technique = questions.draw(rng)
        known, unseen = set(question.habits(technique)), unseen_habits(question, technique)
        assert unseen <= known
        assert len(known) < 2 or 0 < len(unseen) < len(known)


def test_steps_are_left_out_before_the_end_only() -> None:
    rng = Random(0)
    question, technique = Questions("train", (2,)).draw(rng)
    claims = ("a = 1.", "b = 2.", "c = 3.", "d = 4.")
    for _ in range(20):
        written = with_leap(Written(question, technique, claims), rng)
        assert written.claims[-1] == claims[-1]
        assert 2 <= len(written.claims) < 4
        assert len(written.leaps) == 1
    short = Written(question, technique, claims[:2])
    assert with_leap(short, rng) == short


def test_clean_summaries_name_the_first_error_and_ranks_the_better_proof() -> None:
    for one in right("summarise"):
        _, (_, marks) = parts(one.prompt)
        first = marks.split()[:2]
        assert one.answer.endswith("no issue" if first == ["none"] else f"{first[1]} at {first[0]}")
    for one in right("rank"):
        question, proofs = parts(one.prompt)
        points = [grade(question, unnumbered(proof)).points for proof in proofs]
        assert one.answer == ("first" if points[0] > points[1] else "second")


@pytest.mark.parametrize(
    "wrong",
    [
        {"habit": 1.2},
        {"patch_right": -0.1},
        {"shares": {}},
        {"shares": {"prove": 0.0}},
        {"shares": {"dance": 1.0}},
        {"levels": ()},
        {"levels": (5,)},
    ],
)
def test_what_can_not_be_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"probability|shares|levels"):
        replace(LEVEL_1, **wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no task"):
        next(clean_examples("train", "dance", 0))


def test_a_mix_without_any_dress_is_plain() -> None:
    settings = replace(LEVEL_1, style=StyleMix(0, 0, 0, 0, 0, 0), leap=0.0, shares={"prove": 1.0})
    assert not any("Step" in example.answer or "To " in example.answer for example in islice(corpus(settings, 0), 40))
