"""The simulated study: from settings to a `StudyResult`."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from maxproof.evaluation.study.engine_check import disagreements
from maxproof.evaluation.study.estimates import difference, mean_interval
from maxproof.evaluation.study.model import TOP, VOTES_PER_MATCH, Draws, Model
from maxproof.evaluation.study.parameters import SimulatorSettings
from maxproof.evaluation.study.policies import Outcome
from maxproof.evaluation.study.questions import ASKINGS, CALLS, KEYS, Asking, Findings, Sweep, Turn
from maxproof.evaluation.study.runs import Run, evaluate
from maxproof.evaluation.study.types import Arm, Curve, Difference, Question, StudyResult
from maxproof.evaluation.study.verifier_rates import rate_curves
from maxproof.evaluation.study.ways import COUNTS, MEASURES, Way, runs_of
from maxproof.problems.errors import InputError, nearest
from maxproof.search.settings import SearchSettings

RHO_LINES = (0.0, 0.5, 0.9)
MAX_PROOFS = 4_000
"""Of one problem in one arm; best-of-N writes most."""
CHECKED = 20
"""Problems on which the real engine is run beside the arrays."""


@dataclass(frozen=True, slots=True)
class StudySize:
    """`problems` for each of `seeds` seeds, which are seed, seed + 1, ..."""

    problems: int
    seeds: int


SIZES: Mapping[str, StudySize] = {"small": StudySize(400, 2), "full": StudySize(10_000, 3)}


def simulate(
    settings: SimulatorSettings,
    sizes: SearchSettings,
    size: StudySize,
    seed: int,
    keys: Sequence[str] = KEYS,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> StudyResult:
    """The study.

    Raises InputError for an unknown question, or settings that the model can't follow; RuntimeError where the engine
    and the arrays decide differently, which would make every number void.
    """
    started = time.monotonic()
    asked = [_asking(key) for key in keys]
    if sizes.finalists > sizes.candidates:
        raise InputError(f"{sizes.finalists} finalists of {sizes.candidates} candidates", field="search.finalists")
    if sizes.votes > VOTES_PER_MATCH:
        raise InputError(f"{sizes.votes} votes; the simulator has at most {VOTES_PER_MATCH - 1}", field="search.votes")
    _check_size(settings, sizes)
    _check_engine(settings, sizes, seed, size)
    seeds = range(seed, seed + size.seeds)
    plan: dict[str, Run] = {}
    for asking in asked:
        for run in _runs(asking, settings, sizes):
            plan.setdefault(run.name, run)
    outcomes = evaluate(list(plan.values()), seeds, size.problems, progress)
    questions = tuple(_question(asking, settings, sizes, outcomes, seeds, size.problems) for asking in asked)
    return StudyResult(
        kind="simulated",
        subject="a model of provers, verifiers and rankers with correlated errors",
        seed=seed,
        settings=_settings_text(settings, sizes, size),
        questions=questions,
        seconds=time.monotonic() - started,
    )


def _asking(key: str) -> Asking:
    for asking in ASKINGS:
        if asking.key == key:
            return asking
    hint = nearest(key, KEYS) or f"known: {', '.join(KEYS)}"
    if key == "summaries":
        hint = "summaries are not modelled: give a DATASET and a model"
    raise InputError(f"unknown question {key!r} for the simulator", field="--questions", hint=hint)


def _check_size(settings: SimulatorSettings, sizes: SearchSettings) -> None:
    proofs = sizes.candidates + 2 * sizes.parents * sizes.rounds
    calls = proofs * (2 + sizes.verifications * settings.judges) + sizes.votes * (sizes.finalists - 1)
    most = max(proofs, calls // (1 + settings.judges))
    if most > MAX_PROOFS:
        raise InputError(
            f"up to {most:,} proofs of one problem; the simulator has at most {MAX_PROOFS:,}",
            field="search",
            hint="lower candidates, parents, rounds or verifications",
        )


def _check_engine(settings: SimulatorSettings, sizes: SearchSettings, seed: int, size: StudySize) -> None:
    problems = min(CHECKED, size.problems)
    model = Model(settings, Draws(seed, 0, min(size.problems, CHECKED)))
    if found := disagreements(model, sizes, range(problems)):
        raise RuntimeError(f"the arrays and the search engine differ: {'; '.join(found[:5])}")


def _settings_text(settings: SimulatorSettings, sizes: SearchSettings, size: StudySize) -> dict[str, str]:
    simulator = {f"simulator.{name}": f"{value:g}" for name, value in settings.model_dump().items()}
    unused = {"diversity_prefix", "seed"}
    search = {f"search.{name}": str(value) for name, value in sizes.model_dump().items() if name not in unused}
    checked = f"agree on all of the first {min(CHECKED, size.problems)} problems"
    return {
        "problems": str(size.problems),
        "seeds": str(size.seeds),
        "arrays and search engine": checked,
        **search,
        **simulator,
    }


def _swept(sweep: Sweep, settings: SimulatorSettings, value: float, key: str) -> SimulatorSettings:
    """`key`: of the question that asks. Raises InputError where the value does not go with the other settings."""
    try:
        return _changed(settings, {**dict(sweep.fixed), sweep.parameter: value})
    except ValueError as error:
        raise InputError(
            f"the study varies {sweep.title}, and {value:g} does not go with the other settings",
            field=f"simulator.{sweep.parameter}",
            hint=f"leave the question {key} out: name the others with --questions",
        ) from error


def _changed(settings: SimulatorSettings, changes: Mapping[str, float]) -> SimulatorSettings:
    """Where rho falls below the correlation of different judges, that falls with it. Raises ValidationError."""
    values = {**settings.model_dump(), **changes}
    if settings.judges > 1:
        values["rho_judges"] = min(values["rho_judges"], values["rho"])
    return SimulatorSettings.model_validate(values)


def _named(asking: Asking, name: str) -> Way:
    return next(way for way in asking.ways if way.name == name)


def _runs(asking: Asking, settings: SimulatorSettings, sizes: SearchSettings) -> list[Run]:
    found = [run for way in asking.ways for run in runs_of(way, settings, sizes)]
    for sweep in asking.sweeps:
        for value in sweep.values:
            chosen = _swept(sweep, settings, value, asking.key)
            found += [run for name in sweep.ways for run in runs_of(_named(asking, name), chosen, sizes)]
    return found


def _question(
    asking: Asking,
    settings: SimulatorSettings,
    sizes: SearchSettings,
    outcomes: Mapping[str, Outcome],
    seeds: range,
    problems: int,
) -> Question:
    measure = MEASURES[asking.measure]
    scale = 1.0 if asking.percent else float(TOP)
    most = None if asking.measure in COUNTS else scale

    def of(way: str, chosen: SimulatorSettings) -> Outcome:
        return outcomes[runs_of(_named(asking, way), chosen, sizes)[-1].name]

    def between(arm: str, against: str, chosen: SimulatorSettings) -> Difference:
        return difference(arm, against, measure(of(arm, chosen)), measure(of(against, chosen)), scale)

    here = {way.name: of(way.name, settings) for way in asking.ways}
    differences = tuple(between(arm, against, settings) for arm, against in asking.against)
    curves: list[Curve] = []
    turns: list[Turn] = []
    for sweep in asking.sweeps:
        points = [(value, _swept(sweep, settings, value, asking.key)) for value in sweep.values]
        lines = {
            name: tuple((value, *mean_interval(measure(of(name, chosen)), scale, most)) for value, chosen in points)
            for name in sweep.ways
        }
        curves.append(Curve(f"by {sweep.title}", sweep.parameter, lines))
        arm, against = sweep.ways[:2]
        turn = Turn(sweep.title, tuple((value, between(arm, against, chosen)) for value, chosen in points))
        turns.append(turn)
        paired = tuple((value, found.value, found.low, found.high) for value, found in turn.differences)
        curves.append(Curve(f"paired, by {sweep.title}", sweep.parameter, {f"{arm} - {against}": paired}))
    if asking.rates_over:
        correlated = {f"rho = {rho:g}": _changed(settings, {"rho": rho}) for rho in RHO_LINES}
        curves += rate_curves(correlated, sizes.candidates, asking.rates_over, seeds, problems)
    return Question(
        key=asking.key,
        title=asking.title,
        asked=asking.asked,
        measure=asking.measured,
        budget=CALLS,
        arms=tuple(_arm(name, outcome, measure, scale, most) for name, outcome in here.items()),
        differences=differences,
        curves=tuple(curves),
        answer=asking.answer(Findings(here, differences, tuple(turns))),
    )


def _arm(
    name: str, outcome: Outcome, measure: Callable[[Outcome], np.ndarray], scale: float, most: float | None
) -> Arm:
    value, low, high = mean_interval(measure(outcome), scale, most)
    return Arm(
        name=name,
        value=value,
        low=low,
        high=high,
        budget=float(outcome.calls.mean()),
        count=len(outcome.picked),
        more={key: float(np.mean(get(outcome))) for key, get in MEASURES.items()},
    )
