"""A whole search in this process, with the mock server beside it: as `maxproof prove` without the start of Python."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from commands import PROBLEM
from comparing import assert_same_files, bare_copy

from maxproof import __version__
from maxproof.cli.config import flatten, load_config
from maxproof.cli.errors import ExitCode
from maxproof.cli.prove import exit_code
from maxproof.problems.load import load_problem
from maxproof.report.outputs import view_of, write_outputs
from maxproof.search.run import ProveOutcome, run_prove
from maxproof.search.run_folder import RunFolder, create_run, open_run

SMALL: Mapping[str, object] = {
    "search.candidates": 6,
    "search.verifications": 2,
    "search.rounds": 2,
    "search.parents": 2,
    **{
        f"roles.{role}.max_tokens": 4000
        for role in ("generator", "judge", "normaliser", "refiner", "ranker", "summariser")
    },
}


def new_run(base_url: str, path: Path, settings: Mapping[str, object]) -> RunFolder:
    overrides = {**SMALL, "endpoints.default.base_url": base_url, **settings}
    return create_run(
        path, "prove", load_problem(PROBLEM), load_config(None, overrides=overrides, environ={}), __version__
    )


async def work_on(folder: RunFolder) -> tuple[ExitCode, ProveOutcome]:
    """Runs or resumes the search and writes its files."""
    outcome = await run_prove(folder)
    write_outputs(folder.path, view_of(folder, outcome, flatten(folder.settings)))
    return exit_code(outcome), outcome


async def prove(base_url: str, path: Path, **settings: object) -> tuple[ExitCode, ProveOutcome]:
    """A new run. A setting's name has `__` for each dot."""
    return await work_on(new_run(base_url, path, {key.replace("__", "."): value for key, value in settings.items()}))


async def assert_replays(run: Path) -> None:
    """As `comparing.assert_replays`, in this process."""
    with bare_copy(run) as copy:
        replayed = open_run(copy)
        outcome = await run_prove(replayed, replay=True)
        write_outputs(copy, view_of(replayed, outcome, flatten(replayed.settings)))
        assert_same_files(copy, run)
