lemma {:induction false} folded(f: int -> int, n: int)
  requires n >= 0
  requires forall k: int :: f(-k) == -f(k)
  ensures isum(-n, n + 1, f) == 0
  decreases n
{
  assert f(-n) == -f(n);
  isum_first(-n, n + 1, f);
  if n > 0 {
    folded(f, n - 1);
    assert -(n - 1) == -n + 1;
    isum_last(-n + 1, n, f);
  } else {
    assert isum(1, 1, f) == 0;
  }
}

lemma sum_over_symmetric_range(f: int -> int, n: int)
  requires n >= 0
  requires forall k: int :: f(-k) == -f(k)
  ensures isum(-n, n + 1, f) == 0
{
  folded(f, n);
}
