"""`maxproof formal translate`: a set of Lean statements as a folder of Dafny problems, with what was refused."""

from __future__ import annotations

import asyncio
import json
import os
from contextlib import AsyncExitStack
from dataclasses import asdict
from pathlib import Path

import typer

from maxproof.cli.loop import run_async
from maxproof.formal.checkers.cache import CachedChecker, default_cache
from maxproof.formal.checkers.choose import available_checkers, open_checker
from maxproof.formal.checkers.types import Limits
from maxproof.formal.lean.audit import Audit, summary
from maxproof.formal.lean.audit import audit as audit_statement
from maxproof.formal.lean.terms import Statement
from maxproof.formal.lean.translate import Refused, TranslatedSet, translate_set, write_problem
from maxproof.formal.problem import FormalProblem
from maxproof.formal.results import Status
from maxproof.formal.statements import AUDIT_RESOURCE
from maxproof.models.template import visible
from maxproof.problems import InputError
from maxproof.report.formal_text import STATUS_NAMES
from maxproof.report.layout import table
from maxproof.search.run_folder import write_atomically

AUDIT_FILE = "audit.json"
TOLD_EVERY = 50
REFUSED_FILE = "refused.json"
LIMITS = Limits(AUDIT_RESOURCE, seconds=5.0)  # the seconds are for a Dafny: most statements aren't proved, in any time


def translate_all(source: Path, out: Path, *, audit: bool, workers: int, as_json: bool, quiet: bool) -> None:
    """Writes a .dfy file for each translated statement, by split, `refused.json` for the others, and `audit.json`.

    Raises InputError: nothing to translate, a file that can't be read or written.
    """
    found = translate_set(source)
    try:
        for problem in found.problems:
            folder = out / problem.split if problem.split else out
            folder.mkdir(parents=True, exist_ok=True)
            write_problem(problem, folder)
        _write(out / REFUSED_FILE, [_refused(refused) for refused in found.refused])
        audits, tools = run_async(_audited(found, workers, quiet=quiet)) if audit else ([], [])
        if audit:
            _write(out / AUDIT_FILE, [one.as_record() for one in audits])
    except OSError as error:
        raise InputError(f"can't be written: {error.strerror}", file=error.filename or out) from error
    if as_json:
        told = {
            "translated": [problem.name for problem in found.problems],
            "refused": [_refused(refused) for refused in found.refused],
            "out": str(out),
        }
        typer.echo(json.dumps(told | ({"checkers": tools, "audit": summary(audits)} if audit else {}), indent=2))
        return
    for refused in found.refused if not quiet else ():
        typer.echo(visible(str(refused)), err=True)
    typer.echo(f"{len(found.problems)} of {len(found)} statements translated to {out}")
    if audit:
        typer.echo(f"audited by {', '.join(tools)}")
        typer.echo(table([(name.replace("_", " "), str(count)) for name, count in summary(audits).items()]))
        for one in audits:
            if one.status is not Status.OPEN:
                typer.echo(f"{STATUS_NAMES[one.status]}: {one.name}")


async def _audited(found: TranslatedSet, workers: int, *, quiet: bool) -> tuple[list[Audit], list[str]]:
    """The audit of every translated statement, in order, by every checker of this machine; and which those are."""
    at_once = workers or len(os.sched_getaffinity(0))
    gate = asyncio.Semaphore(at_once)
    done = 0

    async def one(problem: FormalProblem, statement: Statement) -> Audit:
        nonlocal done
        async with gate:
            result = await audit_statement(problem, statement, checkers, LIMITS)
        done += 1
        if not quiet and (done % TOLD_EVERY == 0 or done == len(found.problems)):
            typer.echo(f"{done} of {len(found.problems)} statements audited", err=True)
        return result

    async with AsyncExitStack() as stack:
        opened = [await stack.enter_async_context(open_checker(n, at_once)) for n in await available_checkers()]
        checkers = [CachedChecker(checker, default_cache()) for checker in opened]
        async with asyncio.TaskGroup() as group:
            pairs = zip(found.problems, found.statements, strict=True)
            tasks = [group.create_task(one(problem, statement)) for problem, statement in pairs]
    return [task.result() for task in tasks], [str(checker.tool) for checker in checkers]


def _write(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, json.dumps(value, indent=1) + "\n")


def _refused(refused: Refused) -> dict[str, object]:
    return {**asdict(refused), "file": str(refused.file)}
