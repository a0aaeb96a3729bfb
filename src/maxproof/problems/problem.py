"""What is to be proved."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Problem:
    """One mathematical problem.

    Attributes:
        id: a short name, unique in its source.
        statement: what is to be proved or found, as Markdown with LaTeX; never empty.
        reference: a reference solution, if there is one.
        rubric: a grading scheme, if there is one.
        answer: the short final answer, if there is one.
        domain: algebra, combinatorics, geometry, number theory, ... as the source names it.
        level: difficulty as the source names it.
        source: where the problem comes from.
    """

    id: str
    statement: str
    reference: str | None = None
    rubric: str | None = None
    answer: str | None = None
    domain: str | None = None
    level: str | None = None
    source: str | None = None

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of every field: two problems with the same digest are the same problem."""
        return _digest(self)


@lru_cache(maxsize=16)
def _digest(problem: Problem) -> str:
    # Cached: every call's key holds it.
    text = json.dumps(asdict(problem), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
