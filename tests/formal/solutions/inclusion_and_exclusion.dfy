lemma inclusion_and_exclusion(people: set<int>, french: set<int>, greek: set<int>)
  requires |people| == 30 && french <= people && greek <= people
  requires |french| == 18 && |greek| == 20
  ensures |french * greek| >= 8
{
  size_of_subset(french + greek, people);
  size_of_difference(french + greek, french);
  size_of_difference(greek, french * greek);
  assert (french + greek) - french == greek - french * greek;
}
