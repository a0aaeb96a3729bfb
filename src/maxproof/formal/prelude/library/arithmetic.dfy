// Products, quotients and remainders of whole numbers.

lemma mul_comm(a: int, b: int)
  ensures a * b == b * a
{
}

lemma mul_assoc(a: int, b: int, c: int)
  ensures (a * b) * c == a * (b * c)
{
}

lemma mul_swap(a: int, b: int, c: int)
  ensures a * (b * c) == b * (a * c)
{
  mul_assoc(a, b, c);
  mul_assoc(b, a, c);
}

lemma mul_interchange(a: int, b: int, c: int, d: int)
  ensures (a * b) * (c * d) == (a * c) * (b * d)
{
  var p, q := c * d, b * d;
  mul_assoc(a, b, p);
  mul_assoc(a, c, q);
  mul_swap(b, c, d);
  assert b * p == c * q;
  assert a * (b * p) == a * (c * q);
}

lemma mul_distributes(a: int, b: int, c: int)
  ensures a * (b + c) == a * b + a * c
  ensures a * (b - c) == a * b - a * c
  ensures (b + c) * a == b * a + c * a
{
}

lemma mul_monotone(a: int, b: int, c: int)
  requires a <= b && 0 <= c
  ensures a * c <= b * c
{
}

lemma mul_strict(a: int, b: int, c: int)
  requires a < b && 0 < c
  ensures a * c < b * c
{
}

lemma mul_cancel(a: int, b: int, c: int)
  requires c != 0 && a * c == b * c
  ensures a == b
{
  if a < b {
    assert (b - a) * c == 0;
  } else if b < a {
    assert (a - b) * c == 0;
  }
}

lemma mul_decomposed(a: int, m: int, r: int, y: int)
  ensures (a * m + r) * y == r * y + (a * y) * m
{
}

lemma division(x: int, m: int)
  requires m != 0
  ensures x == (x / m) * m + x % m
  ensures 0 <= x % m < iabs(m)
{
}

// The only quotient and remainder.
lemma division_unique(x: int, m: int, q: int, r: int)
  requires 0 <= r < m && x == q * m + r
  ensures x / m == q && x % m == r
{
  var q' := x / m;
  var r' := x % m;
  assert x == q' * m + r';
  assert (q - q') * m == r' - r;
  if q - q' >= 1 {
    mul_monotone(1, q - q', m);
  } else if q - q' <= -1 {
    mul_monotone(q - q', -1, m);
  }
}

lemma quotient_and_remainder(x: int, m: int) returns (q: int, r: int)
  requires m > 0
  ensures x == q * m + r && 0 <= r < m && q == x / m && r == x % m
{
  q, r := x / m, x % m;
}

lemma multiple_mod(k: int, m: int)
  requires m > 0
  ensures (k * m) % m == 0 && (k * m) / m == k
{
  division_unique(k * m, m, k, 0);
}

lemma mul_sum_of_factors(q: int, k: int, m: int, p: int)
  requires p == q + k
  ensures p * m == q * m + k * m
{
  mul_distributes(m, q, k);
}

lemma mod_add_multiple(x: int, k: int, m: int)
  requires m > 0
  ensures (x + k * m) % m == x % m
{
  var q, r := quotient_and_remainder(x, m);
  var t, p := x + k * m, q + k;
  mul_sum_of_factors(q, k, m, p);
  division_unique(t, m, p, r);
}

lemma mod_shift(t: int, r: int, k: int, m: int)
  requires m > 0 && t == k * m + r
  ensures t % m == r % m
{
  mod_add_multiple(r, k, m);
}

lemma mul_regrouped(q: int, k: int, m: int, n: int, j: int)
  requires n == k * m && j == q * k
  ensures q * n == j * m
{
  mul_assoc(q, k, m);
}

lemma mod_shift_by_product(t: int, r: int, q: int, k: int, m: int, n: int)
  requires m > 0 && n == k * m && t == q * n + r
  ensures t % m == r % m
{
  var j := q * k;
  mul_regrouped(q, k, m, n, j);
  mod_shift(t, r, j, m);
}

lemma mod_of_mod(x: int, m: int)
  requires m > 0
  ensures (x % m) % m == x % m
{
  division_unique(x % m, m, 0, x % m);
}

lemma mod_small(x: int, m: int)
  requires 0 <= x < m
  ensures x % m == x && x / m == 0
{
  division_unique(x, m, 0, x);
}

lemma mod_of_sum(x: int, y: int, q: int, r: int, p: int, s: int, m: int)
  requires m > 0 && x == q * m + r && y == p * m + s
  ensures (x + y) % m == (r + s) % m
{
  mod_shift(x + y, r + y, q, m);
  mod_shift(r + y, r + s, p, m);
}

lemma mod_of_difference(x: int, y: int, q: int, r: int, p: int, s: int, m: int)
  requires m > 0 && x == q * m + r && y == p * m + s
  ensures (x - y) % m == (r - s) % m
{
  mul_difference(q, p, m);
  mod_shift(x - y, r - s, q - p, m);
}

lemma mul_difference(a: int, b: int, c: int)
  ensures (a - b) * c == a * c - b * c
{
  mul_distributes(c, a, b);
}

lemma mod_add(x: int, y: int, m: int)
  requires m > 0
  ensures (x + y) % m == (x % m + y % m) % m
{
  var q, r := quotient_and_remainder(x, m);
  var p, s := quotient_and_remainder(y, m);
  mod_of_sum(x, y, q, r, p, s, m);
}

lemma mod_sub(x: int, y: int, m: int)
  requires m > 0
  ensures (x - y) % m == (x % m - y % m) % m
{
  var q, r := quotient_and_remainder(x, m);
  var p, s := quotient_and_remainder(y, m);
  mod_of_difference(x, y, q, r, p, s, m);
}

lemma mod_mul(x: int, y: int, m: int)
  requires m > 0
  ensures (x * y) % m == ((x % m) * (y % m)) % m
{
  mul_decomposed(x / m, m, x % m, y);
  mod_add_multiple((x % m) * y, (x / m) * y, m);
  mul_decomposed(y / m, m, y % m, x % m);
  mod_add_multiple((y % m) * (x % m), (y / m) * (x % m), m);
  mul_comm(y, x % m);
  mul_comm(y % m, x % m);
}

// Equal remainders are kept by sums, differences and products.
lemma congruent(x: int, x': int, y: int, y': int, m: int)
  requires m > 0 && x % m == x' % m && y % m == y' % m
  ensures (x + y) % m == (x' + y') % m
  ensures (x - y) % m == (x' - y') % m
  ensures (x * y) % m == (x' * y') % m
{
  mod_add(x, y, m);
  mod_add(x', y', m);
  mod_sub(x, y, m);
  mod_sub(x', y', m);
  mod_mul(x, y, m);
  mod_mul(x', y', m);
}

lemma congruent_sums(x: int, x': int, y: int, y': int, s: int, s': int, m: int)
  requires m > 0 && x % m == x' % m && y % m == y' % m && s == x + y && s' == x' + y'
  ensures s % m == s' % m
{
  congruent(x, x', y, y', m);
}

lemma congruent_difference(x: int, y: int, m: int)
  requires m > 0
  ensures x % m == y % m <==> (x - y) % m == 0
{
  if x % m == y % m {
    mod_sub(x, y, m);
    mod_small(0, m);
  }
  if (x - y) % m == 0 {
    var q, r := quotient_and_remainder(x - y, m);
    mod_shift(x, y, q, m);
  }
}

// Remainders by a product determine those by a factor.
lemma mod_of_multiple_modulus(x: int, m: int, k: int)
  requires m > 0 && k > 0
  ensures k * m > 0 && (x % (k * m)) % m == x % m
{
  mul_strict(0, k, m);
  var n := k * m;
  var q, r := quotient_and_remainder(x, n);
  mod_shift_by_product(x, r, q, k, m, n);
}

lemma square_mod_3(x: int)
  ensures (x * x) % 3 == 0 || (x * x) % 3 == 1
  ensures (x * x) % 3 == 0 <==> x % 3 == 0
{
  mod_mul(x, x, 3);
}

lemma square_mod_4(x: int)
  ensures (x * x) % 4 == 0 || (x * x) % 4 == 1
  ensures (x * x) % 4 == 0 <==> even(x)
{
  mod_mul(x, x, 4);
  assert x % 4 == 0 || x % 4 == 1 || x % 4 == 2 || x % 4 == 3;
}

lemma square_mod_5(x: int)
  ensures (x * x) % 5 == 0 || (x * x) % 5 == 1 || (x * x) % 5 == 4
{
  mod_mul(x, x, 5);
}

lemma odd_square_mod_8(x: int)
  requires odd(x)
  ensures (x * x) % 8 == 1
{
  var r := x % 8;
  mod_mul(x, x, 8);
  if r == 1 {
    assert r * r == 1;
  } else if r == 3 {
    assert r * r == 9;
  } else if r == 5 {
    assert r * r == 25;
  } else {
    assert r == 7;
    assert r * r == 49;
  }
}

lemma cube_mod_7(x: int)
  ensures (x * x * x) % 7 == 0 || (x * x * x) % 7 == 1 || (x * x * x) % 7 == 6
{
  mod_mul(x, x, 7);
  mod_mul(x * x, x, 7);
}

lemma cube_mod_9(x: int)
  ensures (x * x * x) % 9 == 0 || (x * x * x) % 9 == 1 || (x * x * x) % 9 == 8
{
  mod_mul(x, x, 9);
  mod_mul(x * x, x, 9);
  mod_mul((x % 9) * (x % 9), x, 9);
}

lemma consecutive_product_even(x: int)
  ensures (x * (x + 1)) % 2 == 0
{
  mod_mul(x, x + 1, 2);
}

lemma parity(x: int, y: int)
  ensures even(x) <==> !odd(x)
  ensures even(x + y) <==> (even(x) <==> even(y))
  ensures odd(x * y) <==> odd(x) && odd(y)
{
  mod_mul(x, y, 2);
}
