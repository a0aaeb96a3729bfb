// Sine, cosine, tangent. The addition formulas, the sign of sine on the first half turn and the zero of cosine at a
// quarter turn are axioms; the rest follows.

lemma {:axiom} cos_add(x: real, y: real)
  ensures cos(x + y) == cos(x) * cos(y) - sin(x) * sin(y)

lemma {:axiom} sin_add(x: real, y: real)
  ensures sin(x + y) == sin(x) * cos(y) + cos(x) * sin(y)

lemma cos_add_to(x: real, y: real, z: real)
  requires z == x + y
  ensures cos(z) == cos(x) * cos(y) - sin(x) * sin(y)
{
  cos_add(x, y);
}

lemma sin_add_to(x: real, y: real, z: real)
  requires z == x + y
  ensures sin(z) == sin(x) * cos(y) + cos(x) * sin(y)
{
  sin_add(x, y);
}

lemma {:axiom} sin_positive(x: real)
  requires 0.0 < x < pi()
  ensures sin(x) > 0.0

lemma {:axiom} sin_below(x: real)
  requires x > 0.0
  ensures sin(x) < x

lemma {:axiom} cos_half_pi()
  ensures cos(pi() / 2.0) == 0.0

lemma {:axiom} pythagoras(x: real)
  ensures sin(x) * sin(x) + cos(x) * cos(x) == 1.0

lemma sin_half_pi()
  ensures sin(pi() / 2.0) == 1.0
{
  cos_half_pi();
  sin_positive(pi() / 2.0);
  pythagoras(pi() / 2.0);
  top_of_circle(cos(pi() / 2.0), sin(pi() / 2.0));
}

lemma top_of_circle(c: real, s: real)
  requires c == 0.0 && s > 0.0 && s * s + c * c == 1.0
  ensures s == 1.0
{
  square_monotone(s, 1.0);
}

lemma cos_sin_zero()
  ensures cos(0.0) == 1.0 && sin(0.0) == 0.0
{
  cos_add_to(0.0, 0.0, 0.0);
  sin_add_to(0.0, 0.0, 0.0);
  pythagoras(0.0);
  zero_angle(cos(0.0), sin(0.0));
}

// A point of the unit circle that doubling its angle doesn't move.
lemma zero_angle(c: real, s: real)
  requires c == c * c - s * s && s == s * c + c * s && s * s + c * c == 1.0
  ensures c == 1.0 && s == 0.0
{
  assert s * (2.0 * c - 1.0) == 0.0;
  product_zero(s, 2.0 * c - 1.0);
  if s != 0.0 {
    assert c == 0.5;
    assert c * c == 0.25;
  } else {
    assert c == c * c && c * c == 1.0;
  }
}

lemma parity_of_sin_cos(x: real)
  ensures cos(-x) == cos(x) && sin(-x) == -sin(x)
{
  cos_add(x, -x);
  sin_add(x, -x);
  cos_sin_zero();
  pythagoras(x);
  inverse_rotation(cos(x), sin(x), cos(-x), sin(-x), 1.0, 0.0);
}

lemma inverse_rotation(c: real, s: real, u: real, v: real, p: real, q: real)
  requires s * s + c * c == 1.0 && p == c * u - s * v && q == s * u + c * v && p == 1.0 && q == 0.0
  ensures u == c && v == -s
{
  rotated_back(c, s, u, v, p, q);
  rotated_across(c, s, u, v, p, q);
  times_norm(c, s, u);
  times_norm(c, s, v);
}

lemma rotation_identity(c: real, s: real, u: real, v: real)
  ensures c * (c * u - s * v) + s * (s * u + c * v) == (s * s + c * c) * u
  ensures c * (s * u + c * v) - s * (c * u - s * v) == (s * s + c * c) * v
{
}

lemma rotated_back(c: real, s: real, u: real, v: real, p: real, q: real)
  requires p == c * u - s * v && q == s * u + c * v
  ensures c * p + s * q == (s * s + c * c) * u
{
  rotation_identity(c, s, u, v);
}

lemma rotated_across(c: real, s: real, u: real, v: real, p: real, q: real)
  requires p == c * u - s * v && q == s * u + c * v
  ensures c * q - s * p == (s * s + c * c) * v
{
  rotation_identity(c, s, u, v);
}

lemma times_norm(c: real, s: real, u: real)
  requires s * s + c * c == 1.0
  ensures (s * s + c * c) * u == u
{
}

lemma cos_subtract(x: real, y: real)
  ensures cos(x - y) == cos(x) * cos(y) + sin(x) * sin(y)
{
  cos_add_to(x, -y, x - y);
  parity_of_sin_cos(y);
}

lemma sin_subtract(x: real, y: real)
  ensures sin(x - y) == sin(x) * cos(y) - cos(x) * sin(y)
{
  sin_add_to(x, -y, x - y);
  parity_of_sin_cos(y);
}

lemma double_angle(x: real)
  ensures cos(2.0 * x) == 2.0 * (cos(x) * cos(x)) - 1.0
  ensures cos(2.0 * x) == 1.0 - 2.0 * (sin(x) * sin(x))
  ensures sin(2.0 * x) == 2.0 * (sin(x) * cos(x))
{
  cos_add(x, x);
  sin_add(x, x);
  pythagoras(x);
  assert x + x == 2.0 * x;
}

lemma cofunction(x: real)
  ensures cos(pi() / 2.0 - x) == sin(x) && sin(pi() / 2.0 - x) == cos(x)
{
  cos_half_pi();
  sin_half_pi();
  cos_subtract(pi() / 2.0, x);
  sin_subtract(pi() / 2.0, x);
}

lemma cos_sin_pi()
  ensures cos(pi()) == -1.0 && sin(pi()) == 0.0
{
  cos_half_pi();
  sin_half_pi();
  double_angle(pi() / 2.0);
  assert 2.0 * (pi() / 2.0) == pi();
}

lemma half_turn(x: real)
  ensures cos(x + pi()) == -cos(x) && sin(x + pi()) == -sin(x)
  ensures cos(pi() - x) == -cos(x) && sin(pi() - x) == sin(x)
{
  cos_sin_pi();
  cos_add(x, pi());
  sin_add(x, pi());
  cos_subtract(pi(), x);
  sin_subtract(pi(), x);
}

lemma half_turn_to(x: real, y: real)
  requires y == x + pi()
  ensures cos(y) == -cos(x) && sin(y) == -sin(x)
{
  half_turn(x);
}

lemma full_turn(x: real)
  ensures cos(x + 2.0 * pi()) == cos(x) && sin(x + 2.0 * pi()) == sin(x)
{
  half_turn_to(x, x + pi());
  half_turn_to(x + pi(), x + 2.0 * pi());
}

lemma {:induction false} sin_cos_multiple_of_pi(n: int)
  requires n >= 0
  ensures sin(n as real * pi()) == 0.0 && cos(n as real * pi()) == pow(-1.0, n)
  decreases n
{
  if n == 0 {
    cos_sin_zero();
    assert n as real * pi() == 0.0;
  } else {
    sin_cos_multiple_of_pi(n - 1);
    half_turn((n - 1) as real * pi());
    assert (n - 1) as real * pi() + pi() == n as real * pi();
  }
}

lemma cos_positive(x: real)
  requires -(pi() / 2.0) < x < pi() / 2.0
  ensures cos(x) > 0.0
{
  cofunction(x);
  sin_positive(pi() / 2.0 - x);
}

lemma sin_zero(x: real)
  requires 0.0 <= x < pi() && sin(x) == 0.0
  ensures x == 0.0
{
  if x > 0.0 {
    sin_positive(x);
  }
}

lemma cos_strictly_decreasing(x: real, y: real)
  requires 0.0 <= x < y <= pi()
  ensures cos(y) < cos(x)
{
  var m, d := (x + y) / 2.0, (y - x) / 2.0;
  cos_add(m, d);
  cos_subtract(m, d);
  assert m + d == y && m - d == x;
  sin_positive(m);
  sin_positive(d);
  product_positive(sin(m), sin(d));
}

lemma tan_pythagoras(x: real)
  requires cos(x) != 0.0
  ensures tan(x) * cos(x) == sin(x)
  ensures (1.0 + tan(x) * tan(x)) * (cos(x) * cos(x)) == 1.0
{
  quotient_product(sin(x), cos(x));
  pythagoras(x);
  tangent_identity(tan(x), cos(x), sin(x));
}

lemma tangent_identity(t: real, c: real, s: real)
  requires t * c == s && s * s + c * c == 1.0
  ensures (1.0 + t * t) * (c * c) == 1.0
{
  rmul_interchange(t, t, c, c);
  equal_products(t * c, t * c, s, s);
}

lemma cos_pi_thirds()
  ensures cos(pi() / 3.0) == 0.5
{
  var t := pi() / 3.0;
  half_turn(t);
  double_angle(t);
  cos_positive(t);
  assert 2.0 * t == pi() - t;
  third_of_turn(cos(t));
}

lemma third_of_turn(c: real)
  requires c > 0.0 && 2.0 * (c * c) - 1.0 == -c
  ensures c == 0.5
{
  assert (2.0 * c - 1.0) * (c + 1.0) == 0.0;
  product_zero(2.0 * c - 1.0, c + 1.0);
}

lemma sin_pi_sixths()
  ensures sin(pi() / 6.0) == 0.5
{
  cos_pi_thirds();
  cofunction(pi() / 6.0);
  assert pi() / 2.0 - pi() / 6.0 == pi() / 3.0;
}

lemma sin_pi_thirds()
  ensures sin(pi() / 3.0) == sqrt(3.0) / 2.0
{
  cos_pi_thirds();
  sin_positive(pi() / 3.0);
  pythagoras(pi() / 3.0);
  altitude_of_triangle(cos(pi() / 3.0), sin(pi() / 3.0));
}

lemma altitude_of_triangle(c: real, s: real)
  requires c == 0.5 && s > 0.0 && s * s + c * c == 1.0
  ensures s == sqrt(3.0) / 2.0
{
  equal_products(c, c, 0.5, 0.5);
  var r := s + s;
  product_of_sum(r, r, s, s);
  product_of_sum(s, r, s, s);
  sqrt_unique(3.0, r);
}

lemma diagonal()
  ensures cos(pi() / 4.0) == sin(pi() / 4.0) && cos(pi() / 4.0) > 0.0
{
  cofunction(pi() / 4.0);
  assert pi() / 2.0 - pi() / 4.0 == pi() / 4.0;
  cos_positive(pi() / 4.0);
}

lemma cos_sin_pi_quarters()
  ensures cos(pi() / 4.0) == sqrt(2.0) / 2.0 && sin(pi() / 4.0) == sqrt(2.0) / 2.0
{
  diagonal();
  pythagoras(pi() / 4.0);
  diagonal_of_square(cos(pi() / 4.0), sin(pi() / 4.0));
}

lemma diagonal_of_square(c: real, s: real)
  requires c == s && s > 0.0 && s * s + c * c == 1.0
  ensures c == sqrt(2.0) / 2.0 && s == sqrt(2.0) / 2.0
{
  equal_products(c, c, s, s);
  var r := s + s;
  product_of_sum(r, r, s, s);
  product_of_sum(s, r, s, s);
  sqrt_unique(2.0, r);
}
