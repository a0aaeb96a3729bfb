"""Remainders written out: what a sum, a product or a power leaves when divided by m, from what its parts leave.

The embedded checker computes with remainders; Dafny's solver only knows those of linear terms, and needs a lemma call
for every operation. Where the remainders of variables aren't given, all of them are tried, one case each. A power with
a variable exponent goes through a period of the powers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import gcd, lcm

from maxproof.formal.embedded.core import BOOL, INT, NAT, Bool, Builtin, Call, Int, Op, Term
from maxproof.formal.embedded.core.show import show
from maxproof.formal.embedded.core.walk import free_variables, subnodes
from maxproof.formal.embedded.evaluate.evaluator import NotComputable, evaluate
from maxproof.formal.prover.polynomials import conjuncts
from maxproof.formal.prover.question import Helper, Proposal, Question

MAX_MODULUS = 2000
MAX_CASES = 130
MAX_EXPONENT = 10**12
_MAX_PERIOD = 64
_MODULI = (3, 4, 5, 7, 8, 9, 11, 13, 16)

SQUARE_STEP = Helper(
    "trace_square",
    """lemma trace_square(b: int, h: int, m: int, r: int, s: int, t: int)
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
    "trace_period",
    """lemma trace_period(b: int, e: int, p: int, k: int, r: int, m: int)
  requires m > 0 && p > 0 && k >= 0 && r >= 0 && e == p * k + r && ipow(b, p) % m == 1 % m
  ensures ipow(b, e) % m == ipow(b, r) % m
{
  ipow_period(b, p, k, r, m);
}""",
)
HELPERS = (SQUARE_STEP, PERIOD_STEP)


class Unknown(Exception):
    """A term whose remainder nothing gives, or whose trace is too long."""


@dataclass(frozen=True, slots=True)
class Remainder:
    """`term % modulus`."""

    term: Term
    modulus: int

    @property
    def text(self) -> str:
        return f"({show(self.term)}) % {self.modulus}"


def residues(question: Question) -> Iterator[Proposal]:
    """The remainders that the statement speaks of in every case; then those that keep an equation from holding."""
    wanted = _remainders(question.conclusions)
    given = _remainders([part for term in question.hypotheses for part in conjuncts(term)])
    if wanted:
        lines = _Cases(question, [*given, *wanted]).lines()
        if lines:
            yield Proposal("residues", tuple(lines), cost=1, helpers=HELPERS)
    for left, right in _impossible(question):
        for modulus in _MODULI:
            tried = _Cases(question, [Remainder(left, modulus), Remainder(right, modulus)], (left, right))
            lines = tried.lines()
            if lines and tried.all_refuted:
                yield Proposal(f"residues-{modulus}", tuple(lines), cost=3, helpers=HELPERS)
                break


def _impossible(question: Question) -> Iterator[tuple[Term, Term]]:
    """The sides of equations between whole numbers that may fail modulo something."""
    negated = [part.args[0] for part in question.conclusions if isinstance(part, Builtin) and part.op is Op.NOT]
    given = [part for term in question.hypotheses for part in conjuncts(term)]
    for part in [*negated, *given]:
        if not isinstance(part, Builtin) or part.op is not Op.EQ or part.args[0].sort not in (INT, NAT):
            continue
        if any(isinstance(node, Builtin) and node.op is Op.MUL for node in subnodes(part)):
            yield part.args[0], part.args[1]


def _remainders(terms: Sequence[Term]) -> list[Remainder]:
    """`t % m` for every remainder below `terms` that has no bound variable, also as divisibility or parity."""
    found: dict[Remainder, None] = {}
    for term in terms:
        free = {var.name for var in free_variables(term)}
        for node in subnodes(term):
            divided = _divided(node) if isinstance(node, Builtin | Call) else None
            if divided is not None and all(var.name in free for var in free_variables(divided.term)):
                found.setdefault(divided)
    return list(found)


def _divided(node: Term) -> Remainder | None:
    if isinstance(node, Builtin) and node.op is Op.MOD:
        dividend, divisor = node.args
    elif isinstance(node, Call) and node.name in ("even", "odd"):
        return Remainder(node.args[0], 2)
    elif isinstance(node, Call) and node.name == "divides":
        divisor, dividend = node.args
    elif isinstance(node, Call) and node.name == "imod":
        dividend, divisor = node.args
    else:
        return None
    if isinstance(divisor, Int) and 0 < divisor.value <= MAX_MODULUS:
        return Remainder(dividend, divisor.value)
    return None


class _Cases:
    """A tree of cases over the remainders of what the terms are made of.

    Args:
        remainders: what to trace; those that hypotheses speak of first, so that a case that can't be ends early.
        sides: two terms that would have to be equal; None: the hypotheses are what must hold.
    """

    def __init__(
        self, question: Question, remainders: Sequence[Remainder], sides: tuple[Term, Term] | None = None
    ) -> None:
        self._question = question
        self._sides = sides
        self._needs = {
            remainder: list(dict.fromkeys(_leaves(remainder.term, remainder.modulus))) for remainder in remainders
        }
        self._leaves: dict[Term, int] = {}
        for needed in self._needs.values():
            for leaf in needed:
                self._leaves[leaf.term] = lcm(self._leaves.get(leaf.term, 1), leaf.modulus)
        self._count = 0
        self.all_refuted = True

    def lines(self) -> list[str]:
        """The body; [] if there are too many cases."""
        if any(modulus > MAX_CASES for modulus in self._leaves.values()):
            return []
        leaves = [Remainder(term, modulus) for term, modulus in self._leaves.items()]
        fixed = {leaf: value for leaf in leaves if (value := _fixed(self._question, leaf)) is not None}
        open_ = [leaf for leaf in leaves if leaf not in fixed]
        try:
            return self._branch(fixed, {}, open_)
        except Unknown:
            return []

    def _branch(
        self, values: Mapping[Remainder, int], known: Mapping[Remainder, int], rest: Sequence[Remainder]
    ) -> list[str]:
        """What follows where the leaves have `values`, then the cases of the next one."""
        self._count += 1
        if self._count > MAX_CASES:
            raise Unknown
        lines: dict[str, None] = {}
        found = dict(known)
        settled = {leaf.term for leaf in values}
        for remainder, needed in self._needs.items():
            if remainder in found or any(leaf.term not in settled for leaf in needed):
                continue
            tracer = Tracer(values)
            try:
                found[remainder] = tracer.trace(remainder.term, remainder.modulus)
            except Unknown:
                continue
            lines.update(tracer.lines)
            lines.setdefault(f"assert {remainder.text} == {found[remainder]};")
            if self._refuted(found):
                return [*lines, *([] if self._sides else ["assert false;"])]
        if not rest:
            self.all_refuted = False
            return list(lines)
        leaf, *later = rest
        return [*lines, *self._split(leaf, 0, leaf.modulus, values, found, later)]

    def _split(
        self,
        leaf: Remainder,
        low: int,
        high: int,
        values: Mapping[Remainder, int],
        known: Mapping[Remainder, int],
        later: Sequence[Remainder],
    ) -> list[str]:
        """Cases low <= leaf < high, halved until one value is left: nested as little as possible."""
        if high - low == 1:
            return [f"assert {leaf.text} == {low};", *self._branch({**values, leaf: low}, known, later)]
        middle = (low + high) // 2
        below = self._split(leaf, low, middle, values, known, later)
        above = self._split(leaf, middle, high, values, known, later)
        return [f"if {leaf.text} < {middle} {{ {' '.join(below)} }} else {{ {' '.join(above)} }}"]

    def _refuted(self, known: Mapping[Remainder, int]) -> bool:
        """What must hold is false by these remainders alone."""
        if self._sides is not None:
            values = {known.get(remainder) for remainder in self._needs}
            return len(values) == 2 and None not in values
        for hypothesis in self._question.hypotheses:
            for part in conjuncts(hypothesis):
                replaced = _replaced(part, known)
                if replaced != part and not free_variables(replaced):
                    try:
                        if evaluate(replaced, self._question.core) is False:
                            return True
                    except NotComputable:
                        continue
        return False


def _fixed(question: Question, leaf: Remainder) -> int | None:
    """The remainder that a hypothesis states outright."""
    for hypothesis in question.hypotheses:
        for part in conjuncts(hypothesis):
            if isinstance(part, Builtin) and part.op is Op.EQ:
                for left, right in (part.args, part.args[::-1]):
                    if isinstance(right, Int) and left == Builtin(Op.MOD, (leaf.term, Int(leaf.modulus)), INT):
                        return right.value
    return None


def _replaced(term: Term, known: Mapping[Remainder, int]) -> Term:
    """`term` with the remainders that are known as numbers."""
    divided = _divided(term)
    if divided is not None and divided in known:
        value = known[divided]
        if isinstance(term, Call) and term.name != "imod":
            return Bool(value == 1 if term.name == "odd" else value == 0)
        return Int(value)
    if isinstance(term, Builtin):
        return Builtin(term.op, tuple(_replaced(arg, known) for arg in term.args), term.sort)
    return term


def _leaves(term: Term, modulus: int) -> Iterator[Remainder]:
    """What has to be known of the parts of a term so that its remainder is known."""
    if isinstance(term, Int):
        return
    if isinstance(term, Builtin) and term.op in (Op.ADD, Op.SUB, Op.MUL, Op.NEG):
        if term.op is Op.MUL and any(isinstance(arg, Int) and arg.value % modulus == 0 for arg in term.args):
            return
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
                yield from _leaves(exponent, period)
                return
    if free_variables(term):
        yield Remainder(term, modulus)


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


class Tracer:
    """The lines that lead to a remainder, from those of the leaves."""

    def __init__(self, values: Mapping[Remainder, int]) -> None:
        self._values = {leaf.term: (leaf.modulus, value) for leaf, value in values.items()}
        self.lines: dict[str, None] = {}

    def trace(self, term: Term, m: int) -> int:
        """The remainder of `term` modulo `m`. Raises Unknown."""
        if isinstance(term, Int):
            return term.value % m
        if term in self._values:
            modulus, value = self._values[term]
            if modulus != m:
                self.lines.setdefault(f"mod_of_multiple_modulus({show(term)}, {m}, {modulus // m});")
                self.lines.setdefault(f"assert ({show(term)}) % {m} == {value % m};")
            return value % m
        if isinstance(term, Builtin) and term.op in (Op.ADD, Op.SUB, Op.MUL):
            return self._operation(term, m)
        if isinstance(term, Builtin) and term.op is Op.NEG:
            return self._operation(Builtin(Op.SUB, (Int(0), term.args[0]), INT), m)
        if isinstance(term, Call) and term.name == "monus":
            difference = Builtin(Op.SUB, term.args, INT)
            found = self._operation(difference, m)
            self.lines.setdefault(f"assert {show(Builtin(Op.EQ, (term, difference), BOOL))};")
            return found
        if isinstance(term, Call) and term.name == "ipow":
            return self._power(term, m)
        raise Unknown

    def _operation(self, term: Builtin, m: int) -> int:
        left, right = term.args
        if term.op is Op.MUL:
            for zero, other in ((left, right), (right, left)):
                if isinstance(zero, Int) and zero.value % m == 0:
                    self.lines.setdefault(f"multiple_mod({show(other)} * ({zero.value // m}), {m});")
                    self.lines.setdefault(f"assert ({show(term)}) % {m} == 0;")
                    return 0
        first, second = self.trace(left, m), self.trace(right, m)
        name, found = {
            Op.ADD: ("mod_add", first + second),
            Op.SUB: ("mod_sub", first - second),
            Op.MUL: ("mod_mul", first * second),
        }[term.op]
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
            raise Unknown
        period = _period(base.value, m)
        if period is None:
            raise Unknown
        rest = self.trace(exponent, period)
        self._closed(base.value, period, m)
        found = self._closed(base.value, rest, m)
        self.lines.setdefault(
            f"trace_period({base.value}, {show(exponent)}, {period}, ({show(exponent)}) / {period}, {rest}, {m});"
        )
        return found

    def _closed(self, base: int, exponent: int, m: int) -> int:
        """A power of literals by squaring."""
        if not 0 <= exponent <= MAX_EXPONENT:
            raise Unknown
        half, rest = 0, 1 % m
        for bit in f"{exponent:b}":
            square = rest * rest % m
            odd = base * square % m
            if half or bit == "1":
                self.lines.setdefault(f"trace_square({base}, {half}, {m}, {rest}, {square}, {odd});")
            half, rest = 2 * half + int(bit), odd if bit == "1" else square
        return rest
