"""Remainders written out: what a sum, a product or a power leaves when divided by m, from what its parts leave.

The embedded checker computes with remainders; Dafny's solver only knows those of linear terms, and needs a lemma call
for every operation. Where the remainders of variables aren't given, all of them are tried, one case each. A power with
a variable exponent goes through a period of the powers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import gcd, lcm

from maxproof.formal.embedded.core import BOOL, INT, Builtin, Call, Int, Op, Term
from maxproof.formal.embedded.core.show import show
from maxproof.formal.embedded.core.walk import free_variables, subnodes
from maxproof.formal.embedded.evaluate import NotComputable, evaluate
from maxproof.formal.prover.polynomials import conjuncts
from maxproof.formal.prover.question import Helper, Proposal, Question

MAX_MODULUS = 2000
MAX_CASES = 130
MAX_LINES = 600
MAX_EXPONENT = 10**12
_MAX_PERIOD = 64

SQUARE_STEP = Helper(
    "square_step",
    """lemma square_step(b: int, h: int, m: int, r: int, s: int, t: int)
  requires m > 0 && h >= 0 && ipow(b, h) % m == r
  requires (r * r) % m == s && (b * s) % m == t
  ensures ipow(b, h + h) % m == s
  ensures ipow(b, h + h + 1) % m == t
{
  ipow_add(b, h, h);
  mod_mul(ipow(b, h), ipow(b, h), m);
  ipow_successor(b, h + h);
  mod_mul(b, ipow(b, h + h), m);
  mod_mul(b, s, m);
  mod_of_mod(ipow(b, h + h), m);
}""",
)
PERIOD_STEP = Helper(
    "period_step",
    """lemma period_step(b: int, e: int, p: int, r: int, m: int)
  requires m > 0 && p > 0 && e >= 0 && e % p == r && ipow(b, p) % m == 1 % m
  ensures ipow(b, e) % m == ipow(b, r) % m
{
  ipow_period(b, p, e / p, r, m);
  assert p * (e / p) + r == e;
}""",
)


class _Unknown(Exception):
    """A term whose remainder nothing gives, or whose trace is too long."""


def residues(question: Question) -> Iterator[Proposal]:
    """All remainders that the statement speaks of, modulo their least common multiple, in every case."""
    wanted = _remainders(question.conclusions)
    given = _remainders([part for term in question.hypotheses for part in conjuncts(term)])
    if not wanted:
        return
    for chosen in dict.fromkeys((_modulus(wanted, given), lcm(*(modulus for _, modulus in wanted)))):
        if chosen is None or not 1 < chosen <= MAX_MODULUS:
            continue
        lines = _by_cases(question, [*given, *wanted], chosen)
        if lines:
            yield Proposal(f"residues-{chosen}", tuple(lines), cost=1, helpers=(SQUARE_STEP, PERIOD_STEP))


def _modulus(wanted: Sequence[tuple[Term, int]], given: Sequence[tuple[Term, int]]) -> int | None:
    """The least common multiple of the moduli that conclusions and hypotheses name."""
    found = lcm(*(modulus for _, modulus in (*wanted, *given)))
    return found if found <= MAX_MODULUS else None


def _remainders(terms: Sequence[Term]) -> list[tuple[Term, int]]:
    """(t, m) for every `t % m` below `terms` that has no bound variable, also as divisibility or parity."""
    found: dict[tuple[Term, int], None] = {}
    for term in terms:
        free = {var.name for var in free_variables(term)}
        for node in subnodes(term):
            divided = _divided(node) if isinstance(node, Builtin | Call) else None
            if divided is not None and all(var.name in free for var in free_variables(divided[0])):
                found.setdefault(divided)
    return list(found)


def _divided(node: Builtin | Call) -> tuple[Term, int] | None:
    if isinstance(node, Builtin):
        if node.op is not Op.MOD:
            return None
        dividend, divisor = node.args
    elif node.name in ("even", "odd"):
        return node.args[0], 2
    elif node.name == "divides":
        divisor, dividend = node.args
    elif node.name == "imod":
        dividend, divisor = node.args
    else:
        return None
    if isinstance(divisor, Call) and divisor.name == "ipow" and not free_variables(divisor):
        base, exponent = divisor.args
        if isinstance(base, Int) and isinstance(exponent, Int) and 0 <= exponent.value <= 12:
            return dividend, abs(base.value) ** exponent.value
    return (dividend, divisor.value) if isinstance(divisor, Int) and divisor.value > 0 else None


def _by_cases(question: Question, remainders: Sequence[tuple[Term, int]], modulus: int) -> list[str]:
    relevant = [(term, m) for term, m in remainders if modulus % m == 0]
    known = dict.fromkeys(key for term, _ in relevant for key in _leaves(term, modulus) if not isinstance(key[0], Int))
    leaves = list(known)
    fixed = {leaf: value for leaf in leaves if (value := _fixed(question, leaf)) is not None}
    choices = [[fixed[leaf]] if leaf in fixed else list(range(leaf[1])) for leaf in leaves]
    count = 1
    for choice in choices:
        count *= len(choice)
        if count > MAX_CASES:
            return []
    branches: list[str] = []
    total = 0
    for combination in product(*choices):
        values = dict(zip(leaves, combination, strict=True))
        lines = _case(question, relevant, modulus, values)
        total += len(lines)
        if total > MAX_LINES:
            return []
        condition = " && ".join(
            f"({show(leaf[0])}) % {leaf[1]} == {values[leaf]}" for leaf in leaves if leaf not in fixed
        )
        if not condition:
            return lines
        branches.append(f"if {condition} {{ {' '.join(lines)} }}")
    return [" else ".join(branches)] if branches else []


def _fixed(question: Question, leaf: tuple[Term, int]) -> int | None:
    """The remainder that a hypothesis states outright."""
    for hypothesis in question.hypotheses:
        for part in conjuncts(hypothesis):
            if isinstance(part, Builtin) and part.op is Op.EQ:
                for left, right in (part.args, part.args[::-1]):
                    if isinstance(right, Int) and left == Builtin(Op.MOD, (leaf[0], Int(leaf[1])), INT):
                        return right.value
    return None


def _case(
    question: Question, remainders: Sequence[tuple[Term, int]], modulus: int, values: Mapping[tuple[Term, int], int]
) -> list[str]:
    """The trace of every remainder in one case; a hypothesis that doesn't hold in it ends the case."""
    lines: dict[str, None] = {}
    known: dict[Term, int] = {}
    for term, m in remainders:
        tracer = _Tracer(question, modulus, values)
        try:
            found = tracer.trace(term)
        except _Unknown:
            continue
        lines.update(tracer.lines)
        known[Builtin(Op.MOD, (term, Int(m)), INT)] = found % m
        if m != modulus:
            lines.setdefault(f"mod_of_multiple_modulus({show(term)}, {m}, {modulus // m});")
        lines.setdefault(f"assert ({show(term)}) % {m} == {found % m};")
        if _refuted(question, known):
            return [*list(lines), "assert false;"]
    return list(lines)


def _refuted(question: Question, known: Mapping[Term, int]) -> bool:
    """Some hypothesis about these remainders alone is false."""
    for hypothesis in question.hypotheses:
        for part in conjuncts(hypothesis):
            if isinstance(part, Builtin) and part.op in (Op.EQ, Op.NOT):
                replaced = _replaced(part, known)
                if not free_variables(replaced) and replaced != part:
                    try:
                        if evaluate(replaced, question.core) is False:
                            return True
                    except NotComputable:
                        continue
    return False


def _replaced(term: Term, known: Mapping[Term, int]) -> Term:
    if term in known:
        return Int(known[term])
    if isinstance(term, Builtin):
        return Builtin(term.op, tuple(_replaced(arg, known) for arg in term.args), term.sort)
    return term


def _leaves(term: Term, modulus: int) -> Iterator[tuple[Term, int]]:
    """What has to be known of the parts of a term: (part, modulus of its remainder)."""
    if isinstance(term, Int):
        return
    if isinstance(term, Builtin) and term.op in (Op.ADD, Op.SUB, Op.MUL, Op.NEG):
        for arg in term.args:
            yield from _leaves(arg, modulus)
        return
    if isinstance(term, Call) and term.name == "monus":
        for arg in term.args:
            yield from _leaves(arg, modulus)
        return
    if isinstance(term, Call) and term.name == "ipow":
        base, exponent = term.args
        if isinstance(exponent, Int):
            yield from _leaves(base, modulus)
            return
        if isinstance(base, Int):
            period = _period(base.value, modulus)
            if period is not None:
                yield from ((leaf, period) for leaf, _ in _leaves(exponent, period))
                return
    if free_variables(term):
        yield term, modulus


def _period(base: int, modulus: int) -> int | None:
    """The least p > 0 with base to the p congruent to 1."""
    if gcd(base, modulus) != 1:
        return None
    power = 1
    for exponent in range(1, _MAX_PERIOD + 1):
        power = power * base % modulus
        if power == 1 % modulus:
            return exponent
    return None


class _Tracer:
    """The lines that lead to a remainder."""

    def __init__(self, question: Question, modulus: int, values: Mapping[tuple[Term, int], int]) -> None:
        self._question = question
        self._modulus = modulus
        self._values = values
        self.lines: dict[str, None] = {}

    def trace(self, term: Term, modulus: int | None = None) -> int:
        m = modulus or self._modulus
        if isinstance(term, Int):
            return term.value % m
        if (term, m) in self._values:
            return self._values[(term, m)]
        if isinstance(term, Builtin) and term.op in (Op.ADD, Op.SUB, Op.MUL):
            return self._operation(term, term.op, m)
        if isinstance(term, Builtin) and term.op is Op.NEG:
            return self._operation(Builtin(Op.SUB, (Int(0), term.args[0]), INT), Op.SUB, m)
        if isinstance(term, Call) and term.name == "monus":
            difference = Builtin(Op.SUB, term.args, INT)
            found = self._operation(difference, Op.SUB, m)
            self.lines.setdefault(f"assert {show(Builtin(Op.EQ, (term, difference), BOOL))};")
            return found
        if isinstance(term, Call) and term.name == "ipow":
            return self._power(term, m)
        raise _Unknown

    def _operation(self, term: Builtin, op: Op, m: int) -> int:
        left, right = term.args
        first, second = self.trace(left, m), self.trace(right, m)
        name, found = {
            Op.ADD: ("mod_add", first + second),
            Op.SUB: ("mod_sub", first - second),
            Op.MUL: ("mod_mul", first * second),
        }[op]
        self.lines.setdefault(f"{name}({show(left)}, {show(right)}, {m});")
        self.lines.setdefault(f"assert ({show(term)}) % {m} == {found % m};")
        return found % m

    def _power(self, term: Call, m: int) -> int:
        base, exponent = term.args
        if isinstance(base, Int) and isinstance(exponent, Int):
            return self._closed(base.value, exponent.value, m)
        if isinstance(exponent, Int):
            found = self.trace(base, m)
            self.lines.setdefault(f"ipow_congruent({show(base)}, {found}, {exponent.value}, {m});")
            return self._closed(found, exponent.value, m)
        if not isinstance(base, Int):
            raise _Unknown
        period = _period(base.value, m)
        if period is None:
            raise _Unknown
        rest = self.trace(exponent, period)
        self._closed(base.value, period, m)
        found = self._closed(base.value, rest, m)
        self.lines.setdefault(f"period_step({base.value}, {show(exponent)}, {period}, {rest}, {m});")
        return found

    def _closed(self, base: int, exponent: int, m: int) -> int:
        """A power of literals by squaring."""
        if not 0 <= exponent <= MAX_EXPONENT:
            raise _Unknown
        half, rest = 0, 1 % m
        for bit in f"{exponent:b}":
            square = rest * rest % m
            odd = base * square % m
            if half or bit == "1":
                self.lines.setdefault(f"square_step({base}, {half}, {m}, {rest}, {square}, {odd});")
            half, rest = 2 * half + int(bit), odd if bit == "1" else square
        return rest
