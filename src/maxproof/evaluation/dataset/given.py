"""Given proofs in a method's place: they are graded, and verified where that is wanted.

A file of proofs is JSONL: `{"problem": ID, "text": PROOF}`, any number for a problem, in the order of their ids.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from maxproof.evaluation.methods.types import Attempt, Left, Outcome
from maxproof.models.types import Caller
from maxproof.problems import InputError, Problem
from maxproof.problems.errors import Place, nearest
from maxproof.problems.load import MAX_PROOF_BYTES
from maxproof.problems.text import read_lines
from maxproof.search.settings import SearchSettings
from maxproof.verifier import Verifier
from maxproof.verifier.settings import VerifierSettings
from maxproof.verifier.types import Draft, ScoreState, Verification


def read_proofs(path: Path, known: Collection[str]) -> Mapping[str, tuple[str, ...]]:
    """The proofs by problem.

    Args:
        known: the ids of the dataset.

    Raises InputError with file, line and field: no JSON object, no or an unknown problem, no text, no proof at all.
    """
    found: dict[str, list[str]] = {}
    for number, line in read_lines(path, MAX_PROOF_BYTES):
        if not line.strip():
            continue
        place = Place(path, number)
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            raise place.error("not JSON: expected one object a line") from None
        if not isinstance(row, dict):
            raise place.error("expected a JSON object", hint='for example {"problem": "P1", "text": "Proof. ..."}')
        problem, text = row.get("problem"), row.get("text")
        if not isinstance(problem, str) or problem not in known:
            hint = nearest(str(problem), known) or "the dataset's ids count"
            raise place.error(f"no problem {str(problem)[:100]!r} in the dataset", field="problem", hint=hint)
        if not isinstance(text, str) or not text.strip():
            raise place.error("expected the text of a proof", field="text")
        found.setdefault(problem, []).append(text)
    if not found:
        raise InputError("no proof in the file", file=path)
    return {problem: tuple(texts) for problem, texts in found.items()}


class GivenProofs:
    """A `Method` that has its proofs already."""

    def __init__(self, proofs: Sequence[str], *, verify: bool) -> None:
        self._proofs = proofs
        self._verify = verify

    async def __call__(
        self, problem: Problem, search: SearchSettings, verifier: VerifierSettings, caller: Caller, left: Left
    ) -> Outcome:
        """`verifications` samples of each proof, if they are verified; the fitness is their minimum.

        The picked one is the only one, or that with the highest fitness. Without a view on several, none is picked.
        """
        verified: list[Mapping[int, Verification]] = [{} for _ in self._proofs]
        if self._verify:
            judges = Verifier(verifier, caller, problem)
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(judges.verify(index, Draft(text), range(search.verifications)))
                    for index, text in enumerate(self._proofs)
                ]
            verified = [task.result() for task in tasks]
        attempts = tuple(
            Attempt(index, text, 0, "given", _fitness(found))
            for index, (text, found) in enumerate(zip(self._proofs, verified, strict=True))
        )
        scored = [(attempt.fitness, -attempt.id) for attempt in attempts if attempt.fitness is not None]
        argmax = -max(scored)[1] if scored else None
        picked = 0 if len(attempts) == 1 else argmax
        views = verified[picked].values() if picked is not None else ()
        passed = len(views) == search.verifications and all(view.state is ScoreState.PASSED for view in views)
        complete = not self._verify or all(len(found) == search.verifications for found in verified)
        return Outcome(attempts, picked, argmax, passed, 0, "done" if complete else "not_run")


def _fitness(found: Mapping[int, Verification]) -> float | None:
    return min((view.points for view in found.values() if view.points is not None), default=None)
