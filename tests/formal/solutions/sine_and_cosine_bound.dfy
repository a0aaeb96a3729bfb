lemma sine_and_cosine_bound(x: real, y: real)
  ensures -5.0 <= 3.0 * sin(x) - 2.0 * cos(y) <= 5.0
{
}
