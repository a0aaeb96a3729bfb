lemma root(n: int) returns (m: int)
  ensures n * (n + 1) * (n + 2) * (n + 3) + 1 == m * m
{
  m := n * n + 3 * n + 1;
  var k := n * n + 3 * n;
  assert n * (n + 1) * (n + 2) * (n + 3) == k * (k + 2);
}

lemma product_of_four_consecutive(n: int)
  ensures exists m: int :: n * (n + 1) * (n + 2) * (n + 3) + 1 == m * m
{
  var m := root(n);
  assert n * (n + 1) * (n + 2) * (n + 3) + 1 == m * m;
}
