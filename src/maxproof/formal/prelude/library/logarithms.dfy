// The exponential function, logarithms, real powers, all from the axioms of `exp`.

lemma exp_zero()
  ensures exp(0.0) == 1.0
{
  exp_add(0.0, 0.0);
  rmul_cancel(exp(0.0), 1.0, exp(0.0));
}

lemma exp_negated(x: real)
  ensures exp(x) * exp(-x) == 1.0
  ensures exp(-x) == 1.0 / exp(x)
{
  exp_add(x, -x);
  exp_zero();
  quotient_unique(exp(-x), 1.0, exp(x));
}

lemma exp_subtract(x: real, y: real)
  ensures exp(x - y) == exp(x) / exp(y)
{
  exp_add(x - y, y);
  quotient_unique(exp(x - y), exp(x), exp(y));
}

lemma exp_strictly_monotone(x: real, y: real)
  requires x < y
  ensures exp(x) < exp(y)
{
  exp_add(x, y - x);
  assert exp(y - x) >= 1.0 + (y - x) > 1.0;
  rmul_strict(1.0, exp(y - x), exp(x));
}

lemma exp_monotone(x: real, y: real)
  ensures x <= y <==> exp(x) <= exp(y)
  ensures x == y <==> exp(x) == exp(y)
{
  if x < y {
    exp_strictly_monotone(x, y);
  } else if y < x {
    exp_strictly_monotone(y, x);
  }
}

lemma {:induction false} exp_of_multiple(n: int, x: real)
  requires n >= 0
  ensures exp(n as real * x) == pow(exp(x), n)
  decreases n
{
  if n == 0 {
    exp_zero();
    assert n as real * x == 0.0;
  } else {
    exp_of_multiple(n - 1, x);
    exp_add(x, (n - 1) as real * x);
    assert x + (n - 1) as real * x == n as real * x;
  }
}

lemma log_exp(x: real)
  ensures log(exp(x)) == x
{
  exp_monotone(log(exp(x)), x);
}

lemma log_unique(x: real, y: real)
  requires exp(y) == x
  ensures x > 0.0 && log(x) == y
{
  log_exp(y);
}

lemma log_one()
  ensures log(1.0) == 0.0
{
  exp_zero();
  log_unique(1.0, 0.0);
}

lemma log_negative(x: real)
  ensures log(-x) == log(x)
{
  if x < 0.0 {
    exp_monotone(log(x), log(-x));
  } else if x > 0.0 {
    exp_monotone(log(x), log(-x));
  }
}

lemma log_product(x: real, y: real)
  requires x > 0.0 && y > 0.0
  ensures log(x * y) == log(x) + log(y)
{
  exp_add(log(x), log(y));
  product_positive(x, y);
  log_unique(x * y, log(x) + log(y));
}

lemma log_quotient(x: real, y: real)
  requires x > 0.0 && y > 0.0
  ensures x / y > 0.0 && log(x / y) == log(x) - log(y)
{
  exp_subtract(log(x), log(y));
  log_unique(x / y, log(x) - log(y));
}

lemma log_inverse(x: real)
  requires x > 0.0
  ensures log(1.0 / x) == -log(x)
{
  log_one();
  log_quotient(1.0, x);
}

lemma log_power(x: real, n: int)
  requires x > 0.0 && n >= 0
  ensures log(pow(x, n)) == n as real * log(x)
{
  exp_of_multiple(n, log(x));
  log_unique(pow(x, n), n as real * log(x));
}

lemma log_sqrt(x: real)
  requires x > 0.0
  ensures log(sqrt(x)) == log(x) / 2.0
{
  sqrt_positive(x);
  log_of_square(sqrt(x), x);
}

lemma log_of_square(r: real, x: real)
  requires r > 0.0 && r * r == x
  ensures log(x) == 2.0 * log(r)
{
  log_product(r, r);
}

lemma log_monotone(x: real, y: real)
  requires x > 0.0 && y > 0.0
  ensures x <= y <==> log(x) <= log(y)
  ensures x == y <==> log(x) == log(y)
{
  exp_monotone(log(x), log(y));
}

lemma log_sign(x: real)
  requires x > 0.0
  ensures log(x) > 0.0 <==> x > 1.0
  ensures log(x) == 0.0 <==> x == 1.0
{
  log_one();
  log_monotone(1.0, x);
}

lemma log_tangent(x: real)
  requires x > 0.0
  ensures log(x) <= x - 1.0
{
  assert exp(log(x)) >= 1.0 + log(x);
}

lemma logb_as_quotient(b: real, x: real)
  requires b > 0.0 && b != 1.0
  ensures log(b) != 0.0 && logb(b, x) == log(x) / log(b) && logb(b, x) * log(b) == log(x)
{
  log_sign(b);
  quotient_product(log(x), log(b));
}

lemma logb_unique(b: real, x: real, y: real)
  requires b > 0.0 && b != 1.0 && y * log(b) == log(x)
  ensures logb(b, x) == y
{
  logb_as_quotient(b, x);
  rmul_cancel(logb(b, x), y, log(b));
}

lemma logb_of_power(b: real, n: int)
  requires b > 0.0 && b != 1.0 && n >= 0
  ensures logb(b, pow(b, n)) == n as real
{
  log_power(b, n);
  logb_unique(b, pow(b, n), n as real);
}

lemma logb_product(b: real, x: real, y: real)
  requires x > 0.0 && y > 0.0
  ensures logb(b, x * y) == logb(b, x) + logb(b, y)
{
  log_product(x, y);
  if log(b) != 0.0 {
    quotient_sum(log(x), log(y), log(b));
  }
}

lemma logb_change(a: real, b: real, x: real)
  requires a > 0.0 && a != 1.0 && b > 0.0 && b != 1.0
  ensures logb(a, x) == logb(b, x) * logb(a, b)
{
  logb_as_quotient(a, b);
  logb_as_quotient(b, x);
  rmul_assoc(logb(b, x), logb(a, b), log(a));
  equal_products(logb(b, x), logb(a, b) * log(a), logb(b, x), log(b));
  logb_unique(a, x, logb(b, x) * logb(a, b));
}

lemma rpow_positive(x: real, y: real)
  requires x > 0.0
  ensures rpow(x, y) > 0.0 && log(rpow(x, y)) == y * log(x)
{
  log_exp(y * log(x));
}

lemma rpow_add(x: real, y: real, z: real)
  requires x > 0.0
  ensures rpow(x, y + z) == rpow(x, y) * rpow(x, z)
{
  exp_add(y * log(x), z * log(x));
  rmul_distributes(log(x), y, z);
}

lemma rpow_of_power(x: real, y: real, z: real)
  requires x > 0.0
  ensures rpow(x, y * z) == rpow(rpow(x, y), z)
{
  rpow_positive(x, y);
  rmul_assoc(z, y, log(x));
  equal_products(z, log(rpow(x, y)), z, y * log(x));
}

lemma rpow_product(x: real, y: real, z: real)
  requires x > 0.0 && y > 0.0
  ensures rpow(x * y, z) == rpow(x, z) * rpow(y, z)
{
  product_positive(x, y);
  log_product(x, y);
  exp_of_scaled_sum(z, log(x), log(y), log(x * y));
}

lemma exp_of_scaled_sum(z: real, u: real, v: real, w: real)
  requires w == u + v
  ensures exp(z * w) == exp(z * u) * exp(z * v)
{
  rmul_distributes(z, u, v);
  exp_add(z * u, z * v);
}

lemma rpow_natural(x: real, n: int)
  requires x > 0.0 && n >= 0
  ensures rpow(x, n as real) == pow(x, n)
{
  exp_of_multiple(n, log(x));
}

lemma rpow_half(x: real)
  requires x >= 0.0
  ensures rpow(x, 0.5) == sqrt(x)
{
  if x > 0.0 {
    exp_add(0.5 * log(x), 0.5 * log(x));
    assert 0.5 * log(x) + 0.5 * log(x) == log(x);
    sqrt_unique(x, rpow(x, 0.5));
  } else {
    sqrt_unique(0.0, 0.0);
  }
}
