"""What every checker takes and gives: a program with targets and limits in, a result with its obligations out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from maxproof.formal.syntax.ast import NOWHERE, Position, Program


@dataclass(frozen=True, slots=True)
class Limits:
    """What one check may spend.

    Attributes:
        resource: the solver's deterministic resource limit for each obligation (Z3 rlimit units); None: no limit of
            that kind (Dafny 2.3 has none that works).
        seconds: soft limit of solver time for each obligation, for checkers that take one.
        wall_seconds: hard limit of one whole check; then the process group is killed.
        memory_mb: address space of one solver process; more ends the check.
        seed: the solver's random seed.
    """

    resource: int | None = 20_000_000
    seconds: float = 10.0
    wall_seconds: float = 60.0
    memory_mb: int = 2048
    seed: int = 0


class CheckState(StrEnum):
    """How one check ended. Only `PROVED` accepts."""

    PROVED = "proved"  # every obligation of every target was proved
    FAILED = "failed"  # some obligation was refuted or stayed unknown
    TIMEOUT = "timeout"  # a limit (resource, wall or memory) ended it before an answer
    ILL_FORMED = "ill_formed"  # it doesn't parse, resolve or type-check
    UNSUPPORTED = "unsupported"  # outside what this checker reads: says nothing about the proof
    TOOL_ERROR = "tool_error"  # the checker itself failed: says nothing about the proof


class ObligationState(StrEnum):
    PROVED = "proved"
    REFUTED = "refuted"  # a counterexample was found
    UNKNOWN = "unknown"
    TIMEOUT = "timeout"


class ObligationKind(StrEnum):
    """What must be shown, in the words that feedback uses."""

    ASSERTION = "assertion"
    POSTCONDITION = "postcondition"
    PRECONDITION = "precondition"
    CALC_STEP = "calculation step"
    FORALL_ENSURES = "forall postcondition"
    CASES = "missing case"
    EXISTENCE = "existence of a value"
    UNIQUENESS = "uniqueness of a value"
    TERMINATION = "termination"
    DIVISOR = "divisor is not zero"
    NATURAL = "value is a natural number"
    INTEGRAL = "value is an integer"
    INDEX = "index in range"
    LENGTH = "length is not negative"
    CONSTRUCTOR = "value has this constructor"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class ObligationResult:
    """What a checker says of one obligation.

    Attributes:
        at: where in the program that was checked (its nodes' positions).
        text: the clause or expression at fault, filled in; no format strings.
        lemma: the declaration.
        method: how it was settled, e.g. `evaluation`, `e-matching`, `nlsat`; "" if the checker doesn't say.
        counterexample: values by variable name, printed as Dafny expressions.
        confirmed: the counterexample was confirmed by exact evaluation; otherwise it may owe to what the solver doesn't
            know of a function.
        resource: solver resource units spent.
        related: another place that matters (the clause that was declared there).
    """

    kind: ObligationKind
    state: ObligationState
    at: Position
    text: str
    lemma: str = ""
    method: str = ""
    counterexample: Mapping[str, str] = field(default_factory=dict)
    confirmed: bool = False
    resource: int = 0
    related: Position | None = None


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A message about the program that is no obligation: an error of syntax, names or types, or a warning."""

    message: str
    at: Position = NOWHERE
    severity: str = "error"  # error, warning or info


@dataclass(frozen=True, slots=True)
class Tool:
    """Which checker gave a result: `embedded`, `dafny-2.3`, `dafny-4`, with its versions."""

    name: str
    version: str
    solver: str

    def __str__(self) -> str:
        return f"{self.name} {self.version} ({self.solver})"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check of one program.

    Attributes:
        obligations: those the checker told of, in program order. Dafny tells of failed ones only.
        proved, total: obligations proved and posed; None where the checker doesn't count them.
        seconds: wall time of the check; 0 from the cache.
        reason: one line: why it ended as it did, "" when proved.
        cached: taken from the verdict cache.
    """

    state: CheckState
    tool: Tool
    obligations: tuple[ObligationResult, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    proved: int | None = None
    total: int | None = None
    seconds: float = 0.0
    resource: int = 0
    reason: str = ""
    cached: bool = False


@dataclass(frozen=True, slots=True)
class CheckTask:
    """What to check: the obligations of `targets` in `program`; everything else in it is trusted.

    Attributes:
        program: complete: every name that is used is declared. Usually `formal.prelude.assemble` made it.
        targets: names of lemmas and functions to verify.
    """

    program: Program
    targets: tuple[str, ...]


class Checker(Protocol):
    """A checker of programs. Any number of checks may run at once; a checker limits itself to its workers."""

    @property
    def tool(self) -> Tool: ...

    async def check(self, task: CheckTask, limits: Limits) -> CheckResult:
        """Never raises for what the program is: a crash or a limit is a state of the result."""
        ...

    async def aclose(self) -> None:
        """Ends its processes; no child survives."""
        ...
