// domain: sequences
// Neighbouring Fibonacci numbers have no common factor.

function fibonacci(n: int): int
  decreases n
{
  if n <= 0 then 0 else if n == 1 then 1 else fibonacci(n - 1) + fibonacci(n - 2)
}

lemma neighbouring_fibonacci_numbers(n: nat)
  ensures coprime(fibonacci(n + 1), fibonacci(n))
{}
