// domain: trigonometry and logarithms
// The logarithm of 12 is that of 3 and twice that of 2.
lemma logarithm_of_twelve()
  ensures log(12.0) == log(3.0) + 2.0 * log(2.0)
{}
