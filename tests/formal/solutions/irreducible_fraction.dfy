lemma irreducible_fraction(n: int)
  ensures coprime(5 * n + 3, 3 * n + 2)
{
  coprime_from_bezout(5 * n + 3, 3 * n + 2, -3, 5);
}
