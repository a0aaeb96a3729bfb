// domain: combinatorics
// A set of n elements has 2^n subsets: the sum of a row of binomial coefficients.
lemma subsets_by_size(n: nat)
  ensures isum(0, n + 1, (k: int) => choose(n, k)) == ipow(2, n)
{}
