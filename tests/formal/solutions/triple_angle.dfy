lemma three_times(c: real, s: real, u: real, v: real)
  requires s * s + c * c == 1.0
  requires u == 2.0 * (c * c) - 1.0 && v == 2.0 * (s * c)
  ensures u * c - v * s == 4.0 * (c * c * c) - 3.0 * c
{
  assert u * c == 2.0 * (c * c * c) - c;
  assert v * s == 2.0 * (c * (s * s));
  equal_products(c, s * s, c, 1.0 - c * c);
  assert c * (1.0 - c * c) == c - c * c * c;
}

lemma triple_angle(x: real)
  ensures cos(3.0 * x) == 4.0 * pow(cos(x), 3) - 3.0 * cos(x)
{
  var c, s := cos(x), sin(x);
  cos_add_to(2.0 * x, x, 3.0 * x);
  double_angle(x);
  pythagoras(x);
  pow_small(c);
  three_times(c, s, cos(2.0 * x), sin(2.0 * x));
}
