// domain: complex numbers
// The absolute value of a sum is at most the sum of the absolute values.
lemma triangle_inequality(z: complex, w: complex)
  ensures cabs(cadd(z, w)) <= cabs(z) + cabs(w)
{}
