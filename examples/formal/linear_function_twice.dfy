// domain: functional equations
// Applying f(x) = 2x - 1 twice takes 5 to 17.
lemma linear_function_twice(f: int -> int)
  requires forall x: int :: f(x) == 2 * x - 1
  ensures f(f(5)) == 17
{}
