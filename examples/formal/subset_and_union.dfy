// domain: sets
// A set that lies in both of two sets lies in their intersection and doesn't enlarge their union.
lemma subset_and_union(r: set<int>, s: set<int>, t: set<int>)
  requires r <= s && r <= t
  ensures r <= s * t
  ensures r + s + t == s + t
{}
