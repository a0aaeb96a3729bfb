"""Who judges in a training command: judges of the lab, or configured models whose answers a journal keeps."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from maxproof.cli.errors import NoModel
from maxproof.lab.judges import BIASED, BIASED_VERIFIER, PANEL, LabJudges
from maxproof.models.bindings import resolve_bindings
from maxproof.models.caller import JournaledCaller
from maxproof.models.journal import Journal
from maxproof.models.types import Caller, StopKind
from maxproof.problems import InputError
from maxproof.problems.text import read_text
from maxproof.search.run import open_caller
from maxproof.search.run_folder import write_atomically
from maxproof.search.settings import RunSettings
from maxproof.training.types import Reward, RewardFunction, Rollout
from maxproof.verifier import VerifierSettings

JOURNAL, SERVED = "journal.sqlite", "served.json"
MAX_CALLS_AT_ONCE = 512
"""Of all judges together; an endpoint has a limit of its own below that."""
MAX_SERVED_BYTES = 1024 * 1024


class BudgetSpent(Exception):
    """The judges can't be asked any more; the message says why."""


def until_stopped(scores: RewardFunction, caller: Caller) -> RewardFunction:
    """`scores`, which ends the run when a rollout was not verified because nothing new is asked any more.

    Raises BudgetSpent, or NoModel when an endpoint is gone.
    """

    async def reward(rollouts: Sequence[Rollout]) -> Sequence[Reward]:
        rewards = await scores(rollouts)
        if isinstance(caller, JournaledCaller) and caller.stop and any(r.verification is None for r in rewards):
            if caller.stop.kind is StopKind.BUDGET:
                raise BudgetSpent(caller.stop.reason)
            raise NoModel(caller.stop.reason, hint="what is done is kept: the same command goes on")
        return rewards

    return reward


@asynccontextmanager
async def open_judges(
    judges: str, settings: RunSettings | None, seed: int, out: Path, kind: str
) -> AsyncIterator[tuple[VerifierSettings, Caller]]:
    """The verifier's settings, and who answers its calls: the lab's judges, or endpoints through a journal in `out`.

    Args:
        judges: `lab-biased`, `lab-panel` or `endpoints`, whose settings `settings` has.
        kind: of run, for the journal.
    """
    if settings is None:
        biased = judges == "lab-biased"
        yield (BIASED_VERIFIER, LabJudges(BIASED, seed)) if biased else (VerifierSettings(), LabJudges(PANEL, seed))
        return
    served = _served(out / SERVED)

    def keep_served(endpoint: str, model: str) -> None:
        served[endpoint] = model
        write_atomically(out / SERVED, json.dumps(served))

    bindings = resolve_bindings(settings.endpoints, settings.roles, settings.verifier.judges).with_models(served)
    with _journal(out, kind) as journal:
        async with open_caller(journal, settings, bindings, dict(served), keep_served) as caller:
            yield settings.verifier, caller


def _journal(out: Path, kind: str) -> Journal:
    path = out / JOURNAL
    if path.exists():
        return Journal.resume(path)
    out.mkdir(parents=True, exist_ok=True)
    return Journal.create(path, {"kind": kind})


def _served(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    try:
        found = json.loads(read_text(path, MAX_SERVED_BYTES))
        return {str(endpoint): str(model) for endpoint, model in found.items()}
    except (ValueError, RecursionError, AttributeError):
        raise InputError("not what a training run writes", file=path) from None
