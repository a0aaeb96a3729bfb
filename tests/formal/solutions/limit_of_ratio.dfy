lemma eventually_near(u: int -> real, eps: real)
  requires forall n: nat :: u(n) == n as real / (n + 1) as real
  requires eps > 0.0
  ensures eventually_within(u, 1.0, eps)
{
  var start := floor(1.0 / eps) + 1;
  floor_bounds(1.0 / eps);
  assert 1.0 / eps > 0.0;
  forall n: int | n >= start
    ensures rabs(u(n) - 1.0) < eps
  {
    assert u(n) == n as real / (n + 1) as real;
    near_one(n as real, (n + 1) as real, eps);
  }
  assert within_from(u, 1.0, eps, start);
}

lemma near_one(x: real, y: real, eps: real)
  requires y == x + 1.0 && x >= 0.0 && eps > 0.0 && x >= 1.0 / eps
  ensures rabs(x / y - 1.0) < eps
{
  var q := x / y;
  quotient_product(x, y);
  quotient_product(1.0, eps);
  assert (1.0 - q) * y == 1.0;
  assert q < 1.0 by {
    if q >= 1.0 {
      rmul_monotone(1.0, q, y);
    }
  }
  if 1.0 - q >= eps {
    rmul_monotone(eps, 1.0 - q, y);
    rmul_strict(1.0 / eps, y, eps);
  }
}

lemma converges(u: int -> real, l: real)
  requires forall eps: real :: eps > 0.0 ==> eventually_within(u, l, eps)
  ensures tends_to(u, l)
{
}

lemma limit_of_ratio(u: int -> real)
  requires forall n: nat :: u(n) == n as real / (n + 1) as real
  ensures tends_to(u, 1.0)
{
  forall eps: real | eps > 0.0
    ensures eventually_within(u, 1.0, eps)
  {
    eventually_near(u, eps);
  }
  converges(u, 1.0);
}
