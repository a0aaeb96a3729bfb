// domain: sequences
// A sequence that starts with 3 and grows by 4 has the term 19 in the place 4.
lemma fifth_term(a: int -> int)
  requires a(0) == 3
  requires forall n: nat :: a(n + 1) == a(n) + 4
  ensures a(4) == 19
{}
