lemma line_meets_circle(x: real, y: real)
  requires x * x + y * y == 25.0 && x + y == 7.0
  ensures (x == 3.0 && y == 4.0) || (x == 4.0 && y == 3.0)
{
  assert y == 7.0 - x;
  assert x * x + (7.0 - x) * (7.0 - x) - 25.0 == 2.0 * ((x - 3.0) * (x - 4.0));
  product_zero(x - 3.0, x - 4.0);
}
