"""The three verdicts as functions, for the domains' judges."""

from __future__ import annotations

from collections.abc import Hashable

from maxproof.lab.types import Judgement, StepVerdict


def valid(state: Hashable, goal: bool = False) -> Judgement:
    """One inference; `state` is what is established after it."""
    return Judgement(StepVerdict.VALID, "", goal, state)


def leap(state: Hashable, description: str, goal: bool = False) -> Judgement:
    """True, but more than one inference away; `state` as after a valid claim."""
    return Judgement(StepVerdict.LEAP, description, goal, state)


def false(state: Hashable, description: str) -> Judgement:
    """False: `state` is what it was before."""
    return Judgement(StepVerdict.FALSE, description, False, state)
