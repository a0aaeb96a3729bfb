"""What Dafny 4 said, in each form its versions have: JSON objects, bare diagnostics, or text.

From 4.11 each line is `{"type": T, "value": V}`; 4.3 to 4.10 with `--json-diagnostics` print bare diagnostics and plain
text; without either there is text alone. A result is `proved` only if exit code, trailer, messages and the verifier's
log agree that it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from maxproof.formal.checkers.dafny23_output import verifier_name
from maxproof.formal.checkers.dafny_messages import (
    Message,
    diagnostic,
    failed_obligation,
    read_message,
    with_related,
)
from maxproof.formal.checkers.dafny_program import DafnyProgram
from maxproof.formal.checkers.types import CheckResult, CheckState, Tool

_TRAILER: Final = re.compile(
    r"Dafny program verifier finished with (\d+) (?:assertions? )?verified, (\d+) errors?((?:, \d+ [a-z ]+)*)\.?"
)
_PLACEHOLDER: Final = re.compile(r"\{\{|\}\}|\{(\d+)(?:[,:][^{}]*)?\}")
_LIMIT: Final = re.compile(r"timed out|out of (resource|memory)", re.IGNORECASE)
_SEVERITIES: Final = {1: "error", 2: "warning"}
_VERIFIER: Final = "Verifier"
# Warnings that say nothing of whether the proof is one. Any other keeps a result from being `proved`.
_HARMLESS: Final = re.compile(r"trigger|deprecat|shadow|redundant|unnecessary|indentation", re.IGNORECASE)
_FINISHED: Final = frozenset((0, 2, 4))


@dataclass(slots=True)
class _Said:
    messages: list[Message] = field(default_factory=list)
    trailer: tuple[int, int, str] | None = None
    trouble: list[str] = field(default_factory=list)


def filled(message: str, arguments: list[Any]) -> str:
    """A .NET format string with its arguments put in; a placeholder without an argument stays."""

    def value(found: re.Match[str]) -> str:
        if found[1] is None:
            return found[0][0]
        index = int(found[1])
        return str(arguments[index]) if index < len(arguments) else found[0]

    return _PLACEHOLDER.sub(value, message) if arguments else message


def json_message(value: Mapping[str, Any]) -> Message | None:
    """A diagnostic object; None for an object that is none."""
    line, column = _json_place(value.get("location"))
    text = _json_text(value)
    if not text:
        return None
    related = []
    for item in value.get("relatedInformation") or ():
        if isinstance(item, dict):
            related.append((*_json_place(item.get("location")), _json_text(item)))
    return Message(
        line=line,
        column=column,
        severity=_SEVERITIES.get(value.get("severity", 1), "info"),
        text=text,
        related=tuple(related),
        limit=_LIMIT.search(text) is not None,
        verifier=value.get("source") == _VERIFIER,
    )


def read_output(
    program: DafnyProgram,
    output: str,
    log: str | None,
    tool: Tool,
    *,
    seconds: float,
    code: int | None,
) -> CheckResult:
    """The result of one run of `dafny verify`.

    Args:
        log: what `--log-format json` (or csv) wrote; None where there is no such file.
        code: the exit code.
    """
    said = _read(output)
    counts = read_log(log or "")
    verifier_errors = [m for m in said.messages if m.severity == "error" and (m.verifier or code == 4)]
    state, reason = _verdict(program, said, counts, code)
    return message_result(program, said.messages, verifier_errors, tool, state, reason, seconds=seconds, log=counts)


def message_result(
    program: DafnyProgram,
    messages: list[Message],
    verifier_errors: list[Message],
    tool: Tool,
    state: CheckState,
    reason: str,
    *,
    seconds: float,
    log: Log,
) -> CheckResult:
    """Messages sorted into failed obligations and everything else."""
    obligations = tuple(failed_obligation(program, message) for message in verifier_errors)
    others = tuple(
        diagnostic(program, message)
        for message in messages
        if message not in verifier_errors and message.severity in ("error", "warning")
    )
    proved, total = None, None
    if log.assertions:
        total = log.assertions
        proved = total if state is CheckState.PROVED else max(0, total - max(1, log.open_batches, len(obligations)))
    return CheckResult(
        state=state,
        tool=tool,
        obligations=obligations,
        diagnostics=others,
        proved=proved,
        total=total,
        seconds=seconds,
        resource=log.resource,
        reason=reason,
    )


@dataclass(frozen=True, slots=True)
class Log:
    """What the verifier's own log says.

    Attributes:
        correct, other: names of procedures found correct, and of those not.
        assertions, open_batches: assertions in all, and assertion batches that were not proved.
    """

    correct: frozenset[str] = frozenset()
    other: frozenset[str] = frozenset()
    assertions: int = 0
    open_batches: int = 0
    resource: int = 0

    def proves(self, lemma: str) -> bool:
        """It names the lemma's body as correct, and nothing of the lemma as anything else."""
        boogie, readable = f"$$_module.__default.{verifier_name(lemma)}", f"{lemma} ("
        correct = f"Impl{boogie}" in self.correct or f"{readable}correctness)" in self.correct
        return correct and not any(name.endswith(boogie) or name.startswith(readable) for name in self.other)


def read_log(text: str) -> Log:
    """Reads `--log-format json` (4.5 and later) or csv. Text that is neither gives an empty log."""
    text = text.lstrip("\ufeff \n")
    if not text.startswith("{"):
        return _csv_log(text)
    try:
        results = json.loads(text)["verificationResults"]
        correct: set[str] = set()
        other: set[str] = set()
        assertions = open_batches = resource = 0
        for result in results:
            (correct if result["outcome"] == "Correct" else other).add(str(result["name"]))
            resource += int(result.get("resourceCount", 0))
            for batch in result.get("vcResults", ()):
                assertions += len(batch.get("assertions", ()))
                open_batches += batch["outcome"] != "Valid"
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return Log()
    return Log(frozenset(correct), frozenset(other), assertions, open_batches, resource)


def _csv_log(text: str) -> Log:
    lines = text.splitlines()
    if not lines or not lines[0].startswith("TestResult.DisplayName,TestResult.Outcome,"):
        return Log()
    correct: set[str] = set()
    other: set[str] = set()
    for line in lines[1:]:
        name, _, rest = line.partition(",")
        (correct if rest.startswith("Passed") else other).add(re.sub(r" \(assertion batch \d+\)$", "", name))
    return Log(frozenset(correct - other), frozenset(other))


def _json_place(location: Any) -> tuple[int, int]:
    """1-based line, 0-based column; (0, 0) where the object names none."""
    try:
        start = location["range"]["start"]
        return int(start["line"]), int(start["character"])
    except (KeyError, TypeError, ValueError, OverflowError):
        return 0, 0


def _json_text(value: Mapping[str, Any]) -> str:
    if isinstance(value.get("message"), str):
        return str(value["message"])
    arguments = value.get("arguments")
    return filled(str(value.get("defaultFormatMessage") or ""), arguments if isinstance(arguments, list) else [])


def _read(output: str) -> _Said:
    said = _Said()
    for line in output.splitlines():
        stripped = line.strip()
        parsed: Any = None
        if stripped.startswith("{"):
            try:
                parsed = json.loads(stripped)
            except (ValueError, RecursionError):
                continue
        if not isinstance(parsed, dict):
            _read_text(line, said)
        elif "type" not in parsed:
            _add(json_message(parsed), said)
        elif parsed["type"] == "diagnostic" and isinstance(parsed.get("value"), dict):
            _add(json_message(parsed["value"]), said)
        elif parsed["type"] in ("error", "exception"):
            said.trouble.append(str(parsed.get("value"))[:300])
        elif parsed["type"] == "status":
            for text in str(parsed.get("value")).splitlines():
                _read_text(text, said)
    said.messages = with_related(said.messages)
    return said


def _add(message: Message | None, said: _Said) -> None:
    if message is not None:
        said.messages.append(message)


def _read_text(line: str, said: _Said) -> None:
    if found := _TRAILER.fullmatch(line.strip()):
        said.trailer = (int(found[1]), int(found[2]), found[3])
    elif line.startswith(("Unhandled exception", "*** Error", "Prover error")):
        said.trouble.append(line[:300])
    else:
        _add(read_message(line), said)


def blocking_warning(messages: list[Message]) -> Message | None:
    """The first warning that keeps a result from being `proved`."""
    return next((m for m in messages if m.severity == "warning" and not _HARMLESS.search(m.text)), None)


def _verdict(program: DafnyProgram, said: _Said, log: Log, code: int | None) -> tuple[CheckState, str]:
    errors = [message for message in said.messages if message.severity == "error"]
    if said.trouble:
        return CheckState.TOOL_ERROR, said.trouble[0]
    if code not in _FINISHED:
        return CheckState.TOOL_ERROR, f"Dafny ended with exit code {code}"
    early = [message for message in errors if not message.verifier and code == 2]
    if early:
        return CheckState.ILL_FORMED, early[0].text
    failed = [message for message in errors if not message.limit]
    if failed:
        return CheckState.FAILED, failed[0].text
    if any(message.limit for message in said.messages):
        return CheckState.TIMEOUT, "the solver's limit ended it"
    if said.trailer is None:
        return CheckState.TOOL_ERROR, "Dafny told no outcome"
    verified, error_count, rest = said.trailer
    if _LIMIT.search(rest.replace("time out", "timed out")):
        return CheckState.TIMEOUT, "the solver's limit ended it"
    if error_count or rest:
        return CheckState.FAILED, f"not proved: {error_count} errors{rest}"
    warning = blocking_warning(said.messages)
    if warning is not None:
        return CheckState.FAILED, f"warning: {warning.text}"
    if code != 0:
        return CheckState.TOOL_ERROR, f"Dafny told of no error and ended with exit code {code}"
    for name in sorted(program.must_show):
        if not log.proves(name):
            return CheckState.TOOL_ERROR, f"Dafny's log doesn't name {name} as proved"
    if verified < len(program.must_show):
        return CheckState.TOOL_ERROR, f"Dafny verified {verified} of {len(program.must_show)} lemmas"
    return CheckState.PROVED, ""
