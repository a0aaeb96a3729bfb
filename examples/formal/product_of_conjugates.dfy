// domain: complex numbers
// The product of 3 + 2i and 3 - 2i is 13.
lemma product_of_conjugates()
  ensures cmul(Complex(3.0, 2.0), conj(Complex(3.0, 2.0))) == Complex(13.0, 0.0)
{}
