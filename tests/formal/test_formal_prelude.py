"""The prelude: what it declares, what its catalogue of axioms says, and how programs are assembled from it."""

from __future__ import annotations

import math
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpmath
import pytest

from maxproof.formal.prelude.assemble import assemble
from maxproof.formal.prelude.load import LIBRARY, prelude
from maxproof.formal.syntax.ast import (
    Apply,
    Binary,
    Comparison,
    Datatype,
    Expr,
    Function,
    IntLiteral,
    Lemma,
    Name,
    Program,
    Quantifier,
    RealLiteral,
    Unary,
)
from maxproof.formal.syntax.parse import parse_program
from maxproof.formal.syntax.walk import descendants, names_used
from maxproof.problems import InputError

# Names that statements rely on.
NAMES = """
iabs imin imax idiv imod monus ipow even odd divides gcd lcm coprime prime factorial choose divisors digits
of_digits seq_isum isum iprod rsum rprod csum set_isum set_iprod set_rsum set_rprod rset_rsum rset_rprod rabs rmin
rmax rdiv floor ceil pow zpow rpow sqrt exp log logb sin cos tan pi is_rational rat_num rat_den complex cadd csub
cneg cmul cinv cdiv cpow cabs cnormsq conj cexp tends_to has_limit
"""


def declarations() -> tuple[Any, ...]:
    return (*prelude().definitions.declarations, *prelude().library.declarations)


def test_every_promised_name_is_defined() -> None:
    defined = {declaration.name for declaration in prelude().definitions.declarations}
    assert set(NAMES.split()) <= defined


def test_the_library_is_of_lemmas_and_names_are_unique() -> None:
    assert all(isinstance(declaration, Lemma) for declaration in prelude().library.declarations)
    names = [declaration.name for declaration in declarations()]
    assert len(names) == len(set(names))
    assert len(prelude().library.declarations) >= 150


def test_every_name_in_use_is_declared() -> None:
    known = {declaration.name for declaration in declarations()} | {"Complex"}
    known |= {"int", "nat", "real", "bool", "set", "seq"}
    for declaration in declarations():
        assert names_used(declaration) <= known, declaration.name


def test_lemmas_come_after_those_that_they_call() -> None:
    order = {declaration.name: index for index, declaration in enumerate(prelude().library.declarations)}
    files = {}
    for name in LIBRARY:
        source = Path(__file__).parents[2] / "src/maxproof/formal/prelude/library" / f"{name}.dfy"
        for declaration in parse_program(source.read_text("utf-8")).declarations:
            files[declaration.name] = name
    for lemma in prelude().library.declarations:
        for called in names_used(lemma) & set(order):
            assert LIBRARY.index(files[called]) <= LIBRARY.index(files[lemma.name]), (lemma.name, called)


def test_functions_are_total() -> None:
    """Statements must not be ill-formed for want of a domain."""
    for declaration in prelude().definitions.declarations:
        if isinstance(declaration, Function):
            assert not declaration.requires, declaration.name
            assert all("nat" not in repr(param.type) for param in declaration.params), declaration.name


def test_the_catalogue_lists_exactly_what_has_no_proof() -> None:
    unproved = {d.name for d in declarations() if not isinstance(d, Datatype) and d.body is None}
    assert {axiom.name for axiom in prelude().axioms} == unproved
    assert all(axiom.says and "Mathlib" in axiom.source for axiom in prelude().axioms)
    for declaration in declarations():
        marked = not isinstance(declaration, Datatype) and any(a.name == "axiom" for a in declaration.attributes)
        assert marked == (declaration.name in unproved), declaration.name


# Axioms against numbers

NUMBERS: dict[str, Callable[..., Any]] = {
    "exp": mpmath.exp,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "pi": lambda: +mpmath.pi,
}
TOLERANCE = mpmath.mpf(10) ** -25


def number(term: Expr, at: dict[str, Any]) -> Any:
    match term:
        case RealLiteral(value):
            return mpmath.mpf(value.numerator) / value.denominator
        case IntLiteral(value):
            return mpmath.mpf(value)
        case Name(name):
            return at[name]
        case Apply(Name(name), args):
            return NUMBERS[name](*(number(arg, at) for arg in args))
        case Unary("-", operand):
            return -number(operand, at)
        case Binary("+", left, right):
            return number(left, at) + number(right, at)
        case Binary("-", left, right):
            return number(left, at) - number(right, at)
        case Binary("*", left, right):
            return number(left, at) * number(right, at)
        case Binary("/", left, right):
            return number(left, at) / number(right, at)
    raise NotImplementedError(term)


def holds(claim: Expr, at: dict[str, Any], slack: Any) -> bool:
    """Whether `claim` holds, comparisons up to `slack` relative to their size."""
    match claim:
        case Binary("&&", left, right):
            return holds(left, at, slack) and holds(right, at, slack)
        case Binary("==>", left, right):
            return not holds(left, at, -slack) or holds(right, at, slack)
        case Quantifier("exists", (binder,), Comparison((Apply(Name("exp"), _), Name(value)), ("==",))):
            return abs(mpmath.exp(mpmath.log(at[value])) - at[value]) <= TOLERANCE * at[value] and bool(binder.name)
        case Comparison(operands, ops):
            values = [number(operand, at) for operand in operands]
            return all(
                compare(op, left, right, slack * max(1, abs(left), abs(right)))
                for op, left, right in zip(ops, values, values[1:], strict=False)
            )
    raise NotImplementedError(claim)


def compare(op: str, left: Any, right: Any, slack: Any) -> bool:
    if op == "==":
        return abs(left - right) <= abs(slack)
    if op in ("<", "<="):
        return left <= right + slack
    return left + slack >= right


@pytest.mark.parametrize("axiom", prelude().axioms, ids=lambda axiom: axiom.name)
def test_axioms_hold_at_random_points(axiom: Any) -> None:
    declaration = next(d for d in declarations() if d.name == axiom.name)
    generator = random.Random(axiom.name)
    tried = 0
    with mpmath.workdps(50):
        for attempt in range(2000):
            size = generator.choice((0.01, 1.0, 4.0, 50.0))
            at = {param.name: mpmath.mpf(generator.uniform(-size, size)) for param in declaration.params}
            if attempt == 0:
                at = dict.fromkeys(at, mpmath.mpf(0))
            if all(holds(clause.condition, at, -TOLERANCE) for clause in declaration.requires):
                tried += 1
                for clause in declaration.ensures:
                    assert holds(clause.condition, at, TOLERANCE), at
    assert tried >= 100
    assert declaration.ensures


def test_a_wrong_axiom_would_be_noticed() -> None:
    wrong = parse_program("lemma wrong(x: real) ensures exp(x + x) == exp(x) + exp(x)").lemmas[0]
    with mpmath.workdps(50):
        assert not holds(wrong.ensures[0].condition, {"x": mpmath.mpf(2)}, TOLERANCE)
        assert math.isclose(number(wrong.ensures[0].condition.operands[0], {"x": mpmath.mpf(2)}), math.exp(4))  # type: ignore[union-attr]


# Assembling


def made(text: str, *targets: str) -> Program:
    return assemble(parse_program(text).declarations, targets).program


def names(program: Program) -> list[str]:
    return [declaration.name for declaration in program.declarations]


def test_a_program_gets_just_what_it_uses() -> None:
    assert names(made("lemma a(x: int) ensures x < x + 1 {}", "a")) == ["a"]
    program = made("lemma a(n: int) requires coprime(n, 6) ensures n % 2 == 1 { mod_of_mod(n, 2); }", "a")
    assert names(program) == ["iabs", "gcd", "coprime", "mod_of_mod", "a"]


def test_lemmas_of_the_prelude_come_without_proof_unless_they_are_targets() -> None:
    text = "lemma a(x: real) ensures sqrt(x * x) == rabs(x) { sqrt_of_square(x); }"
    used = made(text, "a")["sqrt_of_square"]
    assert isinstance(used, Lemma)
    assert used.body is None
    assert [attribute.name for attribute in used.attributes] == ["axiom"]
    proved = assemble((), ("sqrt_of_square",)).program
    target = proved["sqrt_of_square"]
    assert isinstance(target, Lemma)
    assert target.body
    assert "rabs_square" in names(proved)
    assert "rabs_square" not in names(made(text, "a"))


def test_functions_come_word_for_word() -> None:
    used = made("lemma a() ensures sqrt(4.0) == 2.0 {}", "a")["sqrt"]
    assert used == prelude().definitions["sqrt"]


def test_types_and_constructors_are_found() -> None:
    assert names(made("lemma a(z: complex) ensures z == z {}", "a")) == ["complex", "a"]
    assert names(made("lemma a() ensures Complex(1.0, 2.0).re == 1.0 {}", "a")) == ["complex", "a"]


def test_a_variable_of_that_name_is_no_use() -> None:
    assert names(made("lemma a(gcd: int, exp: real) ensures gcd * gcd >= 0 && exp == exp {}", "a")) == ["a"]


def test_the_order_is_the_preludes() -> None:
    first = made("lemma a() ensures even(2) ensures iabs(2) == 2 ensures prime(2) {}", "a")
    second = made("lemma a() ensures prime(2) ensures even(2) ensures iabs(2) == 2 {}", "a")
    assert names(first)[:-1] == names(second)[:-1] == ["iabs", "even", "divides", "prime"]


@pytest.mark.parametrize(
    ("text", "target", "said"),
    [
        ("function gcd(a: int): int { a }", "gcd", "gcd is a name of the prelude"),
        ("lemma sqrt_of_square() {}", "sqrt_of_square", "sqrt_of_square is a name of the prelude"),
        ("datatype d = Complex(a: int)", "d", "Complex is a name of the prelude"),
        ("lemma a() {}", "b", "there is no declaration b"),
    ],
)
def test_clashes_and_unknown_targets_are_refused(text: str, target: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        made(text, target)


def test_two_declarations_of_one_name_are_refused() -> None:
    lemma = parse_program("lemma a() {}").declarations
    with pytest.raises(InputError, match="a is declared twice"):
        assemble((*lemma, *lemma), ("a",))


def test_every_part_of_the_prelude_assembles() -> None:
    known = {declaration.name for declaration in declarations()}
    for name in sorted(known):
        program = assemble((), (name,)).program
        given = set(names(program))
        for declaration in program.declarations:
            assert names_used(declaration) & known <= given, name
        bodies = [node for d in program.declarations for node in descendants(d)]
        assert name in given
        assert bodies


@pytest.mark.slow
def test_a_wheel_holds_the_prelude(tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    from hatchling.builders.wheel import WheelBuilder

    (wheel,) = WheelBuilder(str(Path(__file__).parents[2])).build(directory=str(tmp_path))
    held = set(zipfile.ZipFile(wheel).namelist())
    folder = "maxproof/formal/prelude"
    assert {f"{folder}/definitions.dfy", f"{folder}/axioms.toml"} <= held
    assert {f"{folder}/library/{name}.dfy" for name in LIBRARY} <= held
