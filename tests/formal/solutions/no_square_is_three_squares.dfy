// Both numbers are multiples of 3, and their thirds are a smaller solution.
lemma descent(m: int, n: int)
  requires m >= 0 && n > 0 && m * m == 3 * (n * n)
  ensures false
  decreases n
{
  square_mod_3(m);
  var k := m / 3;
  assert m == 3 * k;
  assert m * m == 9 * (k * k);
  assert n * n == 3 * (k * k);
  if k == 0 {
    assert n * n == 0;
  } else if k >= n {
    mul_monotone(n, k, k);
    mul_monotone(n, k, n);
  } else {
    descent(n, k);
  }
}

lemma no_square_is_three_squares(m: nat, n: nat)
  requires n > 0
  ensures m * m != 3 * (n * n)
{
  if m * m == 3 * (n * n) {
    descent(m, n);
  }
}
