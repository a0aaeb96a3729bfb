"""Walking syntax trees: what a node holds, which names it uses, trees with something replaced.

Names are told apart by where they are bound: parameters, quantified variables, `var`, cases. Names of members and
fields (`z.re`) belong to their type and are no names here; names of datatypes and constructors are.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeVar, get_args

from maxproof.formal.syntax.ast import (
    Assign,
    Binder,
    Comprehension,
    Expr,
    ForallStmt,
    Function,
    GuardedCase,
    IfStmt,
    LambdaExpr,
    Lemma,
    LetExpr,
    MatchCase,
    Name,
    NamedType,
    Node,
    Position,
    Program,
    Quantifier,
    VarStmt,
)
from maxproof.formal.syntax.words import TYPE_WORDS

Tree = TypeVar("Tree", bound=Node | Program)

_EXPRESSIONS: Final = get_args(Expr)

# For each class that binds variables: the field that holds them, and the fields in which they are known.
_SCOPES: Final[dict[type, tuple[str, frozenset[str]]]] = {
    Quantifier: ("binders", frozenset(("range", "body", "attributes"))),
    Comprehension: ("binders", frozenset(("range", "term", "attributes"))),
    LambdaExpr: ("params", frozenset(("requires", "body"))),
    LetExpr: ("binders", frozenset(("body",))),
    MatchCase: ("binders", frozenset(("body",))),
    ForallStmt: ("binders", frozenset(("range", "ensures", "body", "attributes"))),
    IfStmt: ("binders", frozenset(("condition", "then"))),
    GuardedCase: ("binders", frozenset(("condition", "body"))),
    VarStmt: ("binders", frozenset()),
    Lemma: ("params", frozenset(("requires", "ensures", "decreases", "body", "attributes"))),
    Function: ("params", frozenset(("requires", "ensures", "decreases", "body", "attributes"))),
}

_fields: dict[type, tuple[str, ...]] = {}


def fields(kind: type[Node] | type[Program]) -> tuple[str, ...]:
    """The names of a node class's fields except its place, in source order."""
    found = _fields.get(kind)
    if found is None:
        found = tuple(field.name for field in dataclasses.fields(kind) if field.name != "at")
        _fields[kind] = found
    return found


def children(node: Node | Program) -> Iterator[Node]:
    """The nodes directly under `node`, in the order of its fields."""
    for name in fields(type(node)):
        value = getattr(node, name)
        if not isinstance(value, str):
            yield from _nodes(value)


def descendants(node: Node | Program) -> Iterator[Node]:
    """Every node under `node`, in source order. Needs no recursion."""
    waiting = list(children(node))[::-1]
    while waiting:
        found = waiting.pop()
        yield found
        waiting.extend(list(children(found))[::-1])


def names_used(node: Node | Program) -> frozenset[str]:
    """The names that `node` uses and doesn't bind: variables, functions, lemmas, datatypes, constructors.

    A declaration's own name counts where its body uses it.
    """
    found: set[str] = set()
    _collect(node, frozenset(), found)
    return frozenset(found)


def rename(node: Tree, names: Mapping[str, str]) -> Tree:
    """`node` with its free names replaced; bound variables that would capture a new name get another name.

    Names that declarations declare stay; rename those with `dataclasses.replace`.
    """
    renamed: Tree = _renamed(node, dict(names))
    return renamed


def map_expressions(node: Tree, change: Callable[[Expr], Expr]) -> Tree:
    """`node` with every expression in it replaced by `change` of it, from the innermost outwards."""
    changed: Tree = _mapped(node, change)
    return changed


def moved(node: Tree, place: Callable[[Position], Position]) -> Tree:
    """`node` with every place in it replaced by `place` of it."""
    result: Tree = _moved(node, place)
    return result


def _nodes(value: Any) -> Iterator[Node]:
    if isinstance(value, Node):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _nodes(item)


def _bound(node: Node, field: str) -> frozenset[str]:
    """The variables that `node` binds in that field of its own."""
    scope = _SCOPES.get(type(node))
    if scope is None:
        return frozenset()
    holder, known_in = scope
    names: frozenset[str] = frozenset()
    if field in known_in or (field == "values" and isinstance(node, LetExpr | VarStmt) and node.such_that):
        names = frozenset(binder.name for binder in getattr(node, holder))
    if isinstance(node, Lemma) and field in ("ensures", "body"):
        names |= {binder.name for binder in node.results}
    if isinstance(node, Function) and field == "ensures" and node.result_name:
        names |= {node.result_name}
    return names


def _collect(value: Any, bound: frozenset[str], found: set[str]) -> None:
    if isinstance(value, tuple):
        for item in value:
            _collect(item, bound, found)
            if isinstance(item, VarStmt):
                bound |= {binder.name for binder in item.binders}
        return
    if not isinstance(value, Node | Program):
        return
    match value:
        case Name() if value.name not in bound:
            found.add(value.name)
        case NamedType() if value.name not in TYPE_WORDS:
            found.add(value.name)
        case MatchCase() if value.constructor != "_":
            found.add(value.constructor)
        case Assign():
            found.update(target for target in value.targets if target not in bound)
    for field in fields(type(value)):
        inner = getattr(value, field)
        if isinstance(inner, Node):
            _collect(inner, bound | _bound(value, field), found)
        elif isinstance(inner, tuple) and inner:
            extra = _bound(value, field) if isinstance(value, Node) else frozenset()
            _collect(inner, bound | extra, found)


def _renamed(value: Any, names: dict[str, str]) -> Any:
    if not names:
        return value
    if isinstance(value, tuple):
        items = []
        for item in value:
            if isinstance(item, VarStmt):
                inner = _inside(item, names, {binder.name for binder in item.binders}, value)
                items.append(_rebuilt(item, names, inner))
                names = inner
            else:
                items.append(_renamed(item, names))
        return tuple(items)
    if not isinstance(value, Node | Program):
        return value
    match value:
        case Name():
            return dataclasses.replace(value, name=names.get(value.name, value.name))
        case NamedType():
            value = dataclasses.replace(value, name=names.get(value.name, value.name))
        case MatchCase():
            value = dataclasses.replace(value, constructor=names.get(value.constructor, value.constructor))
        case Assign():
            value = dataclasses.replace(value, targets=tuple(names.get(name, name) for name in value.targets))
    bound: set[str] = set()
    if isinstance(value, Node):
        bound.update(*(_bound(value, field) for field in fields(type(value))))
    return _rebuilt(value, names, _inside(value, names, bound, value) if bound else names)


def _inside(node: Any, names: dict[str, str], bound: set[str], scope: Any) -> dict[str, str]:
    """The names to replace where `bound` are known, with new names for those that would capture one."""
    inner = {old: new for old, new in names.items() if old not in bound}
    taken = set(inner.values())
    for name in sorted(bound & taken):
        used: set[str] = set()
        _collect(scope, frozenset(), used)
        fresh = name + "'"
        while fresh in used | taken | bound:
            fresh += "'"
        inner[name] = fresh
        taken.add(fresh)
    return inner


def _rebuilt(node: Any, outer: dict[str, str], inner: dict[str, str]) -> Any:
    """`node` with `inner` replaced where its own variables are known, and `outer` elsewhere."""
    changes: dict[str, Any] = {}
    for field in fields(type(node)):
        value = getattr(node, field)
        if not isinstance(value, tuple | Node):
            if field == "result_name":
                changes[field] = inner.get(value, value) if value else value
            continue
        known = isinstance(node, Node) and _bound(node, field)
        new = _renamed(value, inner if known else outer)
        if field in ("binders", "params", "results", "fields") and inner is not outer:
            new = tuple(
                dataclasses.replace(binder, name=inner.get(binder.name, binder.name))
                if isinstance(binder, Binder)
                else binder
                for binder in new
            )
        changes[field] = new
    return dataclasses.replace(node, **changes)


def _mapped(value: Any, change: Callable[[Expr], Expr]) -> Any:
    if isinstance(value, tuple):
        return tuple(_mapped(item, change) for item in value)
    if not isinstance(value, Node | Program):
        return value
    changes = {}
    for field in fields(type(value)):
        inner = getattr(value, field)
        if isinstance(inner, tuple | Node) and inner != ():
            new = _mapped(inner, change)
            if new is not inner:
                changes[field] = new
    rebuilt = dataclasses.replace(value, **changes) if changes else value
    return change(rebuilt) if isinstance(rebuilt, _EXPRESSIONS) else rebuilt


def _moved(value: Any, place: Callable[[Position], Position]) -> Any:
    if isinstance(value, tuple):
        return tuple(_moved(item, place) for item in value)
    if not isinstance(value, Node | Program):
        return value
    changes: dict[str, Any] = {"at": place(value.at)} if isinstance(value, Node) else {}
    for field in fields(type(value)):
        inner = getattr(value, field)
        if isinstance(inner, Node) or (isinstance(inner, tuple) and inner):
            changes[field] = _moved(inner, place)
    return dataclasses.replace(value, **changes)
