"""Who judges in a training command: judges of the lab, or configured models whose answers a journal keeps."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from maxproof.cli.errors import NoModel
from maxproof.lab.judges import BIASED, BIASED_VERIFIER, PANEL, LabJudges
from maxproof.models.caller import JournaledCaller
from maxproof.models.types import Caller, StopKind
from maxproof.search.journal_folder import open_folder
from maxproof.search.settings import RunSettings
from maxproof.training.types import Reward, RewardFunction, Rollout
from maxproof.verifier import VerifierSettings

MAX_CALLS_AT_ONCE = 512
"""Of all judges together; an endpoint has a limit of its own below that."""


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
    async with open_folder(out, settings, kind) as caller:
        yield settings.verifier, caller
