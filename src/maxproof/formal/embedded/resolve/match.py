"""`match`: patterns checked for their datatype, and the expression form lowered to conditionals and lets."""

from __future__ import annotations

from typing import NamedTuple

from maxproof.formal.embedded.core import (
    BOOL,
    Builtin,
    CoreConstructor,
    DataOf,
    Field,
    Is,
    Let,
    Op,
    Term,
    Var,
)
from maxproof.formal.embedded.errors import Unsupported
from maxproof.formal.embedded.resolve.infer import infer
from maxproof.formal.embedded.resolve.scope import Case, Env, Typed, Unit, Version, joined
from maxproof.formal.embedded.resolve.types import Type, Unknown, erase, head, join, show_type
from maxproof.formal.syntax import ast
from maxproof.formal.syntax.ast import Position
from maxproof.problems.errors import nearest


class Pattern(NamedTuple):
    """One case: its constructor (None: any value) and the variables for the fields, with the fields' names."""

    case: ast.MatchCase
    constructor: CoreConstructor | None
    fields: tuple[tuple[str, Version], ...]

    def test(self, value: Term) -> Term | None:
        return None if self.constructor is None else Is(value, self.constructor.name, at=self.case.at)

    def parts(self, value: Term) -> list[tuple[Var, Term]]:
        """The pattern's variables and what they stand for."""
        at = self.case.at
        return [
            (var := version.var(at), Field(value, name, var.sort, at=at))
            for name, version in self.fields
            if version.variable.name != "_"
        ]


def patterns(unit: Unit, type_: Type, cases: tuple[ast.MatchCase, ...], at: Position) -> list[Pattern]:
    """The cases in order, down to the first that takes every value that is left.

    Reports unknown and repeated constructors, wrong numbers of fields, and constructors that no case takes.
    """
    unit.settle()
    type_ = head(type_)
    if not isinstance(type_, DataOf):
        if isinstance(type_, Unknown):
            if not type_.error:
                unit.report("the type of what is matched can't be inferred", at)
            return []
        raise Unsupported(f"match on {show_type(type_)}", at)
    left = {constructor.name: constructor for constructor in unit.signatures.datatypes[type_.name].constructors}
    known = dict(left)
    found: list[Pattern] = []
    for case in cases:
        if not left:
            unit.report("this case is never reached", case.at)
        elif case.constructor == "_":
            found.append(Pattern(case, None, ()))
            left = {}
        elif case.constructor not in known:
            hint = nearest(case.constructor, known)
            unit.report(joined(f"{type_.name} has no constructor {case.constructor}", hint), case.at)
        elif case.constructor not in left:
            unit.report(f"constructor {case.constructor} has a case already", case.at)
        else:
            found.append(_fields(unit, case, left.pop(case.constructor)))
    if left:
        unit.report(f"missing case: {', '.join(left)}", at)
    return found


def _fields(unit: Unit, case: ast.MatchCase, constructor: CoreConstructor) -> Pattern:
    if len(case.binders) != len(constructor.fields):
        unit.report(f"{constructor.name} has {len(constructor.fields)} fields, the case {len(case.binders)}", case.at)
    _, versions = unit.bind({}, case.binders, "local")
    fields = tuple(zip((name for name, _ in constructor.fields), versions, strict=False))
    for (_, version), (_, sort) in zip(fields, constructor.fields, strict=False):
        variable = version.variable
        unit.agree(variable.type, sort, case.at, variable.name)
        if not variable.written:
            variable.sort = sort
    return Pattern(case, constructor, fields)


def _match(unit: Unit, env: Env, expr: ast.MatchExpr, hint: Type | None) -> Typed:
    value = infer(unit, env, expr.value)
    found = patterns(unit, value.type, expr.cases, expr.at)
    bodies: list[Typed] = []
    for pattern in found:
        inner = {**env, **{version.variable.name: version for _, version in pattern.fields}}
        inner.pop("_", None)
        assert not isinstance(pattern.case.body, tuple)
        body = infer(unit, inner, pattern.case.body, hint)
        if bodies:
            unit.agree(body.type, bodies[0].type, pattern.case.body.at, "this case")
        bodies.append(body)
    if not bodies:
        return Typed(Unknown(error=True), lambda: Var("", BOOL))
    name = unit.fresh("match")

    def build() -> Term:
        whole = value.build()
        subject = whole if isinstance(whole, Var) else Var(name, whole.sort, at=expr.at)
        term: Term | None = None
        for pattern, body in zip(reversed(found), reversed(bodies), strict=True):
            part = body.build()
            for var, field in reversed(pattern.parts(subject)):
                part = Let(var, field, part, at=pattern.case.at)
            test = pattern.test(subject)
            if term is None or test is None:
                term = part
            else:
                term = Builtin(Op.ITE, (test, part, term), join(part.sort, term.sort), at=pattern.case.at)
        assert term is not None
        return term if subject is whole else Let(subject, whole, term, at=expr.at)

    return Typed(bodies[0].type if len(bodies) == 1 else erase(bodies[0].type), build)


CASES: dict[type, Case] = {ast.MatchExpr: _match}
