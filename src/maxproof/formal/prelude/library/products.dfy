// Products over lo <= k < hi, and sums in closed form.

// Equal summands give equal sums.
lemma {:induction false} iprod_equal(lo: int, hi: int, f: int -> int, g: int -> int)
  requires forall k: int :: lo <= k < hi ==> f(k) == g(k)
  ensures iprod(lo, hi, f) == iprod(lo, hi, g)
  decreases hi - lo
{
  if lo < hi {
    iprod_equal(lo, hi - 1, f, g);
  }
}

lemma {:induction false} iprod_split(lo: int, mid: int, hi: int, f: int -> int)
  requires lo <= mid <= hi
  ensures iprod(lo, hi, f) == iprod(lo, mid, f) * iprod(mid, hi, f)
  decreases hi - mid
{
  if mid < hi {
    iprod_split(lo, mid, hi - 1, f);
    mul_assoc(iprod(lo, mid, f), iprod(mid, hi - 1, f), f(hi - 1));
  }
}

lemma {:induction false} iprod_positive(lo: int, hi: int, f: int -> int)
  requires forall k: int :: lo <= k < hi ==> f(k) > 0
  ensures iprod(lo, hi, f) > 0
  decreases hi - lo
{
  if lo < hi {
    iprod_positive(lo, hi - 1, f);
  }
}

// Equal summands give equal sums.
lemma {:induction false} rprod_equal(lo: int, hi: int, f: int -> real, g: int -> real)
  requires forall k: int :: lo <= k < hi ==> f(k) == g(k)
  ensures rprod(lo, hi, f) == rprod(lo, hi, g)
  decreases hi - lo
{
  if lo < hi {
    rprod_equal(lo, hi - 1, f, g);
  }
}

lemma {:induction false} rprod_split(lo: int, mid: int, hi: int, f: int -> real)
  requires lo <= mid <= hi
  ensures rprod(lo, hi, f) == rprod(lo, mid, f) * rprod(mid, hi, f)
  decreases hi - mid
{
  if mid < hi {
    rprod_split(lo, mid, hi - 1, f);
    var p, q := rprod(mid, hi - 1, f), rprod(lo, mid, f);
    product_step(f(hi - 1), p, q, rprod(lo, hi - 1, f), rprod(mid, hi, f), rprod(lo, hi, f));
  }
}

lemma {:induction false} rprod_positive(lo: int, hi: int, f: int -> real)
  requires forall k: int :: lo <= k < hi ==> f(k) > 0.0
  ensures rprod(lo, hi, f) > 0.0
  decreases hi - lo
{
  if lo < hi {
    rprod_positive(lo, hi - 1, f);
  }
}

lemma {:induction false} iprod_constant(lo: int, hi: int, c: int, f: int -> int)
  requires forall k: int :: lo <= k < hi ==> f(k) == c
  ensures iprod(lo, hi, f) == ipow(c, hi - lo)
  decreases hi - lo
{
  if lo < hi {
    iprod_constant(lo, hi - 1, c, f);
    ipow_successor(c, hi - 1 - lo);
  }
}

lemma {:induction false} iprod_factorial(n: int, f: int -> int)
  requires n >= 0
  requires forall k: int :: 1 <= k <= n ==> f(k) == k
  ensures iprod(1, n + 1, f) == factorial(n)
  decreases n
{
  if n > 0 {
    iprod_factorial(n - 1, f);
  }
}

// Sums of consecutive numbers, squares, cubes, odd numbers.
lemma {:induction false} sum_of_integers(n: int, f: int -> int)
  requires n >= 0
  requires forall k: int :: 0 <= k < n ==> f(k) == k
  ensures 2 * isum(0, n, f) == n * (n - 1)
  decreases n
{
  if n > 0 {
    sum_of_integers(n - 1, f);
  }
}

lemma {:induction false} sum_of_squares(n: int, f: int -> int)
  requires n >= 0
  requires forall k: int :: 0 <= k < n ==> f(k) == k * k
  ensures 6 * isum(0, n, f) == (n - 1) * n * (2 * n - 1)
  decreases n
{
  if n > 0 {
    sum_of_squares(n - 1, f);
    squares_step(n, isum(0, n - 1, f), isum(0, n, f));
  }
}

lemma squares_step(n: int, s: int, t: int)
  requires t == s + (n - 1) * (n - 1)
  requires 6 * s == (n - 2) * (n - 1) * (2 * (n - 1) - 1)
  ensures 6 * t == (n - 1) * n * (2 * n - 1)
{
}

lemma {:induction false} sum_of_cubes(n: int, f: int -> int)
  requires n >= 0
  requires forall k: int :: 0 <= k < n ==> f(k) == k * k * k
  ensures 4 * isum(0, n, f) == (n * (n - 1)) * (n * (n - 1))
  decreases n
{
  if n > 0 {
    sum_of_cubes(n - 1, f);
    cubes_step(n, isum(0, n - 1, f), isum(0, n, f));
  }
}

lemma cubes_step(n: int, s: int, t: int)
  requires t == s + (n - 1) * (n - 1) * (n - 1)
  requires 4 * s == ((n - 1) * (n - 2)) * ((n - 1) * (n - 2))
  ensures 4 * t == (n * (n - 1)) * (n * (n - 1))
{
  var x := n - 1;
  mul_interchange(x, x - 1, x, x - 1);
  mul_interchange(n, x, n, x);
  mul_distributes(x * x, (x - 1) * (x - 1), 4 * x);
  assert (x - 1) * (x - 1) + 4 * x == n * n;
}

lemma {:induction false} sum_of_odds(n: int, f: int -> int)
  requires n >= 0
  requires forall k: int :: 0 <= k < n ==> f(k) == 2 * k + 1
  ensures isum(0, n, f) == n * n
  decreases n
{
  if n > 0 {
    sum_of_odds(n - 1, f);
  }
}

lemma {:induction false} geometric_sum(b: int, n: int, f: int -> int)
  requires n >= 0
  requires forall k: int :: 0 <= k < n ==> f(k) == ipow(b, k)
  ensures (b - 1) * isum(0, n, f) == ipow(b, n) - 1
  decreases n
{
  if n > 0 {
    geometric_sum(b, n - 1, f);
    ipow_successor(b, n - 1);
    geometric_step(b, isum(0, n - 1, f), ipow(b, n - 1), isum(0, n, f), ipow(b, n));
  }
}

lemma geometric_step(b: int, s: int, p: int, t: int, q: int)
  requires (b - 1) * s == p - 1 && t == s + p && q == b * p
  ensures (b - 1) * t == q - 1
{
  mul_distributes(b - 1, s, p);
  mul_distributes(p, b, 1);
  assert (b - 1) * t == (b - 1) * (s + p);
}

lemma {:induction false} real_geometric_sum(x: real, n: int, f: int -> real)
  requires n >= 0
  requires forall k: int :: 0 <= k < n ==> f(k) == pow(x, k)
  ensures (x - 1.0) * rsum(0, n, f) == pow(x, n) - 1.0
  decreases n
{
  if n > 0 {
    real_geometric_sum(x, n - 1, f);
    pow_successor(x, n - 1);
    real_geometric_step(x, rsum(0, n - 1, f), pow(x, n - 1), rsum(0, n, f), pow(x, n));
  }
}

lemma real_geometric_step(x: real, s: real, p: real, t: real, q: real)
  requires (x - 1.0) * s == p - 1.0 && t == s + p && q == x * p
  ensures (x - 1.0) * t == q - 1.0
{
  rmul_distributes(x - 1.0, s, p);
  rmul_distributes(p, x, 1.0);
  equal_products(x - 1.0, t, x - 1.0, s + p);
}

// Remainders of a sum.
lemma {:induction false} iprod_congruent(lo: int, hi: int, m: int, f: int -> int, g: int -> int)
  requires m > 0
  requires forall k: int :: lo <= k < hi ==> f(k) % m == g(k) % m
  ensures iprod(lo, hi, f) % m == iprod(lo, hi, g) % m
  decreases hi - lo
{
  if lo < hi {
    iprod_congruent(lo, hi - 1, m, f, g);
    congruent(iprod(lo, hi - 1, f), iprod(lo, hi - 1, g), f(hi - 1), g(hi - 1), m);
  }
}

// A sum of whole numbers, read as reals.
// Complex sums
