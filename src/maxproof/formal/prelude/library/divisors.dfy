// Greatest common divisors and least common multiples.

lemma divides_mod(d: int, a: int, b: int)
  requires b != 0
  ensures divides(d, b) && divides(d, a) ==> divides(d, a % b)
  ensures divides(d, b) && divides(d, a % b) ==> divides(d, a)
{
  division(a, b);
  if divides(d, b) {
    if divides(d, a) {
      divides_linear(d, a, b, 1, -(a / b));
      assert 1 * a + -(a / b) * b == a % b;
    }
    if divides(d, a % b) {
      divides_linear(d, b, a % b, a / b, 1);
    }
  }
}

lemma gcd_divides(a: int, b: int)
  ensures divides(gcd(a, b), a) && divides(gcd(a, b), b)
  decreases iabs(b)
{
  if b == 0 {
    divides_reflexive(a);
    divides_sign(a, a);
    divides_product(gcd(a, b), 0);
  } else {
    gcd_divides(b, a % b);
    divides_mod(gcd(b, a % b), a, b);
  }
}

lemma gcd_greatest(a: int, b: int, d: int)
  requires divides(d, a) && divides(d, b)
  ensures divides(d, gcd(a, b))
  decreases iabs(b)
{
  if b == 0 {
    divides_sign(d, a);
  } else {
    divides_mod(d, a, b);
    gcd_greatest(b, a % b, d);
  }
}

// A natural number that has the property of the greatest common divisor is it.
lemma gcd_unique(a: int, b: int, g: int)
  requires g >= 0 && divides(g, a) && divides(g, b)
  requires divides(gcd(a, b), g)
  ensures gcd(a, b) == g
{
  gcd_greatest(a, b, g);
  divides_antisymmetric(g, gcd(a, b));
}

lemma gcd_comm(a: int, b: int)
  ensures gcd(a, b) == gcd(b, a)
{
  gcd_divides(a, b);
  gcd_divides(b, a);
  gcd_greatest(b, a, gcd(a, b));
  gcd_greatest(a, b, gcd(b, a));
  divides_antisymmetric(gcd(a, b), gcd(b, a));
}

lemma gcd_sign(a: int, b: int)
  ensures gcd(-a, b) == gcd(a, b) && gcd(a, -b) == gcd(a, b)
{
  gcd_divides(a, b);
  gcd_divides(-a, b);
  gcd_divides(a, -b);
  divides_sign(gcd(-a, b), -a);
  divides_sign(gcd(a, b), a);
  divides_sign(gcd(a, -b), -b);
  divides_sign(gcd(a, b), b);
  gcd_greatest(a, b, gcd(-a, b));
  gcd_greatest(-a, b, gcd(a, b));
  gcd_greatest(a, b, gcd(a, -b));
  gcd_greatest(a, -b, gcd(a, b));
  divides_antisymmetric(gcd(a, b), gcd(-a, b));
  divides_antisymmetric(gcd(a, b), gcd(a, -b));
}

lemma gcd_add_multiple(a: int, b: int, k: int)
  ensures gcd(a + k * b, b) == gcd(a, b)
{
  var c := a + k * b;
  gcd_divides(a, b);
  gcd_divides(c, b);
  divides_linear(gcd(a, b), a, b, 1, k);
  divides_linear(gcd(c, b), c, b, 1, -k);
  assert 1 * c + -k * b == a;
  gcd_greatest(c, b, gcd(a, b));
  gcd_greatest(a, b, gcd(c, b));
  divides_antisymmetric(gcd(a, b), gcd(c, b));
}

lemma bezout_step(a: int, b: int, x: int, y: int)
  requires b != 0
  ensures y * a + (x - y * (a / b)) * b == x * b + y * (a % b)
{
  var q, r := a / b, a % b;
  assert a == q * b + r;
  mul_distributes(y, q * b, r);
  mul_assoc(y, q, b);
}

lemma bezout(a: int, b: int) returns (x: int, y: int)
  ensures x * a + y * b == gcd(a, b)
  decreases iabs(b)
{
  if b == 0 {
    x, y := if a < 0 then -1 else 1, 0;
  } else {
    var u, v := bezout(b, a % b);
    bezout_step(a, b, u, v);
    x, y := v, u - v * (a / b);
  }
}

// Euclid's lemma.
lemma coprime_divides_product(a: int, b: int, c: int)
  requires coprime(a, b) && divides(a, b * c)
  ensures divides(a, c)
{
  var x, y := bezout(a, b);
  divides_product(a, c);
  divides_linear(a, a * c, b * c, x, y);
  calc {
    x * (a * c) + y * (b * c);
    { mul_assoc(x, a, c); mul_assoc(y, b, c); }
    (x * a) * c + (y * b) * c;
    { mul_distributes(c, x * a, y * b); }
    (x * a + y * b) * c;
    c;
  }
}

lemma coprime_from_bezout(a: int, b: int, x: int, y: int)
  requires x * a + y * b == 1
  ensures coprime(a, b)
{
  gcd_divides(a, b);
  divides_linear(gcd(a, b), a, b, x, y);
  divides_bound(gcd(a, b), 1);
}

lemma gcd_scale_bezout(k: int, a: int, b: int, x: int, y: int)
  ensures x * (k * a) + y * (k * b) == k * (x * a + y * b)
{
  factor_combination(k, a, b, x, y);
}

lemma gcd_scale(k: int, a: int, b: int)
  requires k > 0
  ensures gcd(k * a, k * b) == k * gcd(a, b)
{
  var g := gcd(a, b);
  gcd_divides(a, b);
  var s := divides_quotient(g, a);
  var t := divides_quotient(g, b);
  mul_assoc(k, g, s);
  mul_assoc(k, g, t);
  divides_product(k * g, s);
  divides_product(k * g, t);
  var x, y := bezout(a, b);
  gcd_scale_bezout(k, a, b, x, y);
  gcd_divides(k * a, k * b);
  divides_linear(gcd(k * a, k * b), k * a, k * b, x, y);
  mul_monotone(0, g, k);
  gcd_unique(k * a, k * b, k * g);
}

// Dividing by the greatest common divisor leaves coprime numbers.
lemma gcd_reduced(a: int, b: int)
  requires a != 0 || b != 0
  ensures coprime(a / gcd(a, b), b / gcd(a, b))
{
  var g := gcd(a, b);
  gcd_divides(a, b);
  var x, y := bezout(a, b);
  var s: int, t: int := a / g, b / g;
  division(a, g);
  division(b, g);
  assert a == g * s && b == g * t;
  factor_combination(g, s, t, x, y);
  mul_cancel(x * s + y * t, 1, g);
  coprime_from_bezout(s, t, x, y);
}

lemma coprime_mul(a: int, b: int, c: int)
  requires coprime(a, c) && coprime(b, c)
  ensures coprime(a * b, c)
{
  var g := gcd(a * b, c);
  gcd_divides(a * b, c);
  var h := gcd(g, a);
  gcd_divides(g, a);
  divides_transitive(h, g, c);
  gcd_greatest(a, c, h);
  divides_bound(h, 1);
  coprime_divides_product(g, a, b);
  gcd_greatest(b, c, g);
  divides_bound(g, 1);
}

lemma gcd_lcm(a: int, b: int)
  ensures gcd(a, b) * lcm(a, b) == iabs(a * b)
{
  if a != 0 && b != 0 {
    var g := gcd(a, b);
    gcd_divides(a, b);
    divides_multiple(g, b, a);
    divides_sign(g, a * b);
    exact_quotient(iabs(a * b), g, lcm(a, b));
  }
}

lemma exact_quotient(n: int, d: int, q: int)
  requires d > 0 && divides(d, n) && q == n / d
  ensures d * q == n
{
  division(n, d);
}

lemma lcm_multiple(a: int, b: int)
  ensures divides(a, lcm(a, b)) && divides(b, lcm(a, b))
{
  divides_product(a, 0);
  divides_product(b, 0);
  if a != 0 && b != 0 {
    var g, m := gcd(a, b), lcm(a, b);
    gcd_lcm(a, b);
    gcd_divides(a, b);
    var s := divides_quotient(g, a);
    var t := divides_quotient(g, b);
    var e := if a * b < 0 then -1 else 1;
    assert g * m == e * (a * b);
    calc {
      e * (a * b);
      { mul_assoc(e, a, b); mul_swap(e * a, g, t); }
      g * (e * a * t);
    }
    mul_cancel(m, e * a * t, g);
    calc {
      e * (a * b);
      { mul_comm(a, b); mul_assoc(e, b, a); mul_swap(e * b, g, s); }
      g * (e * b * s);
    }
    mul_cancel(m, e * b * s, g);
    mul_assoc(e, a, t);
    mul_swap(e, a, t);
    mul_assoc(e, b, s);
    mul_swap(e, b, s);
    divides_product(a, e * t);
    divides_product(b, e * s);
  }
}

// Coprime divisors of a number: their product divides it.
lemma coprime_product_divides(a: int, b: int, n: int)
  requires coprime(a, b) && divides(a, n) && divides(b, n)
  ensures divides(a * b, n)
{
  var k := divides_quotient(b, n);
  coprime_divides_product(a, b, k);
  var l := divides_quotient(a, k);
  mul_swap(b, a, l);
  mul_assoc(a, b, l);
  divides_product(a * b, l);
}

lemma lcm_least(a: int, b: int, n: int)
  requires divides(a, n) && divides(b, n)
  ensures divides(lcm(a, b), n)
{
  if a == 0 || b == 0 {
  } else {
    var g, m := gcd(a, b), lcm(a, b);
    gcd_lcm(a, b);
    gcd_divides(a, b);
    gcd_reduced(a, b);
    var s: int, t: int := a / g, b / g;
    assert a == g * s && b == g * t;
    var k := divides_quotient(a, n);
    var l := divides_quotient(b, n);
    mul_assoc(g, s, k);
    mul_assoc(g, t, l);
    mul_cancel(s * k, t * l, g);
    var w: int := s * k;
    divides_product(s, k);
    divides_product(t, l);
    coprime_product_divides(s, t, w);
    var v := divides_quotient(s * t, w);
    assert n == g * ((s * t) * v);
    mul_assoc(g, s * t, v);
    divides_product(g * (s * t), v);
    mul_assoc(g, s, t);
    lcm_of_parts(a, b, g, s, t);
    divides_sign(g * (s * t), n);
  }
}

lemma lcm_of_parts(a: int, b: int, g: int, s: int, t: int)
  requires g == gcd(a, b) && g > 0 && a == g * s && b == g * t && a != 0 && b != 0
  ensures lcm(a, b) == g * (s * t) || lcm(a, b) == -(g * (s * t))
{
  gcd_lcm(a, b);
  calc {
    a * b;
    { mul_swap(a, g, t); mul_assoc(g, s, t); }
    g * (g * (s * t));
  }
  if a * b >= 0 {
    mul_cancel(lcm(a, b), g * (s * t), g);
  } else {
    mul_cancel(lcm(a, b), -(g * (s * t)), g);
  }
}
