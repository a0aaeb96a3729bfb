// domain: sets
// Of 30 people, if 18 speak French and 20 speak Greek, at least 8 speak both.
lemma inclusion_and_exclusion(people: set<int>, french: set<int>, greek: set<int>)
  requires |people| == 30 && french <= people && greek <= people
  requires |french| == 18 && |greek| == 20
  ensures |french * greek| >= 8
{}
