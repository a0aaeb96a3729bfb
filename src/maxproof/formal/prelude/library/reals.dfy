// Real numbers: products and quotients, absolute values, square roots, floor and ceiling.

lemma rmul_comm(x: real, y: real)
  ensures x * y == y * x
{
}

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

lemma rmul_swap(x: real, y: real, z: real)
  ensures x * (y * z) == y * (x * z)
{
}

lemma rmul_rotate(x: real, y: real, z: real)
  ensures z * (x * y) == x * (y * z)
{
}

lemma product_of_sum(c: real, p: real, a: real, b: real)
  requires p == a + b
  ensures c * p == c * a + c * b && p * c == c * a + c * b
{
}

lemma product_of_difference(c: real, p: real, a: real, b: real)
  requires p == a - b
  ensures c * p == c * a - c * b && p * c == c * a - c * b
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
