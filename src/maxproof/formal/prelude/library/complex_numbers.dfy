// Complex numbers.

lemma {:induction false} equal_parts(z: complex, w: complex)
  requires z.re == w.re && z.im == w.im
  ensures z == w
{
}

lemma {:induction false} cadd_laws(z: complex, w: complex, v: complex)
  ensures cadd(z, w) == cadd(w, z)
  ensures cadd(cadd(z, w), v) == cadd(z, cadd(w, v))
  ensures cadd(z, cneg(z)) == Complex(0.0, 0.0)
  ensures csub(z, w) == cadd(z, cneg(w))
{
}

lemma {:induction false} cmul_comm(z: complex, w: complex)
  ensures cmul(z, w) == cmul(w, z)
{
}

lemma {:induction false} cmul_assoc(z: complex, w: complex, v: complex)
  ensures cmul(cmul(z, w), v) == cmul(z, cmul(w, v))
{
  var p, q := cmul(z, w), cmul(w, v);
  associated_parts(z.re, z.im, w.re, w.im, v.re, v.im, p.re, p.im, q.re, q.im);
}

lemma triple_product(a: real, b: real, c: real, d: real, e: real, f: real)
  ensures (a * c - b * d) * e - (a * d + b * c) * f == a * (c * e - d * f) - b * (c * f + d * e)
{
}

lemma substituted_difference(a: real, c: real, d: real, e: real, f: real, r: real)
  requires r == c * e - d * f
  ensures a * r == a * (c * e - d * f) && r * a == (c * e - d * f) * a
{
}

lemma substituted_sum(a: real, c: real, d: real, e: real, f: real, r: real)
  requires r == c * e + d * f
  ensures a * r == a * (c * e + d * f) && r * a == (c * e + d * f) * a
{
}

lemma substituted_left(a: real, b: real, c: real, d: real, e: real, f: real, p: real, q: real)
  requires p == a * c - b * d && q == a * d + b * c
  ensures p * e - q * f == (a * c - b * d) * e - (a * d + b * c) * f
  ensures p * f + q * e == (a * c - b * d) * f + (a * d + b * c) * e
{
  substituted_difference(e, a, b, c, d, p);
  substituted_difference(f, a, b, c, d, p);
  substituted_sum(e, a, b, d, c, q);
  substituted_sum(f, a, b, d, c, q);
}

lemma substituted_right(a: real, b: real, c: real, d: real, e: real, f: real, r: real, s: real)
  requires r == c * e - d * f && s == c * f + d * e
  ensures a * r - b * s == a * (c * e - d * f) - b * (c * f + d * e)
  ensures a * s + b * r == a * (c * f + d * e) + b * (c * e - d * f)
{
  substituted_difference(a, c, d, e, f, r);
  substituted_difference(b, c, d, e, f, r);
  substituted_sum(a, c, d, f, e, s);
  substituted_sum(b, c, d, f, e, s);
}

lemma other_triple_product(a: real, b: real, c: real, d: real, e: real, f: real)
  ensures (a * c - b * d) * f + (a * d + b * c) * e == a * (c * f + d * e) + b * (c * e - d * f)
{
}

lemma associated_parts(
  a: real, b: real, c: real, d: real, e: real, f: real, p: real, q: real, r: real, s: real
)
  requires p == a * c - b * d && q == a * d + b * c && r == c * e - d * f && s == c * f + d * e
  ensures p * e - q * f == a * r - b * s
  ensures p * f + q * e == a * s + b * r
{
  substituted_left(a, b, c, d, e, f, p, q);
  substituted_right(a, b, c, d, e, f, r, s);
  triple_product(a, b, c, d, e, f);
  other_triple_product(a, b, c, d, e, f);
}

lemma distributed_parts(a: real, b: real, c: real, d: real, e: real, f: real, p: real, q: real)
  requires p == c + e && q == d + f
  ensures a * p - b * q == (a * c - b * d) + (a * e - b * f)
  ensures a * q + b * p == (a * d + b * c) + (a * f + b * e)
{
  product_of_sum(a, p, c, e);
  product_of_sum(b, q, d, f);
  product_of_sum(a, q, d, f);
  product_of_sum(b, p, c, e);
}

lemma {:induction false} cmul_distributes(z: complex, w: complex, v: complex)
  ensures cmul(z, cadd(w, v)) == cadd(cmul(z, w), cmul(z, v))
{
  var s := cadd(w, v);
  distributed_parts(z.re, z.im, w.re, w.im, v.re, v.im, s.re, s.im);
}

lemma {:induction false} cmul_one(z: complex)
  ensures cmul(z, Complex(1.0, 0.0)) == z && cmul(z, Complex(0.0, 0.0)) == Complex(0.0, 0.0)
{
}

lemma {:induction false} times_imaginary_unit(i: complex, z: complex)
  requires i.re == 0.0 && i.im == 1.0
  ensures cmul(i, z) == Complex(-z.im, z.re)
{
}

lemma imaginary_unit()
  ensures cmul(Complex(0.0, 1.0), Complex(0.0, 1.0)) == Complex(-1.0, 0.0)
{
  var i := Complex(0.0, 1.0);
  times_imaginary_unit(i, i);
}

lemma {:induction false} cpow_small(z: complex)
  ensures cpow(z, 0) == Complex(1.0, 0.0) && cpow(z, 1) == z && cpow(z, 2) == cmul(z, z)
{
  cmul_one(z);
}

lemma {:induction false} cnormsq_nonnegative(z: complex)
  ensures cnormsq(z) >= 0.0
{
  square_nonnegative(z.re);
  square_nonnegative(z.im);
}

lemma {:induction false} cnormsq_zero(z: complex)
  ensures cnormsq(z) >= 0.0
  ensures cnormsq(z) == 0.0 <==> z == Complex(0.0, 0.0)
{
  square_nonnegative(z.re);
  square_nonnegative(z.im);
}

lemma {:induction false} cmul_inverse(z: complex)
  requires z != Complex(0.0, 0.0)
  ensures cmul(z, cinv(z)) == Complex(1.0, 0.0)
{
  cnormsq_zero(z);
  var w := cinv(z);
  quotient_product(z.re, cnormsq(z));
  quotient_product(-z.im, cnormsq(z));
  inverse_parts(z.re, z.im, cnormsq(z), w.re, w.im);
}

lemma cancelled_factor(x: real, u: real, n: real, w: real)
  requires u * n == w
  ensures (x * u) * n == x * w
{
}

lemma cancelled_negative(x: real, u: real, n: real, w: real)
  requires u * n == -w
  ensures (x * u) * n == -(x * w)
{
}

lemma difference_of_multiples(x: real, y: real, n: real, u: real, v: real)
  requires n == x * x + y * y && n != 0.0 && (x * u) * n == x * x && (y * v) * n == -(y * y)
  ensures x * u - y * v == 1.0
{
  rmul_distributes(n, x * u, y * v);
  assert (x * u - y * v) * n == n;
}

lemma sum_of_multiples(x: real, y: real, n: real, u: real, v: real)
  requires n != 0.0 && (x * v) * n == -(x * y) && (y * u) * n == y * x
  ensures x * v + y * u == 0.0
{
  rmul_distributes(n, x * v, y * u);
  assert (x * v + y * u) * n == 0.0;
}

lemma inverse_parts(x: real, y: real, n: real, u: real, v: real)
  requires n != 0.0 && n == x * x + y * y && u * n == x && v * n == -y
  ensures x * u - y * v == 1.0 && x * v + y * u == 0.0
{
  cancelled_factor(x, u, n, x);
  cancelled_negative(y, v, n, y);
  difference_of_multiples(x, y, n, u, v);
  cancelled_negative(x, v, n, y);
  cancelled_factor(y, u, n, x);
  sum_of_multiples(x, y, n, u, v);
}

lemma {:induction false} cdiv_unique(z: complex, w: complex, q: complex)
  requires w != Complex(0.0, 0.0) && cmul(q, w) == z
  ensures cdiv(z, w) == q
{
  cmul_assoc(q, w, cinv(w));
  cmul_inverse(w);
  cmul_one(q);
}

lemma {:induction false} cmul_zero(z: complex, w: complex)
  requires cmul(z, w) == Complex(0.0, 0.0)
  ensures z == Complex(0.0, 0.0) || w == Complex(0.0, 0.0)
{
  if w != Complex(0.0, 0.0) {
    cdiv_unique(Complex(0.0, 0.0), w, z);
    cmul_comm(Complex(0.0, 0.0), cinv(w));
    cmul_one(cinv(w));
  }
}

lemma {:induction false} conjugate_laws(z: complex, w: complex)
  ensures conj(conj(z)) == z
  ensures conj(cadd(z, w)) == cadd(conj(z), conj(w))
  ensures conj(cmul(z, w)) == cmul(conj(z), conj(w))
  ensures cmul(z, conj(z)) == Complex(cnormsq(z), 0.0)
{
  equal_parts(conj(cmul(z, w)), cmul(conj(z), conj(w)));
  rmul_comm(z.re, z.im);
  equal_parts(cmul(z, conj(z)), Complex(cnormsq(z), 0.0));
}

lemma norm_identity(a: real, b: real, x: real, y: real)
  ensures (a * x - b * y) * (a * x - b * y) + (a * y + b * x) * (a * y + b * x) == (a * a + b * b) * (x * x + y * y)
{
}

lemma square_of_difference(a: real, b: real, x: real, y: real, p: real)
  requires p == a * x - b * y
  ensures p * p == (a * x - b * y) * (a * x - b * y)
{
}

lemma square_of_sum(a: real, b: real, x: real, y: real, q: real)
  requires q == a * y + b * x
  ensures q * q == (a * y + b * x) * (a * y + b * x)
{
}

lemma product_of_norms(a: real, b: real, x: real, y: real, m: real, n: real)
  requires m == a * a + b * b && n == x * x + y * y
  ensures m * n == (a * a + b * b) * (x * x + y * y)
{
}

lemma norm_of_product(a: real, b: real, x: real, y: real, p: real, q: real, m: real, n: real)
  requires p == a * x - b * y && q == a * y + b * x && m == a * a + b * b && n == x * x + y * y
  ensures p * p + q * q == m * n
{
  square_of_difference(a, b, x, y, p);
  square_of_sum(a, b, x, y, q);
  product_of_norms(a, b, x, y, m, n);
  norm_identity(a, b, x, y);
}

lemma {:induction false} cnormsq_product(z: complex, w: complex)
  ensures cnormsq(cmul(z, w)) == cnormsq(z) * cnormsq(w)
{
  var p := cmul(z, w);
  norm_of_product(z.re, z.im, w.re, w.im, p.re, p.im, cnormsq(z), cnormsq(w));
}

lemma {:induction false} cabs_product(z: complex, w: complex)
  ensures cabs(cmul(z, w)) == cabs(z) * cabs(w)
{
  cnormsq_product(z, w);
  cnormsq_zero(z);
  cnormsq_zero(w);
  root_of_product(cnormsq(z), cnormsq(w), cnormsq(cmul(z, w)));
}

lemma root_of_product(m: real, n: real, k: real)
  requires m >= 0.0 && n >= 0.0 && k == m * n
  ensures sqrt(k) == sqrt(m) * sqrt(n)
{
  sqrt_product(m, n);
}

lemma {:induction false} cabs_square(z: complex)
  ensures cabs(z) * cabs(z) == cnormsq(z) && cabs(z) >= 0.0
{
  cnormsq_nonnegative(z);
}

lemma zero_root(n: real)
  requires n >= 0.0
  ensures sqrt(n) == 0.0 <==> n == 0.0
{
  sqrt_positive(n);
}

lemma {:induction false} cabs_zero(z: complex)
  ensures cabs(z) == 0.0 <==> z == Complex(0.0, 0.0)
{
  cnormsq_zero(z);
  zero_root(cnormsq(z));
}

lemma {:induction false} cabs_real(x: real)
  ensures cabs(Complex(x, 0.0)) == rabs(x)
{
  assert cnormsq(Complex(x, 0.0)) == x * x;
  sqrt_of_square(x);
}

lemma {:induction false} parts_bounded_by_cabs(z: complex)
  ensures rabs(z.re) <= cabs(z) && rabs(z.im) <= cabs(z)
{
  cabs_square(z);
  legs_below_hypotenuse(z.re, z.im, cabs(z));
  legs_below_hypotenuse(z.im, z.re, cabs(z));
}

lemma legs_below_hypotenuse(a: real, b: real, r: real)
  requires r >= 0.0 && r * r == a * a + b * b
  ensures rabs(a) <= r
{
  square_nonnegative(b);
  rabs_square(a);
  square_monotone(rabs(a), r);
}

lemma {:induction false} euler()
  ensures cexp(Complex(0.0, pi())) == Complex(-1.0, 0.0)
{
  exp_zero();
  cos_sin_pi();
}
