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
from maxproof.formal.error_classes import error_class
from maxproof.formal.guided.calls import Prompts, Turn
from maxproof.formal.guided.counting import CountingCaller
from maxproof.formal.guided.settings import GuidedSettings
from maxproof.formal.learned.offer import Offer
from maxproof.formal.problem import FormalProblem
from maxproof.formal.results import Attempt, judged
from maxproof.formal.solution.check import check_solution
from maxproof.formal.solution.feedback import messages_for_model
from maxproof.formal.solution.types import SolutionState, SolutionVerdict
from maxproof.models.types import Call, CallAddress, Caller, NoAnswer

_NOTHING = Offer()


class GuidedProof:
    """A `Method` that asks a model. `offer`: learned lemmas that it may use."""

    name = "guided"

    def __init__(
        self, caller: Caller, checker: Checker, limits: Limits, settings: GuidedSettings, offer: Offer = _NOTHING
    ) -> None:
        self._caller = caller
        self._checker = checker
        self._limits = limits
        self._settings = settings
        self._offer = offer

    async def attempt(self, problem: FormalProblem, seed: int) -> Attempt:
        """`seed` is the attempt's number, 0..N-1; the solver's seed stays that of the limits.

        A call without an answer (a budget, a failed endpoint) ends the attempt as a tool error, with its best text: it
        says nothing of the problem.
        """
        started = time.monotonic()
        caller = CountingCaller(self._caller)
        learned = [lemma.lemma for lemma in self._offer.lemmas_for(problem)]
        prompts = Prompts(problem, self._settings.lemmas, learned)
        turns: list[Turn] = []
        checked: list[tuple[SolutionVerdict, str]] = []
        failure = ""
        try:
            while len(turns) <= self._settings.corrections:
                proof = checked[-1][1] if checked else ""
                answer = await caller.ask(self._call(prompts, seed, turns, proof))
                text = self._offer.submission(problem, answer.text)
                verdict = await check_solution(problem, text, self._checker, self._limits)
                checked.append((verdict, text))
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
            errors=tuple(wrong for verdict, _ in checked if (wrong := error_class(verdict)) is not None),
            reason=failure,
        )
        if not checked:
            return made
        # A checker that failed ends the attempt without a verdict, whatever it said of earlier texts.
        last = checked[-1]
        best, text = last if last[0].state is SolutionState.TOOL_ERROR else max(checked, key=_rank)
        made = judged(made, best, text)
        return replace(made, state=SolutionState.TOOL_ERROR, reason=failure) if failure else made

    def _call(self, prompts: Prompts, seed: int, turns: list[Turn], proof: str) -> Call:
        if not turns:
            return prompts.prove(CallAddress("generator", "prove", seed))
        address = CallAddress("refiner", "correct", seed, sample=len(turns) - 1)
        if self._settings.mode == "conversation":
            return prompts.prove(address, turns)
        return prompts.patch(address, proof, turns[-1].messages)


def _rank(checked: tuple[SolutionVerdict, str]) -> tuple[bool, float]:
    verdict, _ = checked
    return verdict.accepted, verdict.credit
