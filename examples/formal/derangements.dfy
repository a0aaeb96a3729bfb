// domain: combinatorics
// The permutations of n objects that leave none in its place are n times those of one object less, give or take 1.

// Permutations of n objects without a fixed one: one of n - 1 others takes the place of the last object.
function deranged(n: int): int
  decreases n
{
  if n <= 0 then 1 else if n == 1 then 0 else (n - 1) * (deranged(n - 1) + deranged(n - 2))
}

lemma derangements(n: nat)
  requires n >= 1
  ensures deranged(n) == n * deranged(n - 1) + ipow(-1, n)
{}
