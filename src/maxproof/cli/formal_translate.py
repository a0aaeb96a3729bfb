"""`maxproof formal translate`: a set of Lean statements as a folder of Dafny problems, with what was refused."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import typer

from maxproof.formal.lean.translate import Refused, TranslatedSet, translate_set, write_problem
from maxproof.models.template import visible
from maxproof.problems import InputError
from maxproof.search.run_folder import write_atomically

REFUSED_FILE = "refused.json"


def translate_all(source: Path, out: Path, *, as_json: bool, quiet: bool) -> TranslatedSet:
    """Writes a .dfy file for each translated statement, by split, and `refused.json` for the others.

    Raises InputError: nothing to translate, a file that can't be read or written.
    """
    found = translate_set(source)
    try:
        for problem in found.problems:
            folder = out / problem.split if problem.split else out
            folder.mkdir(parents=True, exist_ok=True)
            write_problem(problem, folder)
        write_atomically(out / REFUSED_FILE, json.dumps([_refused(r) for r in found.refused], indent=1) + "\n")
    except OSError as error:
        raise InputError(f"can't be written: {error.strerror}", file=error.filename or out) from error
    if as_json:
        told = {
            "translated": [problem.name for problem in found.problems],
            "refused": [_refused(refused) for refused in found.refused],
            "out": str(out),
        }
        typer.echo(json.dumps(told, indent=2))
    else:
        for refused in found.refused if not quiet else ():
            typer.echo(visible(str(refused)), err=True)
        typer.echo(f"{len(found.problems)} of {len(found)} statements translated to {out}")
    return found


def _refused(refused: Refused) -> dict[str, object]:
    return {**asdict(refused), "file": str(refused.file)}
