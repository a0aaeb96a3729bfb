"""What is compared on real models: the arms of each question, as methods with settings and budgets.

The *reference* is the search as published, in the sizes that the user asked for. It runs first on each problem, and
what it used there is the budget of the other arms. What would use less may grow to it: best-of-N and the knock-out by
more proofs, the pool and searches with other K or without summaries by more rounds. Where the samples of a candidate
are all needed (mean, majority), the budget is that of the minimum with all samples run. When to stop is itself what the
question about perfect candidates is about, so there is no budget there, and what each arm used is told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

from maxproof.evaluation.methods.budget import Unit
from maxproof.evaluation.methods.knockout import ENTRANTS
from maxproof.search.run import tournament_calls
from maxproof.search.settings import SearchSettings

Question = Literal[
    "equal_budget", "aggregation", "samples", "offspring", "summaries", "selection", "perfect", "lazy", "scaffolds"
]

REFERENCE = "MaxProof"
ONE_SHOT = "one proof"
BEST_OF = "best-of-N"
ALL_SAMPLES = "minimum, all samples run"
SCAFFOLDS: Mapping[str, str] = MappingProxyType(
    {"verify_repair": "verify-repair loop", "pool": "pool of means", "knockout": "consolidation and knock-out"}
)
"""By method, the arms of the question `scaffolds` beside the reference and best-of-N."""
MORE_ROUNDS = 4
"""How many times as many rounds an arm may do as the reference, if its budget allows them."""

_CHEAPER = ("samples", "summaries")
"""Questions whose arms may use less than the reference in as many rounds."""
_PUBLISHED: Mapping[str, object] = MappingProxyType(
    {"fitness": "min", "lazy": True, "offspring": "both", "summaries": True, "finalist_mode": "top"}
)


@dataclass(frozen=True, slots=True)
class ArmPlan:
    """One arm, before it runs.

    Attributes:
        name: unique in a study.
        method: of `METHODS`.
        changes: what differs from the reference's search settings.
        limit_of: the arm whose use is this one's budget on each problem; "" for no budget.
        grows: what may grow to the budget.
    """

    name: str
    method: str
    changes: Mapping[str, object] = field(default_factory=dict)
    limit_of: str = REFERENCE
    grows: Literal["", "candidates", "rounds"] = "rounds"


def reference(search: SearchSettings) -> SearchSettings:
    """The search as published in the sizes of `search`."""
    return search.model_copy(update=dict(_PUBLISHED))


def question_arms(question: Question, search: SearchSettings, samples: Sequence[int]) -> tuple[ArmPlan, ...]:
    """The arms of one question, an arm that is the reference's as the reference itself.

    `samples`: K of the question `samples`, beside the reference's.
    """
    published = reference(search)
    whole = ArmPlan(REFERENCE, "search", limit_of="", grows="")
    best_of = ArmPlan(BEST_OF, "best_of", grows="candidates")
    all_samples = ArmPlan(ALL_SAMPLES, "search", {"lazy": False}, limit_of="", grows="")

    def variant(name: str, **changes: object) -> ArmPlan:
        same = all(getattr(published, key) == value for key, value in changes.items())
        return whole if same else ArmPlan(name, "search", changes, grows="rounds" if question in _CHEAPER else "")

    match question:
        case "equal_budget":
            return whole, ArmPlan(ONE_SHOT, "one_shot", limit_of="", grows=""), best_of
        case "aggregation":
            means = (
                ArmPlan(name, "search", {"lazy": False, "fitness": name}, ALL_SAMPLES, grows="")
                for name in ("mean", "majority")
            )
            return all_samples, *means
        case "samples":
            counts = sorted({published.verifications, *samples})
            return tuple(variant(f"K = {count}", verifications=count) for count in counts)
        case "offspring":
            return whole, *(variant(f"{kind.upper()} only", offspring=kind) for kind in ("patch", "rewrite"))
        case "summaries":
            return whole, variant("without summaries", summaries=False)
        case "selection":
            return whole, best_of
        case "perfect":
            stops = sorted({published.stop_at_perfect, 1, 2})
            plans = (variant(f"stop at {count} perfect", stop_at_perfect=count) for count in stops)
            return tuple(replace(plan, limit_of="") for plan in plans)
        case "lazy":
            return whole, all_samples
        case "scaffolds":
            others = (
                ArmPlan(name, method, grows="candidates" if method == "knockout" else "rounds")
                for method, name in SCAFFOLDS.items()
            )
            return whole, best_of, *others


def all_arms(questions: Sequence[Question], search: SearchSettings, samples: Sequence[int]) -> tuple[ArmPlan, ...]:
    """Every arm once, the reference first, and each after the one that its budget comes from."""
    plans = {REFERENCE: ArmPlan(REFERENCE, "search", limit_of="", grows="")}
    for question in questions:
        plans |= {plan.name: plan for plan in question_arms(question, search, samples)}
    return tuple(plans.values())


def sizes(plan: ArmPlan, search: SearchSettings, reference_calls: int) -> SearchSettings:
    """The settings of an arm. `reference_calls`: calls of the reference on this problem, which bound what can grow."""
    published = reference(search)
    grown: dict[str, object] = {}
    if plan.grows == "candidates":
        grown["candidates"] = max(published.candidates, reference_calls)
    elif plan.grows == "rounds":
        grown["rounds"] = MORE_ROUNDS * published.rounds
    return published.model_copy(update={**grown, **plan.changes})


def kept_calls(method: str, search: SearchSettings, judges: int, unit: Unit) -> int:
    """Calls of a budget that a method must have left to go on: its selection, and half of what a wave takes at least.

    So it goes on where that brings it nearer to the budget than to stop would. Re-asks, and verifications that only
    the decisions ask for, are not counted. In tokens a vote counts as two calls: its prompt holds two proofs.

    Args:
        judges: of one verification. unit: of the budget.
    """
    wave, closing = 2 * search.parents, 0
    vote = 2 if unit == "tokens" else 1
    match method:
        case "search":
            closing, each = vote * tournament_calls(search), 1 + judges + search.summaries
        case "best_of":
            closing, each = vote * tournament_calls(search), 1 + judges
        case "knockout":
            closing, each = vote * ENTRANTS, 1 + judges  # one consolidation, and a vote for each match
        case "pool":
            each = 1 + judges * search.verifications
        case _:
            wave, each = 1, judges
    return closing + wave * each // 2
