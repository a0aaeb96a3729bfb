"""Whatever parses is resolved or refused with a reason; what is resolved keeps the core's promises."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from maxproof.formal.embedded.core import CoreLemma, CoreProgram, Proved, Term
from maxproof.formal.embedded.core.walk import binders, children, defined, free_variables, rebuild, subnodes
from maxproof.formal.embedded.errors import ResolutionError, Unsupported
from maxproof.formal.embedded.resolve.program import resolve
from maxproof.formal.syntax.errors import DafnySyntaxError
from maxproof.formal.syntax.parse import parse_program

CONTEXT = """
datatype List = Nil | Cons(head: int, tail: List)
function f(n: nat): int
function part(x: int): int requires x > 0
predicate p(x: int)
lemma fact(x: int)
lemma root(x: int) returns (r: nat)
"""
PARAMS = "x: int, n: nat, a: real, b: bool, s: set<int>, w: seq<nat>, h: int -> int, l: List, c: (int, real)"
ATOMS = {
    "i": ["x", "n", "0", "3", "|s|", "r"],
    "b": ["b", "true", "x < n", "p(x)"],
    "a": ["a", "1.5", "x as real"],
    "s": ["s", "{x}", "{}"],
    "w": ["w", "[n]", "[]"],
    "l": ["l", "Nil"],
}
SHAPES = {
    "i": [
        "(%i + %i)",
        "(%i - %i)",
        "(%i * %i)",
        "(%i / %i)",
        "(%i % %i)",
        "-%i",
        "|%s|",
        "|%w|",
        "%w[%i]",
        "f(%i)",
        "part(%i)",
        "h(%i)",
        "%l.head",
        "%a.Floor",
        "(%i, %b).0",
        "(%i as nat)",
        "(if %b then %i else %i)",
        "(var k := %i; k + %i)",
        "(var k :| %b && k < 3; k)",
        "((k: int) => k + %i)(%i)",
        "(assert %b; %i)",
        "(match %l case Nil => %i case Cons(k, _) => k + %i)",
        "(var k, q := %i, %s; k + |q|)",
    ],
    "b": [
        "(%i == %i)",
        "(%s != %s)",
        "(%i > %i >= %i)",
        "(%i in %s)",
        "(%i !in %w)",
        "(%s !! %s)",
        "(%b && %b)",
        "(%b || %b)",
        "(%b ==> %b)",
        "(%b <== %b)",
        "!%b",
        "p(%i)",
        "%l.Cons?",
        "(%s <= %s)",
        "(%w <= %w)",
        "(%a > %a)",
        "(forall k: int :: k < %i ==> %b)",
        "(exists k | k in %s :: k == %i)",
        "(forall k, q: nat :: k == %i || %b)",
        "(fact(%i); %b)",
        "(h == (k => k + %i))",
        "(%l == %l)",
    ],
    "a": ["(%a + %a)", "(%a / %a)", "(%i as real)", "-%a", "(if %b then %a else %a)", "c.1"],
    "s": [
        "(%s + %s)",
        "(%s * %s)",
        "(%s - %s)",
        "{%i, %i}",
        "(set k | k in %s && %b)",
        "(set k | 0 <= k < %i :: k * k)",
        "(if %b then %s else %s)",
    ],
    "w": ["(%w + %w)", "[%i, %i]", "%w[%i..]", "%w[%i := %i]"],
    "l": ["Cons(%i, %l)", "%l.tail", "(match %l case Cons(_, k) => k case _ => %l)"],
}
STATEMENTS = [
    "assert %b;", "r := %i;", "fact(%i);", "r := root(%i);", "return;", "return %i;", "if %b { # } else { # }",
    "if k :| k in %s { fact(k); # }", "if { case %b => # case %b => # }", "{ var k := %i; # r := k; }",
    "calc { %i; == { # } %i; <= %i; }", "calc { %b; ==> %b; }", "forall k | k in %s ensures p(k) { fact(k); }",
    "assert %b by { fact(%i); }", "match %l { case Nil => # case Cons(k, m) => r := k; # }", "r :| r == %i;",
    "{ var k: int; # if %b { k := %i; } fact(k); }", "assert %b by { r := 1; }", "unknown(%i);",
]  # fmt: skip


def fill(draw, template: str, depth: int) -> str:
    """`%i` and the like become expressions of that type, rarely of another; `#` up to two statements."""
    text, place = "", 0
    while place < len(template):
        char, kind = template[place], template[place + 1 : place + 2]
        place += 1
        if char == "%" and kind in ATOMS and kind != "":
            place += 1
            kind = draw(st.sampled_from("ibaswl")) if draw(st.integers(0, 80)) == 80 else kind
            deeper = depth > 0 and draw(st.booleans())
            text += fill(draw, draw(st.sampled_from(SHAPES[kind])), depth - 1) if deeper else ""
            text += "" if deeper else draw(st.sampled_from(ATOMS[kind]))
        elif char == "#":
            count = draw(st.integers(0, 2)) if depth > 0 else 0
            text += " ".join(fill(draw, draw(st.sampled_from(STATEMENTS)), depth - 1) for _ in range(count))
        else:
            text += char
    return text


@st.composite
def programs(draw) -> str:
    body = " ".join(fill(draw, draw(st.sampled_from(STATEMENTS)), 3) for _ in range(draw(st.integers(1, 4))))
    claim = fill(draw, "%b", 2)
    return f"{CONTEXT} lemma statement({PARAMS}) returns (r: int) ensures {claim} {{ {body} }}"


def resolved(text: str) -> CoreProgram | None:
    try:
        return resolve(parse_program(text))
    except (ResolutionError, Unsupported, DafnySyntaxError):
        return None


def roots(lemma: CoreLemma) -> list[Term]:
    return [*lemma.requires, *lemma.ensures, Proved(lemma.body or (), lemma.finals[0])]


@settings(max_examples=400, deadline=None)
@given(programs())
def test_nothing_else_is_raised_and_scopes_are_right(text):
    core = resolved(text)
    if core is None:
        return
    lemma = core.lemmas["statement"]
    params = {var.name for var in (*lemma.params, *lemma.results)}
    (claim,) = lemma.ensures
    assert {var.name for var in free_variables(claim)} <= params
    body = roots(lemma)[-1]
    unset = {var.name for var in free_variables(body)} - params
    assert all(name.split("#")[0] == "k" for name in unset)  # declared without a value
    for root in roots(lemma):
        for node in subnodes(root):
            assert rebuild(node, children(node)) == node


@settings(max_examples=200, deadline=None)
@given(programs())
def test_a_name_is_bound_once(text):
    """Where nothing is copied: lines of a calculation, operands of chains and open slices stand in several places."""
    core = resolved(text)
    if core is None or any(copied in text for copied in ("calc", ">=", "..]")):
        return
    lemma = core.lemmas["statement"]
    bound: Counter[str] = Counter(var.name for var in (*lemma.params, *lemma.results))
    for root in (*lemma.ensures, *(lemma.body or ())):
        for node in subnodes(root):
            if not isinstance(node, Proved):
                bound.update(var.name for var in binders(node))
    defines = {var.name for var in defined(lemma.body or ())}
    assert all(count == 1 for count in bound.values())
    assert not defines & bound.keys()


def test_the_programs_reach_both_ends():
    """The generator makes programs that resolve, and ones that don't."""
    seen: Counter[bool] = Counter()

    @settings(max_examples=300, deadline=None, database=None)
    @given(programs())
    def count(text):
        seen[resolved(text) is None] += 1

    count()
    assert seen[True] > 20
    assert seen[False] > 20
