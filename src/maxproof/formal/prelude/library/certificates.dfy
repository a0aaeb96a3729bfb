// Steps of algebraic certificates: what multiplication does to signs and zeros.

lemma int_mul_zero(a: int, b: int)
  requires b == 0
  ensures a * b == 0
{}

lemma real_mul_zero(a: real, b: real)
  requires b == 0.0
  ensures a * b == 0.0
{}

lemma int_mul_nonnegative(a: int, b: int)
  requires a >= 0
  requires b >= 0
  ensures a * b >= 0
{}

lemma real_mul_nonnegative(a: real, b: real)
  requires a >= 0.0
  requires b >= 0.0
  ensures a * b >= 0.0
{}

lemma int_mul_positive(a: int, b: int)
  requires a > 0
  requires b > 0
  ensures a * b > 0
{}

lemma real_mul_positive(a: real, b: real)
  requires a > 0.0
  requires b > 0.0
  ensures a * b > 0.0
{}

lemma int_square_nonnegative(a: int)
  ensures a * a >= 0
{
  if a < 0 { int_mul_nonnegative(-a, -a); }
}

lemma real_square_nonnegative(a: real)
  ensures a * a >= 0.0
{
  if a < 0.0 { real_mul_nonnegative(-a, -a); }
}

lemma int_mul_square_nonnegative(a: int, b: int)
  requires a >= 0
  ensures a * (b * b) >= 0
{
  int_square_nonnegative(b);
  int_mul_nonnegative(a, b * b);
}

lemma real_mul_square_nonnegative(a: real, b: real)
  requires a >= 0.0
  ensures a * (b * b) >= 0.0
{
  real_square_nonnegative(b);
  real_mul_nonnegative(a, b * b);
}

lemma int_zero_product(a: int, b: int)
  requires a * b == 0
  ensures a == 0 || b == 0
{}

lemma real_zero_product(a: real, b: real)
  requires a * b == 0.0
  ensures a == 0.0 || b == 0.0
{}
