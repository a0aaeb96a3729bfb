"""General hypotheses at the terms at hand.

A hypothesis `forall x :: ...` is put in at the terms that its own calls meet in the question: where it says something
of `f(x + 1)` and the question has `f(t)`, x is t - 1. Where no call holds all its variables, they go through the
question's arguments of the right type and a few small numbers. The instances follow from the hypotheses; with them the
general hypotheses are often not needed any more.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import islice, product

from maxproof.formal.embedded.core import (
    BOOL,
    INT,
    NAT,
    REAL,
    Bool,
    Builtin,
    Call,
    CoreProgram,
    Int,
    Invoke,
    Op,
    Quant,
    Real,
    Sort,
    Term,
    Var,
)
from maxproof.formal.embedded.core.walk import (
    binders,
    children,
    conjunction,
    free_variables,
    subnodes,
    substitute,
    transform,
)
from maxproof.formal.embedded.encode.fold import flat, fold, split_implication
from maxproof.formal.embedded.encode.simplify import Simplifier
from maxproof.formal.embedded.encode.sorts import constraint

PER_ROUND = 60  # instances of one hypothesis in one round
ALL = 240  # instances in all
NODES = 8_000  # of all instances
SEARCHED = 150  # natural numbers that conditions are tried at
LEAST = 3  # of them that are put in
LONGEST = 60  # nodes of a term that is put in

Application = Invoke | Call | Builtin


def instances(
    terms: Iterable[Term], core: CoreProgram, simplify: Simplifier, rounds: int, wide: bool = False
) -> list[Term]:
    """Instances of the top-level `forall`s among `terms`; with `wide`, at small numbers and arguments too."""
    known = list(terms)
    general = [term for term in known if isinstance(term, Quant) and term.kind == "forall"]
    least = [_least(claim, simplify) for claim in general]
    made: list[Term] = []
    room = NODES
    seen: set[tuple[int, tuple[Term, ...]]] = set()
    for _ in range(rounds):
        ground = applications([*known, *made])
        values = _arguments(ground)
        new: list[Term] = []
        for place, claim in enumerate(general):
            found = [*least[place], *_matches(claim, ground)]
            if wide or not found:
                found = [*found, *_wide(claim, values, wide)]
            count = 0
            for mapping in found:
                key = (place, tuple(mapping[v.name] for v in claim.vars))
                if count >= PER_ROUND or len(made) + len(new) >= ALL or room < 0:
                    break
                if key in seen or any(_long(value) for value in mapping.values()):
                    continue
                seen.add(key)
                count += 1
                guards = [constraint(mapping[v.name], v.sort, core) for v in claim.vars]
                bounds = conjunction([*guards, substitute(claim.range, mapping)])
                instance = simplify(Builtin(Op.IMPLIES, (bounds, substitute(claim.body, mapping)), BOOL))
                room -= sum(1 for _ in subnodes(instance))
                new += [part for part in flat(instance) if part != Bool(True)]
        made += new
        if not new or len(made) >= ALL or room < 0:
            break
    return made


def applications(terms: Iterable[Term]) -> list[Application]:
    """Calls, memberships and items of sequences that depend on no bound variable, each once."""
    found: dict[Application, None] = {}
    for term in terms:
        _collect(term, frozenset(), found)
    return list(found)


def _collect(term: Term, bound: frozenset[str], found: dict[Application, None]) -> tuple[bool, int]:
    """Whether `term` mentions no variable of `bound`, and its nodes."""
    if isinstance(term, Var):
        return term.name not in bound, 1
    own = binders(term)
    inner = bound.union(v.name for v in own) if own else bound
    free, nodes = True, 1
    for part in children(term):
        part_free, part_nodes = _collect(part, inner, found)  # type: ignore[arg-type]
        free, nodes = free and part_free, nodes + part_nodes
    if own:
        free = bound.isdisjoint(v.name for v in free_variables(term))
    if free and nodes <= LONGEST and _is_application(term):
        found.setdefault(term)  # type: ignore[arg-type]
    return free, nodes


def _is_application(term: Term) -> bool:
    match term:
        case Invoke() | Call():
            return True
        case Builtin(op=Op.IN | Op.AT | Op.MOD):
            return True
    return False


def _head(term: Application) -> object:
    match term:
        case Invoke(function=function):
            return ("invoke", function, len(term.args))
        case Call(name=name):
            return ("call", name)
        case Builtin(op=Op.IN, args=(_, whole)):
            return ("in", whole)
        case Builtin(op=Op.MOD, args=(_, divisor)):
            return ("mod", divisor)
    return ("at", term.args[0])


def _inputs(term: Application) -> tuple[Term, ...]:
    match term:
        case Builtin(op=Op.IN | Op.MOD, args=(item, _)):
            return (item,)
        case Builtin(op=Op.AT, args=(_, index)):
            return (index,)
    return term.args


def _matches(claim: Quant, ground: list[Application]) -> list[dict[str, Term]]:
    """Values of the claim's variables at which its calls meet `ground`."""
    names = {v.name: v.sort for v in claim.vars}
    patterns = _patterns(claim, names)
    found: list[dict[str, Term]] = []
    whole = [p for p in patterns if names.keys() <= {v.name for v in free_variables(p)}]
    for pattern in whole:
        for term in ground:
            mapping = _match(pattern, term, names, {})
            if mapping is not None:
                found.append(mapping)
    if whole or len(claim.vars) == 1:
        return found
    partial: list[dict[str, Term]] = [{}]
    for pattern in patterns:
        grown: list[dict[str, Term]] = []
        for mapping in partial:
            if {v.name for v in free_variables(pattern)} & names.keys() <= mapping.keys():
                grown.append(mapping)
                continue
            for term in ground:
                extended = _match(pattern, term, names, mapping)
                if extended is not None:
                    grown.append(extended)
        partial = grown[:PER_ROUND]
        if partial and all(m.keys() == names.keys() for m in partial):
            break
    return [m for m in partial if m.keys() == names.keys()]


def _patterns(claim: Quant, names: dict[str, Sort]) -> list[Application]:
    """Calls in the claim whose arguments are simple in its variables."""
    found: dict[Application, None] = {}
    pending: list[Term] = [claim.range, claim.body]
    while pending:
        top = pending.pop()
        if isinstance(top, Quant):
            continue
        if _is_application(top):
            used = {v.name for v in free_variables(top)}
            head = top.function if isinstance(top, Invoke) else Bool(True)
            if used & names.keys() and not {v.name for v in free_variables(head)} & names.keys():
                found.setdefault(top)  # type: ignore[arg-type]
        pending += children(top)  # type: ignore[arg-type]
    return list(found)


def _match(
    pattern: Application, term: Application, names: dict[str, Sort], given: dict[str, Term]
) -> dict[str, Term] | None:
    if _head(pattern) != _head(term):
        return None
    mapping = dict(given)
    for wanted, value in zip(_inputs(pattern), _inputs(term), strict=True):
        if mapping and not isinstance(wanted, Var):
            wanted = _folded(substitute(wanted, mapping))
        open_names = {name: sort for name, sort in names.items() if name not in mapping or isinstance(wanted, Var)}
        solved = _solve(wanted, value, open_names, mapping)
        if not solved:
            return None
    return mapping


def _long(term: Term) -> bool:
    return next(islice(subnodes(term), LONGEST, None), None) is not None


def _folded(term: Term) -> Term:
    return transform(term, lambda part: fold(part) if isinstance(part, Builtin) else part)


def _solve(wanted: Term, value: Term, names: dict[str, Sort], mapping: dict[str, Term]) -> bool:
    """Extends `mapping` so that `wanted` under it equals `value`; False where that isn't seen."""
    used = [v.name for v in free_variables(wanted) if v.name in names]
    if not used:
        return wanted == value
    match wanted:
        case Var(name=name):
            if name in mapping:
                return mapping[name] == value
            mapping[name] = value
            return True
        case Builtin(op=Op.ADD | Op.SUB | Op.MUL as op, args=(left, right), sort=sort) if sort in (INT, NAT, REAL):
            left_used = any(v.name in names for v in free_variables(left))
            right_used = any(v.name in names for v in free_variables(right))
            if left_used and right_used:
                return False
            inner, other = (left, right) if left_used else (right, left)
            plain = INT if sort == NAT else sort
            match op:
                case Op.ADD:
                    return _solve(inner, fold(Builtin(Op.SUB, (value, other), plain)), names, mapping)
                case Op.SUB if left_used:
                    return _solve(inner, fold(Builtin(Op.ADD, (value, other), plain)), names, mapping)
                case Op.SUB:
                    return _solve(inner, fold(Builtin(Op.SUB, (other, value), plain)), names, mapping)
            if isinstance(other, Real) and other.value != 0:
                return _solve(inner, fold(Builtin(Op.MUL, (value, Real(1 / other.value)), plain)), names, mapping)
            if isinstance(other, Int) and isinstance(value, Int) and other.value and value.value % other.value == 0:
                return _solve(inner, Int(value.value // other.value), names, mapping)
        case Builtin(op=Op.DIV, args=(inner, Real(value=divisor)), sort=sort) if sort == REAL and divisor != 0:
            return _solve(inner, fold(Builtin(Op.MUL, (value, Real(divisor)), REAL)), names, mapping)
    return False


def _arguments(ground: list[Application]) -> dict[Sort, list[Term]]:
    """What the question applies functions to, by sort."""
    found: dict[Sort, dict[Term, None]] = {}
    for term in ground:
        for value in _inputs(term):
            sort = INT if value.sort == NAT else value.sort
            found.setdefault(sort, {}).setdefault(value)
    return {sort: list(values) for sort, values in found.items()}


def _least(claim: Quant, simplify: Simplifier) -> list[dict[str, Term]]:
    """The first natural numbers that meet what the claim asks of its one whole variable, where that can be computed:
    a claim on all of some kind of number (`u` is least among them) is mostly needed there."""
    if len(claim.vars) != 1 or claim.vars[0].sort not in (INT, NAT):
        return []
    name = claim.vars[0].name
    conditions = [*flat(claim.range), *split_implication(claim.body)[0]]
    own = [c for c in conditions if {v.name for v in free_variables(c)} == {name}]
    if not any(isinstance(node, Builtin) and node.op is Op.MOD for c in own for node in subnodes(c)):
        return []
    found: list[dict[str, Term]] = []
    for value in range(SEARCHED):
        mapping: dict[str, Term] = {name: Int(value)}
        if all(simplify(substitute(c, mapping)) == Bool(True) for c in own):
            found.append(mapping)
            if len(found) == LEAST:
                break
    return found


def _wide(claim: Quant, values: dict[Sort, list[Term]], wide: bool) -> list[dict[str, Term]]:
    choices: list[list[Term]] = []
    for var in claim.vars:
        sort = INT if var.sort == NAT else var.sort
        own = values.get(sort, [])[:8]
        if wide and sort == INT:
            own = [*own, *(Int(i) for i in (0, 1, 2, -1))]
        elif wide and sort == REAL:
            own = [*own, *(Real(Fraction(i)) for i in (0, 1, -1, 2))]
        if not own:
            return []
        choices.append(list(dict.fromkeys(own)))
    combined = islice(product(*choices), PER_ROUND)
    return [{v.name: value for v, value in zip(claim.vars, combination, strict=True)} for combination in combined]
