lemma equal_remainders(s: set<int>, n: nat)
  requires n > 0 && |s| == n + 1
  ensures exists x: int, y: int :: x in s && y in s && x != y && divides(n, x - y)
{
  var remainders := set r: int | 0 <= r < n;
  size_of_range(0, n, remainders);
  var f := (k: int) => imod(k, n);
  forall k: int | k in s
    ensures f(k) in remainders
  {
    assert f(k) == k % n;
  }
  var x, y := pigeonhole(s, remainders, f);
  assert x % n == y % n;
  congruent_difference(x, y, n);
  assert x in s && y in s && x != y && divides(n, x - y);
}
