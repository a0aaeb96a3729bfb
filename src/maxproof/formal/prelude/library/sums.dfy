// Sums over lo <= k < hi. Where a lemma is about a particular summand, that is given by its values, so that the lemma
// applies to every function that has them.

lemma {:induction false} isum_equal(lo: int, hi: int, f: int -> int, g: int -> int)
  requires forall k: int :: lo <= k < hi ==> f(k) == g(k)
  ensures isum(lo, hi, f) == isum(lo, hi, g)
  decreases hi - lo
{
  if lo < hi {
    isum_equal(lo, hi - 1, f, g);
  }
}

lemma {:induction false} isum_split(lo: int, mid: int, hi: int, f: int -> int)
  requires lo <= mid <= hi
  ensures isum(lo, hi, f) == isum(lo, mid, f) + isum(mid, hi, f)
  decreases hi - mid
{
  if mid < hi {
    isum_split(lo, mid, hi - 1, f);
  }
}

lemma isum_last(lo: int, hi: int, f: int -> int)
  requires lo <= hi
  ensures isum(lo, hi + 1, f) == isum(lo, hi, f) + f(hi)
{
}

lemma isum_first(lo: int, hi: int, f: int -> int)
  requires lo < hi
  ensures isum(lo, hi, f) == f(lo) + isum(lo + 1, hi, f)
{
  isum_split(lo, lo + 1, hi, f);
  isum_last(lo, lo, f);
}

lemma {:induction false} isum_shift(lo: int, hi: int, d: int, f: int -> int, g: int -> int)
  requires forall k: int :: lo <= k < hi ==> f(k) == g(k + d)
  ensures isum(lo, hi, f) == isum(lo + d, hi + d, g)
  decreases hi - lo
{
  if lo < hi {
    isum_shift(lo, hi - 1, d, f, g);
    assert f(hi - 1) == g(hi - 1 + d);
  }
}

lemma {:induction false} isum_add(lo: int, hi: int, f: int -> int, g: int -> int, h: int -> int)
  requires forall k: int :: lo <= k < hi ==> h(k) == f(k) + g(k)
  ensures isum(lo, hi, h) == isum(lo, hi, f) + isum(lo, hi, g)
  decreases hi - lo
{
  if lo < hi {
    isum_add(lo, hi - 1, f, g, h);
  }
}

lemma {:induction false} isum_scale(lo: int, hi: int, c: int, f: int -> int, g: int -> int)
  requires forall k: int :: lo <= k < hi ==> g(k) == c * f(k)
  ensures isum(lo, hi, g) == c * isum(lo, hi, f)
  decreases hi - lo
{
  if lo < hi {
    isum_scale(lo, hi - 1, c, f, g);
    mul_distributes(c, isum(lo, hi - 1, f), f(hi - 1));
  }
}

lemma {:induction false} isum_constant(lo: int, hi: int, c: int, f: int -> int)
  requires lo <= hi
  requires forall k: int :: lo <= k < hi ==> f(k) == c
  ensures isum(lo, hi, f) == (hi - lo) * c
  decreases hi - lo
{
  if lo < hi {
    isum_constant(lo, hi - 1, c, f);
    isum_constant_step((hi - lo), (hi - 1 - lo), c);
  }
}

lemma isum_constant_step(n: int, m: int, c: int)
  requires n == m + 1
  ensures n * c == m * c + c
{
}

lemma {:induction false} isum_monotone(lo: int, hi: int, f: int -> int, g: int -> int)
  requires forall k: int :: lo <= k < hi ==> f(k) <= g(k)
  ensures isum(lo, hi, f) <= isum(lo, hi, g)
  decreases hi - lo
{
  if lo < hi {
    isum_monotone(lo, hi - 1, f, g);
  }
}

lemma {:induction false} isum_nonnegative(lo: int, hi: int, f: int -> int)
  requires forall k: int :: lo <= k < hi ==> f(k) >= 0
  ensures isum(lo, hi, f) >= 0
  decreases hi - lo
{
  if lo < hi {
    isum_nonnegative(lo, hi - 1, f);
  }
}

lemma {:induction false} isum_telescopes(lo: int, hi: int, f: int -> int, g: int -> int)
  requires lo <= hi
  requires forall k: int :: lo <= k < hi ==> f(k) == g(k + 1) - g(k)
  ensures isum(lo, hi, f) == g(hi) - g(lo)
  decreases hi - lo
{
  if lo < hi {
    isum_telescopes(lo, hi - 1, f, g);
    assert f(hi - 1) == g(hi - 1 + 1) - g(hi - 1);
  }
}

lemma {:induction false} rsum_equal(lo: int, hi: int, f: int -> real, g: int -> real)
  requires forall k: int :: lo <= k < hi ==> f(k) == g(k)
  ensures rsum(lo, hi, f) == rsum(lo, hi, g)
  decreases hi - lo
{
  if lo < hi {
    rsum_equal(lo, hi - 1, f, g);
  }
}

lemma {:induction false} rsum_split(lo: int, mid: int, hi: int, f: int -> real)
  requires lo <= mid <= hi
  ensures rsum(lo, hi, f) == rsum(lo, mid, f) + rsum(mid, hi, f)
  decreases hi - mid
{
  if mid < hi {
    rsum_split(lo, mid, hi - 1, f);
  }
}

lemma rsum_last(lo: int, hi: int, f: int -> real)
  requires lo <= hi
  ensures rsum(lo, hi + 1, f) == rsum(lo, hi, f) + f(hi)
{
}

lemma rsum_first(lo: int, hi: int, f: int -> real)
  requires lo < hi
  ensures rsum(lo, hi, f) == f(lo) + rsum(lo + 1, hi, f)
{
  rsum_split(lo, lo + 1, hi, f);
  rsum_last(lo, lo, f);
}

lemma {:induction false} rsum_shift(lo: int, hi: int, d: int, f: int -> real, g: int -> real)
  requires forall k: int :: lo <= k < hi ==> f(k) == g(k + d)
  ensures rsum(lo, hi, f) == rsum(lo + d, hi + d, g)
  decreases hi - lo
{
  if lo < hi {
    rsum_shift(lo, hi - 1, d, f, g);
    assert f(hi - 1) == g(hi - 1 + d);
  }
}

lemma {:induction false} rsum_add(lo: int, hi: int, f: int -> real, g: int -> real, h: int -> real)
  requires forall k: int :: lo <= k < hi ==> h(k) == f(k) + g(k)
  ensures rsum(lo, hi, h) == rsum(lo, hi, f) + rsum(lo, hi, g)
  decreases hi - lo
{
  if lo < hi {
    rsum_add(lo, hi - 1, f, g, h);
  }
}

lemma {:induction false} rsum_scale(lo: int, hi: int, c: real, f: int -> real, g: int -> real)
  requires forall k: int :: lo <= k < hi ==> g(k) == c * f(k)
  ensures rsum(lo, hi, g) == c * rsum(lo, hi, f)
  decreases hi - lo
{
  if lo < hi {
    rsum_scale(lo, hi - 1, c, f, g);
    rmul_distributes(c, rsum(lo, hi - 1, f), f(hi - 1));
  }
}

lemma {:induction false} rsum_constant(lo: int, hi: int, c: real, f: int -> real)
  requires lo <= hi
  requires forall k: int :: lo <= k < hi ==> f(k) == c
  ensures rsum(lo, hi, f) == (hi - lo) as real * c
  decreases hi - lo
{
  if lo < hi {
    rsum_constant(lo, hi - 1, c, f);
    rsum_constant_step((hi - lo) as real, (hi - 1 - lo) as real, c);
  }
}

lemma rsum_constant_step(n: real, m: real, c: real)
  requires n == m + 1.0
  ensures n * c == m * c + c
{
}

lemma {:induction false} rsum_monotone(lo: int, hi: int, f: int -> real, g: int -> real)
  requires forall k: int :: lo <= k < hi ==> f(k) <= g(k)
  ensures rsum(lo, hi, f) <= rsum(lo, hi, g)
  decreases hi - lo
{
  if lo < hi {
    rsum_monotone(lo, hi - 1, f, g);
  }
}

lemma {:induction false} rsum_nonnegative(lo: int, hi: int, f: int -> real)
  requires forall k: int :: lo <= k < hi ==> f(k) >= 0.0
  ensures rsum(lo, hi, f) >= 0.0
  decreases hi - lo
{
  if lo < hi {
    rsum_nonnegative(lo, hi - 1, f);
  }
}

lemma {:induction false} rsum_telescopes(lo: int, hi: int, f: int -> real, g: int -> real)
  requires lo <= hi
  requires forall k: int :: lo <= k < hi ==> f(k) == g(k + 1) - g(k)
  ensures rsum(lo, hi, f) == g(hi) - g(lo)
  decreases hi - lo
{
  if lo < hi {
    rsum_telescopes(lo, hi - 1, f, g);
    assert f(hi - 1) == g(hi - 1 + 1) - g(hi - 1);
  }
}

lemma {:induction false} isum_congruent(lo: int, hi: int, m: int, f: int -> int, g: int -> int)
  requires m > 0
  requires forall k: int :: lo <= k < hi ==> f(k) % m == g(k) % m
  ensures isum(lo, hi, f) % m == isum(lo, hi, g) % m
  decreases hi - lo
{
  if lo < hi {
    isum_congruent(lo, hi - 1, m, f, g);
    var u, v := f(hi - 1), g(hi - 1);
    congruent_sums(isum(lo, hi - 1, f), isum(lo, hi - 1, g), u, v, isum(lo, hi, f), isum(lo, hi, g), m);
  }
}

lemma {:induction false} isum_divides(lo: int, hi: int, d: int, f: int -> int)
  requires forall k: int :: lo <= k < hi ==> divides(d, f(k))
  ensures divides(d, isum(lo, hi, f))
  decreases hi - lo
{
  if lo < hi {
    isum_divides(lo, hi - 1, d, f);
    divides_sum(d, isum(lo, hi - 1, f), f(hi - 1));
  } else {
    divides_reflexive(d);
  }
}

lemma {:induction false} rsum_of_casts(lo: int, hi: int, f: int -> int, g: int -> real)
  requires forall k: int :: lo <= k < hi ==> g(k) == f(k) as real
  ensures rsum(lo, hi, g) == isum(lo, hi, f) as real
  decreases hi - lo
{
  if lo < hi {
    rsum_of_casts(lo, hi - 1, f, g);
  }
}

lemma {:induction false} rsum_absolute(lo: int, hi: int, f: int -> real, g: int -> real)
  requires forall k: int :: lo <= k < hi ==> g(k) == rabs(f(k))
  ensures rabs(rsum(lo, hi, f)) <= rsum(lo, hi, g)
  decreases hi - lo
{
  if lo < hi {
    rsum_absolute(lo, hi - 1, f, g);
  }
}

lemma {:induction false} csum_equal(lo: int, hi: int, f: int -> complex, g: int -> complex)
  requires forall k: int :: lo <= k < hi ==> f(k) == g(k)
  ensures csum(lo, hi, f) == csum(lo, hi, g)
  decreases hi - lo
{
  if lo < hi {
    csum_equal(lo, hi - 1, f, g);
  }
}

lemma {:induction false} csum_parts(lo: int, hi: int, f: int -> complex, u: int -> real, v: int -> real)
  requires forall k: int :: lo <= k < hi ==> f(k).re == u(k) && f(k).im == v(k)
  ensures csum(lo, hi, f) == Complex(rsum(lo, hi, u), rsum(lo, hi, v))
  decreases hi - lo
{
  if lo < hi {
    csum_parts(lo, hi - 1, f, u, v);
  }
}
