"""What the units of a study on a real model say: each question's arms, paired differences and an answer in words.

Means are over problems and seeds, with bootstrap intervals in which problems are drawn with all their seeds. A proof
that the oracle could not grade, and a problem on which an arm has no proof since its calls failed, are left out of that
arm and of its differences, and counted: they are no zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from maxproof.evaluation.methods.budget import Unit
from maxproof.evaluation.study.arms import (
    ALL_SAMPLES,
    BEST_OF,
    REFERENCE,
    ArmPlan,
    Question,
    question_arms,
)
from maxproof.evaluation.study.estimates import in_words
from maxproof.evaluation.study.intervals import bootstrap
from maxproof.evaluation.study.real import study_seconds, unit_records
from maxproof.evaluation.study.real_folder import StudyFolder, open_study
from maxproof.evaluation.study.types import Arm, Curve, Difference, StudyResult
from maxproof.evaluation.study.types import Question as Answered
from maxproof.evaluation.study.unit import ArmRecord, UnitRecord
from maxproof.verifier.types import MAX_POINTS

_POINTS_OF = "mean points, 0..7, of the returned proof, by the oracle"

Value = Callable[[UnitRecord], float | None]
"""What is measured of one unit; None where it is not known."""


@dataclass(frozen=True, slots=True)
class _Text:
    title: str
    asked: str


_TEXTS: Mapping[Question, _Text] = {
    "equal_budget": _Text(
        "The search against best-of-N at equal budget",
        "Does the whole loop return better proofs than as much spent on samples, verification and a tournament?",
    ),
    "aggregation": _Text(
        "Minimum, mean or majority", "Which fitness over the samples of the verifier leads to the better proofs?"
    ),
    "samples": _Text(
        "Verifications per candidate", "How many samples of the verifier are worth their cost at equal budget?"
    ),
    "offspring": _Text("PATCH, REWRITE or both", "What is each kind of offspring worth without the other?"),
    "summaries": _Text("Summaries of siblings", "Do refiners write better proofs if they know of the other attempts?"),
    "selection": _Text(
        "Tournament or highest fitness",
        "Does the tournament return better proofs than the highest fitness among the same candidates? "
        "Its calls are in the budget of both.",
    ),
    "perfect": _Text(
        "How many perfect candidates stop the search", "What does waiting for a second perfect candidate bring?"
    ),
    "lazy": _Text(
        "What lazy verification saves", "How many verifications are not needed, and are the decisions the same?"
    ),
    "scaffolds": _Text(
        "Beside the scaffolds in use", "How good is what the search returns beside what others return at equal budget?"
    ),
}


def study_result(folder: StudyFolder) -> StudyResult:
    """The answers from the units that are finished; without questions if there is none. Raises InputError."""
    folder = open_study(folder.path)  # with what the servers said since
    records = unit_records(folder)
    asked = folder.asked
    search = asked.settings.search
    settings = {
        "problems": str(len(folder.problems)),
        "seeds": ", ".join(map(str, asked.study.seeds)),
        "units finished": f"{len(records)} of {len(folder.units())}",
        "dataset (SHA-256)": asked.digest,
        "equal budget in": asked.study.budget,
        "graded": "every proof" if asked.study.grade == "archive" else "what an arm returns",
        "oracle": "the lab's, exact" if asked.oracle == "lab" else "a judge that the search never asks",
        **{f"search.{name}": str(value) for name, value in search.model_dump(mode="json").items()},
    }
    answers = [_answer(question, folder, records) for question in asked.study.questions] if records else []
    return StudyResult(
        kind="measured",
        subject=_subject(folder),
        seed=asked.study.seeds[0],
        settings=settings,
        questions=tuple(answers),
        seconds=study_seconds(folder),
    )


def _subject(folder: StudyFolder) -> str:
    endpoints = folder.asked.settings.endpoints
    models = (settings.model or folder.asked.served.get(name) or name for name, settings in endpoints.items())
    return ", ".join(dict.fromkeys(models))


def _answer(question: Question, folder: StudyFolder, records: Sequence[UnitRecord]) -> Answered:
    study = folder.asked.study
    plans = question_arms(question, folder.asked.settings.search, study.samples)
    if question == "lazy":
        return _lazy(records, study.budget)
    if question == "selection":
        return _selection(plans, records, study.budget)
    names = {plan.name: _shown(question, plan, folder) for plan in plans}
    arms = [_arm(names[plan.name], plan.name, points(plan.name), records, study.budget) for plan in plans]
    baseline = ALL_SAMPLES if question == "aggregation" else REFERENCE
    others = [plan.name for plan in plans if plan.name != baseline]
    differences = [
        found
        for name in others
        if (found := _difference(names[baseline], names[name], points(baseline), points(name), records)) is not None
    ]
    curves: list[Curve] = []
    if question == "equal_budget" and study.grade == "archive":
        curves += _by_round(records)
    if question == "samples":
        curves += _by_count(plans, folder, records)
    text = _TEXTS[question]
    said = _sentence([in_words(found) for found in differences])
    return Answered(
        question, text.title, text.asked, _POINTS_OF, f"{study.budget} a problem",
        tuple(arm for arm in arms if arm is not None), tuple(differences), tuple(curves),
        f"{said}{_used_of_limits(plans, names, records, study.budget)}",
    )  # fmt: skip


def _sentence(parts: Sequence[str]) -> str:
    said = "; ".join(parts) or "nothing could be compared"
    return f"{said[0].upper()}{said[1:]}."


def _used_of_limits(
    plans: Sequence[ArmPlan], names: Mapping[str, str], records: Sequence[UnitRecord], unit: Unit
) -> str:
    """How equal the budgets were: what each arm used of its limit, over all problems; "" where there are no limits."""
    told = []
    for plan in plans:
        limit = sum(record.arms[plan.limit_of].spent.amount(unit) for record in records) if plan.limit_of else 0
        if limit:
            used = sum(record.arms[plan.name].spent.amount(unit) for record in records)
            told.append(f"{names[plan.name]} {used / limit:.0%}")
    return f" Used of its limit: {', '.join(told)}." if told else ""


def _shown(question: Question, plan: ArmPlan, folder: StudyFolder) -> str:
    """The name of an arm in a question: the reference is called by what it is there."""
    if plan.name != REFERENCE:
        return plan.name
    search = folder.asked.settings.search
    special = {
        "samples": f"K = {search.verifications}",
        "offspring": "PATCH and REWRITE",
        "summaries": "with summaries",
        "perfect": f"stop at {search.stop_at_perfect} perfect",
    }
    return special.get(question, REFERENCE)


# --- what is measured -------------------------------------------------------------------------------------------------


def points(arm: str, of: Literal["picked", "argmax"] = "picked") -> Value:
    """The oracle's points of what an arm returns; None where it has no proof or the proof is not graded."""

    def value(record: UnitRecord) -> float | None:
        digest = getattr(record.arms[arm], of)
        return None if digest is None else record.grades.get(digest)

    return value


def best(arm: str, rounds: int | None = None) -> Value:
    """The oracle's highest points among an arm's proofs of rounds 0..`rounds`; None if one of them is not graded."""

    def value(record: UnitRecord) -> float | None:
        written = [w for w in record.arms[arm].attempts if rounds is None or w.round <= rounds]
        grades = [record.grades.get(w.proof) for w in written]
        known = [grade for grade in grades if grade is not None]
        return max(known) if known and len(known) == len(grades) else None

    return value


def _clusters(value: Value, records: Sequence[UnitRecord]) -> list[list[float]]:
    """Values by problem."""
    found: dict[str, list[float]] = {}
    for record in records:
        if (measured := value(record)) is not None:
            found.setdefault(record.problem, []).append(measured)
    return list(found.values())


def _arm(
    shown: str, arm: str, value: Value, records: Sequence[UnitRecord], unit: Unit, *, returned: bool = True
) -> Arm | None:
    """None if nothing of it was measured. `returned`: `value` is of what the arm returns, and may have passed."""
    clusters = _clusters(value, records)
    if not clusters:
        return None
    mean, low, high = bootstrap(clusters, MAX_POINTS)
    measured = [record for record in records if value(record) is not None]
    ran = [record.arms[arm] for record in measured]
    more = {
        "full_points": fmean(float(value(record) == MAX_POINTS) for record in measured),
        "calls": fmean(record.spent.calls for record in ran),
        "tokens": fmean(record.spent.tokens for record in ran),
        "proofs": fmean(len(record.attempts) for record in ran),
        "rounds": fmean(record.rounds for record in ran),
        "not_scored": float(len(records) - len(measured)),
    }
    if archive := _clusters(best(arm), measured):
        more["best_in_archive"] = bootstrap(archive, MAX_POINTS)[0]
    if returned:
        passed = [value(record) for record in measured if record.arms[arm].passed]
        more["passed"] = len(passed) / len(measured)
        if passed:
            more["wrong_of_passed"] = fmean(points != MAX_POINTS for points in passed)
    budget = fmean(record.spent.amount(unit) for record in ran)
    return Arm(shown, mean, max(0.0, low), min(float(MAX_POINTS), high), budget, len(measured), more)


def _difference(
    arm: str, against: str, ours: Value, theirs: Value, records: Sequence[UnitRecord], scale: float = MAX_POINTS
) -> Difference | None:
    """Paired by problem and seed; None without a pair."""

    def value(record: UnitRecord) -> float | None:
        one, other = ours(record), theirs(record)
        return None if one is None or other is None else one - other

    clusters = _clusters(value, records)
    return Difference(arm, against, *bootstrap(clusters, scale)) if clusters else None


# --- questions of their own shape -------------------------------------------------------------------------------------


def _selection(plans: Sequence[ArmPlan], records: Sequence[UnitRecord], unit: Unit) -> Answered:
    arms: list[Arm | None] = []
    differences: list[Difference] = []
    for name in (REFERENCE, BEST_OF):
        shown = f"{name}, tournament", f"{name}, highest fitness"
        values = points(name), points(name, "argmax")
        arms.append(_arm(shown[0], name, values[0], records, unit))
        arms.append(_arm(shown[1], name, values[1], records, unit, returned=False))
        if (found := _difference(*shown, *values, records)) is not None:
            differences.append(found)
    text = _TEXTS["selection"]
    said = _sentence(list(map(in_words, differences)))
    return Answered(
        "selection", text.title, text.asked, _POINTS_OF, f"{unit} a problem",
        tuple(arm for arm in arms if arm is not None), tuple(differences), (), said,
    )  # fmt: skip


def _lazy(records: Sequence[UnitRecord], unit: Unit) -> Answered:
    """Counts verifications of the same search with and without lazy verification."""

    def ran(name: str) -> Value:
        return lambda record: float(record.arms[name].verifications)

    names = {REFERENCE: "lazy", ALL_SAMPLES: "all samples run"}
    most = max(float(record.arms[ALL_SAMPLES].verifications) for record in records)
    same = [record.arms[REFERENCE].decisions == record.arms[ALL_SAMPLES].decisions for record in records]
    arms = []
    for name, shown in names.items():
        mean, low, high = bootstrap(_clusters(ran(name), records), most)
        figures = [record.arms[name] for record in records]
        used = fmean(record.spent.amount(unit) for record in figures)
        arms.append(Arm(shown, mean, max(0.0, low), high, used, len(records), _costs(figures)))
    difference = _difference("lazy", "all samples run", ran(REFERENCE), ran(ALL_SAMPLES), records, most)
    total = sum(record.arms[ALL_SAMPLES].verifications for record in records)
    lazily = sum(record.arms[REFERENCE].verifications for record in records)
    saved = f"{1 - lazily / total:.0%} of the verifications" if total else "nothing: no verification was run"
    text = _TEXTS["lazy"]
    return Answered(
        "lazy", text.title, text.asked, "verifications a problem", f"{unit} a problem", tuple(arms),
        (difference,) if difference is not None else (), (),
        f"Lazy verification saved {saved}; the decisions were the same in {sum(same)} of {len(same)} runs.",
    )  # fmt: skip


def _costs(records: Sequence[ArmRecord]) -> dict[str, float]:
    return {
        "calls": fmean(record.spent.calls for record in records),
        "tokens": fmean(record.spent.tokens for record in records),
    }


def _by_round(records: Sequence[UnitRecord]) -> list[Curve]:
    """Best in the reference's archive after each round; a search that has ended keeps its last value."""
    last = max(record.arms[REFERENCE].rounds for record in records)
    line = []
    for number in range(last + 1):
        if clusters := _clusters(best(REFERENCE, number), records):
            line.append((float(number), *_within(bootstrap(clusters, MAX_POINTS))))
    return [Curve("Best in the archive by round", "round", {REFERENCE: tuple(line)})] if len(line) > 1 else []


def _by_count(plans: Sequence[ArmPlan], folder: StudyFolder, records: Sequence[UnitRecord]) -> list[Curve]:
    lines: dict[str, list[tuple[float, float, float, float]]] = {}
    base = folder.asked.settings.search.verifications
    for plan in plans:
        count = plan.changes.get("verifications", base)
        assert isinstance(count, int)
        for name, value in (("returned", points(plan.name)), ("best in the archive", best(plan.name))):
            if clusters := _clusters(value, records):
                lines.setdefault(name, []).append((float(count), *_within(bootstrap(clusters, MAX_POINTS))))
    shown = {name: tuple(line) for name, line in lines.items() if len(line) > 1}
    return [Curve("Points by verifications per candidate", "K", shown)] if shown else []


def _within(found: tuple[float, float, float]) -> tuple[float, float, float]:
    mean, low, high = found
    return mean, max(0.0, low), min(float(MAX_POINTS), high)
