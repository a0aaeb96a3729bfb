"""Arithmetic in Dafny: which of the prelude's functions stands for which operation of Mathlib on which type.

Three kinds of Dafny value carry Lean's numbers: ints (ℕ, ℤ, ℕ+, ZMod n), reals (ℚ, ℝ, ℝ≥0) and `complex`. Operations
that Dafny has with the same meaning are written as operators (`/` only where the divisor is built from literals and not
0, so that nothing is ill-formed); the rest are calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Final, Literal, cast

from maxproof.formal.lean import dafny
from maxproof.formal.lean.dafny import binary, call, compare
from maxproof.formal.lean.errors import NotTranslated
from maxproof.formal.lean.terms import (
    COMPLEX,
    INT,
    NAT,
    NNREAL,
    PNAT,
    RAT,
    REAL,
    Arith,
    Cast,
    Constant,
    Number,
    Power,
    Type,
    ZMod,
)
from maxproof.formal.lean.walk import size
from maxproof.formal.syntax.ast import Apply, Cardinality, Expr, IfExpr, IntLiteral, Member, Name, RealLiteral, Unary

# Literal exponents that are written as products: small ones for all bases, larger ones for plain bases.
SMALL_EXPONENT: Final = 4
PLAIN_EXPONENT: Final = 12
PLAIN_SIZE: Final = 3
LARGEST_PRODUCT: Final = 80

_WHOLE: Final = (NAT, INT, PNAT)
_REALS: Final = (RAT, REAL, NNREAL)


def kind(type_: Type) -> Literal["int", "real", "complex"]:
    """Which Dafny values carry the numbers of a type."""
    if type_ in _WHOLE or isinstance(type_, ZMod):
        return "int"
    if type_ in _REALS:
        return "real"
    assert type_ == COMPLEX, type_
    return "complex"


def complex_of(real: Expr) -> Expr:
    return call("Complex", real, dafny.REAL_ZERO)


def number(term: Number) -> Expr:
    match kind(term.type):
        case "int":
            return IntLiteral(int(term.value))
        case "real":
            return RealLiteral(term.value)
    return complex_of(RealLiteral(term.value))


def cast_of(term: Cast, value: Expr) -> Expr:
    source, target = kind(term.value.type), kind(term.type)
    if source == target:
        return value
    real = dafny.as_real(value) if source == "int" else value
    return real if target == "real" else complex_of(real)


def negation(type_: Type, value: Expr) -> Expr:
    if kind(type_) != "complex":
        return dafny.negated(value)
    match value:
        case Apply(Name("Complex"), (RealLiteral() as real, RealLiteral(zero))) if zero == 0:
            return complex_of(dafny.negated(real))
    return call("cneg", value)


def arithmetic(term: Arith, left: Expr, right: Expr) -> Expr:
    if kind(term.type) == "complex":
        return call({"+": "cadd", "-": "csub", "*": "cmul", "/": "cdiv"}[term.op], left, right)
    if term.op in ("+", "*"):
        return binary(term.op, left, right)
    if term.op == "-":
        if term.type == NAT:
            return call("monus", left, right)
        if term.type == NNREAL:
            return call("rmax", binary("-", left, right), dafny.REAL_ZERO)
        return binary("-", left, right)
    divisor = dafny.constant(right)
    if divisor is not None and divisor != 0:
        return binary(term.op, left, right)
    if kind(term.type) == "real":
        return call("rdiv", left, right)
    return call("idiv" if term.op == "/" else "imod", left, right)


def inverse(type_: Type, value: Expr) -> Expr:
    """Of a real or complex number."""
    if kind(type_) == "complex":
        return call("cinv", value)
    one = dafny.REAL_ONE
    divisor = dafny.constant(value)
    return binary("/", one, value) if divisor is not None and divisor != 0 else call("rdiv", one, value)


def power(term: Power, base: Expr, exponent: Expr) -> Expr:
    sort = kind(term.type)
    if term.exponent.type == REAL:
        return call("rpow", base, exponent)
    if term.exponent.type == INT:
        return _integer_power(sort, base, exponent)
    if isinstance(exponent, IntLiteral):
        if exponent.value == 0:
            return number(Number(Fraction(1), term.type))
        nodes = size(base)
        plain = nodes <= PLAIN_SIZE and dafny.constant(base) is None
        largest = PLAIN_EXPONENT if plain else SMALL_EXPONENT
        if exponent.value <= largest and nodes * exponent.value <= LARGEST_PRODUCT:
            return dafny.product(base, exponent.value, "cmul" if sort == "complex" else None)
    return call({"int": "ipow", "real": "pow", "complex": "cpow"}[sort], base, exponent)


def _integer_power(sort: str, base: Expr, exponent: Expr) -> Expr:
    if sort == "real":
        return call("zpow", base, exponent)
    negative = call("cinv", call("cpow", base, dafny.negated(exponent)))
    return IfExpr(compare(exponent, ">=", dafny.ZERO), call("cpow", base, exponent), negative)


def remainder(value: Expr, modulus: Expr) -> Expr:
    """`value` mod `modulus`, for a congruence."""
    number = dafny.constant(modulus)
    if number is None or number == 0:
        return call("imod", value, modulus)
    if isinstance(value, IntLiteral) and value.value < number:
        return value
    return binary("%", value, modulus)


def divides(divisor: Expr, value: Expr) -> Expr:
    number = dafny.constant(divisor)
    if number is not None and number != 0:
        return compare(binary("%", value, divisor), "==", dafny.ZERO)
    return call("divides", divisor, value)


# Mathlib's functions

_SAME: Final[Mapping[str, str]] = {
    **{f"Real.{name}": name for name in ("sqrt", "exp", "log", "logb", "sin", "cos", "tan", "pi")},
    **{"NNReal.sqrt": "sqrt", "Complex.abs": "cabs", "Complex.normSq": "cnormsq", "Complex.exp": "cexp"},
    **{f"Nat.{name}": name for name in ("factorial", "gcd", "lcm", "choose", "digits", "divisors")},
    **{"Nat.Prime": "prime", "Nat.Coprime": "coprime", "Even": "even", "Odd": "odd", "Nat.ofDigits": "of_digits"},
    **{"Int.natAbs": "iabs", "Int.floor": "floor", "Int.ceil": "ceil", "List.sum": "seq_isum"},
    **{"Rat.num": "rat_num", "Rat.den": "rat_den", "Filter.Tendsto": "tends_to"},
}
_FORMULAS: Final[Mapping[str, Callable[..., Expr]]] = {
    "Nat.succ": lambda n: binary("+", n, IntLiteral(1)),
    "Nat.pred": lambda n: call("monus", n, IntLiteral(1)),
    "Nat.sqrt": lambda n: call("floor", call("sqrt", dafny.as_real(n))),
    "Nat.floor": lambda x: call("imax", call("floor", x), dafny.ZERO),
    "Nat.ceil": lambda x: call("imax", call("ceil", x), dafny.ZERO),
    "Int.fract": lambda x: binary("-", x, dafny.as_real(call("floor", x))),
    "Int.toNat": lambda z: call("imax", z, dafny.ZERO),
    "Int.gcd": lambda a, b: call("gcd", call("iabs", a), call("iabs", b)),
    "Int.lcm": lambda a, b: call("lcm", call("iabs", a), call("iabs", b)),
    "Irrational": lambda x: Unary("!", call("is_rational", x)),
    "Complex.re": lambda z: Member(z, "re"),
    "Complex.im": lambda z: Member(z, "im"),
    "Complex.I": lambda: call("Complex", dafny.REAL_ZERO, dafny.REAL_ONE),
    "Nat.ModEq": lambda n, a, b: compare(remainder(a, n), "==", remainder(b, n)),
    "Int.ModEq": lambda n, a, b: compare(remainder(a, n), "==", remainder(b, n)),
    "Dvd": divides,
    "Finset.card": Cardinality,
    "List.length": Cardinality,
}


def function(term: Constant, args: tuple[Expr, ...]) -> Expr:
    """A function or predicate of Mathlib on numbers.

    Raises:
        NotTranslated: one that the prelude has nothing for.
    """
    name = term.name
    if name in _SAME:
        return call(_SAME[name], *args)
    if name in _FORMULAS:
        return _FORMULAS[name](*args)
    if name in ("abs", "max", "min"):
        prefix = {"int": "i", "real": "r"}[kind(term.type)]
        return call(prefix + name, *args)
    if name == "norm":
        return call("cabs" if term.args[0].type == COMPLEX else "rabs", *args)
    raise NotTranslated(f"`{name}`", term.at)


def order(op: str) -> Literal["==", "!=", "<", "<=", ">", ">="]:
    symbols = {"=": "==", "≠": "!=", "<": "<", "≤": "<=", ">": ">", "≥": ">="}
    return cast(Literal["=="], symbols[op])
