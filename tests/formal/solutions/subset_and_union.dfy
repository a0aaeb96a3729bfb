lemma subset_and_union(r: set<int>, s: set<int>, t: set<int>)
  requires r <= s && r <= t
  ensures r <= s * t
  ensures r + s + t == s + t
{
}
