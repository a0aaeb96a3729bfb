// domain: inequalities
// The geometric mean of two positive numbers lies between the harmonic and the arithmetic one.
lemma means(x: real, y: real)
  requires x > 0.0 && y > 0.0
  ensures 2.0 * x * y / (x + y) <= sqrt(x * y) <= (x + y) / 2.0
{}
