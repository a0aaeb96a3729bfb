// Factorials and binomial coefficients.

lemma factorial_successor(n: int)
  requires n >= 0
  ensures factorial(n + 1) == (n + 1) * factorial(n)
{
}

lemma factorial_small()
  ensures factorial(0) == 1 && factorial(1) == 1 && factorial(2) == 2 && factorial(3) == 6 && factorial(4) == 24
  ensures factorial(5) == 120
{
}

lemma {:induction false} factorial_monotone(m: int, n: int)
  requires m <= n
  ensures factorial(m) <= factorial(n)
  decreases n - m
{
  if m < n && n > 0 {
    factorial_monotone(m, n - 1);
    mul_monotone(1, n, factorial(n - 1));
  }
}

lemma {:induction false} factorial_divides(m: int, n: int)
  requires m <= n
  ensures divides(factorial(m), factorial(n))
  decreases n - m
{
  if m >= n || n <= 0 {
    divides_reflexive(factorial(m));
  } else {
    factorial_divides(m, n - 1);
    divides_multiple(factorial(m), factorial(n - 1), n);
  }
}

lemma divides_factorial(k: int, n: int)
  requires 1 <= k <= n
  ensures divides(k, factorial(n))
{
  divides_product(k, factorial(k - 1));
  factorial_divides(k, n);
  divides_transitive(k, factorial(k), factorial(n));
}

lemma factorial_at_least(n: int)
  ensures factorial(n) >= n
{
  if n > 0 {
    mul_monotone(1, factorial(n - 1), n);
  }
}

lemma {:induction false} factorial_exceeds_power(n: int)
  requires n >= 4
  ensures factorial(n) > ipow(2, n)
  decreases n
{
  if n == 4 {
    factorial_small();
    ipow_small(2);
  } else {
    factorial_exceeds_power(n - 1);
    mul_monotone(2, n, factorial(n - 1));
  }
}

lemma choose_ends(n: int)
  requires n >= 0
  ensures choose(n, 0) == 1 && choose(n, n) == 1
{
}

lemma pascal(n: int, k: int)
  requires n >= 0 && k >= 0
  ensures choose(n + 1, k + 1) == choose(n, k) + choose(n, k + 1)
{
  if k == n {
    choose_ends(n);
    choose_ends(n + 1);
  }
}

lemma {:induction false} choose_one(n: int)
  requires n >= 1
  ensures choose(n, 1) == n
  decreases n
{
  if n > 1 {
    choose_one(n - 1);
    choose_ends(n - 1);
    pascal(n - 1, 0);
  }
}

lemma {:induction false} choose_symmetric(n: int, k: int)
  ensures choose(n, k) == choose(n, n - k)
  decreases n
{
  if 0 < k < n {
    choose_symmetric(n - 1, k - 1);
    choose_symmetric(n - 1, k);
  }
}

lemma {:induction false} choose_positive(n: int, k: int)
  requires 0 <= k <= n
  ensures choose(n, k) > 0
  decreases n
{
  if 0 < k < n {
    choose_positive(n - 1, k - 1);
  }
}

// Absorption: k C(n, k) = n C(n - 1, k - 1).
lemma {:induction false} choose_absorption(n: int, k: int)
  requires n >= 1
  ensures k * choose(n, k) == n * choose(n - 1, k - 1)
  decreases n
{
  if 0 < k < n {
    choose_absorption(n - 1, k);
    choose_absorption(n - 1, k - 1);
    assert choose(n - 1, k - 1) == choose(n - 2, k - 1) + choose(n - 2, k - 2);
    absorption_step(n, k, choose(n - 1, k), choose(n - 1, k - 1), choose(n - 2, k - 1), choose(n - 2, k - 2));
  } else if k == n {
    choose_ends(n);
    choose_ends(n - 1);
  }
}

lemma absorption_step(n: int, k: int, a: int, b: int, c: int, d: int)
  requires k * a == (n - 1) * c && (k - 1) * b == (n - 1) * d && c + d == b
  ensures k * (a + b) == n * b
{
  calc {
    k * (a + b);
    { mul_distributes(k, a, b); }
    k * a + k * b;
    { mul_distributes(b, k - 1, 1); }
    (n - 1) * c + (n - 1) * d + b;
    { mul_distributes(n - 1, c, d); }
    (n - 1) * (c + d) + b;
    (n - 1) * b + b;
    { mul_distributes(b, n - 1, 1); }
    n * b;
  }
}

// C(n, k) k! (n - k)! = n!
lemma {:induction false} choose_factorial(n: int, k: int)
  requires 0 <= k <= n
  ensures choose(n, k) * (factorial(k) * factorial(n - k)) == factorial(n)
  decreases n
{
  if k == 0 {
    choose_ends(n);
  } else {
    choose_factorial(n - 1, k - 1);
    choose_absorption(n, k);
    var c, c' := choose(n, k), choose(n - 1, k - 1);
    var f, f', g := factorial(k), factorial(k - 1), factorial(n - k);
    choose_factorial_step(n, k, c, c', f, f', g, factorial(n), factorial(n - 1));
  }
}

lemma choose_factorial_step(n: int, k: int, c: int, c': int, f: int, f': int, g: int, h: int, h': int)
  requires k * c == n * c' && f == k * f' && h == n * h' && c' * (f' * g) == h'
  ensures c * (f * g) == h
{
  calc {
    c * (f * g);
    { mul_assoc(k, f', g); }
    c * (k * (f' * g));
    { mul_swap(c, k, f' * g); mul_assoc(k, c, f' * g); }
    (k * c) * (f' * g);
    (n * c') * (f' * g);
    { mul_assoc(n, c', f' * g); }
    n * (c' * (f' * g));
    n * h';
  }
}
