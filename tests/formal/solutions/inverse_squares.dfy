// The gap to 2 is still at least 1/n.
lemma {:induction false} bound(n: int, f: int -> real)
  requires n >= 1
  requires forall k: int :: k >= 1 ==> f(k) == rdiv(1.0, (k * k) as real)
  ensures rsum(1, n + 1, f) <= 2.0 - 1.0 / n as real
  decreases n
{
  rsum_last(1, n, f);
  assert f(n) == rdiv(1.0, (n * n) as real);
  if n == 1 {
    assert rsum(1, 1, f) == 0.0;
  } else {
    bound(n - 1, f);
    cast_product(n, n);
    gap(n as real, (n - 1) as real);
  }
}

lemma gap(x: real, y: real)
  requires y == x - 1.0 && y > 0.0
  ensures x * x > 0.0
  ensures 1.0 / (x * x) <= 1.0 / y - 1.0 / x
{
  product_positive(x, x);
  product_positive(x, y);
  var p, q := 1.0 / x, 1.0 / y;
  quotient_product(1.0, x);
  quotient_product(1.0, y);
  // 1/y - 1/x = 1/(xy), which is more than 1/(xx).
  product_positive(p, p);
  assert (q - p) * (x * y) == 1.0 by {
    assert q * (x * y) == (q * y) * x;
    assert p * (x * y) == (p * x) * y;
  }
  quotient_unique(q - p, 1.0, x * y);
  assert x * y <= x * x by {
    rmul_monotone(y, x, x);
  }
  quotient_compare(1.0, x * x, 1.0, x * y);
}

lemma inverse_squares(n: nat)
  ensures rsum(1, n + 1, (k: int) => rdiv(1.0, (k * k) as real)) < 2.0
{
  var f := (k: int) => rdiv(1.0, (k * k) as real);
  if n == 0 {
    assert rsum(1, 1, f) == 0.0;
  } else {
    bound(n, f);
    assert 1.0 / n as real > 0.0;
  }
}
