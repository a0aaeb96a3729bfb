// Mathematics that problems are stated in. Every function is total: where it has no usual value it takes the one that
// Mathlib gives it (x / 0 = 0, the square root of a negative number is 0, ...), so that no statement is ill-formed for
// want of a domain. Functions without a body are axioms; all else is defined, and its postconditions are proved.

// --- Whole numbers ---------------------------------------------------------------------------------------------------

function iabs(x: int): nat { if x < 0 then -x else x }

function imin(x: int, y: int): int { if x <= y then x else y }

function imax(x: int, y: int): int { if x <= y then y else x }

// Euclidean quotient and remainder, for a divisor that may be 0.
function idiv(x: int, y: int): int { if y == 0 then 0 else x / y }

function imod(x: int, y: int): int { if y == 0 then x else x % y }

// Subtraction of natural numbers, cut off at 0.
function monus(x: int, y: int): nat { if x <= y then 0 else x - y }

// b to the power e; 1 for e <= 0.
function ipow(b: int, e: int): int
  ensures b >= 0 ==> ipow(b, e) >= 0
  ensures b > 0 ==> ipow(b, e) > 0
  decreases e
{
  if e <= 0 then 1 else b * ipow(b, e - 1)
}

predicate even(x: int) { x % 2 == 0 }

predicate odd(x: int) { x % 2 == 1 }

predicate divides(d: int, n: int) { if d == 0 then n == 0 else n % d == 0 }

function gcd(a: int, b: int): nat
  ensures a != 0 || b != 0 ==> gcd(a, b) > 0
  decreases if b < 0 then -b else b
{
  if b == 0 then iabs(a) else gcd(b, a % b)
}

function lcm(a: int, b: int): nat
{
  if a == 0 || b == 0 then 0 else iabs(a * b) / gcd(a, b)
}

predicate coprime(a: int, b: int) { gcd(a, b) == 1 }

predicate prime(n: int) { n > 1 && forall d: int :: 1 < d < n ==> !divides(d, n) }

// n!; 1 for n <= 0.
function factorial(n: int): nat
  ensures factorial(n) > 0
  decreases n
{
  if n <= 0 then 1 else n * factorial(n - 1)
}

// Binomial coefficient; 0 outside 0 <= k <= n.
function choose(n: int, k: int): nat
  decreases n
{
  if k < 0 || n < k then 0 else if k == 0 || k == n then 1 else choose(n - 1, k - 1) + choose(n - 1, k)
}

// Positive divisors; none for n <= 0.
function divisors(n: int): set<int> { set d: int | 1 <= d <= n && divides(d, n) }

// Digits of n in base b, the least one first; none for n <= 0. Base 1 gives n ones, base 0 the number itself.
function digits(b: int, n: int): seq<int>
  decreases n
{
  if n <= 0 then []
  else if b <= 0 then [n]
  else if b == 1 then [1] + digits(b, n - 1)
  else assert n / b < n; [n % b] + digits(b, n / b)
}

function of_digits(b: int, ds: seq<int>): int
  decreases |ds|
{
  if |ds| == 0 then 0 else ds[0] + b * of_digits(b, ds[1..])
}

function seq_isum(s: seq<int>): int
  decreases |s|
{
  if |s| == 0 then 0 else s[0] + seq_isum(s[1..])
}

// --- Sums and products over lo <= k < hi -----------------------------------------------------------------------------

function isum(lo: int, hi: int, f: int -> int): int
  decreases hi - lo
{
  if hi <= lo then 0 else isum(lo, hi - 1, f) + f(hi - 1)
}

function iprod(lo: int, hi: int, f: int -> int): int
  decreases hi - lo
{
  if hi <= lo then 1 else iprod(lo, hi - 1, f) * f(hi - 1)
}

function rsum(lo: int, hi: int, f: int -> real): real
  decreases hi - lo
{
  if hi <= lo then 0.0 else rsum(lo, hi - 1, f) + f(hi - 1)
}

function rprod(lo: int, hi: int, f: int -> real): real
  decreases hi - lo
{
  if hi <= lo then 1.0 else rprod(lo, hi - 1, f) * f(hi - 1)
}

function csum(lo: int, hi: int, f: int -> complex): complex
  decreases hi - lo
{
  if hi <= lo then Complex(0.0, 0.0) else cadd(csum(lo, hi - 1, f), f(hi - 1))
}

// --- Sums and products over finite sets: the order in which elements are taken doesn't matter (set_isum_remove, ...) --

function set_isum(s: set<int>, f: int -> int): int
  decreases |s|
{
  if s == {} then 0 else var x: int :| x in s; f(x) + set_isum(s - {x}, f)
}

function set_iprod(s: set<int>, f: int -> int): int
  decreases |s|
{
  if s == {} then 1 else var x: int :| x in s; f(x) * set_iprod(s - {x}, f)
}

function set_rsum(s: set<int>, f: int -> real): real
  decreases |s|
{
  if s == {} then 0.0 else var x: int :| x in s; f(x) + set_rsum(s - {x}, f)
}

function set_rprod(s: set<int>, f: int -> real): real
  decreases |s|
{
  if s == {} then 1.0 else var x: int :| x in s; f(x) * set_rprod(s - {x}, f)
}

function rset_rsum(s: set<real>, f: real -> real): real
  decreases |s|
{
  if s == {} then 0.0 else var x: real :| x in s; f(x) + rset_rsum(s - {x}, f)
}

function rset_rprod(s: set<real>, f: real -> real): real
  decreases |s|
{
  if s == {} then 1.0 else var x: real :| x in s; f(x) * rset_rprod(s - {x}, f)
}

// --- Reals -----------------------------------------------------------------------------------------------------------

function rabs(x: real): real { if x < 0.0 then -x else x }

function rmin(x: real, y: real): real { if x <= y then x else y }

function rmax(x: real, y: real): real { if x <= y then y else x }

function rdiv(x: real, y: real): real { if y == 0.0 then 0.0 else x / y }

function floor(x: real): int { x.Floor }

function ceil(x: real): int { -((-x).Floor) }

// x to the power n; 1 for n <= 0.
function pow(x: real, n: int): real
  decreases n
{
  if n <= 0 then 1.0 else x * pow(x, n - 1)
}

function zpow(x: real, z: int): real { if z >= 0 then pow(x, z) else rdiv(1.0, pow(x, -z)) }

// The exponential function: the one homomorphism from sums to products that lies above its tangent at 0.
function {:axiom} exp(x: real): real
  ensures exp(x) > 0.0
  ensures exp(x) >= 1.0 + x

lemma {:axiom} exp_add(x: real, y: real)
  ensures exp(x + y) == exp(x) * exp(y)

lemma {:axiom} exp_surjective(y: real)
  requires y > 0.0
  ensures exists x: real :: exp(x) == y

// Natural logarithm of |x|; 0 for x = 0.
function log(x: real): real
  ensures x > 0.0 ==> exp(log(x)) == x
{
  if x == 0.0 then 0.0 else exp_surjective(rabs(x)); var y: real :| exp(y) == rabs(x); y
}

function logb(b: real, x: real): real { rdiv(log(x), log(b)) }

predicate is_square_root(r: real, x: real) { r >= 0.0 && r * r == x }

lemma square_root_exists(x: real)
  requires x >= 0.0
  ensures exists r: real :: is_square_root(r, x)
{
  if x == 0.0 {
    assert is_square_root(0.0, x);
  } else {
    var r := exp(log(x) / 2.0);
    exp_add(log(x) / 2.0, log(x) / 2.0);
    assert is_square_root(r, x);
  }
}

// Square root; 0 for x < 0.
function sqrt(x: real): real
  ensures sqrt(x) >= 0.0
  ensures x >= 0.0 ==> sqrt(x) * sqrt(x) == x
{
  if x <= 0.0 then 0.0 else square_root_exists(x); var r: real :| is_square_root(r, x); r
}

function {:axiom} pi(): real
  ensures 3.14159265 < pi() < 3.14159266

function {:axiom} cos(x: real): real
  ensures -1.0 <= cos(x) <= 1.0

function {:axiom} sin(x: real): real
  ensures -1.0 <= sin(x) <= 1.0

function tan(x: real): real { rdiv(sin(x), cos(x)) }

// Real power. For x < 0 it's the real part of the principal complex power.
function rpow(x: real, y: real): real
{
  if x > 0.0 then exp(y * log(x))
  else if x == 0.0 then (if y == 0.0 then 1.0 else 0.0)
  else exp(y * log(x)) * cos(y * pi())
}

// --- Rationals: reals that are a quotient of whole numbers -----------------------------------------------------------

function ratio(p: int, q: int): real { rdiv(p as real, q as real) }

predicate is_rational(x: real) { exists p: int, q: int :: q > 0 && x == ratio(p, q) }

// Denominator in lowest terms; 1 for an irrational number.
function rat_den(x: real): int
{
  if is_rational(x) then var p: int, q: int :| q > 0 && x == ratio(p, q); q / gcd(p, q) else 1
}

// Numerator in lowest terms; 0 for an irrational number.
function rat_num(x: real): int { if is_rational(x) then (x * rat_den(x) as real).Floor else 0 }

// --- Complex numbers -------------------------------------------------------------------------------------------------

datatype complex = Complex(re: real, im: real)

function cadd(z: complex, w: complex): complex { Complex(z.re + w.re, z.im + w.im) }

function csub(z: complex, w: complex): complex { Complex(z.re - w.re, z.im - w.im) }

function cneg(z: complex): complex { Complex(-z.re, -z.im) }

function cmul(z: complex, w: complex): complex { Complex(z.re * w.re - z.im * w.im, z.re * w.im + z.im * w.re) }

// Inverse; 0 for z = 0.
function cinv(z: complex): complex { Complex(rdiv(z.re, cnormsq(z)), rdiv(-z.im, cnormsq(z))) }

function cdiv(z: complex, w: complex): complex { cmul(z, cinv(w)) }

// z to the power n; 1 for n <= 0.
function cpow(z: complex, n: int): complex
  decreases n
{
  if n <= 0 then Complex(1.0, 0.0) else cmul(z, cpow(z, n - 1))
}

function cnormsq(z: complex): real { z.re * z.re + z.im * z.im }

function cabs(z: complex): real { sqrt(cnormsq(z)) }

function conj(z: complex): complex { Complex(z.re, -z.im) }

function cexp(z: complex): complex { Complex(exp(z.re) * cos(z.im), exp(z.re) * sin(z.im)) }

// --- Limits ----------------------------------------------------------------------------------------------------------

predicate within_from(u: int -> real, l: real, eps: real, start: int)
{
  forall n: int :: n >= start ==> rabs(u(n) - l) < eps
}

predicate eventually_within(u: int -> real, l: real, eps: real)
{
  exists start: int :: start >= 0 && within_from(u, l, eps, start)
}

// The sequence u(0), u(1), ... converges to l.
predicate tends_to(u: int -> real, l: real) { forall eps: real :: eps > 0.0 ==> eventually_within(u, l, eps) }

predicate within_near(f: real -> real, a: real, l: real, eps: real, delta: real)
{
  forall x: real :: 0.0 < rabs(x - a) < delta ==> rabs(f(x) - l) < eps
}

predicate near_within(f: real -> real, a: real, l: real, eps: real)
{
  exists delta: real :: delta > 0.0 && within_near(f, a, l, eps, delta)
}

// f(x) tends to l as x tends to a, x != a.
predicate has_limit(f: real -> real, a: real, l: real)
{
  forall eps: real :: eps > 0.0 ==> near_within(f, a, l, eps)
}
