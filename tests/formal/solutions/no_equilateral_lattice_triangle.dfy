lemma difference_squared(x: int, y: int)
  ensures (x - y) * (x - y) == x * x - 2 * (x * y) + y * y
{
}

lemma sum_squared(x: int, y: int)
  ensures (x + y) * (x + y) == x * x + 2 * (x * y) + y * y
{
}

// Lagrange's identity, for two vectors of the same length.
lemma lagrange(a: int, b: int, c: int, d: int, p: int, q: int, n: int)
  requires p == a * c + b * d && q == a * d - b * c
  requires n == a * a + b * b && n == c * c + d * d
  ensures p * p + q * q == n * n
{
  sum_squared(a * c, b * d);
  difference_squared(a * d, b * c);
  mul_interchange(a, c, b, d);
  mul_interchange(a, d, b, c);
  mul_interchange(a, c, a, c);
  mul_interchange(b, d, b, d);
  mul_interchange(a, d, a, d);
  mul_interchange(b, c, b, c);
  mul_comm(d, c);
  var s, t, u, v := a * a, b * b, c * c, d * d;
  assert p * p == s * u + 2 * ((a * b) * (c * d)) + t * v;
  assert q * q == s * v - 2 * ((a * b) * (c * d)) + t * u;
  calc {
    n * n;
    { mul_distributes(s + t, u, v); }
    (s + t) * u + (s + t) * v;
    { mul_distributes(u, s, t); mul_distributes(v, s, t); }
    s * u + t * u + (s * v + t * v);
  }
}

lemma twice_area(n: int, p: int, q: int)
  requires n == 2 * p && n > 0 && p * p + q * q == n * n
  ensures false
{
  var t := 2 * iabs(q);
  mul_interchange(2, p, 2, p);
  mul_interchange(2, iabs(q), 2, iabs(q));
  assert iabs(q) * iabs(q) == q * q;
  assert t * t == 3 * (n * n);
  descent(t, n);
}

// No positive square is three times a square: both roots are multiples of 3, and their thirds are smaller.
lemma descent(m: int, n: int)
  requires m >= 0 && n > 0 && m * m == 3 * (n * n)
  ensures false
  decreases n
{
  square_mod_3(m);
  var k := m / 3;
  assert m == 3 * k;
  assert m * m == 9 * (k * k);
  assert n * n == 3 * (k * k);
  if k == 0 {
    assert n * n == 0;
  } else if k >= n {
    mul_monotone(n, k, k);
    mul_monotone(n, k, n);
  } else {
    descent(n, k);
  }
}

lemma no_equilateral_lattice_triangle(a: int, b: int, c: int, d: int)
  requires a * a + b * b > 0
  requires a * a + b * b == c * c + d * d
  ensures (a - c) * (a - c) + (b - d) * (b - d) != a * a + b * b
{
  var n := a * a + b * b;
  if (a - c) * (a - c) + (b - d) * (b - d) == n {
    // The scalar product of two sides is n/2, and twice the area is the square root of 3 times that.
    var p, q := a * c + b * d, a * d - b * c;
    difference_squared(a, c);
    difference_squared(b, d);
    assert n == 2 * p;
    lagrange(a, b, c, d, p, q, n);
    twice_area(n, p, q);
  }
}
