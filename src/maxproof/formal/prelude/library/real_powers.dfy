// Powers of reals, with natural and with whole exponents.

lemma pow_positive(x: real, n: int)
  ensures x >= 0.0 ==> pow(x, n) >= 0.0
  ensures x > 0.0 ==> pow(x, n) > 0.0
  decreases n
{
  if n > 0 {
    pow_positive(x, n - 1);
    if x >= 0.0 {
      product_positive(x, pow(x, n - 1));
    }
  }
}

lemma pow_one(n: int)
  ensures pow(1.0, n) == 1.0
  decreases n
{
  if n > 0 {
    pow_one(n - 1);
  }
}

lemma pow_zero(n: int)
  requires n > 0
  ensures pow(0.0, n) == 0.0
{
}

lemma pow_successor(x: real, n: int)
  requires n >= 0
  ensures pow(x, n + 1) == x * pow(x, n)
{
}

lemma pow_small(x: real)
  ensures pow(x, 1) == x && pow(x, 2) == x * x && pow(x, 3) == x * x * x
  ensures pow(x, 4) == (x * x) * (x * x)
{
  pow_successor(x, 0);
  pow_successor(x, 1);
  pow_successor(x, 2);
  pow_successor(x, 3);
}

lemma pow_of_cast(b: int, n: int)
  ensures pow(b as real, n) == ipow(b, n) as real
  decreases n
{
  if n > 0 {
    pow_of_cast(b, n - 1);
    cast_product(b, ipow(b, n - 1));
  }
}

lemma product_step(x: real, p: real, q: real, r: real, s: real, t: real)
  requires r == p * q && s == x * p && t == x * r
  ensures t == s * q
{
  equal_products(x, r, x, p * q);
  rmul_assoc(x, p, q);
  equal_products(s, q, x * p, q);
}

lemma product_step_back(x: real, p: real, q: real, r: real, s: real, t: real)
  requires x != 0.0 && t == s * q && s == x * p && t == x * r
  ensures r == p * q
{
  equal_products(s, q, x * p, q);
  rmul_assoc(x, p, q);
  rmul_cancel(r, p * q, x);
}

lemma product_of_products(x: real, y: real, p: real, q: real, r: real, s: real, t: real, u: real)
  requires r == p * q && s == x * p && t == y * q && u == (x * y) * r
  ensures u == s * t
{
  var a, w := x * y, y * s;
  product_step(y, x, p, s, a, w);
  product_step(a, p, q, r, w, u);
  product_step(s, y, q, t, w, s * t);
}

lemma {:induction false} pow_add(x: real, m: int, n: int)
  requires m >= 0 && n >= 0
  ensures pow(x, m + n) == pow(x, m) * pow(x, n)
  decreases m
{
  if m > 0 {
    pow_add(x, m - 1, n);
    product_step(x, pow(x, m - 1), pow(x, n), pow(x, m - 1 + n), pow(x, m), pow(x, m + n));
  }
}

lemma {:induction false} pow_of_product(x: real, y: real, n: int)
  ensures pow(x * y, n) == pow(x, n) * pow(y, n)
  decreases n
{
  if n > 0 {
    pow_of_product(x, y, n - 1);
    var p, q := pow(x, n - 1), pow(y, n - 1);
    product_of_products(x, y, p, q, pow(x * y, n - 1), pow(x, n), pow(y, n), pow(x * y, n));
  }
}

lemma {:induction false} pow_of_power(x: real, m: int, n: int)
  requires m >= 0 && n >= 0
  ensures m * n >= 0 && pow(x, m * n) == pow(pow(x, m), n)
  decreases n
{
  if n > 0 {
    mul_distributes(m, n, 1);
    pow_of_power(x, m, n - 1);
    pow_successor(pow(x, m), n - 1);
    pow_add_as(x, m, m * (n - 1), m * n);
  }
}

lemma {:induction false} pow_add_as(x: real, m: int, n: int, k: int)
  requires m >= 0 && n >= 0 && k == m + n
  ensures pow(x, k) == pow(x, m) * pow(x, n)
{
  pow_add(x, m, n);
}

lemma pow_nonzero(x: real, n: int)
  requires x != 0.0
  ensures pow(x, n) != 0.0
  decreases n
{
  if n > 0 {
    pow_nonzero(x, n - 1);
  }
}

lemma {:induction false} pow_of_quotient(x: real, y: real, n: int)
  requires y != 0.0
  ensures pow(y, n) != 0.0 && pow(x / y, n) == pow(x, n) / pow(y, n)
{
  pow_nonzero(y, n);
  var q := x / y;
  quotient_product(x, y);
  pow_of_equal_product(q, y, x, n);
  quotient_unique(pow(q, n), pow(x, n), pow(y, n));
}

lemma {:induction false} pow_of_equal_product(x: real, y: real, z: real, n: int)
  requires x * y == z
  ensures pow(x, n) * pow(y, n) == pow(z, n)
{
  pow_of_product(x, y, n);
}

lemma pow_monotone(x: real, y: real, n: int)
  requires 0.0 <= x <= y
  ensures pow(x, n) <= pow(y, n)
  decreases n
{
  if n > 0 {
    pow_monotone(x, y, n - 1);
    pow_positive(y, n - 1);
    rmul_monotone(pow(x, n - 1), pow(y, n - 1), x);
    rmul_monotone(x, y, pow(y, n - 1));
  }
}

lemma pow_strictly_monotone(x: real, y: real, n: int)
  requires 0.0 <= x < y && n > 0
  ensures pow(x, n) < pow(y, n)
{
  pow_monotone(x, y, n - 1);
  pow_positive(y, n - 1);
  rmul_monotone(pow(x, n - 1), pow(y, n - 1), x);
  rmul_strict(x, y, pow(y, n - 1));
}

lemma pow_injective(x: real, y: real, n: int)
  requires x >= 0.0 && y >= 0.0 && n > 0 && pow(x, n) == pow(y, n)
  ensures x == y
{
  if x < y {
    pow_strictly_monotone(x, y, n);
  } else if y < x {
    pow_strictly_monotone(y, x, n);
  }
}

lemma pow_exponent_monotone(x: real, m: int, n: int)
  requires m <= n
  ensures x >= 1.0 ==> pow(x, m) <= pow(x, n)
  ensures 0.0 <= x <= 1.0 ==> pow(x, n) <= pow(x, m)
  decreases n - m
{
  if m < n {
    pow_exponent_monotone(x, m, n - 1);
    pow_positive(x, n - 1);
    if x >= 1.0 {
      rmul_monotone(1.0, x, pow(x, n - 1));
    } else if x >= 0.0 {
      rmul_monotone(x, 1.0, pow(x, n - 1));
    }
  }
}

lemma pow_even_exponent(x: real, n: int)
  requires even(n)
  ensures pow(x, n) >= 0.0
{
  if n > 0 {
    var h := n / 2;
    pow_add(x, h, h);
    assert h + h == n;
  }
}

lemma pow_negated(x: real, n: int)
  requires n >= 0
  ensures even(n) ==> pow(-x, n) == pow(x, n)
  ensures odd(n) ==> pow(-x, n) == -pow(x, n)
  decreases n
{
  if n > 0 {
    pow_negated(x, n - 1);
  }
}

lemma bernoulli_step(x: real, m: real, n: real, p: real, q: real)
  requires x >= -1.0 && m >= 0.0 && n == m + 1.0 && p >= 1.0 + m * x && q == (1.0 + x) * p
  ensures q >= 1.0 + n * x
{
  square_nonnegative(x);
  rmul_monotone(0.0, m, x * x);
  rmul_monotone(1.0 + m * x, p, 1.0 + x);
  assert (1.0 + x) * (1.0 + m * x) == 1.0 + (m + 1.0) * x + m * (x * x);
}

// Bernoulli's inequality.
lemma {:induction false} bernoulli(x: real, n: int)
  requires x >= -1.0 && n >= 0
  ensures pow(1.0 + x, n) >= 1.0 + n as real * x
  decreases n
{
  if n > 0 {
    bernoulli(x, n - 1);
    bernoulli_step(x, (n - 1) as real, n as real, pow(1.0 + x, n - 1), pow(1.0 + x, n));
  }
}

lemma zpow_negated(x: real, z: int)
  requires x != 0.0
  ensures zpow(x, z) != 0.0 && zpow(x, -z) == 1.0 / zpow(x, z)
{
  pow_nonzero(x, z);
  pow_nonzero(x, -z);
}

lemma zpow_successor(x: real, z: int)
  requires x != 0.0
  ensures zpow(x, z + 1) == x * zpow(x, z)
{
  if z < 0 {
    pow_nonzero(x, -z);
    pow_nonzero(x, -z - 1);
    assert pow(x, -z) == x * pow(x, -z - 1);
  }
}

lemma {:induction false} zpow_add(x: real, y: int, z: int)
  requires x != 0.0
  ensures zpow(x, y + z) == zpow(x, y) * zpow(x, z)
  decreases iabs(y)
{
  if y == 0 {
    assert zpow(x, 0) == 1.0;
  } else if y > 0 {
    zpow_add(x, y - 1, z);
    zpow_successor(x, y - 1 + z);
    zpow_successor(x, y - 1);
    product_step(x, zpow(x, y - 1), zpow(x, z), zpow(x, y - 1 + z), zpow(x, y), zpow(x, y + z));
  } else {
    zpow_add(x, y + 1, z);
    zpow_successor(x, y + z);
    zpow_successor(x, y);
    product_step_back(x, zpow(x, y), zpow(x, z), zpow(x, y + z), zpow(x, y + 1), zpow(x, y + 1 + z));
  }
}

lemma zpow_positive(x: real, z: int)
  requires x > 0.0
  ensures zpow(x, z) > 0.0
{
  pow_positive(x, z);
  pow_positive(x, -z);
}
