r"""Final answers that can be compared by rule: numbers, and nothing else.

    number_in("\\frac{3}{4}")            # Fraction(3, 4)
    boxed("... so \\boxed{0.75}.")       # "0.75"

Whether two formulas or two phrases say the same is not for a rule to decide: they are not compared at all.
"""

from __future__ import annotations

import re
from fractions import Fraction

MAX_ANSWER_CHARS = 200

_BOX = "\\boxed{"
_DROPPED = re.compile(r"\\(?:left|right|,|;|!|\s)|\$|\\\(|\\\)|\\\[|\\\]|(?<=\d),(?=\d{3}(?!\d))|\{,\}|[\s.]+\Z|\A\s+")
_FRACTION = re.compile(r"([+-]?)\\[dt]?frac(?:\{([+-]?\d{1,60})\}|(\d))(?:\{([+-]?\d{1,60})\}|(\d))", re.ASCII)
_RATIO = re.compile(r"([+-]?\d{1,60})/(\d{1,60})", re.ASCII)
_DECIMAL = re.compile(r"[+-]?\d{1,60}(?:\.\d{1,60})?", re.ASCII)


def number_in(text: str) -> Fraction | None:
    """The rational number that `text` is, in LaTeX or plain; None if it is anything else."""
    if len(text) > MAX_ANSWER_CHARS:
        return None
    plain = text.strip()
    while (shorter := _DROPPED.sub("", plain)) != plain:
        plain = shorter
    plain = plain.replace("−", "-").replace(" ", "")
    if found := _FRACTION.fullmatch(plain):
        sign, *parts = found.groups()
        top, bottom = int(parts[0] or parts[1]), int(parts[2] or parts[3])
        return Fraction(-top if sign == "-" else top, bottom) if bottom else None
    if found := _RATIO.fullmatch(plain):
        return Fraction(int(found[1]), int(found[2])) if int(found[2]) else None
    return Fraction(plain) if _DECIMAL.fullmatch(plain) else None


def boxed(text: str) -> str | None:
    r"""What stands in the last `\boxed{...}` of a text, braces matched; None without one that is closed."""
    start = text.rfind(_BOX)
    if start < 0:
        return None
    depth = 1
    for place in range(start + len(_BOX), min(len(text), start + len(_BOX) + 4 * MAX_ANSWER_CHARS)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return text[start + len(_BOX) : place]
    return None
