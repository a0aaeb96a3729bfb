lemma greatest_common_divisor()
  ensures gcd(84, 120) == 12
{
  assert gcd(84, 120) == gcd(120, 84);
  assert gcd(120, 84) == gcd(84, 36);
  assert gcd(84, 36) == gcd(36, 12);
  assert gcd(36, 12) == gcd(12, 0);
}
