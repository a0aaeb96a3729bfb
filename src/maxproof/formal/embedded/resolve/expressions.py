"""Expressions without variables of their own: literals, names, calls, operators, conditionals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from maxproof.formal.embedded.core import (
    BOOL,
    INT,
    REAL,
    Bool,
    Builtin,
    Call,
    Construct,
    DataOf,
    FunctionOf,
    FunctionValue,
    Int,
    Invoke,
    Op,
    Real,
    Term,
)
from maxproof.formal.embedded.core.walk import conjunction, disjunction
from maxproof.formal.embedded.errors import Unsupported
from maxproof.formal.embedded.resolve.infer import arguments, condition, infer, place
from maxproof.formal.embedded.resolve.members import member
from maxproof.formal.embedded.resolve.operators import (
    arithmetic,
    comparison,
    conversion,
    negation,
    negative,
    relation,
)
from maxproof.formal.embedded.resolve.scope import Case, Env, Typed, Unit, joined
from maxproof.formal.embedded.resolve.types import (
    Type,
    Unknown,
    Variable,
    erase,
    function_of,
    head,
    join,
    mistaken,
    show_type,
    sort_of,
)
from maxproof.formal.syntax import ast
from maxproof.formal.syntax.ast import Position
from maxproof.problems.errors import nearest


def _literal(unit: Unit, env: Env, expr: Any, hint: Type | None) -> Typed:
    at = expr.at
    match expr:
        case ast.IntLiteral(value=value):
            return Typed(INT, lambda: Int(value, at=at))
        case ast.RealLiteral():
            return Typed(REAL, lambda: Real(expr.value, at=at))
        case ast.BoolLiteral():
            return Typed(BOOL, lambda: Bool(expr.value, at=at))
    raise Unsupported("a string", at)


def _name(unit: Unit, env: Env, expr: ast.Name, hint: Type | None) -> Typed:
    version = env.get(expr.name)
    at = expr.at
    if version is not None:
        version.variable.uses += 1
        return Typed(version.variable.type, lambda: version.var(at))
    if expr.name in unit.signatures.constructors:
        return _construct(unit, env, expr.name, None, (), at)
    signature = unit.signatures.callables.get(expr.name)
    if signature is None:
        return _unknown_name(unit, env, expr.name, at)
    if signature.kind == "lemma":
        return unit.mistake(f"{expr.name} is a lemma, not a value", at)
    if not signature.params:
        return unit.mistake(f"{expr.name} is a function: call it, {expr.name}()", at)
    type_ = function_of(signature.params, signature.results[0], not signature.partial)
    return Typed(type_, lambda: FunctionValue(expr.name, type_, at=at))


def _unknown_name(unit: Unit, env: Env, name: str, at: Position) -> Typed:
    return unit.mistake(joined(f"unknown name {name}", nearest(name, [*env, *unit.signatures.names()])), at)


def _apply(unit: Unit, env: Env, expr: ast.Apply, hint: Type | None) -> Typed:
    function, at = expr.function, expr.at
    if isinstance(function, ast.Name) and function.name not in env:
        if function.name in unit.signatures.constructors:
            return _construct(unit, env, function.name, None, expr.args, at)
        signature = unit.signatures.callables.get(function.name)
        if signature is None:
            return _unknown_name(unit, env, function.name, function.at)
        if signature.kind == "lemma":
            return unit.mistake(f"{function.name} is a lemma: call it in a statement", at)
        own = unit.result_call
        if own is not None and own[0] == function.name and _just(env, expr.args, own[1]):
            return Typed(own[2].variable.type, lambda: own[2].var(at))
        args = arguments(unit, env, function.name, signature.params, expr.args, at)
        result = signature.results[0]
        return Typed(result, lambda: Call(function.name, tuple([arg.build() for arg in args]), sort_of(result), at=at))
    if isinstance(function, ast.Member) and _datatype_named(unit, env, function.value):
        return _qualified(unit, env, function, expr.args)
    return _invoke(unit, env, infer(unit, env, function), expr)


def _just(env: Env, args: Sequence[ast.Expr], variables: Sequence[Variable]) -> bool:
    """The arguments are these variables, in order."""
    return len(args) == len(variables) and all(
        isinstance(arg, ast.Name) and arg.name in env and env[arg.name].variable is variable
        for arg, variable in zip(args, variables, strict=True)
    )


def _invoke(unit: Unit, env: Env, function: Typed, expr: ast.Apply) -> Typed:
    unit.settle()
    type_ = head(function.type)
    if isinstance(type_, Unknown):
        result: Type = Unknown(error=type_.error)
        args = [infer(unit, env, arg) for arg in expr.args]
        unit.agree(type_, function_of(tuple([arg.type for arg in args]), result), expr.at)
    elif isinstance(type_, FunctionOf):
        result = type_.result
        args = arguments(unit, env, "this function", type_.params, expr.args, expr.at)
    else:
        return unit.mistake(f"only functions can be called, found {show_type(type_)}", expr.at)

    def build() -> Term:
        value = function.build()
        assert isinstance(value.sort, FunctionOf)
        return Invoke(value, tuple([arg.build() for arg in args]), value.sort.result, at=expr.at)

    return Typed(result, build)


def _datatype_named(unit: Unit, env: Env, expr: ast.Expr) -> bool:
    return isinstance(expr, ast.Name) and expr.name not in env and expr.name in unit.signatures.datatypes


def _qualified(unit: Unit, env: Env, expr: ast.Member, args: Sequence[ast.Expr]) -> Typed:
    """`D.C(args)`."""
    assert isinstance(expr.value, ast.Name)
    return _construct(unit, env, expr.name, expr.value.name, args, expr.at)


def _construct(unit: Unit, env: Env, name: str, owner: str | None, args: Sequence[ast.Expr], at: Position) -> Typed:
    found = [pair for pair in unit.signatures.constructors.get(name, []) if owner in (None, pair[0])]
    if not found:
        return unit.mistake(f"{owner} has no constructor {name}", at)
    if len(found) > 1:
        return unit.mistake(f"{name} is a constructor of several datatypes: write {found[0][0]}.{name}", at)
    datatype, constructor = found[0]
    built = arguments(unit, env, name, [sort for _, sort in constructor.fields], args, at)
    sort = DataOf(datatype)
    return Typed(sort, lambda: Construct(name, tuple([arg.build() for arg in built]), sort, at=at))


def _member(unit: Unit, env: Env, expr: ast.Member, hint: Type | None) -> Typed:
    if _datatype_named(unit, env, expr.value):
        return _qualified(unit, env, expr, ())
    return member(unit, infer(unit, env, expr.value), expr.name, expr.at)


def _unary(unit: Unit, env: Env, expr: ast.Unary, hint: Type | None) -> Typed:
    if expr.op == "!":
        return negation(condition(unit, env, expr.operand, "the operand of !"), expr.at)
    place(env, expr.operand, "loose")
    return negative(unit, infer(unit, env, expr.operand), expr.at)


def _binary(unit: Unit, env: Env, expr: ast.Binary, hint: Type | None) -> Typed:
    op, at = expr.op, expr.at
    if op in ("&&", "||"):
        operands = [condition(unit, env, part, f"an operand of {op}") for part in _flat(expr, op)]
        join_terms: Callable[[list[Term]], Term] = conjunction if op == "&&" else disjunction
        return Typed(BOOL, lambda: join_terms([operand.build() for operand in operands]))
    left = infer(unit, env, expr.left, hint)
    right = infer(unit, env, expr.right, hint)
    if op in ("==>", "<==", "<==>"):
        return relation(unit, op, left, right, at)
    for side in (expr.left, expr.right):
        place(env, side, "loose")
    return arithmetic(unit, op, left, right, at)


def _flat(expr: ast.Expr, op: str) -> list[ast.Expr]:
    """The operands of a chain of one associative connective, in order, however it was put in parentheses."""
    operands: list[ast.Expr] = []
    pending = [expr]
    while pending:
        top = pending.pop()
        if isinstance(top, ast.Binary) and top.op == op:
            pending.extend((top.right, top.left))
        else:
            operands.append(top)
    return operands


def _comparison(unit: Unit, env: Env, expr: ast.Comparison, hint: Type | None) -> Typed:
    with unit.copied(2 if len(expr.ops) > 1 or "<" in expr.ops else 1):
        operands = [infer(unit, env, operand) for operand in expr.operands]
    for number, operand in enumerate(expr.operands):
        place(env, operand, "loose" if _ordered_by_value(expr, number) else "neutral")
    return comparison(unit, expr.ops, operands, expr.at)


def _ordered_by_value(expr: ast.Comparison, number: int) -> bool:
    """The operand is compared by size with something else than a literal."""
    neighbours = [(expr.ops[at], expr.operands[other]) for at, other in _neighbours(expr, number)]
    return any(op in _ORDER and not _literal_number(other) for op, other in neighbours)


def _neighbours(expr: ast.Comparison, number: int) -> list[tuple[int, int]]:
    """Relation and operand on either side."""
    before = [(number - 1, number - 1)] if number > 0 else []
    return before + ([(number, number + 1)] if number < len(expr.ops) else [])


def _literal_number(expr: ast.Expr) -> bool:
    if isinstance(expr, ast.Unary):
        expr = expr.operand
    return isinstance(expr, ast.IntLiteral)


_ORDER = ("<", "<=", ">", ">=")


def _if(unit: Unit, env: Env, expr: ast.IfExpr, hint: Type | None) -> Typed:
    test = condition(unit, env, expr.condition, "the condition of if")
    then = infer(unit, env, expr.then, hint)
    otherwise = infer(unit, env, expr.otherwise, hint)
    unit.agree(otherwise.type, then.type, expr.otherwise.at, "the else part")
    for part in (expr.then, expr.otherwise):
        place(env, part, "loose")

    def build() -> Term:
        parts = test.build(), then.build(), otherwise.build()
        return Builtin(Op.ITE, parts, join(parts[1].sort, parts[2].sort), at=expr.at)

    return Typed(_either(then.type, otherwise.type), build)


def _either(a: Type, b: Type) -> Type:
    return a if mistaken(b) or a == b else erase(a)


def _as(unit: Unit, env: Env, expr: ast.AsExpr, hint: Type | None) -> Typed:
    place(env, expr.value, "neutral")
    return conversion(unit, infer(unit, env, expr.value), unit.type(expr.type), expr.at)


CASES: dict[type, Case] = {
    ast.IntLiteral: _literal,
    ast.RealLiteral: _literal,
    ast.BoolLiteral: _literal,
    ast.StringLiteral: _literal,
    ast.Name: _name,
    ast.Unary: _unary,
    ast.Binary: _binary,
    ast.Comparison: _comparison,
    ast.Apply: _apply,
    ast.Member: _member,
    ast.IfExpr: _if,
    ast.AsExpr: _as,
}
