// Real numbers: products and quotients, absolute values, square roots, floor and ceiling, classical inequalities.

lemma rmul_assoc(x: real, y: real, z: real)
  ensures (x * y) * z == x * (y * z)
{
}

lemma equal_products(x: real, y: real, z: real, w: real)
  requires x == z && y == w
  ensures x * y == z * w
{
}

lemma rmul_interchange(x: real, y: real, z: real, w: real)
  ensures (x * y) * (z * w) == (x * z) * (y * w)
{
}

lemma rmul_distributes(x: real, y: real, z: real)
  ensures x * (y + z) == x * y + x * z
  ensures x * (y - z) == x * y - x * z
{
}

lemma rmul_monotone(x: real, y: real, z: real)
  requires x <= y && 0.0 <= z
  ensures x * z <= y * z && z * x <= z * y
{
}

lemma rmul_strict(x: real, y: real, z: real)
  requires x < y && 0.0 < z
  ensures x * z < y * z && z * x < z * y
{
}

lemma rmul_cancel(x: real, y: real, z: real)
  requires z != 0.0 && (z * x == z * y || x * z == y * z)
  ensures x == y
{
  assert z * (x - y) == 0.0;
}

lemma product_zero(x: real, y: real)
  requires x * y == 0.0
  ensures x == 0.0 || y == 0.0
{
}

lemma product_positive(x: real, y: real)
  ensures x > 0.0 && y > 0.0 ==> x * y > 0.0
  ensures x >= 0.0 && y >= 0.0 ==> x * y >= 0.0
{
}

lemma quotient_unique(q: real, x: real, y: real)
  requires y != 0.0 && q * y == x
  ensures q == x / y
{
  var p := x / y;
  assert p * y == x;
  rmul_cancel(p, q, y);
}

lemma quotient_product(x: real, y: real)
  requires y != 0.0
  ensures (x / y) * y == x
{
}

lemma quotient_sum(x: real, y: real, z: real)
  requires z != 0.0
  ensures (x + y) / z == x / z + y / z
{
  var p, q := x / z, y / z;
  assert (p + q) * z == p * z + q * z;
  quotient_unique(p + q, x + y, z);
}

// Comparing quotients by cross multiplication.
lemma quotient_compare(x: real, y: real, z: real, w: real)
  requires y > 0.0 && w > 0.0
  ensures x / y <= z / w <==> x * w <= z * y
  ensures x / y == z / w <==> x * w == z * y
{
  var p, q := x / y, z / w;
  assert p * y == x && q * w == z;
  product_positive(y, w);
  assert x * w == p * (y * w);
  assert z * y == q * (y * w);
  if p < q {
    rmul_strict(p, q, y * w);
  } else if q < p {
    rmul_strict(q, p, y * w);
  }
}

lemma square_nonnegative(x: real)
  ensures x * x >= 0.0
  ensures x * x == 0.0 ==> x == 0.0
{
}

// What exceeds a number by squares is at least that number.
lemma bounded_by_squares(p: real, q: real, d: real, e: real, f: real)
  requires p == q + d * d + e * e + f * f
  ensures q <= p
{
  square_nonnegative(d);
  square_nonnegative(e);
  square_nonnegative(f);
}

lemma square_monotone(x: real, y: real)
  requires x >= 0.0 && y >= 0.0
  ensures x <= y <==> x * x <= y * y
  ensures x == y <==> x * x == y * y
{
  if x < y {
    assert x * x <= x * y < y * y;
  } else if y < x {
    assert y * y <= y * x < x * x;
  }
}

lemma rabs_square(x: real)
  ensures rabs(x) * rabs(x) == x * x
{
}

lemma rabs_product(x: real, y: real)
  ensures rabs(x * y) == rabs(x) * rabs(y)
{
}

lemma rabs_triangle(x: real, y: real)
  ensures rabs(x + y) <= rabs(x) + rabs(y)
  ensures rabs(x - y) <= rabs(x) + rabs(y)
  ensures rabs(x) - rabs(y) <= rabs(x - y)
{
}

lemma rabs_bound(x: real, y: real)
  ensures rabs(x) <= y <==> -y <= x <= y
{
}

lemma rmin_rmax(x: real, y: real)
  ensures rmin(x, y) + rmax(x, y) == x + y
  ensures rmin(x, y) <= x <= rmax(x, y) && rmin(x, y) <= y <= rmax(x, y)
{
}

lemma floor_bounds(x: real)
  ensures floor(x) as real <= x < floor(x) as real + 1.0
{
}

lemma floor_unique(x: real, n: int)
  requires n as real <= x < n as real + 1.0
  ensures floor(x) == n
{
}

lemma floor_add(x: real, n: int)
  ensures floor(x + n as real) == floor(x) + n
{
}

lemma floor_monotone(x: real, y: real)
  requires x <= y
  ensures floor(x) <= floor(y)
{
}

lemma ceil_bounds(x: real)
  ensures ceil(x) as real - 1.0 < x <= ceil(x) as real
{
}

lemma ceil_unique(x: real, n: int)
  requires n as real - 1.0 < x <= n as real
  ensures ceil(x) == n
{
}

// Quotients of whole numbers are floors of real quotients.
lemma floor_of_quotient(n: int, d: int)
  requires d > 0
  ensures floor(n as real / d as real) == n / d
{
  var x := n as real / d as real;
  division(n, d);
  var q, r := n / d, n % d;
  cast_product(q, d);
  assert n as real == q as real * d as real + r as real;
  quotient_product(n as real, d as real);
  if x < q as real {
    rmul_strict(x, q as real, d as real);
  }
  if x >= q as real + 1.0 {
    rmul_monotone(q as real + 1.0, x, d as real);
  }
  floor_unique(x, q);
}

lemma cast_product(a: int, b: int)
  ensures (a * b) as real == a as real * b as real
{
}

lemma sqrt_unique(x: real, r: real)
  requires r >= 0.0 && r * r == x
  ensures sqrt(x) == r
{
  square_nonnegative(r);
  square_monotone(sqrt(x), r);
}

lemma sqrt_of_square(x: real)
  ensures sqrt(x * x) == rabs(x)
{
  rabs_square(x);
  sqrt_unique(x * x, rabs(x));
}

lemma root_of_square(t: real, d: real)
  requires t * t == d
  ensures d >= 0.0 && (t == sqrt(d) || t == -sqrt(d))
{
  square_nonnegative(t);
  sqrt_of_square(t);
}

lemma sqrt_product(x: real, y: real)
  requires x >= 0.0 && y >= 0.0
  ensures sqrt(x * y) == sqrt(x) * sqrt(y)
{
  var r, s := sqrt(x), sqrt(y);
  rmul_interchange(r, s, r, s);
  product_positive(r, s);
  sqrt_unique(x * y, r * s);
}

lemma sqrt_quotient(x: real, y: real)
  requires x >= 0.0 && y > 0.0
  ensures sqrt(y) > 0.0 && sqrt(x / y) == sqrt(x) / sqrt(y)
{
  sqrt_positive(y);
  var q := x / y;
  assert q >= 0.0 by {
    if q < 0.0 {
      rmul_strict(q, 0.0, y);
    }
  }
  sqrt_product(q, y);
  quotient_product(x, y);
  quotient_unique(sqrt(q), sqrt(x), sqrt(y));
}

lemma sqrt_positive(x: real)
  ensures x > 0.0 <==> sqrt(x) > 0.0
{
}

lemma sqrt_monotone(x: real, y: real)
  requires x >= 0.0 && y >= 0.0
  ensures x <= y <==> sqrt(x) <= sqrt(y)
  ensures sqrt(x) == sqrt(y) ==> x == y
{
  square_monotone(sqrt(x), sqrt(y));
}

// Bounds of a square root from bounds of the number.
lemma sqrt_between(x: real, low: real, high: real)
  requires 0.0 <= low && 0.0 <= high
  ensures low * low <= x ==> low <= sqrt(x)
  ensures x <= high * high ==> sqrt(x) <= high
{
  square_nonnegative(low);
  if low * low <= x {
    square_monotone(low, sqrt(x));
  }
  if x >= 0.0 {
    square_monotone(sqrt(x), high);
  }
}

// Square roots add up to more than the root of the sum.
lemma sqrt_subadditive(x: real, y: real)
  requires x >= 0.0 && y >= 0.0
  ensures sqrt(x + y) <= sqrt(x) + sqrt(y)
{
  var r, s := sqrt(x), sqrt(y);
  product_positive(r, s);
  assert (r + s) * (r + s) == x + y + 2.0 * (r * s);
  sqrt_between(x + y, 0.0, r + s);
}

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
