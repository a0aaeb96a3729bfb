lemma strictly_increasing(f: int -> nat, n: nat)
  requires forall k: nat :: f(k) < f(k + 1)
  ensures f(n) >= n
{
  if n > 0 {
    strictly_increasing(f, n - 1);
    assert f(n - 1) < f(n - 1 + 1);
  }
}
