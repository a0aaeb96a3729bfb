// Sums and products of whole numbers over finite sets, in any order.

lemma product_swap(a: int, b: int, r: int, p: int, q: int, t: int)
  requires p == a * r && q == b * r && t == b * p
  ensures t == a * q
{
  mul_swap(a, b, r);
  assert b * p == b * (a * r);
  assert a * q == a * (b * r);
}

lemma int_product_step(x: int, p: int, q: int, r: int, s: int, t: int)
  requires r == p * q && s == x * p && t == x * r
  ensures t == s * q
{
  mul_assoc(x, p, q);
  assert x * r == x * (p * q);
}

// Any element may be taken first.
lemma {:induction false} set_isum_remove(s: set<int>, x: int, f: int -> int)
  requires x in s
  ensures set_isum(s, f) == f(x) + set_isum(s - {x}, f)
  decreases |s|
{
  var y: int :| y in s && set_isum(s, f) == f(y) + set_isum(s - {y}, f);
  if y != x {
    set_isum_remove(s - {y}, x, f);
    set_isum_remove(s - {x}, y, f);
    assert s - {y} - {x} == s - {x} - {y};
  }
}

lemma set_isum_insert(s: set<int>, x: int, f: int -> int)
  requires x !in s
  ensures set_isum(s + {x}, f) == f(x) + set_isum(s, f)
{
  set_isum_remove(s + {x}, x, f);
  assert s + {x} - {x} == s;
}

lemma set_isum_pair(x: int, y: int, f: int -> int)
  requires x != y
  ensures set_isum({x}, f) == f(x) && set_isum({x, y}, f) == f(x) + f(y)
{
  set_isum_remove({x}, x, f);
  assert {x} - {x} == {};
  set_isum_remove({x, y}, x, f);
  set_isum_remove({y}, y, f);
  assert {y} - {y} == {};
  assert {x, y} - {x} == {y};
}

lemma {:induction false} set_isum_equal(s: set<int>, f: int -> int, g: int -> int)
  requires forall x: int :: x in s ==> f(x) == g(x)
  ensures set_isum(s, f) == set_isum(s, g)
  decreases |s|
{
  if s != {} {
    var x: int :| x in s;
    set_isum_equal(s - {x}, f, g);
    set_isum_remove(s, x, f);
    set_isum_remove(s, x, g);
  }
}

lemma {:induction false} set_isum_union(s: set<int>, t: set<int>, f: int -> int)
  requires s !! t
  ensures set_isum(s + t, f) == set_isum(s, f) + set_isum(t, f)
  decreases |s|
{
  if s == {} {
    assert s + t == t;
  } else {
    var x: int :| x in s;
    set_isum_union(s - {x}, t, f);
    set_isum_remove(s, x, f);
    set_isum_remove(s + t, x, f);
    assert s + t - {x} == (s - {x}) + t;
  }
}

lemma {:induction false} set_isum_of_range(lo: int, hi: int, s: set<int>, f: int -> int)
  requires forall k: int :: k in s <==> lo <= k < hi
  ensures set_isum(s, f) == isum(lo, hi, f)
  decreases hi - lo
{
  if hi <= lo {
    assert s == {};
  } else {
    set_isum_of_range(lo, hi - 1, s - {hi - 1}, f);
    set_isum_remove(s, hi - 1, f);
  }
}

lemma {:induction false} set_isum_constant(s: set<int>, c: int, f: int -> int)
  requires forall x: int :: x in s ==> f(x) == c
  ensures set_isum(s, f) == |s| * c
  decreases |s|
{
  if s != {} {
    var x: int :| x in s;
    set_isum_constant(s - {x}, c, f);
    set_isum_remove(s, x, f);
    isum_constant_step(|s|, |s - {x}|, c);
  }
}

lemma {:induction false} set_isum_nonnegative(s: set<int>, f: int -> int)
  requires forall x: int :: x in s ==> f(x) >= 0
  ensures set_isum(s, f) >= 0
  decreases |s|
{
  if s != {} {
    var x: int :| x in s;
    set_isum_nonnegative(s - {x}, f);
    set_isum_remove(s, x, f);
  }
}

// Any element may be taken first.
lemma {:induction false} set_iprod_remove(s: set<int>, x: int, f: int -> int)
  requires x in s
  ensures set_iprod(s, f) == f(x) * set_iprod(s - {x}, f)
  decreases |s|
{
  var y: int :| y in s && set_iprod(s, f) == f(y) * set_iprod(s - {y}, f);
  if y == x {
    assert s - {y} == s - {x};
  } else {
    set_iprod_remove(s - {y}, x, f);
    set_iprod_remove(s - {x}, y, f);
    assert s - {y} - {x} == s - {x} - {y};
    var p, q, r := set_iprod(s - {y}, f), set_iprod(s - {x}, f), set_iprod(s - {x} - {y}, f);
    product_swap(f(x), f(y), r, p, q, set_iprod(s, f));
  }
}

lemma set_iprod_insert(s: set<int>, x: int, f: int -> int)
  requires x !in s
  ensures set_iprod(s + {x}, f) == f(x) * set_iprod(s, f)
{
  set_iprod_remove(s + {x}, x, f);
  assert s + {x} - {x} == s;
}

lemma set_iprod_pair(x: int, y: int, f: int -> int)
  requires x != y
  ensures set_iprod({x}, f) == f(x) && set_iprod({x, y}, f) == f(x) * f(y)
{
  set_iprod_remove({x}, x, f);
  assert {x} - {x} == {};
  set_iprod_remove({x, y}, x, f);
  set_iprod_remove({y}, y, f);
  assert {y} - {y} == {};
  assert {x, y} - {x} == {y};
}

lemma {:induction false} set_iprod_equal(s: set<int>, f: int -> int, g: int -> int)
  requires forall x: int :: x in s ==> f(x) == g(x)
  ensures set_iprod(s, f) == set_iprod(s, g)
  decreases |s|
{
  if s != {} {
    var x: int :| x in s;
    set_iprod_equal(s - {x}, f, g);
    set_iprod_remove(s, x, f);
    set_iprod_remove(s, x, g);
  }
}

lemma {:induction false} set_iprod_union(s: set<int>, t: set<int>, f: int -> int)
  requires s !! t
  ensures set_iprod(s + t, f) == set_iprod(s, f) * set_iprod(t, f)
  decreases |s|
{
  if s == {} {
    assert s + t == t;
    assert set_iprod(s, f) == 1;
  } else {
    var x: int :| x in s;
    var s' := s - {x};
    set_iprod_union(s', t, f);
    set_iprod_remove(s, x, f);
    set_iprod_remove(s + t, x, f);
    assert s + t - {x} == s' + t;
    var p, q, r := set_iprod(s', f), set_iprod(t, f), set_iprod(s' + t, f);
    int_product_step(f(x), p, q, r, set_iprod(s, f), set_iprod(s + t, f));
  }
}

lemma {:induction false} set_iprod_of_range(lo: int, hi: int, s: set<int>, f: int -> int)
  requires forall k: int :: k in s <==> lo <= k < hi
  ensures set_iprod(s, f) == iprod(lo, hi, f)
  decreases hi - lo
{
  if hi <= lo {
    assert s == {};
  } else {
    set_iprod_of_range(lo, hi - 1, s - {hi - 1}, f);
    set_iprod_remove(s, hi - 1, f);
  }
}
