lemma length(z: complex)
  ensures cabs(z) >= 0.0 && cabs(z) * cabs(z) == cnormsq(z)
{
  square_nonnegative(z.re);
  square_nonnegative(z.im);
}

lemma square_of_sum(x: real, y: real)
  ensures (x + y) * (x + y) == x * x + 2.0 * (x * y) + y * y
{
}

// The squares of the lengths of two vectors, and their scalar product.
lemma products(a: real, b: real, x: real, y: real) returns (m: real, n: real, d: real)
  ensures m == a * a + b * b && n == x * x + y * y && d == a * x + b * y
  ensures d * d <= m * n
{
  m, n, d := a * a + b * b, x * x + y * y, a * x + b * y;
  cauchy_schwarz(a, b, x, y, m, n, d);
}

lemma cauchy_schwarz(a: real, b: real, x: real, y: real, m: real, n: real, d: real)
  requires m == a * a + b * b && n == x * x + y * y && d == a * x + b * y
  ensures d * d <= m * n
{
  cauchy_schwarz_2(a, b, x, y);
  equal_products(d, d, a * x + b * y, a * x + b * y);
  equal_products(m, n, a * a + b * b, x * x + y * y);
}

lemma sides(m: real, n: real, d: real, p: real, q: real, r: real)
  requires p >= 0.0 && q >= 0.0 && r >= 0.0
  requires p * p == m && q * q == n && d * d <= m * n
  requires r * r == m + n + 2.0 * d
  ensures r <= p + q
{
  equal_products(m, n, p * p, q * q);
  rmul_interchange(p, p, q, q);
  product_positive(p, q);
  below_root(d, p * q);
  square_of_sum(p, q);
  square_monotone(r, p + q);
}

lemma below_root(d: real, m: real)
  requires d * d <= m * m && m >= 0.0
  ensures d <= m
{
  if d > m {
    square_monotone(d, m);
  }
}

lemma triangle_inequality(z: complex, w: complex)
  ensures cabs(cadd(z, w)) <= cabs(z) + cabs(w)
{
  length(z);
  length(w);
  length(cadd(z, w));
  var m, n, d := products(z.re, z.im, w.re, w.im);
  square_of_sum(z.re, w.re);
  square_of_sum(z.im, w.im);
  sides(m, n, d, cabs(z), cabs(w), cabs(cadd(z, w)));
}
