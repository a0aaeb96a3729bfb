// Numbers of elements of finite sets.

lemma {:induction false} size_of_range(lo: int, hi: int, s: set<int>)
  requires lo <= hi
  requires forall k: int :: k in s <==> lo <= k < hi
  ensures |s| == hi - lo
  decreases hi - lo
{
  if hi == lo {
    assert s == {};
  } else {
    size_of_range(lo, hi - 1, s - {hi - 1});
  }
}

lemma {:induction false} size_of_subset(s: set<int>, t: set<int>)
  requires s <= t
  ensures |s| <= |t|
  ensures |s| == |t| ==> s == t
  decreases |s|
{
  if s == {} {
  } else {
    var x: int :| x in s;
    size_of_subset(s - {x}, t - {x});
    if |s| == |t| {
      assert s == (s - {x}) + {x};
      assert t == (t - {x}) + {x};
    }
  }
}

lemma size_of_difference(s: set<int>, t: set<int>)
  requires t <= s
  ensures |s - t| == |s| - |t|
{
  assert s == (s - t) + t;
}

// Images under a function have at most as many elements, under an injective one as many.
lemma {:induction false} size_of_image(s: set<int>, t: set<int>, f: int -> int)
  requires forall x: int :: x in s ==> f(x) in t
  requires forall y: int :: y in t ==> exists x: int :: x in s && y == f(x)
  ensures |t| <= |s|
  ensures (forall x: int, y: int :: x in s && y in s && f(x) == f(y) ==> x == y) ==> |t| == |s|
  decreases |s|
{
  if s == {} {
    assert t == {};
  } else {
    var x: int :| x in s;
    var s' := s - {x};
    if exists y: int :: y in s' && f(y) == f(x) {
      size_of_image(s', t, f);
    } else {
      var t' := t - {f(x)};
      size_of_image(s', t', f);
    }
  }
}

// Pigeonholes: a function to a smaller set takes some value twice.
lemma pigeonhole(s: set<int>, t: set<int>, f: int -> int) returns (x: int, y: int)
  requires |t| < |s|
  requires forall k: int :: k in s ==> f(k) in t
  ensures x in s && y in s && x != y && f(x) == f(y)
{
  if forall a: int, b: int :: a in s && b in s && f(a) == f(b) ==> a == b {
    var image := set k: int | k in s :: f(k);
    size_of_image(s, image, f);
    size_of_subset(image, t);
    assert false;
  }
  x, y :| x in s && y in s && x != y && f(x) == f(y);
}
