"""What `maxproof reward serve` does: its problems, its judges, and the server itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from maxproof.cli.lab_problems import problems_of_lab
from maxproof.cli.train_judges import open_judges
from maxproof.models.caller import JournaledCaller
from maxproof.problems import Problem
from maxproof.problems.load import load_problems
from maxproof.search.settings import RunSettings
from maxproof.training.serve.app import Limits, reward_app
from maxproof.training.serve.listen import listen
from maxproof.training.serve.scoring import Scorer


@dataclass(frozen=True, slots=True)
class Server:
    """Where it listens and how much it takes.

    Attributes:
        port: 0 is any free one.
        limit: judge calls in flight. queue: rollouts in flight. body_bytes: of one request.
        grace_s: seconds for running requests at the end.
    """

    host: str
    port: int
    limit: int
    queue: int
    body_bytes: int
    grace_s: int


async def serve(
    problems: Mapping[str, Problem],
    judges: str,
    endpoints: RunSettings | None,
    seed: int,
    out: Path | None,
    server: Server,
    *,
    ready: Callable[[str], None],
) -> None:
    """Serves until cancelled.

    Args:
        judges: `lab-biased`, `lab-panel` with `seed`, or `endpoints`, whose settings `endpoints` has and whose journal
            lies in `out`.
        ready: is told the URL.
    """
    async with open_judges(judges, endpoints, seed, out or Path(), "reward serve") as (verifier, caller):
        scorer = Scorer(verifier, caller, limit=server.limit)
        ending = asyncio.Event()
        app = reward_app(scorer, problems, Limits(server.queue, server.body_bytes), ending)
        try:
            await listen(app, server.host, server.port, grace_s=server.grace_s, ending=ending, ready=ready)
        finally:
            if isinstance(caller, JournaledCaller):
                await caller.finish("served")


def problems_by_id(path: Path | None, lab: str | None) -> dict[str, Problem]:
    """The problems of a file, or those that `SPLIT:COUNT:SEED` names; none without either. Raises InputError."""
    found = problems_of_lab(lab) if lab is not None else load_problems(path) if path is not None else ()
    return {problem.id: problem for problem in found}
