lemma fifth_term(a: int -> int)
  requires a(0) == 3
  requires forall n: nat :: a(n + 1) == a(n) + 4
  ensures a(4) == 19
{
  assert a(0 + 1) == 7;
  assert a(1 + 1) == 11;
  assert a(2 + 1) == 15;
  assert a(3 + 1) == 19;
}
