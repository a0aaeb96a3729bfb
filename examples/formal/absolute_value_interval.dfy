// domain: algebra
// The numbers whose distance from 3 is at most 2 are those from 1 to 5.
lemma absolute_value_interval(x: real)
  ensures rabs(x - 3.0) <= 2.0 <==> 1.0 <= x <= 5.0
{}
