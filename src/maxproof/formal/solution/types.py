"""What the solution check says: accepted, or refused with the reason, the place and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from maxproof.formal.checkers.types import CheckResult
from maxproof.formal.syntax.ast import NOWHERE, Position


class SolutionState(StrEnum):
    """Only `ACCEPTED` counts."""

    ACCEPTED = "accepted"
    CHEATING = "cheating"  # the audit found a construct that would bypass the proof
    MALFORMED = "malformed"  # it doesn't parse, resolve or type-check
    STATEMENT = "statement"  # the submitted lemma doesn't imply the problem's
    UNPROVED = "unproved"  # some obligation failed or stayed unknown
    TIMEOUT = "timeout"
    UNSUPPORTED = "unsupported"  # outside what the checker reads
    TOOL_ERROR = "tool_error"  # the checker failed: not scored


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of feedback.

    Attributes:
        state: which kind of refusal it belongs to.
        construct: the construct or clause at fault, as the submission writes it.
        message: one filled-in line.
        at: its place in the submission; `NOWHERE` for the problem's own clauses.
        obligation: what had to be shown, "" if this is no obligation.
        counterexample: values by variable, where the checker gave one.
    """

    state: SolutionState
    construct: str
    message: str
    at: Position = NOWHERE
    obligation: str = ""
    counterexample: Mapping[str, str] = field(default_factory=dict)

    @property
    def line(self) -> str:
        """The finding with its place, as one line."""
        place = f"line {self.at.line}, column {self.at.column}: " if self.at != NOWHERE else ""
        return f"{place}{self.message}"


@dataclass(frozen=True, slots=True)
class SolutionVerdict:
    """What the check of one submission gave.

    Attributes:
        result: the checker's result; None when the audit or the parser refused before any checker ran.
        certified: the result of the fresh-process check by an installed Dafny, when one was asked for.
        proved, total: obligations of the submission; (0, 1) when refused before any check.
        credit: 0..1, the share of them that are proved and rest on nothing unproved.
    """

    state: SolutionState
    findings: tuple[Finding, ...] = ()
    result: CheckResult | None = None
    certified: CheckResult | None = None
    proved: int = 0
    total: int = 1
    credit: float = 0.0

    @property
    def accepted(self) -> bool:
        return self.state is SolutionState.ACCEPTED

    @property
    def reason(self) -> str:
        """One line: why it isn't accepted; "" if it is."""
        if self.accepted:
            return ""
        return self.findings[0].message if self.findings else self.state.value
