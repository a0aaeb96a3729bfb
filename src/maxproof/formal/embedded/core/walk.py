"""Going through core terms and steps: children, rebuilding, free variables, substitution.

A node is a term or a step. `children` gives the nodes right below it in the order of their text (range before body,
triggers last), `rebuild` puts new ones in their place, and `binders` tells which variables a node binds there. All
other walks are made of these three. They recurse one frame a level; `resolve` limits the depth of terms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, cast

from maxproof.formal.embedded.core.steps import (
    AssertStep,
    Branch,
    CalcStep,
    CallStep,
    ChooseStep,
    Define,
    ForallStep,
    ReturnStep,
    Step,
)
from maxproof.formal.embedded.core.terms import (
    BOOL,
    Bool,
    Builtin,
    Call,
    Choose,
    Construct,
    Field,
    Invoke,
    Is,
    Lambda,
    Let,
    Op,
    Proved,
    Quant,
    SetComp,
    Term,
    Var,
)

Node: TypeAlias = Term | Step


def conjunction(terms: Iterable[Term]) -> Term:
    """All of `terms`, in order: `Bool(True)` for none, the term itself for one, else one flat AND."""
    return _joined(Op.AND, terms, neutral=True)


def disjunction(terms: Iterable[Term]) -> Term:
    """Some of `terms`: `Bool(False)` for none, the term itself for one, else one flat OR."""
    return _joined(Op.OR, terms, neutral=False)


def _joined(op: Op, terms: Iterable[Term], neutral: bool) -> Term:
    parts: list[Term] = []
    for term in terms:
        if isinstance(term, Builtin) and term.op is op:
            parts.extend(term.args)
        elif not (isinstance(term, Bool) and term.value is neutral):
            parts.append(term)
    if not parts:
        return Bool(neutral)
    return parts[0] if len(parts) == 1 else Builtin(op, tuple(parts), BOOL, at=parts[0].at)


def children(node: Node) -> tuple[Node, ...]:
    """The nodes right below `node`; `()` for a leaf."""
    match node:
        case Builtin(args=args) | Call(args=args) | Construct(args=args) | CallStep(args=args):
            return args
        case Invoke():
            return (node.function, *node.args)
        case Lambda():
            return (node.requires, node.body)
        case Field() | Is() | Define():
            return (node.value,)
        case Quant():
            return (node.range, node.body, *(term for trigger in node.triggers for term in trigger))
        case SetComp():
            return (node.range, node.term)
        case Let():
            return (node.value, node.body)
        case Choose():
            return (node.predicate, node.body)
        case Proved():
            return (*node.statements, node.value)
        case AssertStep():
            return (node.condition, *(node.by or ()))
        case CalcStep():
            conclusion = () if node.conclusion is None else (node.conclusion,)
            return (*node.lines, *node.relations, *(step for hint in node.hints for step in hint), *conclusion)
        case ForallStep():
            return (node.range, *node.ensures, *node.body)
        case Branch():
            arms = tuple(part for guard, _, body in node.arms for part in (guard, *body))
            return (*arms, *(node.otherwise or ()))
        case ChooseStep():
            return (node.predicate,)
        case ReturnStep():
            return node.values
    return ()


def rebuild(node: Node, parts: Sequence[Node]) -> Node:
    """`node` with `parts` for its `children`, in the same order and number. Keeps its place and its bound variables."""
    return cast(Node, _with(node, binders(node), list(parts)))


def binders(node: Node) -> tuple[Var, ...]:
    """Variables bound in all children (for `Let` in the body alone). Those that a step defines for the steps after it
    are in `defined`; those of a `Proved` are what its statements define."""
    match node:
        case Quant(vars=bound) | SetComp(vars=bound) | Choose(vars=bound) | ForallStep(vars=bound):
            return bound
        case Lambda():
            return node.params
        case Let():
            return (node.var,)
        case Proved():
            return defined(node.statements)
        case Branch():
            return tuple(var for _, bound, _ in node.arms for var in bound)
    return ()


def defined(steps: Iterable[Step]) -> tuple[Var, ...]:
    """Variables that `steps` define (assignments, choices, lemma results), those in nested bodies included."""
    found: dict[str, Var] = {}
    for step in steps:
        for inner in subnodes(step):
            match inner:
                case Define():
                    found.setdefault(inner.var.name, inner.var)
                case ChooseStep(vars=bound) | CallStep(outs=bound):
                    for var in bound:
                        found.setdefault(var.name, var)
    return tuple(found.values())


def subnodes(node: Node) -> Iterator[Node]:
    """`node` and everything below it, in the order of the text."""
    pending: list[Node] = [node]
    while pending:
        top = pending.pop()
        yield top
        pending.extend(reversed(children(top)))


def free_variables(node: Node) -> tuple[Var, ...]:
    """Variables that `node` uses and doesn't bind, each once, in order of first use."""
    found: dict[str, Var] = {}
    _collect_free(node, frozenset(), found)
    return tuple(found.values())


def _collect_free(node: Node, bound: frozenset[str], found: dict[str, Var]) -> None:
    if isinstance(node, Var):
        if node.name not in bound:
            found.setdefault(node.name, node)
        return
    parts = children(node)
    own = binders(node)
    if own:
        if isinstance(node, Let):
            _collect_free(node.value, bound, found)
            parts = (node.body,)
        bound = bound.union(var.name for var in own)
    for part in parts:
        _collect_free(part, bound, found)


def transform(term: Term, change: Callable[[Term], Term]) -> Term:
    """`term` with `change` applied to each of its terms, innermost first (those in the statements of `Proved` too)."""
    return cast(Term, _transformed(term, change))


def _transformed(node: Node, change: Callable[[Term], Term]) -> Node:
    parts = children(node)
    if parts:
        new: list[Node] = []
        same = True
        for part in parts:
            replaced = _transformed(part, change)
            same = same and replaced is part
            new.append(replaced)
        if not same:
            node = rebuild(node, new)
    return node if isinstance(node, _STEPS) else change(node)


def substitute(term: Term, mapping: Mapping[str, Term]) -> Term:
    """`term` with `mapping[name]` for each free variable called `name`, all at once.

    Bound variables that would capture a variable of a replacement are renamed, so that terms of other declarations may
    be put in.
    """
    return cast(Term, _substituted(term, dict(mapping), _free_names(mapping)))


def _free_names(mapping: Mapping[str, Term]) -> frozenset[str]:
    return frozenset(var.name for term in mapping.values() for var in free_variables(term))


def _substituted(node: Node, mapping: dict[str, Term], taken: frozenset[str]) -> Node:
    if isinstance(node, Var):
        return mapping.get(node.name, node)
    if isinstance(node, Define | ChooseStep | CallStep):
        node = _renamed_definition(node, mapping)
    parts = children(node)
    if not parts or not mapping:
        return node
    outer = mapping
    own = binders(node)
    if own:
        mapping, own, taken = _under(node, own, mapping, taken)
    new: list[Node] = []
    for place, part in enumerate(parts):
        scope = outer if place == 0 and isinstance(node, Let) else mapping
        new.append(_substituted(part, scope, taken) if scope else part)
    return cast(Node, _with(node, own, new))


def _under(
    node: Node, own: tuple[Var, ...], mapping: dict[str, Term], taken: frozenset[str]
) -> tuple[dict[str, Term], tuple[Var, ...], frozenset[str]]:
    """What `mapping` means below the binders `own`, their new names where the old ones would capture, and the names
    that may not be bound further down."""
    names = {var.name for var in own}
    inner = {name: term for name, term in mapping.items() if name not in names}
    if not inner or names.isdisjoint(taken):
        return inner, own, taken
    used = set(taken) | names | inner.keys()
    for below in subnodes(node):
        used.update(var.name for var in ((below,) if isinstance(below, Var) else binders(below)))
    fresh: list[Var] = []
    for var in own:
        if var.name in taken:
            name = fresh_name(var.name, used)
            used.add(name)
            taken = taken | {name}
            inner[var.name] = var = Var(name, var.sort, at=var.at)
        fresh.append(var)
    return inner, tuple(fresh), taken


def _renamed_definition(step: Define | ChooseStep | CallStep, mapping: Mapping[str, Term]) -> Step:
    """A definition under the renaming that its `Proved` gave it; names it doesn't rename are not in `mapping`."""

    def renamed(var: Var) -> Var:
        new = mapping.get(var.name)
        return new if isinstance(new, Var) else var

    match step:
        case Define():
            return Define(renamed(step.var), step.value, at=step.at)
        case ChooseStep():
            return ChooseStep(tuple(map(renamed, step.vars)), step.predicate, at=step.at)
        case CallStep():
            return CallStep(step.name, step.args, tuple(map(renamed, step.outs)), at=step.at)


def fresh_name(name: str, used: Iterable[str]) -> str:
    """`name` with the first number, as in `x#2`, that `used` doesn't have. The user's part of the name stays."""
    names = used if isinstance(used, set | frozenset | dict) else set(used)
    base = name.split("#", 1)[0]
    number = 1
    while f"{base}#{number}" in names:
        number += 1
    return f"{base}#{number}"


_STEPS = (AssertStep, Branch, CalcStep, CallStep, ChooseStep, Define, ForallStep, ReturnStep)


def _with(node: Any, bound: tuple[Var, ...], parts: list[Any]) -> Any:
    """`node` with new children and new bound variables, both in the order that `children` and `binders` give."""
    at = node.at
    match node:
        case Builtin():
            return Builtin(node.op, tuple(parts), node.sort, at=at)
        case Call():
            return Call(node.name, tuple(parts), node.sort, at=at)
        case Construct():
            return Construct(node.constructor, tuple(parts), node.sort, at=at)
        case Invoke():
            return Invoke(parts[0], tuple(parts[1:]), node.sort, at=at)
        case Lambda():
            return Lambda(bound, parts[1], node.sort, parts[0], at=at)
        case Field():
            return Field(parts[0], node.name, node.sort, at=at)
        case Is():
            return Is(parts[0], node.constructor, at=at)
        case Quant():
            triggers = _grouped(parts[2:], [len(trigger) for trigger in node.triggers])
            return Quant(node.kind, bound, parts[0], parts[1], triggers, at=at)
        case SetComp():
            return SetComp(bound, parts[0], parts[1], node.sort, at=at)
        case Let():
            return Let(bound[0], parts[0], parts[1], at=at)
        case Choose():
            return Choose(bound, parts[0], parts[1], at=at)
        case Proved():
            return Proved(tuple(parts[:-1]), parts[-1], at=at)
        case AssertStep():
            return AssertStep(parts[0], None if node.by is None else tuple(parts[1:]), at=at)
        case CalcStep():
            sizes = [len(node.lines), len(node.relations), *(len(hint) for hint in node.hints)]
            lines, relations, *hints = _grouped(parts, sizes)
            return CalcStep(lines, relations, tuple(hints), None if node.conclusion is None else parts[-1], at=at)
        case ForallStep():
            limits, ensures, body = _grouped(parts, [1, len(node.ensures), len(node.body)])
            return ForallStep(bound, limits[0], ensures, body, at=at)
        case Branch():
            groups = _grouped(parts, [1 + len(body) for _, _, body in node.arms])
            rest = tuple(parts[sum(map(len, groups)) :])
            names = _grouped(list(bound), [len(own) for _, own, _ in node.arms])
            arms = tuple((group[0], own, group[1:]) for group, own in zip(groups, names, strict=True))
            return Branch(arms, None if node.otherwise is None else rest, node.exclusive, at=at)
        case Define():
            return Define(node.var, parts[0], at=at)
        case ChooseStep():
            return ChooseStep(node.vars, parts[0], at=at)
        case CallStep():
            return CallStep(node.name, tuple(parts), node.outs, at=at)
        case ReturnStep():
            return ReturnStep(tuple(parts), at=at)
    return node


def _grouped(parts: list[Any], sizes: list[int]) -> tuple[tuple[Any, ...], ...]:
    """`parts` cut into consecutive groups of `sizes`; what is left over is dropped."""
    groups: list[tuple[Any, ...]] = []
    start = 0
    for size in sizes:
        groups.append(tuple(parts[start : start + size]))
        start += size
    return tuple(groups)
