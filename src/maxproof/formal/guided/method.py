"""Model-guided proofs: a model writes, the checker answers, the model corrects (miniF2F-Dafny, section 4).

    method = GuidedProof(caller, checker, limits, GuidedSettings())
    attempt = await method.attempt(problem, seed=0)      # seed 0..N-1: one of N independent attempts

An attempt asks for a proof and then for at most E corrections. All N attempts are made, whatever the others gave, so
that pass@k can be estimated without bias from their counts.
"""

from __future__ import annotations

import time
from dataclasses import replace

from maxproof.formal.checkers.types import Checker, Limits
from maxproof.formal.guided.calls import Prompts, Turn
from maxproof.formal.guided.counting import CountingCaller
from maxproof.formal.guided.settings import GuidedSettings
from maxproof.formal.problem import FormalProblem
from maxproof.formal.results import Attempt, judged
from maxproof.formal.solution.check import check_solution
from maxproof.formal.solution.feedback import messages_for_model
from maxproof.formal.solution.types import SolutionState, SolutionVerdict
from maxproof.models.types import Call, CallAddress, Caller, NoAnswer


class GuidedProof:
    """A `Method` that asks a model."""

    name = "guided"

    def __init__(self, caller: Caller, checker: Checker, limits: Limits, settings: GuidedSettings) -> None:
        self._caller = caller
        self._checker = checker
        self._limits = limits
        self._settings = settings

    async def attempt(self, problem: FormalProblem, seed: int) -> Attempt:
        """`seed` is the attempt's number, 0..N-1; the solver's seed stays that of the limits.

        A call without an answer (a budget, a failed endpoint) ends the attempt as a tool error: it says nothing of the
        problem.
        """
        started = time.monotonic()
        caller = CountingCaller(self._caller)
        prompts = Prompts(problem, self._settings.lemmas)
        turns: list[Turn] = []
        checked: list[tuple[SolutionVerdict, str]] = []
        failure = ""
        try:
            while len(turns) <= self._settings.corrections:
                answer = await caller.ask(self._call(prompts, seed, turns))
                verdict = await check_solution(problem, answer.text, self._checker, self._limits)
                checked.append((verdict, answer.text))
                if verdict.accepted or verdict.state is SolutionState.TOOL_ERROR:
                    break
                turns.append(Turn(answer.text, messages_for_model(verdict)))
        except NoAnswer as error:
            failure = f"no answer: {error}"
        made = Attempt(
            problem.name,
            self.name,
            seed,
            SolutionState.TOOL_ERROR,
            checker=str(self._checker.tool),
            checks=sum(verdict.result is not None for verdict, _ in checked),
            seconds=time.monotonic() - started,
            resource=sum(verdict.result.resource for verdict, _ in checked if verdict.result is not None),
            calls=caller.calls,
            prompt_tokens=caller.prompt_tokens,
            completion_tokens=caller.completion_tokens,
            reason=failure,
        )
        if not checked:
            return made
        best, text = max(checked, key=lambda pair: (pair[0].accepted, pair[0].proved / max(1, pair[0].total)))
        made = judged(made, best, text)
        return replace(made, state=SolutionState.TOOL_ERROR, reason=failure) if failure else made

    def _call(self, prompts: Prompts, seed: int, turns: list[Turn]) -> Call:
        if not turns:
            return prompts.prove(CallAddress("generator", "prove", seed))
        address = CallAddress("refiner", "correct", seed, sample=len(turns) - 1)
        if self._settings.mode == "conversation":
            return prompts.prove(address, turns)
        return prompts.patch(address, turns[-1].reply, turns[-1].messages)
