// domain: geometry by coordinates
// The triangle with corners (0, 0), (6, 2) and (1, 7) has the area 20.

function area(p: (real, real), q: (real, real), r: (real, real)): real
{
  rabs((q.0 - p.0) * (r.1 - p.1) - (r.0 - p.0) * (q.1 - p.1)) / 2.0
}

lemma area_of_triangle()
  ensures area((0.0, 0.0), (6.0, 2.0), (1.0, 7.0)) == 20.0
{}
