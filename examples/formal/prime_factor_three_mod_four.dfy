// domain: number theory
// A number that leaves the remainder 3 by 4 has a prime factor that does so, too.
lemma prime_factor_three_mod_four(n: nat)
  requires n % 4 == 3
  ensures exists p: int :: prime(p) && p % 4 == 3 && divides(p, n)
{}
