// domain: inequalities
// From n = 5 on, the power 2^n is greater than the square of n.
lemma square_below_power_of_two(n: nat)
  requires n >= 5
  ensures ipow(2, n) > n * n
{}
