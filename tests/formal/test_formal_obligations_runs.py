"""Bodies are run on small inputs, and obligations compared with what happens: the hypotheses of every obligation that a
run comes to are true there, its goal is true exactly where the run's check is, and where all obligations of a lemma are
proved no run goes wrong."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest

pytest.importorskip("z3")
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from maxproof.formal.checkers.types import Limits, ObligationKind, ObligationState
from maxproof.formal.embedded.core import (
    AssertStep,
    Branch,
    CallStep,
    ChooseStep,
    CoreProgram,
    Define,
    Obligation,
    ReturnStep,
    Step,
    Term,
)
from maxproof.formal.embedded.evaluate.evaluator import evaluate
from maxproof.formal.embedded.obligations import obligations
from maxproof.formal.embedded.resolve.program import resolve
from maxproof.formal.embedded.solve.solver import solve
from maxproof.formal.syntax.ast import Position
from maxproof.formal.syntax.parse import parse_program

COMMON = "lemma Pick(x: int) returns (r: int) ensures r > x\n"

terms = st.recursive(
    st.sampled_from(["x", "y", "a", "b", "0", "1", "2"]),
    lambda inner: st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
    max_leaves=3,
)
comparisons = st.tuples(terms, st.sampled_from(["<", "<=", "==", "!="]), terms).map(" ".join)
conditions = st.one_of(
    comparisons,
    st.tuples(comparisons, comparisons).map(lambda t: f"{t[0]} || {t[1]}"),
    comparisons.map(lambda c: f"!({c})"),
)


def _statements(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(conditions, inner, inner).map(lambda t: f"if {t[0]} {{ {t[1]} }} else {{ {t[2]} }}"),
        st.tuples(conditions, inner).map(lambda t: f"if {t[0]} {{ {t[1]} }}"),
        st.tuples(conditions, inner, conditions, inner).map(
            lambda t: f"if {{ case {t[0]} => {t[1]} case {t[2]} => {t[3]} case !({t[0]}) => {t[1]} }}"
        ),
        st.tuples(inner, inner).map(" ".join),
    )


statements = st.recursive(
    st.one_of(
        st.tuples(st.sampled_from("ab"), terms).map(lambda t: f"{t[0]} := {t[1]};"),
        st.tuples(st.sampled_from("ab"), terms).map(lambda t: f"{t[0]} := Pick({t[1]});"),
        st.tuples(st.sampled_from("ab"), st.sampled_from(["x", "y", "1"])).map(
            lambda t: f"{t[0]} :| {t[0]} <= {t[1]};"
        ),
        conditions.map(lambda c: f"assert {c};"),
        terms.map(lambda t: f"return {t};"),
    ),
    _statements,
    max_leaves=8,
)


class Run:
    """One execution. `at` are the places of the checks it came to, with their truth; it ends at the first failure."""

    def __init__(self, core: CoreProgram, env: dict[str, int], seed: int) -> None:
        self.core = core
        self.env = env
        self.random = random.Random(seed)
        self.at: dict[Position, bool] = {}
        self.returned: Term | None = None
        self.wrong = False

    def holds(self, term: Term) -> bool:
        return bool(evaluate(term, self.core, self.env))

    def go(self, steps: Iterable[Step]) -> bool:
        """Whether what follows is reached."""
        return all(self._step(step) for step in steps)

    def _step(self, step: Step) -> bool:
        match step:
            case Define():
                self.env[step.var.name] = evaluate(step.value, self.core, self.env)  # type: ignore[assignment]
            case CallStep(args=(arg,), outs=(out,)):
                bound = evaluate(arg, self.core, self.env)
                assert isinstance(bound, int)
                self.env[out.name] = bound + self.random.randint(1, 3)
            case ChooseStep(vars=(var,)):
                for value in self.random.sample(range(-12, 4), 16):
                    self.env[var.name] = value
                    if self.holds(step.predicate):
                        break
            case AssertStep(condition=condition):
                self.at[condition.at] = self.holds(condition)
                self.wrong = not self.at[condition.at]
                return not self.wrong
            case ReturnStep(values=(value,)):
                self.returned = value
                self.at[step.at] = True
                return False
            case Branch():
                return self._branch(step)
        return True

    def _branch(self, step: Branch) -> bool:
        bodies = [body for guard, _, body in step.arms if self.holds(guard)]
        if step.exclusive:
            bodies = [*bodies, *([step.otherwise] if step.otherwise is not None else [])][:1]
        return self.go(self.random.choice(bodies))


def resolved(body: str, ensures: str) -> CoreProgram:
    source = f"lemma L(x: int, y: int) returns (r: int) ensures {ensures} {{ var a, b := x, y; {body} r := a; }}"
    program = parse_program(COMMON + source)
    return resolve(program, ["L"])


def run(core: CoreProgram, x: int, y: int, seed: int) -> Run:
    lemma = core.lemmas["L"]
    done = Run(core, {"x": x, "y": y}, seed)
    if done.go(lemma.body or ()):
        done.returned = lemma.finals[0]
        done.at[lemma.at] = True
    if done.returned is not None:
        done.env["r"] = evaluate(done.returned, core, done.env)  # type: ignore[assignment]
        met = done.holds(lemma.ensures[0])
        done.wrong = not met
        done.at = {at: truth and met if at == list(done.at)[-1] else truth for at, truth in done.at.items()}
    return done


def total(obligation: Obligation, env: dict[str, int]) -> dict[str, int]:
    """Variables of ways not taken have some value."""
    return {var.name: 0 for var in obligation.vars} | env


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(statements, comparisons, st.integers(0, 1000))
def test_hypotheses_are_what_runs_know(body: str, ensures: str, seed: int) -> None:
    ensures = ensures.replace("a", "r").replace("b", "r")
    core = resolved(body, ensures)
    found = obligations(core, "L")
    for x, y in ((-2, 1), (0, 0), (1, 2), (3, -1)):
        done = run(core, x, y, seed)
        for o in found:
            if o.at in done.at and o.kind in (ObligationKind.ASSERTION, ObligationKind.POSTCONDITION):
                env = total(o, done.env)
                assert all(evaluate(hypothesis, core, env) for hypothesis in o.hypotheses)
                assert evaluate(o.goal, core, env) == done.at[o.at]


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(statements, st.sampled_from(["r >= x || r <= x", "r >= x", "r != y", "r * r >= r"]), st.integers(0, 1000))
def test_a_proved_lemma_never_goes_wrong(body: str, ensures: str, seed: int) -> None:
    core = resolved(body, ensures)
    limits = Limits(resource=200_000, seconds=1.0)
    if all(solve(core, o, limits).state is ObligationState.PROVED for o in obligations(core, "L")):
        for x in range(-3, 4):
            for y in range(-2, 3):
                assert not run(core, x, y, seed).wrong
