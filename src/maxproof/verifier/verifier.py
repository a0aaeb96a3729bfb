"""The four-layer verifier (MaxProof section 2.2).

1. `bad_case.py`: rules that need no judge; a hit is zero points.
2. `normalise.py`, `normalise_model.py`: the proof without its packaging, under the content guard.
3. `judges.py`, `judge_reply.py`: judges, each for itself, with rubric or without.
4. `aggregate.py`: the minimum, with its critique and the disagreement.

    verifier = Verifier(settings, caller, problem)
    verifications = await verifier.verify(candidate=0, draft=Draft(text), samples=range(4))

What a verification says is a function of its arguments and the recorded answers, never of the order in which calls
finish.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache

from maxproof.models.call_key import inputs_digest
from maxproof.models.types import Caller, CallNotRun
from maxproof.problems import Problem
from maxproof.verifier import normalise
from maxproof.verifier.aggregate import aggregate, filtered
from maxproof.verifier.bad_case import check, without_thinking
from maxproof.verifier.judge_reply import holds_tags
from maxproof.verifier.judges import Case, applicable_judges, ask_judge
from maxproof.verifier.normalise_model import normalise_by_model
from maxproof.verifier.settings import VerifierSettings
from maxproof.verifier.types import Draft, Normalisation, Verification


class Verifier:
    """Verifies candidates for one problem. Use one instance a run: it asks the normaliser once a candidate."""

    def __init__(self, settings: VerifierSettings, caller: Caller, problem: Problem) -> None:
        self.settings = settings
        self.judges = applicable_judges(settings, problem)
        self._caller = caller
        self._problem = problem
        texts = (problem.statement, problem.reference, problem.rubric, problem.answer)
        self._problem_tagged = any(holds_tags(text) for text in texts if text)
        self._rewrites: dict[int, tuple[str, Normalisation]] = {}
        self._locks: defaultdict[int, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def verify(self, candidate: int, draft: Draft, samples: Sequence[int]) -> dict[int, Verification]:
        """One verification for each sample index, all judges and samples at once.

        A sample is missing when one of its calls was not run (budget, deadline, no record). A candidate's draft must be
        the same in every call with its id.
        """
        draft = without_thinking(draft)
        hits = check(draft, self.settings.bad_case)
        if hits:
            return {sample: filtered(sample, hits) for sample in samples}
        try:
            case, normalisation = await self._prepare(candidate, draft.text)
        except CallNotRun:
            return {}
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(ask_judge(self._caller, judge, case, samples, self.settings.points))
                for judge in self.judges
            ]
        views = [task.result() for task in tasks]
        return {
            sample: aggregate(sample, [view[sample] for view in views], normalisation)
            for sample in samples
            if all(sample in view for view in views)
        }

    async def _prepare(self, candidate: int, text: str) -> tuple[Case, Normalisation]:
        method = self.settings.normaliser.method
        if method == "model":
            async with self._locks[candidate]:
                if candidate not in self._rewrites:
                    self._rewrites[candidate] = await normalise_by_model(self._caller, candidate, text)
            shown, normalisation = self._rewrites[candidate]
            return self._case(candidate, inputs_digest("text", shown), lambda: shown), normalisation
        if method == "rule":
            # Building the text costs more than replaying the answers, so its digest is that of what determines it.
            key = inputs_digest(f"rule@{normalise.VERSION}", text)
            return self._case(candidate, key, lambda: normalise.normalise_text(text)[0]), Normalisation("rule")
        return self._case(candidate, inputs_digest("text", text), lambda: text), Normalisation("none")

    def _case(self, candidate: int, key: str, shown: Callable[[], str]) -> Case:
        # Cutting the mark of a heading can make a tag of `<`, `## verdict>`, so what counts is the text that is shown.
        tagged = cache(lambda: self._problem_tagged or holds_tags(shown()))
        return Case(self._problem, candidate, key, shown, tagged)
