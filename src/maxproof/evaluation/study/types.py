"""What a study says: questions, the arms that were compared, and how they differ; simulated and measured alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class Arm:
    """One way of doing it, measured.

    Attributes:
        name: as the report shows it.
        value: the question's measure, e.g. mean true points 0..7 of the picked proof; [low, high] its interval.
        budget: what it used on average per problem, in the question's budget unit.
        count: problems (times seeds) behind it.
        more: further figures by name, e.g. `best_in_archive`, `false_stop_rate`.
    """

    name: str
    value: float
    low: float
    high: float
    budget: float
    count: int
    more: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Difference:
    """`arm` minus `against`, paired by problem, with its interval."""

    arm: str
    against: str
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Curve:
    """A measure over a parameter, one line per name: (x, value, low, high)."""

    title: str
    x_name: str
    lines: Mapping[str, tuple[tuple[float, float, float, float], ...]]


@dataclass(frozen=True, slots=True)
class Question:
    """One question of the study.

    Attributes:
        key: short and stable, e.g. `equal_budget`, `aggregation`, `samples`, `offspring`, `summaries`, `selection`,
            `perfect`, `lazy`, `scaffolds`.
        asked: the question in one sentence. measure: what `Arm.value` is. budget: the unit of `Arm.budget`.
        answer: one or two sentences made from the numbers, also where they say nothing.
    """

    key: str
    title: str
    asked: str
    measure: str
    budget: str
    arms: tuple[Arm, ...]
    differences: tuple[Difference, ...]
    curves: tuple[Curve, ...]
    answer: str


@dataclass(frozen=True, slots=True)
class StudyResult:
    """All of it. `settings`: everything that makes it again, as short texts by name."""

    kind: Literal["simulated", "measured"]
    subject: str
    seed: int
    settings: Mapping[str, str]
    questions: tuple[Question, ...]
    seconds: float
