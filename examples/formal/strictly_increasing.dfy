// domain: functional equations
// A strictly increasing function from the natural numbers to themselves never falls below its argument.
lemma strictly_increasing(f: int -> nat, n: nat)
  requires forall k: nat :: f(k) < f(k + 1)
  ensures f(n) >= n
{}
