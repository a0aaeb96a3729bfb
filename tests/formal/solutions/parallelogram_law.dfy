lemma squares(x: real, y: real)
  ensures (x + y) * (x + y) + (x - y) * (x - y) == 2.0 * (x * x) + 2.0 * (y * y)
{
}

lemma parallelogram_law(z: complex, w: complex)
  ensures cnormsq(cadd(z, w)) + cnormsq(csub(z, w)) == 2.0 * cnormsq(z) + 2.0 * cnormsq(w)
{
  squares(z.re, w.re);
  squares(z.im, w.im);
}
