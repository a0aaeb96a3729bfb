"""The study's questions on the model: which ways each compares, over which settings, and what the numbers say.

To add a question, add an `Asking` to `ASKINGS` (docs/study.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from maxproof.evaluation.study.estimates import in_words, told_apart
from maxproof.evaluation.study.policies import Outcome
from maxproof.evaluation.study.types import Difference
from maxproof.evaluation.study.ways import Way

POINTS_OF = "mean true points, 0..7, of the returned proof"
CALLS = "calls a problem"


@dataclass(frozen=True, slots=True)
class Sweep:
    """A measure over one parameter of the simulator.

    Attributes:
        ways: names of the arms to draw; their runs are paired, and the first is compared with the second.
        fixed: other parameters that are held where the question needs them, (name, value).
    """

    parameter: str
    values: tuple[float, ...]
    ways: tuple[str, ...]
    fixed: tuple[tuple[str, float], ...] = ()

    @property
    def title(self) -> str:
        """Which parameter, and what is held."""
        held = " and ".join(f"{name} = {value:g}" for name, value in self.fixed)
        return f"{self.parameter}, at {held}" if held else self.parameter


@dataclass(frozen=True, slots=True)
class Turn:
    """How one arm compares with another over a sweep, by its title: (x, difference) in order."""

    over: str
    differences: tuple[tuple[float, Difference], ...]


@dataclass(frozen=True, slots=True)
class Findings:
    """What an answer is made of: outcomes by arm, differences in the order of `Asking.against`, and turns by sweep."""

    outcomes: Mapping[str, Outcome]
    differences: tuple[Difference, ...]
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Asking:
    """One question before it is answered.

    Attributes:
        measure: of `ways.MEASURES`; `measured` says it in words, `percent` shows it so.
        against: pairs of arms whose difference is told.
        rates_over: the K for which the verifier's error rates are measured, for three correlations; none: empty.
    """

    key: str
    title: str
    asked: str
    ways: tuple[Way, ...]
    against: tuple[tuple[str, str], ...]
    sweeps: tuple[Sweep, ...]
    answer: Callable[[Findings], str]
    measure: str = "points"
    measured: str = POINTS_OF
    percent: bool = False
    rates_over: tuple[int, ...] = ()


def told(findings: Findings, what: str = "points", percent: bool = False) -> str:
    """All differences in words, what the arms used, and where along each sweep its first two ways differ."""
    parts = [_capital(in_words(found, what, percent)) + "." for found in findings.differences]
    return " ".join([*parts, calls_in_words(findings), *map(turn_in_words, findings.turns)])


def calls_in_words(findings: Findings) -> str:
    """What each arm used: only where that is alike does a difference say what a call is worth."""
    used = ", ".join(f"{float(np.mean(o.calls)):.1f} ({name})" for name, o in findings.outcomes.items())
    return f"Calls a problem: {used}."


def turn_in_words(turn: Turn) -> str:
    """Where along a sweep one arm has more, less, or can't be told from the other."""
    groups: dict[str, list[str]] = {"more": [], "less": [], "not told apart": []}
    for x, found in turn.differences:
        key = "not told apart" if not told_apart(found) else "more" if found.value > 0 else "less"
        groups[key].append(f"{x:g}")
    arm, against = turn.differences[0][1].arm, turn.differences[0][1].against
    said = "; ".join(f"{key} at {', '.join(values)}" for key, values in groups.items() if values)
    return f"Over {turn.over}, {arm} against {against}: {said}."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _points(findings: Findings) -> str:
    return told(findings)


def _samples(findings: Findings) -> str:
    wrong = {name: float(np.mean(o.claimed & (o.picked < 7))) for name, o in findings.outcomes.items()}
    claims = ", ".join(f"{share:.1%} with {name}" for name, share in wrong.items())
    return f"{told(findings)} It called a wrong proof right on {claims} of the problems."


def _perfect(findings: Findings) -> str:
    points = {name: float(np.mean(o.picked)) for name, o in findings.outcomes.items()}
    returned = ", ".join(f"{value:.2f} ({name})" for name, value in points.items())
    return f"{told(findings, 'wrong stops', percent=True)} Points of what is returned: {returned}."


def _lazy(findings: Findings) -> str:
    lazy, eager = findings.outcomes["lazy"], findings.outcomes["eager"]
    saved = 1 - lazy.verifications.sum() / eager.verifications.sum()
    differ = int(np.sum(lazy.winner != eager.winner))
    same = "the same proof on every problem" if not differ else f"another proof on {differ} problems"
    saves = f"Lazy verification saves {saved:.1%} of the verifications and returns {same}."
    return " ".join([saves, calls_in_words(findings), *map(turn_in_words, findings.turns)])


BOTH = ("MaxProof", "best-of-N")
_ONE_TWO = ("stop at 1 perfect", "stop at 2 perfect")
_MAXPROOF = Way("MaxProof", "search")
_EQUAL = Way("best-of-N", "best_of_equal")
_RHO = (0.0, 0.25, 0.5, 0.75, 0.95)
_PASS_ERROR = (0.01, 0.05, 0.1, 0.2, 0.35)
_RANKER_RHO = (0.0, 0.25, 0.5, 0.75, 1.0)
_SKILL = (-6.0, -4.0, -2.0, 0.0, 2.0)
_POOR_REPAIR = (("patch_error", 0.03), ("patch_gap", 0.1))
_WEAK_RANKER = (("ranker_accuracy", 0.6), ("rho", 0.9))
_SCAFFOLDS = ("MaxProof", "best-of-N", "verify-repair loop", "pool of means", "consolidation and knock-out")


def _samples_way(count: int) -> Way:
    return Way(f"K = {count}", "search", {"verifications": count})


ASKINGS: tuple[Asking, ...] = (
    Asking(
        key="equal_budget",
        title="The full loop against best-of-N with a tournament, at equal calls",
        asked="Is a call better spent on refinement rounds or on more first proofs?",
        ways=(
            _MAXPROOF,
            _EQUAL,
            Way("best-of-N, N as in the search", "best_of"),
            Way("one proof", "one_shot"),
        ),
        against=(BOTH, ("MaxProof", "best-of-N, N as in the search"), ("MaxProof", "one proof")),
        sweeps=(
            Sweep("rho", _RHO, BOTH),
            Sweep("pass_error", _PASS_ERROR, BOTH),
            Sweep("ranker_rho", _RANKER_RHO, BOTH),
            Sweep("skill", _SKILL, BOTH),
            Sweep("skill", _SKILL, BOTH, _POOR_REPAIR),
            Sweep("blocked", (0.0, 0.2, 0.4, 0.6), BOTH),
            Sweep("patch_error", (0.0, 0.03, 0.09, 0.2), BOTH),
            Sweep("patch_gap", (0.0, 0.1, 0.25, 0.5), BOTH),
        ),
        answer=_points,
    ),
    Asking(
        key="aggregation",
        title="Minimum, mean or majority of the verifier's samples",
        asked="Which score from K samples makes the search return the better proof?",
        ways=(
            Way("minimum", "search", {"fitness": "min"}),
            Way("mean", "search", {"fitness": "mean", "lazy": False}),
            Way("majority", "search", {"fitness": "majority", "lazy": False}),
        ),
        against=(("minimum", "mean"), ("minimum", "majority")),
        sweeps=(
            Sweep("rho", _RHO, ("minimum", "mean", "majority")),
            Sweep("false_alarm", (0.01, 0.05, 0.15, 0.3), ("minimum", "mean", "majority")),
        ),
        answer=_points,
    ),
    Asking(
        key="samples",
        title="How many verifications per candidate",
        asked="What do more samples bring, and what do they cost?",
        ways=tuple(map(_samples_way, (1, 2, 4, 8, 16))),
        against=(("K = 4", "K = 1"), ("K = 8", "K = 4"), ("K = 16", "K = 8")),
        sweeps=(Sweep("rho", _RHO, ("K = 4", "K = 1")),),
        answer=_samples,
        rates_over=(1, 2, 4, 8, 16),
    ),
    Asking(
        key="offspring",
        title="PATCH, REWRITE or both",
        asked="Which offspring of a parent are worth their calls? (Two of one kind in place of one of each.)",
        ways=(
            Way("both", "search", {"offspring": "both"}),
            Way("PATCH only", "search", {"offspring": "patch"}),
            Way("REWRITE only", "search", {"offspring": "rewrite"}),
        ),
        against=(("both", "PATCH only"), ("both", "REWRITE only")),
        sweeps=(
            Sweep("blocked", (0.0, 0.2, 0.4, 0.6), ("both", "PATCH only", "REWRITE only")),
            Sweep("patch_error", (0.0, 0.03, 0.09, 0.2), ("both", "PATCH only", "REWRITE only")),
            Sweep("critique_right", (0.2, 0.4, 0.6, 0.9), ("both", "PATCH only", "REWRITE only")),
        ),
        answer=_points,
    ),
    Asking(
        key="selection",
        title="Tournament or highest fitness",
        asked="Does the tournament return a better proof of the archive than the highest fitness does?",
        ways=(
            Way("tournament", "search"),
            Way("highest fitness", "search_argmax"),
            Way("best-of-N, tournament", "best_of"),
            Way("best-of-N, highest fitness", "best_of_argmax"),
        ),
        against=(("tournament", "highest fitness"), ("best-of-N, tournament", "best-of-N, highest fitness")),
        sweeps=(
            Sweep("ranker_rho", _RANKER_RHO, ("tournament", "highest fitness")),
            Sweep("ranker_rho", _RANKER_RHO, ("tournament", "highest fitness"), _WEAK_RANKER),
            Sweep("ranker_accuracy", (0.55, 0.65, 0.8, 0.9), ("tournament", "highest fitness")),
            Sweep("rho", _RHO, ("tournament", "highest fitness")),
        ),
        answer=_points,
    ),
    Asking(
        key="perfect",
        title="One perfect proof or two",
        asked="How often does the search stop for perfect proofs none of which is right?",
        ways=tuple(Way(f"stop at {count} perfect", "search", {"stop_at_perfect": count}) for count in (1, 2, 3)),
        against=(_ONE_TWO, ("stop at 2 perfect", "stop at 3 perfect")),
        sweeps=(Sweep("rho", _RHO, _ONE_TWO), Sweep("blind_spot", (0.0, 0.02, 0.05, 0.15), _ONE_TWO)),
        answer=_perfect,
        measure="wrong_stop_rate",
        measured="share of problems where the search stopped and none of its perfect proofs is right",
        percent=True,
    ),
    Asking(
        key="lazy",
        title="What lazy verification saves",
        asked="How many verifications are not needed for the same decisions?",
        ways=(
            Way("lazy", "search", {"fitness": "min", "lazy": True}),
            Way("eager", "search", {"fitness": "min", "lazy": False}),
        ),
        against=(("lazy", "eager"),),
        sweeps=(Sweep("skill", _SKILL, ("lazy", "eager")),),
        answer=_lazy,
        measure="verifications",
        measured="verifications a problem",
    ),
    Asking(
        key="scaffolds",
        title="The scaffolds in use, at equal calls",
        asked="What do the other scaffolds return with at most the calls that the search makes on each problem?",
        ways=(
            _MAXPROOF,
            _EQUAL,
            Way("verify-repair loop", "repair_loop"),
            Way("pool of means", "mean_pool"),
            Way("consolidation and knock-out", "consolidate"),
        ),
        against=tuple(("MaxProof", name) for name in _SCAFFOLDS[1:]),
        sweeps=(Sweep("rho", _RHO, _SCAFFOLDS), Sweep("skill", _SKILL, _SCAFFOLDS)),
        answer=partial(told, what="points"),
    ),
)

KEYS = tuple(asking.key for asking in ASKINGS)
