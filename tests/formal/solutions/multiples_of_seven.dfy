lemma multiples_of_seven()
  ensures |set k: int | 1 <= k <= 30 && divides(7, k)| == 4
{
  var s := set k: int | 1 <= k <= 30 && divides(7, k);
  forall k: int
    ensures k in s <==> k in {7, 14, 21, 28}
  {
  }
  assert s == {7, 14, 21, 28};
}
