"""Exact evaluation, folding and simplification against running the same expression in Python."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("z3")
from formal_lemma_maker import Maker
from formal_lemma_programs import Lemma, Program, values
from formal_lemmas import Env, Undefined, Unknown, value

from maxproof.formal.embedded.core import CoreLemma, CoreProgram, Term
from maxproof.formal.embedded.encode.scope import Scope
from maxproof.formal.embedded.encode.simplify import Simplifier
from maxproof.formal.embedded.errors import ResolutionError, Unsupported
from maxproof.formal.embedded.evaluate.evaluator import Budget, Evaluator, Function, NotComputable
from maxproof.formal.embedded.evaluate.evaluator import Undefined as UndefinedHere
from maxproof.formal.embedded.evaluate.fold import Folder
from maxproof.formal.embedded.resolve.program import resolve
from maxproof.formal.prelude.load import prelude
from maxproof.formal.syntax.ast import Program as Source
from maxproof.formal.syntax.parse import parse_program

BUDGET = Budget(steps=20_000)
TOGETHER = 50  # lemmas in one program, so that the prelude is resolved once for all


def resolved(lemmas: list[Lemma]) -> CoreProgram:
    own = parse_program(Program(tuple(lemmas)).text).declarations
    return resolve(Source((*prelude().definitions.declarations, *own)))


def claims(seed: str, count: int) -> Iterator[tuple[Lemma, CoreLemma, CoreProgram]]:
    """Lemmas with one postcondition, those that are ill-formed left out."""
    for start in range(0, count, TOGETHER):
        lemmas: list[Lemma] = []
        for number in range(start, start + TOGETHER):
            maker = Maker(f"{seed}.{number}")
            claim = maker.claim()
            lemmas.append(Lemma(f"l{number}", maker.parameters(claim), (), (claim,), ()))
        try:
            core = resolved(lemmas)
        except (ResolutionError, Unsupported):
            for lemma in lemmas:
                try:
                    core = resolved([lemma])
                except (ResolutionError, Unsupported):
                    continue
                yield lemma, core.lemmas[lemma.name], core
            continue
        for lemma in lemmas:
            yield lemma, core.lemmas[lemma.name], core


def here(v: Any) -> Any:
    return Function(lambda args: v(*args)) if callable(v) else v


def outcome(core: CoreProgram, term: Term, env: Env) -> bool | str:
    """The value by exact evaluation, or why there is none."""
    try:
        given = tuple(map(here, env.values()))
        return bool(Evaluator(core).expression(term, tuple(env)).value(given, BUDGET))
    except UndefinedHere:
        return "undefined"
    except NotComputable:
        return "unknown"


def expected(lemma: Lemma, env: Env) -> bool | str:
    try:
        return bool(value(lemma.ensures[0], env))
    except Undefined:
        return "undefined"
    except Unknown:
        return "unknown"


def compare(seed: str, count: int, points: int) -> dict[str, int]:
    told = {"claims": 0, "values": 0}
    source = random.Random(seed)
    for lemma, own, core in claims(seed, count):
        told["claims"] += 1
        term = own.ensures[0]
        folded = Folder(core).fold(term)
        simplify = Simplifier(core, Scope(core, own.name), Folder(core).fold)
        simple = simplify(folded)
        for _ in range(points):
            env = {name: source.choice(values(sort)) for name, sort in lemma.params}
            want = expected(lemma, env)
            found = outcome(core, term, env)
            shown = f"{lemma.text}\nat {env}"
            if want == "undefined":
                assert found in ("undefined", "unknown"), shown
                continue  # then rewriting may give it any value
            if isinstance(want, bool):
                assert found in (want, "unknown"), shown
                for rewritten in (folded, simple):
                    assert outcome(core, rewritten, env) in (want, "unknown"), f"{shown}\n{rewritten}"
            told["values"] += isinstance(want, bool) and isinstance(found, bool)
    return told


def test_expressions_have_the_value_that_python_gives_them() -> None:
    told = compare("terms", 1500, points=3)
    assert told["claims"] > 1300
    assert told["values"] > 2500


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_many_expressions_have_the_value_that_python_gives_them(part: int) -> None:
    compare(f"terms{part}", 5000, points=12)
