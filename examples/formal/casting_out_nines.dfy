// domain: number theory
// A natural number and the sum of its decimal digits leave the same remainder by 9.
lemma casting_out_nines(n: nat)
  ensures seq_isum(digits(10, n)) % 9 == n % 9
{}
