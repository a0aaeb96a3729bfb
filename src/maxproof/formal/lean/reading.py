"""The Lean reading of a statement, evaluated exactly: Mathlib's definitions on small values, with nothing from Dafny.

Values: ints for ℕ, ℤ, ℕ+ and ZMod, Fractions for ℚ, ℝ and ℝ≥0, pairs of Fractions for ℂ, frozensets for sets, tuples
for lists and tuples, Python functions of one argument for functions (curried). What has no exact value here, or costs
too much, is `NotComputable`: a quantifier over infinitely many values, a sine, a power of a million digits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from math import ceil, comb, factorial, floor, gcd, isqrt, lcm, prod
from typing import Any, Final, TypeAlias

from maxproof.formal.lean.terms import (
    COMPLEX,
    INT,
    NAT,
    NNREAL,
    PNAT,
    Arith,
    Cast,
    Compare,
    Component,
    Comprehension,
    Connective,
    Constant,
    Display,
    Fold,
    If,
    Interval,
    Inverse,
    Invoke,
    Lambda,
    Member,
    Negate,
    Not,
    Number,
    Power,
    SetOperation,
    SetType,
    Subset,
    Term,
    Truth,
    Tuple,
    Type,
    Var,
    ZMod,
)

Value: TypeAlias = Any
MAX_ITEMS: Final = 3_000
MAX_BITS: Final = 20_000


class NotComputable(Exception):
    """The term has no value that is found here; says nothing about what it means."""


def value_of(term: Term, values: Mapping[int, Value]) -> Value:
    """The value of `term` where its free variables, by index, have the values given.

    Raises:
        NotComputable: as the module says.
    """
    match term:
        case Var(index):
            return values[index]
        case Number(value, type_):
            return _from_int(value, type_) if value.denominator == 1 else value
        case Cast(value, type_):
            return _cast(value_of(value, values), value.type, type_)
        case Arith(op, left, right, type_):
            return _arithmetic(op, value_of(left, values), value_of(right, values), type_, values)
        case Negate(value, type_):
            return _times(_from_int(Fraction(-1), type_), value_of(value, values), type_)
        case Inverse(value, type_):
            return _inverse(value_of(value, values), type_, values)
        case Power(base, exponent, type_):
            return _power(value_of(base, values), value_of(exponent, values), type_, exponent.type, values)
        case If(condition, then, otherwise):
            return value_of(then if value_of(condition, values) else otherwise, values)
        case Fold(kind, var, domain, body, type_):
            return _fold(kind, [value_of(body, {**values, var.index: i}) for i in _items(domain, values)], type_)
        case Component(value, index):
            return value_of(value, values)[index]
        case Lambda(var, body):
            return lambda argument: value_of(body, {**values, var.index: argument})
        case Invoke(function, args):
            result = value_of(function, values)
            for arg in args:
                result = result(value_of(arg, values))
            return result
        case Constant(name, args):
            return _constant(name, args, values)
        case Tuple(items):
            return tuple(value_of(i, values) for i in items)
        case Display(items) if not isinstance(term.type, SetType):
            return tuple(value_of(i, values) for i in items)
    if isinstance(term.type, SetType):
        return frozenset(_items(term, values))
    return _truth(term, values)


def _truth(term: Term, values: Mapping[int, Value]) -> bool:
    match term:
        case Truth(value):
            return value
        case Not(value):
            return not value_of(value, values)
        case Connective(op, left, right):
            first = bool(value_of(left, values))
            if op in ("∧", "→", "∨") and first == (op == "∨"):
                return op != "∧"
            second = bool(value_of(right, values))
            return first == second if op == "↔" else second
        case Compare(op, left, right):
            return _compare(op, value_of(left, values), value_of(right, values), left.type, values)
        case Member(element, collection):
            return _member(value_of(element, values), collection, values)
        case Subset(left, right, proper):
            first_set, second_set = value_of(left, values), value_of(right, values)
            return first_set < second_set if proper else first_set <= second_set  # type: ignore[no-any-return]
    raise NotComputable(type(term).__name__)


def _compare(op: str, left: Value, right: Value, type_: Type, values: Mapping[int, Value]) -> bool:
    if isinstance(type_, ZMod):
        modulus = value_of(type_.modulus, values)
        difference = left - right
        equal = difference % modulus == 0 if modulus else difference == 0
        return bool(equal == (op == "="))
    match op:
        case "=":
            return bool(left == right)
        case "≠":
            return bool(left != right)
        case "<":
            return bool(left < right)
        case "≤":
            return bool(left <= right)
        case ">":
            return bool(left > right)
    return bool(left >= right)


# Numbers


def _from_int(value: Fraction, type_: Type) -> Value:
    if type_ == COMPLEX:
        return (value, Fraction(0))
    return int(value) if type_ in (NAT, INT, PNAT) or isinstance(type_, ZMod) else value


def _cast(value: Value, source: Type, target: Type) -> Value:
    if isinstance(source, SetType):
        return value
    if target == COMPLEX:
        return (Fraction(value), Fraction(0))
    return value if target in (NAT, INT, PNAT) or isinstance(target, ZMod) else Fraction(value)


def _bounded(value: Value) -> Value:
    size = value if isinstance(value, int) else value.numerator * value.denominator if value else 0
    if isinstance(size, int) and size.bit_length() > MAX_BITS:
        raise NotComputable("a number too long")
    return value


def _plus(left: Value, right: Value, type_: Type) -> Value:
    return (left[0] + right[0], left[1] + right[1]) if type_ == COMPLEX else left + right


def _times(left: Value, right: Value, type_: Type) -> Value:
    if type_ == COMPLEX:
        return (left[0] * right[0] - left[1] * right[1], left[0] * right[1] + left[1] * right[0])
    return _bounded(left * right)


def _arithmetic(op: str, left: Value, right: Value, type_: Type, values: Mapping[int, Value]) -> Value:
    match op:
        case "+":
            return _plus(left, right, type_)
        case "*":
            return _times(left, right, type_)
        case "-":
            if type_ in (NAT, NNREAL):
                return max(left - right, 0)
            return _plus(left, _times(_from_int(Fraction(-1), type_), right, type_), type_)
        case "/":
            if type_ in (NAT, INT):
                return _euclidean(left, right)[0]
            return _times(left, _inverse(right, type_, values), type_)
    return _euclidean(left, right)[1]


def _euclidean(left: int, right: int) -> tuple[int, int]:
    """Quotient and remainder in [0, |right|); (0, left) for a divisor of 0."""
    if right == 0:
        return 0, left
    rest = left % abs(right)
    return (left - rest) // right, rest


def _inverse(value: Value, type_: Type, values: Mapping[int, Value]) -> Value:
    if type_ == COMPLEX:
        size = value[0] ** 2 + value[1] ** 2
        return (value[0] / size, -value[1] / size) if size else value
    if isinstance(type_, ZMod):
        modulus = value_of(type_.modulus, values)
        if value % modulus == 0 and all(modulus % d for d in range(2, isqrt(modulus) + 1)):
            return 0
        if gcd(value, modulus) != 1:
            raise NotComputable("the inverse of a non-unit")
        return pow(value, -1, modulus)
    return 1 / value if value else value


def _power(base: Value, exponent: Value, type_: Type, kind: Type, values: Mapping[int, Value]) -> Value:
    if kind not in (NAT, INT):
        if exponent.denominator != 1 or not base:
            raise NotComputable("a real power")
        exponent = int(exponent)
    if exponent < 0:
        return _power(_inverse(base, type_, values), -exponent, type_, NAT, values)
    size = sum(p.numerator.bit_length() + p.denominator.bit_length() for p in (base if type_ == COMPLEX else (base,)))
    if size * exponent > MAX_BITS:
        raise NotComputable("a power too long")
    if type_ != COMPLEX:
        return base**exponent
    result = _from_int(Fraction(1), type_)
    for _ in range(exponent):
        result = _times(result, base, type_)
    return result


def _fold(kind: str, parts: list[Value], type_: Type) -> Value:
    result = _from_int(Fraction(0 if kind == "∑" else 1), type_)
    for part in parts:
        result = _plus(result, part, type_) if kind == "∑" else _times(result, part, type_)
    return result


# Sets


def _items(term: Term, values: Mapping[int, Value]) -> list[Value]:
    """The elements of a finite set, each once."""
    match term:
        case Interval(low, high, low_open, high_open) if low is not None and high is not None:
            if low.type not in (NAT, INT, PNAT):
                raise NotComputable("an interval of reals")
            first = value_of(low, values) + low_open
            return _limited(range(first, value_of(high, values) + (not high_open)))
        case Constant("Finset.range", (end,)):
            return _limited(range(value_of(end, values)))
        case Comprehension(var, domain, body) if domain is not None:
            return [i for i in _items(domain, values) if value_of(body, {**values, var.index: i})]
        case Display(items):
            return list({value_of(i, values) for i in items})
        case SetOperation(op, left, right):
            first_set, second_set = value_of(left, values), value_of(right, values)
            joined = {"∪": first_set | second_set, "∩": first_set & second_set, "\\": first_set - second_set}[op]
            return list(joined)
        case Cast(value):
            return _items(value, values)
        case Var() | Constant():
            return list(value_of(term, values))
    raise NotComputable("a set of this form")


def _limited(numbers: range) -> list[Value]:
    if len(numbers) > MAX_ITEMS:
        raise NotComputable("too many elements")
    return list(numbers)


def _member(element: Value, collection: Term, values: Mapping[int, Value]) -> bool:
    match collection:
        case Comprehension(var, domain, body):
            inside = domain is None or _member(element, domain, values)
            return inside and bool(value_of(body, {**values, var.index: element}))
        case Interval(low, high, low_open, high_open):
            above = low is None or (bool(value_of(low, values) < element) or (
                not low_open and value_of(low, values) == element))  # fmt: skip
            below = high is None or (bool(element < value_of(high, values)) or (
                not high_open and value_of(high, values) == element))  # fmt: skip
            return above and below
    return element in value_of(collection, values)


# Mathlib's functions


def _divisors(number: int) -> frozenset[int]:
    if number > MAX_ITEMS:
        raise NotComputable("the divisors of a large number")
    return frozenset(d for d in range(1, number + 1) if number % d == 0)


def _digits(base: int, number: int) -> tuple[int, ...]:
    if base < 2:
        raise NotComputable("digits in base 0 or 1")
    digits: list[int] = []
    while number:
        number, digit = divmod(number, base)
        digits.append(digit)
    return tuple(digits)


def _prime(number: int) -> bool:
    if number > 10**9:
        raise NotComputable("whether a large number is prime")
    return number > 1 and all(number % d for d in range(2, isqrt(number) + 1))


def _factorial(number: int) -> int:
    if number > 1_000:
        raise NotComputable("a large factorial")
    return factorial(number)


def _root(value: Fraction) -> Fraction:
    if value <= 0:
        return Fraction(0)
    root = Fraction(isqrt(value.numerator), isqrt(value.denominator))
    if root * root != value:
        raise NotComputable("an irrational root")
    return root


def _of_digits(base: int, digits: Iterable[int]) -> int:
    total, power = 0, 1
    for digit in digits:
        total, power = total + digit * power, power * base
    return total


def _divides(divisor: int, value: int) -> bool:
    return any(divisor * k == value for k in (0, value // divisor)) if divisor else value == 0


_FUNCTIONS: Final[Mapping[str, Callable[..., Value]]] = {
    **{"abs": abs, "max": max, "min": min, "Nat.gcd": gcd, "Nat.lcm": lcm, "Int.gcd": gcd, "Int.lcm": lcm},
    **{"Int.floor": floor, "Int.ceil": ceil, "Nat.succ": lambda n: n + 1, "Nat.pred": lambda n: max(n - 1, 0)},
    "Nat.floor": lambda x: max(floor(x), 0),
    "Nat.ceil": lambda x: max(ceil(x), 0),
    "Int.fract": lambda x: x - floor(x),
    **{"Int.natAbs": abs, "Int.toNat": lambda z: max(z, 0), "Nat.sqrt": isqrt, "Nat.choose": comb},
    **{"Nat.factorial": _factorial, "Nat.divisors": _divisors, "Nat.digits": _digits, "Nat.ofDigits": _of_digits},
    "Nat.properDivisors": lambda n: _divisors(n) - {n},
    **{"Nat.Prime": _prime, "Nat.Coprime": lambda a, b: gcd(a, b) == 1, "Dvd": _divides},
    "Even": lambda n: any(k + k == n for k in (n // 2,)),
    "Odd": lambda n: any(2 * k + 1 == n for k in ((n - 1) // 2,)),
    **{name: lambda n, a, b: _divides(n, a - b) for name in ("Nat.ModEq", "Int.ModEq")},
    **{"Real.sqrt": _root, "NNReal.sqrt": _root, "Irrational": lambda x: False},
    **{"Rat.num": lambda q: q.numerator, "Rat.den": lambda q: q.denominator},
    "Complex.I": lambda: (Fraction(0), Fraction(1)),
    **{"Complex.re": lambda z: z[0], "Complex.im": lambda z: z[1], "Complex.normSq": lambda z: z[0] ** 2 + z[1] ** 2},
    "Complex.abs": lambda z: _root(z[0] ** 2 + z[1] ** 2),
    "norm": lambda z: _root(z[0] ** 2 + z[1] ** 2) if isinstance(z, tuple) else abs(z),
    "Finset.card": len,
    "Nonempty": bool,
    **{"List.sum": sum, "List.prod": prod, "List.length": len},
    "Finset.range": lambda n: frozenset(_limited(range(n))),
    "IsLeast": lambda s, a: a in s and all(a <= x for x in s),
    "IsGreatest": lambda s, a: a in s and all(x <= a for x in s),
}


def _constant(name: str, args: tuple[Term, ...], values: Mapping[int, Value]) -> Value:
    if name not in _FUNCTIONS:
        raise NotComputable(name)
    return _FUNCTIONS[name](*(value_of(a, values) for a in args))
