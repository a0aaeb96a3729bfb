"""The domains of the proof world. To add one, implement `Domain` and `Question` and name it here."""

from __future__ import annotations

from functools import lru_cache

from maxproof.lab import inequalities, linear, modular, sums
from maxproof.lab.types import Domain, Question

MAX_STATEMENT_CHARS = 400

DOMAINS: dict[str, Domain] = {
    "linear": linear.DOMAIN,
    "inequalities": inequalities.DOMAIN,
    "modular": modular.DOMAIN,
    "sums": sums.DOMAIN,
}
"""Every domain by its name."""


@lru_cache(maxsize=1024)
def read_question(statement: str) -> Question | None:
    """The question that a statement asks, white space at its ends aside; None if no domain reads it. Never raises."""
    if len(statement) > MAX_STATEMENT_CHARS:
        return None
    stripped = statement.strip()
    found = (question for domain in DOMAINS.values() if (question := domain.read(stripped)) is not None)
    return next(found, None)
