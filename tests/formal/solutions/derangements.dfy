lemma {:induction false} recurrence(n: int)
  requires n >= 1
  ensures deranged(n) == n * deranged(n - 1) + ipow(-1, n)
  decreases n
{
  assert ipow(-1, n) == -1 * ipow(-1, n - 1);
  if n == 1 {
    assert ipow(-1, 0) == 1;
  } else {
    recurrence(n - 1);
    step(n - 1, deranged(n), deranged(n - 1), deranged(n - 2), ipow(-1, n), ipow(-1, n - 1));
  }
}

lemma step(m: int, d: int, d': int, d'': int, s: int, s': int)
  requires d == m * (d' + d'') && d' == m * d'' + s' && s == -s'
  ensures d == (m + 1) * d' + s
{
  mul_distributes(m, d', d'');
  mul_distributes(d', m, 1);
}

lemma derangements(n: nat)
  requires n >= 1
  ensures deranged(n) == n * deranged(n - 1) + ipow(-1, n)
{
  recurrence(n);
}
