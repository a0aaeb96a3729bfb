"""Stages `search-N` and `panel-search-N`: one-shot, best-of-N with a tournament, and the MaxProof search, by one model
in all roles, and by the same model with the panel of the proof RL as its verifier.

On each problem the methods share their answers (`direct.py`): the first 32 proofs are the same proofs. *Equal budget*
is per problem and in tokens, prompts included: best-of-N gets as many candidates as what MaxProof used there would pay
for, at what a candidate of best-of-32 cost there. Best-of-N has no use for summaries and doesn't pay for them. The
panel's judges have no tokens: with them the budget is in calls.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TextIO

from maxproof.evaluation.lab.base import heldout
from maxproof.evaluation.lab.direct import DirectCaller
from maxproof.evaluation.lab.measure import points_of
from maxproof.evaluation.lab.profile import LabProfile
from maxproof.evaluation.lab.stages import Place, Result, Tell
from maxproof.evaluation.methods.budget import MeteredCaller, Spent
from maxproof.lab.generate import LabProblem
from maxproof.lab.judges import PANEL, LabJudges
from maxproof.models.call_key import call_seed
from maxproof.models.chat import ChatEndpoint
from maxproof.models.types import CallAddress, Caller, Sampling
from maxproof.search.engine import search
from maxproof.search.prompted import prompted_roles
from maxproof.search.run_folder import write_atomically
from maxproof.search.settings import SearchSettings
from maxproof.search.types import SearchResult
from maxproof.verifier.settings import JudgeSettings, VerifierSettings

OUTCOMES = "problems.jsonl"
AT_ONCE = 12
"""Problems searched at the same time in one process: enough to keep the batches full."""

VERIFIER = VerifierSettings(judges=(JudgeSettings(name="free", mode="free"),))
"""One judge call a verification, as in the published budget of 681 calls."""


PANEL_SEED = 500
"""Judges of searches draw their faults anew."""


def run(place: Place, profile: LabProfile, tell: Tell) -> Result:
    """One shard of the comparison, the model judging itself."""
    return _shard(place, profile, tell, None)


def run_with_panel(place: Place, profile: LabProfile, tell: Tell) -> Result:
    """One shard of the comparison with the panel as the verifier."""
    return _shard(place, profile, tell, LabJudges(PANEL, profile.seed + PANEL_SEED))


def _shard(place: Place, profile: LabProfile, tell: Tell, judges: Caller | None) -> Result:
    """Outcomes by problem go to `problems.jsonl`; a resumed shard keeps those it has."""
    from maxproof.training.checkpoint import load_checkpoint
    from maxproof.training.lab_endpoint import LabEndpoint

    shard = int(place.stage.argument)
    problems = heldout(profile, profile.search_problems)[shard :: profile.search_shards]
    path = place.own / OUTCOMES
    kept = read_outcomes(path)
    write_atomically(path, "".join(json.dumps(row) + "\n" for row in kept))  # cuts off what a kill left half written
    done = {row["problem"] for row in kept}
    endpoint = LabEndpoint(load_checkpoint(place.folder("merge") / "merged"))
    waiting = [p for p in problems if p.problem.id not in done]
    with open(path, "a", encoding="utf-8") as file:
        asyncio.run(_all(endpoint, judges, waiting, profile, file, len(problems), tell))
    return {"problems": len(problems)}


def read_outcomes(path: Path) -> list[dict[str, Any]]:
    """The outcomes of a shard; a torn last line is left out."""
    if not path.exists():
        return []
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
        try:
            row = json.loads(line)
        except ValueError:
            break
        if not isinstance(row, dict) or not line.endswith("\n"):
            break
        rows.append(row)
    return rows


async def _all(
    endpoint: ChatEndpoint,
    judges: Caller | None,
    problems: Sequence[LabProblem],
    profile: LabProfile,
    file: TextIO,
    total: int,
    tell: Tell,
) -> None:
    waiting = list(reversed(problems))

    async def work() -> None:
        while waiting:
            problem = waiting.pop()
            outcome = await compare(endpoint, problem, profile, judges)
            file.write(json.dumps(outcome) + "\n")
            file.flush()
            tell(1 - len(waiting) / max(1, total), f"{total - len(waiting)} of {total} problems")

    async with asyncio.TaskGroup() as group:
        for _ in range(min(AT_ONCE, len(waiting))):
            group.create_task(work())


async def compare(
    endpoint: ChatEndpoint, problem: LabProblem, profile: LabProfile, judges: Caller | None = None
) -> dict[str, Any]:
    """All methods on one problem, graded by the oracle; `planned`: the candidates that equal budget pays for.

    `judges`: the verifier's, in three judges a verification; None: the model, one judge a verification.
    """
    settings = profile.search
    seed = call_seed(profile.seed, CallAddress("study", problem.problem.id, 0))
    sampling = Sampling(max_tokens=profile.prover.sampling.max_new_tokens)
    shared = DirectCaller(endpoint, sampling, seed, judges)
    verifier = VERIFIER if judges is None else VerifierSettings()

    async def method(chosen: SearchSettings, free: frozenset[str]) -> tuple[SearchResult, Spent]:
        caller = MeteredCaller(shared, free)
        roles = prompted_roles(problem.problem, chosen, verifier, caller)
        return await search(chosen, roles), caller.spent

    summaries = frozenset({"summariser"})
    best_of = settings.model_copy(update={"rounds": 0})
    best_32, spent_32 = await method(best_of, summaries)
    full, spent_full = await method(settings, frozenset())
    costs = [spent.tokens if judges is None else spent.calls for spent in (spent_full, spent_32)]
    count = max(settings.candidates, round(settings.candidates * costs[0] / max(1, costs[1])))
    equal, spent_equal = await method(best_of.model_copy(update={"candidates": count}), summaries)
    first = full.standings[0] if full.standings and full.standings[0].candidate.id == 0 else None
    return {
        "problem": problem.problem.id,
        "technique": f"{problem.question.domain}/{problem.technique}",
        "level": problem.question.level,
        "one_shot": points_of(problem, first.candidate.text) if first else 0.0,
        "best_of": graded(problem, best_32, spent_32),
        "maxproof": graded(problem, full, spent_full),
        "best_of_equal": {"planned": count, **graded(problem, equal, spent_equal)},
    }


def graded(problem: LabProblem, result: SearchResult, spent: Spent) -> dict[str, Any]:
    """What a method returned and what it had, by the oracle: points 0..7.

    `picked`: the tournament's winner; `argmax`: the finalist with the highest fitness, lowest id first; `best`: the
    best in the archive; `best_by_round`: that after each round; `candidates`: how many the archive holds.
    """
    points = {s.candidate.id: points_of(problem, s.candidate.text) for s in result.standings}
    if not points or result.winner is None:
        return {"picked": 0.0, "argmax": 0.0, "best": 0.0, "best_by_round": [], "stop": result.stop, **asdict(spent)}
    winner = result.standing(result.winner)
    return {
        "picked": points[result.winner],
        "argmax": points[result.finalists[0]] if result.finalists else points[result.winner],
        "best": max(points.values()),
        "best_by_round": [
            max((points[s.candidate.id] for s in result.standings if s.candidate.slot.round <= r.number), default=0.0)
            for r in result.rounds
        ],
        "passed": result.passed,
        "origin": winner.candidate.slot.origin,
        "candidates": len(result.standings),
        "stop": result.stop,
        **asdict(spent),
    }
