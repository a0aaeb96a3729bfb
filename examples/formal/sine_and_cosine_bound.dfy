// domain: trigonometry and logarithms
// The value 3 sin x - 2 cos y lies between -5 and 5.
lemma sine_and_cosine_bound(x: real, y: real)
  ensures -5.0 <= 3.0 * sin(x) - 2.0 * cos(y) <= 5.0
{}
