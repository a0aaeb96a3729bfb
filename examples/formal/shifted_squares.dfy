// domain: inequalities
// The quadratic form x^2 + 5y^2 stays above 4xy + 2y - 1.
lemma shifted_squares(x: real, y: real)
  ensures x * x + 5.0 * y * y + 1.0 >= 4.0 * x * y + 2.0 * y
{}
