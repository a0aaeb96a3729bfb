"""Problems by seed, and the splits: which problems are for training, validation and testing.

    for made in problems("test", 200, seed=7): made.problem, made.question

A split is decided by the hash of a question's `structure`, its shape without its numbers: what a model sees in a test
has a shape that it never met in training, not merely other numbers. Level 4 is outside of training altogether.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Literal

from maxproof.lab.domains import DOMAINS
from maxproof.lab.types import Question
from maxproof.problems import Problem

Split = Literal["train", "validation", "test"]
SPLITS: tuple[Split, ...] = ("train", "validation", "test")
SHARES = {"train": 0.7, "validation": 0.1, "test": 0.2}
"""Shares of the structures, not of the problems: shapes are not equally frequent."""

TRAINING_LEVELS = (1, 2, 3)
MAX_DRAWS = 200
"""Draws for one problem of a technique, level and split before that combination counts as used up."""


@dataclass(frozen=True, slots=True)
class LabProblem:
    """A problem of the proof world with its question. `technique` is the one it was made for."""

    problem: Problem
    question: Question
    technique: str


def lab_problem(domain: str, technique: str, level: int, seed: int) -> LabProblem:
    """The problem of this domain (a name in `DOMAINS`), technique, level 1..4 and seed: always the same one.

    Raises KeyError for an unknown domain, ValueError for an unknown technique or level.
    """
    return _made(_question(domain, technique, level, seed), technique, level, seed)


def _question(domain: str, technique: str, level: int, seed: int) -> Question:
    return DOMAINS[domain].generate(Random(f"{domain}/{technique}/{level}/{seed}"), technique, level)


def _made(question: Question, technique: str, level: int, seed: int) -> LabProblem:
    claims = question.solve(technique)
    problem = Problem(
        id=f"{question.domain}-{technique}-{level}-{seed}",
        statement=question.statement,
        reference="\n".join(claims),
        rubric=_rubric(technique),
        answer=_answer(claims[-1]),
        domain=question.domain,
        level=str(level),
        source="lab",
    )
    return LabProblem(problem, question, technique)


def split_of(question: Question) -> Split:
    """The split of a question, by its structure alone."""
    digest = hashlib.sha256(question.structure.encode()).digest()
    place = int.from_bytes(digest[:8], "big") / 2**64
    if place < SHARES["train"]:
        return "train"
    return "validation" if place < SHARES["train"] + SHARES["validation"] else "test"


def all_techniques(domains: Sequence[str] | None = None) -> tuple[tuple[str, str], ...]:
    """(domain, technique) of the given domains, or of all, in their order. Raises KeyError for an unknown domain."""
    return tuple((name, technique) for name in domains or tuple(DOMAINS) for technique in DOMAINS[name].techniques)


def problems(
    split: Split,
    count: int,
    seed: int,
    levels: Sequence[int] = TRAINING_LEVELS,
    domains: Sequence[str] | None = None,
    techniques: Sequence[str] | None = None,
) -> tuple[LabProblem, ...]:
    """`count` problems of a split with different statements, in turn over techniques and levels.

    Args:
        domains: names in `DOMAINS`; all by default.
        techniques: keeps those of these names; all by default.

    A technique that has no more problems leaves its turns to the others. Raises ValueError if there are fewer than
    `count` problems.
    """
    found = tuple(islice(_endless(split, seed, levels, domains, techniques), count))
    if len(found) < count:
        raise ValueError(f"only {len(found)} of {count} different problems found for split {split!r}")
    return found


def _endless(
    split: Split,
    seed: int,
    levels: Sequence[int],
    domains: Sequence[str] | None,
    techniques: Sequence[str] | None,
) -> Iterator[LabProblem]:
    """Problems with different statements until every technique and level is used up."""
    wanted = [pair for pair in all_techniques(domains) if techniques is None or pair[1] in techniques]
    cells = [(domain, technique, level) for level in levels for domain, technique in wanted]
    rng = Random(f"{split}/{seed}")
    seen: set[str] = set()
    while cells:
        for cell in tuple(cells):
            made = _draw(split, cell, rng, seen)
            if made is None:
                cells.remove(cell)
            else:
                seen.add(made.problem.statement)
                yield made


def _draw(split: Split, cell: tuple[str, str, int], rng: Random, seen: set[str]) -> LabProblem | None:
    for _ in range(MAX_DRAWS):
        seed = rng.getrandbits(31)
        question = _question(*cell, seed)
        if split_of(question) == split and question.statement not in seen:
            return _made(question, *cell[1:], seed)
    return None


def _answer(last: str) -> str | None:
    """The A of `The answer is A.`; None where the last claim is the statement shown."""
    found = last.removeprefix("The answer is ")
    return found.removesuffix(".") if found != last else None


def _rubric(technique: str) -> str:
    return (
        f"One way is by {technique.replace('_', ' ')}; any other is worth the same. 7 points: every claim follows from "
        "the statement or from earlier claims by one inference, and what was asked for is reached. 5 or 6: nothing is "
        "false, one or two true claims need more than that. 1 or 2: a claim is false, or most are not shown, but there "
        "is progress. 0: nothing of use. The final answer by itself earns nothing."
    )
