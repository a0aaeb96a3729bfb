// domain: geometry by coordinates
// No triangle with whole coordinates is equilateral.
lemma no_equilateral_lattice_triangle(a: int, b: int, c: int, d: int)
  requires a * a + b * b > 0
  requires a * a + b * b == c * c + d * d
  ensures (a - c) * (a - c) + (b - d) * (b - d) != a * a + b * b
{}
