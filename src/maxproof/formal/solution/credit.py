"""Partial credit: the share of a submission's obligations that are proved and rest on nothing unproved.

What follows an unproved assertion may use it, and what calls an unproved lemma may use its conclusion: with `false`
among them everything would be proved. So of a declaration only what comes before its first gap counts, and nothing of
one that uses, by however many steps, a declaration with a gap, nor of a helper that claims what is false.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from maxproof.formal.checkers.types import CheckResult, ObligationKind, ObligationResult, ObligationState
from maxproof.formal.syntax.ast import Declaration
from maxproof.formal.syntax.walk import names_used


def credit(result: CheckResult, declarations: Sequence[Declaration], conclusion: Collection[str]) -> float:
    """0..1, and 1 only where all is proved.

    An assertion that a declaration repeats is one obligation. A checker that tells of failed obligations only gives no
    order: there the share of proved ones counts, and nothing once a declaration outside `conclusion` has a gap.

    Args:
        declarations: everything that was checked.
        conclusion: names of the lemmas that state what is to be proved.
    """
    told = _once_each(result.obligations)
    gaps = {one.lemma for one in told if one.state is not ObligationState.PROVED}
    if result.total is not None and result.total > len(result.obligations):
        return (result.proved or 0) / result.total if gaps <= {*conclusion, ""} else 0.0
    worthless = _users(gaps, {each.name: names_used(each) for each in declarations})
    worthless |= {one.lemma for one in told if one.state is ObligationState.REFUTED and one.lemma not in conclusion}
    counted = 0
    open_: set[str] = set()
    for one in told:
        if one.state is not ObligationState.PROVED:
            open_.add(one.lemma)
        elif one.lemma not in open_ and one.lemma not in worthless:
            counted += 1
    return counted / max(1, len(told))


def _once_each(obligations: Sequence[ObligationResult]) -> list[ObligationResult]:
    """All but the assertions that were proved in the same words before."""
    kept: list[ObligationResult] = []
    known: set[tuple[str, str]] = set()
    for one in obligations:
        if one.kind is ObligationKind.ASSERTION and one.state is ObligationState.PROVED:
            if (one.lemma, one.text) in known:
                continue
            known.add((one.lemma, one.text))
        kept.append(one)
    return kept


def _users(names: Collection[str], uses: Mapping[str, Collection[str]]) -> set[str]:
    """The declarations that use one of `names` other than themselves, directly or by others."""
    found: set[str] = set()
    wanted = set(names)
    while True:
        fresh = {
            name for name, used in uses.items() if name not in found and any(n in wanted and n != name for n in used)
        }
        if not fresh:
            return found
        found |= fresh
        wanted |= fresh
