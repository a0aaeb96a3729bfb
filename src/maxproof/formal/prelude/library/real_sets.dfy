// Sums and products of reals over finite sets, in any order.

lemma real_product_swap(a: real, b: real, r: real, p: real, q: real, t: real)
  requires p == a * r && q == b * r && t == b * p
  ensures t == a * q
{
  equal_products(b, p, b, a * r);
  equal_products(a, q, a, b * r);
  rmul_assoc(a, b, r);
  rmul_assoc(b, a, r);
}

// Any element may be taken first.
lemma {:induction false} set_rsum_remove(s: set<int>, x: int, f: int -> real)
  requires x in s
  ensures set_rsum(s, f) == f(x) + set_rsum(s - {x}, f)
  decreases |s|
{
  var y: int :| y in s && set_rsum(s, f) == f(y) + set_rsum(s - {y}, f);
  if y != x {
    set_rsum_remove(s - {y}, x, f);
    set_rsum_remove(s - {x}, y, f);
    assert s - {y} - {x} == s - {x} - {y};
  }
}

lemma set_rsum_insert(s: set<int>, x: int, f: int -> real)
  requires x !in s
  ensures set_rsum(s + {x}, f) == f(x) + set_rsum(s, f)
{
  set_rsum_remove(s + {x}, x, f);
  assert s + {x} - {x} == s;
}

lemma set_rsum_pair(x: int, y: int, f: int -> real)
  requires x != y
  ensures set_rsum({x}, f) == f(x) && set_rsum({x, y}, f) == f(x) + f(y)
{
  set_rsum_remove({x}, x, f);
  assert {x} - {x} == {};
  set_rsum_remove({x, y}, x, f);
  set_rsum_remove({y}, y, f);
  assert {y} - {y} == {};
  assert {x, y} - {x} == {y};
}

lemma {:induction false} set_rsum_equal(s: set<int>, f: int -> real, g: int -> real)
  requires forall x: int :: x in s ==> f(x) == g(x)
  ensures set_rsum(s, f) == set_rsum(s, g)
  decreases |s|
{
  if s != {} {
    var x: int :| x in s;
    set_rsum_equal(s - {x}, f, g);
    set_rsum_remove(s, x, f);
    set_rsum_remove(s, x, g);
  }
}

lemma {:induction false} set_rsum_union(s: set<int>, t: set<int>, f: int -> real)
  requires s !! t
  ensures set_rsum(s + t, f) == set_rsum(s, f) + set_rsum(t, f)
  decreases |s|
{
  if s == {} {
    assert s + t == t;
  } else {
    var x: int :| x in s;
    set_rsum_union(s - {x}, t, f);
    set_rsum_remove(s, x, f);
    set_rsum_remove(s + t, x, f);
    assert s + t - {x} == (s - {x}) + t;
  }
}

lemma {:induction false} set_rsum_of_range(lo: int, hi: int, s: set<int>, f: int -> real)
  requires forall k: int :: k in s <==> lo <= k < hi
  ensures set_rsum(s, f) == rsum(lo, hi, f)
  decreases hi - lo
{
  if hi <= lo {
    assert s == {};
  } else {
    set_rsum_of_range(lo, hi - 1, s - {hi - 1}, f);
    set_rsum_remove(s, hi - 1, f);
  }
}

lemma {:induction false} set_rsum_constant(s: set<int>, c: real, f: int -> real)
  requires forall x: int :: x in s ==> f(x) == c
  ensures set_rsum(s, f) == |s| as real * c
  decreases |s|
{
  if s != {} {
    var x: int :| x in s;
    set_rsum_constant(s - {x}, c, f);
    set_rsum_remove(s, x, f);
    rsum_constant_step(|s| as real, |s - {x}| as real, c);
  }
}

lemma {:induction false} set_rsum_nonnegative(s: set<int>, f: int -> real)
  requires forall x: int :: x in s ==> f(x) >= 0.0
  ensures set_rsum(s, f) >= 0.0
  decreases |s|
{
  if s != {} {
    var x: int :| x in s;
    set_rsum_nonnegative(s - {x}, f);
    set_rsum_remove(s, x, f);
  }
}

lemma set_rprod_pick(s: set<int>, f: int -> real) returns (y: int, v: real, p: real)
  requires s != {}
  ensures y in s && v == f(y) && p == set_rprod(s - {y}, f) && set_rprod(s, f) == v * p
{
  y :| y in s && set_rprod(s, f) == f(y) * set_rprod(s - {y}, f);
  v := f(y);
  p := set_rprod(s - {y}, f);
}

// Any element may be taken first.
lemma {:induction false} {:fuel set_rprod, 0, 0} set_rprod_remove(s: set<int>, x: int, f: int -> real)
  requires x in s
  ensures set_rprod(s, f) == f(x) * set_rprod(s - {x}, f)
  decreases |s|
{
  var y, v, p := set_rprod_pick(s, f);
  if y != x {
    set_rprod_remove(s - {y}, x, f);
    set_rprod_remove(s - {x}, y, f);
    assert s - {y} - {x} == s - {x} - {y};
    var q, r := set_rprod(s - {x}, f), set_rprod(s - {x} - {y}, f);
    real_product_swap(f(x), v, r, p, q, set_rprod(s, f));
  }
}

lemma set_rprod_insert(s: set<int>, x: int, f: int -> real)
  requires x !in s
  ensures set_rprod(s + {x}, f) == f(x) * set_rprod(s, f)
{
  set_rprod_remove(s + {x}, x, f);
  assert s + {x} - {x} == s;
}

lemma set_rprod_pair(x: int, y: int, f: int -> real)
  requires x != y
  ensures set_rprod({x}, f) == f(x) && set_rprod({x, y}, f) == f(x) * f(y)
{
  set_rprod_remove({x}, x, f);
  assert {x} - {x} == {};
  set_rprod_remove({x, y}, x, f);
  set_rprod_remove({y}, y, f);
  assert {y} - {y} == {};
  assert {x, y} - {x} == {y};
}

lemma {:induction false} set_rprod_equal(s: set<int>, f: int -> real, g: int -> real)
  requires forall x: int :: x in s ==> f(x) == g(x)
  ensures set_rprod(s, f) == set_rprod(s, g)
  decreases |s|
{
  if s != {} {
    var x: int :| x in s;
    set_rprod_equal(s - {x}, f, g);
    set_rprod_remove(s, x, f);
    set_rprod_remove(s, x, g);
  }
}

lemma {:induction false} set_rprod_of_range(lo: int, hi: int, s: set<int>, f: int -> real)
  requires forall k: int :: k in s <==> lo <= k < hi
  ensures set_rprod(s, f) == rprod(lo, hi, f)
  decreases hi - lo
{
  if hi <= lo {
    assert s == {};
  } else {
    set_rprod_of_range(lo, hi - 1, s - {hi - 1}, f);
    set_rprod_remove(s, hi - 1, f);
  }
}

// Any element may be taken first.
lemma {:induction false} rset_rsum_remove(s: set<real>, x: real, f: real -> real)
  requires x in s
  ensures rset_rsum(s, f) == f(x) + rset_rsum(s - {x}, f)
  decreases |s|
{
  var y: real :| y in s && rset_rsum(s, f) == f(y) + rset_rsum(s - {y}, f);
  if y != x {
    rset_rsum_remove(s - {y}, x, f);
    rset_rsum_remove(s - {x}, y, f);
    assert s - {y} - {x} == s - {x} - {y};
  }
}

lemma rset_rsum_insert(s: set<real>, x: real, f: real -> real)
  requires x !in s
  ensures rset_rsum(s + {x}, f) == f(x) + rset_rsum(s, f)
{
  rset_rsum_remove(s + {x}, x, f);
  assert s + {x} - {x} == s;
}

lemma rset_rsum_pair(x: real, y: real, f: real -> real)
  requires x != y
  ensures rset_rsum({x}, f) == f(x) && rset_rsum({x, y}, f) == f(x) + f(y)
{
  rset_rsum_remove({x}, x, f);
  assert {x} - {x} == {};
  rset_rsum_remove({x, y}, x, f);
  rset_rsum_remove({y}, y, f);
  assert {y} - {y} == {};
  assert {x, y} - {x} == {y};
}

lemma {:induction false} rset_rsum_equal(s: set<real>, f: real -> real, g: real -> real)
  requires forall x: real :: x in s ==> f(x) == g(x)
  ensures rset_rsum(s, f) == rset_rsum(s, g)
  decreases |s|
{
  if s != {} {
    var x: real :| x in s;
    rset_rsum_equal(s - {x}, f, g);
    rset_rsum_remove(s, x, f);
    rset_rsum_remove(s, x, g);
  }
}

lemma {:induction false} rset_rsum_union(s: set<real>, t: set<real>, f: real -> real)
  requires s !! t
  ensures rset_rsum(s + t, f) == rset_rsum(s, f) + rset_rsum(t, f)
  decreases |s|
{
  if s == {} {
    assert s + t == t;
  } else {
    var x: real :| x in s;
    rset_rsum_union(s - {x}, t, f);
    rset_rsum_remove(s, x, f);
    rset_rsum_remove(s + t, x, f);
    assert s + t - {x} == (s - {x}) + t;
  }
}

lemma {:induction false} rset_rsum_constant(s: set<real>, c: real, f: real -> real)
  requires forall x: real :: x in s ==> f(x) == c
  ensures rset_rsum(s, f) == |s| as real * c
  decreases |s|
{
  if s != {} {
    var x: real :| x in s;
    rset_rsum_constant(s - {x}, c, f);
    rset_rsum_remove(s, x, f);
    rsum_constant_step(|s| as real, |s - {x}| as real, c);
  }
}

lemma {:induction false} rset_rsum_nonnegative(s: set<real>, f: real -> real)
  requires forall x: real :: x in s ==> f(x) >= 0.0
  ensures rset_rsum(s, f) >= 0.0
  decreases |s|
{
  if s != {} {
    var x: real :| x in s;
    rset_rsum_nonnegative(s - {x}, f);
    rset_rsum_remove(s, x, f);
  }
}

lemma rset_rprod_pick(s: set<real>, f: real -> real) returns (y: real, v: real, p: real)
  requires s != {}
  ensures y in s && v == f(y) && p == rset_rprod(s - {y}, f) && rset_rprod(s, f) == v * p
{
  y :| y in s && rset_rprod(s, f) == f(y) * rset_rprod(s - {y}, f);
  v := f(y);
  p := rset_rprod(s - {y}, f);
}

// Any element may be taken first.
lemma {:induction false} {:fuel rset_rprod, 0, 0} rset_rprod_remove(s: set<real>, x: real, f: real -> real)
  requires x in s
  ensures rset_rprod(s, f) == f(x) * rset_rprod(s - {x}, f)
  decreases |s|
{
  var y, v, p := rset_rprod_pick(s, f);
  if y != x {
    rset_rprod_remove(s - {y}, x, f);
    rset_rprod_remove(s - {x}, y, f);
    assert s - {y} - {x} == s - {x} - {y};
    var q, r := rset_rprod(s - {x}, f), rset_rprod(s - {x} - {y}, f);
    real_product_swap(f(x), v, r, p, q, rset_rprod(s, f));
  }
}

lemma rset_rprod_insert(s: set<real>, x: real, f: real -> real)
  requires x !in s
  ensures rset_rprod(s + {x}, f) == f(x) * rset_rprod(s, f)
{
  rset_rprod_remove(s + {x}, x, f);
  assert s + {x} - {x} == s;
}

lemma rset_rprod_pair(x: real, y: real, f: real -> real)
  requires x != y
  ensures rset_rprod({x}, f) == f(x) && rset_rprod({x, y}, f) == f(x) * f(y)
{
  rset_rprod_remove({x}, x, f);
  assert {x} - {x} == {};
  rset_rprod_remove({x, y}, x, f);
  rset_rprod_remove({y}, y, f);
  assert {y} - {y} == {};
  assert {x, y} - {x} == {y};
}

lemma {:induction false} rset_rprod_equal(s: set<real>, f: real -> real, g: real -> real)
  requires forall x: real :: x in s ==> f(x) == g(x)
  ensures rset_rprod(s, f) == rset_rprod(s, g)
  decreases |s|
{
  if s != {} {
    var x: real :| x in s;
    rset_rprod_equal(s - {x}, f, g);
    rset_rprod_remove(s, x, f);
    rset_rprod_remove(s, x, g);
  }
}
