lemma product_equation(f: real -> real)
  requires forall x: real, y: real :: f(x) * f(y) - f(x * y) == x + y
  ensures forall x: real :: f(x) == x + 1.0
{
  var c := f(0.0);
  assert f(0.0) * f(0.0) - f(0.0 * 0.0) == 0.0 + 0.0;
  assert c * (c - 1.0) == 0.0;
  product_zero(c, c - 1.0);
  assert f(1.0) * f(0.0) - f(1.0 * 0.0) == 1.0 + 0.0;
  assert c == 1.0;
  forall x: real
    ensures f(x) == x + 1.0
  {
    assert f(x) * f(0.0) - f(x * 0.0) == x + 0.0;
    assert x * 0.0 == 0.0;
  }
}
