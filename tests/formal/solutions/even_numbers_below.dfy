lemma {:induction false} count(n: int, s: set<int>)
  requires n >= 0
  requires forall k: int :: k in s <==> 0 <= k < 2 * n && even(k)
  ensures |s| == n
  decreases n
{
  if n == 0 {
    forall k: int | k in s
      ensures k in {}
    {
      assert 0 <= k < 0;
    }
    assert s == {};
  } else {
    var last := 2 * n - 2;
    assert even(last) && last in s;
    count(n - 1, s - {last});
    size_of_difference(s, {last});
  }
}

lemma even_numbers_below(n: nat)
  ensures |set k: int | 0 <= k < 2 * n && even(k)| == n
{
  count(n, set k: int | 0 <= k < 2 * n && even(k));
}
