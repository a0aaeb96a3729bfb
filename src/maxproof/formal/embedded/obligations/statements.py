"""Statements: what each asks, and what holds after it.

`run` goes through a body in order and gives the path at its end, or None where it has returned on every way. Proofs
inside a statement (of an assertion, a calculation step, a forall statement) are run aside: only the conclusion stays.
The ways through a branch are joined, not followed apart: what an arm learned becomes one fact under its guard, so that
the number of facts stays linear in the size of the body.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from maxproof.formal.checkers.types import ObligationKind
from maxproof.formal.embedded.core import (
    AssertStep,
    Branch,
    Builtin,
    CalcStep,
    CallStep,
    ChooseStep,
    CoreLemma,
    Define,
    ForallStep,
    Op,
    Quant,
    ReturnStep,
    Step,
    Term,
    Var,
)
from maxproof.formal.embedded.core.show import show
from maxproof.formal.embedded.core.walk import conjunction, disjunction, substitute
from maxproof.formal.embedded.errors import Unsupported
from maxproof.formal.embedded.obligations.domains import membership
from maxproof.formal.embedded.obligations.goals import prove
from maxproof.formal.embedded.obligations.path import (
    TRUE,
    Claim,
    Path,
    Scope,
    equality,
    implication,
    negation,
    quantified,
)
from maxproof.formal.embedded.obligations.termination import ask_decrease
from maxproof.formal.embedded.obligations.wellformed import ask_choice, ask_preconditions, conform, wellformed
from maxproof.formal.syntax.ast import Position

Exit: TypeAlias = Callable[[ReturnStep, Path], None]
"""Asks what must hold where the body returns."""


def run(steps: Iterable[Step], path: Path, scope: Scope, leave: Exit) -> Path | None:
    """Asks all that `steps` need; gives the path after them, None where they never get there."""
    for step in steps:
        match step:
            case Branch():
                after = _branch(step, path, scope, leave)
                if after is None:
                    return None
                path = after
            case ReturnStep():
                for value in step.values:
                    path = wellformed(value, path, scope)
                leave(step, path)
                return None
            case _:
                path = _simple(step, path, scope)
    return path


def run_aside(steps: Iterable[Step], path: Path, scope: Scope, at: Position) -> Path:
    """`run` for a proof inside a statement or a term, which can't return."""

    def refuse(step: ReturnStep, _: Path) -> None:
        raise Unsupported("a return inside a proof of something else", step.at)

    after = run(steps, path, scope, refuse)
    if after is None:
        raise Unsupported("a return inside a proof of something else", at)
    return after


def _simple(step: Step, path: Path, scope: Scope) -> Path:
    match step:
        case AssertStep(condition=condition):
            path = wellformed(condition, path, scope)
            inside = path if step.by is None else run_aside(step.by, path, scope, step.at)
            prove(condition, inside, scope, Claim(ObligationKind.ASSERTION, condition.at, show(condition)))
            return path.assume(condition)
        case Define():
            path = wellformed(step.value, path, scope)
            conform(step.value, step.var.sort, path, scope)
            return path.bind((step.var,)).assume(equality(step.var, step.value))
        case ChooseStep():
            ask_choice(step.vars, step.predicate, path, scope, step.at)
            return path.bind(step.vars).assume(step.predicate)
        case CallStep():
            return _call(step, path, scope)
        case CalcStep():
            return _calc(step, path, scope)
        case ForallStep():
            return _forall(step, path, scope)
    raise TypeError(step)


def _call(step: CallStep, path: Path, scope: Scope) -> Path:
    lemma = scope.program.lemmas[step.name]
    for arg in step.args:
        path = wellformed(arg, path, scope)
    before = ask_preconditions(lemma, step.args, path, scope, step.at)
    bindings: dict[str, Term] = {param.name: arg for param, arg in zip(lemma.params, step.args, strict=True)}
    if step.name in scope.group:
        ask_decrease(lemma, bindings, before, scope, step.at)
    if lemma.results:
        # Results that nobody takes are still what the postconditions speak of.
        outs = step.outs or tuple(_unnamed(lemma, result, path) for result in lemma.results)
        path = _results(outs, lemma.results, path, scope)
        bindings |= {result.name: out for result, out in zip(lemma.results, outs, strict=True)}
    return path.assume(*(substitute(clause, bindings) for clause in lemma.ensures))


def _unnamed(lemma: CoreLemma, result: Var, path: Path) -> Var:
    return Var(f"{lemma.name}.{result.name}@{len(path.vars)}", result.sort, at=result.at)


def _results(outs: tuple[Var, ...], results: tuple[Var, ...], path: Path, scope: Scope) -> Path:
    """`outs` in scope, of the types that the lemma gives; that they fit the variables' own types is asked."""
    for out, result in zip(outs, results, strict=True):
        given = Var(out.name, result.sort, at=out.at)
        path = path.bind((given,))
        goal = membership(given, result.sort, out.sort)
        scope.ask(Claim(ObligationKind.NATURAL, out.at, show(goal)), goal, path)
        path = path.assume(goal)
    return path


def _calc(step: CalcStep, path: Path, scope: Scope) -> Path:
    """Each step on its own, from the facts before the calculation: its hint doesn't help the others.

    A line is read once: where the hint of the step that leads to it has been run, or before all steps if none does.
    From then on its being well-formed is known, as in Dafny; and a step of `==>` may rely on the line it starts from.
    """
    lines = step.lines
    backward = [_is_backward(relation, i, lines) for i, relation in enumerate(step.relations)]
    meaning: dict[int, tuple[Term, ...]] = {}
    for i in range(len(lines)):
        led_to = (i > 0 and not backward[i - 1]) or (i < len(backward) and backward[i])
        if not led_to:
            meaning[i] = _read(lines[i], path, scope)[1]
    forwards = [i for i, back in enumerate(backward) if not back]
    for i in forwards + [i for i, back in reversed(list(enumerate(backward))) if back]:
        relation, hint = step.relations[i], step.hints[i]
        known, new = (i + 1, i) if backward[i] else (i, i + 1)
        inside = path.assume(*meaning.get(known, ()))
        goal = relation
        if isinstance(relation, Builtin) and relation.op is Op.IMPLIES:
            given, goal = relation.args
            inside = inside.assume(given)
        inside = run_aside(hint, inside, scope, step.at)
        if new not in meaning:
            inside, meaning[new] = _read(lines[new], inside, scope)
        prove(goal, inside, scope, Claim(ObligationKind.CALC_STEP, lines[i + 1].at, show(relation)))
    return path if step.conclusion is None else path.assume(step.conclusion)


def _read(line: Term, path: Path, scope: Scope) -> tuple[Path, tuple[Term, ...]]:
    """`wellformed`, and what was asked for it as facts of `path`."""
    start = len(scope.asked)
    after = wellformed(line, path, scope)
    asked = scope.asked[start:]
    return after, tuple(quantified(o.vars[len(path.vars) :], o.hypotheses[len(path.facts) :], o.goal) for o in asked)


def _is_backward(relation: Term, i: int, lines: tuple[Term, ...]) -> bool:
    """A step written `<==`: the line after it is what the line before it follows from."""
    return (
        isinstance(relation, Builtin)
        and relation.op is Op.IMPLIES
        and relation.args == (lines[i + 1], lines[i])
        and relation.args != (lines[i], lines[i + 1])
    )


def _forall(step: ForallStep, path: Path, scope: Scope) -> Path:
    inside = wellformed(step.range, path.bind(step.vars), scope).assume(step.range)
    reading = inside
    for clause in step.ensures:
        reading = wellformed(clause, reading, scope).assume(clause)
    inside = run_aside(step.body, inside, scope, step.at)
    for clause in step.ensures:
        prove(clause, inside, scope, Claim(ObligationKind.FORALL_ENSURES, clause.at, show(clause)))
    facts = step.ensures or _given_by(step.body, scope)
    if not step.vars:
        return path.assume(*(implication((step.range,), fact) for fact in facts))
    return path.assume(*(Quant("forall", step.vars, step.range, fact, at=step.at) for fact in facts))


def _given_by(body: tuple[Step, ...], scope: Scope) -> tuple[Term, ...]:
    """What a forall statement without `ensures` tells: the conclusion of its one call or calculation."""
    match body:
        case (CallStep(outs=()) as call,):
            lemma = scope.program.lemmas[call.name]
            if lemma.results:
                return ()
            bindings = {param.name: arg for param, arg in zip(lemma.params, call.args, strict=True)}
            return tuple(substitute(clause, bindings) for clause in lemma.ensures)
        case (CalcStep(conclusion=conclusion),) if conclusion is not None:
            return (conclusion,)
    return ()


@dataclass(frozen=True, slots=True)
class _Way:
    """One way through a branch: when it may be taken, what was known at its start, and its end if it has one."""

    condition: Term
    start: Path
    end: Path | None

    def gained(self) -> tuple[Term, ...]:
        return () if self.end is None else self.end.facts[len(self.start.facts) :]


def _branch(step: Branch, path: Path, scope: Scope, leave: Exit) -> Path | None:
    ways: list[_Way] = []
    conditions: list[Term] = []
    for guard, bound, body in step.arms:
        refused = tuple(map(negation, conditions)) if step.exclusive else ()
        start = path.assume(*refused)
        if bound:
            wellformed(guard, start.bind(bound), scope)
            condition: Term = Quant("exists", bound, TRUE, guard, at=guard.at)
            inside = start.bind(bound).assume(guard)
        else:
            start = wellformed(guard, start, scope)
            condition = guard
            start = inside = start.assume(guard)
        ways.append(_Way(conjunction([*refused, condition]), start, run(body, inside, scope, leave)))
        conditions.append(condition)
    if step.otherwise is None:
        some = disjunction(conditions)
        scope.ask(Claim(ObligationKind.CASES, step.at, show(some)), some, path)
        path = path.assume(some)
    else:
        refused = tuple(map(negation, conditions))
        start = path.assume(*refused)
        ways.append(_Way(conjunction(refused), start, run(step.otherwise, start, scope, leave)))
    return _joined(path, ways, step.exclusive)


def _joined(path: Path, ways: list[_Way], exclusive: bool) -> Path | None:
    """What is known where the ways meet again.

    With exclusive guards, each way's facts hold under its condition. Otherwise any way whose guard holds may have been
    taken, also where variables were assigned: then some way's condition and facts hold together.
    """
    open_ways = [way for way in ways if way.end is not None]
    if not open_ways:
        return None
    if len(open_ways) == 1:
        return open_ways[0].end
    bound = {var.name: var for way in open_ways if way.end is not None for var in way.end.vars}
    met = Path(tuple(bound.values()), path.facts)
    if not exclusive:
        return met.assume(disjunction(conjunction([way.condition, *way.gained()]) for way in open_ways))
    for way in ways:
        if way.end is None:
            met = met.assume(negation(way.condition))
        elif way.gained():
            met = met.assume(implication((way.condition,), conjunction(way.gained())))
    return met
