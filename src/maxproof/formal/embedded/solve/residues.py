"""Questions about whole numbers, modulo small numbers: whether they hold for every choice of residues.

All variables run through their residues. A term is then known exactly (a remainder `x % m`), modulo M only (a
polynomial), or not at all; a comparison is true, false or unknown. Where for each choice of residues some hypothesis is
false or the goal true, the question holds for all whole numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import lcm
from typing import TypeAlias

from maxproof.formal.embedded.core import BOOL, INT, NAT, Bool, Builtin, Int, Op, Term, Var
from maxproof.formal.embedded.core.walk import free_variables, subnodes

Whole: TypeAlias = tuple[int, bool]  # a value, and whether it is exact; else it is a residue modulo M
Choice: TypeAlias = dict[str, int]

WORK = 300_000  # nodes evaluated for one question
VARIABLES = 4
LARGEST = 2_500  # modulus
USUAL = (2, 3, 4, 5, 7, 8, 9, 11, 13, 16)


def holds_by_residues(hypotheses: Sequence[Term], goal: Term) -> int | None:
    """A modulus that shows that `goal` follows from `hypotheses`; None where none is found."""
    relevant = [h for h in hypotheses if _readable(h)]
    terms = [*relevant, goal] if _readable(goal) else relevant
    names = sorted({v.name for t in terms for v in free_variables(t)})
    if not terms or not names or len(names) > VARIABLES:
        return None
    work = [WORK]
    for modulus in _moduli(terms):
        try:
            if _all_choices(names, relevant, goal if _readable(goal) else Bool(False), modulus, work):
                return modulus
        except _Spent:
            return None
    return None


class _Spent(Exception):
    """The work is used up."""


def _readable(term: Term) -> bool:
    """Made of comparisons of whole polynomials and remainders by literals."""
    for node in subnodes(term):
        match node:
            case Int() | Bool():
                continue
            case Var(sort=sort) if sort in (INT, NAT):
                continue
            case Builtin(op=Op.ADD | Op.SUB | Op.MUL | Op.NEG | Op.NOT | Op.AND | Op.OR | Op.IMPLIES | Op.IFF):
                continue
            case Builtin(op=Op.EQ | Op.LE | Op.LT, args=(left, _)) if left.sort in (INT, NAT, BOOL):
                continue
            case Builtin(op=Op.MOD, args=(_, Int(value=value))) if value != 0:
                continue
        return False
    return True


def _moduli(terms: Sequence[Term]) -> list[int]:
    """Multiples of all literal divisors, so that each remainder is known exactly."""
    literal = 1
    equations = False
    for term in terms:
        for node in subnodes(term):
            match node:
                case Builtin(op=Op.MOD, args=(_, Int(value=value))):
                    literal = lcm(literal, abs(value))
                case Builtin(op=Op.EQ):
                    equations = True
    usual = [lcm(literal, m) for m in USUAL] if equations else []
    return [m for m in dict.fromkeys([literal, *usual]) if 1 < m <= LARGEST]


def _all_choices(names: list[str], hypotheses: list[Term], goal: Term, modulus: int, work: list[int]) -> bool:
    """Each choice of residues makes a hypothesis false or the goal true."""
    checks: list[list[tuple[Callable[[Choice, int], bool | None], int]]] = [[] for _ in names]
    for hypothesis in hypotheses:
        last = max((names.index(v.name) for v in free_variables(hypothesis)), default=0)
        checks[last].append((_compiled(hypothesis), sum(1 for _ in subnodes(hypothesis))))
    claim, size = _compiled(goal), sum(1 for _ in subnodes(goal))
    choice: Choice = {}

    def go(depth: int) -> bool:
        if depth == len(names):
            work[0] -= size
            if work[0] < 0:
                raise _Spent
            return claim(choice, modulus) is True
        for residue in range(modulus):
            choice[names[depth]] = residue
            contradicted = False
            for check, cost in checks[depth]:
                work[0] -= cost
                if work[0] < 0:
                    raise _Spent
                if check(choice, modulus) is False:
                    contradicted = True
                    break
            if not contradicted and not go(depth + 1):
                return False
        return True

    return go(0)


def _compiled(term: Term) -> Callable[[Choice, int], bool | None]:
    """The truth of `term` for a choice of residues modulo M: None for unknown."""
    match term:
        case Bool(value=value):
            return lambda choice, m: value
        case Builtin(op=Op.NOT, args=(inner,)):
            f = _compiled(inner)

            def negated(choice: Choice, m: int) -> bool | None:
                truth = f(choice, m)
                return None if truth is None else not truth

            return negated
        case Builtin(op=Op.AND | Op.OR as op, args=args):
            return _junction([_compiled(arg) for arg in args], stop=op is Op.OR)
        case Builtin(op=Op.IMPLIES, args=(left, right)):
            return _junction([_compiled(Builtin(Op.NOT, (left,), BOOL)), _compiled(right)], stop=True)
        case Builtin(op=Op.IFF | Op.EQ, args=(left, right)) if left.sort == BOOL:
            f, g = _compiled(left), _compiled(right)

            def same(choice: Choice, m: int) -> bool | None:
                a, b = f(choice, m), g(choice, m)
                return None if a is None or b is None else a == b

            return same
        case Builtin(op=Op.EQ | Op.LE | Op.LT as op, args=(left, right)):
            return _comparison(op, _number(left), _number(right))
    return lambda choice, m: None


def _junction(parts: list[Callable[[Choice, int], bool | None]], stop: bool) -> Callable[[Choice, int], bool | None]:
    def joined(choice: Choice, m: int) -> bool | None:
        unknown = False
        for part in parts:
            truth = part(choice, m)
            if truth is stop:
                return stop
            unknown = unknown or truth is None
        return None if unknown else not stop

    return joined


def _comparison(
    op: Op, left: Callable[[Choice, int], Whole], right: Callable[[Choice, int], Whole]
) -> Callable[[Choice, int], bool | None]:
    def compared(choice: Choice, m: int) -> bool | None:
        (a, a_exact), (b, b_exact) = left(choice, m), right(choice, m)
        if a_exact and b_exact:
            return a == b if op is Op.EQ else a <= b if op is Op.LE else a < b
        return False if op is Op.EQ and (a - b) % m else None

    return compared


def _number(term: Term) -> Callable[[Choice, int], Whole]:
    match term:
        case Int(value=value):
            return lambda choice, m: (value, True)
        case Var(name=name):
            return lambda choice, m: (choice[name], False)
        case Builtin(op=Op.NEG, args=(inner,)):
            f = _number(inner)

            def negative(choice: Choice, m: int) -> Whole:
                value, exact = f(choice, m)
                return (-value, exact) if exact else (-value % m, False)

            return negative
        case Builtin(op=Op.MOD, args=(inner, Int(value=divisor))):
            f = _number(inner)

            def remainder(choice: Choice, m: int) -> Whole:
                value, exact = f(choice, m)
                assert exact or m % divisor == 0
                return value % abs(divisor), True

            return remainder
        case Builtin(op=op, args=(left, right)):
            f, g = _number(left), _number(right)

            def joined(choice: Choice, m: int) -> Whole:
                (a, a_exact), (b, b_exact) = f(choice, m), g(choice, m)
                value = a + b if op is Op.ADD else a - b if op is Op.SUB else a * b
                return (value, True) if a_exact and b_exact else (value % m, False)

            return joined
    raise AssertionError(f"not readable: {term}")
