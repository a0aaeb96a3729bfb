lemma such_factor(n: int) returns (p: int)
  requires n > 0 && n % 4 == 3
  ensures prime(p) && p % 4 == 3 && divides(p, n)
  decreases n
{
  p := prime_divisor_exists(n);
  if p % 4 != 3 {
    var m := divides_quotient(p, n);
    cofactor(p, m);
    mul_positive_factor(p, m);
    var q := such_factor(m);
    divides_product(p, m);
    divides_product(m, p);
    divides_transitive(q, m, n);
    p := q;
  }
}

// An odd number that isn't 3 modulo 4 is 1 modulo 4.
lemma cofactor(p: int, m: int)
  requires (p * m) % 4 == 3 && p % 4 != 3
  ensures m % 4 == 3
{
  mod_mul(p, m, 4);
  var r, s := p % 4, m % 4;
  assert r == 0 || r == 1 || r == 2;
  assert s == 0 || s == 1 || s == 2 || s == 3;
}

lemma mul_positive_factor(p: int, m: int)
  requires p > 1 && p * m > 0
  ensures 0 < m < p * m
{
  if m <= 0 {
    mul_monotone(m, 0, p);
  }
  mul_strict(1, p, m);
}

lemma prime_factor_three_mod_four(n: nat)
  requires n % 4 == 3
  ensures exists p: int :: prime(p) && p % 4 == 3 && divides(p, n)
{
  var p := such_factor(n);
  assert prime(p) && p % 4 == 3 && divides(p, n);
}
