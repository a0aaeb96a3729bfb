"""Makes random programs: laws that hold, the same slightly changed, and expressions at random.

The same seed makes the same program.
"""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

from formal_lemma_laws import SORTS, at, free, laws, positions, put, renamed
from formal_lemma_programs import Body, Lemma, Program
from formal_lemmas import RELATIONS, Tree

SWAPS = (RELATIONS, ("+", "-", "*"), ("/", "%"), ("&&", "||", "==>", "<==>"), ("forall", "exists"), ("in", "!in"))


class Maker:
    """Programs from one seed."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)

    def program(self, bodies: float = 0.5) -> Program:
        """A lemma, and for the share `bodies` of programs a proof with helper lemmas."""
        goal = self.claim()
        requires = tuple(self.claim() for _ in range(self.random.choice((0, 0, 1, 1, 2))))
        main = Lemma("l", self.parameters(goal, *requires), requires, (goal,), ())
        if self.random.random() > bodies:
            return Program((main,))
        self.helpers = [self.helper(f"h{i}") for i in range(self.random.choice((0, 1, 1)))]
        if self.random.random() < 0.3:
            main = self.recursive(main)
        self.main = main
        body = self.body(2, dict(main.params), goal)
        if main.result:
            body = (*body, (":=", main.result[0], self.term(main.result[1], 1, dict(main.params))))
        return Program((*self.helpers, replace(main, body=body)))

    def recursive(self, main: Lemma) -> Lemma:
        whole = [name for name, sort in main.params if sort in ("int", "nat")]
        if not whole:
            return main
        name = self.random.choice(whole)
        measure: Tree | None = self.random.choice((None, ("var", name), ("-", ("lit", 9), ("var", name))))
        return replace(main, decreases=measure)

    def helper(self, name: str) -> Lemma:
        goal, given = self.claim(0.2), self.claim(0.2)
        requires = (given,) if self.random.random() < 0.5 else ()
        if self.random.random() < 0.3:
            result = ("r", self.random.choice(("int", "nat")))
            low = self.term("int", 1, {"a": "int"})
            ensures = (self.random.choice((">", ">=", "==")), ("var", "r"), low)
            body = ((":=", "r", self.random.choice((low, ("+", low, ("lit", 1))))),)
            return Lemma(name, (("a", "int"),), (), (ensures,), body, result)
        return Lemma(name, self.parameters(goal, *requires), requires, (goal,), ())

    def parameters(self, *trees: Tree) -> tuple[tuple[str, str], ...]:
        used = {name for tree in trees for name in free(tree)} or {"a"}
        return tuple((name, SORTS[name]) for name in sorted(used))

    # Expressions

    def claim(self, changed: float = 0.5) -> Tree:
        chance = self.random.random()
        if chance < 0.15:
            return self.term("bool", 2, dict(SORTS))
        tree = self.random.choice(laws())
        if self.random.random() < changed:
            tree = self.changed(tree)
        if chance > 0.85:
            other = self.random.choice(laws())
            tree = (self.random.choice(("&&", "||", "==>")), tree, other)
        return self.renamed(tree) if self.random.random() < 0.4 else tree

    def renamed(self, tree: Tree) -> Tree:
        """Other variables of the same types, possibly one for two; bound ones may get the name of another."""
        own = {name: self.random.choice([o for o, sort in SORTS.items() if sort == SORTS[name]]) for name in SORTS}
        return renamed(tree, own)

    def changed(self, tree: Tree) -> Tree:
        """One place of `tree` changed to something of the same type."""
        changes = [(place, new) for place in positions(tree) if (new := self.change_at(at(tree, place))) is not None]
        if not changes:
            return ("!", tree)
        return put(tree, *self.random.choice(changes))

    def change_at(self, e: Tree) -> Tree | None:
        match e:
            case ("lit", bool()):
                return ("lit", not e[1])
            case ("lit", int() | Fraction()):
                return ("lit", e[1] + self.random.choice((-2, -1, 1, 2)))
            case ("var", name) if name in SORTS and SORTS[name] in ("int", "real", "bool"):
                return self.term(SORTS[name], 0, {o: s for o, s in SORTS.items() if s == SORTS[name]})
            case (("+" | "*" | "-"), *parts) if any(map(_no_number, parts)) and self.random.random() < 0.95:
                return None
            case (op, *rest):
                for group in SWAPS:
                    if op in group and not (op in RELATIONS and any(map(_no_number, rest))):
                        return (self.random.choice([o for o in group if o != op]), *rest)
        return None

    def term(self, sort: str, depth: int, scope: dict[str, str]) -> Tree:
        """An expression at random, of that type."""
        pick = self.random.choice
        variables: list[Tree] = [("var", name) for name, own in scope.items() if own == sort]
        if sort == "int":
            variables += [("var", name) for name, own in scope.items() if own == "nat"]
        if depth == 0 or (variables and self.random.random() < 0.2):
            return pick([*variables, self.literal(sort)])
        inner = lambda kind: self.term(kind, depth - 1, scope)  # noqa: E731
        match sort:
            case "int":
                kind = pick(("+", "-", "*", "/", "%", "ite", "call", "let", "call"))
                if kind in "+-*":
                    return (kind, inner("int"), inner("int"))
                if kind in "/%":
                    return (kind, inner("int"), pick((("lit", 2), ("lit", 3), ("lit", -3), inner("int"))))
                if kind == "ite":
                    return ("ite", inner("bool"), inner("int"), inner("int"))
                if kind == "let":
                    name = pick(("d", "a", "k"))
                    return ("let", name, inner("int"), self.term("int", depth - 1, {**scope, name: "int"}))
                name = pick(("iabs", "imax", "idiv", "imod", "monus", "ipow", "gcd", "up"))
                count = 1 if name in ("iabs", "up") else 2
                return ("call", name, *(inner("int") for _ in range(count)))
            case "nat":
                return ("%", inner("int"), ("lit", pick((2, 3, 7))))
            case "real":
                kind = pick(("+", "-", "*", "/", "real", "rabs"))
                if kind == "real":
                    return ("real", inner("int"))
                return ("call", "rabs", inner("real")) if kind == "rabs" else (kind, inner("real"), inner("real"))
            case "bool":
                kind = pick(("int", "int", "real", "set", "&&", "||", "==>", "!", "quantifier", "even"))
                if kind in ("int", "real"):
                    return (pick(RELATIONS), inner(kind), inner(kind))
                if kind == "set":
                    return ("in", inner("int"), inner("set<int>"))
                if kind == "even":
                    return ("call", pick(("even", "odd")), inner("int"))
                if kind == "!":
                    return ("!", inner("bool"))
                if kind == "quantifier":
                    name = pick(("k", "k", "a", "d"))
                    body = self.term("bool", depth - 1, {**scope, name: "int"})
                    low = inner("int")
                    limits = pick((None, (low, ("+", low, ("lit", 3))), (("lit", 0), ("lit", 4))))
                    return (pick(("forall", "exists")), name, pick(("int", "nat")), limits, body)
                return (kind, inner("bool"), inner("bool"))
            case "set<int>":
                return ("set", inner("int"), inner("int"))
        return pick([*variables, self.literal(sort)])

    def literal(self, sort: str) -> Tree:
        pick = self.random.choice
        match sort:
            case "int":
                return ("lit", pick((-3, -1, 0, 1, 2, 5)))
            case "nat":
                return ("lit", pick((0, 1, 4)))
            case "real":
                return ("lit", Fraction(pick((-1, 0, 1, 3)), pick((1, 2))))
            case "bool":
                return ("lit", pick((True, False)))
            case "set<int>":
                return ("set", ("lit", pick((0, 1, 2))))
            case "seq<int>":
                return ("seq", ("lit", pick((0, 1, 2))))
            case "(int, int)":
                return ("tuple", ("lit", 1), ("lit", pick((0, 1))))
        return ("lambda", "k", ("+", ("var", "k"), ("lit", pick((0, 1)))))

    # Proofs

    def body(self, depth: int, scope: dict[str, str], goal: Tree) -> Body:
        scope = dict(scope)
        return tuple(self.statement(depth, scope, goal) for _ in range(self.random.choice((1, 1, 2))))

    def aside(self, depth: int, scope: dict[str, str], goal: Tree) -> Body:
        """A proof of something inside: it may not return or assign."""
        steps = (self.statement(depth, dict(scope), goal),) if depth and self.random.random() < 0.6 else ()
        return () if any(step[0] in ("return", ":=", "if", "cases") for step in steps) else steps

    def visible(self, scope: dict[str, str], goal: Tree) -> Tree:
        """A claim over what is in scope: the goal, or a law."""
        for tree in (goal, self.claim(0.2), self.claim(0.2), self.claim(0.2)):
            if free(tree) <= scope.keys() and self.random.random() < 0.7:
                return tree
        return self.term("bool", 1, scope)

    def statement(self, depth: int, scope: dict[str, str], goal: Tree) -> Tree:
        pick = self.random.choice
        simple = ("assert", "assert", "var", ":|", "lemma", "lemma", "self", ":=", "return")
        kind = pick(simple if depth == 0 else (*simple, "by", "calc", "calc", "for", "if", "cases"))
        whole = [name for name, sort in scope.items() if sort == "int" and name not in dict(self.main.params)]
        match kind:
            case "by":
                return ("by", self.visible(scope, goal), self.aside(depth - 1, scope, goal))
            case "calc":
                return self.calculation(depth, scope, goal)
            case "for":
                name = pick(("k", "j"))
                inner = {**scope, name: "int"}
                limits = (self.term("int", 0, scope), self.term("int", 0, scope))
                return ("for", name, limits, self.visible(inner, goal), self.aside(depth - 1, inner, goal))
            case "if":
                p = self.term("bool", 1, scope)
                return ("if", p, self.body(depth - 1, scope, goal), self.body(depth - 1, scope, goal))
            case "cases":
                p = self.term("bool", 1, scope)
                q = pick((("!", p), ("!", p), self.term("bool", 1, scope)))
                return ("cases", *((guard, self.body(depth - 1, scope, goal)) for guard in (p, q)))
            case "var":
                name, sort = f"z{len(scope)}", pick(("int", "int", "nat", "real"))
                step = ("var", name, sort, self.term(sort, 1, scope))
                scope[name] = sort
                return step
            case ":|":
                name = f"z{len(scope)}"
                p = (pick(("<", "==", ">=")), ("var", name), self.term("int", 1, scope))
                if self.random.random() < 0.4:
                    p = ("&&", p, (pick((">", "!=")), ("var", name), self.term("int", 0, scope)))
                scope[name] = sort = pick(("int", "nat"))
                return (":|", name, sort, p)
            case ":=" if whole:
                return (":=", pick(whole), self.term("int", 1, scope))
            case "lemma" if self.helpers:
                callee = pick(self.helpers)
                args = tuple(self.term(sort, pick((0, 0, 1)), scope) for _, sort in callee.params)
                out = None
                if callee.result:
                    out = f"z{len(scope)}"
                    scope[out] = callee.result[1]
                return ("lemma", out, callee.name, args)
            case "self":
                args = tuple(self.smaller(name, sort, scope) for name, sort in self.main.params)
                if all(name in scope for name, _ in self.main.params):
                    return ("lemma", None, "l", args)
            case "return" if depth < 2:
                return ("return",)
        return ("assert", self.visible(scope, goal))

    def smaller(self, name: str, sort: str, scope: dict[str, str]) -> Tree:
        if sort in ("int", "nat") and self.random.random() < 0.6:
            return (self.random.choice(("-", "-", "-", "+", "/")), ("var", name), ("lit", self.random.choice((1, 2))))
        return ("var", name)

    def calculation(self, depth: int, scope: dict[str, str], goal: Tree) -> Tree:
        logical = self.random.random() < 0.5
        sort = "bool" if logical else "int"
        choice = ("==", "==>", "==>") if logical else ("==", "<=", "<=", "==")
        first = self.visible(scope, goal) if logical else self.term("int", 1, scope)
        steps: list[tuple[str, Body, Tree]] = []
        line = first
        for _ in range(self.random.choice((1, 2))):
            other: Any = self.term(sort, 1, scope)
            line = self.random.choice((line, other, ("||", line, other) if logical else ("+", line, ("lit", 0))))
            steps.append((self.random.choice(choice), self.aside(depth - 1, scope, goal), line))
        return ("calc", first, *steps)


def _no_number(e: Tree) -> bool:
    """Perhaps a set, a sequence, a tuple or a truth value."""
    match e:
        case ("var", name):
            return SORTS.get(name, "int") not in ("int", "nat", "real")
        case ("call", name, *_):
            return name in ("divisors", "digits", "even", "odd", "prime")
        case (("+" | "-" | "*"), *parts):
            return any(map(_no_number, parts))
    return e[0] in ("set", "seq", "tuple", "comprehension", "slice", "update", "<==>", "&&", "||", "!", *RELATIONS)
