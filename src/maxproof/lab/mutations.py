"""Operators that spoil a right proof, by name: each result is worth fewer points than what it was made from.

    mutate(question, question.solve("isolation"), "wrong_sign", rng)

An operator proposes a change of the claims, or none where it doesn't apply; `mutate` draws proposals until the oracle
gives one fewer points. A new operator is a function in `MUTATIONS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from random import Random
from types import MappingProxyType

from maxproof.lab.oracle import grade
from maxproof.lab.types import Question
from maxproof.verifier.types import MAX_POINTS

Claims = tuple[str, ...]
Operator = Callable[[Claims, Random], Claims | None]

MAX_TRIES = 12

_NUMBER = re.compile(r"(?<![\w.])-?[0-9]+")
_SIGN = re.compile(r" ([+*-]) (?=[0-9x-zkn(])")
_OTHER_SIGN = {"+": "-", "-": "+", "*": "+"}


def mutate(question: Question, claims: Claims, name: str, rng: Random) -> Claims | None:
    """The claims spoilt by the operator `name`; None if it doesn't apply or none of `MAX_TRIES` proposals costs points.

    `claims` must be a right proof, worth 7 points. Raises KeyError for an unknown name.
    """
    operator = MUTATIONS[name]
    refused: set[Claims] = {claims}
    for _ in range(MAX_TRIES):
        proposal = operator(claims, rng)
        if proposal is None:
            return None
        if proposal not in refused and grade(question, "\n".join(proposal)).points < MAX_POINTS:
            return proposal
        refused.add(proposal)
    return None


def _replaced(claims: Claims, index: int, claim: str) -> Claims:
    return (*claims[:index], claim, *claims[index + 1 :])


def _changed(claim: str, place: re.Match[str], number: int) -> str:
    return f"{claim[: place.start()]}{number}{claim[place.end() :]}"


def _wrong_number(claims: Claims, rng: Random) -> Claims | None:
    """Some number of some claim is off by 1 to 3."""
    places = [(index, place) for index, claim in enumerate(claims) for place in _NUMBER.finditer(claim)]
    if not places:
        return None
    index, place = rng.choice(places)
    return _replaced(claims, index, _changed(claims[index], place, int(place[0]) + rng.choice((-3, -2, -1, 1, 2, 3))))


def _wrong_result(claims: Claims, rng: Random) -> Claims | None:
    """The first number after some `=` is off by 1 or 2."""
    places = []
    for index, claim in enumerate(claims):
        found = _NUMBER.search(claim, claim.find("=") + 1) if "=" in claim else None
        if found is not None:
            places.append((index, found))
    if not places:
        return None
    index, place = rng.choice(places)
    return _replaced(claims, index, _changed(claims[index], place, int(place[0]) + rng.choice((-2, -1, 1, 2))))


def _wrong_sign(claims: Claims, rng: Random) -> Claims | None:
    """A number other than 0 has the opposite sign where a literal can have one: after `=`, `(` or `is`."""
    places = [
        (index, place)
        for index, claim in enumerate(claims)
        for place in _NUMBER.finditer(claim)
        if int(place[0]) and claim[: place.start()].endswith(("= ", "(", " is "))
    ]
    if not places:
        return None
    index, place = rng.choice(places)
    return _replaced(claims, index, _changed(claims[index], place, -int(place[0])))


def _wrong_operator(claims: Claims, rng: Random) -> Claims | None:
    """`+` for `-`, `-` for `+`, or `+` for `*`."""
    places = [(index, place) for index, claim in enumerate(claims) for place in _SIGN.finditer(claim)]
    if not places:
        return None
    index, place = rng.choice(places)
    claim = claims[index]
    changed = f"{claim[: place.start(1)]}{_OTHER_SIGN[place[1]]}{claim[place.end(1) :]}"
    return _replaced(claims, index, changed)


def _wrong_answer(claims: Claims, rng: Random) -> Claims | None:
    """The last claim's last number is off by 1 to 3."""
    places = list(_NUMBER.finditer(claims[-1])) if claims else []
    if not places:
        return None
    number = int(places[-1][0]) + rng.choice((-3, -2, -1, 1, 2, 3))
    return _replaced(claims, len(claims) - 1, _changed(claims[-1], places[-1], number))


def _dropped_step(claims: Claims, rng: Random) -> Claims | None:
    """One claim before the last is left out."""
    if len(claims) < 2:
        return None
    index = rng.randrange(len(claims) - 1)
    return (*claims[:index], *claims[index + 1 :])


def _dropped_end(claims: Claims, rng: Random) -> Claims | None:
    """The last claims are left out: the proof stops before its goal."""
    return claims[: -rng.randint(1, len(claims) - 1)] if len(claims) > 1 else None


def _answer_only(claims: Claims, rng: Random) -> Claims | None:
    """Nothing but the last claim."""
    return claims[-1:] if len(claims) > 1 else None


def _repeated_mistake(claims: Claims, rng: Random) -> Claims | None:
    """The first claim's last number is off by one, and every later claim that has this number is off with it."""
    places = list(_NUMBER.finditer(claims[0])) if claims else []
    if not places:
        return None
    number, off = places[-1][0], str(int(places[-1][0]) + rng.choice((-1, 1)))
    same = re.compile(rf"(?<![\w.-]){re.escape(number)}(?![\w.])")
    return (_changed(claims[0], places[-1], int(off)), *(same.sub(off, claim) for claim in claims[1:]))


MUTATIONS: Mapping[str, Operator] = MappingProxyType(
    {
        "wrong_number": _wrong_number,
        "wrong_result": _wrong_result,
        "wrong_sign": _wrong_sign,
        "wrong_operator": _wrong_operator,
        "wrong_answer": _wrong_answer,
        "dropped_step": _dropped_step,
        "dropped_end": _dropped_end,
        "answer_only": _answer_only,
        "repeated_mistake": _repeated_mistake,
    }
)
