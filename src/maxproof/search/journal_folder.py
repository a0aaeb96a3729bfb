"""One folder for the calls of work over many problems: a journal, and the models that its servers gave.

async with open_folder(folder, settings, "data annotate") as caller:
    answer = await caller.ask(call)

journal.sqlite   every finished call (see `maxproof.models.journal`)
served.json      by endpoint, the model that its server gave where the settings name none
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from maxproof.models.bindings import resolve_bindings
from maxproof.models.caller import JournaledCaller
from maxproof.models.journal import Journal
from maxproof.problems import InputError
from maxproof.problems.text import read_text
from maxproof.search.run import open_caller
from maxproof.search.run_folder import make_folder, write_atomically
from maxproof.search.settings import RunSettings

JOURNAL, SERVED = "journal.sqlite", "served.json"
MAX_SERVED_BYTES = 1024 * 1024


@asynccontextmanager
async def open_folder(
    folder: Path, settings: RunSettings, kind: str, *, failed_again: bool = False
) -> AsyncIterator[JournaledCaller]:
    """A caller over the journal in `folder`, which is made if there is none.

    Args:
        kind: of work, as the journal keeps it.
        failed_again: see `Journal.resume`.

    Raises InputError: a journal of another kind of work, one that can't be read or written, an unknown endpoint.
    """
    served = _served(folder / SERVED)

    def keep_served(endpoint: str, model: str) -> None:
        served[endpoint] = model
        write_atomically(folder / SERVED, json.dumps(served))

    bindings = resolve_bindings(settings.endpoints, settings.roles, settings.verifier.judges).with_models(served)
    with _journal(folder, kind, failed_again=failed_again) as journal:
        async with open_caller(journal, settings, bindings, dict(served), keep_served) as caller:
            yield caller


def _journal(folder: Path, kind: str, *, failed_again: bool) -> Journal:
    path = folder / JOURNAL
    if not path.exists():
        make_folder(folder)
        return Journal.create(path, {"kind": kind})
    journal = Journal.resume(path, failed_again=failed_again)
    found = journal.meta("kind")
    if found != kind:
        journal.close()
        raise InputError(f"is the journal of {found or 'a run'!r}, not of {kind!r}", file=path)
    return journal


def _served(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    try:
        found = json.loads(read_text(path, MAX_SERVED_BYTES))
        return {str(endpoint): str(model) for endpoint, model in found.items()}
    except (ValueError, RecursionError, AttributeError):
        raise InputError("not what maxproof writes", file=path) from None
