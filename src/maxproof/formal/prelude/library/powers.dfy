// Powers of whole numbers.

lemma {:induction false} ipow_one(n: int)
  ensures ipow(1, n) == 1
  decreases n
{
  if n > 0 {
    ipow_one(n - 1);
  }
}

lemma {:induction false} ipow_zero(n: int)
  requires n > 0
  ensures ipow(0, n) == 0
{
}

lemma {:induction false} ipow_successor(b: int, n: int)
  requires n >= 0
  ensures ipow(b, n + 1) == b * ipow(b, n)
{
}

lemma {:induction false} ipow_small(b: int)
  ensures ipow(b, 1) == b && ipow(b, 2) == b * b && ipow(b, 3) == b * b * b
  ensures ipow(b, 4) == (b * b) * (b * b)
{
  ipow_successor(b, 0);
  ipow_successor(b, 1);
  ipow_successor(b, 2);
  ipow_successor(b, 3);
  mul_assoc(b, b, b);
  mul_assoc(b, b, b * b);
}

lemma {:induction false} ipow_add(b: int, m: int, n: int)
  requires m >= 0 && n >= 0
  ensures ipow(b, m + n) == ipow(b, m) * ipow(b, n)
  decreases m
{
  if m > 0 {
    ipow_add(b, m - 1, n);
    mul_assoc(b, ipow(b, m - 1), ipow(b, n));
  }
}

lemma {:induction false} ipow_of_product(a: int, b: int, n: int)
  ensures ipow(a * b, n) == ipow(a, n) * ipow(b, n)
  decreases n
{
  if n > 0 {
    ipow_of_product(a, b, n - 1);
    var p, q := ipow(a, n - 1), ipow(b, n - 1);
    calc {
      (a * b) * (p * q);
      { mul_assoc(a, b, p * q); mul_swap(b, p, q); }
      a * (p * (b * q));
      { mul_assoc(a, p, b * q); }
      (a * p) * (b * q);
    }
  }
}

lemma {:induction false} ipow_of_power(b: int, m: int, n: int)
  requires m >= 0 && n >= 0
  ensures m * n >= 0 && ipow(b, m * n) == ipow(ipow(b, m), n)
  decreases n
{
  if n > 0 {
    mul_distributes(m, n, 1);
    ipow_of_power(b, m, n - 1);
    ipow_successor(ipow(b, m), n - 1);
    ipow_of_sum(b, m, m * (n - 1), m * n);
  }
}

lemma {:induction false} ipow_of_sum(b: int, m: int, n: int, k: int)
  requires m >= 0 && n >= 0 && k == m + n
  ensures ipow(b, k) == ipow(b, m) * ipow(b, n)
{
  ipow_add(b, m, n);
}

lemma {:induction false} ipow_monotone(a: int, b: int, n: int)
  requires 0 <= a <= b
  ensures ipow(a, n) <= ipow(b, n)
  decreases n
{
  if n > 0 {
    ipow_monotone(a, b, n - 1);
    mul_monotone(ipow(a, n - 1), ipow(b, n - 1), a);
    mul_monotone(a, b, ipow(b, n - 1));
  }
}

lemma {:induction false} ipow_strictly_monotone(a: int, b: int, n: int)
  requires 0 <= a < b && n > 0
  ensures ipow(a, n) < ipow(b, n)
{
  ipow_monotone(a, b, n - 1);
  mul_monotone(ipow(a, n - 1), ipow(b, n - 1), a);
  mul_strict(a, b, ipow(b, n - 1));
}

lemma {:induction false} ipow_exponent_monotone(b: int, m: int, n: int)
  requires b >= 1 && m <= n
  ensures ipow(b, m) <= ipow(b, n)
  decreases n - m
{
  if m < n {
    ipow_exponent_monotone(b, m, n - 1);
    if n > 0 {
      mul_monotone(1, b, ipow(b, n - 1));
    }
  }
}

lemma {:induction false} ipow_exponent_strict(b: int, m: int, n: int)
  requires b >= 2 && 0 <= m < n
  ensures ipow(b, m) < ipow(b, n)
{
  ipow_exponent_monotone(b, m, n - 1);
  mul_strict(1, b, ipow(b, n - 1));
}

lemma {:induction false} ipow_exponent_injective(b: int, m: int, n: int)
  requires b >= 2 && m >= 0 && n >= 0 && ipow(b, m) == ipow(b, n)
  ensures m == n
{
  if m < n {
    ipow_exponent_strict(b, m, n);
  } else if n < m {
    ipow_exponent_strict(b, n, m);
  }
}

lemma {:induction false} ipow_injective(a: int, b: int, n: int)
  requires a >= 0 && b >= 0 && n > 0 && ipow(a, n) == ipow(b, n)
  ensures a == b
{
  if a < b {
    ipow_strictly_monotone(a, b, n);
  } else if b < a {
    ipow_strictly_monotone(b, a, n);
  }
}

lemma {:induction false} ipow_even_exponent(b: int, n: int)
  requires even(n)
  ensures ipow(b, n) >= 0
{
  if n > 0 {
    var h := n / 2;
    ipow_add(b, h, h);
    assert h + h == n;
  }
}

lemma {:induction false} ipow_negated(b: int, n: int)
  requires n >= 0
  ensures even(n) ==> ipow(-b, n) == ipow(b, n)
  ensures odd(n) ==> ipow(-b, n) == -ipow(b, n)
  decreases n
{
  if n > 0 {
    ipow_negated(b, n - 1);
  }
}

lemma {:induction false} ipow_minus_one(n: int)
  requires n >= 0
  ensures even(n) ==> ipow(-1, n) == 1
  ensures odd(n) ==> ipow(-1, n) == -1
{
  ipow_one(n);
  ipow_negated(1, n);
}

lemma {:induction false} ipow_exceeds_exponent(b: int, n: int)
  requires b >= 2
  ensures ipow(b, n) > n
  decreases n
{
  if n > 0 {
    ipow_exceeds_exponent(b, n - 1);
    mul_monotone(2, b, ipow(b, n - 1));
  }
}

lemma {:induction false} ipow_congruent(a: int, b: int, n: int, m: int)
  requires m > 0 && a % m == b % m
  ensures ipow(a, n) % m == ipow(b, n) % m
  decreases n
{
  if n > 0 {
    ipow_congruent(a, b, n - 1, m);
    congruent(a, b, ipow(a, n - 1), ipow(b, n - 1), m);
  }
}

lemma {:induction false} ipow_mod(a: int, n: int, m: int)
  requires m > 0
  ensures ipow(a, n) % m == ipow(a % m, n) % m
{
  mod_of_mod(a, m);
  ipow_congruent(a, a % m, n, m);
}

// Exponents may be reduced by a period of the powers.
lemma {:induction false} ipow_period(a: int, p: int, k: int, r: int, m: int)
  requires m > 0 && p >= 0 && k >= 0 && r >= 0 && ipow(a, p) % m == 1 % m
  ensures p * k >= 0 && ipow(a, p * k + r) % m == ipow(a, r) % m
{
  ipow_of_power(a, p, k);
  ipow_of_residue_one(ipow(a, p), k, m);
  ipow_after_period(a, p * k, r, m);
}

lemma {:induction false} ipow_after_period(a: int, e: int, r: int, m: int)
  requires m > 0 && e >= 0 && r >= 0 && ipow(a, e) % m == 1 % m
  ensures ipow(a, e + r) % m == ipow(a, r) % m
{
  ipow_add(a, e, r);
  unit_factor(ipow(a, e), ipow(a, r), ipow(a, e + r), m);
}

lemma {:induction false} ipow_of_residue_one(b: int, k: int, m: int)
  requires m > 0 && b % m == 1 % m
  ensures ipow(b, k) % m == 1 % m
{
  ipow_congruent(b, 1, k, m);
  ipow_one(k);
}

lemma unit_factor(u: int, v: int, t: int, m: int)
  requires m > 0 && u % m == 1 % m && t == u * v
  ensures t % m == v % m
{
  congruent(u, 1, v, v, m);
}

lemma {:induction false} ipow_divides(b: int, m: int, n: int)
  requires 0 <= m <= n
  ensures divides(ipow(b, m), ipow(b, n))
{
  ipow_add(b, m, n - m);
  divides_product(ipow(b, m), ipow(b, n - m));
}

lemma difference_divides_powers(a: int, b: int, n: int)
  ensures divides(a - b, ipow(a, n) - ipow(b, n))
  decreases n
{
  if n <= 0 {
    divides_product(a - b, 0);
  } else {
    difference_divides_powers(a, b, n - 1);
    var p, q := ipow(a, n - 1), ipow(b, n - 1);
    divides_product(a - b, p);
    divides_multiple(a - b, p - q, b);
    divides_sum(a - b, (a - b) * p, b * (p - q));
    mul_distributes(b, p, q);
    assert (a - b) * p == a * p - b * p;
  }
}
