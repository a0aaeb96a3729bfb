"""Each construct of the fragment in a true claim, which must be proved, and a false one, which must not be."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("z3")

from maxproof.formal.checkers.types import Limits, ObligationResult, ObligationState
from maxproof.formal.embedded.core import BOOL, INT, Builtin, Call, CoreFunction, CoreProgram, Int, Obligation, Op, Var
from maxproof.formal.embedded.obligations import obligations
from maxproof.formal.embedded.resolve.program import resolve
from maxproof.formal.embedded.solve.residues import holds_by_residues
from maxproof.formal.embedded.solve.solver import solve
from maxproof.formal.prelude.assemble import assemble
from maxproof.formal.syntax.ast import NOWHERE
from maxproof.formal.syntax.parse import parse_program

LIMITS = Limits(resource=2_000_000)


def answers(text: str) -> list[ObligationResult]:
    """Of all obligations of the lemma `main`."""
    program = parse_program(text)
    core = resolve(assemble(program.declarations, ("main",)).program)
    return [solve(core, obligation, LIMITS) for obligation in obligations(core, "main")]


def proved(text: str) -> bool:
    return all(answer.state is ObligationState.PROVED for answer in answers(text))


PAIRS = {
    "square": ("(x: real) ensures x * x >= 0.0", "(x: real) ensures x * x > 0.0"),
    "integers are discrete": ("(x: int) requires 0 < x ensures 1 <= x", "(x: real) requires 0.0 < x ensures 1.0 <= x"),
    "nat": ("(n: nat) ensures n + 1 > 0", "(n: int) ensures n + 1 > 0"),
    "euclidean": ("(x: int) ensures 0 <= x % -3 < 3", "(x: int) ensures x % -3 <= 0"),
    "quotient": ("(x: int) requires x == -7 ensures x / 2 == -4", "(x: int) requires x == -7 ensures x / 2 == -3"),
    "floor": ("(x: real) ensures floor(x) as real <= x", "(x: real) ensures floor(x) as real < x"),
    "bool": (
        "(p: bool, q: bool) ensures (p ==> q) <==> (!p || q)",
        "(p: bool, q: bool) ensures (p ==> q) <==> (q ==> p)",
    ),
    "forall": ("(y: int) ensures forall x: int :: x < y ==> x + 1 <= y", "(y: int) ensures forall x: int :: x < y"),
    "exists": (
        "(y: int) ensures exists x: int :: x > y && x < y + 2",
        "(y: int) ensures exists x: int :: y < x && x < y + 1",
    ),
    "forall nat": (
        "(f: int -> int) requires forall n: nat :: f(n) == 2 * n ensures f(5) == 10",
        "(f: int -> int) requires forall n: nat :: f(n) == 2 * n ensures f(-5) == -10",
    ),
    "given function": (
        "(f: real -> real) requires forall x: real :: f(x) == x * x + 1.0 ensures f(f(1.0)) == 5.0",
        "(f: real -> real) requires forall x: real :: f(x) == x * x + 1.0 ensures f(f(1.0)) == 4.0",
    ),
    "functional equation": (
        "(f: real -> real) requires forall x: real, y: real :: f(x + y) == f(x) + f(y) ensures f(0.0) == 0.0",
        "(f: real -> real) requires forall x: real, y: real :: f(x + y) == f(x) * f(y) ensures f(0.0) == 1.0",
    ),
    "lambda": ("() ensures isum(0, 4, k => k * k) == 14", "() ensures isum(0, 4, k => k * k) == 30"),
    "symbolic sum": (
        "(a: int) ensures isum(0, 5, k => a + k) == 5 * a + 10",
        "(a: int) ensures isum(0, 5, k => a + k) == 5 * a + 15",
    ),
    "recursion": ("(n: nat) ensures ipow(2, n + 1) == 2 * ipow(2, n)", "(n: nat) ensures ipow(2, n + 1) == ipow(2, n)"),
    "postcondition": ("(x: real) ensures sqrt(x) >= 0.0", "(x: real) ensures sqrt(x) > 0.0"),
    "total division": ("(x: real) ensures rdiv(x, 0.0) == 0.0", "(x: real) ensures rdiv(x, x) == 1.0"),
    "display": ("(x: int) requires x in {1, 3} ensures x % 2 == 1", "(x: int) requires x in {1, 4} ensures x % 2 == 1"),
    "comprehension": (
        "(s: set<int>) requires s == (set x: int | 0 <= x < 10 && x % 3 == 1) ensures |s| == 3 && 7 in s",
        "(s: set<int>) requires s == (set x: int | 0 <= x < 10 && x % 3 == 1) ensures |s| == 4",
    ),
    "given set": (
        "(s: set<int>) requires forall x: int :: x in s ==> x >= 0 "
        "requires forall n: nat :: n in s <==> divides(n, 36) ensures set_isum(s, (k: int) => k) == 91",
        "(s: set<int>) requires forall n: nat :: n in s <==> divides(n, 36) ensures set_isum(s, (k: int) => k) == 91",
    ),
    "least number": (
        "(u: nat) requires 14 * u % 100 == 46 requires forall x: nat :: 14 * x % 100 == 46 ==> u <= x ensures u == 39",
        "(u: nat) requires 14 * u % 100 == 46 "
        "requires forall x: nat :: x > 40 && 14 * x % 100 == 46 ==> u <= x ensures u == 39",
    ),
    "nested quantifiers": (
        "(f: real -> real) "
        "requires forall x: real :: x > 0.0 ==> forall y: real :: y > 0.0 ==> f(x * y) == rdiv(f(x), y) "
        "requires f(500.0) == 3.0 ensures f(600.0) == 5.0 / 2.0",
        "(f: int -> int) requires exists x: int :: x > 5 && exists x: int :: x < 5 && f(x) == 1 ensures f(6) == 1",
    ),
    "union": (
        "(s: set<int>, t: set<int>) ensures s <= s + t && s * t <= s && (s - t) !! t",
        "(s: set<int>, t: set<int>) ensures s + t <= s",
    ),
    "cardinality": (
        "(s: set<int>, x: int) requires x !in s ensures |s + {x}| == |s| + 1 || |s + {x}| >= 0",
        "(s: set<int>, x: int) ensures |s + {x}| == |s| + 1",
    ),
    "sequence": (
        "(s: seq<int>) requires s == [1, 2, 3] ensures |s| == 3 && s[1] == 2",
        "(s: seq<int>) requires |s| == 3 ensures s[1] == 2",
    ),
    "tuple": (
        "(p: (int, int)) requires p == (1, 2) ensures p.0 + p.1 == 3",
        "(p: (int, int)) requires p.0 == 1 ensures p == (1, 2)",
    ),
    "complex": (
        "(z: complex, w: complex) ensures cmul(z, w) == cmul(w, z)",
        "(z: complex) ensures cmul(z, z) == Complex(1.0, 0.0) ==> z == Complex(1.0, 0.0)",
    ),
    "let": ("(x: int) ensures var y := x + x; y % 2 == 0", "(x: int) ensures var y := x + x; y % 4 == 0"),
    "residues": ("(n: int) ensures (n * n * n + 2 * n) % 3 == 0", "(n: int) ensures (n * n + 2 * n) % 3 == 0"),
    "no power": (
        "(x: int, y: int) ensures x * x * x * x * x != y * y + 4",
        "(x: int, y: int) ensures x * x * x != y * y + 4",
    ),
    "cases": (
        "(x: int, y: int) requires 0 < y < x requires x + y + x * y == 80 ensures x == 26",
        "(x: int, y: int) requires 0 < y <= x requires x + y + x * y == 80 ensures x == 26",
    ),
    "nonlinear": (
        "(a: real, b: real, c: real) ensures a * a + b * b + c * c >= a * b + b * c + c * a",
        "(a: real, b: real, c: real) ensures a * a + b * b + c * c >= 2.0 * a * b + b * c + c * a",
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_true_and_false(name: str) -> None:
    true, false = PAIRS[name]
    assert proved(f"lemma main{true} {{}}")
    assert not proved(f"lemma main{false} {{}}")


def test_counterexample_refutes_without_quantifiers() -> None:
    (answer,) = answers("lemma main(x: int, y: real) requires x > 3 ensures x as real * y == 1.0 {}")
    assert answer.state is ObligationState.REFUTED
    assert int(answer.counterexample["x"]) > 3
    assert set(answer.counterexample) == {"x", "y"}


def test_counterexample_with_unknown_functions_is_a_candidate() -> None:
    (answer,) = answers("lemma main(x: real) ensures sin(x) == 0.0 {}")
    assert answer.state is ObligationState.UNKNOWN
    assert "x" in answer.counterexample
    assert not answer.confirmed


def test_hypothesis_on_finite_sets_says_nothing_of_infinite_ones() -> None:
    """Every finite set of integers is bounded; if it were read of all sets, it would contradict itself."""
    bounded = "forall s: set<int> :: exists b: int :: forall x: int :: x in s ==> x <= b"
    assert not proved(f"lemma main() requires {bounded} ensures false {{}}")


def test_hypothesis_on_nat_functions_says_nothing_of_others() -> None:
    assert not proved("lemma main() requires forall f: int -> nat :: f(0) >= 0 ensures false {}")


def _by_recursion(name: str, body: Call | Builtin) -> CoreProgram:
    x = Var("x", INT)
    zero = Builtin(Op.LT, (Var("result", INT), Int(0)), BOOL)
    return CoreProgram({}, {name: CoreFunction(name, (x,), Var("result", INT), (), (zero,), (), body)}, {})


def test_function_under_check_proves_nothing_of_itself() -> None:
    """f(x) == f(x) + 1 with a false postcondition: nothing may follow from either while f itself is checked."""
    x = Var("x", INT)
    call = Call("f", (x,), INT)
    core = _by_recursion("f", Builtin(Op.ADD, (call, Int(1)), INT))
    false = Builtin(Op.LT, (call, Int(0)), BOOL)
    own = solve(core, Obligation("postcondition", NOWHERE, (x,), (), false, "", "f"), LIMITS)
    other = solve(core, Obligation("postcondition", NOWHERE, (x,), (), false, "", "main"), LIMITS)
    assert own.state is not ObligationState.PROVED
    assert other.state is ObligationState.PROVED  # a caller may rely on what f promises


def test_doubling_definitions_stay_small() -> None:
    """Forty functions, each twice the one before: writing them out would take 2^40 terms."""
    x = Var("x", INT)
    functions: dict[str, CoreFunction] = {}
    for i in range(40):
        inner = Call(f"f{i - 1}", (x,), INT) if i else x
        body = Builtin(Op.ADD, (inner, inner), INT)
        functions[f"f{i}"] = CoreFunction(f"f{i}", (x,), Var("result", INT), (), (), (), body)
    goal = Builtin(Op.LE, (Call("f39", (x,), INT), Int(0)), BOOL)
    core = CoreProgram({}, functions, {})
    answer = solve(core, Obligation("assertion", NOWHERE, (x,), (), goal, "", "main"), Limits(resource=100_000))
    assert answer.state is not ObligationState.PROVED


def test_same_answer_each_time() -> None:
    text = "lemma main(a: real, b: real) requires a * b == 6.0 && a + b == 5.0 ensures a == 2.0 || a == 4.0 {}"
    first, second = answers(text), answers(text)
    assert first == second


def test_residues_name_their_modulus() -> None:
    x, y = Var("x", INT), Var("y", INT)

    def times(*terms: Var) -> Builtin:
        a, b = terms
        return Builtin(Op.MUL, (a, b), INT)

    sum_of_squares = Builtin(Op.ADD, (times(x, x), times(y, y)), INT)
    three = Builtin(Op.EQ, (Builtin(Op.MOD, (sum_of_squares, Int(4)), INT), Int(3)), BOOL)
    two = Builtin(Op.EQ, (Builtin(Op.MOD, (sum_of_squares, Int(4)), INT), Int(2)), BOOL)
    never = Builtin(Op.LT, (Int(1), Int(0)), BOOL)
    assert holds_by_residues([three], never) == 4
    assert holds_by_residues([two], never) is None


MEMORY = """
import resource, sys
from maxproof.formal.checkers.types import Limits
from maxproof.formal.embedded.core import *
from maxproof.formal.embedded.solve.solver import solve
from maxproof.formal.syntax.ast import NOWHERE
x, y = Var("x", REAL), Var("y", REAL)
square = Builtin(Op.MUL, (x, x), REAL)
goal = Builtin(Op.LE, (Builtin(Op.ADD, (x, y), REAL), Builtin(Op.MUL, (square, square), REAL)), BOOL)
obligation = Obligation("assertion", NOWHERE, (x, y), (Builtin(Op.LE, (y, x), BOOL),), goal, "", "main")
core = CoreProgram({}, {}, {})
for i in range(360):
    solve(core, obligation, Limits(resource=100_000))
    if i == 59:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="maximum memory is in kB on Linux")
def test_memory_stays_flat() -> None:
    grown = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True)
    assert int(grown.stdout) < 12_000  # kB over 300 questions
