// domain: sums and induction
// An odd function sums to 0 over a range that is symmetric about 0.
lemma sum_over_symmetric_range(f: int -> int, n: int)
  requires n >= 0
  requires forall k: int :: f(-k) == -f(k)
  ensures isum(-n, n + 1, f) == 0
{}
