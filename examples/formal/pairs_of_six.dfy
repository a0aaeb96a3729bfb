// domain: combinatorics
// Six people can shake hands in 15 pairs.
lemma pairs_of_six()
  ensures choose(6, 2) == 15
{}
