lemma area_of_triangle()
  ensures area((0.0, 0.0), (6.0, 2.0), (1.0, 7.0)) == 20.0
{
}
