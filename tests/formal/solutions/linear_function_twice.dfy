lemma linear_function_twice(f: int -> int)
  requires forall x: int :: f(x) == 2 * x - 1
  ensures f(f(5)) == 17
{
}
