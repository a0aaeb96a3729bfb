"""An obligation as the solver gets it: simplified, its bound variables made free, its definitions put in.

Each step keeps the question: the prepared one holds for all values exactly when the obligation does. Tuples and
datatypes with one constructor become their fields; a `forall` to be proved and an `exists` that is given become free
variables; a hypothesis that says what a variable is (`x == t`, `S == {...}`, `forall t :: f(t) == e`) is put in
everywhere and dropped.
"""

from __future__ import annotations

from dataclasses import dataclass

from maxproof.formal.embedded.core import (
    BOOL,
    INT,
    NAT,
    REAL,
    Bool,
    Builtin,
    Choose,
    CoreProgram,
    FunctionOf,
    FunctionValue,
    Int,
    Invoke,
    Lambda,
    Obligation,
    Op,
    Quant,
    SetComp,
    SetOf,
    Sort,
    Term,
    Var,
)
from maxproof.formal.embedded.core.walk import conjunction, free_variables, subnodes, substitute
from maxproof.formal.embedded.encode.fold import flat, negation, split_implication
from maxproof.formal.embedded.encode.scope import Scope
from maxproof.formal.embedded.encode.simplify import Simplifier
from maxproof.formal.embedded.encode.sorts import assembled, constraint, is_product, parts_of

ROUNDS = 40  # definitions put in, at most


@dataclass(frozen=True, slots=True)
class Question:
    """`goal` follows from `hypotheses`; free variables stand for all values of the solver's sorts.

    Attributes:
        values: what each variable of the obligation is in terms of the free variables.
    """

    hypotheses: tuple[Term, ...]
    goal: Term
    values: dict[str, Term]


def prepare(obligation: Obligation, core: CoreProgram, scope: Scope, simplify: Simplifier) -> list[Question]:
    """Questions that together are the obligation: one for each conjunct of its goal, earlier ones given."""
    values: dict[str, Term] = {v.name: _split(v, core, scope) for v in obligation.vars}
    split = {name: value for name, value in values.items() if not isinstance(value, Var)}
    used = {v.name for term in (*obligation.hypotheses, obligation.goal) for v in free_variables(term)}
    typed = [v for v in obligation.vars if v.name in used and v.sort not in (INT, NAT)]
    typing = [constraint(values[v.name], v.sort, core) for v in typed]
    given = [substitute(h, split) if split else h for h in obligation.hypotheses]
    goal = substitute(obligation.goal, split) if split else obligation.goal
    hypotheses: list[Term] = []
    for hypothesis in (*typing, *given):
        hypotheses += _opened(simplify(hypothesis), core, scope, simplify)
    made: list[Question] = []
    pending = [(simplify(goal), hypotheses)]
    while pending:
        claim, known = pending.pop()
        match claim:
            case Builtin(op=Op.AND, args=args):
                before: list[Term] = []
                steps: list[tuple[Term, list[Term]]] = []
                for arg in args:
                    steps.append((arg, [*known, *before]))
                    before += _opened(arg, core, scope, simplify)
                pending += reversed(steps)
            case Builtin(op=Op.IMPLIES, args=(left, right)):
                pending.append((right, [*known, *_opened(left, core, scope, simplify)]))
            case Quant(kind="forall"):
                new, renaming = _renamed(claim.vars, core, scope)
                guards = [constraint(v, s, core) for v, s in new]
                extra = [*guards, substitute(claim.range, renaming)]
                body = simplify(substitute(claim.body, renaming))
                opened = [h for g in extra for h in _opened(simplify(g), core, scope, simplify)]
                pending.append((body, [*known, *opened]))
            case Builtin(op=Op.IFF, args=(left, right)):
                for a, b in ((right, left), (left, right)):
                    pending.append((b, [*known, *_opened(a, core, scope, simplify)]))
            case Builtin(op=Op.OR | Op.NOT):
                opened = _opened(negation(claim), core, scope, simplify)
                made.append(_defined([*known, *opened], Bool(False), values, scope, simplify))
            case _:
                made.append(_defined(known, claim, values, scope, simplify))
    return made


def _split(var: Var, core: CoreProgram, scope: Scope) -> Term:
    """`var`, or for a product the product of fresh variables for its fields."""
    if not is_product(var.sort, core):
        return var
    fields = [_split(Var(f"{var.name}.{f.name}", f.sort), core, scope) for f in parts_of(var, core)]
    return assembled(fields, var.sort, core)


def _renamed(
    bound: tuple[Var, ...], core: CoreProgram, scope: Scope
) -> tuple[list[tuple[Term, Sort]], dict[str, Term]]:
    new: list[tuple[Term, Sort]] = []
    renaming: dict[str, Term] = {}
    for var in bound:
        value = _split(scope.fresh(var.name, var.sort), core, scope)
        new.append((value, var.sort))
        renaming[var.name] = value
    return new, renaming


def _opened(term: Term, core: CoreProgram, scope: Scope, simplify: Simplifier) -> list[Term]:
    """Conjuncts of a given term, with witnesses for what exists."""
    done: list[Term] = []
    pending = [term]
    while pending:
        top = pending.pop()
        match top:
            case Bool(value=True):
                continue
            case Builtin(op=Op.AND, args=args):
                pending += reversed(args)
            case Builtin(op=Op.NOT, args=(Builtin(op=Op.OR, args=args),)):
                pending += [negation(arg) for arg in reversed(args)]
            case Builtin(op=Op.NOT, args=(Builtin(op=Op.IMPLIES, args=(left, right)),)):
                pending += [negation(right), left]
            case Quant(kind="exists"):
                new, renaming = _renamed(top.vars, core, scope)
                guards = [constraint(v, s, core) for v, s in new]
                parts = [substitute(top.range, renaming), substitute(top.body, renaming)]
                pending.append(simplify(conjunction([*guards, *parts])))
            case _:
                done.append(top)
    return done


def _defined(
    hypotheses: list[Term], goal: Term, values: dict[str, Term], scope: Scope, simplify: Simplifier
) -> Question:
    """The question with the definitions among its hypotheses put in."""
    values = dict(values)
    hypotheses = list(hypotheses)
    for _ in range(ROUNDS):
        found = _definition(hypotheses, scope)
        if found is None:
            break
        place, name, value = found
        mapping = {name: value}
        rest: list[Term] = []
        for other, hypothesis in enumerate(hypotheses):
            if other != place:
                rest += flat(simplify(substitute(hypothesis, mapping)) if _names(hypothesis, name) else hypothesis)
        hypotheses = rest
        goal = simplify(substitute(goal, mapping)) if _names(goal, name) else goal
        values = {v: simplify(substitute(t, mapping)) if _names(t, name) else t for v, t in values.items()}
    simplify.spell_out_sets(True)
    goal = simplify(goal)
    hypotheses = [part for h in hypotheses for part in flat(simplify(h))]
    simplify.spell_out_sets(False)
    unique: list[Term] = []
    for hypothesis in hypotheses:
        if hypothesis not in unique:
            unique.append(hypothesis)
    return Question(tuple(unique), goal, values)


def _names(term: Term, name: str) -> bool:
    return any(v.name == name for v in free_variables(term))


def _definition(hypotheses: list[Term], scope: Scope) -> tuple[int, str, Term] | None:
    """The first hypothesis that says what a variable is: its place, the variable and its value."""
    for place, hypothesis in enumerate(hypotheses):
        match hypothesis:
            case Var(name=name):
                return place, name, Bool(True)
            case Builtin(op=Op.NOT, args=(Var(name=name),)):
                return place, name, Bool(False)
            case Builtin(op=Op.EQ | Op.IFF, args=(left, right)):
                for var, value in ((left, right), (right, left)):
                    if isinstance(var, Var) and not _names(value, var.name) and _total(value):
                        return place, var.name, value
            case Quant(kind="forall", range=bounds):
                premises, claim = split_implication(hypothesis.body)
                guard = conjunction([bounds, *premises])
                if isinstance(claim, Builtin) and claim.op in (Op.EQ, Op.IFF):
                    for call, value in (claim.args, claim.args[::-1]):
                        found = _function(call, value, guard, hypothesis.vars, scope) or _set(
                            call, value, guard, hypothesis.vars, scope, hypotheses
                        )
                        if found is not None:
                            return place, *found
    return None


def _function(call: Term, value: Term, guard: Term, bound: tuple[Var, ...], scope: Scope) -> tuple[str, Term] | None:
    """The function that f is by `forall bound | guard :: f(bound) == value`: elsewhere it is any other function."""
    match call:
        case Invoke(function=Var(name=name, sort=FunctionOf() as sort), args=args):
            params = [arg for arg in args if isinstance(arg, Var)]
        case _:
            return None
    if len({p.name for p in params}) != len(args) or {p.name for p in params} != {v.name for v in bound}:
        return None
    if any(_names(part, name) or not _total(part) for part in (value, guard)):
        return None
    own = {v.name: v for v in bound}
    naturals = [v for v in bound if v.sort == NAT]
    if any(v.sort not in (BOOL, INT, NAT, REAL) for v in bound):
        return None
    new = tuple(scope.fresh(p.name, d) for p, d in zip(params, sort.params, strict=True))
    renaming: dict[str, Term] = {p.name: n for p, n in zip(params, new, strict=True)}
    guard = conjunction([*(Builtin(Op.LE, (Int(0), own[v.name]), BOOL) for v in naturals), guard])
    body = substitute(value, renaming)
    if guard != Bool(True):
        other = Invoke(scope.fresh(name, sort), new, sort.result)
        body = Builtin(Op.ITE, (substitute(guard, renaming), body, other), sort.result)
    return name, Lambda(new, body, sort)


def _set(
    call: Term, value: Term, guard: Term, bound: tuple[Var, ...], scope: Scope, hypotheses: list[Term]
) -> tuple[str, Term] | None:
    """The set that S is by `forall x | guard :: x in S <==> value`: elsewhere it is any other set."""
    match call:
        case Builtin(op=Op.IN, args=(Var(name=item), Var(name=name, sort=SetOf() as sort) as whole)):
            pass
        case _:
            return None
    if len(bound) != 1 or bound[0].name != item or bound[0].sort not in (INT, NAT, REAL):
        return None
    if any(_names(part, name) or not _total(part) for part in (value, guard)):
        return None
    if bound[0].sort == NAT:
        guard = conjunction([Builtin(Op.LE, (Int(0), bound[0]), BOOL), guard])
    new = scope.fresh(item, sort.element)
    renaming: dict[str, Term] = {item: new}
    inside = substitute(value, renaming)
    natural = Builtin(Op.LE, (Int(0), new), BOOL)
    if substitute(guard, renaming) == natural and any(_natural(h, whole) for h in hypotheses):
        inside = conjunction([natural, inside])
    elif guard != Bool(True):
        other = Builtin(Op.IN, (new, scope.fresh(whole.name, sort)), BOOL)
        inside = Builtin(Op.ITE, (substitute(guard, renaming), inside, other), BOOL)
    return name, SetComp((new,), inside, new, sort)


def _natural(hypothesis: Term, whole: Var) -> bool:
    """The hypothesis says that all members of the set `whole` are natural numbers."""
    match hypothesis:
        case Quant(kind="forall", vars=(var,), range=bounds, body=body):
            premises, claim = split_implication(body)
            inside = Builtin(Op.IN, (var, whole), BOOL)
            return [*flat(bounds), *premises] == [inside] and claim == Builtin(Op.LE, (Int(0), var), BOOL)
    return False


def _total(value: Term) -> bool:
    """May be copied: nothing in it is chosen anew each time it is written."""
    return not any(isinstance(node, Choose | FunctionValue) for node in subnodes(value))
