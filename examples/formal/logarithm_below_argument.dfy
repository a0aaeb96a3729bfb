// domain: trigonometry and logarithms
// The logarithm of the square of x is less than 2x.
lemma logarithm_below_argument(x: real)
  requires x > 0.0
  ensures log(x * x) < 2.0 * x
{}
