"""`maxproof show` and `maxproof report`: read a run; both replay it from its journal, with no network.

What does the work is imported when a command runs: the command line starts without it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from maxproof.cli import options as o
from maxproof.cli.config import flatten
from maxproof.cli.errors import reporting
from maxproof.cli.loop import run_async
from maxproof.problems import InputError

if TYPE_CHECKING:
    from maxproof.report.view import RunView
    from maxproof.search.run_folder import RunFolder


def show(
    run: o.RunPath,
    candidate: Annotated[int | None, typer.Option("--candidate", help="One candidate, with its verifications.")] = None,
    as_json: o.Json = False,
) -> None:
    """Show RUN: its candidates, rounds, tournament and what it used."""
    with reporting(as_json):
        from maxproof.formal.folder import is_formal_run

        if is_formal_run(run):
            from maxproof.cli.formal_work import show_formal
            from maxproof.formal.folder import open_formal_run

            if candidate is not None:
                raise InputError("is for runs with candidates; this is a formal one", field="--candidate")
            show_formal(open_formal_run(run), as_json=as_json)
            return

        from maxproof.cli.verify import print_verifications
        from maxproof.report.text import candidate_json, render_candidate, render_run, to_json
        from maxproof.search.run import run_verify
        from maxproof.search.run_folder import open_run

        folder = open_run(run)
        if folder.kind == "verify":
            print_verifications(run_async(run_verify(folder, replay=True)), folder, as_json=as_json)
            return
        view = _replay(folder)
        if candidate is None:
            typer.echo(json.dumps(to_json(view), indent=2) if as_json else render_run(view))
            return
        text = json.dumps(candidate_json(view, candidate), indent=2) if as_json else render_candidate(view, candidate)
        typer.echo(text)


def report(
    run: o.RunPath,
    as_json: o.Json = False,
) -> None:
    """Write RUN's report.html, result.json and proof.md again from its journal."""
    with reporting(as_json):
        from maxproof.formal.folder import is_formal_run

        path = run / "report.html"
        if is_formal_run(run):
            from maxproof.cli.formal_work import write_formal
            from maxproof.formal.folder import open_formal_run

            write_formal(open_formal_run(run))
            typer.echo(json.dumps({"report": str(path)}) if as_json else str(path))
            return

        from maxproof.report.outputs import write_outputs
        from maxproof.search.run_folder import open_run

        folder = open_run(run)
        if folder.kind == "verify":
            raise InputError("is a verification, which has no report", file=run, hint="maxproof show prints it")
        write_outputs(folder.path, _replay(folder))
        typer.echo(json.dumps({"report": str(path)}) if as_json else str(path))


def _replay(folder: RunFolder) -> RunView:
    from maxproof.report.outputs import view_of
    from maxproof.search.run import run_prove

    return view_of(folder, run_async(run_prove(folder, replay=True)), flatten(folder.settings))
