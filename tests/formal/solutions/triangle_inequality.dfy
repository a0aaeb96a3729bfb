lemma length(z: complex)
  ensures cabs(z) >= 0.0 && cabs(z) * cabs(z) == cnormsq(z)
{
  square_nonnegative(z.re);
  square_nonnegative(z.im);
}

lemma sum_squared(x: real, y: real)
  ensures (x + y) * (x + y) == x * x + 2.0 * (x * y) + y * y
{
}

// The squares of the lengths of two vectors, and their scalar product.
lemma products(a: real, b: real, x: real, y: real) returns (m: real, n: real, d: real)
  ensures m == a * a + b * b && n == x * x + y * y && d == a * x + b * y
  ensures d * d <= m * n
{
  var aa := product(a, a);
  var bb := product(b, b);
  var xx := product(x, x);
  var yy := product(y, y);
  var s := product(a, x);
  var t := product(b, y);
  var u := product(a, y);
  var v := product(b, x);
  square_of_product(a, x, aa, xx, s);
  square_of_product(b, y, bb, yy, t);
  square_of_product(a, y, aa, yy, u);
  square_of_product(b, x, bb, xx, v);
  opposite_products(a, b, x, y, s, t, u, v);
  m, n, d := aa + bb, xx + yy, s + t;
  expanded(aa, bb, xx, yy, s, t, u, v, m, n, d);
}

lemma product(x: real, y: real) returns (p: real)
  ensures p == x * y
{
  p := x * y;
}

lemma square_of_product(x: real, y: real, p: real, q: real, s: real)
  requires p == x * x && q == y * y && s == x * y
  ensures s * s == p * q
{
  rmul_interchange(x, y, x, y);
  equal_products(s, s, x * y, x * y);
  equal_products(p, q, x * x, y * y);
}

lemma opposite_products(a: real, b: real, x: real, y: real, s: real, t: real, u: real, v: real)
  requires s == a * x && t == b * y && u == a * y && v == b * x
  ensures s * t == u * v
{
  rmul_interchange(a, x, b, y);
  rmul_interchange(a, y, b, x);
  equal_products(s, t, a * x, b * y);
  equal_products(u, v, a * y, b * x);
}

// The same with names for all products.
lemma expanded(
  aa: real, bb: real, xx: real, yy: real, s: real, t: real, u: real, v: real, m: real, n: real, d: real
)
  requires m == aa + bb && n == xx + yy && d == s + t
  requires s * s == aa * xx && t * t == bb * yy && u * u == aa * yy && v * v == bb * xx
  requires s * t == u * v
  ensures d * d <= m * n
{
  product_of_sum(m, n, xx, yy);
  product_of_sum(xx, m, aa, bb);
  product_of_sum(yy, m, aa, bb);
  rmul_comm(aa, xx);
  rmul_comm(aa, yy);
  rmul_comm(bb, xx);
  rmul_comm(bb, yy);
  sum_squared(s, t);
  equal_products(d, d, s + t, s + t);
  am_gm_2(u, v);
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
  sum_squared(p, q);
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
  sum_squared(z.re, w.re);
  sum_squared(z.im, w.im);
  sides(m, n, d, cabs(z), cabs(w), cabs(cadd(z, w)));
}
