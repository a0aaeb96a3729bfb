"""Sets that a hypothesis defines by their members: the set is the comprehension, or the display of its elements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial

from sympy import Poly, PolynomialError, Symbol, resultant

from maxproof.formal.embedded.core import (
    BOOL,
    INT,
    NAT,
    REAL,
    Bool,
    Builtin,
    Call,
    Int,
    Lambda,
    Op,
    Quant,
    Real,
    SetComp,
    SetOf,
    Term,
    Var,
)
from maxproof.formal.embedded.core.show import show
from maxproof.formal.embedded.core.walk import conjunction, free_variables, subnodes, substitute, transform
from maxproof.formal.embedded.evaluate.domains import definition
from maxproof.formal.embedded.evaluate.evaluator import Budget, Evaluator, NotComputable
from maxproof.formal.prover.instances import simplified
from maxproof.formal.prover.numerics import approximate
from maxproof.formal.prover.polynomials import NotPolynomial, System, conjuncts, relation_of
from maxproof.formal.prover.question import Proposal, Question

MAX_ELEMENTS = 120
MAX_ATOMS = 5
MAX_DEGREE = 12
WINDOW = range(-100, 3000)
MARGIN = 20
MAX_CANDIDATES = 20_000
MAX_BRANCHES = 3
_BUDGET = Budget(steps=10_000_000)
_SMALL = Budget(steps=20_000)


def sets(question: Question) -> Iterator[Proposal]:
    """`assert S == {...}` for every set that a hypothesis defines; for whole numbers also with its comprehension."""
    displays: list[str] = []
    comprehensions: list[str] = []
    for whole, item, condition in definitions(question):
        if item.sort == REAL:
            elements = _real_elements(question, item, condition)
        else:
            variable = Var(item.name, INT)
            bounds = (Builtin(Op.LE, (Int(0), variable), BOOL),) if item.sort == NAT else ()
            range_ = conjunction((*bounds, substitute(condition, {item.name: variable})))
            elements, finite = _whole_elements(question, variable, range_)
            if finite:
                comprehension = SetComp((variable,), range_, variable, whole.sort)
                comprehensions.append(f"assert {show(whole)} == {show(comprehension)};")
        if elements is not None and len(elements) <= MAX_ELEMENTS:
            display = Builtin(Op.SET, tuple(elements), whole.sort)
            displays.append(
                f"assert {show(whole)} == {show(display)};" if elements else f"assert |{show(whole)}| == 0;"
            )
            displays += pairs(question, whole, elements)
            for goal in question.conclusions if elements else ():
                if _mentions(goal, whole):
                    displays.append(f"assert {show(substitute(goal, {whole.name: display}))};")
    if displays:
        yield Proposal("sets", tuple(displays), cost=2)
    if comprehensions:
        yield Proposal("sets", (*comprehensions, *displays), cost=4)


def definitions(question: Question) -> Iterator[tuple[Var, Var, Term]]:
    """(S, x, P) for each hypothesis `forall x :: x in S <==> P`, with any range of x but a condition on it."""
    for part in (part for hypothesis in question.hypotheses for part in conjuncts(hypothesis)):
        match part:
            case Quant(
                kind="forall",
                vars=(var,),
                range=Bool(value=True),
                body=Builtin(
                    op=Op.IFF | Op.EQ, args=(Builtin(op=Op.IN, args=(Var() as item, Var() as whole)), condition)
                ),
            ) if item.name == var.name and isinstance(whole.sort, SetOf) and whole.sort.finite:
                yield whole, var, condition


def _whole_elements(question: Question, item: Var, condition: Term) -> tuple[list[Term] | None, bool]:
    """The whole numbers that meet the condition, and whether its form bounds them; otherwise those within `WINDOW`.

    None for members that can't be computed, or that lie so near the window's ends that they may go on.
    """
    condition = inlined(question, condition)
    evaluator = Evaluator(question.core)
    try:
        found = evaluator.candidates((item,), list(conjuncts(condition)), _BUDGET, MAX_CANDIDATES)
    except NotComputable:
        found = None
    numbers = WINDOW if found is None else [int(value) for (value,) in found]
    holds = evaluator.expression(condition, (item.name,))
    met: list[Term] = []
    for number in numbers:
        try:
            member = holds.value((number,), _SMALL)
        except NotComputable:
            member = approximate(condition, {item.name: number})
        if member is None:
            return None, found is not None
        if member is True:
            inside = WINDOW.start + MARGIN <= number < WINDOW.stop - MARGIN
            if len(met) == MAX_ELEMENTS or (found is None and not inside):
                return None, found is not None
            met.append(Int(number))
    return met, found is not None


def _real_elements(question: Question, item: Var, condition: Term) -> list[Term] | None:
    """The roots, rational or of quadratic factors, of the polynomial equations in the condition; None if none is seen.

    Roots that don't meet the condition are left out. Whether these are all solutions is left to the checker.
    """
    plain = inlined(question, condition)
    roots: dict[Term, None] = {}
    for node in subnodes(plain):
        if isinstance(node, Builtin) and node.op is Op.EQ:
            for variant in _branches(node):
                roots.update(dict.fromkeys(_roots(item, variant)))
    return [root for root in roots if _meets(item, plain, root)] or None


def inlined(question: Question, term: Term) -> Term:
    """`term` with the functions put in that hypotheses define: everywhere, or by cases."""
    pieces: dict[Var, list[tuple[Term, Lambda]]] = {}
    for part in (part for hypothesis in question.hypotheses for part in conjuncts(hypothesis)):
        match part:
            case Quant(kind="forall", vars=bound, range=guard, body=body):
                while isinstance(body, Builtin) and body.op is Op.IMPLIES:
                    guard, body = conjunction((guard, body.args[0])), body.args[1]
                if not isinstance(body, Builtin) or body.op is not Op.EQ:
                    continue
                defined = definition(bound, body.args[0], body.args[1])
                if defined is not None and isinstance(defined[1], Lambda) and not _mentions(body.args[1], defined[0]):
                    pieces.setdefault(defined[0], []).append((guard, defined[1]))
    given = {function.name: _by_cases(cases) for function, cases in pieces.items()}
    return simplified(substitute(term, given)) if given else term


def _by_cases(cases: Sequence[tuple[Term, Lambda]]) -> Lambda:
    """One function that is the first whose guard holds; the last one is taken without its guard."""
    _, last = cases[-1]
    body = last.body
    for guard, piece in reversed(cases[:-1]):
        names = {old.name: new for old, new in zip(piece.params, last.params, strict=True)}
        condition, value = (substitute(term, names) for term in (guard, piece.body))
        body = Builtin(Op.ITE, (condition, value, body), value.sort)
    return Lambda(last.params, body, last.sort)


def _branches(term: Builtin) -> Iterator[Builtin]:
    """`term` with each conditional replaced by one of its branches, in all ways, for up to `MAX_BRANCHES` of them."""
    conditionals = [node for node in subnodes(term) if isinstance(node, Builtin) and node.op is Op.ITE]
    if not conditionals:
        yield term
    elif len(conditionals) <= MAX_BRANCHES:
        first = conditionals[0]
        for branch in first.args[1:]:
            chosen = transform(term, partial(_replaced, first, branch))
            assert isinstance(chosen, Builtin), "an equation stays one"
            yield from _branches(chosen)


def _replaced(old: Term, new: Term, node: Term) -> Term:
    return new if node == old else node


def _mentions(term: Term, var: Var) -> bool:
    return any(other.name == var.name for other in free_variables(term))


def _meets(item: Var, condition: Term, root: Term) -> bool:
    value = approximate(root, {})
    return value is None or approximate(condition, {item.name: float(value)}) is not False


def _roots(item: Var, equation: Builtin) -> Iterator[Term]:
    """The roots of the sides' difference as a polynomial in `item`; square roots and absolute values are eliminated."""
    related = relation_of(equation)
    if related is None or any(var.name != item.name for var in free_variables(equation)):
        return
    system = System((equation, Builtin(Op.EQ, (item, item), BOOL)))
    if len(system.atoms) > MAX_ATOMS:
        return
    try:
        poly = (system.poly(related[1]) - system.poly(related[2])).as_expr()
        for atom in system.atoms:
            if atom != item:
                known = [fact.poly for fact in system.about(atom) if fact.relation == "=="]
                if not known:
                    return
                poly = resultant(poly, known[0].as_expr(), Symbol(str(system.poly(atom))))
        yield from low_roots(Poly(poly, Symbol(str(system.poly(item)))))
    except (NotPolynomial, PolynomialError):
        return


def low_roots(poly: Poly) -> Iterator[Term]:
    """The real roots of the linear and quadratic factors over the rationals of a polynomial in one variable."""
    if poly.degree() > MAX_DEGREE:
        return
    for factor, _ in poly.factor_list()[1]:
        coefficients = [Fraction(int(c.p), int(c.q)) for c in factor.all_coeffs()]
        if len(coefficients) == 2:
            yield Real(-coefficients[1] / coefficients[0])
        elif len(coefficients) == 3:
            a, b, c = coefficients
            middle, radicand = -b / (2 * a), (b * b - 4 * a * c) / (4 * a * a)
            if radicand > 0:
                root = Call("sqrt", (Real(radicand),), REAL)
                yield Builtin(Op.SUB, (Real(middle), root), REAL)
                yield Builtin(Op.ADD, (Real(middle), root), REAL)


def pairs(question: Question, whole: Var, elements: Sequence[Term]) -> Iterator[str]:
    """The library's lemmas of sums and products over sets with two elements, for those in the conclusions."""
    for node in (node for goal in question.goals for node in subnodes(goal)):
        if isinstance(node, Call) and len(node.args) == 2 and node.args[0] == whole and len(elements) == 2:
            if all(isinstance(element, Real | Int) for element in elements):
                continue
            yield f"{node.name}_pair({', '.join(map(show, (*elements, node.args[1])))});"
