// domain: sets
// Half of the numbers below 2n are even.
lemma even_numbers_below(n: nat)
  ensures |set k: int | 0 <= k < 2 * n && even(k)| == n
{}
