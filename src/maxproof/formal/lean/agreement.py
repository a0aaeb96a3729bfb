"""Whether a statement says the same in Lean and in Dafny, tried on random values.

The Lean side is evaluated by `reading` from Mathlib's definitions, the Dafny side by the evaluator of the embedded
checker from the lemma as it is posed. Propositions are taken apart in step, so that both sides of every comparison are
compared as numbers, and under a quantifier for random values of its variable; a real function that has no exact value
(a sine, say) is passed by comparing its arguments. What this shows is that operations, their order and what they give
outside their usual domains mean the same; which types Lean gives to what stands under test elsewhere.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice
from typing import Any, Final

from maxproof.formal.embedded.core import (
    Builtin,
    Call,
    CoreLemma,
    CoreProgram,
    Op,
    Quant,
)
from maxproof.formal.embedded.core import Lambda as CoreLambda
from maxproof.formal.embedded.core import Term as CoreTerm
from maxproof.formal.embedded.core.walk import free_variables
from maxproof.formal.embedded.evaluate.evaluator import Budget, Data, Function, evaluate
from maxproof.formal.embedded.evaluate.evaluator import NotComputable as NotEvaluated
from maxproof.formal.embedded.resolve.program import resolve
from maxproof.formal.lean.lower import chain, lower
from maxproof.formal.lean.reading import NotComputable, Value, value_of
from maxproof.formal.lean.terms import (
    COMPLEX,
    INT,
    NAT,
    NNREAL,
    PNAT,
    PROP,
    RAT,
    REAL,
    Arith,
    Arrow,
    Compare,
    Connective,
    Constant,
    EquivType,
    FiniteSet,
    Fold,
    Interval,
    ListType,
    Negate,
    Not,
    Power,
    Quantify,
    SetType,
    Statement,
    Term,
    Type,
    ZMod,
)
from maxproof.formal.prelude.assemble import assemble
from maxproof.formal.problem import FormalProblem

BUDGET: Final = Budget(steps=50_000)
LARGEST_INVERSE: Final = 2_000
_CONNECTIVES: Final = {"∧": Op.AND, "∨": Op.OR, "→": Op.IMPLIES, "↔": Op.IFF}


@dataclass(slots=True)
class Agreement:
    """What the comparison gave.

    Attributes:
        compared: values and truth values that were computed on both sides.
        skipped: parts that one side couldn't compute.
        differences: one line for each pair that differed; at most 5.
    """

    compared: int = 0
    skipped: int = 0
    differences: list[str] = field(default_factory=list)


def agreement(statement: Statement, problem: FormalProblem, trials: int = 12, seed: int = 0) -> Agreement:
    """Compares both readings on `trials` random assignments of the statement's parameters."""
    task = assemble((*problem.definitions, problem.lemma), [problem.name])
    core = resolve(task.program, task.targets)
    outcome = Agreement()
    for trial in range(trials):
        source = random.Random(f"{seed}.{statement.name}.{trial}")
        _Trial(core, source, outcome).run(statement, core.lemmas[problem.name])
    del outcome.differences[5:]
    return outcome


@dataclass(slots=True)
class _Trial:
    core: CoreProgram
    source: random.Random
    outcome: Agreement

    def run(self, statement: Statement, lemma: CoreLemma) -> None:
        lowered = lower(statement)
        lean: dict[int, Value] = {}
        dafny: dict[str, Any] = {}
        params = iter(lemma.params)
        for var in lowered.params:
            name = next(params).name
            if var not in statement.params:  # a finite set: what it holds is for the hypotheses to say
                continue
            if isinstance(var.type, EquivType):
                inverse = next(params).name
                lean[var.index], dafny[name], dafny[inverse] = self._bijection()
                continue
            lean[var.index] = value = random_value(var.type, self.source, lean)
            dafny[name] = as_dafny(value, var.type)
        sizes = [len(list(chain(h))) for h in lowered.hypotheses]  # type: ignore[arg-type]
        given = lemma.requires[: len(lemma.requires) - sum(sizes)]
        for param in params:
            self._inverse(param.name, given, dafny)
        rest = list(lemma.requires[len(given) :])
        for hypothesis, size in zip(statement.hypotheses, sizes, strict=True):
            clauses, rest = rest[:size], rest[size:]
            if not isinstance(hypothesis, FiniteSet):
                self._clauses(hypothesis, clauses, lean, dafny)
        self._clauses(statement.conclusion, lemma.ensures, lean, dafny)

    def _bijection(self) -> tuple[Value, Function, Function]:
        slope, shift = Fraction(self.source.choice((-3, -1, 2, 5)), 2), Fraction(self.source.randint(-4, 4))

        def forward(x: Fraction) -> Fraction:
            return slope * x + shift

        def backward(y: Fraction) -> Fraction:
            return (y - shift) / slope

        return (forward, backward), Function(lambda a: forward(a[0])), Function(lambda a: backward(a[0]))

    def _inverse(self, name: str, given: Sequence[CoreTerm], dafny: dict[str, Any]) -> None:
        """Finds the inverse in ZMod that a precondition determines, if it's a number."""
        for clause in given:
            names = {v.name for v in free_variables(clause)}
            if name in names and names <= {*dafny, name} and not isinstance(clause, Quant):
                for value in range(LARGEST_INVERSE):
                    try:
                        if evaluate(clause, self.core, {**dafny, name: value}, BUDGET) is True:
                            dafny[name] = value
                            return
                    except NotEvaluated:
                        return

    def _clauses(
        self, term: Term, clauses: Sequence[CoreTerm], lean: Mapping[int, Value], dafny: Mapping[str, Any]
    ) -> None:
        parts = list(chain(term))
        if len(parts) == len(clauses):
            for part, clause in zip(parts, clauses, strict=True):
                self.pair(part, clause, lean, dafny)
            return
        try:
            expected = bool(value_of(term, lean))
            actual = all(self._evaluate(c, dafny) for c in clauses)
        except (NotComputable, NotEvaluated):
            self.outcome.skipped += 1
            return
        self._note(expected, actual, term, clauses[0])

    def _evaluate(self, term: CoreTerm, dafny: Mapping[str, Any]) -> Any:
        names = {v.name for v in free_variables(term)}
        if not names <= set(dafny):
            raise NotEvaluated("a variable without a value")
        return evaluate(term, self.core, {n: v for n, v in dafny.items() if n in names}, BUDGET)

    def _note(self, expected: Any, actual: Any, term: Term, clause: CoreTerm) -> None:
        self.outcome.compared += 1
        if expected != actual:
            where = f"line {term.at.line}, column {term.at.column}"
            self.outcome.differences.append(f"{where}: {expected} in Lean, {actual} in Dafny")

    # Taking both sides apart in step

    def pair(self, term: Term, clause: CoreTerm, lean: Mapping[int, Value], dafny: Mapping[str, Any]) -> None:
        """Compares a term with its translation."""
        match term, clause:
            case Quantify("∀" | "∃" as kind), Quant() if clause.kind == ("forall" if kind == "∀" else "exists"):
                self._quantified(term, clause, lean, dafny)
                return
            case Connective(op), Builtin() if clause.op is _CONNECTIVES[op]:
                parts = list(chain(term, op)) if op in ("∧", "∨") else [term.left, term.right]
                args = _flat(clause) if op in ("∧", "∨") else list(clause.args)
                if len(parts) == len(args):
                    for part, arg in zip(parts, args, strict=True):
                        self.pair(part, arg, lean, dafny)
                    return
            case Not(value), Builtin(Op.NOT, (arg,)):
                self.pair(value, arg, lean, dafny)
                return
            case Compare(op, left, right), _ if not isinstance(left.type, ZMod | SetType):
                sides = _sides(op, clause)
                if sides is not None:
                    self.pair(left, sides[0], lean, dafny)
                    self.pair(right, sides[1], lean, dafny)
                    return
        if isinstance(term.type, Arrow):
            self.outcome.skipped += 1
            return
        try:
            expected = as_dafny(value_of(term, lean), term.type)
            actual = self._evaluate(clause, dafny)
        except (NotComputable, NotEvaluated, KeyError):
            self._inside(term, clause, lean, dafny)
            return
        self._note(expected, actual, term, clause)

    def _quantified(self, term: Quantify, clause: Quant, lean: Mapping[int, Value], dafny: Mapping[str, Any]) -> None:
        body: Term = term
        lean, dafny = dict(lean), dict(dafny)
        for var in clause.vars:
            if not isinstance(body, Quantify) or isinstance(body.var.type, EquivType):
                self.outcome.skipped += 1
                return
            value = random_value(body.var.type, self.source, lean)
            lean[body.var.index], dafny[var.name] = value, as_dafny(value, body.var.type)
            body = body.body
        self.pair(body, clause.body, lean, dafny)

    def _inside(self, term: Term, clause: CoreTerm, lean: Mapping[int, Value], dafny: Mapping[str, Any]) -> None:
        """Compares the parts of a term that can't be computed, where the translation has the same parts."""
        parts: tuple[Term, ...] = ()
        match term:
            case Fold(_, var, Interval(), body):
                if isinstance(clause, Call) and isinstance(clause.args[-1], CoreLambda):
                    value = self.source.randint(0, 9)
                    function = clause.args[-1]
                    inner = {**dafny, function.params[0].name: value}
                    self.pair(body, function.body, {**lean, var.index: value}, inner)
                    return
            case Arith(_, left, right):
                parts = (left, right)
            case Power(base, exponent) if isinstance(clause, Call):
                parts = (base, exponent)
            case Negate(value):
                parts = (value,)
            case Constant(_, given):
                parts = given
        args = clause.args if isinstance(clause, Call | Builtin) else ()
        if not parts or len(parts) != len(args):
            self.outcome.skipped += 1
            return
        for part, arg in zip(parts, args, strict=True):
            self.pair(part, arg, lean, dafny)


def _flat(clause: Builtin) -> list[CoreTerm]:
    parts: list[CoreTerm] = []
    for arg in clause.args:
        parts += _flat(arg) if isinstance(arg, Builtin) and arg.op is clause.op else [arg]
    return parts


def _sides(op: str, clause: CoreTerm) -> tuple[CoreTerm, CoreTerm] | None:
    """The operands of a comparison in Lean's order; None if `clause` isn't that comparison."""
    if op == "≠" and isinstance(clause, Builtin) and clause.op is Op.NOT:
        op, clause = "=", clause.args[0]
    wanted = {"=": Op.EQ, "<": Op.LT, ">": Op.LT, "≤": Op.LE, "≥": Op.LE}.get(op)
    if not isinstance(clause, Builtin) or clause.op is not wanted:
        return None
    first, second = clause.args
    return (second, first) if op in (">", "≥") else (first, second)


# Random values


def random_value(type_: Type, source: random.Random, values: Mapping[int, Value]) -> Value:
    """A small value of a type, as `reading` has it."""
    match type_:
        case Arrow(_, codomain):
            return _random_function(codomain, source.getrandbits(64), values)
        case SetType(element) | ListType(element):
            items = [random_value(element, source, values) for _ in range(source.randint(0, 4))]
            return frozenset(items) if isinstance(type_, SetType) else tuple(items)
    if type_ == PROP:
        return source.random() < 0.5
    if type_ == NAT:
        return source.choice((0, 1, 2, 3, source.randint(0, 12)))
    if type_ == PNAT:
        return source.randint(1, 9)
    if type_ == INT or isinstance(type_, ZMod):
        return source.randint(-9, 9)
    real = Fraction(source.randint(-12, 12), source.choice((1, 1, 2, 3))) ** source.choice((1, 1, 2))
    if type_ == COMPLEX:
        return (real, Fraction(source.randint(-4, 4)))
    assert type_ in (RAT, REAL, NNREAL), type_
    return abs(real) if type_ == NNREAL else real


def _random_function(codomain: Type, key: int, values: Mapping[int, Value]) -> Value:
    """A function whose value at a point depends on the point and `key` only."""

    def at(argument: Value) -> Value:
        point = f"{key}.{argument[0]},{argument[1]}" if isinstance(argument, tuple) else f"{key}.{argument}"
        return random_value(codomain, random.Random(point), values)

    return at


def as_dafny(value: Value, type_: Type) -> Any:
    """A value of `reading` as one of the embedded checker's evaluator.

    Raises:
        NotComputable: a value that has no such form.
    """
    match type_:
        case Arrow():
            return _function(value, type_)
        case SetType(element):
            return frozenset(as_dafny(v, element) for v in value)
        case ListType(element):
            return tuple(as_dafny(v, element) for v in value)
        case EquivType():
            raise NotComputable("an equivalence as a value")
    if type_ == COMPLEX:
        return Data("Complex", value)
    return Fraction(value) if type_ in (RAT, REAL, NNREAL) else value


def _function(value: Value, type_: Arrow) -> Function:
    domains: list[Type] = []
    codomain: Type = type_
    while isinstance(codomain, Arrow):
        domains.append(codomain.domain)
        codomain = codomain.codomain

    def apply(args: tuple[Any, ...]) -> Any:
        result = value
        for arg in islice(args, len(domains)):
            result = result(arg.fields if isinstance(arg, Data) else arg)
        return as_dafny(result, codomain)

    return Function(apply)
