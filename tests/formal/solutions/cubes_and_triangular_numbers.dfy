lemma quarter_of_square(c: int, t: int, p: int)
  requires 4 * c == p * p && 2 * t == p
  ensures c == t * t
{
  assert p * p == (2 * t) * (2 * t);
}

lemma cubes_and_triangular_numbers(n: nat)
  ensures isum(0, n, (k: int) => k * k * k) == isum(0, n, (k: int) => k) * isum(0, n, (k: int) => k)
{
  var cubes, numbers := isum(0, n, (k: int) => k * k * k), isum(0, n, (k: int) => k);
  sum_of_cubes(n, (k: int) => k * k * k);
  sum_of_integers(n, (k: int) => k);
  quarter_of_square(cubes, numbers, n * (n - 1));
}
