lemma neighbouring_fibonacci_numbers(n: nat)
  ensures coprime(fibonacci(n + 1), fibonacci(n))
{
  if n == 0 {
    assert gcd(1, 0) == 1;
  } else {
    neighbouring_fibonacci_numbers(n - 1);
    assert fibonacci(n + 1) == fibonacci(n - 1) + 1 * fibonacci(n);
    gcd_add_multiple(fibonacci(n - 1), fibonacci(n), 1);
    gcd_comm(fibonacci(n - 1), fibonacci(n));
  }
}
