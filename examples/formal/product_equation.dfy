// domain: functional equations
// The only function with f(x)f(y) - f(xy) = x + y is f(x) = x + 1.
lemma product_equation(f: real -> real)
  requires forall x: real, y: real :: f(x) * f(y) - f(x * y) == x + y
  ensures forall x: real :: f(x) == x + 1.0
{}
