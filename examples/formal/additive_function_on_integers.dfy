// domain: functional equations
// On the whole numbers, the functions that take sums to sums are the multiplications by a constant.
lemma additive_function_on_integers(f: int -> int, n: int)
  requires forall a: int, b: int :: f(a + b) == f(a) + f(b)
  ensures f(n) == n * f(1)
{}
