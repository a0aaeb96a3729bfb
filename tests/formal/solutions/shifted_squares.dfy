lemma shifted_squares(x: real, y: real)
  ensures x * x + 5.0 * y * y + 1.0 >= 4.0 * x * y + 2.0 * y
{
  square_nonnegative(x - 2.0 * y);
  square_nonnegative(y - 1.0);
  assert (x - 2.0 * y) * (x - 2.0 * y) + (y - 1.0) * (y - 1.0)
    == x * x + 5.0 * y * y + 1.0 - 4.0 * x * y - 2.0 * y;
}
