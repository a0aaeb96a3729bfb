"""Submissions that must never be accepted: each claims to prove `Wrong`, which is false."""

WRONG = """
function twice(x: int): int { 2 * x }
datatype pair = Pair(left: int, right: int)
lemma Wrong(x: int, y: int)
  requires x > y
  ensures x * x > y * y
{
}
"""

HEAD = "lemma Wrong(x: int, y: int) requires x > y ensures x * x > y * y"


def whole(body: str, helpers: str = "") -> str:
    return f"{helpers}\n{HEAD}\n{{ {body} }}\n"


# Cheats of the published benchmark and of its validator.
PUBLISHED = {
    "assume": "assume x * x > y * y;",
    "axiom attribute on the lemma": f"lemma {{:axiom}} Wrong{HEAD[11:]} {{}}",
    "axiom without body": f"lemma {{:axiom}} Wrong{HEAD[11:]}",
    "precondition added": f"{HEAD} requires y >= 0 {{ assert (x - y) * x > 0; assert (x - y) * y >= 0; }}",
    "precondition false": f"{HEAD} requires false {{}}",
    "conclusion removed": "lemma Wrong(x: int, y: int) requires x > y {}",
    "conclusion weakened": "lemma Wrong(x: int, y: int) requires x > y ensures x * x > y * y || true {}",
    "conclusion replaced": "lemma Wrong(x: int, y: int) requires x > y ensures x > y {}",
    "parameters narrowed": (
        "lemma Wrong(x: nat, y: nat) requires x > y ensures x * x > y * y"
        " { assert (x - y) * x > 0; assert (x - y) * y >= 0; }"
    ),
    "clause continued behind a comment": (
        "lemma Wrong(x: int, y: int)\n requires x > y // note\n && y >= 0\n ensures x * x > y * y\n"
        "{ assert (x - y) * x > 0; assert (x - y) * y >= 0; }"
    ),
    "conclusion continued behind a comment": (
        "lemma Wrong(x: int, y: int)\n requires x > y\n ensures x * x > y * y // note\n || true\n{ }"
    ),
    "precondition on the heading's line": "lemma Wrong(x: int, y: int) requires y > 5 && x > y\n ensures x > y\n{ }",
    "unverified helper": whole("bad();", "lemma {:verify false} bad() ensures false {}"),
    "axiom attribute with a space": whole("bad();", "lemma {: axiom} bad() ensures false"),
    "helper without a body": whole("bad();", "lemma bad() ensures false"),
    "external helper": whole("bad();", "lemma {:extern} bad() ensures false"),
    "precondition behind a block comment": f"{HEAD} /* */ requires y >= 0 {{ assert (x - y) * x > 0; }}",
    "logarithm of a negative number": "var boom := log(-1.0);",
    "logarithm of zero": "var boom := log(0.0); assert boom > 0.0 || boom <= 0.0;",
    "logarithm to the base zero": "var boom := logb(2.0, 0.0);",
    "logarithm to a base below one": "var boom := logb(0.5, 2.0); assert boom <= 0.0;",
    "divisors of zero": "assert 1 in divisors(0);",
    "every number divides zero": "assert forall k: int :: k != 0 ==> k in divisors(0);",
    "inverse of zero": "assert rdiv(1.0, 0.0) * 0.0 == 1.0;",
    "root of a negative number": "assert sqrt(-1.0) * sqrt(-1.0) == -1.0;",
    "sum over a sequence with repetitions": "assert seq_isum([1, 1]) == set_isum({1}, k => k);",
}

# Ways around the proof itself.
BYPASSED = {
    "expect": "expect false;",
    "assumption in an expression": "var t := (assume false; 1);",
    "assumption in a hint": "calc { x; == { assume false; } y; }",
    "assumption behind a comment": "/* // */ assume false; /* */",
    "assumption behind a nested comment": "/* a /* b */ c */ assume false;",
    "assumption of a choice": "var z :| assume z * z < 0;",
    "assumption in a function": whole("assert f() == 1;", "function f(): int { assume false; 1 }"),
    "assumption in a proof": "assert false by { assume false; }",
    "at-axiom": whole("bad();", "@Axiom lemma bad() ensures false"),
    "at-verify": whole("bad();", "@Verify(false) lemma bad() ensures false {}"),
    "verify only another lemma": whole("", "lemma {:only} fine() {}"),
    "verify only, as a word": whole("", "@VerifyOnly lemma fine() {}"),
    "unverified lemma": f"lemma {{:verify false}} Wrong{HEAD[11:]} {{}}",
    "unverified lemma, spread": f"lemma {{ :verify false}} Wrong{HEAD[11:]} {{}}",
    "assertion that is only checked": "assert {:only} true;",
    "assumption as an attribute": "assert {:assume} false;",
    "selective checking": f"lemma {{:selective_checking}} Wrong{HEAD[11:]} {{ assert {{:start_checking_here}} true; }}",
    "external function": whole("assert f() == f() + 1;", "function {:extern} f(): int ensures false"),
    "function without a body": whole("assert f() == 1;", "function f(): int ensures false"),
    "compiled function without a body": whole("assert f() == 1;", "function method f(): int ensures false"),
    "predicate without a body": whole("assert p();", "predicate p() ensures false"),
    "ghost method without a body": whole("bad();", "ghost method bad() ensures false"),
    "forall statement without a body": "forall z: int ensures false; assert false;",
    "forall statement without a body before another": "forall z: int ensures false assert false;",
    "free postcondition": whole("bad();", "lemma bad() free ensures false {}"),
    "opaque function": whole("", "opaque function f(): int ensures false { 1 }"),
    "skeleton": "assert ...;",
    "endless by word": f"{HEAD} decreases * {{ Wrong(x, y); }}",
    "endless loop by word": "while true decreases * { } assert false;",
    "body that closes the lemma": "} lemma {:axiom} bad() ensures false lemma Other() { ",
    "body that closes the lemma and opens one": "{ bad(); } lemma bad() ensures false { bad(); }",
    "code in a string": f'lemma {{:trigger "}} assume false; {{"}} Wrong{HEAD[11:]} {{}}',
    "code in a verbatim string": f'lemma {{:error @"""", assume false"}} Wrong{HEAD[11:]} {{}}',
    "least predicate": whole("", "least predicate p() { p() }"),
    "two-state lemma": whole("", "twostate lemma bad() ensures false {}"),
}

# Ways out of the proof's world.
OUTSIDE = {
    "included file": f'include "/etc/passwd"\n{HEAD} {{}}',
    "included file with another lemma": f'include "evil.dfy"\n{HEAD} {{ evil(); }}',
    "imported module": f"import opened Evil\n{HEAD} {{}}",
    "own module": f"module M {{ {HEAD} {{}} }}",
    "class": f"class C {{ static lemma bad() ensures false }} {HEAD} {{}}",
    "compiled method": f'method Main() {{ print "hello"; }} {HEAD} {{}}',
    "print": 'print "hello";',
    "modified state": "modify this;",
    "external code": whole("", 'method {:extern "System", "Exit"} quit()'),
    "iterator": f"iterator It() {{}} {HEAD} {{}}",
    "allocation": "var a := new int[10];",
}

# Names and shapes that don't fit.
SHADOWED = {
    "library function again": whole("", "predicate even(x: int) { true }"),
    "library lemma again": whole("", "lemma mul_comm(a: int, b: int) ensures false {}"),
    "library constructor again": whole("", "datatype d = Complex(re: real)"),
    "library type again": whole("", "datatype complex = Other"),
    "problem's function again": whole("", "function twice(x: int): int { 1 }"),
    "problem's type again": whole("", "datatype pair = Pair(left: int, right: int)"),
    "problem's lemma twice": f"lemma Wrong() {{}} {HEAD} {{}}",
    "problem's lemma as a function": "function Wrong(x: int, y: int): bool { true }",
    "problem's lemma beside a body": "{ } lemma Wrong(x: int, y: int) ensures false { }",
    "problem's lemma as a constructor": whole("", "datatype d = Wrong"),
    "another lemma": "lemma Right(x: int, y: int) {}",
    "call of the copy's name": "{ submitted_Wrong(x, y); }",
    "call of the copy's name with a lemma": whole("submitted_Wrong(x, y);"),
    "one parameter less": "lemma Wrong(x: int) ensures x * x >= 0 {}",
    "one parameter more": "lemma Wrong(x: int, y: int, z: int) requires z > 0 {}",
    "parameters in another order": "lemma Wrong(y: int, x: int) requires x > y ensures y > x || x > y {}",
    "real parameters": "lemma Wrong(x: real, y: real) requires x > y ensures x > y {}",
    "a result": "lemma Wrong(x: int, y: int) returns (z: int) ensures z == z { z := 1; }",
    "conclusion about other variables": "lemma Wrong(x: int, y: int) ensures exists x: int, y: int :: x * x > y * y {}",
    "conclusion under a hypothesis": "lemma Wrong(x: int, y: int) requires x > y ensures x > 9 ==> true {}",
    "nothing": "",
    "a comment": "// trust me",
    "prose": "The lemma follows from monotonicity of the square.",
}

# Proofs that don't prove, which the checker itself must notice.
UNPROVED = {
    "empty body": "{}",
    "unproved assertion": "assert x * x > y * y;",
    "empty proof of an assertion": "assert false by { }",
    "endless recursion": "Wrong(x, y);",
    "endless recursion of the lemma": whole("Wrong(x, y);"),
    "recursion with a growing measure": f"{HEAD} decreases x {{ Wrong(x + 1, y); }}",
    "recursion with a negative measure": f"{HEAD} decreases y {{ Wrong(x, y - 1); }}",
    "recursion with a constant measure": f"{HEAD} decreases 0 {{ Wrong(x, y); }}",
    "mutual recursion": whole(
        "ping(x);", "lemma ping(n: int) ensures false { pong(n); } lemma pong(n: int) ensures false { ping(n); }"
    ),
    "mutual recursion through the lemma": whole(
        "ping(x, y);", "lemma ping(a: int, b: int) ensures false { Wrong(b, a); }"
    ),
    "body and helper in a circle": (
        "{ ping(x, y); } lemma ping(a: int, b: int) requires a > b ensures a * a > b * b { Wrong(a, b); }"
    ),
    "endless function": whole("assert f(0) == f(0) + 1;", "function f(n: int): int { f(n) + 1 }"),
    "endless function with a conclusion": whole("var z := f(0);", "function f(n: int): int ensures false { f(n) }"),
    "endless predicate": whole("assert p(0);", "predicate p(n: int) ensures p(n) { !p(n) }"),
    "endless mutual functions": whole(
        "assert f(0) == f(0) + 1;", "function f(n: int): int { g(n) + 1 } function g(n: int): int { f(n) }"
    ),
    "function through a lambda": whole(
        "assert f(0) == f(0) + 1;",
        "function app(h: int -> int, n: int): int { h(n) } function f(n: int): int { app(k => f(k) + 1, n) }",
    ),
    "function that calls its lemma": whole(
        "assert f(0) == 0;",
        "function f(n: int): int ensures false { bad(n); 0 } lemma bad(n: int) ensures false { var z := f(n); }",
    ),
    "false conclusion of a function": whole("var z := f();", "function f(): int ensures false { 1 }"),
    "false conclusion of a predicate": whole("assert p();", "predicate p() ensures !p() { true }"),
    "false helper": whole("bad();", "lemma bad() ensures false {}"),
    "false helper that nothing calls": whole("", "lemma bad() ensures false {}"),
    "helper with a false precondition": whole("bad();", "lemma bad() requires false ensures false {}"),
    "loop that may not end": "while true { } assert false;",
    "loop without an invariant": "var n := 0; while n < 5 { n := n + 1; } assert n == 7;",
    "loop that only says it ends": "var n := 0; while true decreases 5 { n := n + 1; } assert false;",
    "early return": "if x > y { return; }",
    "choice of nothing": "var z: int :| z != z; assert false;",
    "choice of nothing in a function": whole(
        "var z := f();", "function f(): int ensures false { var z: int :| z != z; z }"
    ),
    "guarded choice outside its guard": "if z: int :| z > x { assert false; }",
    "cases that miss some": "if { case x > 1000000 => assert false; }",
    "match that misses some": whole(
        "bad(B);", "datatype d = A | B lemma bad(v: d) ensures v == A { match v { case A => } }"
    ),
    "calculation with a gap": "calc { x; == y; }",
    "calculation with a false step": "calc ==> { true; false; } assert false;",
    "calculation in a circle": "calc { x * x; > x; > y * y; }",
    "calculation that mixes directions": "calc { x; < x + 1; > y; } assert x < y;",
    "hint after the last line": "calc { x; == { } x; { assert false; } }",
    "forall without proof": "forall z: int ensures z > 0 { }",
    "forall over nothing, used": "forall z: int | false ensures false { } assert false;",
    "forall over nothing, used at a value": "forall z: int | z != z ensures x * x > y * y { }",
    "forall with too narrow a range": "forall a: int, b: int | a > b >= 0 ensures a * a > b * b { }",
    "division by zero": "assert x / 0 == x / 0;",
    "remainder by zero": "var z := x % 0;",
    "real division by zero": "var z := 1.0 / 0.0;",
    "index out of range": "var s := [1, 2]; assert s[5] == 1;",
    "slice out of range": "var s := [1, 2]; assert |s[1..9]| == 8;",
    "field of another constructor": whole("assert B.v == B.v;", "datatype d = A(v: int) | B"),
    "natural number below zero": "var n: nat := -1; assert n >= 0;",
    "natural number below zero as an argument": whole("f(-1);", "lemma f(n: nat) ensures n >= 0 {}"),
    "natural number by quantifier": "assert forall n: int :: n >= 0;",
    "fraction as an integer": "var i := 1.5 as int; assert i as real == 1.5;",
    "natural number from a fraction": "var n: nat := (0.0 - 1.0).Floor;",
    "precondition of a lambda": "var g := (k: int) requires k > 0 => k; assert g(-1) == -1;",
    "precondition of a function": whole("assert f(-1) == 1;", "function f(n: int): int requires n > 0 { 1 }"),
    "unset variable": "var n: int; assert n == 0;",
    "induction without a base": f"lemma {{:induction x}} Wrong{HEAD[11:]} {{}}",
    "induction over both": f"lemma {{:induction x, y}} Wrong{HEAD[11:]} {{}}",
    "hypothesis turned round": "assert y > x;",
    "result of another call": whole("var z := get(); assert z == 7;", "lemma get() returns (z: int) { z := 3; }"),
    "shadowed variable": "var x := 5; var y := 3; assert x * x > y * y;",
    "library lemma out of its range": "mul_cancel(x, y, 0);",
    "library function for another": "assert ipow(x, 2) > ipow(y, 2);",
    "fuel": whole("assert f(3) == 1;", "function {:fuel f, 9, 10} f(n: nat): int { if n == 0 then 0 else f(n - 1) }"),
    "trigger": "assert forall k: int {:trigger twice(k)} :: twice(k) > k;",
    "label": "assert l: x * x > y * y; reveal l;",
    "expression that calls a false lemma": whole(
        "assert f();", "predicate f() ensures f() { bad(); true } lemma bad() ensures false {}"
    ),
}

# Datatypes that no model has.
PARADOXES = {
    "type without values": whole(
        "var v: void; bad(v);", "datatype void = V(v: void) lemma bad(v: void) ensures false { bad(v.v); }"
    ),
    "types without values": whole("var v: a; assert false;", "datatype a = A(b: b) datatype b = B(a: a)"),
    "type of its own predicates": whole("", "datatype d = D(p: d -> bool)"),
    "type of its own infinite sets": whole("", "datatype d = D(s: iset<d>)"),
    "type of its own functions, behind another": whole("", "datatype d = D(e: e) datatype e = E(p: d -> bool) | N"),
}

# Text that is no Dafny, or too much of it.
HOSTILE = {
    "look-alike letter": "аssert true;",
    "invisible character": "ass​ert false;",
    "right-to-left override": "assert ‮true;",
    "NUL": "assert true;\0",
    "byte order mark": "﻿assert true;",
    "open comment": "/* assume false;",
    "open string": 'assert {:error "} true;',
    "open brace": "{ assert true;",
    "deep parentheses": "assert " + "(" * 5000 + "x" + ")" * 5000 + " == x;",
    "deep negation": "assert " + "!" * 5000 + "true;",
    "deep blocks": "{" * 3000 + "}" * 3000,
    "deep else": "if x > 0 {} " + "else if x > 0 {} " * 3000,
    "deep sum": "assert " + "+".join(["x"] * 3000) + " == x;",
    "deep types": "var s: " + "seq<" * 3000 + "int" + ">" * 3000 + ";",
    "deep comments": "/*" * 5000,
    "deep let": "assert " + "var z := 1; " * 3000 + "true;",
    "deep implications": "assert " + "true ==> " * 3000 + "true;",
    "huge number": "assert " + "9" * 100_000 + " > 0;",
    "huge text": "assert true;" * 100_000,
}

# Text that would cost time or memory without end.
GREEDY = {
    "huge power": "assert ipow(2, 1000000000) == 0;",
    "huge factorial": "assert factorial(10000000) == 0;",
    "tower of powers": "assert ipow(9, ipow(9, ipow(9, 9))) == 1;",
    "huge range": "assert forall k: int | 0 <= k < 1000000000000 :: ipow(k, k) != 7;",
    "huge set": "assert |set k: int | 0 <= k < 100000000000| == 3;",
    "huge sum": "assert isum(0, 100000000000, k => ipow(k, 9)) == 3;",
    "huge digits": "assert |digits(2, ipow(7, 100000000))| == 3;",
    "doubling": "var v0 := x; "
    + "".join(f"var v{k + 1} := v{k} * v{k} + v{k}; " for k in range(60))
    + "assert v60 == 3;",
    "doubling in one expression": (
        "assert " + "".join(f"var v{k + 1} := v{k} + v{k}; " for k in range(60)).replace("v0", "x") + "v60 == 3;"
    ),
    "doubling lambdas": (
        "var f0 := (k: int) => k + 1; "
        + "".join(f"var f{n + 1} := (k: int) => f{n}(f{n}(k)); " for n in range(40))
        + "assert f40(0) == 3;"
    ),
    "doubling branches": "".join(f"if x > {k} {{ assert y < x; }} " for k in range(60)),
    "fast-growing function": whole(
        "assert f(4, 4) == 0;",
        "function f(m: nat, n: nat): nat decreases m, n { if m == 0 then n + 1 else if n == 0 then f(m - 1, 1)"
        " else f(m - 1, f(m, n - 1)) }",
    ),
    "nested quantifiers": "assert forall a: int, b: int, c: int, d: int, e: int :: a * b * c * d * e * x != 30031 * y;",
}

CHEATS = PUBLISHED | BYPASSED | OUTSIDE | SHADOWED | UNPROVED | PARADOXES | HOSTILE
