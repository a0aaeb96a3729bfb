// Classical inequalities of reals, and quadratic equations.

// Arithmetic and geometric means.
lemma am_gm_2(x: real, y: real)
  ensures x * x + y * y >= 2.0 * (x * y)
  ensures (x + y) * (x + y) >= 4.0 * (x * y)
{
  square_nonnegative(x - y);
  assert (x - y) * (x - y) == x * x + y * y - 2.0 * (x * y);
}

lemma am_gm_2_sqrt(x: real, y: real)
  requires x >= 0.0 && y >= 0.0
  ensures sqrt(x * y) <= (x + y) / 2.0
{
  sqrt_product(x, y);
  am_gm_2(sqrt(x), sqrt(y));
}

lemma am_gm_3(x: real, y: real, z: real)
  requires x >= 0.0 && y >= 0.0 && z >= 0.0
  ensures x * x * x + y * y * y + z * z * z >= 3.0 * (x * y * z)
{
  sum_of_cubes_identity(x, y, z);
  squares_of_differences(x, y, z);
  half_of_product(
    x * x * x + y * y * y + z * z * z - 3.0 * (x * y * z),
    x + y + z,
    (x - y) * (x - y) + (y - z) * (y - z) + (z - x) * (z - x)
  );
}

lemma squares_of_differences(x: real, y: real, z: real)
  ensures (x - y) * (x - y) + (y - z) * (y - z) + (z - x) * (z - x) >= 0.0
{
  square_nonnegative(x - y);
  square_nonnegative(y - z);
  square_nonnegative(z - x);
}

lemma half_of_product(p: real, q: real, r: real)
  requires 2.0 * p == q * r && q >= 0.0 && r >= 0.0
  ensures p >= 0.0
{
  product_positive(q, r);
}

lemma sum_of_cubes_identity(x: real, y: real, z: real)
  ensures 2.0 * (x * x * x + y * y * y + z * z * z - 3.0 * (x * y * z))
       == (x + y + z) * ((x - y) * (x - y) + (y - z) * (y - z) + (z - x) * (z - x))
{
}

// The sum of pairwise products is at most the sum of squares.
lemma squares_dominate_products(x: real, y: real, z: real)
  ensures x * y + y * z + z * x <= x * x + y * y + z * z
  ensures 3.0 * (x * y + y * z + z * x) <= (x + y + z) * (x + y + z)
{
  am_gm_2(x, y);
  am_gm_2(y, z);
  am_gm_2(z, x);
  assert (x + y + z) * (x + y + z) == x * x + y * y + z * z + 2.0 * (x * y + y * z + z * x);
}

lemma cauchy_schwarz_2(a: real, b: real, x: real, y: real)
  ensures (a * x + b * y) * (a * x + b * y) <= (a * a + b * b) * (x * x + y * y)
{
  square_nonnegative(a * y - b * x);
  lagrange_identity_2(a, b, x, y);
}

lemma lagrange_identity_2(a: real, b: real, x: real, y: real)
  ensures (a * a + b * b) * (x * x + y * y)
       == (a * x + b * y) * (a * x + b * y) + (a * y - b * x) * (a * y - b * x)
{
}

lemma expanded_product(p: real, q: real, r: real, u: real, v: real, w: real)
  ensures (p + q + r) * (u + v + w) == p * u + p * v + p * w + q * u + q * v + q * w + r * u + r * v + r * w
{
}

lemma cross_terms(a: real, b: real, x: real, y: real)
  ensures 2.0 * ((a * x) * (b * y)) <= (a * a) * (y * y) + (b * b) * (x * x)
  ensures (a * x) * (b * y) == (b * y) * (a * x)
{
  am_gm_2(a * y, b * x);
  rmul_interchange(a, y, a, y);
  rmul_interchange(b, x, b, x);
}

lemma cauchy_schwarz_3(a: real, b: real, c: real, x: real, y: real, z: real)
  ensures (a * x + b * y + c * z) * (a * x + b * y + c * z) <= (a * a + b * b + c * c) * (x * x + y * y + z * z)
{
  expanded_product(a * x, b * y, c * z, a * x, b * y, c * z);
  expanded_product(a * a, b * b, c * c, x * x, y * y, z * z);
  cross_terms(a, b, x, y);
  cross_terms(b, c, y, z);
  cross_terms(c, a, z, x);
  rmul_interchange(a, x, a, x);
  rmul_interchange(b, y, b, y);
  rmul_interchange(c, z, c, z);
}

// A number and its inverse.
lemma inverse_sum(x: real)
  requires x > 0.0
  ensures x + 1.0 / x >= 2.0
{
  var y := 1.0 / x;
  assert x * y == 1.0;
  if x + y < 2.0 {
    assert y > 0.0 by {
      if y <= 0.0 {
        rmul_monotone(y, 0.0, x);
      }
    }
    am_gm_2(x, y);
    rmul_strict(x + y, 2.0, x + y);
    rmul_strict(x + y, 2.0, 2.0);
  }
}

lemma harmonic_mean(x: real, y: real)
  requires x > 0.0 && y > 0.0
  ensures 1.0 / x + 1.0 / y >= 4.0 / (x + y)
{
  var p, q, r := 1.0 / x, 1.0 / y, 4.0 / (x + y);
  assert p * x == 1.0 && q * y == 1.0 && r * (x + y) == 4.0;
  product_positive(x, y);
  am_gm_2(x, y);
  if p + q < r {
    assert (p + q) * (x * y) == (p * x) * y + (q * y) * x;
    product_positive(x * y, x + y);
    rmul_strict(p + q, r, (x * y) * (x + y));
    rmul_assoc(p + q, x * y, x + y);
    rmul_assoc(r, x + y, x * y);
    assert (x * y) * (x + y) == (x + y) * (x * y);
  }
}

// Roots of a quadratic.
lemma quadratic_formula(a: real, b: real, c: real, x: real)
  requires a != 0.0 && a * (x * x) + b * x + c == 0.0
  ensures b * b - 4.0 * (a * c) >= 0.0
  ensures 2.0 * (a * x) + b == sqrt(b * b - 4.0 * (a * c)) || 2.0 * (a * x) + b == -sqrt(b * b - 4.0 * (a * c))
{
  complete_the_square(a, b, c, x);
  assert a * (a * (x * x) + b * x + c) == 0.0;
  root_of_square(2.0 * (a * x) + b, b * b - 4.0 * (a * c));
}

lemma complete_the_square(a: real, b: real, c: real, x: real)
  ensures (2.0 * (a * x) + b) * (2.0 * (a * x) + b)
       == b * b - 4.0 * (a * c) + 4.0 * (a * (a * (x * x) + b * x + c))
{
}
