"""Programs that must not be accepted: each claims something false, needs something undefined, or proves itself.

`formal_attacks.txt` has one program a line, in which all declarations are to be proved.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

pytest.importorskip("z3")
from formal_dafny import needs_dafny
from formal_dafny_batch import ask

from maxproof.formal.checkers.types import CheckState, CheckTask, Limits
from maxproof.formal.embedded.checker import check_here
from maxproof.formal.embedded.errors import ResolutionError, Unsupported
from maxproof.formal.embedded.evaluate.evaluator import Evaluator
from maxproof.formal.embedded.resolve.program import resolve
from maxproof.formal.prelude.assemble import assemble
from maxproof.formal.syntax.ast import Datatype
from maxproof.formal.syntax.parse import DafnySyntaxError, parse_program

LIMITS = Limits(resource=300_000, seconds=2.0)
ATTACKS = (Path(__file__).parent / "formal_attacks.txt").read_text().splitlines()
PART = 30


def task(text: str) -> CheckTask:
    declarations = parse_program(text).declarations
    return assemble(declarations, [d.name for d in declarations if not isinstance(d, Datatype)])


@pytest.mark.parametrize("start", range(0, len(ATTACKS), PART))
def test_attacks_are_not_accepted(start: int) -> None:
    for text in ATTACKS[start : start + PART]:
        try:
            asked = task(text)
        except DafnySyntaxError:
            continue
        result = check_here(asked, LIMITS)
        assert result.state not in (CheckState.PROVED, CheckState.TOOL_ERROR), text


@needs_dafny
@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, len(ATTACKS), PART))
def test_dafny_does_not_accept_them_either(start: int, tmp_path: Path) -> None:
    for text in ATTACKS[start : start + PART]:
        try:
            said = ask(task(text), tmp_path, seconds=60.0)
        except (DafnySyntaxError, ValueError):  # refused before anything is proved
            continue
        assert not said or not all(one.verified for one in said.values()), text


def test_a_prelude_function_means_what_the_program_says() -> None:
    """Also where only what it calls is another function."""
    text = (
        "function iabs(x: int): nat { 5 } "
        "function gcd(a: int, b: int): nat ensures a != 0 || b != 0 ==> gcd(a, b) > 0 "
        "decreases if b < 0 then -b else b { if b == 0 then iabs(a) else gcd(b, a % b) } "
    )
    for value, state in ((2, CheckState.FAILED), (5, CheckState.PROVED)):
        program = parse_program(f"{text} lemma l() ensures gcd(4, 6) == {value} {{}}")
        assert check_here(CheckTask(program, ("l",)), LIMITS).state is state


@pytest.mark.parametrize(
    ("sort", "relations", "tried"),
    [
        ("int", ("==", "!=", "<", "<=", ">", ">="), list(range(4))),
        ("bool", ("==", "!=", "==>", "<==", "<==>"), [False, True]),
        ("set<int>", ("==", "!=", "<", "<=", ">", ">="), [frozenset(s) for s in ((), (1,), (2,), (1, 2))]),
        ("seq<int>", ("==", "!=", "<", "<="), [(), (1,), (2,), (1, 2), (1, 2, 3)]),
    ],
)
def test_a_calculation_concludes_what_its_steps_say(sort: str, relations: tuple[str, ...], tried: list[object]) -> None:
    read = 0
    for count in (1, 2, 3):
        names = "abcd"[: count + 1]
        for chosen in itertools.product(relations, repeat=count):
            lines = " ".join(f"{relation} {name};" for relation, name in zip(chosen, names[1:], strict=True))
            params = ", ".join(f"{name}: {sort}" for name in names)
            try:
                core = resolve(parse_program(f"lemma l({params}) {{ calc {{ a; {lines} }} }}"), ("l",))
            except (ResolutionError, Unsupported):
                continue  # nothing follows
            read += 1
            body = core.lemmas["l"].body
            assert body
            (step,) = body
            evaluator = Evaluator(core)
            steps = [evaluator.expression(relation, names) for relation in step.relations]
            conclusion = evaluator.expression(step.conclusion, names)
            for at in itertools.product(tried, repeat=count + 1):
                assert conclusion.value(at) or not all(one.value(at) for one in steps), (chosen, at)
    assert read > len(relations)
