// Rational numbers.

lemma rational_quotient(p: int, q: int, x: real)
  requires q != 0 && x * q as real == p as real
  ensures is_rational(x)
{
  if q > 0 {
    quotient_unique(x, p as real, q as real);
    assert x == ratio(p, q);
  } else {
    assert x * (-q) as real == (-p) as real;
    quotient_unique(x, (-p) as real, (-q) as real);
    assert x == ratio(-p, -q);
  }
}

lemma rational_parts(x: real) returns (p: int, q: int)
  requires is_rational(x)
  ensures q > 0 && x * q as real == p as real
{
  p, q :| q > 0 && x == ratio(p, q);
  quotient_product(p as real, q as real);
}

lemma integer_rational(n: int)
  ensures is_rational(n as real)
{
  rational_quotient(n, 1, n as real);
}

lemma rational_sum(x: real, y: real)
  requires is_rational(x) && is_rational(y)
  ensures is_rational(x + y) && is_rational(x - y)
{
  var p, q := rational_parts(x);
  var r, s := rational_parts(y);
  cast_product(q, s);
  cast_product(p, s);
  cast_product(r, q);
  mul_strict(0, q, s);
  sum_over_common(x, y, q as real, s as real, p as real, r as real);
  rational_quotient(p * s + r * q, q * s, x + y);
  rational_quotient(p * s - r * q, q * s, x - y);
}

lemma sum_over_common(x: real, y: real, q: real, s: real, p: real, r: real)
  requires x * q == p && y * s == r
  ensures (x + y) * (q * s) == p * s + r * q
  ensures (x - y) * (q * s) == p * s - r * q
{
  rmul_assoc(x, q, s);
  rmul_assoc(y, s, q);
  equal_products(x * q, s, p, s);
  equal_products(y * s, q, r, q);
  rmul_distributes(q * s, x, y);
}

lemma rational_product(x: real, y: real)
  requires is_rational(x) && is_rational(y)
  ensures is_rational(x * y)
{
  var p, q := rational_parts(x);
  var r, s := rational_parts(y);
  cast_product(q, s);
  cast_product(p, r);
  mul_strict(0, q, s);
  rmul_interchange(x, y, q as real, s as real);
  equal_products(x * q as real, y * s as real, p as real, r as real);
  rational_quotient(p * r, q * s, x * y);
}

lemma rational_inverse(x: real)
  requires is_rational(x)
  ensures is_rational(rdiv(1.0, x))
{
  if x == 0.0 {
    integer_rational(0);
  } else {
    var p, q := rational_parts(x);
    var y := 1.0 / x;
    quotient_product(1.0, x);
    rmul_assoc(y, x, q as real);
    equal_products(y, x * q as real, y, p as real);
    equal_products(y * x, q as real, 1.0, q as real);
    assert y * p as real == q as real;
    rational_quotient(q, p, y);
  }
}

lemma rational_between(x: real, y: real)
  requires is_rational(x) && is_rational(y) && x < y
  ensures is_rational((x + y) / 2.0) && x < (x + y) / 2.0 < y
{
  rational_sum(x, y);
  rational_quotient(1, 2, 0.5);
  rational_product(x + y, 0.5);
  assert (x + y) * 0.5 == (x + y) / 2.0;
}

lemma reduced_fraction(x: real) returns (p: int, q: int)
  requires is_rational(x)
  ensures q > 0 && x == ratio(p, q) && rat_den(x) == q / gcd(p, q)
{
  var den := rat_den(x);
  p, q :| q > 0 && x == ratio(p, q) && den == q / gcd(p, q);
}

// A rational number is its numerator over its denominator, in lowest terms.
lemma rational_normal_form(x: real)
  requires is_rational(x)
  ensures rat_den(x) > 0 && x * rat_den(x) as real == rat_num(x) as real
  ensures coprime(rat_num(x), rat_den(x))
{
  var p, q := reduced_fraction(x);
  quotient_product(p as real, q as real);
  gcd_divides(p, q);
  gcd_reduced(p, q);
  var g := gcd(p, q);
  division(p, g);
  division(q, g);
  var n: int, d: int := p / g, q / g;
  assert p == n * g && q == d * g;
  if d <= 0 {
    mul_monotone(d, 0, g);
  }
  cast_product(n, g);
  cast_product(d, g);
  lowest_terms(x, p as real, q as real, n as real, d as real, g as real);
  assert rat_num(x) == n;
}

lemma lowest_terms(x: real, p: real, q: real, n: real, d: real, g: real)
  requires g > 0.0 && x * q == p && p == n * g && q == d * g
  ensures x * d == n
{
  rmul_assoc(x, d, g);
  equal_products(x, q, x, d * g);
  rmul_cancel(x * d, n, g);
}

// The square root of a prime is irrational.
lemma {:induction false} square_not_prime_multiple(p: int, a: int, b: int)
  requires prime(p) && a * a == p * (b * b) && b > 0 && a >= 0
  ensures false
  decreases b
{
  divides_product(p, b * b);
  prime_divides_product(p, a, a);
  var c := divides_quotient(p, a);
  mul_interchange(p, c, p, c);
  mul_assoc(p, p, c * c);
  mul_cancel(p * (c * c), b * b, p);
  if c <= 0 {
    mul_monotone(c, 0, p);
    assert a == 0;
  }
  if c >= b {
    square_grows(b, c);
    mul_strict(1, p, c * c);
  }
  assert b * b == p * (c * c);
  if b >= a {
    square_grows(a, b);
    mul_strict(1, p, b * b);
  }
  square_not_prime_multiple(p, b, c);
}

lemma square_grows(b: int, c: int)
  requires 0 <= b <= c
  ensures b * b <= c * c
{
  mul_monotone(b, c, b);
  mul_monotone(b, c, c);
}

lemma sqrt_prime_irrational(p: int)
  requires prime(p)
  ensures !is_rational(sqrt(p as real))
{
  var x := sqrt(p as real);
  if is_rational(x) {
    var a, b := rational_parts(x);
    cast_product(a, a);
    cast_product(b, b);
    cast_product(p, b * b);
    rmul_interchange(x, b as real, x, b as real);
    equal_products(x * b as real, x * b as real, a as real, a as real);
    equal_products(x * x, b as real * b as real, p as real, (b * b) as real);
    assert a * a == p * (b * b);
    rmul_monotone(0.0, x, b as real);
    square_not_prime_multiple(p, a, b);
  }
}
