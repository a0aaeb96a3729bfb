lemma logarithm_below_argument(x: real)
  requires x > 0.0
  ensures log(x * x) < 2.0 * x
{
  log_product(x, x);
  log_tangent(x);
}
