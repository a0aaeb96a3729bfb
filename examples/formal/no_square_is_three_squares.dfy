// domain: number theory
// No positive square is three times a square: the square root of 3 is irrational.
lemma no_square_is_three_squares(m: nat, n: nat)
  requires n > 0
  ensures m * m != 3 * (n * n)
{}
