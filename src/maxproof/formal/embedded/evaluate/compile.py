"""Terms as nested Python closures over a frame of variables: the inside of exact evaluation.

`Code` takes a frame (a list with a slot for each variable) and gives the value. Bound variables get slots of their own;
a lambda runs in a copy of the frame it was made in. Loops and calls pay the size of their body to the meter; calls also
pay its height in stack frames, so that no recursion reaches Python's limit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from maxproof.formal.embedded.core import (
    NAT,
    Bool,
    Builtin,
    Call,
    Choose,
    Construct,
    CoreProgram,
    DataOf,
    Field,
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
    SetOf,
    Term,
    TupleOf,
    Var,
)
from maxproof.formal.embedded.evaluate.control import connective, described, field, let, power_remainder, refuse, search
from maxproof.formal.embedded.evaluate.domains import Code, Domain, antecedents, facts
from maxproof.formal.embedded.evaluate.operators import chain, operator
from maxproof.formal.embedded.evaluate.roots import comparison, floor_of_root, has_root, signed_square
from maxproof.formal.embedded.evaluate.values import (
    Data,
    Function,
    Meter,
    NotComputable,
    OutOfBudget,
    Undefined,
    Value,
    has_functions,
)

MAX_LEVEL = 300  # of nesting in one term; a level takes up to five stack frames when compiled and two when run


class Functions(Protocol):
    """The declared functions, as calls need them."""

    def call(self, name: str) -> Callable[[tuple[Value, ...]], Value]: ...

    def native(self, name: str) -> bool: ...


@dataclass(slots=True)
class Layout:
    """The frame that is being laid out: slots so far, deepest nesting so far, nodes compiled."""

    slots: int = 0
    level: int = 0
    deepest: int = 0
    size: int = 0


class Compiler:
    """Compiles terms of one declaration (or one expression). `slots` tells where the variables in scope stand."""

    def __init__(self, core: CoreProgram, functions: Functions, meter: Meter, layout: Layout) -> None:
        self.core = core
        self.functions = functions
        self.meter = meter
        self.layout = layout

    def code(self, term: Term, slots: Mapping[str, int]) -> Code:
        """Raises NotComputable for a term that is nested too deeply."""
        layout = self.layout
        layout.size += 1
        layout.level += 1
        layout.deepest = max(layout.deepest, layout.level)
        if layout.level > MAX_LEVEL:
            raise OutOfBudget("nested too deeply")
        try:
            return self._code(term, slots)
        finally:
            layout.level -= 1

    def _code(self, term: Term, slots: Mapping[str, int]) -> Code:
        match term:
            case Var():
                return self._variable(term, slots)
            case Int() | Real() | Bool():
                value = term.value
                return lambda frame: value
            case Builtin():
                return self._builtin(term, slots)
            case Call():
                return self._call(term, slots)
            case Quant():
                return self._quantifier(term, slots)
            case SetComp():
                return self._comprehension(term, slots)
            case Let():
                value_code = self.code(term.value, slots)
                slot, body = self._bound((term.var,), slots, term.body)
                return let(value_code, slot[0], body)
            case Choose():
                return self._choose(term, slots)
            case Lambda():
                return self._lambda(term, slots)
            case Invoke():
                function = self.code(term.function, slots)
                codes = [self.code(arg, slots) for arg in term.args]
                return lambda frame: function(frame).apply(tuple([code(frame) for code in codes]))
            case FunctionValue():
                made = Function(self.functions.call(term.name), term.name)
                return lambda frame: made
            case Construct():
                name, parts = term.constructor, [self.code(arg, slots) for arg in term.args]
                return lambda frame: Data(name, tuple([part(frame) for part in parts]))
            case Field():
                return self._field(term, slots)
            case Is():
                inner, wanted = self.code(term.value, slots), term.constructor
                return lambda frame: inner(frame).constructor == wanted
            case Proved():
                return self.code(term.value, slots)

    def _variable(self, term: Var, slots: Mapping[str, int]) -> Code:
        slot = slots.get(term.name)
        if slot is None:
            return refuse(f"free variable {term.name}")
        return lambda frame: frame[slot]

    def _bound(self, new: Sequence[Var], slots: Mapping[str, int], body: Term) -> tuple[list[int], Code]:
        own, inner = self._scope(new, slots)
        return own, self.code(body, inner)

    def _scope(self, new: Sequence[Var], slots: Mapping[str, int]) -> tuple[list[int], dict[str, int]]:
        """Slots for new variables, and the scope that has them."""
        own = list(range(self.layout.slots, self.layout.slots + len(new)))
        self.layout.slots += len(new)
        return own, {**slots, **dict(zip((var.name for var in new), own, strict=True))}

    # Operators

    def _builtin(self, term: Builtin, slots: Mapping[str, int]) -> Code:
        op, args = term.op, term.args
        match op:
            case Op.AND | Op.OR:
                return connective([self.code(arg, slots) for arg in args], stop=op is Op.OR)
            case Op.IMPLIES:
                left, right = self.code(args[0], slots), self.code(args[1], slots)
                return connective([lambda frame: not left(frame), right], stop=True)
            case Op.ITE:
                test, then, other = (self.code(arg, slots) for arg in args)
                return lambda frame: then(frame) if test(frame) else other(frame)
            case Op.EQ | Op.IN | Op.SET | Op.PREFIX if args and has_functions(args[0].sort, self.core):
                return refuse("equality of functions")
            case Op.LT | Op.LE | Op.EQ if any(has_root(arg, self.functions.native) for arg in args):
                return comparison(op, self._signed_square(args[0], slots), self._signed_square(args[1], slots))
            case Op.FLOOR if has_root(args[0], self.functions.native):
                square = self._signed_square(args[0], slots)
                return lambda frame: floor_of_root(square(frame))
            case Op.IN:
                return self._member(self.code(args[0], slots), args[1], slots)
            case Op.MOD if isinstance(args[0], Call) and args[0].name == "ipow" and self.functions.native("ipow"):
                base, exponent = (self.code(arg, slots) for arg in args[0].args)
                return power_remainder(base, exponent, self.code(args[1], slots), self.meter)
            case Op.ADD | Op.MUL | Op.CONCAT | Op.UNION:
                parts = [self.code(arg, slots) for arg in operands(term)]
                return chain(op, term.sort, parts, self.meter)
        return operator(op, args[0].sort if args else term.sort, [self.code(arg, slots) for arg in args], self.meter)

    def _signed_square(self, term: Term, slots: Mapping[str, int]) -> Code:
        return signed_square(term, lambda part: self.code(part, slots), self.functions.native, self.meter)

    def _member(self, item: Code, members: Term, slots: Mapping[str, int]) -> Code:
        """Membership, without the whole set where its description decides it."""
        match members:
            case SetComp(vars=(var,), range=condition, term=Var(name=name)) if name == var.name:
                (slot,), code = self._bound((var,), slots, condition)
                return described(item, slot, code, var.sort)
            case Builtin(op=Op.UNION | Op.INTERSECT | Op.MINUS as op, args=(left, right)):
                in_left, in_right = self._member(item, left, slots), self._member(item, right, slots)
                if op is Op.MINUS:
                    return connective([in_left, lambda frame: not in_right(frame)], stop=False)
                return connective([in_left, in_right], stop=op is Op.UNION)
        code = self.code(members, slots)
        return lambda frame: item(frame) in code(frame)

    def _field(self, term: Field, slots: Mapping[str, int]) -> Code:
        inner = self.code(term.value, slots)
        match term.value.sort:
            case TupleOf():
                place = int(term.name)
                return lambda frame: inner(frame)[place]
            case DataOf(name) if name in self.core.datatypes:
                places = {
                    made.name: [own_name for own_name, _ in made.fields].index(term.name)
                    for made in self.core.datatypes[name].constructors
                    if any(own_name == term.name for own_name, _ in made.fields)
                }
                return field(inner, places)
        return refuse("unknown field")

    # Calls

    def _call(self, term: Call, slots: Mapping[str, int]) -> Code:
        native = self.functions.native
        if term.name in ("floor", "ceil") and native(term.name) and has_root(term.args[0], native):
            square, sign = self._signed_square(term.args[0], slots), 1 if term.name == "floor" else -1
            return lambda frame: sign * floor_of_root(sign * square(frame))
        call = self.functions.call(term.name)
        codes = [self.code(arg, slots) for arg in term.args]
        return lambda frame: call(tuple([code(frame) for code in codes]))

    def _lambda(self, term: Lambda, slots: Mapping[str, int]) -> Code:
        layout, meter = self.layout, self.meter
        size, level, deepest = layout.size, layout.level, layout.deepest
        layout.deepest = level
        own, inner = self._scope(term.params, slots)
        requires = self.code(term.requires, inner)
        body = self.code(term.body, inner)
        naturals = [place for place, var in enumerate(term.params) if var.sort == NAT]
        size, height = layout.size - size, 2 * (layout.deepest - level) + 4
        layout.deepest = max(deepest, layout.deepest)

        def make(frame: list[Any]) -> Function:
            kept = frame.copy()

            def apply(args: tuple[Value, ...]) -> Value:
                meter.spend(size)
                for place in naturals:
                    if args[place] < 0:
                        raise Undefined("a natural number is expected")
                own_frame = kept.copy()
                for slot, arg in zip(own, args, strict=True):
                    own_frame[slot] = arg
                meter.frames -= height
                try:
                    if meter.frames < 0:
                        raise OutOfBudget("calls nested too deeply")
                    if not requires(own_frame):
                        raise Undefined("a function value's precondition")
                    return body(own_frame)
                finally:
                    meter.frames += height

            return Function(apply)

        return make

    # Binders

    def domain(self, unknowns: Sequence[Var], scope: Mapping[str, int], conditions: Sequence[Term]) -> Domain:
        """The candidates for `unknowns`, which are in scope."""
        layout, level = self.layout, self.layout.level

        def compile_later(term: Term) -> Code:
            layout.level = level  # asked for when it runs, with a frame that may be too short by then
            code, size = self.code(term, scope), layout.slots

            def run(frame: list[Any]) -> Value:
                if len(frame) < size:
                    frame.extend([None] * (size - len(frame)))
                return code(frame)

            return run

        own = [scope[var.name] for var in unknowns]
        return Domain(unknowns, own, conditions, compile_later, self.functions.native, self.meter)

    def _quantifier(self, term: Quant, slots: Mapping[str, int]) -> Code:
        size = self.layout.size
        _, scope = self._scope(term.vars, slots)
        condition, body = self.code(term.range, scope), self.code(term.body, scope)
        forall = term.kind == "forall"
        more = antecedents(term.body) if forall else facts(term.body)
        domain = self.domain(term.vars, scope, [*facts(term.range), *more])
        if forall:
            holds = connective([lambda frame: not condition(frame), body], stop=True)
        else:
            holds = connective([condition, body], stop=False)
        return search(domain, holds, self.layout.size - size, self.meter, stop=not forall)

    def _comprehension(self, term: SetComp, slots: Mapping[str, int]) -> Code:
        if isinstance(term.sort, SetOf) and has_functions(term.sort.element, self.core):
            return refuse("a set of functions")
        size, meter = self.layout.size, self.meter
        _, scope = self._scope(term.vars, slots)
        condition, item = self.code(term.range, scope), self.code(term.term, scope)
        domain = self.domain(term.vars, scope, facts(term.range))
        size = self.layout.size - size

        def run(frame: list[Any]) -> Value:
            found = set()
            for _ in domain.assignments(frame):
                meter.spend(size)
                if condition(frame):
                    found.add(item(frame))
            return frozenset(found)

        return run

    def _choose(self, term: Choose, slots: Mapping[str, int]) -> Code:
        """Computable when the choice is unique."""
        meter = self.meter
        own, scope = self._scope(term.vars, slots)
        condition, body = self.code(term.predicate, scope), self.code(term.body, scope)
        domain = self.domain(term.vars, scope, facts(term.predicate))

        def run(frame: list[Any]) -> Value:
            chosen: list[Value] | None = None
            for _ in domain.assignments(frame):
                meter.spend(1)
                if condition(frame):
                    if chosen is not None:
                        raise NotComputable("more than one value to choose from")
                    chosen = [frame[slot] for slot in own]
            if chosen is None:
                raise Undefined("no value to choose")
            for slot, value in zip(own, chosen, strict=True):
                frame[slot] = value
            return body(frame)

        return run


def operands(term: Builtin) -> list[Term]:
    """The operands of a chain of one associative operator, from left to right, however deep it nests to the left."""
    found: list[Term] = []
    top: Term = term
    while isinstance(top, Builtin) and top.op is term.op and top.args:
        found.extend(reversed(top.args[1:]))
        top = top.args[0]
    found.append(top)
    found.reverse()
    return found
