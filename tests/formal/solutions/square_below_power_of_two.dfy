lemma {:induction false} exceeds(n: int)
  requires n >= 5
  ensures ipow(2, n) > n * n
  decreases n
{
  if n == 5 {
    ipow_small(2);
    ipow_successor(2, 4);
  } else {
    exceeds(n - 1);
    ipow_successor(2, n - 1);
    step(n, n - 1, ipow(2, n - 1));
  }
}

lemma step(n: int, m: int, p: int)
  requires n == m + 1 && m >= 5 && p > m * m
  ensures 2 * p > n * n
{
  mul_monotone(3, m, m);
  mul_distributes(n, m, 1);
  mul_distributes(m, m, 1);
}

lemma square_below_power_of_two(n: nat)
  requires n >= 5
  ensures ipow(2, n) > n * n
{
  exceeds(n);
}
