"""What Dafny's messages mean, in the words of all versions, and its messages as text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from maxproof.formal.checkers.dafny_program import DafnyProgram
from maxproof.formal.checkers.types import Diagnostic, ObligationKind, ObligationResult, ObligationState
from maxproof.formal.syntax.ast import NOWHERE, Position


@dataclass(frozen=True, slots=True)
class Message:
    """One message.

    Attributes:
        line, column: 1-based line and 0-based column in the printed program; line 0 for a message about no place.
        severity: `error`, `warning` or `info`.
        related: places that belong to it, each as line, column and what is said of it.
        limit: it tells of an obligation that was open when a limit was reached.
        verifier: the verifier sent it, not the parser or the resolver.
    """

    line: int
    column: int
    severity: str
    text: str
    related: tuple[tuple[int, int, str], ...] = ()
    limit: bool = False
    verifier: bool = False


# In order: the first pattern that is found decides.
_KINDS: Final[tuple[tuple[str, ObligationKind], ...]] = (
    (r"postcondition of forall|forall statement", ObligationKind.FORALL_ENSURES),
    (r"calculation step", ObligationKind.CALC_STEP),
    (r"terminat|decrease", ObligationKind.TERMINATION),
    (r"division by zero|divisor", ObligationKind.DIVISOR),
    (r"constraints? (of|for) '?nat\b|natural number", ObligationKind.NATURAL),
    (r"must be an integer", ObligationKind.INTEGRAL),
    (r"(size|length) .*negative", ObligationKind.LENGTH),
    (r"out of range|upper bound|lower bound|in bounds", ObligationKind.INDEX),
    (r"destructor|constructed by", ObligationKind.CONSTRUCTOR),
    (r"alternative cases|missing case|cases fail", ObligationKind.CASES),
    (r"existence", ObligationKind.EXISTENCE),
    (r"unique", ObligationKind.UNIQUENESS),
    (r"postcondition", ObligationKind.POSTCONDITION),
    (r"precondition", ObligationKind.PRECONDITION),
    (r"^assert", ObligationKind.ASSERTION),
)
_LINE: Final = re.compile(r"[^\s(][^(\n]*\((\d+),(-?\d+)\): (.*)")
_HEAD: Final = re.compile(
    r"(?:(Error|Warning|Info)|(?:Timed out|Out of resource|Out of memory|Inconclusive) on|(Related \w+))"
    r"(?: ?[A-Z]*\d+)?: (.*)"
)
_ENDED: Final = re.compile(r"Verification (of '.*' timed out|(out of (resource|memory)|inconclusive) \()")


def obligation_kind(text: str) -> ObligationKind:
    """What had to be shown, from the verifier's words."""
    lowered = text.lower()
    return next((kind for pattern, kind in _KINDS if re.search(pattern, lowered)), ObligationKind.OTHER)


def read_message(line: str) -> Message | None:
    """The message that a line of text is; None if it is none. A related place is a message of severity `related`."""
    found = _LINE.match(line)
    if found is None:
        return None
    row, column, rest = int(found[1]), max(0, int(found[2])), found[3]
    head = _HEAD.fullmatch(rest)
    if head is None:
        # "Verification of 'X' timed out after 3 seconds" stands without a word before it.
        return Message(row, column, "info", rest, limit=True) if _ENDED.match(rest) else None
    severity, related, text = head.groups()
    if related:
        return Message(row, column, "related", text)
    return Message(row, column, (severity or "error").lower(), text, limit=severity is None)


def with_related(messages: Iterable[Message]) -> list[Message]:
    """Related places put where they belong: to the message before them. What was said twice stands once."""
    found: list[Message] = []
    for message in messages:
        if message.severity != "related":
            found.append(message)
        elif found:
            place = (message.line, message.column, message.text)
            found[-1] = replace(found[-1], related=(*found[-1].related, place))
    return list(dict.fromkeys(found))


def place(program: DafnyProgram, line: int, column: int) -> Position:
    """Where a place of the printed text (1-based line, 0-based column) came from."""
    return program.printed.origin(line, column + 1) if line else NOWHERE


def failed_obligation(program: DafnyProgram, message: Message, lemma: str = "") -> ObligationResult:
    """The obligation that a message of the verifier tells of."""
    kind = obligation_kind(message.text)
    related = message.related[0] if message.related else None
    clause = program.line(related[0] if related else message.line)
    return ObligationResult(
        kind=kind,
        state=ObligationState.TIMEOUT if message.limit else ObligationState.UNKNOWN,
        at=place(program, message.line, message.column),
        text=f"{message.text}: {clause}" if kind is ObligationKind.OTHER and clause else clause or message.text,
        lemma=lemma or program.declared_at(message.line),
        related=place(program, related[0], related[1]) if related else None,
    )


def diagnostic(program: DafnyProgram, message: Message) -> Diagnostic:
    return Diagnostic(message.text, place(program, message.line, message.column), message.severity)
