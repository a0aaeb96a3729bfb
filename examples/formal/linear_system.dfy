// domain: algebra
// Two lines with equations 3x + 2y = 14 and 5x - y = 6 meet in (2, 4) only.
lemma linear_system(x: real, y: real)
  requires 3.0 * x + 2.0 * y == 14.0
  requires 5.0 * x - y == 6.0
  ensures x == 2.0 && y == 4.0
{}
