lemma means(x: real, y: real)
  requires x > 0.0 && y > 0.0
  ensures 2.0 * x * y / (x + y) <= sqrt(x * y) <= (x + y) / 2.0
{
  product_positive(x, y);
  am_gm_2_sqrt(x, y);
  var r, s := sqrt(x * y), x + y;
  assert r * r == x * y && r >= 0.0 && 2.0 * r <= s;
  rmul_monotone(2.0 * r, s, r);
  assert 2.0 * x * y == 2.0 * r * r;
  assert 2.0 * r * r <= s * r;
  quotient_compare(2.0 * x * y, s, r, 1.0);
  assert r / 1.0 == r;
}
