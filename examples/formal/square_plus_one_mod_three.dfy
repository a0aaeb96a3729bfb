// domain: number theory
// No square plus 1 is a multiple of 3.
lemma square_plus_one_mod_three(n: int)
  ensures !divides(3, n * n + 1)
{}
