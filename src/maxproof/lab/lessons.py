"""Right answers to the six tasks, from the split of choice: to teach an expert, or to measure one.

    for example in islice(clean_examples("validation", "verify", seed=3), 200): ...

The questions, proofs and dresses come from the same place as the base model's (`teacher.py`); what is asked is the same
and every answer is right: proofs worth 7 points, the oracle's own marks, the better proof.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from maxproof.lab.dialogue import (
    TASKS,
    critique_answer,
    marks_of_report,
    patch_prompt,
    prove_prompt,
    rank_prompt,
    rewrite_prompt,
    summarise_prompt,
    summary_answer,
    verify_prompt,
)
from maxproof.lab.generate import Split
from maxproof.lab.oracle import grade
from maxproof.lab.teacher import (
    Questions,
    TeacherSettings,
    Written,
    another_technique,
    dressed,
    fits,
    flawed,
    of_any_quality,
    unequal_pair,
)
from maxproof.lab.types import Example, Question


def clean_examples(split: Split, task: str, seed: int, settings: TeacherSettings | None = None) -> Iterator[Example]:
    """Examples of one task without end, every answer right. Same arguments, same examples.

    Of `settings` count the levels, the style and, for the proofs that are asked about, `habit`. A repair keeps the
    technique; a rewrite takes another where there is one. Raises ValueError for an unknown task.
    """
    if task not in TASKS:
        raise ValueError(f"no task {task!r}; there are {', '.join(TASKS)}")
    settings = settings or TeacherSettings()
    rng = Random(f"clean/{split}/{task}/{seed}")
    questions = Questions(split, settings.levels, settings.domains)
    while True:
        question, technique = questions.draw(rng)
        example = _lesson(task, question, technique, settings, rng)
        if example is not None:
            yield example


def _lesson(task: str, question: Question, technique: str, settings: TeacherSettings, rng: Random) -> Example | None:
    statement = question.statement

    def right(by: str) -> str:
        return dressed(Written(question, by, question.solve(by)), settings.style.draw(rng), rng)

    if task == "prove":
        answer = right(technique)
        return Example(prove_prompt(statement), answer) if fits(answer) else None
    if task == "rank":
        pair = unequal_pair(question, technique, settings, rng)
        return None if pair is None else Example(rank_prompt(statement, pair[0], pair[1]), pair[2])
    if task == "patch":
        found = flawed(question, technique, settings, rng)
        answer = right(technique)
        if found is None or not fits(answer):
            return None
        return Example(patch_prompt(statement, found[1], marks_of_report(found[2])), answer)
    text = dressed(of_any_quality(question, technique, settings, rng), settings.style.draw(rng), rng)
    if task == "rewrite":
        answer = right(another_technique(question, technique, rng))
        return Example(rewrite_prompt(statement, text), answer) if fits(text, answer) else None
    if not fits(text):
        return None
    report = grade(question, text)
    marks = marks_of_report(report)
    if task == "verify":
        return Example(verify_prompt(statement, text), critique_answer(marks, report.verdict))
    return Example(summarise_prompt(statement, text, marks), summary_answer(technique, marks))
