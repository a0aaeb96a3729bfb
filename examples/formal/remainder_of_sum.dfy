// domain: number theory
// Remainders 3 and 5 by 7 add up to the remainder 1.
lemma remainder_of_sum(m: int, n: int)
  requires m % 7 == 3 && n % 7 == 5
  ensures (m + n) % 7 == 1
{}
