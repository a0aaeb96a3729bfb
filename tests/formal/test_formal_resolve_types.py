"""Types: what is accepted and what is refused, recorded and compared with the real Dafny 2.3."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from maxproof.formal.embedded.core import INT, NAT, ForallStep, Quant, SetComp
from maxproof.formal.embedded.core.walk import subnodes
from maxproof.formal.embedded.errors import ResolutionError, Unsupported
from maxproof.formal.embedded.resolve.program import resolve
from maxproof.formal.syntax.parse import parse_program

DAFNY = shutil.which("dafny")
needs_dafny = pytest.mark.skipif(DAFNY is None, reason="no dafny on the path")

CONTEXT = """datatype List = Nil | Cons(head: int, tail: List)
datatype Two = Same(x: int) | Other(y: int)
datatype Dup = Same2(x: int) | Other2(x: int)
function f(n: nat): int
function g(x: int): nat
function part(x: int): int requires x > 0
predicate p(x: int)
function H(h: int -> int): int
function HN(h: nat -> int): int
function HP(h: int --> int): int
function two(x: int, y: real): bool
lemma fact(x: int)
lemma root(x: int) returns (r: nat)
lemma pair2(x: int) returns (r: nat, q: real)
"""
PARAMS = (
    "x: int, y: int, n: nat, a: real, b: bool, s: set<int>, sn: set<nat>, t: set<real>, u: iset<int>, w: seq<int>, "
    "wn: seq<nat>, h: int -> int, hn: nat -> int, l: List, pr: (int, real)"
)

ACCEPTED = [
    "assert x == n;",
    "assert s == sn;",
    "assert x in s && n in s && x in sn;",
    "assert w == wn && w + wn == w;",
    "assert w < wn;",
    "assert s > sn;",
    "assert h == h;",
    "assert h == hn;",
    "assert H(h) == H(f);",
    "assert H(g) == H(part);",
    "assert HP(part) == HP(h);",
    "assert H(hn) == 1;",
    "assert HN(h) == 1;",
    "assert H((k: nat) => k) == 1;",
    "assert x / 2 == 1 && a / 2.0 == 1.0 && x % 2 == 1;",
    "assert x as real == a && a as int == x && n as real == a && x as nat == n;",
    "assert a.Floor == x;",
    "assert l.head == 1 && l.Cons?;",
    "assert pr.0 == x && pr.1 == a;",
    "assert |s| == 1 && |w| == 1;",
    "assert {} == s;",
    "assert {x, n} == s;",
    "assert w[x] == 1 && w[n..] == w && w[..x] == w && w[x := 3] == w;",
    "assert forall k :: k > 0;",
    "assert forall k :: k in s ==> k > 0;",
    "assert exists k :: k in t && k > 0.0;",
    "assert forall k :: k == pr ==> k.0 == 1;",
    "assert (var k := x; k) == x;",
    "assert (var k, j := x, a; j) == a;",
    "assert (var k :| k in s; k) == x;",
    "assert -a == a;",
    "assert s + {x} == s;",
    "assert b <== b <== b;",
    "assert b <==> b == b;",
    "assert two(x, a);",
    "assert h == f;",
    "assert Cons(x, Nil) == l && List.Cons(x, Nil) == l && Nil == l && Nil() == l;",
    "assert Same(1) == Other(2);",
    "assert (match l case Nil => 1 case Cons(k, r) => k) == 1;",
    "assert (set k | k in s :: k as real) == t;",
    "assert (iset k | k in s) == u;",
    "assert (iset k: int | k > 0) == u;",
    "assert ((k: int) => k)(1) == 1;",
    "assert (k => k)(1) == 1;",
    "var k := root(x); assert k == x;",
    "var k, j := pair2(x); assert k == x && j == a;",
    "var k: nat := x;",
    "var k := {}; k := s;",
    "var k := []; assert k == w;",
    "var k; k := 1; assert k == x;",
    "var k := x; { var k := true; assert k; } assert k == x;",
    "var x := true; assert x;",
    "var k: set<nat> := s;",
    "var k :| k in s; assert k == x;",
    "var k: int :| b;",
    "if x > 0 { } else if b { }",
    "if k :| k in s { assert k in s; }",
    "if { case b => case !b => }",
    "match l { case Nil => case Cons(k, r) => assert k == x; }",
    "match l { case Nil => case Cons(_, _) => }",
    "calc { x; == y; == n; }",
    "calc { b; ==> b; <==> b; }",
    "calc < { x; y; n; }",
    "calc <= { s; sn; s; }",
    "calc { s; <= sn; < s; }",
    "calc { b; == b; ==> b; }",
    "calc { b; ==> b; == b; <==> b; }",
    "calc { x; >= y; > x; }",
    "forall k | k in s ensures p(k) { fact(k); }",
    "forall k ensures p(k) { fact(k); }",
    "forall k: int { fact(k); }",
    "forall k, j: int | k < j ensures p(k) { }",
    "fact(x); fact(n);",
    "return;",
    "assert x == y == n;",
    "assert x == y != n;",
    "assert x < y == n <= x;",
    "assert 0 <= x < n <= y;",
    "assert (x, a) == pr && (x, a).0 == 1;",
    "assert x !in s && x !in w && x in u;",
    "assert s !! s;",
    "assert s !! sn && u !! u;",
    "assert s * sn == s - sn;",
    "assert u - u == u * u;",
    "assert s < s && u <= u;",
    "assert forall k: int {:trigger p(k)} :: p(k);",
]

REFUSED = [
    ("assert x == a;", "wrong type of the right side of ==: expected int, found real"),
    ("assert s == t;", "wrong type of the right side of ==: expected set<int>, found set<real>"),
    ("assert s == u;", "wrong type of the right side of ==: expected set<int>, found iset<int>"),
    ("assert a in s;", "wrong type of the left side of in: expected int, found real"),
    ("assert w > wn;", "> is not defined on seq<int>"),
    ("assert b < b;", "< is not defined on bool"),
    ("assert H(k => k + a) == 1;", "wrong type of the right side of +: expected int, found real"),
    ("assert H((k, j) => k) == 1;", "wrong type of argument 1 of H: expected int -> int, found (?, ?) -> ?"),
    ("assert a % 2.0 == 1.0;", "% is not defined on real"),
    ("assert a / 2 == 1.0;", "wrong type of the right side of /: expected real, found int"),
    ("assert 1 == 1.0;", "wrong type of the right side of ==: expected int, found real"),
    ("assert b as int == 1;", "as int is not defined on bool"),
    ("assert x.Floor == 1;", "int has no member Floor"),
    ("assert l.head2 == 1;", "List has no member head2: did you mean head?"),
    ("assert l.Con?;", "List has no member Con?"),
    ("assert pr.2 == x;", "(int, real) has no item 2"),
    ("assert |u| == 1;", "|...| is not defined on iset<int>"),
    ("assert |x| == 1;", "|...| is not defined on int"),
    ("assert {} == {};", "the type of the elements can't be inferred: give the collection a type"),
    ("assert [] == [];", "the type of the elements can't be inferred: give the collection a type"),
    ("assert |{}| == 0;", "the type of the elements can't be inferred: give the collection a type"),
    ("assert {1, 2.0} == s;", "wrong type of an element: expected int, found real"),
    ("assert w[a] == 1;", "wrong type of an index: expected int, found real"),
    ("assert s[x] == 1;", "wrong type of what is indexed: expected seq<?>, found set<int>"),
    ("assert w[x := a] == w;", "wrong type of the new element: expected int, found real"),
    ("assert forall k :: k == k;", "the type of k can't be inferred: write it, as in k: int"),
    ("assert forall k, j :: k + j == j + k;", "the type of k can't be inferred: write it, as in k: int"),
    ("assert forall k, j :: k < j ==> j > k;", "the type of k can't be inferred: write it, as in k: int"),
    ("assert forall k: nt :: k > 0;", "unknown type nt: did you mean nat?"),
    ("assert if b then x else n;", "wrong type of an assertion: expected bool, found int"),
    ("assert (if b then x else a) == x;", "wrong type of the else part: expected int, found real"),
    ("assert (if x then x else x) == x;", "wrong type of the condition of if: expected bool, found int"),
    ("assert (var k: real := x; k) == a;", "wrong type of k: expected real, found int"),
    ("assert !x == 1;", "wrong type of the right side of ==: expected bool, found int"),
    ("assert -b;", "unary - is not defined on bool"),
    ("assert -s == s;", "unary - is not defined on set<int>"),
    ("assert s + x == s;", "wrong type of the right side of +: expected set<int>, found int"),
    ("assert x + b == x;", "wrong type of the right side of +: expected int, found bool"),
    ("assert b + b;", "+ is not defined on bool"),
    ("assert b && x;", "wrong type of an operand of &&: expected bool, found int"),
    ("assert b ==> x;", "wrong type of the right side of ==>: expected bool, found int"),
    ("assert x ==> b;", "wrong type of the left side of ==>: expected bool, found int"),
    ("assert two(a, x);", "wrong type of argument 1 of two: expected int, found real"),
    ("assert two(x);", "two takes 2 arguments, got 1"),
    ("assert f(x);", "wrong type of an assertion: expected bool, found int"),
    ("assert x(1) == 1;", "only functions can be called, found int"),
    ("assert h(x)(x) == 1;", "only functions can be called, found int"),
    ("assert h(a) == 1;", "wrong type of argument 1 of this function: expected int, found real"),
    ("assert p;", "wrong type of an assertion: expected bool, found int -> bool"),
    ("assert fact(1) == 1;", "fact is a lemma: call it in a statement"),
    ("assert Cons(x) == l;", "Cons takes 2 arguments, got 1"),
    ("assert (match l case Nil => 1 case Cons(k, r) => a) == 1;", "wrong type of this case: expected int, found real"),
    ("assert (match x case _ => 1) == 1;", "not supported: match on int"),
    (
        "assert (set k | k in s) == (set k: int | k in u);",
        "the set may be infinite: nothing bounds k#1 (use iset, or write bounds)",
    ),
    ("var k := fact(x);", "fact has 0 results, 1 taken"),
    ("var k: real := root(x);", "wrong type of k: expected real, found nat"),
    ("var k := pair2(x);", "pair2 has 2 results, 1 taken"),
    ("var k;", "the type of k can't be inferred: write it, as in k: int"),
    ("var k := x; var k := 2;", "k is declared twice"),
    ("x := 2;", "x can't be assigned here: it is a parameter"),
    ("var k: iset<int> := s;", "wrong type of k: expected iset<int>, found set<int>"),
    ("if k :| k in s { assert k in s; } else { assert k in s; }", "unknown name k"),
    ("match l { case Nil => case Cons(k) => }", "Cons has 2 fields, the case 1"),
    ("calc { x; == a; }", "wrong type of a line of the calculation: expected int, found real"),
    ("calc { x; ==> b; }", "wrong type of a line of the calculation: expected int, found bool"),
    ("fact(a);", "wrong type of argument 1 of fact: expected int, found real"),
    ("root(x);", "root has 1 result, 0 taken"),
    ("var q: int; calc { x; { q := 1; } x; }", "q can't be assigned here: it is declared outside of this proof"),
    ("var q: int; forall k: int { q := 1; }", "q can't be assigned here: it is declared outside of this proof"),
    ("return 1;", "0 results expected, got 1"),
    ("assert (x, x) == pr;", "wrong type of the right side of ==: expected (int, int), found (int, real)"),
    ("assert s !! u;", "wrong type of the right side of !!: expected set<int>, found iset<int>"),
    ("assert w !! w;", "!! is not defined on seq<int>"),
    ("assert forall k: int {:trigger q(k)} :: p(k);", "unknown name q"),
    ("calc != { x; y; }", "!= can't be the operator of a whole calculation"),
    ("calc { x; < y; > n; }", "> can't continue"),
    ("calc { b; <== b; ==> b; }", "==> can't continue"),
    ("calc { x; != y; != n; }", "!= can't continue"),
]

STRICTER = [  # Dafny 2.3 resolves these
    "assert l < l;",
    "assert (match l case Nil => 1) == 1;",
    "match l { case Cons(k, r) => }",
    "var q: int; assert b by { q := 1; }",
]

LOOSER = [  # Dafny 2.3 refuses these; their meaning is clear
    "assert {n, x} == s;",
    "assert forall k :: k.0 == 1 ==> k == pr;",
]

FINITE = [
    "0 <= k < 10",
    "10 > k >= 0",
    "-3 < k && (k < 10 && k > 0)",
    "0 <= k && k + 1 < 10",
    "0 <= k && !(k >= 10)",
    "k in s",
    "k in s + {3} && k > 0",
    "k in w",
    "k == x",
    "k in (set z | 0 <= z < 10)",
]
INFINITE = [
    "0 <= k",
    "k in u",
    "0 <= k && k * k < 10",
    "k == 3 || k == 4",
    "0 < x ==> 0 <= k < 10",
    "if x == 0 then 0 <= k < 10 else 0 <= k < 11",
    "exists j :: j in s && k == j + 1",
    "(k, 1) in {(3, 1)}",
]


def declaration(name: str, body: str) -> str:
    return f"lemma {name}({PARAMS}) {{ {body} }}"


def check(body: str):
    return resolve(parse_program(f"{CONTEXT} {declaration('statement', body)}")).lemmas["statement"].body


@pytest.mark.parametrize("body", [*ACCEPTED, *LOOSER])
def test_accepted(body):
    check(body)


@pytest.mark.parametrize(("body", "message"), REFUSED)
def test_refused(body, message):
    with pytest.raises((ResolutionError, Unsupported), match=re.escape(message)):
        check(body)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("assert s <= {(0, b).0, (b, b).0};", "wrong type of an element: expected int, found bool"),
        ("assert (k => k.1 + 1)(pr) == 2;", "wrong type of the member 1: expected int, found real"),
        ("assert (k => k.re + 1)(l) == 2;", "List has no member re"),
        ("assert [[1], [b]] == [[2]];", "wrong type of an element: expected seq<int>, found seq<bool>"),
    ],
)
def test_a_mismatch_found_late_is_still_a_mismatch(body, message):
    with pytest.raises(ResolutionError) as caught:
        check(body)
    assert message in [problem.message for problem in caught.value.diagnostics]


@pytest.mark.parametrize("body", STRICTER)
def test_refused_though_dafny_takes_them(body):
    with pytest.raises(ResolutionError):
        check(body)


@pytest.mark.parametrize("limits", FINITE)
def test_bounded_sets(limits):
    check(f"var z := set k: int | {limits};")


@pytest.mark.parametrize("limits", INFINITE)
def test_sets_that_nothing_bounds(limits):
    with pytest.raises(ResolutionError, match="may be infinite"):
        check(f"var z := set k: int | {limits};")
    check(f"var z := iset k: int | {limits};")


def test_bounds_may_rest_on_other_variables():
    check("var z := set j: int, k: int | 0 <= j < k && k in s :: j;")
    check("var z := set j: nat | j < x;")
    check("var z := set j: bool, q: set<int> | q <= s :: j;")
    with pytest.raises(ResolutionError, match="nothing bounds j, k"):
        check("var z := set j: int, k: int | 0 <= j < k && 0 <= k < j :: j;")


def dafny_errors(tmp_path: Path, context: str, lemmas: list[str], *options: str) -> dict[int, list[str]]:
    """The first errors by the number of the lemma, each of which stands on one line."""
    assert DAFNY is not None
    file = tmp_path / "program.dfy"
    file.write_text(context + "\n".join(lemmas) + "\n")
    run = subprocess.run(
        [DAFNY, "/compile:0", *options, str(file)], capture_output=True, text=True, timeout=120, check=False
    )
    found: dict[int, list[str]] = {}
    for line, message in re.findall(r"program\.dfy\((\d+),\d+\): Error: (.*)", run.stdout):
        found.setdefault(int(line) - 1 - context.count("\n"), []).append(message)
    assert found or run.returncode == 0, run.stdout
    return found


@needs_dafny
def test_dafny_agrees_on_what_is_well_typed(tmp_path):
    """Dafny's later passes look only at programs that pass the earlier ones: refused lemmas are taken out and it is
    asked again."""
    sets = [f"var z := set k: int | {limits};" for limits in (*FINITE, *INFINITE)]
    bodies = [*ACCEPTED, *STRICTER, *[body for body, _ in REFUSED], *LOOSER, *sets]
    lemmas = [declaration(f"t{number}", body) for number, body in enumerate(bodies)]
    left = list(range(len(bodies)))
    refused: set[str] = set()
    while found := dafny_errors(tmp_path, CONTEXT, [lemmas[number] for number in left], "/dafnyVerify:0"):
        refused.update(bodies[left[number]] for number in found)
        left = [number for place, number in enumerate(left) if place not in found]
    expected = {body for body, _ in REFUSED} | set(LOOSER) | set(sets[len(FINITE) :])
    assert refused == expected


# int or nat

NAT_CONTEXT = """predicate pn(n: nat)
predicate pi(n: int)
predicate uu(b: bool)
function m(n: nat): nat
datatype D = C(x: nat) | E(y: int)
"""
NAT_PARAMS = (
    "k: nat, z: int, s: set<nat>, zs: set<int>, h: nat -> int, hi: int -> int, w: seq<int>, d: D, hp: nat --> bool"
)
TAKEN_AS = [
    ("pn(n)", NAT),
    ("h(n) == 1", NAT),
    ("hp(n)", NAT),
    ("C(n) == d", NAT),
    ("pn(m(n))", NAT),
    ("n < 0 && pn(n)", NAT),
    ("0 <= n < 5 && pn(n)", NAT),
    ("n == z && pn(n)", NAT),
    ("n in zs && pn(n)", NAT),
    ("w[n] == 1 && pn(n)", NAT),
    ("(n, 1) == (z, z) && pn(n)", NAT),
    ("(var q := n; pi(q)) && pn(n)", NAT),
    ("(var q: nat := n; q == 3)", NAT),
    ("pi(n)", INT),
    ("pi(n) && pn(n)", INT),
    ("hi(n) == 1 && h(n) == 2", INT),
    ("n == k", INT),
    ("k == n", INT),
    ("uu(n != k)", INT),
    ("n in s", INT),
    ("uu(n < k)", INT),
    ("n + k == 3", INT),
    ("n == |w|", INT),
    ("pn(n + 1)", INT),
    ("pn(if n == 2 then n else k)", INT),
    ("(n => pn(n))(3) && n == 1", INT),
]
LEFT_OPEN = ["n < k && pn(n)", "n % 2 == 0 && pn(n)", "{n} <= s", "s == {k, n}", "{n} == s && h(n) == 1"]


def nat_lemma(name: str, use: str) -> str:
    return f"lemma {name}({NAT_PARAMS}) {{ assert forall n :: uu({use}) || n >= 0; }}"


def inferred(use: str):
    program = resolve(parse_program(f"{NAT_CONTEXT} {nat_lemma('statement', use)}"))
    (step,) = program.lemmas["statement"].body
    return step.condition.vars[0].sort


@pytest.mark.parametrize(("use", "sort"), TAKEN_AS)
def test_a_variable_without_a_type_is_what_dafny_takes_it_for(use, sort):
    assert inferred(use) == sort


@needs_dafny
def test_dafny_takes_it_for_the_same(tmp_path):
    lemmas = [nat_lemma(f"t{number}", use) for number, (use, _) in enumerate(TAKEN_AS)]
    found = dafny_errors(tmp_path, NAT_CONTEXT, lemmas, "/timeLimit:10")
    for number, (use, sort) in enumerate(TAKEN_AS):
        # Only for an int n is `n >= 0` a claim: a failed assertion tells that n is no nat.
        failed = "assertion violation" in found.get(number, [])
        assert failed == (sort == INT), use


@pytest.mark.parametrize("use", LEFT_OPEN)
def test_unclear_types_must_be_written(use):
    with pytest.raises(Unsupported, match="the type of n"):
        inferred(use)
    for written in ("int", "nat"):
        body = f"assert forall n: {written} :: uu({use}) || n >= 0;"
        resolve(parse_program(f"{NAT_CONTEXT} lemma statement({NAT_PARAMS}) {{ {body} }}"))


def test_int_is_clear_where_no_nat_is_near():
    resolve(parse_program("lemma k(s: set<int>) requires forall n :: n in s ==> {n} <= s && n + 1 < 7"))


@pytest.mark.parametrize("body", ["forall q :: q <= sn ==> sn == q", "forall q :: q == h ==> q(1) == 1"])
def test_types_with_parts_must_be_written_where_subset_types_are_near(body):
    with pytest.raises(Unsupported, match="the type of q"):
        check(f"assert {body};")


def test_all_binders_follow_the_rule():
    body = """
        forall n | pn(n) ensures pn(n) { }
        var j :| pn(j);
        assert uu((iset i | pn(i)) == (iset i: nat | pn(i)));
    """
    found = resolve(parse_program(f"{NAT_CONTEXT} lemma k() {{ {body} }}")).lemmas["k"].body
    binders = [
        node.vars[0].sort for step in found for node in subnodes(step) if isinstance(node, ForallStep | SetComp | Quant)
    ]
    assert binders == [NAT, NAT, NAT]
    assert found[1].vars[0].sort == NAT
