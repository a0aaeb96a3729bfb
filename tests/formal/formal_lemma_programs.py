"""Dafny programs that run in Python: lemmas with bodies, tried on values.

`faulty` runs a lemma at values of its parameters: every claim that is false there, every operation outside its domain,
every recursive call that doesn't get smaller is a fault. A checker that accepts a program with a fault is wrong.
Statements are tuples like expressions, see `run`.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from formal_lemmas import (
    DECLARED,
    TRIED,
    TRIED_REALS,
    Env,
    Fault,
    Tree,
    Undefined,
    Unknown,
    ranged,
    text,
    truth,
    value,
)

Body = tuple[Tree, ...]


@dataclass(frozen=True)
class Lemma:
    """`params` and `result`: names with types; `decreases` a whole expression or None."""

    name: str
    params: tuple[tuple[str, str], ...]
    requires: tuple[Tree, ...]
    ensures: tuple[Tree, ...]
    body: Body
    result: tuple[str, str] | None = None
    decreases: Tree | None = None

    @property
    def text(self) -> str:
        params = ", ".join(f"{name}: {sort}" for name, sort in self.params)
        lines = [f"lemma {self.name}({params})"]
        if self.result:
            lines[0] += f" returns ({self.result[0]}: {self.result[1]})"
        lines += [f"  requires {text(clause)}" for clause in self.requires]
        lines += [f"  ensures {text(clause)}" for clause in self.ensures]
        if self.decreases is not None:
            lines.append(f"  decreases {text(self.decreases)}")
        return "\n".join([*lines, "{", *printed(self.body, 1), "}"])


@dataclass(frozen=True)
class Program:
    lemmas: tuple[Lemma, ...]

    @property
    def text(self) -> str:
        lemmas = "\n".join(lemma.text for lemma in self.lemmas)
        return DECLARED + lemmas if "up(" in lemmas or "fib(" in lemmas else lemmas


def printed(body: Body, depth: int) -> Iterator[str]:
    indent = "  " * depth
    for step in body:
        match step:
            case ("assert", p):
                yield f"{indent}assert {text(p)};"
            case ("by", p, proof):
                yield f"{indent}assert {text(p)} by {{"
                yield from printed(proof, depth + 1)
                yield indent + "}"
            case ("calc", first, *rest):
                yield f"{indent}calc {{ {text(first)};"
                for relation, hint, line in rest:
                    yield f"{indent}  {relation} {{"
                    yield from printed(hint, depth + 2)
                    yield f"{indent}  }} {text(line)};"
                yield indent + "}"
            case ("for", name, (low, high), p, proof):
                yield f"{indent}forall {name}: int | {text(low)} <= {name} < {text(high)} ensures {text(p)} {{"
                yield from printed(proof, depth + 1)
                yield indent + "}"
            case ("if", p, then, otherwise):
                yield f"{indent}if {text(p)} {{"
                yield from printed(then, depth + 1)
                yield indent + "} else {"
                yield from printed(otherwise, depth + 1)
                yield indent + "}"
            case ("cases", *arms):
                yield indent + "if {"
                for p, arm in arms:
                    yield f"{indent}  case {text(p)} =>"
                    yield from printed(arm, depth + 2)
                yield indent + "}"
            case ("var", name, sort, e):
                yield f"{indent}var {name}: {sort} := {text(e)};"
            case (":=", name, e):
                yield f"{indent}{name} := {text(e)};"
            case (":|", name, sort, p):
                yield f"{indent}var {name}: {sort} :| {text(p)};"
            case ("lemma", out, name, args):
                call = f"{name}({', '.join(map(text, args))});"
                yield indent + (f"var {out} := {call}" if out else call)
            case ("return",):
                yield indent + "return;"


class _Returned(Exception):
    """The body ended."""


class Run:
    """One run of `lemma` at `env`; choices that Dafny leaves open are taken at random."""

    def __init__(self, lemma: Lemma, lemmas: dict[str, Lemma], env: Env, source: random.Random) -> None:
        self.lemma = lemma
        self.lemmas = lemmas
        self.start = dict(env)
        self.random = source

    def whole(self) -> None:
        """Raises Fault and Undefined if something is wrong here, Unknown if the run comes to where nothing is known."""
        env = dict(self.start)
        for clause in self.lemma.requires:
            if truth(clause, env) is not True:
                raise Unknown
        if self.lemma.result:
            env[self.lemma.result[0]] = self.random.choice(values(self.lemma.result[1]))
        with contextlib.suppress(_Returned):
            self.steps(self.lemma.body, env)
        for clause in self.lemma.ensures:
            self.claim(clause, env)

    def claim(self, p: Tree, env: Env) -> None:
        if truth(p, env) is False:
            raise Fault(f"{text(p)} at {env}")

    def steps(self, body: Body, env: Env) -> None:
        for step in body:
            self.step(step, env)

    def step(self, step: Tree, env: Env) -> None:
        match step:
            case ("assert", p):
                self.claim(p, env)
            case ("by", p, proof):
                self.aside(proof, env)
                self.claim(p, env)
            case ("calc", first, *rest):
                before = first
                for relation, hint, line in rest:
                    if relation != "==>" or truth(before, env) is True:
                        self.aside(hint, env)
                        self.claim((relation, before, line), env)
                    before = line
            case ("for", name, (low, high), p, proof):
                for k in ranged(value(low, env), value(high, env)):
                    inner = {**env, name: k}
                    self.steps(proof, inner)
                    self.claim(p, {**env, name: k})
            case ("if", p, then, otherwise):
                known = truth(p, env)
                if known is None:
                    raise Unknown
                self.scoped(then if known else otherwise, env)
            case ("cases", *arms):
                open_arms = []
                for p, arm in arms:
                    known = truth(p, env)
                    if known is None:
                        raise Unknown
                    if known:
                        open_arms.append(arm)
                if not open_arms:
                    raise Fault(f"no case at {env}")
                self.scoped(self.random.choice(open_arms), env)
            case ("var", name, sort, e):
                env[name] = self.typed(value(e, env), sort)
            case (":=", name, e):
                env[name] = value(e, env)
            case (":|", name, sort, p):
                fitting = [v for v in values(sort) if truth(p, {**env, name: v}) is True]
                if not fitting:
                    raise Unknown
                env[name] = self.random.choice(fitting)
            case ("lemma", out, name, args):
                self.call(out, self.lemmas[name], [value(arg, env) for arg in args], env)
            case ("return",):
                raise _Returned

    def aside(self, proof: Body, env: Env) -> None:
        self.steps(proof, dict(env))

    def scoped(self, body: Body, env: Env) -> None:
        """Variables declared in `body` end with it; assignments stay."""
        inner = dict(env)
        declared = {step[1] for step in body if step[0] in ("var", ":|")} | {s[1] for s in body if s[0] == "lemma"}
        try:
            self.steps(body, inner)
        finally:
            env.update({name: v for name, v in inner.items() if name in env and name not in declared})

    def typed(self, v: Any, sort: str) -> Any:
        if sort == "nat" and v < 0:
            raise Undefined("a natural number is expected")
        return v

    def call(self, out: str | None, callee: Lemma, args: list[Any], env: Env) -> None:
        own = {name: self.typed(arg, sort) for (name, sort), arg in zip(callee.params, args, strict=True)}
        for clause in callee.requires:
            self.claim(clause, own)
        if callee is self.lemma:
            self.smaller(own)
        if out is not None and callee.result is not None:
            name, sort = callee.result
            fitting = [v for v in values(sort) if all(truth(e, {**own, name: v}) is True for e in callee.ensures)]
            if not fitting:
                raise Unknown
            env[out] = self.random.choice(fitting)

    def smaller(self, own: Env) -> None:
        """By the measure of the lemma, or by its parameters of whole numbers."""
        if self.lemma.decreases is not None:
            measures: list[Tree] = [self.lemma.decreases]
        else:
            measures = [("var", name) for name, sort in self.lemma.params if sort in ("int", "nat")]
        for measure in measures:
            new, old = value(measure, own), value(measure, self.start)
            if new != old:
                if new < old and old >= 0:
                    return
                raise Fault(f"{new} is not below {old}")
        raise Fault("the same measure")


def values(sort: str) -> list[Any]:
    """Values of a type: the small ones, and some others."""
    match sort:
        case "real":
            return [*TRIED_REALS, Fraction(1, 3), Fraction(-7, 3), Fraction(100)]
        case "int":
            return [*TRIED["int"], -12, 17, 60]
        case "nat":
            return [*TRIED["nat"], 12, 31]
        case "set<int>":
            return [frozenset(s) for s in ((), (0,), (-1, 2), (0, 1, 2), (1, 3, 5, 8), (-4,))]
        case "seq<int>":
            return [(), (0,), (2, -1), (1, 1, 1), (3, 0, 5, 2)]
        case "(int, int)":
            return [(0, 0), (1, -1), (2, 3), (-3, 7)]
        case "int -> int":
            return [
                lambda x: 0,
                lambda x: x,
                lambda x: -x,
                lambda x: x * x + 1,
                lambda x: x % 3,
                lambda x: 5 - 2 * x,
                lambda x: 7 if x == 0 else x - 1,
            ]
    return list(TRIED["bool"])


def faults(program: Program, seed: str, runs: int = 60) -> Iterator[str]:
    """What is wrong with the program, as far as that many runs of each of its lemmas show."""
    lemmas = {lemma.name: lemma for lemma in program.lemmas}
    source = random.Random(seed)
    for lemma in program.lemmas:
        for _ in range(runs):
            env = {name: source.choice(values(sort)) for name, sort in lemma.params}
            try:
                Run(lemma, lemmas, env, source).whole()
            except Unknown:
                continue
            except (Fault, Undefined) as error:
                yield f"{lemma.name} at {env}: {error}"
                break


def satisfied(lemma: Lemma, seed: str, runs: int = 200) -> Env | None:
    """Values that meet the lemma's preconditions."""
    source = random.Random(seed)
    for _ in range(runs):
        env = {name: source.choice(values(sort)) for name, sort in lemma.params}
        try:
            if all(truth(clause, env) is True for clause in lemma.requires):
                return env
        except (Undefined, Unknown):
            continue
    return None
