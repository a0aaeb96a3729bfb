// domain: number theory
// The fraction (5n + 3) / (3n + 2) is in lowest terms for every n.
lemma irreducible_fraction(n: int)
  ensures coprime(5 * n + 3, 3 * n + 2)
{}
