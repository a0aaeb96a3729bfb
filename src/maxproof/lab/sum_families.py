"""Statements of sums and products to draw from: families of terms for each technique.

What is drawn is a candidate: `sums.py` reads it, and takes it if its natural technique and its level are those wanted
and all numbers of its proofs are small.
"""

from __future__ import annotations

from random import Random

_ACCUMULATION_TERMS = {1: (2,), 2: (3,), 3: (4, 5), 4: (6, 7)}
_PAIRING_TERMS = {1: (8, 9), 2: (10, 11), 3: (12, 13), 4: (14, 15, 16)}
_PLAIN = ("k + {b}", "k - {b}", "{a} k + {b}", "{a} k - {b}", "{a} k", "{b} - k", "{b} - {a} k", "{b} + {a} k")
_CURVED = ("k^2 + {b}", "k^2 - {b}", "{a} k^2", "k (k + {b})", "k (k - {b})", "{b} - k^2", "k^2 + {a} k", "k^2 - k")
_NESTED = ("{a} (k + {b})", "{a} (k - {b})", "{a} (k + {b}) - {c}", "{a} (k - {b}) + {c}", "{b} - {a} (k - {c})")
_DIFFERENCES = (
    "(k + {g})^2 - k^2",
    "k^2 - (k - {g})^2",
    "(k + {s})^2 - (k - {t})^2",
    "{a} (k + {g})^2 - {a} k^2",
    "k^2 - (k + {g})^2",
    "(k + {g}) (k + {h}) - k (k + 1)",
    "1 / k - 1 / (k + {g})",
    "{a} / k - {a} / (k + {g})",
    "1 / (k + {b}) - 1 / (k + {c})",
    "1 / (k + {g}) - 1 / k",
)
_FRACTIONS = (
    "{g} / (k (k + {g}))",
    "{m} / (k (k + {g}))",
    "{g} / ((k + {b}) (k + {c}))",
    "2 / ((2 k - 1) (2 k + 1))",
    "{g} / ((k - {s}) (k + {t}))",
    "{m} / ((k + {b}) (k + {c}))",
)
_PRODUCTS = (
    "(k + {g}) / k",
    "k / (k + {g})",
    "(k + {b}) / (k + {c})",
    "1 + {g} / k",
    "1 - {g} / k",
    "1 - {g} / (k + {b})",
    "1 + {g} / (k + {b})",
    "(k - {s}) / (k + {t})",
    "(k + {t}) / (k - {s})",
)


def generate_series(rng: Random, technique: str, level: int) -> str:
    """A statement that may have `technique` for its natural one and be of `level`."""
    if technique == "telescoping":
        return _telescoping(rng, level)
    pairing = technique == "pairing"
    count = rng.choice((_PAIRING_TERMS if pairing else _ACCUMULATION_TERMS)[level])
    term = rng.choice((*_PLAIN, *_NESTED) if pairing else (*_PLAIN, *_NESTED, *_CURVED))
    first = rng.choice((0, 1, 1, 1, 2))
    values = {"a": rng.randint(2, 3), "b": rng.randint(1, 4 if "{b} -" not in term else 9), "c": rng.randint(1, 2)}
    return _statement("sum", term.format(**values), first, count)


def _telescoping(rng: Random, level: int) -> str:
    kind = rng.choice(("sum", "sum", "product") if level < 4 else ("sum",))
    gap = {1: (1,), 2: (1, 2), 3: (2,), 4: (3,)}[level]
    step = rng.choice(gap)
    early = rng.randint(1, 2)
    split = rng.randint(0, step)
    values = {
        "g": step,
        "h": step + 1,
        "s": split,
        "t": step - split,
        "a": rng.randint(2, 3),
        "m": step * rng.randint(2, 3),
        "b": early,
        "c": early + step,
    }
    terms = _PRODUCTS if kind == "product" else (*_DIFFERENCES, *_FRACTIONS)
    term = rng.choice(terms)
    if split in (0, step) and ("{s}" in term or "{t}" in term):
        term = terms[0]
    return _statement(kind, term.format(**values), rng.randint(1, 3), rng.randint(3, 6))


def _statement(kind: str, term: str, first: int, count: int) -> str:
    return f"Compute the {kind} of {term} for k from {first} to {first + count - 1}."
