lemma golden_ratio_is_irrational()
  ensures !is_rational((1.0 + sqrt(5.0)) / 2.0)
{
  var g := (1.0 + sqrt(5.0)) / 2.0;
  if is_rational(g) {
    integer_rational(1);
    rational_sum(g, g);
    rational_sum(g + g, 1.0);
    assert g + g - 1.0 == sqrt(5.0);
    assert prime(5);
    sqrt_prime_irrational(5);
  }
}
