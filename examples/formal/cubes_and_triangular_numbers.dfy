// domain: sums and induction
// The sum of the first cubes is the square of the sum of the first numbers.
lemma cubes_and_triangular_numbers(n: nat)
  ensures isum(0, n, (k: int) => k * k * k) == isum(0, n, (k: int) => k) * isum(0, n, (k: int) => k)
{}
