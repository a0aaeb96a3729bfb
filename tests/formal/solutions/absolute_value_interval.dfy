lemma absolute_value_interval(x: real)
  ensures rabs(x - 3.0) <= 2.0 <==> 1.0 <= x <= 5.0
{
}
