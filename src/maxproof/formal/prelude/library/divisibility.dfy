// Divisibility.

lemma divides_product(d: int, k: int)
  ensures divides(d, d * k)
  ensures divides(d, k * d)
{
  if d > 0 {
    multiple_mod(k, d);
  } else if d < 0 {
    multiple_mod(-k, -d);
    assert (-k) * (-d) == d * k;
    var q := (d * k) / d;
    var r := (d * k) % d;
    assert d * k == d * q + r;
    assert r == (k - q) * d;
    assert 0 <= r < -d;
    if k - q >= 1 {
      mul_monotone(1, k - q, -d);
    } else if k - q <= -1 {
      mul_monotone(k - q, -1, -d);
    }
  }
}

lemma divides_quotient(d: int, n: int) returns (k: int)
  requires divides(d, n)
  ensures n == d * k
{
  k := if d == 0 then 0 else n / d;
}

lemma divides_reflexive(n: int)
  ensures divides(n, n) && divides(1, n) && divides(n, 0)
{
  divides_product(n, 1);
  divides_product(n, 0);
}

lemma divides_transitive(a: int, b: int, c: int)
  requires divides(a, b) && divides(b, c)
  ensures divides(a, c)
{
  var k := divides_quotient(a, b);
  var l := divides_quotient(b, c);
  mul_assoc(a, k, l);
  divides_product(a, k * l);
}

lemma factor_combination(d: int, k: int, l: int, x: int, y: int)
  ensures x * (d * k) + y * (d * l) == d * (x * k + y * l)
{
  mul_swap(x, d, k);
  mul_swap(y, d, l);
  mul_distributes(d, x * k, y * l);
}

lemma divides_linear(d: int, a: int, b: int, x: int, y: int)
  requires divides(d, a) && divides(d, b)
  ensures divides(d, x * a + y * b)
{
  var k := divides_quotient(d, a);
  var l := divides_quotient(d, b);
  factor_combination(d, k, l, x, y);
  divides_product(d, x * k + y * l);
}

lemma divides_sum(d: int, a: int, b: int)
  requires divides(d, a) && divides(d, b)
  ensures divides(d, a + b) && divides(d, a - b)
{
  divides_linear(d, a, b, 1, 1);
  divides_linear(d, a, b, 1, -1);
}

lemma divides_multiple(d: int, a: int, k: int)
  requires divides(d, a)
  ensures divides(d, k * a)
{
  divides_linear(d, a, a, k, 0);
}

lemma divides_bound(d: int, n: int)
  requires divides(d, n) && n > 0
  ensures d <= n && -d <= n
{
  var k := divides_quotient(d, n);
  if d > n {
    assert k > 0 by {
      if k <= 0 {
        mul_monotone(k, 0, d);
      }
    }
    mul_monotone(1, k, d);
  } else if -d > n {
    assert k < 0 by {
      if k >= 0 {
        mul_monotone(0, k, -d);
      }
    }
    mul_monotone(1, -k, -d);
  }
}

lemma divides_antisymmetric(a: int, b: int)
  requires divides(a, b) && divides(b, a) && a >= 0 && b >= 0
  ensures a == b
{
  if a > 0 && b > 0 {
    divides_bound(a, b);
    divides_bound(b, a);
  }
}

lemma divides_sign(d: int, n: int)
  ensures divides(d, n) <==> divides(-d, n)
  ensures divides(d, n) <==> divides(d, -n)
{
  if divides(d, n) {
    var k := divides_quotient(d, n);
    assert n == (-d) * (-k) && -n == d * (-k);
    divides_product(-d, -k);
    divides_product(d, -k);
  }
  if divides(-d, n) {
    var k := divides_quotient(-d, n);
    assert n == d * (-k);
    divides_product(d, -k);
  }
  if divides(d, -n) {
    var k := divides_quotient(d, -n);
    assert n == d * (-k);
    divides_product(d, -k);
  }
}
