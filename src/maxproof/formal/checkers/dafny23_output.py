"""What Dafny 2.3 said, read strictly: a result is `proved` only on the verifier's own word for each target.

With `/trace` the verifier names each procedure before it tells its outcome:

    Verifying Impl$$_module.__default.sum__positive ...
      [0.052 s, 2 proof obligations]  verified

A summary alone is not to be trusted: where the solver gives up early it says "0 verified, 0 errors" and exits with 0,
and `DafnyServer` ends every answer with `[SUCCESS]`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from maxproof.formal.checkers.dafny_messages import (
    Message,
    diagnostic,
    failed_obligation,
    read_message,
    with_related,
)
from maxproof.formal.checkers.dafny_program import DafnyProgram
from maxproof.formal.checkers.types import CheckResult, CheckState, ObligationResult, Tool

_VERIFYING: Final = re.compile(r"Verifying (\S+) \.\.\.")
_OUTCOME: Final = re.compile(r"  \[(?:[\d.E-]+ s, )?(\d+) proof obligations?\]  (\w[\w ]*)")
_SUMMARY: Final = re.compile(r"Dafny program verifier finished with (\d+) verified, (\d+) errors?(.*)")
_OPTION: Final = re.compile(r"  \w+ \([\w ]+\)( \(default: .*\))?")
# Z3 4.8.12 doesn't know this option of Boogie's; it has no meaning for the answer.
_NOISE: Final = re.compile(r"Prover error: line \d+ column \d+: unknown parameter 'model_compress'")
_SOLVER_LIMIT: Final = re.compile(r"resource limit exceeded|canceled|timeout")
_CRASH: Final = re.compile(r"\[ERROR\] FATAL|Unhandled Exception|Stacktrace:|\*\*\* Error|\[FAILURE\]")
_COMPLETED: Final = "Verification completed successfully!"  # DafnyServer: it got through, whatever the outcome
_LIMITS: Final = frozenset(("timed out", "out of resource", "out of memory"))


@dataclass(slots=True)
class _Procedure:
    """A procedure of the verifier. `outcome` is "" until it is told."""

    name: str
    obligations: int = 0
    outcome: str = ""
    messages: list[Message] = field(default_factory=list)
    solver_limit: bool = False


@dataclass(slots=True)
class _Said:
    procedures: list[_Procedure] = field(default_factory=list)
    before: list[Message] = field(default_factory=list)
    trouble: list[str] = field(default_factory=list)
    summary: tuple[int, int, str] | None = None
    completed: bool = False


def verifier_name(name: str) -> str:
    """A Dafny name as the verifier writes it."""
    return name.replace("_", "__").replace("'", "_k").replace("?", "_q")


def read_output(
    program: DafnyProgram, output: str, tool: Tool, *, seconds: float, code: int | None = None
) -> CheckResult:
    """The result that `output` amounts to.

    Args:
        output: of `dafny /trace`, or one answer of DafnyServer.
        code: the exit code of `dafny`, which must agree; None for an answer of DafnyServer.
    """
    said = _read(output.split("\n"))
    names = {verifier_name(name): name for name in program.targets}
    obligations: list[ObligationResult] = []
    proved = total = 0
    for procedure in said.procedures:
        lemma = names.get(procedure.name.rpartition("__default.")[2], "")
        failures = [m for m in with_related(procedure.messages) if m.severity == "error"]
        obligations.extend(failed_obligation(program, message, lemma) for message in failures)
        total += procedure.obligations
        if procedure.outcome == "verified":
            proved += procedure.obligations
        elif procedure.outcome.startswith("error") and not procedure.solver_limit:
            proved += max(0, procedure.obligations - max(1, len(failures)))
    before = with_related(said.before)
    state, reason = _verdict(program, said, code)
    return CheckResult(
        state=state,
        tool=tool,
        obligations=tuple(obligations),
        diagnostics=tuple(diagnostic(program, message) for message in before if message.severity != "info"),
        proved=proved if said.procedures else None,
        total=total if said.procedures else None,
        seconds=seconds,
        reason=reason,
    )


def _read(lines: Iterable[str]) -> _Said:
    said = _Said()
    current: _Procedure | None = None
    options = False  # inside Z3's list of legal parameters
    limit = False  # the solver gave up on the procedure that is named next
    for line in lines:
        options = options and _OPTION.fullmatch(line) is not None
        if options or _NOISE.fullmatch(line):
            continue
        if line == "Legal parameters are:":
            options = True
        elif found := _VERIFYING.fullmatch(line):
            current = _Procedure(found[1], solver_limit=limit)
            limit = False
            said.procedures.append(current)
        elif (found := _OUTCOME.fullmatch(line)) and current is not None and not current.outcome:
            current.obligations, current.outcome = int(found[1]), found[2]
        elif line.startswith("Prover error: "):
            limit = _SOLVER_LIMIT.search(line) is not None
            if not limit:
                said.trouble.append(line)
        elif found := _SUMMARY.fullmatch(line):
            said.summary = (int(found[1]), int(found[2]), found[3])
        elif _CRASH.search(line):
            said.trouble.append(line)
        elif (message := read_message(line)) is not None:
            (current.messages if current is not None else said.before).append(message)
        elif line == _COMPLETED:
            said.completed = True
    if limit:
        said.trouble.append("the solver gave up on an unnamed procedure")
    return said


def _verdict(program: DafnyProgram, said: _Said, code: int | None) -> tuple[CheckState, str]:
    if said.trouble:
        return CheckState.TOOL_ERROR, said.trouble[0][:300]
    errors = [message for message in said.before if message.severity == "error"]
    if errors:
        return CheckState.ILL_FORMED, errors[0].text
    for procedure in said.procedures:
        if procedure.outcome.startswith("error") and not procedure.solver_limit:
            return CheckState.FAILED, f"not proved: {procedure.name.rpartition('.')[2]}"
    for procedure in said.procedures:
        if procedure.outcome in _LIMITS or procedure.solver_limit:
            return CheckState.TIMEOUT, f"the solver's limit ended it: {procedure.outcome}"
    for procedure in said.procedures:
        if procedure.outcome != "verified":
            return CheckState.FAILED, f"not proved: {procedure.outcome or 'no outcome'}"
    verified = {procedure.name for procedure in said.procedures}
    for name in sorted(program.must_show):
        if f"Impl$$_module.__default.{verifier_name(name)}" not in verified:
            return CheckState.TOOL_ERROR, f"Dafny said nothing of {name}"
    if code is None and not said.completed:
        return CheckState.TOOL_ERROR, "DafnyServer's answer is not complete"
    if code is not None and (code != 0 or said.summary != (len(said.procedures), 0, "")):
        return CheckState.TOOL_ERROR, f"Dafny's summary disagrees with its trace (exit code {code})"
    return CheckState.PROVED, ""
