"""Divisors and primes by trial division, written out; cases by halving."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import isqrt

MAX_ROOT = 120


def divisor_lemma(n: int, shown: str) -> tuple[str, list[str]]:
    """Heading (after its name) and body of a lemma: every divisor of n >= 1 is in the display `shown`.

    A divisor up to the root is one of few numbers; for a larger one the cofactor is.
    """
    root = isqrt(n)
    small = cases_between("d", range(1, root + 1), lambda k: f"assert d == {k}; assert {n} % {k} == {n % k};")
    large = cases_between("q", range(root + 1), partial(_cofactor, n))
    body = [
        f"var q := {n} / d;",
        f"division({n}, d);",
        "mul_comm(q, d);",
        f"assert d * q == {n};",
        f"if d <= {root} {{ {small} }} else {{",
        f"if q > {root} {{",
        f"mul_monotone({root + 1}, d, q); mul_monotone({root + 1}, q, {root + 1}); assert false; }}",
        "if q < 0 { mul_monotone(1, d, -q); assert false; }",
        f"{large} }}",
    ]
    return f"(d: int)\n  requires 1 <= d <= {n} && divides(d, {n})\n  ensures d in {shown}", body


def _cofactor(n: int, q: int) -> str:
    found = f" assert d == {n // q};" if q and n % q == 0 else ""
    return f"assert q == {q}; assert d * {q} == {n};{found}"


def prime_lines(n: int) -> list[str]:
    """What shows that n is prime, or that it isn't; nothing below 2, and for a prime whose root is too large."""
    if n < 2:
        return []
    factor = next((d for d in range(2, min(isqrt(n), 10_000) + 1) if n % d == 0), None)
    if factor is not None:
        return [f"assert divides({factor}, {n});"]
    if isqrt(n) > MAX_ROOT:
        return []
    return [*(f"assert !divides({d}, {n});" for d in range(2, isqrt(n) + 1)), f"prime_by_trial({n});"]


def cases_between(name: str, starts: Sequence[int], leaf: Callable[[int], str]) -> str:
    """Cases by the last of `starts` that `name` reaches, halved until one is left."""
    if len(starts) == 1:
        return leaf(starts[0])
    middle = len(starts) // 2
    below, above = cases_between(name, starts[:middle], leaf), cases_between(name, starts[middle:], leaf)
    return f"if {name} < {starts[middle]} {{ {below} }} else {{ {above} }}"
