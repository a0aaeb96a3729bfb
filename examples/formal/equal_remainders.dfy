// domain: combinatorics
// Among n + 1 whole numbers there are two whose difference is a multiple of n.
lemma equal_remainders(s: set<int>, n: nat)
  requires n > 0 && |s| == n + 1
  ensures exists x: int, y: int :: x in s && y in s && x != y && divides(n, x - y)
{}
