"""Submissions on the edges of Dafny's rules: natural numbers inside types, recursion through everything, junk values.

Each claims to prove `Wrong` of `formal_cheats`, which is false.
"""

from formal_cheats import whole

SUBTLE = {
    "param shadows fn": "lemma Wrong(twice: int, y: int) requires twice > y ensures twice*twice > y*y {}",
    "shadow helper fn": whole(
        "var even := (k: int) => true; assert even(3);",
    ),
    "lambda shadow lemma name": "{ var Wrong := (a: int, b: int) => true; assert Wrong(x,y); }",
    "nat param wraps": whole(
        "h(x);",
        "lemma h(n: nat) ensures n >= 0 {}",
    ),
    "seq of nat": "var s: seq<nat> := [-1]; assert s[0] >= 0;",
    "set of nat": "var s: set<nat> := {-1}; assert forall k :: k in s ==> k >= 0;",
    "fn result nat": whole(
        "assert f(-3) >= 0;",
        "function f(k: int): nat { k }",
    ),
    "fn value nat": "var g: int -> nat := (k: int) => k; assert g(-1) >= 0;",
    "fn value nat2": "var g: nat -> int := (k: nat) => k; assert g(-1) >= 0;",
    "iset all nat cast": "var s: iset<nat> := iset k: int | true; assert -1 in s;",
    "tuple nat": "var t: (nat, int) := (-1, 0); assert t.0 >= 0;",
    "datatype nat": whole(
        "var p := P(-1); assert p.v >= 0;",
        "datatype dd = P(v: nat)",
    ),
    "let nat": "assert (var n: nat := -1; n >= 0);",
    "forall nat instantiation": "assert forall n: nat :: n >= 0; assert forall f: nat -> nat :: f(-1) >= 0;",
    "choose nat": "var n: nat :| n < 0;",
    "exists empty fn": whole(
        "e();",
        "lemma e() ensures exists n: nat :: n < 0 {}",
    ),
    "old result lemma": whole(
        "var a, b := g(); assert a == b;",
        "lemma g() returns (a: int, b: int) { }",
    ),
    "uninit nat": "var n: nat; assert n < 0;",
    "result nat unset": whole(
        "var n := g(); assert n < 0;",
        "lemma g() returns (n: nat) { }",
    ),
    "result nat bad": whole(
        "var n := g(); assert n >= 0;",
        "lemma g() returns (n: nat) { n := -1; }",
    ),
    "fn ensures via self": whole(
        "assert f(0) > 0 && f(0) < 0; ",
        "function f(k: nat): int ensures f(k) > 0 ensures f(k) < 0 decreases k { if k == 0 then 1 else f(k-1) }",
    ),
    "quantified rec": whole(
        "assert p(0);",
        "predicate p(k: int) { forall j: int :: j > k ==> !p(j) }",
    ),
    "rec in quantifier bounded": whole(
        "var z := q(1);",
        "function q(k: int): int ensures false { if exists j: int :: q(j) == 0 then 1 else 0 }",
    ),
    "lemma in ensures": ("lemma Wrong(x: int, y: int) requires x > y ensures (Wrong(x, y); true) ensures x*x > y*y {}"),
    "lemma in requires": (
        "lemma Wrong(x: int, y: int) requires (h(); x > y) ensures x*x > y*y { h(); } lemma h() ensures false { h(); }"
    ),
    "recursion via decreases negative": whole(
        "h(-1);",
        "lemma h(k: int) ensures false decreases k { h(k-1); }",
    ),
    "recursion real": whole(
        "h(1.0);",
        "lemma h(k: real) ensures false decreases k { h(k / 2.0); }",
    ),
    "recursion real neg": whole(
        "h(1.0);",
        "lemma h(k: real) ensures false decreases k { h(k - 1.0); }",
    ),
    "recursion set inf": whole(
        "h(iset k: int | k > 0);",
        "lemma h(s: iset<int>) ensures false decreases s { h(s - iset{1}); }",
    ),
    "recursion seq": whole(
        "h([]);",
        "lemma h(s: seq<int>) ensures false decreases |s| { h(s + [1]); }",
    ),
    "recursion bool": whole(
        "h(true);",
        "lemma h(s: bool) ensures false decreases s { h(!s); }",
    ),
    "recursion tuple": whole(
        "h(1,1);",
        "lemma h(a: nat, b: nat) ensures false decreases a { if a > 0 { h(a-1, b); } else { h(a, b+1); } }",
    ),
    "mutual different decreases": whole(
        "h(3);",
        (
            "lemma h(a: nat) ensures false decreases a { g(a, 0); } lemma g(a: nat, b: nat) ensures false"
            " decreases a, b { h(a); }"
        ),
    ),
    "mutual shorter tuple": whole(
        "h(3);",
        "lemma h(a: nat) ensures false decreases a, 1 { g(a); } lemma g(a: nat) ensures false decreases a { h(a); }",
    ),
    "recursive lambda let": whole(
        "assert f(1) == 0;",
        "function f(n: int): int decreases n { var g := (k: int) => f(k) + 1; g(n) }",
    ),
    "recursive in forall stmt": "forall a: int, b: int | a > b ensures a*a > b*b { Wrong(a, b); }",
    "recursion in calc hint": "calc { x*x > y*y; == { Wrong(x,y); } true; }",
    "recursion in assert by": "assert x*x > y*y by { Wrong(x,y); }",
    "recursion in expr": "assert (Wrong(x,y); x*x > y*y);",
    "recursion in function ensures": whole(
        "var u := f(x,y);",
        "function f(a: int, b: int): int requires a > b ensures a*a > b*b { Wrong(a,b); 1 }",
    ),
    "div semantic": "assert -7 / 2 == -3; assert false;",
    "mod semantic": "assert -7 % 3 == -1;",
    "floor neg": "assert (-0.5).Floor == 0;",
    "int as real": "assert (1 as real) / 2.0 == 0.0;",
    "cardinality": "assert |{1,1}| == 2;",
    "seq eq": "assert [1,2] == [2,1];",
    "chain": "assert 1 < 2 == true;",
    "such that determinism": whole(
        "var a := f(1); var b := f(1);  assert f(1) != f(1);",
        "function f(k: int): int { var z: int :| z > k; z }",
    ),
    "such that two": "var a: int :| a > 0; var b: int :| b > 0; assert a == b;",
    "let such that two": "assert (var a: int :| a > 0; a) == 7;",
    "match wildcard": whole(
        "assert g(A) == 1;",
        "datatype dd = A | B function g(d: dd): int { match d case _ => 2 }",
    ),
    "constructor confusion": whole(
        "assert A == B;",
        "datatype dd = A | B",
    ),
    "case var named as ctor": whole(
        "h(B);",
        "datatype dd = A | B lemma h(d: dd) ensures d == A { match d { case A => case q => } }",
    ),
    "if case overlapping": "if { case x > y => case x <= y => assert false; }",
    "return skip": whole(
        "h();",
        "lemma h() ensures false { return; }",
    ),
    "return in branch": "if x > 0 { return; } assert x <= 0;",
    "var scope leak": "if x > 0 { var q := 1; } assert q == 1;",
    "reassign": "var q := 1; if x > 0 { q := 2; } assert q == 1;",
    "reassign loop": "var q := 1; q := q + 1; assert q == 1;",
    "assign param": "x := y + 5;",
    "assign result twice": whole(
        "var r := h(); assert r == 1;",
        "lemma h() returns (r: int) ensures r == 1 { r := 1; r := 2; }",
    ),
    "forall result": "forall k: int | k == x ensures k*k > y*y { }",
    "requires self": "lemma Wrong(x: int, y: int) requires x > y && x*x > y*y ensures x*x > y*y {}",
    "sqrt trick": "assert sqrt(4.0) == -2.0;",
    "rpow trick": "var a := rpow(-1.0, 0.5); assert a * a == -1.0;",
    "log": "assert exp(log(-1.0)) == -1.0;",
    "tan": "assert tan(pi() / 2.0) * cos(pi() / 2.0) == sin(pi() / 2.0);",
    "prelude digits base1": "assert |digits(1, 5)| == 7;",
    "digits0": "assert of_digits(0, digits(0, 5)) == 7;",
    "ipow neg": "assert ipow(2, -1) * 2 == 1;",
    "factorial neg": "assert factorial(-1) * 0 == factorial(0);",
    "choose neg": "assert choose(-1, 2) == 1;",
    "rat_den irr": "assert rat_num(sqrt(2.0)) as real / rat_den(sqrt(2.0)) as real == sqrt(2.0);",
    "lambda ext": "assert ((k: int) => k + 1) == ((k: int) => k + 2);",
    "csum": "assert cinv(Complex(0.0,0.0)) == Complex(1.0,0.0);",
    "has_limit trick": "assert tends_to(n => n as real, 0.0);",
}
