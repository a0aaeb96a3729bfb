lemma remainder_of_sum(m: int, n: int)
  requires m % 7 == 3 && n % 7 == 5
  ensures (m + n) % 7 == 1
{
}
