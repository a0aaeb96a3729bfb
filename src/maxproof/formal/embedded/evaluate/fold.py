"""Terms made simpler by what can be computed in them, before a solver sees them.

Closed computable parts become literals; sums, products, quantifiers and cardinalities over few constant values become
explicit; membership in what is described becomes the description. Each step keeps the meaning in every reading where
all operators are total, so that well-formedness is not for folding to judge: what is undefined stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import cast

from maxproof.formal.embedded.core import (
    BOOL,
    INT,
    NAT,
    Bool,
    Builtin,
    Call,
    Construct,
    CoreConstructor,
    CoreProgram,
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
    SetComp,
    Term,
    Var,
)
from maxproof.formal.embedded.core.walk import (
    binders,
    children,
    conjunction,
    disjunction,
    rebuild,
    subnodes,
    substitute,
)
from maxproof.formal.embedded.evaluate.domains import antecedents, facts
from maxproof.formal.embedded.evaluate.evaluator import Budget, Data, Evaluator, NotComputable, Value
from maxproof.formal.embedded.evaluate.values import restricted, value_term

FOLD_BUDGET = Budget(steps=1_000_000)
INSTANCES = 32  # of a quantifier's body, at most
SUMMANDS = 64
ELEMENTS = 64  # of a set or sequence that is written out
LITERAL_BITS = 4096
NODES = 20_000  # that explicit sums and instances may add
SMALL = 12  # nodes of a term that may be copied

NOTHING: frozenset[str] = frozenset()


def fold(term: Term, core: CoreProgram, budget: Budget = FOLD_BUDGET) -> Term:
    """`term`, or a simpler one of the same meaning. `budget.steps` is for all of it, a quarter at most for one part.

    Statements in front of expressions (`Proved`) are dropped: they have obligations of their own.
    """
    return Folder(core, budget).fold(term)


@dataclass(frozen=True, slots=True)
class Folded:
    """A folded term, its free variables, and whether it is a literal (or a display of literals)."""

    term: Term
    free: frozenset[str]
    literal: bool = False


class Folder:
    """Folds any number of terms of one program, from one budget."""

    def __init__(self, core: CoreProgram, budget: Budget = FOLD_BUDGET) -> None:
        self._core = core
        self._evaluator = Evaluator(core)
        self._budget = budget
        self._steps = budget.steps
        self._nodes = NODES

    def fold(self, term: Term) -> Term:
        """As the function `fold`."""
        try:
            return self._fold(term).term
        except RecursionError:
            return term

    def _fold(self, term: Term) -> Folded:
        match term:
            case Int() | Real() | Bool():
                return Folded(term, NOTHING, literal=True)
            case Var(name=name):
                return Folded(term, frozenset((name,)))
            case Proved():
                return self._fold(term.value)
            case Builtin(op=Op.IN, args=(item, members)) if (described := self._membership(item, members)) is not None:
                return self._fold(described)
        folded = self._parts(term)
        simpler = self._simplified(folded)
        if simpler is not None:
            return simpler
        if not folded.free and not folded.literal and not isinstance(folded.term.sort, FunctionOf):
            literal = self._literal(folded.term)
            if literal is not None:
                return Folded(literal, NOTHING, literal=True)
        explicit = self._explicit(folded.term)
        return folded if explicit is None else self._fold(explicit)

    def _parts(self, term: Term) -> Folded:
        """`term` with folded children."""
        own = frozenset(var.name for var in binders(term))
        if isinstance(term, Quant):  # triggers must match what the user wrote
            limits, body = self._fold(term.range), self._fold(term.body)
            if limits.term is not term.range or body.term is not term.body:
                term = replace(term, range=limits.term, body=body.term)
            return Folded(term, (limits.free | body.free) - own)
        parts = [self._fold(cast(Term, part)) for part in children(term)]
        if any(new.term is not old for new, old in zip(parts, children(term), strict=True)):
            term = cast(Term, rebuild(term, [part.term for part in parts]))
        if isinstance(term, Let):
            return Folded(term, parts[0].free | (parts[1].free - own))
        free = NOTHING.union(*(part.free for part in parts)) - own
        display = isinstance(term, Construct) or (isinstance(term, Builtin) and term.op in (Op.SEQ, Op.TUPLE))
        return Folded(term, free, literal=display and all(part.literal for part in parts))

    # Evaluation

    def _allowance(self) -> Budget:
        return replace(self._budget, steps=min(self._steps, self._budget.steps // 4))

    def _spent(self, allowed: Budget) -> None:
        self._steps -= allowed.steps - max(self._evaluator.meter.steps, 0)

    def _literal(self, term: Term) -> Term | None:
        """The literal for a closed term, if it can be computed and isn't too long."""
        allowed = self._allowance()
        try:
            value = self._evaluator.expression(term, ()).value((), allowed)
            if not _short(value):
                return None
            return value_term(value, term.sort, self._core)
        except NotComputable:
            return None
        finally:
            self._spent(allowed)

    def _candidates(self, unknowns: Sequence[Var], conditions: Sequence[Term]) -> list[tuple[Value, ...]] | None:
        """The values that the variables can have, if the conditions allow few and all."""
        allowed = self._allowance()
        try:
            return self._evaluator.candidates(unknowns, conditions, allowed, INSTANCES)
        except NotComputable:
            return None
        finally:
            self._spent(allowed)

    def _instances(self, unknowns: Sequence[Var], conditions: Sequence[Term], body: Term) -> list[Term] | None:
        """`body` for each of the candidates."""
        if any(isinstance(var.sort, FunctionOf) for var in unknowns):
            return None
        found = self._candidates(unknowns, conditions)
        if found is None or not self._room(len(found) * _size(body)):
            return None
        names = [var.name for var in unknowns]
        sorts = [var.sort for var in unknowns]
        literals = [
            [value_term(value, sort, self._core) for value, sort in zip(values, sorts, strict=True)] for values in found
        ]
        return [substitute(body, dict(zip(names, values, strict=True))) for values in literals]

    def _room(self, nodes: int) -> bool:
        """Takes room for new nodes, if there is enough."""
        if nodes > self._nodes:
            return False
        self._nodes -= nodes
        return True

    # Simplification

    def _simplified(self, folded: Folded) -> Folded | None:
        """A smaller term that needs no evaluation; None where there is none."""
        match folded.term:
            case Builtin(op=Op.AND | Op.OR as op, args=args):
                return self._connective(folded, op, args)
            case Builtin(op=Op.IMPLIES, args=(left, right)):
                match left, right:
                    case Bool(value=True), _:
                        return replace(folded, term=right, literal=isinstance(right, Bool))
                    case (Bool(value=False), _) | (_, Bool(value=True)):
                        return Folded(Bool(True), NOTHING, literal=True)
            case Builtin(op=Op.NOT, args=(Builtin(op=Op.NOT, args=(inner,)),)):
                return replace(folded, term=inner)
            case Builtin(op=Op.ITE, args=(Bool(value=test), then, other)):
                return self._fold(then if test else other)
            case Builtin(op=Op.CARD, args=(Builtin(op=Op.SEQ, args=items),)):
                return Folded(Int(len(items)), NOTHING, literal=True)
            case Quant(body=Bool(value=value), kind=kind) if value == (kind == "forall"):
                return Folded(Bool(value), NOTHING, literal=True)
            case Quant(range=Bool(value=False), kind=kind):
                return Folded(Bool(kind == "forall"), NOTHING, literal=True)
            case Let(var=var, value=value, body=body) if isinstance(value, Var) or not children(value):
                return self._fold(substitute(body, {var.name: value}))
            case Field(value=Construct() as made, name=name):
                for constructor in self._constructors():
                    if constructor.name == made.constructor:
                        fields = [field for field, _ in constructor.fields]
                        return self._fold(made.args[fields.index(name)]) if name in fields else None
            case Field(value=Builtin(op=Op.TUPLE, args=items), name=name):
                return self._fold(items[int(name)])
            case Is(value=Construct(constructor=made), constructor=name):
                return Folded(Bool(made == name), NOTHING, literal=True)
            case Invoke(function=FunctionValue(name=name), args=args):
                return self._fold(Call(name, args, folded.term.sort, at=folded.term.at))
            case Invoke(function=Lambda(requires=Bool(value=True)) as function, args=args):
                if all(_size(arg) <= SMALL for arg in args) and self._room(_size(function.body)):
                    names = [var.name for var in function.params]
                    return self._fold(substitute(function.body, dict(zip(names, args, strict=True))))
        return None

    def _constructors(self) -> list[CoreConstructor]:
        return [made for data in self._core.datatypes.values() for made in data.constructors]

    def _connective(self, folded: Folded, op: Op, args: Sequence[Term]) -> Folded | None:
        decisive = op is Op.OR
        if any(isinstance(arg, Bool) and arg.value is decisive for arg in args):
            return Folded(Bool(decisive), NOTHING, literal=True)
        if any(isinstance(arg, Bool) or (isinstance(arg, Builtin) and arg.op is op) for arg in args):
            joined = (disjunction if decisive else conjunction)(args)
            return replace(folded, term=joined, literal=isinstance(joined, Bool))
        return None

    def _membership(self, item: Term, members: Term) -> Term | None:
        """`item in members` without the set, where it is described or written out."""
        match members:
            case SetComp(vars=(var,), range=limits, term=Var(name=name)) if (
                name == var.name and _size(item) <= SMALL and (var.sort == NAT or not restricted(var.sort))
            ):
                natural = [Builtin(Op.LE, (Int(0), item), BOOL)] if var.sort == NAT and item.sort != NAT else []
                return conjunction([*natural, substitute(limits, {name: item})])
            case Builtin(op=Op.UNION | Op.INTERSECT | Op.MINUS as op, args=(left, right)) if _size(item) <= SMALL:
                in_left = Builtin(Op.IN, (item, left), BOOL)
                in_right = Builtin(Op.IN, (item, right), BOOL)
                if op is Op.UNION:
                    return disjunction([in_left, in_right])
                outside = Builtin(Op.NOT, (in_right,), BOOL)
                return conjunction([in_left, in_right if op is Op.INTERSECT else outside])
            case Builtin(op=Op.SET | Op.SEQ, args=items) if _size(item) <= SMALL and len(items) <= ELEMENTS:
                return disjunction([Builtin(Op.EQ, (item, one), BOOL) for one in items])
        return None

    # Making explicit

    def _explicit(self, term: Term) -> Term | None:
        """Sums, products, quantifiers and cardinalities over few constants, written out."""
        match term:
            case Builtin(op=Op.IN, args=(item, members)):
                return self._membership(item, members)
            case Quant(kind="forall", range=limits, body=body):
                whole = body if limits == Bool(True) else Builtin(Op.IMPLIES, (limits, body), BOOL)
                instances = self._instances(term.vars, [*facts(limits), *antecedents(body)], whole)
                return None if instances is None else conjunction(instances)
            case Quant(kind="exists", range=limits, body=body):
                instances = self._instances(term.vars, [*facts(limits), *facts(body)], conjunction([limits, body]))
                return None if instances is None else disjunction(instances)
            case Builtin(op=Op.CARD, args=(SetComp(vars=(var,), range=limits, term=Var(name=name)),)) if (
                name == var.name
            ):
                instances = self._instances((var,), facts(limits), limits)
                if instances is None:
                    return None
                counted = [Builtin(Op.ITE, (one, Int(1), Int(0)), INT) for one in instances]
                return _chained(counted, lambda x, y: Builtin(Op.ADD, (x, y), INT), Int(0))
            case Call():
                return self._sum(term)
        return None

    def _sum(self, term: Call) -> Term | None:
        if term.name not in SUMS or not self._evaluator.native(term.name):
            return None
        if term.name == "csum" and not self._evaluator.native("cadd"):
            return None
        op, empty = SUMS[term.name]
        items = _written_out(term.args[0]) if len(term.args) == 2 else _range(term.args[0], term.args[1])
        function = term.args[-1]
        if items is None or not self._room(len(items) * (_size(function) + 1)):
            return None
        if isinstance(function, Lambda) and function.requires != Bool(True):
            return None
        summands: list[Term] = [Invoke(function, (item,), term.sort) for item in items]
        if op is None:
            return _chained(summands, lambda x, y: Call("cadd", (x, y), term.sort), empty)
        return _chained(summands, lambda x, y: Builtin(op, (x, y), term.sort), empty)


# The prelude's sums and products by their operator, None for complex addition, and their value over nothing.
SUMS: Mapping[str, tuple[Op | None, Term]] = {
    "isum": (Op.ADD, Int(0)),
    "set_isum": (Op.ADD, Int(0)),
    "iprod": (Op.MUL, Int(1)),
    "set_iprod": (Op.MUL, Int(1)),
    "rsum": (Op.ADD, Real(Fraction(0))),
    "set_rsum": (Op.ADD, Real(Fraction(0))),
    "rset_rsum": (Op.ADD, Real(Fraction(0))),
    "rprod": (Op.MUL, Real(Fraction(1))),
    "set_rprod": (Op.MUL, Real(Fraction(1))),
    "rset_rprod": (Op.MUL, Real(Fraction(1))),
    "csum": (None, Construct("Complex", (Real(Fraction(0)), Real(Fraction(0))), DataOf("complex"))),
}


def _range(low: Term, high: Term) -> list[Term] | None:
    """The numbers low <= k < high as literals, if they are constant and few."""
    if not (isinstance(low, Int) and isinstance(high, Int)) or high.value - low.value > SUMMANDS:
        return None
    return [Int(k) for k in range(low.value, high.value)]


def _written_out(items: Term) -> tuple[Term, ...] | None:
    """The elements of a display of different literals."""
    if not (isinstance(items, Builtin) and items.op is Op.SET) or len(items.args) > SUMMANDS:
        return None
    if not all(isinstance(item, Int | Real) for item in items.args) or len(set(items.args)) < len(items.args):
        return None
    return items.args


def _chained(parts: Sequence[Term], join: Callable[[Term, Term], Term], empty: Term) -> Term:
    if not parts:
        return empty
    total = parts[0]
    for part in parts[1:]:
        total = join(total, part)
    return total


def _size(term: Term) -> int:
    return sum(1 for _ in subnodes(term))


def _short(value: Value) -> bool:
    """Whether a value may be written out in a term."""
    match value:
        case bool():
            return True
        case int():
            return value.bit_length() <= LITERAL_BITS
        case Fraction():
            return value.numerator.bit_length() + value.denominator.bit_length() <= LITERAL_BITS
        case Data(_, fields):
            return all(map(_short, fields))
        case frozenset() | tuple():
            return len(value) <= ELEMENTS and all(map(_short, value))
    return False
