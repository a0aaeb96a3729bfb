"""Answers one obligation with Z3: proved, refuted by a counterexample, unknown, or a limit was reached.

The question is prepared (`encode.prepare`), then asked in several ways, cheap ones first (`solve.strategies`); the
first way that proves it settles it. All limits that decide are Z3's resource units, which don't depend on the machine;
the timeout is a fuse against the few tactics that don't count their work.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import z3

from maxproof.formal.checkers.types import Limits, ObligationKind, ObligationResult, ObligationState
from maxproof.formal.embedded.core import Bool, CoreProgram, Obligation
from maxproof.formal.embedded.encode.prepare import prepare
from maxproof.formal.embedded.encode.scope import Scope
from maxproof.formal.embedded.encode.simplify import Simplifier
from maxproof.formal.embedded.errors import Unsupported
from maxproof.formal.embedded.evaluate.evaluator import Evaluator
from maxproof.formal.embedded.evaluate.fold import Folder
from maxproof.formal.embedded.solve.strategies import Answer, Asked, ask

FRAMES = 5_000  # Python frames that deep terms may take


def solve(core: CoreProgram, obligation: Obligation, limits: Limits) -> ObligationResult:
    """Whether the obligation holds. Never raises for what the obligation is; memory errors pass through.

    `PROVED` means that it holds for all values. `REFUTED` means that a counterexample was found without anything that
    the solver may have got wrong; a counterexample that comes with `UNKNOWN` may owe to what it doesn't know.
    """
    try:
        with _deep_terms():
            answer = _answer(core, obligation, limits)
    except (Unsupported, RecursionError) as error:
        reason = str(error) if isinstance(error, Unsupported) else "the terms are nested too deeply"
        answer = Answer(ObligationState.UNKNOWN, reason)
    except z3.Z3Exception as error:  # a term that Z3 doesn't take
        if "memory" in str(error):
            raise MemoryError(str(error)) from error
        answer = Answer(ObligationState.UNKNOWN, str(error).split("\n", 1)[0])
    return ObligationResult(
        ObligationKind(obligation.kind),
        answer.state,
        obligation.at,
        obligation.text,
        obligation.lemma,
        answer.method,
        answer.counterexample,
        answer.confirmed,
        answer.resource,
        obligation.related,
    )


def _answer(core: CoreProgram, obligation: Obligation, limits: Limits) -> Answer:
    scope = Scope(core, obligation.lemma)
    folder = Folder(core)
    simplify = Simplifier(core, scope, folder.fold)
    evaluator = Evaluator(core)
    folded = replace(
        obligation, hypotheses=tuple(map(folder.fold, obligation.hypotheses)), goal=folder.fold(obligation.goal)
    )
    questions = prepare(folded, core, scope, simplify)
    spent = 0
    methods: list[str] = []
    for question in questions:
        if question.goal == Bool(True) or Bool(False) in question.hypotheses:
            methods.append("simplification")
            continue
        answer = ask(Asked(question, obligation, core, scope, simplify, evaluator, limits))
        spent += answer.resource
        if answer.state is not ObligationState.PROVED:
            return Answer(answer.state, answer.method, answer.counterexample, answer.confirmed, spent)
        methods.append(answer.method)
    method = max(methods, key=methods.count, default="simplification")
    others = [m for m in methods if m != "simplification"]
    return Answer(ObligationState.PROVED, others[0] if others else method, {}, False, spent)


@contextmanager
def _deep_terms() -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
