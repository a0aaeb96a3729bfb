lemma five_squares()
  ensures isum(0, 5, (k: int) => k * k) == 30
{
  var f := (k: int) => k * k;
  assert isum(0, 0, f) == 0;
  assert isum(0, 1, f) == 0;
  assert isum(0, 2, f) == 1;
  assert isum(0, 3, f) == 5;
  assert isum(0, 4, f) == 14;
}
