// domain: algebra
// The product of four consecutive whole numbers is one less than a square.
lemma product_of_four_consecutive(n: int)
  ensures exists m: int :: n * (n + 1) * (n + 2) * (n + 3) + 1 == m * m
{}
