// domain: sets
// Among n + 1 of the numbers 1, ..., 2n there are two neighbours.
lemma neighbours_among_many(s: set<int>, n: nat)
  requires forall k: int :: k in s ==> 1 <= k <= 2 * n
  requires |s| == n + 1
  ensures exists k: int :: k in s && k + 1 in s
{}
