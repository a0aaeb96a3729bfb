"""Plays Dafny 4: `dafny_standin.py VERSION SCENE FOLDER ARGUMENTS...` speaks the contract of its command line
and of its language server.

It refuses options that the version doesn't have, reads the lemmas with a body from the program, and says of them what
the scene wants. `standin(folder, version, scene)` writes a command for it.
"""

import json
import os
import re
import signal
import stat
import sys
import time
from pathlib import Path

SINCE = {
    "--json-output": (4, 11),
    "--allow-warnings": (4, 5),
    "--json-diagnostics": (4, 0),
    "--isolate-assertions": (4, 0),
    "--log-format": (4, 0),
    "--cores": (4, 0),
    "--verification-time-limit": (4, 0),
    "--resource-limit": (4, 0),
    "--error-limit": (4, 0),
    "--boogie": (4, 0),
}


def standin(folder, version, scene):
    command = Path(folder) / f"dafny-{version}-{scene}"
    command.write_text(
        f'#!/bin/sh\nexec {sys.executable} -IS {Path(__file__).resolve()} {version} {scene} {folder} "$@"\n'
    )
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    return str(command)


def lemmas(text):
    """Lemmas with a body: 1-based line and name."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r"lemma ([\w'?]+)\(", line)
        if match:
            found.append((number, match[1]))
    return found


def hang():
    """Deaf to SIGTERM, with a child that spins."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.fork() == 0:
        while True:
            pass
    while True:
        time.sleep(1)


def problem(scene, line, name):
    """The diagnostic of a scene: severity, source, format, arguments, related."""
    at = {"line": line + 1, "character": 10}
    if scene in ("fail", "mute"):
        return (1, "Verifier", "a postcondition could not be proved on this return path", [],
                [(at, "this is the postcondition that could not be proved")])  # fmt: skip
    if scene == "filled":
        return (1, "Verifier", "value of expression (of type '{0}') is not known to be an instance of type '{1}', "
                "because it might not be in {{{2}}}; constraint of 'nat'", ["int", "nat", "N"], [])  # fmt: skip
    if scene == "timeout":
        return (1, "Verifier", "Verification of '{0}' timed out after {1} seconds. (the limit can be increased using "
                "--verification-time-limit)", [name, "10"], [])  # fmt: skip
    if scene == "resolve":
        return (1, "Resolver", "unresolved identifier: {0}", ["foo"], [])
    if scene == "warning":
        return (2, "Verifier", "proved using contradictory assumptions: {0}", ["x"], [])
    if scene == "harmless":
        return (2, "Rewriter", "Could not find a trigger for this quantifier.", [], [])
    return None


def place(at):
    return {"filename": "program.dfy", "uri": "file:///program.dfy", "range": {"start": at, "end": at}}


def verify(version, scene, arguments):
    for option in arguments:
        if option.startswith("--") and version < SINCE.get(option, (99,)):
            sys.stderr.write(f"'{option}' was not recognized\n")
            return 1
    log = arguments[arguments.index("--log-format") + 1]
    form, _, log_file = log.partition(";LogFileName=")
    if form == "json" and version < (4, 5):
        return 1
    text = Path(arguments[-1]).read_text()
    line, name = lemmas(text)[-1]
    if scene == "hang":
        hang()
    if scene == "crash":
        sys.stderr.write("Unhandled exception. System.NullReferenceException\n")
        os.abort()
    if scene == "huge":
        while True:
            print("x" * 100_000)
    if scene == "garbage":
        print(
            '{"type":\n{"a": 1}\n[1]\n{"type": "diagnostic", "value": 3}\n\x00\xff' + "[" * 2000 + '\n{"severity": {}}'
        )
        return 0
    if scene == "silent":
        return 0
    found = problem(scene, line, name)
    if found:
        severity, source, message, values, related = found
        at = {"line": line, "character": 6}
        filled = re.sub(r"\{(\d)\}", lambda m: values[int(m[1])], message.replace("{{", "\1").replace("}}", "\2"))
        filled = filled.replace("\1", "{").replace("\2", "}")
        value = {"location": place(at), "severity": severity, "source": source}
        if version >= (4, 11):
            value |= {"defaultFormatMessage": message, "arguments": values, "errorId": ""}
            value["relatedInformation"] = [
                {"location": place(where), "defaultFormatMessage": words, "arguments": [], "errorId": ""}
                for where, words in related
            ]
            print(json.dumps({"type": "diagnostic", "value": value}))
        elif scene == "fail" and version == (4, 4, 0):  # text, as all versions can print it
            print(f"program.dfy({line},6): Error: {filled}")
            for where, words in related:
                print(f"program.dfy({where['line']},{where['character']}): Related location: {words}")
        else:
            value |= {"message": filled}
            value["relatedInformation"] = [{"location": place(where), "message": words} for where, words in related]
            print(json.dumps(value))
    if scene == "resolve":
        return 2
    bad = (bool(found) and found[0] == 1) or scene == "limit"
    count = len(lemmas(text))
    trailer = f"Dafny program verifier finished with {count - bad} verified, "
    if scene in ("timeout", "limit"):
        trailer += "0 errors, 1 time out"
    else:
        trailer += "1 error" if bad else "0 errors"
    print(json.dumps({"type": "status", "value": trailer}) if version >= (4, 11) else f"\n{trailer}")
    told = [] if scene == "skipped" else lemmas(text)
    if form == "json":
        results = [
            {"name": f"{lemma} (correctness)", "outcome": "Errors" if bad and lemma == name else "Correct",
             "runTime": "00:00:01", "resourceCount": 1000,
             "vcResults": [{"vcNum": 1, "outcome": "Invalid" if bad and lemma == name else "Valid", "runTime": "0",
                            "resourceCount": 1000, "assertions": [{"line": 1}, {"line": 2}]}]}
            for _, lemma in told
        ]  # fmt: skip
        Path(log_file).write_text(json.dumps({"verificationResults": results}))
    else:
        rows = ["TestResult.DisplayName,TestResult.Outcome,TestResult.Duration,TestResult.ResourceCount,RandomSeed"]
        for _, lemma in told:
            outcome = "Failed" if bad and lemma == name else "Passed"
            rows.append(f"{lemma} (correctness) (assertion batch 1),{outcome},00:00:01,1000,")
        Path(log_file).write_text("\n".join(rows))
    return 4 if bad else 0


def send(message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    sys.stdout.buffer.flush()


def receive():
    length = 0
    while line := sys.stdin.buffer.readline().strip():
        length = int(line.split(b":")[1])
    return json.loads(sys.stdin.buffer.read(length)) if length else None


def symbols(uri, names, statuses):
    named = [
        {"nameRange": {"start": {"line": line - 1, "character": 6}, "end": {"line": line - 1, "character": 9}},
         "status": status}
        for (line, _), status in zip(names, statuses, strict=True)
    ]  # fmt: skip
    send({"method": "dafny/textDocument/symbolStatus", "params": {"uri": uri, "version": 1, "namedVerifiables": named}})


def check_document(scene, document):
    uri, names = document["uri"], lemmas(document["text"])
    line, name = names[-1]
    send({"method": "dafny/compilation/status", "params": {"uri": uri, "version": 1, "status": "Parsing"}})
    if scene == "hang":
        hang()
    if scene == "crash":
        os.abort()
    if scene == "garbage":
        sys.stdout.buffer.write(b"Content-Length: 3\r\n\r\n{{{" * 5)
        sys.stdout.buffer.flush()
        return
    if scene == "huge":
        sys.stdout.buffer.write(b"Content-Length: 99999999999\r\n\r\n")
        sys.stdout.buffer.flush()
        return
    send({"id": "s1", "method": "client/registerCapability", "params": {}})
    found = problem(scene, line, name)
    at = {"line": line - 1, "character": 6}
    diagnostics = []
    if found:
        severity, source, message, values, related = found
        filled = re.sub(r"\{(\d)\}", lambda m: values[int(m[1])], message)
        diagnostics = [{
            "range": {"start": at, "end": at}, "severity": severity, "message": filled, "source": source,
            "relatedInformation": [
                {"location": {"uri": uri, "range": {"start": {**w, "line": w["line"] - 1}, "end": w}}, "message": words}
                for w, words in related
            ],
        }]  # fmt: skip
    publish = {"method": "textDocument/publishDiagnostics",
               "params": {"uri": uri, "version": 1, "diagnostics": diagnostics}}  # fmt: skip
    if scene == "resolve":
        send({"method": "dafny/compilation/status", "params": {"uri": uri, "version": 1, "status": "ResolutionFailed"}})
        send(publish)
        return
    send({"method": "dafny/compilation/status", "params": {"uri": uri, "version": 1, "status": "ResolutionSucceeded"}})
    symbols(uri, names, [1] * len(names))
    symbols(uri, names, [2] * len(names))
    bad = bool(found) and found[0] == 1
    symbols(uri, names, [5] * (len(names) - 1) + [4 if bad else 5])
    if scene != "mute":
        send(publish)


def serve(scene):
    while (message := receive()) is not None:
        method = message.get("method")
        if method == "initialize":
            send({"id": message["id"], "result": {"capabilities": {}}})
        elif method == "textDocument/didOpen":
            check_document(scene, message["params"]["textDocument"])
        elif "id" in message and method is not None:
            send({"id": message["id"], "result": []})
    return 0


def main():
    version, scene, _, *arguments = sys.argv[1:]  # the third only marks its processes
    numbers = tuple(map(int, version.split(".")))
    if arguments[:1] == ["--version"]:
        print(f"{version}+0123abc")
        return 0
    if arguments[:1] == ["server"]:
        return serve(scene)
    return verify(numbers, scene, arguments[1:])


if __name__ == "__main__":
    sys.exit(main())
