// domain: complex numbers
// The squares of the diagonals of a parallelogram sum to those of its four sides.
lemma parallelogram_law(z: complex, w: complex)
  ensures cnormsq(cadd(z, w)) + cnormsq(csub(z, w)) == 2.0 * cnormsq(z) + 2.0 * cnormsq(w)
{}
