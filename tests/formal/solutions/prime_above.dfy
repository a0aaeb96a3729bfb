lemma prime_above(n: nat)
  ensures exists p: int :: prime(p) && n < p <= factorial(n) + 1
{
  var m := factorial(n) + 1;
  var p := prime_divisor_exists(m);
  divides_bound(p, m);
  if p <= n {
    divides_factorial(p, n);
    divides_sum(p, m, factorial(n));
    divides_bound(p, 1);
  }
  assert prime(p) && n < p <= factorial(n) + 1;
}
