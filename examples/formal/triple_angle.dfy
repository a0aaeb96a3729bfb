// domain: trigonometry and logarithms
// The cosine of 3x is 4c^3 - 3c, where c is the cosine of x.
lemma triple_angle(x: real)
  ensures cos(3.0 * x) == 4.0 * pow(cos(x), 3) - 3.0 * cos(x)
{}
