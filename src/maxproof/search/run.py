"""Works on a run folder: the whole search, or the verification of one proof; live, resumed or replayed.

One path for all three. A live run records each call before its result is used; a resumed run finds the finished calls
in the journal and asks the rest; a replay finds all it needs there and opens no connection.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from maxproof.models.bindings import Bindings, resolve_bindings
from maxproof.models.caller import JournaledCaller
from maxproof.models.chat import ChatEndpoint
from maxproof.models.endpoints import open_clients
from maxproof.models.journal import Journal
from maxproof.models.types import CallProgress, RoleUsage, Stop
from maxproof.models.usage import stale_calls
from maxproof.problems import InputError
from maxproof.search.engine import search
from maxproof.search.events import Observer
from maxproof.search.prompted import prompted_roles
from maxproof.search.run_folder import RunFolder
from maxproof.search.settings import RunSettings, SearchSettings
from maxproof.search.types import SearchResult
from maxproof.verifier import Verifier
from maxproof.verifier.types import Draft, Verification

Watch = Callable[[Callable[[], CallProgress]], None]


@dataclass(frozen=True, slots=True)
class Account:
    """What a run has used and why it ended early, as its journal has it.

    Attributes:
        stop: false if it came to its own end.
        started: unix seconds of its first session, 0 if nothing is recorded.
        elapsed_s: seconds of work over all sessions.
    """

    usage: tuple[RoleUsage, ...] = ()
    stop: Stop = field(default_factory=Stop)
    started: float = 0.0
    elapsed_s: float = 0.0


@dataclass(frozen=True, slots=True)
class ProveOutcome:
    """A finished or stopped search."""

    result: SearchResult
    account: Account


@dataclass(frozen=True, slots=True)
class VerifyOutcome:
    """Verifications of one proof by sample; a sample that was not run is missing."""

    verifications: Mapping[int, Verification]
    account: Account = field(default_factory=Account)


async def run_prove(
    folder: RunFolder, *, replay: bool = False, observe: Observer | None = None, watch: Watch | None = None
) -> ProveOutcome:
    """Runs, resumes or replays the search of `folder`.

    Args:
        replay: read everything from the journal; make no call, open no connection, change no file.
        observe: gets the engine's events.
        watch: is handed a function that tells how the calls stand, before the first of them.

    Settings of `folder` that are not saved yet are saved once the journal is held: a run that another process works on
    keeps its own.

    Raises InputError: no embedded model, a journal that can't be read or written, a budget that can't trip.
    """
    settings = folder.settings
    async with _caller(folder, replay=replay) as caller:
        if watch is not None:
            watch(caller.progress)
        roles = prompted_roles(folder.problem, settings.search, settings.verifier, caller)
        result = await search(settings.search, roles, observe)
        await caller.finish(result.stop)
        return ProveOutcome(result, _account(caller))


async def run_verify(folder: RunFolder, *, replay: bool = False, watch: Watch | None = None) -> VerifyOutcome:
    """Verifies the proof of `folder` with `search.verifications` samples. Arguments and errors as `run_prove`."""
    settings = folder.settings
    async with _caller(folder, replay=replay) as caller:
        if watch is not None:
            watch(caller.progress)
        verifier = Verifier(settings.verifier, caller, folder.problem)
        verifications = await verifier.verify(0, Draft(folder.proof), range(settings.search.verifications))
        await caller.finish("verified")
        return VerifyOutcome(verifications, _account(caller))


def reusable(folder: RunFolder) -> tuple[int, int]:
    """(recorded calls, those of them that the folder's present settings can't reuse). Raises InputError."""
    if not folder.journal.exists():
        return 0, 0
    with Journal.replay(folder.journal) as journal:
        stale = stale_calls(journal, _bindings(folder), folder.settings.search.seed)
        return sum(1 for _ in journal.calls("1")), stale


def _bindings(folder: RunFolder) -> Bindings:
    settings = folder.settings
    bindings = resolve_bindings(settings.endpoints, settings.roles, settings.verifier.judges)
    return bindings.with_models(folder.served)


@asynccontextmanager
async def _caller(folder: RunFolder, *, replay: bool) -> AsyncIterator[JournaledCaller]:
    settings = folder.settings
    with _journal(folder, replay=replay) as journal:
        if not folder.saved:
            folder.save()
        reserved = tournament_calls(settings.search) if folder.kind == "prove" else 0

        def keep_served(endpoint: str, model: str) -> None:
            nonlocal folder
            folder = replace(folder, served={**folder.served, endpoint: model})
            folder.save()

        async with open_caller(
            journal, settings, _bindings(folder), folder.served, keep_served, reserved, replay=replay
        ) as caller:
            yield caller


@asynccontextmanager
async def open_caller(
    journal: Journal,
    settings: RunSettings,
    bindings: Bindings,
    served: Mapping[str, str],
    keep_served: Callable[[str, str], None],
    reserved_calls: int = 0,
    *,
    replay: bool = False,
) -> AsyncIterator[JournaledCaller]:
    """A caller over `journal`, with connections to the endpoints of `bindings` unless it is a replay.

    Args:
        served: by endpoint, the model that its server gave this run earlier.
        keep_served: is told of each further one.
        reserved_calls: of a call budget, what is kept for the end of the run.
    """

    def caller(clients: Mapping[str, ChatEndpoint]) -> JournaledCaller:
        return JournaledCaller(
            journal, clients, bindings, settings.budget, settings.search.seed,
            reserved_calls=reserved_calls, served=served, keep_served=keep_served,
        )  # fmt: skip

    if replay:
        yield caller({})
    else:
        async with open_clients(bindings.endpoints, settings.search.seed) as clients:
            yield caller(clients)


def tournament_calls(settings: SearchSettings) -> int:
    """Calls of the tournament when no search was cut short: V(F - 1), with at most all candidates as finalists."""
    candidates = settings.candidates + 2 * settings.parents * settings.rounds
    return settings.votes * (min(settings.finalists, candidates) - 1)


def _journal(folder: RunFolder, *, replay: bool) -> Journal:
    path = folder.journal
    if not path.exists():
        if replay:
            raise InputError("has no journal: nothing was recorded", file=folder.path, hint="run maxproof resume on it")
        return Journal.create(path, {"problem": folder.problem.digest})
    journal = Journal.replay(path) if replay else Journal.resume(path)
    if journal.meta("problem") != folder.problem.digest:
        journal.close()
        raise InputError("is the journal of another problem than run.json's", file=path)
    return journal


def _account(caller: JournaledCaller) -> Account:
    return Account(caller.usage(), caller.stop, caller.started(), caller.elapsed_s())
