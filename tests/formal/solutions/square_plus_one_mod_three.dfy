lemma square_plus_one_mod_three(n: int)
  ensures !divides(3, n * n + 1)
{
  square_mod_3(n);
}
