"""Conclusions taken apart: the strategies work on what is below `forall`, `==>` and `<==>`.

    ensures forall x: int :: x > 3 ==> P(x)    becomes    forall x: int | x > 3 ensures P(x) { ... }
    ensures A <==> B                           becomes    if A { ... assert B; } if B { ... assert A; }

What a hypothesis says to exist gets a name first. The opened conclusion is a question of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

from maxproof.formal.embedded.core import Bool, Builtin, CoreLemma, Op, Quant, Term
from maxproof.formal.embedded.core.show import show, show_sort
from maxproof.formal.embedded.core.walk import conjunction
from maxproof.formal.prover.algebra import algebra, values
from maxproof.formal.prover.bounds import bounds
from maxproof.formal.prover.cases import cases
from maxproof.formal.prover.divisibility import divisibility
from maxproof.formal.prover.instances import instances
from maxproof.formal.prover.library import library
from maxproof.formal.prover.logarithms import logarithms
from maxproof.formal.prover.polynomials import conjuncts
from maxproof.formal.prover.question import Proposal, Question, Strategy

INNER: tuple[Strategy, ...] = (logarithms, algebra, values, bounds, divisibility, library, cases)
MAX_DEPTH = 3
MAX_PARTS = 4

Wrap = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Part:
    """A question below the conclusion, and how the lines that prove it stand in the body."""

    question: Question
    wrap: Wrap


def opened(question: Question) -> Iterator[Proposal]:
    """For each inner strategy: its first proposal for every part that it has one for."""
    named, prefix = _named(question)
    parts = [part for goal in question.conclusions for part in _parts(named, goal, MAX_DEPTH)][:MAX_PARTS]
    if not prefix and all(part.question.goals == question.goals for part in parts):
        return
    for strategy in INNER:
        lines: list[str] = []
        helpers: dict[object, None] = {}
        for part in parts:
            for proposal in islice(strategy(part.question), 1):
                lines.append(part.wrap(" ".join(proposal.lines)))
                helpers.update(dict.fromkeys(proposal.helpers))
        if lines:
            yield Proposal(f"opened-{strategy.__name__}", (*prefix, *lines), cost=5)


def _named(question: Question) -> tuple[Question, tuple[str, ...]]:
    """The question with names for what its hypotheses say to exist, and the statements that give them."""
    prefix: list[str] = []
    known: list[Term] = []
    params = list(question.lemma.params)
    for part in (part for hypothesis in question.hypotheses for part in conjuncts(hypothesis)):
        if isinstance(part, Quant) and part.kind == "exists":
            condition = conjunction((part.range, part.body))
            declared = ", ".join(f"{var.name}: {show_sort(var.sort)}" for var in part.vars)
            prefix.append(f"var {declared} :| {show(condition)};")
            params += part.vars
            known.append(condition)
        else:
            known.append(part)
    if not prefix:
        return question, ()
    lemma = replace(question.lemma, params=tuple(params), requires=tuple(known))
    return _asked(question, replace(lemma, ensures=question.goals)), tuple(prefix)


def _asked(question: Question, lemma: CoreLemma) -> Question:
    changed = replace(question, lemma=lemma)
    return replace(changed, instances=tuple(instances(changed.hypotheses, changed.goals)))


def _parts(question: Question, goal: Term, depth: int) -> Iterator[Part]:
    lemma = question.lemma
    match goal:
        case Quant(kind="forall", vars=bound, range=range_, body=body) if depth:
            while isinstance(body, Builtin) and body.op is Op.IMPLIES:
                range_, body = conjunction((range_, body.args[0])), body.args[1]
            inner = replace(lemma, params=(*lemma.params, *bound), requires=(*lemma.requires, range_))
            declared = ", ".join(f"{var.name}: {show_sort(var.sort)}" for var in bound)
            guard = "" if range_ == Bool(True) else f" | {show(range_)}"
            for conjunct in conjuncts(body):
                heading = f"forall {declared}{guard} ensures {show(conjunct)}"
                for part in _parts(_asked(question, inner), conjunct, depth - 1):
                    yield Part(part.question, _composed(heading, part.wrap))
        case Builtin(op=Op.IMPLIES, args=(condition, body)) if depth:
            yield _under(question, condition, body)
        case Builtin(op=Op.IFF, args=(left, right)) if depth:
            yield _under(question, left, right)
            yield _under(question, right, left)
        case _:
            yield Part(_asked(question, replace(lemma, ensures=(goal,))), lambda text: text)


def _under(question: Question, condition: Term, goal: Term) -> Part:
    lemma = replace(question.lemma, requires=(*question.lemma.requires, condition), ensures=(goal,))
    return Part(_asked(question, lemma), lambda text: f"if {show(condition)} {{ {text} assert {show(goal)}; }}")


def _composed(heading: str, inner: Wrap) -> Wrap:
    return lambda text: f"{heading} {{ {inner(text)} }}"
