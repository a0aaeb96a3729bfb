// domain: number theory
// The greatest common divisor of 84 and 120 is 12.
lemma greatest_common_divisor()
  ensures gcd(84, 120) == 12
{}
