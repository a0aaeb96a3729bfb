// domain: sums and induction
// The inverse squares 1 + 1/4 + 1/9 + ... never reach 2.
lemma inverse_squares(n: nat)
  ensures rsum(1, n + 1, (k: int) => rdiv(1.0, (k * k) as real)) < 2.0
{}
