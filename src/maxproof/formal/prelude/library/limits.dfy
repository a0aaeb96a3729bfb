// Limits of sequences and functions.

lemma limit_of_constant(u: int -> real, c: real)
  requires forall n: int :: n >= 0 ==> u(n) == c
  ensures tends_to(u, c)
{
  forall eps: real | eps > 0.0
    ensures eventually_within(u, c, eps)
  {
    assert within_from(u, c, eps, 0);
  }
}

lemma limit_unique(u: int -> real, l: real, m: real)
  requires tends_to(u, l) && tends_to(u, m)
  ensures l == m
{
  if l != m {
    var eps := rabs(l - m) / 2.0;
    assert eventually_within(u, l, eps) && eventually_within(u, m, eps);
    var start: int :| start >= 0 && within_from(u, l, eps, start);
    var start': int :| start' >= 0 && within_from(u, m, eps, start');
    var n := imax(start, start');
    assert rabs(u(n) - l) < eps && rabs(u(n) - m) < eps;
  }
}

lemma limit_of_sum(u: int -> real, v: int -> real, w: int -> real, l: real, m: real)
  requires tends_to(u, l) && tends_to(v, m)
  requires forall n: int :: n >= 0 ==> w(n) == u(n) + v(n)
  ensures tends_to(w, l + m)
{
  forall eps: real | eps > 0.0
    ensures eventually_within(w, l + m, eps)
  {
    var half := eps / 2.0;
    assert eventually_within(u, l, half) && eventually_within(v, m, half);
    var start: int :| start >= 0 && within_from(u, l, half, start);
    var start': int :| start' >= 0 && within_from(v, m, half, start');
    var both := imax(start, start');
    forall n: int | n >= both
      ensures rabs(w(n) - (l + m)) < eps
    {
      assert rabs(u(n) - l) < half && rabs(v(n) - m) < half;
    }
    assert within_from(w, l + m, eps, both);
  }
}

lemma limit_of_multiple(u: int -> real, w: int -> real, c: real, l: real)
  requires tends_to(u, l)
  requires forall n: int :: n >= 0 ==> w(n) == c * u(n)
  ensures tends_to(w, c * l)
{
  forall eps: real | eps > 0.0
    ensures eventually_within(w, c * l, eps)
  {
    var d := rabs(c) + 1.0;
    var small := eps / d;
    quotient_product(eps, d);
    if small <= 0.0 {
      rmul_monotone(small, 0.0, d);
    }
    assert eventually_within(u, l, small);
    var start: int :| start >= 0 && within_from(u, l, small, start);
    forall n: int | n >= start
      ensures rabs(w(n) - c * l) < eps
    {
      assert rabs(u(n) - l) < small;
      rmul_distributes(c, u(n), l);
      rabs_product(c, u(n) - l);
      rmul_monotone(rabs(c), d, rabs(u(n) - l));
      rmul_strict(rabs(u(n) - l), small, d);
    }
    assert within_from(w, c * l, eps, start);
  }
}

lemma squeeze(u: int -> real, v: int -> real, w: int -> real, l: real)
  requires tends_to(u, l) && tends_to(w, l)
  requires forall n: int :: n >= 0 ==> u(n) <= v(n) <= w(n)
  ensures tends_to(v, l)
{
  forall eps: real | eps > 0.0
    ensures eventually_within(v, l, eps)
  {
    assert eventually_within(u, l, eps) && eventually_within(w, l, eps);
    var start: int :| start >= 0 && within_from(u, l, eps, start);
    var start': int :| start' >= 0 && within_from(w, l, eps, start');
    var both := imax(start, start');
    forall n: int | n >= both
      ensures rabs(v(n) - l) < eps
    {
      assert rabs(u(n) - l) < eps && rabs(w(n) - l) < eps;
    }
    assert within_from(v, l, eps, both);
  }
}

lemma limit_of_inverses(u: int -> real)
  requires forall n: int :: n >= 1 ==> u(n) == 1.0 / n as real
  ensures tends_to(u, 0.0)
{
  forall eps: real | eps > 0.0
    ensures eventually_within(u, 0.0, eps)
  {
    var start := floor(1.0 / eps) + 1;
    quotient_product(1.0, eps);
    if 1.0 / eps <= 0.0 {
      rmul_monotone(1.0 / eps, 0.0, eps);
    }
    forall n: int | n >= start
      ensures rabs(u(n) - 0.0) < eps
    {
      var x := n as real;
      quotient_product(1.0, x);
      assert x > 1.0 / eps > 0.0;
      inverse_below(x, eps, 1.0 / eps, 1.0 / x);
    }
    assert within_from(u, 0.0, eps, start);
  }
}

lemma inverse_below(x: real, eps: real, t: real, y: real)
  requires eps > 0.0 && x > t > 0.0 && t * eps == 1.0 && y * x == 1.0
  ensures 0.0 < y < eps
{
  if y <= 0.0 {
    rmul_monotone(y, 0.0, x);
  }
  if y >= eps {
    rmul_monotone(eps, y, x);
    rmul_strict(t, x, eps);
  }
}

lemma has_limit_unique(f: real -> real, a: real, l: real, m: real)
  requires has_limit(f, a, l) && has_limit(f, a, m)
  ensures l == m
{
  if l != m {
    var eps := rabs(l - m) / 2.0;
    assert near_within(f, a, l, eps) && near_within(f, a, m, eps);
    var d: real :| d > 0.0 && within_near(f, a, l, eps, d);
    var d': real :| d' > 0.0 && within_near(f, a, m, eps, d');
    var x := a + rmin(d, d') / 2.0;
    assert 0.0 < rabs(x - a) < d && rabs(x - a) < d';
    assert rabs(f(x) - l) < eps && rabs(f(x) - m) < eps;
  }
}
