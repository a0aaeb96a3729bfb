"""What must hold for a term to have a meaning, as Dafny defines it.

An operand of `&&`, `||`, `==>` and `if` may rely on what makes it count: it is read under those before it. The body of
a quantifier, a set comprehension or a lambda is read for all values of its variables within the range. `wellformed`
gives back the path with what was learned on the way: what statements inside the term prove, and what a recursive call
of the function under check gives. The postconditions of all other functions are left to the solver's side, and so is
`0 <= f(x)` for a call of a function whose result is a nat.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from maxproof.formal.checkers.types import ObligationKind
from maxproof.formal.embedded.core import (
    BOOL,
    INT,
    NAT,
    REAL,
    Basic,
    Builtin,
    Call,
    Choose,
    Construct,
    CoreFunction,
    CoreLemma,
    DataOf,
    Field,
    FunctionOf,
    FunctionValue,
    Int,
    Invoke,
    Is,
    Lambda,
    Let,
    Op,
    Proved,
    Quant,
    Real,
    SeqOf,
    SetComp,
    SetOf,
    Sort,
    Term,
    TupleOf,
    Var,
)
from maxproof.formal.embedded.core.show import show, show_sort
from maxproof.formal.embedded.core.walk import conjunction, disjunction, substitute
from maxproof.formal.embedded.errors import Unsupported
from maxproof.formal.embedded.obligations.domains import base, comparable, known_sort, membership, within
from maxproof.formal.embedded.obligations.goals import prove
from maxproof.formal.embedded.obligations.path import TRUE, Claim, Path, Scope, equality, implication, negation
from maxproof.formal.embedded.obligations.termination import ask_decrease
from maxproof.formal.embedded.resolve.finite import unbounded
from maxproof.formal.syntax.ast import Position


def wellformed(term: Term, path: Path, scope: Scope) -> Path:
    """Asks all that `term` needs at `path`.

    Raises Unsupported for terms whose meaning the core can't state: a call of an unknown partial function, a
    comparison of functions of nat, a set whose finiteness isn't plain.
    """
    match term:
        case Builtin():
            return _builtin(term, path, scope)
        case Call():
            return _call(term, path, scope)
        case Invoke():
            path = well_formed_all((term.function, *term.args), path, scope)
            _invoke(term, path, scope)
            return path
        case FunctionValue():
            if term.name in scope.group:
                raise Unsupported(f"{term.name} as a value inside its own recursion", term.at)
            return path
        case Lambda():
            after = _under_binders(term.params, term.requires, term.body, path, scope)
            if isinstance(term.sort, FunctionOf):
                conform(term.body, term.sort.result, path.bind(term.params).assume(term.requires), scope)
            return after
        case Construct():
            path = well_formed_all(term.args, path, scope)
            for arg, sort in zip(term.args, _field_sorts(term, scope), strict=True):
                conform(arg, sort, path, scope)
            return path
        case Field():
            path = wellformed(term.value, path, scope)
            _ask_constructor(term, path, scope)
            return path
        case Is():
            return wellformed(term.value, path, scope)
        case Quant():
            return _under_binders(term.vars, term.range, term.body, path, scope)
        case SetComp():
            return _comprehension(term, path, scope)
        case Let():
            path = wellformed(term.value, path, scope)
            conform(term.value, term.var.sort, path, scope)
            inner = path.bind((term.var,)).assume(equality(term.var, term.value))
            after = wellformed(term.body, inner, scope)
            return path.learned(inner, after, lambda fact: Let(term.var, term.value, fact), (term.var,))
        case Choose():
            ask_choice(term.vars, term.predicate, path, scope, term.at)
            inner = path.bind(term.vars).assume(term.predicate)
            wellformed(term.body, inner, scope)
            return path
        case Proved():
            # Statements hold terms and terms hold statements.
            from maxproof.formal.embedded.obligations.statements import run_aside

            return wellformed(term.value, run_aside(term.statements, path, scope, term.at), scope)
    return path


def well_formed_all(terms: Iterable[Term], path: Path, scope: Scope) -> Path:
    for term in terms:
        path = wellformed(term, path, scope)
    return path


def _under(guards: tuple[Term, ...], term: Term, path: Path, scope: Scope) -> Path:
    """`term` where `guards` hold."""
    inner = path.assume(*guards)
    return path.learned(inner, wellformed(term, inner, scope), lambda fact: implication(guards, fact))


def _builtin(term: Builtin, path: Path, scope: Scope) -> Path:
    args = term.args
    match term.op:
        case Op.AND | Op.IMPLIES:
            for place, arg in enumerate(args):
                path = _under(args[:place], arg, path, scope)
            return path
        case Op.OR:
            for place, arg in enumerate(args):
                path = _under(tuple(map(negation, args[:place])), arg, path, scope)
            return path
        case Op.ITE:
            condition, then, otherwise = args
            path = wellformed(condition, path, scope)
            for guard, branch in ((condition, then), (negation(condition), otherwise)):
                path = _under((guard,), branch, path, scope)
                conform(branch, term.sort, path.assume(guard), scope)
            return path
    path = well_formed_all(args, path, scope)
    match term.op:
        case Op.DIV | Op.MOD:
            _ask_divisor(args[1], term.at, path, scope)
        case Op.TO_INT:
            whole = Builtin(Op.TO_REAL, (Builtin(Op.FLOOR, args, INT),), REAL)
            goal = Builtin(Op.EQ, (whole, args[0]), BOOL)
            scope.ask(Claim(ObligationKind.INTEGRAL, term.at, f"{show(args[0])} is an integer"), goal, path)
        case Op.AT | Op.SEQ_UPDATE:
            _ask_order(ObligationKind.INDEX, (Int(0), args[1]), True, args[1], path, scope)
            _ask_order(ObligationKind.INDEX, (args[1], _size(args[0])), False, args[1], path, scope)
        case Op.SLICE:
            _ask_order(ObligationKind.INDEX, (Int(0), args[1]), True, args[1], path, scope)
            _ask_order(ObligationKind.INDEX, (args[1], args[2]), True, args[1], path, scope)
            _ask_order(ObligationKind.INDEX, (args[2], _size(args[0])), True, args[2], path, scope)
        case Op.SEQ_INIT:
            _ask_order(ObligationKind.LENGTH, (Int(0), args[0]), True, args[0], path, scope)
            _ask_elements(term, path, scope)
        case Op.EQ | Op.IN | Op.SET | Op.SUBSET | Op.PROPER_SUBSET | Op.DISJOINT | Op.PREFIX:
            if not all(comparable(arg.sort) for arg in args):
                raise Unsupported("a comparison of functions that aren't defined everywhere", term.at)
    for arg, sort in zip(args, _claimed(term), strict=False):
        conform(arg, sort, path, scope)
    return path


def _claimed(term: Builtin) -> tuple[Sort, ...]:
    """The types that the arguments must have for the term to be of its own type; none where that says nothing."""
    sort, args = term.sort, term.args
    match term.op, sort:
        case ((Op.SET | Op.SEQ), (SetOf() | SeqOf())):
            return (sort.element,) * len(args)
        case ((Op.UNION | Op.MINUS | Op.CONCAT | Op.SLICE), (SetOf() | SeqOf())):
            return (sort, sort) if term.op in (Op.UNION, Op.CONCAT) else (sort,)
        case Op.INTERSECT, SetOf():
            return () if any(within(known_sort(arg), sort) for arg in args) else (sort, sort)
        case Op.SEQ_UPDATE, SeqOf():
            return (sort, INT, sort.element)
        case Op.AT, _:
            return (SeqOf(sort),)
        case Op.TUPLE, TupleOf():
            return sort.items
    return ()


def _ask_divisor(divisor: Term, at: Position, path: Path, scope: Scope) -> None:
    zero: Term = Real(Fraction(0)) if divisor.sort == REAL else Int(0)
    if isinstance(divisor, Int | Real) and divisor.value != 0:
        return
    goal = negation(Builtin(Op.EQ, (divisor, zero), BOOL))
    scope.ask(Claim(ObligationKind.DIVISOR, at, f"{show(divisor)} != {show(zero)}"), goal, path)


def _size(collection: Term) -> Term:
    return Builtin(Op.CARD, (collection,), NAT, at=collection.at)


def _ask_order(kind: ObligationKind, sides: tuple[Term, Term], equal: bool, at: Term, path: Path, scope: Scope) -> None:
    low, high = sides
    if equal and isinstance(low, Int) and low.value == 0 and known_sort(high) == NAT:
        return
    if equal and low == high:
        return
    goal = Builtin(Op.LE if equal else Op.LT, sides, BOOL)
    scope.ask(Claim(kind, at.at, show(goal)), goal, path)


def _ask_elements(term: Builtin, path: Path, scope: Scope) -> None:
    """A sequence by a function: the function takes every index, and gives elements of the sequence's type."""
    size, function = term.args
    index = Var("i@", NAT)
    inner = path.bind((index,)).assume(Builtin(Op.LT, (index, size), BOOL))
    sort = function.sort
    if not isinstance(sort, FunctionOf) or not isinstance(term.sort, SeqOf):
        return
    value = Invoke(function, (index,), sort.result, at=function.at)
    _invoke(value, inner, scope)
    conform(value, term.sort.element, inner, scope)


def _invoke(term: Invoke, path: Path, scope: Scope) -> None:
    sort = term.function.sort
    if isinstance(sort, FunctionOf):
        for arg, param in zip(term.args, sort.params, strict=True):
            conform(arg, param, path, scope)
    if not _total(term.function, scope):
        goal, declared = _precondition(term.function, term.args, path, scope)
        prove(goal, path, scope, Claim(ObligationKind.PRECONDITION, term.at, show(goal), declared))


def _total(function: Term, scope: Scope) -> bool:
    if isinstance(function, FunctionValue):
        return not scope.program.functions[function.name].requires
    sort = known_sort(function)
    return isinstance(sort, FunctionOf) and sort.total


def _precondition(function: Term, args: tuple[Term, ...], path: Path, scope: Scope) -> tuple[Term, Position]:
    """When the partial function takes `args`, and where it says so."""
    match function:
        case Lambda():
            bindings = {param.name: arg for param, arg in zip(function.params, args, strict=True)}
            return substitute(function.requires, bindings), function.requires.at
        case FunctionValue():
            declared = scope.program.functions[function.name]
            bindings = {param.name: arg for param, arg in zip(declared.params, args, strict=True)}
            at = declared.requires[0].at if declared.requires else declared.at
            return conjunction(substitute(clause, bindings) for clause in declared.requires), at
        case Var():
            for fact in reversed(path.facts):
                if isinstance(fact, Builtin) and fact.op is Op.EQ and fact.args[0] == function:
                    return _precondition(fact.args[1], args, path, scope)
    raise Unsupported("a call of a partial function that isn't written out", function.at)


def conform(term: Term, want: Sort, path: Path, scope: Scope) -> None:
    """Asks that `term` is a value of `want`, which has the same base type."""
    have = known_sort(term)
    if isinstance(have, FunctionOf) and isinstance(want, FunctionOf):
        total = _total(term, scope)
        if want.total and not total:
            args = tuple(Var(f"x{i}@", sort) for i, sort in enumerate(want.params))
            goal, declared = _precondition(term, args, path, scope)
            text = f"{show(term)} is defined for all arguments"
            prove(goal, path.bind(args), scope, Claim(ObligationKind.PRECONDITION, term.at, text, declared))
            total = True
        have = FunctionOf(have.params, have.result, total)
    goal = membership(term, have, want)
    if goal != TRUE:
        text = show(goal) if isinstance(want, Basic) else f"{show(term)} is of type {show_sort(want)}"
        scope.ask(Claim(ObligationKind.NATURAL, term.at, text), goal, path)


def _call(term: Call, path: Path, scope: Scope) -> Path:
    path = well_formed_all(term.args, path, scope)
    function = scope.program.functions[term.name]
    before = ask_preconditions(function, term.args, path, scope, term.at)
    if term.name not in scope.group or term == scope.own:
        return path
    bindings = {param.name: arg for param, arg in zip(function.params, term.args, strict=True)}
    ask_decrease(function, bindings, before, scope, term.at)
    bindings[function.result.name] = term
    result = function.result.sort
    promised = (substitute(clause, bindings) for clause in function.ensures)
    return path.assume(membership(term, base(result), result), *promised)


def ask_preconditions(
    callee: CoreFunction | CoreLemma, args: tuple[Term, ...], path: Path, scope: Scope, at: Position
) -> Path:
    """Asks that `args` are of the parameters' types and meet the preconditions; gives the path with these."""
    for arg, param in zip(args, callee.params, strict=True):
        conform(arg, param.sort, path, scope)
    bindings = {param.name: arg for param, arg in zip(callee.params, args, strict=True)}
    for clause in callee.requires:
        goal = substitute(clause, bindings)
        prove(goal, path, scope, Claim(ObligationKind.PRECONDITION, at, show(goal), clause.at))
        path = path.assume(goal)
    return path


def ask_choice(vars: tuple[Var, ...], predicate: Term, path: Path, scope: Scope, at: Position) -> None:
    """Asks that `predicate` has a meaning for all values of `vars` and holds for some."""
    wellformed(predicate, path.bind(vars), scope)
    text = f"some {', '.join(var.name for var in vars)} with {show(predicate)}"
    goal = Quant("exists", vars, TRUE, predicate, at=predicate.at)
    scope.ask(Claim(ObligationKind.EXISTENCE, at, text), goal, path)


def _comprehension(term: SetComp, path: Path, scope: Scope) -> Path:
    if isinstance(term.sort, SetOf):
        if term.sort.finite and unbounded(term.vars, term.range, scope.program.datatypes):
            raise Unsupported("a set whose elements have no bounds: is it finite?", term.at)
        if not comparable(term.sort):
            raise Unsupported("a set of functions that aren't defined everywhere", term.at)
        inner = path.bind(term.vars).assume(term.range)
        conform(term.term, term.sort.element, inner, scope)
    return _under_binders(term.vars, term.range, term.term, path, scope)


def _under_binders(vars: tuple[Var, ...], range_: Term, body: Term, path: Path, scope: Scope) -> Path:
    """`body` for all values of `vars` in `range_`."""
    inner = path.bind(vars)
    after = wellformed(range_, inner, scope)
    result = path.learned(inner, after, lambda fact: Quant("forall", vars, TRUE, fact), vars)
    inner = after.assume(range_)
    after = wellformed(body, inner, scope)
    return result.learned(inner, after, lambda fact: Quant("forall", vars, range_, fact), vars)


def _field_sorts(term: Construct, scope: Scope) -> tuple[Sort, ...]:
    assert isinstance(term.sort, DataOf)
    for constructor in scope.program.datatypes[term.sort.name].constructors:
        if constructor.name == term.constructor:
            return tuple(sort for _, sort in constructor.fields)
    raise KeyError(term.constructor)


def _ask_constructor(term: Field, path: Path, scope: Scope) -> None:
    sort = term.value.sort
    if not isinstance(sort, DataOf):
        return
    constructors = scope.program.datatypes[sort.name].constructors
    having = [c for c in constructors if any(name == term.name for name, _ in c.fields)]
    if len(having) < len(constructors):
        goal = disjunction(Is(term.value, c.name) for c in having)
        names = " or ".join(c.name for c in having)
        scope.ask(Claim(ObligationKind.CONSTRUCTOR, term.at, f"{show(term.value)} is {names}"), goal, path)
