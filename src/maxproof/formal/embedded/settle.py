"""One obligation from the question to the answer: computed where that is possible, else asked of Z3."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from maxproof.formal.checkers.types import Limits, ObligationKind, ObligationResult, ObligationState
from maxproof.formal.embedded.core import Bool, CoreProgram, Obligation
from maxproof.formal.embedded.evaluate.evaluator import Budget
from maxproof.formal.embedded.evaluate.fold import Folder
from maxproof.formal.embedded.falsify.search import decide, falsify, value_texts
from maxproof.formal.embedded.solve.solver import solve

EXHAUSTION = Budget(steps=1_000_000)  # for trying all values
SEARCH = Budget(steps=300_000)  # for a counterexample after Z3 found no proof
EVALUATION = "evaluation"


class Settler:
    """Settles the obligations of one program."""

    def __init__(self, core: CoreProgram, targets: Sequence[str]) -> None:
        self._core = core
        self._targets = tuple(targets)

    def settle(self, obligation: Obligation, limits: Limits) -> ObligationResult:
        """The first answer of: folding, trying all values, Z3, a search for a counterexample."""
        folder = Folder(self._core)
        folded = replace(
            obligation,
            hypotheses=tuple(folder.fold(term) for term in obligation.hypotheses),
            goal=folder.fold(obligation.goal),
        )
        if folded.goal == Bool(True) or Bool(False) in folded.hypotheses:
            return _result(obligation, ObligationState.PROVED, EVALUATION)
        tried = decide(folded, self._core, EXHAUSTION)
        if tried.values is not None:
            return _refuted(obligation, value_texts(tried.values))
        if tried.complete:
            return _result(obligation, ObligationState.PROVED, EVALUATION)
        answer = solve(self._core, folded, limits)
        if answer.state is ObligationState.PROVED:
            return answer
        found = falsify(folded, self._core, SEARCH, limits.seed)
        if found is not None:
            return replace(_refuted(obligation, value_texts(found)), resource=answer.resource)
        return answer


def _result(obligation: Obligation, state: ObligationState, method: str) -> ObligationResult:
    return ObligationResult(
        ObligationKind(obligation.kind),
        state,
        obligation.at,
        obligation.text,
        obligation.lemma,
        method,
        related=obligation.related,
    )


def _refuted(obligation: Obligation, values: dict[str, str]) -> ObligationResult:
    result = _result(obligation, ObligationState.REFUTED, EVALUATION)
    return replace(result, counterexample=values, confirmed=True)
