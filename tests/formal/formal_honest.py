"""Submissions that must be accepted: proofs of `Right`, written in as many ways."""

RIGHT = """
function twice(x: int): int { x + x }
lemma Right(x: int, y: int)
  requires 0 <= y < x
  requires x < 100
  ensures y * y < x * x
  ensures twice(x) > y
{
}
"""

HEAD = "lemma Right(x: int, y: int) requires 0 <= y < x requires x < 100 ensures y * y < x * x ensures twice(x) > y"
STEPS = "assert (x - y) * x > 0; assert (x - y) * y >= 0;"

HONEST = {
    # The three that the published checker refuses.
    "the word assume in a comment": f"{HEAD} {{ // we may assume that y < x\n {STEPS} }}",
    "another spacing": f"{HEAD.replace('y * y', 'y*y').replace('x * x', 'x  *  x')} {{ {STEPS} }}",
    "a clause in parentheses": f"{HEAD.replace('x < 100', '(x < 100)')} {{ {STEPS} }}",
    # And more.
    "a body": STEPS,
    "a body in braces": f"{{ {STEPS} }}",
    "a body in a fence": f"Here is the proof:\n\n```dafny\n{STEPS}\n```\n\nIt uses that x > y.",
    "a file in a fence after a draft": f"```dafny\nassert false;\n```\nBetter:\n~~~\n{HEAD} {{ {STEPS} }}\n~~~\n",
    "a fence that is never closed": f"```\n{HEAD} {{ {STEPS} }}",
    "a body with a helper after it": f"{{ {STEPS} fine(x); }} lemma fine(z: int) ensures z * z >= 0 {{}}",
    "clauses in another order": (
        "lemma Right(x: int, y: int) ensures twice(x) > y requires x < 100 ensures y * y < x * x requires 0 <= y < x"
        f" {{ {STEPS} }}"
    ),
    "other names for the parameters": (
        "lemma Right(a: int, b: int) requires 0 <= b < a requires a < 100 ensures b * b < a * a ensures twice(a) > b"
        " { assert (a - b) * a > 0; assert (a - b) * b >= 0; }"
    ),
    "clauses joined": (
        "lemma Right(x: int, y: int) requires 0 <= y < x && x < 100 ensures y * y < x * x && twice(x) > y"
        f" {{ {STEPS} }}"
    ),
    "clauses split": (
        "lemma Right(x: int, y: int) requires 0 <= y requires y < x requires x < 100 ensures y * y < x * x"
        f" ensures twice(x) > y {{ {STEPS} }}"
    ),
    "a weaker precondition": f"{HEAD.replace('requires x < 100', '')} {{ {STEPS} }}",
    "a stronger conclusion": f"{HEAD} ensures x >= 1 {{ {STEPS} }}",
    "narrower types that the hypotheses give": f"{HEAD.replace('x: int, y: int', 'x: nat, y: nat')} {{ {STEPS} }}",
    "a chain turned round": f"{HEAD.replace('0 <= y < x', 'x > y >= 0')} {{ {STEPS} }}",
    "an equivalent conclusion": f"{HEAD.replace('twice(x) > y', 'x + x > y')} {{ {STEPS} }}",
    "comments everywhere": (
        f"/* a */ {HEAD.replace(' ensures', ' /* /* b */ */ ensures')} // c\n{{ /* d */ {STEPS} // e\n}}"
    ),
    "helper lemmas and functions": (
        "function square(z: int): int { z * z }\n"
        "lemma Monotone(a: int, b: int) requires 0 <= b < a ensures square(b) < square(a)\n"
        "{ assert (a - b) * a > 0; assert (a - b) * b >= 0; }\n"
        f"{HEAD} {{ Monotone(x, y); }}"
    ),
    "ghost helpers": (
        f"ghost function f(z: int): int {{ z }} ghost predicate p(z: int) {{ z > 0 }} {HEAD} {{ {STEPS} }}"
    ),
    "a helper named like words that are refused": (
        f"lemma assume_nothing(x: int) ensures x <= x {{}} {HEAD} {{ assume_nothing(x); {STEPS} }}"
    ),
    "induction by hand": (
        "lemma sums(n: nat) ensures n * n >= n decreases n { if n > 0 { sums(n - 1); } }\n"
        f"{HEAD} {{ sums(x); {STEPS} }}"
    ),
    "a call of itself at a smaller value": f"{HEAD} decreases x {{ if y > 0 {{ Right(x - 1, y - 1); }} {STEPS} }}",
    "a body that calls itself": f"{{ if y > 0 {{ Right(x - 1, y - 1); }} {STEPS} }}",
    "a calculation": f"{{ {STEPS} calc {{ y * y; <= x * y; < {{ assert x * (x - y) > 0; }} x * x; }} }}",
    "a case split": f"{{ if y == 0 {{ assert x * x > 0; }} else {{ {STEPS} }} }}",
    "a proof of an assertion": f"{{ assert y * y < x * x by {{ {STEPS} }} }}",
    "a forall statement": f"{{ forall z: int | z > 0 ensures z * x > 0 {{ assert z * x > 0; }} {STEPS} }}",
    "attributes that only guide": f"lemma {{:induction false}} {HEAD[6:]} {{ assert {{:split_here}} x > 0; {STEPS} }}",
    "limits of its own, which are ours": f"lemma {{:timeLimit 1000}} {{:rlimit 1}} {HEAD[6:]} {{ {STEPS} }}",
    "an at-attribute": f"@Induction(false) {HEAD} {{ {STEPS} }}",
    "semicolons after clauses": f"{HEAD.replace('x < 100', 'x < 100;')}; {{ {STEPS} }}",
    "Windows line ends": f"{HEAD}\r\n{{\r\n{STEPS}\r\n}}\r\n",
}
