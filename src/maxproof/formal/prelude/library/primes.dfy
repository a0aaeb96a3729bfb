// Primes and the divisors of a number.

lemma prime_divisor_is_one_or_self(p: int, d: int)
  requires prime(p) && divides(d, p) && d > 0
  ensures d == 1 || d == p
{
  divides_bound(d, p);
}

lemma prime_coprime(p: int, n: int)
  requires prime(p) && !divides(p, n)
  ensures coprime(p, n) && coprime(n, p)
{
  gcd_divides(p, n);
  prime_divisor_is_one_or_self(p, gcd(p, n));
  gcd_comm(p, n);
}

lemma prime_divides_product(p: int, a: int, b: int)
  requires prime(p) && divides(p, a * b)
  ensures divides(p, a) || divides(p, b)
{
  if !divides(p, a) {
    prime_coprime(p, a);
    coprime_divides_product(p, a, b);
  }
}

lemma prime_divides_power(p: int, a: int, n: int)
  requires prime(p) && divides(p, ipow(a, n))
  ensures divides(p, a)
  decreases n
{
  if n <= 0 {
    divides_bound(p, 1);
  } else {
    prime_divides_product(p, a, ipow(a, n - 1));
    if !divides(p, a) {
      prime_divides_power(p, a, n - 1);
    }
  }
}

lemma prime_divisor_exists(n: int) returns (p: int)
  requires n > 1
  ensures prime(p) && divides(p, n)
  decreases n
{
  if prime(n) {
    divides_reflexive(n);
    p := n;
  } else {
    var d: int :| 1 < d < n && divides(d, n);
    p := prime_divisor_exists(d);
    divides_transitive(p, d, n);
  }
}

lemma odd_prime(p: int)
  requires prime(p) && p != 2
  ensures odd(p)
{
  if !odd(p) {
    assert divides(2, p);
  }
}

// Primality by trial division up to the square root.
lemma prime_by_trial(n: int)
  requires n > 1
  requires forall d: int :: 1 < d && d * d <= n ==> !divides(d, n)
  ensures prime(n)
{
  if !prime(n) {
    var d: int :| 1 < d < n && divides(d, n);
    var k := divides_quotient(d, n);
    assert k > 1 by {
      if k <= 1 {
        mul_monotone(k, 1, d);
      }
    }
    divides_product(k, d);
    if d <= k {
      mul_monotone(d, k, d);
      assert d * d <= n;
    } else {
      mul_monotone(k, d, k);
      assert k * k <= n;
      assert divides(k, n);
    }
  }
}

lemma divisors_member(n: int, d: int)
  requires n > 0
  ensures d in divisors(n) <==> d > 0 && divides(d, n)
{
  if d > 0 && divides(d, n) {
    divides_bound(d, n);
  }
}

lemma divisors_of_prime(p: int)
  requires prime(p)
  ensures divisors(p) == {1, p}
{
  divides_reflexive(p);
  forall d: int | d in divisors(p)
    ensures d == 1 || d == p
  {
    prime_divisor_is_one_or_self(p, d);
  }
}
