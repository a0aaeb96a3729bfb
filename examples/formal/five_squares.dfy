// domain: sums and induction
// The squares of 0 to 4 sum to 30.
lemma five_squares()
  ensures isum(0, 5, (k: int) => k * k) == 30
{}
