lemma {:induction false} multiple(f: int -> int, n: int)
  requires n >= 0
  requires forall a: int, b: int :: f(a + b) == f(a) + f(b)
  requires f(0) == 0
  ensures f(n) == n * f(1)
  decreases n
{
  if n > 0 {
    multiple(f, n - 1);
    assert f((n - 1) + 1) == f(n - 1) + f(1);
    mul_distributes(f(1), n - 1, 1);
  }
}

lemma additive_function_on_integers(f: int -> int, n: int)
  requires forall a: int, b: int :: f(a + b) == f(a) + f(b)
  ensures f(n) == n * f(1)
{
  assert f(0 + 0) == f(0) + f(0);
  multiple(f, iabs(n));
  if n < 0 {
    assert f(n + -n) == f(n) + f(-n);
    assert iabs(n) == -n;
    assert (-n) * f(1) == -(n * f(1));
  }
}
