lemma neighbours_among_many(s: set<int>, n: nat)
  requires forall k: int :: k in s ==> 1 <= k <= 2 * n
  requires |s| == n + 1
  ensures exists k: int :: k in s && k + 1 in s
{
  // The pairs {1, 2}, {3, 4}, ... are n pigeonholes for n + 1 numbers.
  var pairs := set j: int | 1 <= j < n + 1;
  size_of_range(1, n + 1, pairs);
  var f := (k: int) => (k + 1) / 2;
  forall k: int | k in s
    ensures f(k) in pairs
  {
    assert 1 <= k <= 2 * n;
    assert f(k) == (k + 1) / 2;
  }
  var x, y := pigeonhole(s, pairs, f);
  assert (x + 1) / 2 == (y + 1) / 2;
  if x < y {
    assert y == x + 1;
    assert x in s && x + 1 in s;
  } else {
    assert x == y + 1;
    assert y in s && y + 1 in s;
  }
}
