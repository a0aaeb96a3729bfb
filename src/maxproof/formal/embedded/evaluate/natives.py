"""The prelude's functions computed directly, where their definitions by recursion would be slow.

Each takes a meter and its arguments, and gives exactly what the prelude's definition means (functions that are axioms:
what the standard function gives). It raises NotComputable where that is no rational number. Only for declarations that
are the prelude's own: see `evaluate.prelude`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction

from maxproof.formal.embedded.evaluate.values import Data, Function, Meter, NotComputable, OutOfBudget, Value

ZERO, ONE = Fraction(0), Fraction(1)


def ipow(meter: Meter, base: int, exponent: int) -> int:
    if exponent <= 0:
        return 1
    if base in (0, 1):
        return base
    if base == -1:
        return -1 if exponent % 2 else 1
    meter.product_bits((base.bit_length() - 1) * exponent + 1)
    power: int = base**exponent
    return power


def pow_(meter: Meter, base: Fraction, exponent: int) -> Fraction:
    return Fraction(ipow(meter, base.numerator, exponent), ipow(meter, base.denominator, exponent))


def zpow(meter: Meter, base: Fraction, exponent: int) -> Fraction:
    return pow_(meter, base, exponent) if exponent >= 0 else rdiv(meter, ONE, pow_(meter, base, -exponent))


def rdiv(meter: Meter, x: Fraction, y: Fraction) -> Fraction:
    return meter.real(x / y) if y else ZERO


def factorial(meter: Meter, n: int) -> int:
    if n <= 1:
        return 1
    meter.product_bits(n * n.bit_length())
    return math.factorial(n)


def choose(meter: Meter, n: int, k: int) -> int:
    if k < 0 or n < k:
        return 0
    k = min(k, n - k)
    meter.product_bits(min(n, k * n.bit_length()) + 1)
    return math.comb(n, k)


def prime(meter: Meter, n: int) -> bool:
    """By trial division, so refused for large numbers without a small factor."""
    if n < 4:
        return n >= 2
    if n % 2 == 0:
        return False
    meter.product_bits(n.bit_length())
    d = 3
    while d * d <= n:
        meter.spend(1)
        if n % d == 0:
            return False
        d += 2
    return True


def divisors(meter: Meter, n: int) -> frozenset[int]:
    found: set[int] = set()
    d = 1
    while d * d <= n:
        meter.spend(1)
        if n % d == 0:
            found.update((d, n // d))
        d += 1
    return frozenset(found)


def digits(meter: Meter, base: int, n: int) -> tuple[int, ...]:
    if n <= 0:
        return ()
    if base <= 0:
        return (n,)
    if base == 1:
        meter.spend(n)
        return (1,) * n
    found: list[int] = []
    while n:
        meter.spend(1 + (n.bit_length() >> 6))
        n, digit = divmod(n, base)
        found.append(digit)
    return tuple(found)


def of_digits(meter: Meter, base: int, items: tuple[int, ...]) -> int:
    total = 0
    for item in reversed(items):
        meter.product_bits(base.bit_length() + total.bit_length())
        meter.spend(1)
        total = item + base * total
    return total


def seq_isum(meter: Meter, items: tuple[int, ...]) -> int:
    meter.spend(len(items))
    return sum(items)


def interval(meter: Meter, lo: int, hi: int) -> range:
    if hi - lo > meter.steps:
        raise OutOfBudget("range too long")
    return range(lo, hi)


def int_sum(meter: Meter, items: Iterable[Value], f: Function) -> int:
    total = 0
    for item in items:
        meter.spend(1)
        total += f.apply((item,))
    return total


def int_product(meter: Meter, items: Iterable[Value], f: Function) -> int:
    factors: list[int] = []
    bits = 0
    for item in items:
        meter.spend(1)
        factor = f.apply((item,))
        if factor == 0:
            return 0
        bits += factor.bit_length()
        if bits > 2 * meter.bits:
            raise OutOfBudget("number too long")
        factors.append(factor)
    meter.product_bits(bits // 2)  # factors of one digit have about half a bit less each
    while len(factors) > 1:  # in pairs, so that long numbers meet long ones
        meter.spend(len(factors) + (bits >> 6))
        pairs = [x * y for x, y in zip(factors[::2], factors[1::2], strict=False)]
        factors = pairs + factors[len(factors) - len(factors) % 2 :]
    return factors[0] if factors else 1


def real_sum(meter: Meter, items: Iterable[Value], f: Function) -> Fraction:
    total = ZERO
    for item in items:
        meter.spend(5)
        total = meter.real(total + f.apply((item,)))
    return total


def real_product(meter: Meter, items: Iterable[Value], f: Function) -> Fraction:
    total = ONE
    for item in items:
        meter.spend(5)
        total = meter.real(total * f.apply((item,)))
    return total


def sqrt(meter: Meter, x: Fraction) -> Fraction:
    if x <= 0:
        return ZERO
    meter.spend(1 + (x.numerator.bit_length() >> 4))
    root = Fraction(math.isqrt(x.numerator), math.isqrt(x.denominator))
    if root * root != x:
        raise NotComputable("irrational square root")
    return root


def exp(_: Meter, x: Fraction) -> Fraction:
    if x:
        raise NotComputable("exponential function")
    return ONE


def log(_: Meter, x: Fraction) -> Fraction:
    if x not in (0, 1, -1):
        raise NotComputable("logarithm")
    return ZERO


def logb(meter: Meter, base: Fraction, x: Fraction) -> Fraction:
    """Rational exactly when x and base are powers of one rational number, or one of the logarithms is 0."""
    base, x = abs(base), abs(x)
    if base in (0, 1) or x in (0, 1):
        return ZERO
    sign = 1
    if base < 1:
        base, sign = 1 / base, -sign
    if x < 1:
        x, sign = 1 / x, -sign
    # Euclid's algorithm on the exponents: log_b(x) = q + 1 / log_(x / b^q)(b).
    high, low = x, base
    quotients: list[int] = []
    while low != 1:
        count = 0
        while high >= low:
            meter.spend(5)
            high, count = meter.real(high / low), count + 1
        quotients.append(count)
        if len(quotients) > 40:
            raise NotComputable("irrational logarithm")
        high, low = low, high
    value = Fraction(quotients.pop())
    while quotients:
        value = quotients.pop() + 1 / value
    return sign * value


def zero_only(name: str, value: Fraction) -> Callable[[Meter, Fraction], Fraction]:
    """A transcendental function that is known at 0 alone."""

    def at(_: Meter, x: Fraction) -> Fraction:
        if x:
            raise NotComputable(name)
        return value

    return at


def rpow(meter: Meter, base: Fraction, exponent: Fraction) -> Fraction:
    if base == 0:
        return ONE if exponent == 0 else ZERO
    if exponent.denominator == 1:
        return zpow(meter, base, exponent.numerator)
    if base < 0:
        raise NotComputable("real power of a negative number")
    root = Fraction(
        _root(meter, base.numerator, exponent.denominator), _root(meter, base.denominator, exponent.denominator)
    )
    return zpow(meter, root, exponent.numerator)


def _root(meter: Meter, x: int, n: int) -> int:
    """The n-th root of x >= 1, if it is whole."""
    if n > x.bit_length():
        root = 1
    else:
        low, high = 1, 1 << (x.bit_length() // n + 1)
        while low < high:
            middle = (low + high + 1) // 2
            if ipow(meter, middle, n) <= x:
                low = middle
            else:
                high = middle - 1
        root = low
    if root**n != x:
        raise NotComputable("irrational root")
    return root


def complex_(re: Fraction, im: Fraction) -> Data:
    return Data("Complex", (re, im))


def cmul(meter: Meter, z: Data, w: Data) -> Data:
    (a, b), (c, d) = z.fields, w.fields
    meter.spend(10)
    return complex_(meter.real(a * c - b * d), meter.real(a * d + b * c))


def cadd(meter: Meter, z: Data, w: Data) -> Data:
    return complex_(meter.real(z.fields[0] + w.fields[0]), meter.real(z.fields[1] + w.fields[1]))


def cnormsq(meter: Meter, z: Data) -> Fraction:
    re, im = z.fields
    return meter.real(re * re + im * im)


def cpow(meter: Meter, z: Data, n: int) -> Data:
    total = complex_(ONE, ZERO)
    for bit in bin(n)[2:] if n > 0 else "":
        total = cmul(meter, total, total)
        if bit == "1":
            total = cmul(meter, total, z)
    return total


def csum(meter: Meter, lo: int, hi: int, f: Function) -> Data:
    total = complex_(ZERO, ZERO)
    for k in interval(meter, lo, hi):
        meter.spend(10)
        total = cadd(meter, total, f.apply((k,)))
    return total


NATIVES: Mapping[str, Callable[..., Value]] = {
    "iabs": lambda _, x: abs(x),
    "imin": lambda _, x, y: min(x, y),
    "imax": lambda _, x, y: max(x, y),
    "idiv": lambda _, x, y: (x - x % abs(y)) // y if y else 0,
    "imod": lambda _, x, y: x % abs(y) if y else x,
    "monus": lambda _, x, y: max(x - y, 0),
    "ipow": ipow,
    "even": lambda _, x: x % 2 == 0,
    "odd": lambda _, x: x % 2 == 1,
    "divides": lambda _, d, n: n % d == 0 if d else n == 0,
    "gcd": lambda _, a, b: math.gcd(a, b),
    "lcm": lambda meter, a, b: meter.product_bits(a.bit_length() + b.bit_length()) or math.lcm(a, b),
    "coprime": lambda _, a, b: math.gcd(a, b) == 1,
    "prime": prime,
    "factorial": factorial,
    "choose": choose,
    "divisors": divisors,
    "digits": digits,
    "of_digits": of_digits,
    "seq_isum": seq_isum,
    "isum": lambda meter, lo, hi, f: int_sum(meter, interval(meter, lo, hi), f),
    "iprod": lambda meter, lo, hi, f: int_product(meter, interval(meter, lo, hi), f),
    "rsum": lambda meter, lo, hi, f: real_sum(meter, interval(meter, lo, hi), f),
    "rprod": lambda meter, lo, hi, f: real_product(meter, interval(meter, lo, hi), f),
    "csum": csum,
    "set_isum": int_sum,
    "set_iprod": int_product,
    "set_rsum": real_sum,
    "set_rprod": real_product,
    "rset_rsum": real_sum,
    "rset_rprod": real_product,
    "rabs": lambda _, x: abs(x),
    "rmin": lambda _, x, y: min(x, y),
    "rmax": lambda _, x, y: max(x, y),
    "rdiv": rdiv,
    "floor": lambda _, x: math.floor(x),
    "ceil": lambda _, x: math.ceil(x),
    "pow": pow_,
    "zpow": zpow,
    "sqrt": sqrt,
    "exp": exp,
    "log": log,
    "logb": logb,
    "sin": zero_only("sine", ZERO),
    "cos": zero_only("cosine", ONE),
    "tan": zero_only("tangent", ZERO),
    "rpow": rpow,
    "is_rational": lambda _, x: True,  # every value is
    "rat_num": lambda _, x: x.numerator,
    "rat_den": lambda _, x: x.denominator,
    "cadd": cadd,
    "cmul": cmul,
    "cnormsq": cnormsq,
    "cpow": cpow,
    "csub": lambda meter, z, w: cadd(meter, z, complex_(-w.fields[0], -w.fields[1])),
    "cabs": lambda meter, z: sqrt(meter, cnormsq(meter, z)),
}
