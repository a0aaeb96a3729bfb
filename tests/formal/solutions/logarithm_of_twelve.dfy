lemma logarithm_of_twelve()
  ensures log(12.0) == log(3.0) + 2.0 * log(2.0)
{
  log_product(3.0, 4.0);
  log_product(2.0, 2.0);
}
