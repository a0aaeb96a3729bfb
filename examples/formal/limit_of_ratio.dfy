// domain: sequences
// The fractions n/(n+1) tend to 1.
lemma limit_of_ratio(u: int -> real)
  requires forall n: nat :: u(n) == n as real / (n + 1) as real
  ensures tends_to(u, 1.0)
{}
