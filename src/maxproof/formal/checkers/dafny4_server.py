"""Dafny 4's language server as the warm path: each check is a document that is opened, watched and closed.

The server tells the state of each lemma by `dafny/textDocument/symbolStatus` and its messages by
`textDocument/publishDiagnostics`. It tells the states first, so a failure waits a little for its messages. A result is
`proved` only if the state of every target says so and no message speaks against it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from maxproof.formal.checkers.dafny4 import Dafny4Paths, check_cold, verification_options
from maxproof.formal.checkers.dafny4_output import Log, blocking_warning, json_message, message_result
from maxproof.formal.checkers.dafny_messages import Message
from maxproof.formal.checkers.dafny_program import DafnyProgram, Refused, dafny_program
from maxproof.formal.checkers.processes import OUTPUT_BYTES, OutputLimit
from maxproof.formal.checkers.results import ended_result, refused_result
from maxproof.formal.checkers.types import CheckResult, CheckState, CheckTask, Limits, Tool
from maxproof.formal.checkers.warm import Garbled, WarmPool, WarmTool
from maxproof.formal.syntax.dialect import Dialect

_ERROR, _CORRECT = 4, 5  # of a symbol's states; those before are: stale, queued, running
_FAILED: Final = frozenset(("ParsingFailed", "ResolutionFailed", "InternalException"))
_MESSAGES_SECONDS: Final = 3.0
_HEADERS: Final = 20
_INITIALIZE: Final = 1
_SYNC: Final = 2


@dataclass(slots=True)
class _Seen:
    """What the server has told of a document so far. `states` maps 0-based lines of names to states."""

    uri: str
    states: dict[int, int] = field(default_factory=dict)
    messages: list[Message] = field(default_factory=list)
    compilation: str = ""
    synchronised: bool = False


class Dafny4:
    """A checker on Dafny 4's language server. Use `aclose`, or `open_checker`, which does."""

    def __init__(self, paths: Dafny4Paths, workers: int) -> None:
        self._paths = paths
        self._pool = WarmPool(workers)

    @property
    def tool(self) -> Tool:
        return self._paths.tool

    async def check(self, task: CheckTask, limits: Limits) -> CheckResult:
        program = dafny_program(task, Dialect.DAFNY_4)
        if isinstance(program, Refused):
            return refused_result(program, self.tool)
        command = [self._paths.dafny, "server", *verification_options(self._paths.version, limits)]

        async def ask(server: WarmTool) -> _Seen | None:
            return await _verified(server, program)

        async with self._pool.borrowed() as server:
            said = await server.converse(command, wall_seconds=limits.wall_seconds, memory_mb=limits.memory_mb, ask=ask)
            if said.answer is None:
                return ended_result(said.ended, self.tool, limits, said.seconds, said.errors)
            result = _result(program, said.answer, self.tool, said.seconds)
            if result.state is CheckState.TOOL_ERROR:
                # The server is no longer what it should be; the command line may still answer.
                await server.stop()
                return await check_cold(self._paths, task, limits)
            return result

    async def aclose(self) -> None:
        await self._pool.aclose()


async def _verified(server: WarmTool, program: DafnyProgram) -> _Seen | None:
    """Everything the server tells of the program until nothing more is to come; None if it ends before.

    Raises:
        OSError, OutputLimit, Garbled
    """
    if server.conversations == 0:
        root = server.folder.as_uri()
        start: dict[str, Any] = {
            "processId": None,
            "rootUri": root,
            "capabilities": {"textDocument": {"publishDiagnostics": {}}},
        }
        await _send(server, {"id": _INITIALIZE, "method": "initialize", "params": start})
        while (message := await _receive(server)) is not None:
            if message.get("id") == _INITIALIZE and "method" not in message:
                break
        else:
            return None
        await _send(server, {"method": "initialized", "params": {}})
    uri = (server.folder / f"program{server.conversations}.dfy").as_uri()
    seen = _Seen(uri)
    document = {"uri": uri, "languageId": "dafny", "version": 1, "text": program.text}
    await _send(server, {"method": "textDocument/didOpen", "params": {"textDocument": document}})
    while not _settled(program, seen):
        if not await _hear(server, seen):
            return None
    # An answer to a request comes after what was on its way already.
    await _send(
        server, {"id": _SYNC, "method": "textDocument/documentSymbol", "params": {"textDocument": {"uri": uri}}}
    )
    while not seen.synchronised:
        if not await _hear(server, seen):
            return None
    try:
        async with asyncio.timeout(_MESSAGES_SECONDS):
            while not _explained(program, seen):
                if not await _hear(server, seen):
                    return None
    except TimeoutError:
        # A failure that stays without a message is a failure all the same. What was half read is lost.
        await server.stop()
        return seen
    await _send(server, {"method": "textDocument/didClose", "params": {"textDocument": {"uri": uri}}})
    return seen


def _target_states(program: DafnyProgram, seen: _Seen) -> dict[str, int]:
    states = {program.declared_at(line + 1): state for line, state in seen.states.items()}
    return {name: state for name, state in states.items() if name in program.targets}


def _settled(program: DafnyProgram, seen: _Seen) -> bool:
    if seen.compilation in _FAILED:
        return True
    states = _target_states(program, seen)
    return program.must_show <= states.keys() and all(state >= _ERROR for state in states.values()) and bool(states)


def _explained(program: DafnyProgram, seen: _Seen) -> bool:
    """Whatever went wrong has a message."""
    wrong = seen.compilation in _FAILED or _ERROR in _target_states(program, seen).values()
    return not wrong or any(message.severity == "error" for message in seen.messages)


async def _hear(server: WarmTool, seen: _Seen) -> bool:
    """Takes the next message; False when there is none."""
    message = await _receive(server)
    if message is None:
        return False
    method, parameters = message.get("method"), message.get("params")
    if "id" in message and method is not None:
        await _send(server, {"id": message["id"], "result": None})
    elif message.get("id") == _SYNC and method is None:
        seen.synchronised = True
    if isinstance(parameters, dict) and parameters.get("uri") == seen.uri:
        try:
            _note(method, parameters, seen)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise Garbled(f"Dafny's language server sent a strange {method}: {error!r}") from error
    return True


def _note(method: Any, parameters: Mapping[str, Any], seen: _Seen) -> None:
    if method == "dafny/textDocument/symbolStatus":
        seen.states = {
            int(symbol["nameRange"]["start"]["line"]): int(symbol["status"])
            for symbol in parameters["namedVerifiables"]
        }
    elif method == "dafny/compilation/status":
        seen.compilation = str(parameters["status"])
    elif method == "textDocument/publishDiagnostics":
        found = [json_message(_located(value)) for value in parameters["diagnostics"]]
        seen.messages = [message for message in found if message is not None]


def _located(value: Mapping[str, Any]) -> dict[str, Any]:
    """A diagnostic of the protocol (0-based lines) in the form that the command line prints (1-based)."""

    def place(span: Mapping[str, Any]) -> dict[str, Any]:
        start = span["start"]
        return {"range": {"start": {"line": int(start["line"]) + 1, "character": start["character"]}}}

    related = [{**item, "location": place(item["location"]["range"])} for item in value.get("relatedInformation") or ()]
    return {**value, "location": place(value["range"]), "relatedInformation": related}


def _result(program: DafnyProgram, seen: _Seen, tool: Tool, seconds: float) -> CheckResult:
    errors = [message for message in seen.messages if message.severity == "error"]
    verifier_errors = [message for message in errors if message.verifier]
    state, reason = _verdict(program, seen, errors)
    return message_result(program, seen.messages, verifier_errors, tool, state, reason, seconds=seconds, log=Log())


def _verdict(program: DafnyProgram, seen: _Seen, errors: list[Message]) -> tuple[CheckState, str]:
    early = [message for message in errors if not message.verifier]
    if seen.compilation == "InternalException":
        return CheckState.TOOL_ERROR, "Dafny's language server met an exception of its own"
    if early or seen.compilation in _FAILED:
        return CheckState.ILL_FORMED, early[0].text if early else seen.compilation
    failed = [message for message in errors if not message.limit]
    if failed:
        return CheckState.FAILED, failed[0].text
    if any(message.limit for message in seen.messages):
        return CheckState.TIMEOUT, "the solver's limit ended it"
    states = _target_states(program, seen)
    open_targets = sorted(name for name, state in states.items() if state != _CORRECT)
    if open_targets:
        return CheckState.FAILED, f"not proved: {open_targets[0]}"
    warning = blocking_warning(seen.messages)
    if warning is not None:
        return CheckState.FAILED, f"warning: {warning.text}"
    if not program.must_show <= states.keys():
        return CheckState.TOOL_ERROR, "Dafny's language server told nothing of a lemma"
    return CheckState.PROVED, ""


async def _send(server: WarmTool, message: dict[str, Any]) -> None:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    await server.process.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))


async def _receive(server: WarmTool) -> dict[str, Any] | None:
    """The next message; None at the end of the server's output.

    Raises:
        OutputLimit: it is too long.
        Garbled: it is no message.
    """
    length = -1
    for _ in range(_HEADERS):
        line = await server.process.read_line(1 << 12)
        if line is None:
            return None
        name, _, value = line.partition(":")
        if name.strip().lower() == "content-length" and value.strip().isdecimal() and len(value) < 20:
            length = int(value)
        elif not line and length >= 0:
            break
    else:
        raise Garbled("Dafny's language server sent no message")
    if length > OUTPUT_BYTES:
        raise OutputLimit
    body = await server.process.read_bytes(length)
    if body is None:
        return None
    try:
        message = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Garbled("Dafny's language server sent what is no JSON") from error
    if not isinstance(message, dict):
        raise Garbled("Dafny's language server sent no object")
    return message
