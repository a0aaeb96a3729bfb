lemma {:induction false} row(n: int, f: int -> int)
  requires n >= 0
  requires forall k: int :: f(k) == choose(n, k)
  ensures isum(0, n + 1, f) == ipow(2, n)
  decreases n
{
  if n == 0 {
    assert f(0) == 1;
    assert isum(0, 0, f) == 0;
    assert isum(0, 1, f) == 1;
  } else {
    var g := (k: int) => choose(n - 1, k);
    row(n - 1, g);
    next_row(n - 1, n, g, f);
    assert isum(0, n + 1, g) == isum(0, n, g) + g(n);
    assert g(n) == 0;
    assert ipow(2, n) == 2 * ipow(2, n - 1);
  }
}

// The first m + 1 entries of the row below n are the first m + 1 of row n and the first m of it, moved on by one.
lemma {:induction false} next_row(n: int, m: int, f: int -> int, g: int -> int)
  requires n >= 0 && m >= 0
  requires forall k: int :: f(k) == choose(n, k)
  requires forall k: int :: g(k) == choose(n + 1, k)
  ensures isum(0, m + 1, g) == isum(0, m + 1, f) + isum(0, m, f)
  decreases m
{
  isum_last(0, m, g);
  isum_last(0, m, f);
  if m == 0 {
    choose_ends(n);
    choose_ends(n + 1);
    assert f(0) == 1 && g(0) == 1;
    assert isum(0, 0, g) == 0 && isum(0, 0, f) == 0;
  } else {
    next_row(n, m - 1, f, g);
    isum_last(0, m - 1, f);
    pascal(n, m - 1);
    assert g(m) == f(m - 1) + f(m);
  }
}

lemma subsets_by_size(n: nat)
  ensures isum(0, n + 1, (k: int) => choose(n, k)) == ipow(2, n)
{
  row(n, (k: int) => choose(n, k));
}
