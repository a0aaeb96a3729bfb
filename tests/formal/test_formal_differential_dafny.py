"""The embedded checker against Dafny 2.3, on programs made at random.

That only one of the two finds a proof is no contradiction. These are: one proves a claim and the other its negation
while its hypotheses can be met; the embedded checker refutes what Dafny verifies; it reads what Dafny can't resolve; or
it accepts and a run shows that Dafny was right to complain.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from formal_dafny import needs_dafny
from formal_dafny_batch import Said, ask
from formal_lemma_maker import Maker
from formal_lemma_programs import Lemma, Program, faults, satisfied

pytest.importorskip("z3")

from maxproof.formal.checkers.types import CheckResult, CheckState, CheckTask, Limits, ObligationKind, ObligationState
from maxproof.formal.embedded.checker import check_here
from maxproof.formal.prelude.assemble import assemble
from maxproof.formal.syntax.parse import parse_program

LIMITS = Limits(resource=200_000, seconds=2.0)
OWN = ("up", "fib")


def named(program: Program, prefix: str) -> Program:
    """With other names for its lemmas, so that many programs make one."""
    names = {lemma.name: prefix + lemma.name for lemma in program.lemmas}

    def step(tree: Any) -> Any:
        match tree:
            case ("lemma", out, name, args):
                return ("lemma", out, names[name], args)
            case tuple():
                return tuple(map(step, tree))
        return tree

    return Program(tuple(replace(lemma, name=names[lemma.name], body=step(lemma.body)) for lemma in program.lemmas))


def task(program: Program) -> CheckTask:
    declarations = parse_program(program.text).declarations
    return assemble(declarations, [declaration.name for declaration in declarations])


def negated(lemma: Lemma, name: str) -> Lemma:
    return Lemma(name, lemma.params, lemma.requires, (("!", lemma.ensures[0]),), ())


def compare(seed: str, count: int, folder: Path, seconds: float) -> Counter[str]:
    """Programs that the embedded checker reads go to Dafny in one file, with the negations of what it proves."""
    programs: dict[str, Program] = {}
    here: dict[str, CheckResult] = {}
    for number in range(count):
        prefix = f"p{number}"
        program = named(Maker(f"{seed}.{number}").program(0.6), prefix)
        result = check_here(task(program), LIMITS)
        if result.state in (CheckState.PROVED, CheckState.FAILED, CheckState.TIMEOUT):
            programs[prefix], here[prefix] = program, result
    lemmas = [lemma for program in programs.values() for lemma in program.lemmas]
    opposite = {
        p: negated(own.lemmas[-1], f"{p}not") for p, own in programs.items() if here[p].state is CheckState.PROVED
    }
    there = ask(task(Program((*lemmas, *opposite.values()))), folder, seconds)
    classes: Counter[str] = Counter()
    for prefix, program in programs.items():
        said = [there[lemma.name] for lemma in program.lemmas if lemma.name in there]
        if any(name in program.text for name in OWN):
            said += [there[name] for name in OWN if name in there]
        classes[judged(program, here[prefix], said, there.get(f"{prefix}not"))] += 1
    return classes


def judged(program: Program, result: CheckResult, said: list[Said], opposite: Said | None) -> str:
    """The class of agreement. Fails on a contradiction."""
    verified = len(said) >= len(program.lemmas) and all(one.verified for one in said)
    messages = [message for one in said for message in one.messages]
    if result.state is CheckState.PROVED:
        main = program.lemmas[-1]
        if opposite is not None and opposite.verified and not opposite.messages:
            assert satisfied(main, main.name) is None, f"Dafny proves the negation of\n{program.text}"
        if verified:
            return "both prove"
        assert not list(faults(program, program.text, 300)), f"Dafny says {messages} of\n{program.text}"
        return "embedded only: " + (messages[0] if messages else "Dafny gives up")
    refuted = [o for o in result.obligations if o.state is ObligationState.REFUTED and o.confirmed]
    if verified:
        wrong = [o for o in refuted if o.kind is not ObligationKind.OTHER]
        assert not wrong, (
            f"Dafny verifies, we refute {wrong[0].text} by {dict(wrong[0].counterexample)}:\n{program.text}"
        )
        return "Dafny only"
    return "both refuse"


@needs_dafny
def test_no_contradictions_with_dafny(tmp_path: Path) -> None:
    classes = compare("dafny", 14, tmp_path, seconds=120.0)
    assert classes["both prove"] > 1
    assert classes["both refuse"] > 1


@needs_dafny
@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_no_contradictions_with_dafny_on_many(part: int, tmp_path: Path) -> None:
    classes = compare(f"dafny{part}", 150, tmp_path, seconds=900.0)
    print("\n".join(f"{count:4} {name}" for name, count in classes.most_common()))
    assert classes["both prove"] > 20
