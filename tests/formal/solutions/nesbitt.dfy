// t / (s - t) lies above its tangent at t = s / 3.
lemma tangent(t: real, u: real, s: real)
  requires t > 0.0 && u > 0.0 && s == t + u
  ensures t / u >= (9.0 * t - s) / (4.0 * s)
{
  square_nonnegative(s - 3.0 * t);
  tangent_identity_at_third(t, u, s);
  quotient_compare(9.0 * t - s, 4.0 * s, t, u);
}

lemma tangent_identity_at_third(t: real, u: real, s: real)
  requires s == t + u
  ensures t * (4.0 * s) - (9.0 * t - s) * u == (s - 3.0 * t) * (s - 3.0 * t)
{
  assert s - 3.0 * t == u - 2.0 * t;
  assert t * (4.0 * s) == 4.0 * (t * t) + 4.0 * (t * u);
  assert (9.0 * t - s) * u == 8.0 * (t * u) - u * u by {
    assert 9.0 * t - s == 8.0 * t - u;
  }
  assert (u - 2.0 * t) * (u - 2.0 * t) == u * u - 4.0 * (t * u) + 4.0 * (t * t);
}

lemma nesbitt(x: real, y: real, z: real)
  requires x > 0.0 && y > 0.0 && z > 0.0
  ensures x / (y + z) + y / (z + x) + z / (x + y) >= 3.0 / 2.0
{
  var s := x + y + z;
  tangent(x, y + z, s);
  tangent(y, z + x, s);
  tangent(z, x + y, s);
  quotient_sum(9.0 * x - s, 9.0 * y - s, 4.0 * s);
  quotient_sum(9.0 * x - s + (9.0 * y - s), 9.0 * z - s, 4.0 * s);
  quotient_unique(1.5, 6.0 * s, 4.0 * s);
}
