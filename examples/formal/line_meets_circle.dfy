// domain: geometry by coordinates
// The line x + y = 7 meets the circle of radius 5 about the origin in (3, 4) and (4, 3).
lemma line_meets_circle(x: real, y: real)
  requires x * x + y * y == 25.0 && x + y == 7.0
  ensures (x == 3.0 && y == 4.0) || (x == 4.0 && y == 3.0)
{}
