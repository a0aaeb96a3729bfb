// domain: algebra
// Half of 1 plus the square root of 5 is irrational.
lemma golden_ratio_is_irrational()
  ensures !is_rational((1.0 + sqrt(5.0)) / 2.0)
{}
