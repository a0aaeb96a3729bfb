// domain: number theory
// Above every natural number n there is a prime, and one that is at most n! + 1.
lemma prime_above(n: nat)
  ensures exists p: int :: prime(p) && n < p <= factorial(n) + 1
{}
