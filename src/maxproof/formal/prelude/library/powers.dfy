// Powers with natural exponents, of whole numbers and of reals; whole exponents.

lemma ipow_one(n: int)
  ensures ipow(1, n) == 1
  decreases n
{
  if n > 0 {
    ipow_one(n - 1);
  }
}

lemma ipow_zero(n: int)
  requires n > 0
  ensures ipow(0, n) == 0
{
}

lemma ipow_successor(b: int, n: int)
  requires n >= 0
  ensures ipow(b, n + 1) == b * ipow(b, n)
{
}

lemma ipow_small(b: int)
  ensures ipow(b, 1) == b && ipow(b, 2) == b * b && ipow(b, 3) == b * b * b
  ensures ipow(b, 4) == (b * b) * (b * b)
{
  ipow_successor(b, 0);
  ipow_successor(b, 1);
  ipow_successor(b, 2);
  ipow_successor(b, 3);
  mul_assoc(b, b, b);
  mul_assoc(b, b, b * b);
}

lemma ipow_add(b: int, m: int, n: int)
  requires m >= 0 && n >= 0
  ensures ipow(b, m + n) == ipow(b, m) * ipow(b, n)
  decreases m
{
  if m > 0 {
    ipow_add(b, m - 1, n);
    mul_assoc(b, ipow(b, m - 1), ipow(b, n));
  }
}

lemma ipow_of_product(a: int, b: int, n: int)
  ensures ipow(a * b, n) == ipow(a, n) * ipow(b, n)
  decreases n
{
  if n > 0 {
    ipow_of_product(a, b, n - 1);
    var p, q := ipow(a, n - 1), ipow(b, n - 1);
    calc {
      (a * b) * (p * q);
      { mul_assoc(a, b, p * q); mul_swap(b, p, q); }
      a * (p * (b * q));
      { mul_assoc(a, p, b * q); }
      (a * p) * (b * q);
    }
  }
}

lemma ipow_of_power(b: int, m: int, n: int)
  requires m >= 0 && n >= 0
  ensures m * n >= 0 && ipow(b, m * n) == ipow(ipow(b, m), n)
  decreases n
{
  if n > 0 {
    mul_distributes(m, n - 1, 1);
    assert m * n == m + m * (n - 1);
    ipow_of_power(b, m, n - 1);
    ipow_add(b, m, m * (n - 1));
  }
}

lemma ipow_monotone(a: int, b: int, n: int)
  requires 0 <= a <= b
  ensures ipow(a, n) <= ipow(b, n)
  decreases n
{
  if n > 0 {
    ipow_monotone(a, b, n - 1);
    mul_monotone(ipow(a, n - 1), ipow(b, n - 1), a);
    mul_monotone(a, b, ipow(b, n - 1));
  }
}

lemma ipow_strictly_monotone(a: int, b: int, n: int)
  requires 0 <= a < b && n > 0
  ensures ipow(a, n) < ipow(b, n)
{
  ipow_monotone(a, b, n - 1);
  mul_monotone(ipow(a, n - 1), ipow(b, n - 1), a);
  mul_strict(a, b, ipow(b, n - 1));
}

lemma ipow_exponent_monotone(b: int, m: int, n: int)
  requires b >= 1 && m <= n
  ensures ipow(b, m) <= ipow(b, n)
  decreases n - m
{
  if m < n {
    ipow_exponent_monotone(b, m, n - 1);
    if n > 0 {
      mul_monotone(1, b, ipow(b, n - 1));
    }
  }
}

lemma ipow_exponent_strict(b: int, m: int, n: int)
  requires b >= 2 && 0 <= m < n
  ensures ipow(b, m) < ipow(b, n)
{
  ipow_exponent_monotone(b, m, n - 1);
  mul_strict(1, b, ipow(b, n - 1));
}

lemma ipow_exponent_injective(b: int, m: int, n: int)
  requires b >= 2 && m >= 0 && n >= 0 && ipow(b, m) == ipow(b, n)
  ensures m == n
{
  if m < n {
    ipow_exponent_strict(b, m, n);
  } else if n < m {
    ipow_exponent_strict(b, n, m);
  }
}

lemma ipow_injective(a: int, b: int, n: int)
  requires a >= 0 && b >= 0 && n > 0 && ipow(a, n) == ipow(b, n)
  ensures a == b
{
  if a < b {
    ipow_strictly_monotone(a, b, n);
  } else if b < a {
    ipow_strictly_monotone(b, a, n);
  }
}

lemma ipow_even_exponent(b: int, n: int)
  requires even(n)
  ensures ipow(b, n) >= 0
{
  if n > 0 {
    var h := n / 2;
    ipow_add(b, h, h);
    assert h + h == n;
  }
}

lemma ipow_negated(b: int, n: int)
  requires n >= 0
  ensures even(n) ==> ipow(-b, n) == ipow(b, n)
  ensures odd(n) ==> ipow(-b, n) == -ipow(b, n)
  decreases n
{
  if n > 0 {
    ipow_negated(b, n - 1);
  }
}

lemma ipow_minus_one(n: int)
  requires n >= 0
  ensures even(n) ==> ipow(-1, n) == 1
  ensures odd(n) ==> ipow(-1, n) == -1
{
  ipow_one(n);
  ipow_negated(1, n);
}

lemma ipow_exceeds_exponent(b: int, n: int)
  requires b >= 2
  ensures ipow(b, n) > n
  decreases n
{
  if n > 0 {
    ipow_exceeds_exponent(b, n - 1);
    mul_monotone(2, b, ipow(b, n - 1));
  }
}

lemma ipow_congruent(a: int, b: int, n: int, m: int)
  requires m > 0 && a % m == b % m
  ensures ipow(a, n) % m == ipow(b, n) % m
  decreases n
{
  if n > 0 {
    ipow_congruent(a, b, n - 1, m);
    congruent(a, b, ipow(a, n - 1), ipow(b, n - 1), m);
  }
}

lemma ipow_mod(a: int, n: int, m: int)
  requires m > 0
  ensures ipow(a, n) % m == ipow(a % m, n) % m
{
  mod_of_mod(a, m);
  ipow_congruent(a, a % m, n, m);
}

// Exponents may be reduced by a period of the powers.
lemma ipow_period(a: int, p: int, k: int, r: int, m: int)
  requires m > 0 && p >= 0 && k >= 0 && r >= 0 && ipow(a, p) % m == 1 % m
  ensures p * k >= 0 && ipow(a, p * k + r) % m == ipow(a, r) % m
{
  ipow_of_power(a, p, k);
  ipow_congruent(ipow(a, p), 1, k, m);
  ipow_one(k);
  var e := p * k;
  ipow_add(a, e, r);
  congruent(ipow(a, e), 1, ipow(a, r), ipow(a, r), m);
}

lemma ipow_divides(b: int, m: int, n: int)
  requires 0 <= m <= n
  ensures divides(ipow(b, m), ipow(b, n))
{
  ipow_add(b, m, n - m);
  divides_product(ipow(b, m), ipow(b, n - m));
}

lemma difference_divides_powers(a: int, b: int, n: int)
  ensures divides(a - b, ipow(a, n) - ipow(b, n))
  decreases n
{
  if n <= 0 {
    divides_product(a - b, 0);
  } else {
    difference_divides_powers(a, b, n - 1);
    var p, q := ipow(a, n - 1), ipow(b, n - 1);
    divides_product(a - b, p);
    divides_multiple(a - b, p - q, b);
    divides_sum(a - b, (a - b) * p, b * (p - q));
    mul_distributes(b, p, q);
    assert (a - b) * p == a * p - b * p;
  }
}

// Powers of reals

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
