"""What each construct of Lean and Mathlib says in Dafny: expectations written by hand from Lean's own rules."""

from __future__ import annotations

import pytest

from maxproof.formal.lean.errors import NotTranslated
from maxproof.formal.lean.translate import translate
from maxproof.formal.syntax.ast import Lemma
from maxproof.formal.syntax.printer import print_declaration, print_expression

OPEN = ["open BigOperators Real Nat Topology Rat"]


def ensures(conclusion: str, binders: str = "") -> str:
    """The conclusion's clauses, joined."""
    lemma = translate(f"theorem t {binders} : {conclusion}", opened=OPEN).lemma
    return "; ".join(print_expression(c.condition) for c in lemma.ensures)


def requires(binders: str) -> list[str]:
    lemma = translate(f"theorem t {binders} : True", opened=OPEN).lemma
    return [print_expression(c.condition) for c in lemma.requires]


def params(binders: str) -> str:
    return heading(translate(f"theorem t {binders} : True", opened=OPEN).lemma)


def heading(lemma: Lemma) -> str:
    """The parameters with their types."""
    first = print_declaration(lemma).partition("\n")[0]
    return first[first.index("(") + 1 : first.rindex(")")]


N, Z, Q, R, C = "(n m k : ℕ)", "(a b c : ℤ)", "(p q : ℚ)", "(x y z : ℝ)", "(z w : ℂ)"

ARITHMETIC = [
    # numerals and their default type
    ("91^2 = 8281", "", "91 * 91 == 8281"),
    ("(1 / 4)^(n + 1) = 0", N, "ipow(1 / 4, n + 1) == 0"),
    ("x = 2", R, "x == 2.0"),
    ("a = -2", Z, "a == -2"),
    ("x = 0.5", R, "x == 0.5"),
    # whole-number division and remainder
    ("(n + 1) / 2 = k", N, "(n + 1) / 2 == k"),
    ("n / m = k", N, "idiv(n, m) == k"),
    ("n % m = k", N, "imod(n, m) == k"),
    ("n % 7 = 3", N, "n % 7 == 3"),
    ("a / b = a % b", Z, "idiv(a, b) == imod(a, b)"),
    ("n / 0 = k", N, "idiv(n, 0) == k"),
    # subtraction of naturals is cut off; of integers it isn't
    ("n - m = k", N, "monus(n, m) == k"),
    ("n - m - k = 0", N, "monus(monus(n, m), k) == 0"),
    ("a - b = c", Z, "a - b == c"),
    # real division is total
    ("x / y = z", R, "rdiv(x, y) == z"),
    ("x / 2 = z", R, "x / 2.0 == z"),
    ("x / (2^2 - 1) = z", R, "x / (2.0 * 2.0 - 1.0) == z"),
    ("x / (2 - 2) = z", R, "rdiv(x, 2.0 - 2.0) == z"),
    ("x / 0 = z", R, "rdiv(x, 0.0) == z"),
    # inverses
    ("2⁻¹ = x", R, "1.0 / 2.0 == x"),
    ("x⁻¹ ^ 3 = y", R, "rdiv(1.0, x) * rdiv(1.0, x) * rdiv(1.0, x) == y"),
    ("8⁻¹ / 4⁻¹ - x⁻¹ = 1", R, "rdiv(1.0 / 8.0, 1.0 / 4.0) - rdiv(1.0, x) == 1.0"),
    # unary minus binds weaker than ^, stronger than *
    ("-x^2 = y", R, "-(x * x) == y"),
    ("(-x)^2 = y", R, "-x * -x == y"),
    ("-x * y = z", R, "-x * y == z"),
    ("x - -y = z", R, "x - -y == z"),
    ("2 * -5 = a", Z, "2 * -5 == a"),
    # ^ groups to the right
    ("2 ^ n ^ 2 = m", N, "ipow(2, n * n) == m"),
    ("(2 ^ n) ^ 2 = m", N, "ipow(2, n) * ipow(2, n) == m"),
    ("n ^ 0 = 1", N, "1 == 1"),
    ("n ^ m = k", N, "ipow(n, m) == k"),
    ("x ^ n = y", "(x y : ℝ) (n : ℕ)", "pow(x, n) == y"),
    ("x ^ y = z", R, "rpow(x, y) == z"),
    ("x ^ (1 / 3 : ℝ) = y", R, "rpow(x, 1.0 / 3.0) == y"),
    ("x ^ ((1 : ℝ) / 3) = y", R, "rpow(x, 1.0 / 3.0) == y"),
    ("x ^ (-(3 : ℤ)) = y", R, "zpow(x, -3) == y"),
    ("x ^ a = y", "(x y : ℝ) (a : ℤ)", "zpow(x, a) == y"),
    # an exponent that nothing fixes is a natural number, so 1 / 3 is 0 there
    ("x ^ (1 / 3) = y", R, "pow(x, 1 / 3) == y"),
    ("(x + y)^2 = z", R, "(x + y) * (x + y) == z"),
    ("x ^ 20 = y", R, "pow(x, 20) == y"),
    ("(x + y + 1) ^ 5 = y", R, "pow(x + y + 1.0, 5) == y"),
    # functions of one kind
    ("|x - y| = z", R, "rabs(x - y) == z"),
    ("|a - b| = c", Z, "iabs(a - b) == c"),
    ("abs x + abs y = z", R, "rabs(x) + rabs(y) == z"),
    ("⌊x⌋ = a", "(x : ℝ) (a : ℤ)", "floor(x) == a"),
    ("⌈x⌉ = a", "(x : ℝ) (a : ℤ)", "ceil(x) == a"),
    ("⌊x⌋₊ = n", "(x : ℝ) (n : ℕ)", "imax(floor(x), 0) == n"),
    ("Int.fract x = y", R, "x - floor(x) as real == y"),
    ("max x y = min x z", R, "rmax(x, y) == rmin(x, z)"),
    ("max n m = k", N, "imax(n, m) == k"),
    ("√2 * x = y", R, "sqrt(2.0) * x == y"),
    ("Real.sqrt x ^ 2 = y", R, "sqrt(x) * sqrt(x) == y"),
    ("Real.logb 2 x = Real.log y", R, "logb(2.0, x) == log(y)"),
    ("Real.sin π + Real.cos (2 * π / 7) = Real.tan x", R, "sin(pi()) + cos(2.0 * pi() / 7.0) == tan(x)"),
    ("Real.exp x = y", R, "exp(x) == y"),
    ("Nat.sqrt n = k", N, "floor(sqrt(n as real)) == k"),
    ("n ! = k", N, "factorial(n) == k"),
    ("3! = k", N, "factorial(3) == k"),
    ("Nat.choose n k = m", N, "choose(n, k) == m"),
    ("n.choose k = n.succ", N, "choose(n, k) == n + 1"),
    ("Nat.gcd n m = Nat.lcm n k", N, "gcd(n, m) == lcm(n, k)"),
    ("Int.gcd a b = 1", Z, "gcd(iabs(a), iabs(b)) == 1"),
    ("a.natAbs = 3", Z, "iabs(a) == 3"),
    ("n.pred = k", N, "monus(n, 1) == k"),
    ("p.num = 3 ∧ p.den = 4", Q, "rat_num(p) == 3; rat_den(p) == 4"),
    ("Nat.ofDigits 10 [n, m] = k", N, "of_digits(10, [n, m]) == k"),
    ("(Nat.digits 10 n).sum = k", N, "seq_isum(digits(10, n)) == k"),
    ("Nat.digits 10 n = [k, m]", N, "digits(10, n) == [k, m]"),
]

COERCIONS = [
    # the largest type of the leaves, coerced at the leaves
    ("↑n - x = y", "(n : ℕ) (x y : ℝ)", "n as real - x == y"),
    ("n - m = (3 : ℤ)", N, "n - m == 3"),
    ("x = n - m", "(n m : ℕ) (x : ℝ)", "x == n as real - m as real"),
    ("x = (n - m : ℕ)", "(n m : ℕ) (x : ℝ)", "x == monus(n, m) as real"),
    ("x = ((n / m : ℕ) : ℝ)", "(n m : ℕ) (x : ℝ)", "x == idiv(n, m) as real"),
    ("x = (n / m : ℝ)", "(n m : ℕ) (x : ℝ)", "x == rdiv(n as real, m as real)"),
    ("(n : ℝ) / m = x", "(n m : ℕ) (x : ℝ)", "rdiv(n as real, m as real) == x"),
    ("((n : ℤ) - 22) = 5", N, "n - 22 == 5"),
    ("n + (a - m) = b", "(n m : ℕ) (a b : ℤ)", "n + (a - m) == b"),
    # functions' arguments are trees of their own
    ("Real.sqrt (n / 3) = x", "(n : ℕ) (x : ℝ)", "sqrt(n as real / 3.0) == x"),
    ("(Nat.gcd (n - m) k : ℝ) = x", "(n m k : ℕ) (x : ℝ)", "gcd(monus(n, m), k) as real == x"),
    ("f (n - m) = x", "(f : ℕ → ℝ) (n m : ℕ) (x : ℝ)", "f(monus(n, m)) == x"),
    ("f (n - m) = x", "(f : ℝ → ℝ) (n m : ℕ) (x : ℝ)", "f(n as real - m as real) == x"),
    ("x = ⌊y⌋ / 2", R, "x == floor(y) as real / 2.0"),
    ("x = abs ⌊y⌋", R, "x == iabs(floor(y)) as real"),
    ("(abs a : ℝ) = x", "(a : ℤ) (x : ℝ)", "rabs(a as real) == x"),
    ("↑(abs a) = x", "(a : ℤ) (x : ℝ)", "iabs(a) as real == x"),
    # an exponent is outside the tree, its base inside
    ("x = n ^ 2 - 2 ^ a", "(x : ℝ) (n : ℤ) (a : ℤ)", "x == n as real * n as real - zpow(2.0, a)"),
    ("(n : ℝ) ^ (1 / n : ℝ) ≤ 2", N, "rpow(n as real, rdiv(1.0, n as real)) <= 2.0"),
    ("(n : ℝ) ^ (n - m) = 2", N, "pow(n as real, monus(n, m)) == 2.0"),
    # ↑ whose target only the context gives
    ("3 * (7 * ↑n + 3) % 7 = 2", N, "3 * (7 * n + 3) % 7 == 2"),
    ("↑p.den + p.num = 44", Q, "rat_den(p) + rat_num(p) == 44"),
    ("↑3! * (2 : ℝ) = 12", "", "factorial(3) as real * 2.0 == 12.0"),
    ("↑n ∣ a", "(n : ℕ) (a : ℤ)", "divides(n, a)"),
    # dividing by a real under a power
    ("(n : ℝ) / k < 6 → (5 : ℝ) < n / k", N, "rdiv(n as real, k as real) < 6.0 ==> 5.0 < rdiv(n as real, k as real)"),
    # rationals and complex numbers
    ("p = 1 / 3", Q, "p == 1.0 / 3.0"),
    ("z = 2 * w", C, "z == cmul(Complex(2.0, 0.0), w)"),
    ("z / w = x", "(z w : ℂ) (x : ℝ)", "cdiv(z, w) == Complex(x, 0.0)"),
    ("z - 3 * Complex.I = -1", C, "csub(z, cmul(Complex(3.0, 0.0), Complex(0.0, 1.0))) == Complex(-1.0, 0.0)"),
    ("-z = z⁻¹", C, "cneg(z) == cinv(z)"),
    ("z ^ n = w", "(z w : ℂ) (n : ℕ)", "cpow(z, n) == w"),
    ("z ^ 3 = w", C, "cmul(cmul(z, z), z) == w"),
    ("‖z - w‖ = 2 * z.re", C, "cabs(csub(z, w)) == 2.0 * z.re"),
    ("Complex.normSq z = z.im", C, "cnormsq(z) == z.im"),
    ("‖x‖ = y", R, "rabs(x) == y"),
]

LOGIC = [
    ("n = m ∧ m = k ∧ k = n", N, "n == m; m == k; k == n"),
    ("¬ n = m", N, "n != m"),
    ("¬ n = m ∧ k = 0", N, "n != m; k == 0"),
    ("n ≠ m → m ≠ k → k = n", N, "n != m ==> m != k ==> k == n"),
    ("n = 0 ∨ m = 0 ∧ k = 0", N, "n == 0 || (m == 0 && k == 0)"),
    ("n = 0 \\/ m = 0 /\\ k = 0", N, "n == 0 || (m == 0 && k == 0)"),
    ("n ∣ m ∧ k = 0", N, "divides(n, m); k == 0"),
    ("3 ∣ n + m", N, "(n + m) % 3 == 0"),
    ("¬ 3 ∣ n", N, "n % 3 != 0"),
    ("Even n ↔ Odd m", N, "even(n) <==> odd(m)"),
    ("Nat.Prime n ∨ ¬ Nat.Prime m", N, "prime(n) || !prime(m)"),
    ("Nat.Coprime n m", N, "coprime(n, m)"),
    ("Irrational x", R, "!is_rational(x)"),
    ("¬ Irrational x", R, "is_rational(x)"),
    ("n ≡ 5 [MOD 16]", N, "n % 16 == 5"),
    ("n ≡ 20 [MOD 16]", N, "n % 16 == 20 % 16"),
    ("n ≡ m [MOD k] ∧ k = 1", N, "imod(n, k) == imod(m, k); k == 1"),
    ("a ≡ -1 [ZMOD 4]", Z, "a % 4 == -1 % 4"),
    ("∀ x, f x = x", "(f : ℝ → ℝ)", "forall x: real :: f(x) == x"),
    ("∀ n, f n = n", "(f : ℕ → ℝ)", "forall n: nat :: f(n) == n as real"),
    ("∀ n ≥ 3, 0 < f n", "(f : ℕ → ℤ)", "forall n: nat :: n >= 3 ==> 0 < f(n)"),
    ("∀ n ≠ m, f n < f m", "(f : ℕ → ℤ) (m : ℕ)", "forall n: nat :: n != m ==> f(n) < f(m)"),
    (
        "∀ x > 0, ∀ y > 0, f (x * y) = f x",
        "(f : ℝ → ℝ)",
        "forall x: real :: x > 0.0 ==> (forall y: real :: y > 0.0 ==> f(x * y) == f(x))",
    ),
    ("∀ x y, x < y → f x < f y", "(f : ℤ → ℤ)", "forall x: int, y: int :: x < y ==> f(x) < f(y)"),
    ("∀ x, ∀ (y) (_ : y ≠ 0), f x y = x", "(f : ℝ → ℝ → ℝ)", "forall x: real, y: real :: y != 0.0 ==> f(x, y) == x"),
    ("∃ x, x ^ 2 = n", N, "exists x: nat :: x * x == n"),
    ("∃ b > 0, b * b = x", R, "exists b: real :: b > 0.0 && b * b == x"),
    ("∃ t : ℤ, x = t * π", R, "exists t: int :: x == t as real * pi()"),
    ("∃ (n : ℕ) (h : n > 3), n < k", "(k : ℕ)", "exists n: nat :: n > 3 && n < k"),
    ("∃! n : ℕ, n + 1 = k", "(k : ℕ)", "exists n: nat :: n + 1 == k && (forall n_1: nat :: n_1 + 1 == k ==> n_1 == n)"),
    ("(∀ p : ℚ, p * x ≠ 1) ∨ x = 0", R, "(forall p: real | is_rational(p) :: p * x != 1.0) || x == 0.0"),
    ("∃ r : NNReal, (r : ℝ) = x", R, "exists r: real | r >= 0.0 :: r == x"),
    ("(n, m) = (1, 2) ∨ k = 0", N, "(n == 1 && m == 2) || k == 0"),
    ("(n, m) ≠ (1, 2)", N, "!(n == 1 && m == 2)"),
    ("(if n = 0 then x else y) = 1", "(n : ℕ) (x y : ℝ)", "(if n == 0 then x else y) == 1.0"),
    ("List.Pairwise (· ≠ ·) [n, m, k]", N, "n != m; n != k; m != k"),
    ("[n, m, k].Pairwise (·<·)", N, "n < m; n < k; m < k"),
    ("Function.Injective f", "(f : ℕ → ℕ)", "forall x: nat, y: nat :: f(x) == f(y) ==> x == y"),
    ("StrictMono f", "(f : ℝ → ℝ)", "forall x: real, y: real :: x < y ==> f(x) < f(y)"),
]

SUMS_AND_SETS = [
    # the body of a sum ends before + but not before *
    ("∑ k ∈ Finset.range n, k + 1 = m", N, "isum(0, n, (k_1: int) => k_1) + 1 == m"),
    ("∑ i ∈ Finset.range n, 2 * i = m", N, "isum(0, n, (i: int) => 2 * i) == m"),
    ("∑ i ∈ Finset.Icc 1 n, (i : ℝ) = x", "(n : ℕ) (x : ℝ)", "rsum(1, n + 1, (i: int) => i as real) == x"),
    ("∏ i ∈ Finset.Ico 2 n, i = m", N, "iprod(2, n, (i: int) => i) == m"),
    ("∑ i ∈ Finset.Ioc m n, i = k", N, "isum(m + 1, n + 1, (i: int) => i) == k"),
    ("∑ i ∈ Finset.Ioo 2 5, i = k", N, "isum(3, 5, (i: int) => i) == k"),
    ("∑ i in Finset.range n, i = m", N, "isum(0, n, (i: int) => i) == m"),
    ("∑ i ∈ Finset.range n, f i = x", "(f : ℕ → ℝ) (n : ℕ) (x : ℝ)", "rsum(0, n, (i: int) => f(i)) == x"),
    ("Finset.sum (Finset.range n) f = x", "(f : ℕ → ℝ) (n : ℕ) (x : ℝ)", "rsum(0, n, (x_1: int) => f(x_1)) == x"),
    ("∑ i ∈ Finset.Icc 1 2, Complex.I ^ i = z", C, "csum(1, 3, (i: int) => cpow(Complex(0.0, 1.0), i)) == z"),
    ("∑ i ∈ Finset.range n, (∑ j ∈ Finset.range i, j) = m", N,
     "isum(0, n, (i: int) => isum(0, i, (j: int) => j)) == m"),
    # a sum is a leaf: of naturals here, then coerced
    ("∑ i ∈ Finset.range n, (i - 1) = (4 : ℤ)", N, "isum(0, n, (i: int) => monus(i, 1)) == 4"),
    ("(∑ i ∈ Finset.range n, (i - 1) : ℤ) = 4", N, "isum(0, n, (i: int) => i - 1) == 4"),
    ("∑ i ∈ Finset.filter (fun x => x % 8 = 5) (Finset.range 50), i = k", N,
     "set_isum((set x: int | 0 <= x < 50 && x % 8 == 5), (i: int) => i) == k"),
    ("∑ i ∈ Finset.range 50 with i % 8 = 5, i = k", N,
     "set_isum((set i: int | 0 <= i < 50 && i % 8 == 5), (i: int) => i) == k"),
    ("∑ d ∈ Nat.divisors n, d = k", N, "set_isum(divisors(n), (d: int) => d) == k"),
    ("∑ d ∈ Nat.properDivisors 6, d = k", N, "set_isum(divisors(6) - {6}, (d: int) => d) == k"),
    ("∑ d ∈ n.divisors, (d : ℝ) = x", "(n : ℕ) (x : ℝ)", "set_rsum(divisors(n), (d: int) => d as real) == x"),
    ("n.divisors.card = k", N, "|divisors(n)| == k"),
    ("Finset.card (Finset.filter (λ x => 20 ∣ x) (Finset.Icc 15 85)) = 4", "",
     "|(set x: int | 15 <= x < 86 && x % 20 == 0)| == 4"),
    ("(Finset.Icc a b).card = 3", Z, "|(set x: int | a <= x < b + 1)| == 3"),
    ("∑ k ∈ S, k = 4", "(S : Finset ℝ)", "rset_rsum(S, (k: real) => k) == 4.0"),
    ("x ∈ Set.Icc 0 1", R, "0.0 <= x; x <= 1.0"),
    ("x ∈ Set.Ioi 0", R, "0.0 < x"),
    ("x ∉ Set.Ioo 0 1", R, "!(0.0 < x && x < 1.0)"),
    ("x ∈ ({1, 2} : Set ℝ)", R, "x == 1.0 || x == 2.0"),
    ("n ∈ {k : ℕ | k ∣ 6}", "(n : ℕ)", "divides(n, 6)"),
    ("n ∈ S \\ {m}", "(S : Set ℕ) (n m : ℕ)", "n in S; n != m"),
    ("n ∈ S ∩ T ∪ U", "(S T U : Finset ℕ) (n : ℕ)", "(n in S && n in T) || n in U"),
    ("d ∈ Nat.digits 10 n → Even d", "(d n : ℕ)", "d in digits(10, n) ==> even(d)"),
    ("f ⁻¹' {0} = {x, y}", "(f : ℝ → ℝ) (x y : ℝ)",
     "forall x_1: real :: f(x_1) == 0.0 <==> x_1 == x || x_1 == y"),
    ("S = f '' S", "(f : ℝ → ℝ) (S : Set ℝ)", "forall x: real :: x in S <==> (exists y: real :: y in S && f(y) == x)"),
    ("S ⊆ T", "(S T : Set ℤ)", "forall x: int :: x in S ==> x in T"),
    ("S ⊂ T", "(S T : Finset ℤ)", "S < T"),
    ("{n, m} ⊂ Finset.Icc 0 9", N, "{n, m} < (set x: int | 0 <= x < 10)"),
    ("IsLeast {n : ℕ | 3 < n} 4", "", "3 < 4; forall x: nat :: 3 < x ==> 4 <= x"),
    ("IsGreatest (S \\ {m}) n", "(S : Set ℕ) (m n : ℕ)",
     "n in S; n != m; forall x: nat :: x in S && x != m ==> x <= n"),
    ("Filter.Tendsto u Filter.atTop (𝓝 9)", "(u : ℕ → ℝ)", "tends_to(u, 9.0)"),
    ("S.Nonempty", "(S : Set ℤ)", "exists x: int :: x in S"),
]  # fmt: skip


@pytest.mark.parametrize(("conclusion", "binders", "expected"), [*ARITHMETIC, *COERCIONS, *LOGIC, *SUMS_AND_SETS])
def test_construct(conclusion: str, binders: str, expected: str) -> None:
    assert ensures(conclusion, binders) == expected


@pytest.mark.parametrize(
    ("binders", "expected"),
    [
        ("(n : ℕ) (a : ℤ) (q : ℚ) (x : ℝ) (z : ℂ)", "n: nat, a: int, q: real, x: real, z: complex"),
        ("(r : NNReal) (s : ℝ≥0) (k : ℕ+)", "r: real, s: real, k: nat"),
        ("(f : ℕ → ℕ) (g : ℕ → ℝ → ℂ) (P : ℤ → Prop)", "f: int -> nat, g: (int, real) -> complex, P: int -> bool"),
        ("(S : Finset ℕ) (T : Set ℝ) (l : List ℤ)", "S: set<int>, T: iset<real>, l: seq<int>"),
        ("(σ : Equiv ℝ ℝ)", "sigma: real -> real, sigma_inverse: real -> real"),
        ("(σ : ℝ ≃ ℝ)", "sigma: real -> real, sigma_inverse: real -> real"),
        ("{x y : ℝ}", "x: real, y: real"),
        # names: Greek, subscripts, primes; apart from keywords and from the prelude
        ("(α₁ x' : ℝ)", "alpha1: real, x_prime: real"),
        ("(set gcd real : ℕ)", "set_1: nat, gcd_1: nat, real_1: nat"),
        ("(x x' x₁ x1 : ℝ)", "x: real, x_prime: real, x1: real, x1_1: real"),
    ],
)
def test_parameters(binders: str, expected: str) -> None:
    assert params(binders) == expected


@pytest.mark.parametrize(
    ("binders", "expected"),
    [
        ("(q : ℚ)", ["is_rational(q)"]),
        ("(r : NNReal)", ["r >= 0.0"]),
        ("(n : ℕ+)", ["n >= 1"]),
        ("(f : ℕ → ℚ)", ["forall x: nat :: is_rational(f(x))"]),
        ("(f : ℚ → ℚ)", ["forall x: real | is_rational(x) :: is_rational(f(x))"]),
        ("(S : Finset ℕ)", ["forall x: int :: x in S ==> x >= 0"]),
        ("(S : Set NNReal)", ["forall x: real :: x in S ==> x >= 0.0"]),
        ("(n : ℕ) (h : 0 < n ∧ n < 3) (h' : n ≠ 1)", ["0 < n", "n < 3", "n != 1"]),
        (
            "(σ : Equiv ℝ ℝ) (h : σ.2 2 = σ.1 1) (h' : σ 3 = σ.symm 4)",
            [
                "forall x: real :: sigma_inverse(sigma(x)) == x",
                "forall y: real :: sigma(sigma_inverse(y)) == y",
                "sigma_inverse(2.0) == sigma(1.0)",
                "sigma(3.0) == sigma_inverse(4.0)",
            ],
        ),
        ("(p : ℕ) [h : Fact (Nat.Prime p)] [Fact (2 < p)]", ["prime(p)", "2 < p"]),
        # a bound variable hides a parameter of its name
        ("(n : ℕ) (h : ∀ n, n < 3 → n = 0)", ["forall n_1: nat :: n_1 < 3 ==> n_1 == 0"]),
        ("(x : ZMod 7) (h : x ^ 2 = 2)", ["x * x % 7 == 2"]),
        ("(x : ZMod 7) (h : x = -10)", ["x % 7 == -10 % 7"]),
        ("(p : ℕ) (x : ZMod p) (h : x = 2)", ["imod(x, p) == imod(2, p)"]),
        ("(a b : NNReal) (h : a - b = 1)", ["a >= 0.0", "b >= 0.0", "rmax(a - b, 0.0) == 1.0"]),
        ("(a : NNReal) (h : NNReal.sqrt a = a / 2)", ["a >= 0.0", "sqrt(a) == a / 2.0"]),
        ("(f : ℕ → NNReal → ℝ) (h : ∀ x, f 1 x = x)", ["forall x: real | x >= 0.0 :: f(1, x) == x"]),
    ],
)
def test_hypotheses(binders: str, expected: list[str]) -> None:
    assert requires(binders) == expected


def test_a_set_that_is_said_to_be_finite_becomes_a_finite_set() -> None:
    lemma = translate("theorem t (f : ℝ → ℝ) (h : Fintype (f ⁻¹' {0})) : ∏ x ∈ (f⁻¹' {0}).toFinset, x = 20").lemma
    assert heading(lemma) == "f: real -> real, s: set<real>"
    assert [print_expression(c.condition) for c in lemma.requires] == ["forall x: real :: x in s <==> f(x) == 0.0"]
    assert [print_expression(c.condition) for c in lemma.ensures] == ["rset_rprod(s, (x: real) => x) == 20.0"]


def test_the_range_of_a_function_is_finite_where_a_hypothesis_says_so() -> None:
    binders = "(h : ℕ+ → ℕ) (k : Fintype (Set.range h))"
    assert requires(binders) == [
        "forall x: int :: x in s ==> x >= 0",
        "forall x: nat :: x in s <==> (exists y: nat | y >= 1 :: h(y) == x)",
    ]
    assert ensures("∑ n ∈ (Set.range h).toFinset, n = 12", binders) == "set_isum(s, (n: int) => n) == 12"


def test_sums_over_complex_sets_bring_their_definition() -> None:
    problem = translate("theorem t (f : ℂ → ℂ) (h : Fintype (f ⁻¹' {7})) : ∑ y ∈ (f ⁻¹' {7}).toFinset, y / 3 = 1")
    assert [d.name for d in problem.definitions] == ["cset_csum"]
    assert print_expression(problem.lemma.ensures[0].condition) == (
        "cset_csum(s, (y: complex) => cdiv(y, Complex(3.0, 0.0))) == Complex(1.0, 0.0)"
    )


def test_an_inverse_modulo_a_number_is_what_its_equation_determines() -> None:
    lemma = translate("theorem t (b : ZMod 121) (h : b = 24⁻¹) : b = 116").lemma
    assert [p.name for p in lemma.params] == ["b", "inverse"]
    assert [print_expression(c.condition) for c in lemma.requires] == [
        "0 <= inverse < 121 && 24 * inverse % 121 == 1",
        "b % 121 == inverse % 121",
    ]


def test_an_inverse_of_a_bound_variable_is_a_function() -> None:
    text = "theorem t (p : ℕ) (h : Nat.Prime p) : ∑ k ∈ Finset.Icc 1 (p - 2), (k : ZMod p)⁻¹ = 2"
    lemma = translate(text).lemma
    assert [print_expression(c.condition) for c in lemma.requires] == [
        "forall x: int :: 0 <= inverse(x) < p && "
        "(if imod(x, p) == 0 then inverse(x) == 0 else imod(x * inverse(x), p) == 1)",
        "prime(p)",
    ]


def test_inverse_of_a_sum_modulo_a_prime() -> None:
    assert requires("(x y z : ZMod 31) (h : z = (x + y)⁻¹)")[0] == (
        "0 <= inverse < 31 && (if (x + y) % 31 == 0 then inverse == 0 else (x + y) * inverse % 31 == 1)"
    )


@pytest.mark.parametrize(
    ("text", "construct"),
    [
        ("theorem t (b : ZMod 12) (h : b = 2⁻¹) : b = 1", "an inverse in ZMod"),
        ("theorem t (p : ℕ) (b : ZMod p) (h : b = 2⁻¹) : b = 1", "an inverse in ZMod"),
        ("theorem t (x : Fin 3) : x = x", "the type `Fin`"),
        ("theorem t (p : Polynomial ℝ) : p = p", "the type `Polynomial`"),
        ("theorem t (α : Type) : True", "the type `Type`"),
        ("theorem t (x : ℝ) : foo x = 1", "the name `foo`"),
        ("theorem t (n : ℕ) : n! = 1", "the name `n!`"),
        ("theorem t (x : ℝ) : sqrt x = 1", "may be Real.sqrt or Nat.sqrt"),
        ("theorem t (n : ℕ) : gcd n 2 = 1", "may be"),
        ("theorem t (x : ℝ) (n : ℕ) : n ∣ ⌊x⌋", "a term of type ℤ where ℕ was expected"),
        ("theorem t (x : ℝ) (z : ZMod 3) : x + z = 1", "ZMod and ℝ in one expression"),
        ("theorem t (n : ℕ) : -n = 1", "`-` before something of type ℕ"),
        ("theorem t (n : ℕ) : n⁻¹ = 1", "`⁻¹` on ℕ"),
        ("theorem t (x : ℝ) : x % 2 = 1", "`%` on ℝ"),
        ("theorem t (z w : ℂ) : z < w", "`<` between terms of type ℂ"),
        ("theorem t (z w : ℂ) : z ^ w = 1", "`^` with a base of type ℂ and an exponent of type ℂ"),
        ("theorem t (n : ℕ) (a : ℤ) : n ^ a = 1", "`^` with a base of type ℕ and an exponent of type ℤ"),
        ("theorem t (n m : ℕ+) : n - m = 1", "`-` on ℕ+"),
        ("theorem t (x : ℝ) : Even x", "`Even` on ℝ"),
        ("theorem t (x y : ℝ) : x ∣ y", "`Dvd` on ℝ"),
        ("theorem t (f g : ℝ → ℝ) : f = g", "`=` between terms of type (ℝ → ℝ)"),
        ("theorem t (f : ℝ → ℝ → ℝ) (g : ℝ → ℝ) (h : ∀ x, f x = g) : True", "`=` between terms of type (ℝ → ℝ)"),
        ("theorem t (a b c : ℝ) : a = b = c", "a chain with `=`"),
        ("theorem t (s : Set ℝ) : ∑ x ∈ s, x = 1", "`∑` over something of type Set ℝ"),
        ("theorem t (s : Set ℝ) : ∑ x ∈ s.toFinset, x = 1", "`toFinset` of a set that no hypothesis"),
        ("theorem t : ∑ x : Fin 3, 1 = 3", "`∑` over a whole type"),
        ("theorem t : ∏ k ∈ Finset.range 3, Complex.I = 1", "`∏` of complex numbers"),
        ("theorem t (f : ℝ → ℝ) : Filter.Tendsto f Filter.atTop (𝓝 0)", "a limit that is not of a real sequence"),
        ("theorem t (x : ℝ) : ∫ y in 0..x, y = 1", "`∫`"),
        ("theorem t (x : ℝ) : let y := x; y = x", "`let`"),
        ("theorem t (h : ∀ x, x = x) : True", "the type of `x`, which nothing determines"),
        ("theorem t (x : ℝ) : x = {1}", "a set operation on something of type ℝ"),
        ("theorem t (x : ℝ) : x = 1 := by simp\ntheorem u : True", "a second theorem"),
        ("theorem t (x : ℝ) x = 1", "`x` where `:` was expected"),
        ("theorem t (x : ℝ) : (x = 1", "end of text where `)` was expected"),
        ("theorem t (x : ℝ) : x = ", "end of text"),
        ("theorem t (x : ℝ) : x ♥ 1", "`♥`"),
        ("theorem t (x : ℝ) (h : x = 1 := by simp) : True", "`:=` where `)` was expected"),
        ("theorem t (a : ℝ) (h : ∃! x y : ℝ, x = y) : True", "`∃!` with several variables"),
        ("def f := 3", "`def`"),
        ("variable (x : ℝ)\ntheorem t : x = 1", "what comes after `variable`"),
        ("open Real (sqrt)\ntheorem t : True", "what comes after `open`"),
        ("", "no theorem"),
        ("/- never closed", "a comment that doesn't end"),
    ],
)  # fmt: skip
def test_refused(text: str, construct: str) -> None:
    with pytest.raises(NotTranslated) as refusal:
        translate(text, opened=OPEN)
    assert construct in refusal.value.construct


@pytest.mark.parametrize("open_", ["Nat", "Real"])
def test_notations_need_their_namespace(open_: str) -> None:
    text = {"Nat": "theorem t (n : ℕ) : n ! = 1", "Real": "theorem t : π = 3"}[open_]
    assert translate(text, opened=[open_]).name == "t"
    with pytest.raises(NotTranslated, match="open"):
        translate(text)


def test_a_refusal_says_where() -> None:
    with pytest.raises(NotTranslated) as refusal:
        translate("theorem t (x : ℝ)\n  (h : x = 1) :\n    bar x = 2")
    assert (refusal.value.name, refusal.value.line, refusal.value.column) == ("t", 3, 5)
    assert str(refusal.value) == "t: line 3, column 5: not translated: the name `bar`"
