// domain: inequalities
// Nesbitt's inequality: each of three positive numbers by the sum of the two others, in total at least 3/2.
lemma nesbitt(x: real, y: real, z: real)
  requires x > 0.0 && y > 0.0 && z > 0.0
  ensures x / (y + z) + y / (z + x) + z / (x + y) >= 3.0 / 2.0
{}
