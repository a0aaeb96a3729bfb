"""Problems of the lab that an option names: `--lab SPLIT:COUNT:SEED`."""

from __future__ import annotations

from typing import get_args

from maxproof.lab.generate import Split, problems
from maxproof.problems import InputError, Problem
from maxproof.problems.errors import nearest


def problems_of_lab(text: str) -> list[Problem]:
    """The problems that `SPLIT:COUNT:SEED` names, of the levels that training may see. Raises InputError."""
    split, count, seed = (*text.split(":"), "", "")[:3]
    known: dict[str, Split] = {name: name for name in get_args(Split)}
    if text.count(":") != 2 or not (count.isdecimal() and seed.isdecimal()) or max(len(count), len(seed)) > 9:
        raise InputError(f"expected SPLIT:COUNT:SEED, such as train:2000:0, got {text!r}", field="--lab")
    if split not in known:
        raise InputError(f"unknown split {split!r}", field="--lab", hint=nearest(split, known) or ", ".join(known))
    try:
        return [made.problem for made in problems(known[split], int(count), int(seed))]
    except ValueError as error:
        raise InputError(str(error), field="--lab") from None
