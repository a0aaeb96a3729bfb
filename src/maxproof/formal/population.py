"""MaxProof on formal problems: the population search with a checker where the judges were.

    method = PopulationProof(caller, checker, limits, settings, lemmas=12, symbolic=prover)
    attempt = await method.attempt(problem, seed=0)

Fitness is exact: 7 points times the share of obligations that are proved and rest on nothing unproved, 7 only for an
accepted proof, so one sample is enough (K_verify = 1) and one accepted proof ends the search. PATCH gets the messages
on the obligations that failed, REWRITE takes another route, and both see one line on each other attempt. The symbolic
prover goes first: if it proves the problem no model is asked, else its closest proof is a candidate beside the model's.
No model ranks: of the accepted proofs the shortest wins.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from maxproof.formal.checkers.types import Checker, Limits
from maxproof.formal.error_classes import error_class
from maxproof.formal.guided.calls import Prompts
from maxproof.formal.guided.counting import CountingCaller
from maxproof.formal.learned.offer import Offer
from maxproof.formal.problem import FormalProblem
from maxproof.formal.results import Attempt, Method, judged
from maxproof.formal.solution.check import check_solution
from maxproof.formal.solution.feedback import messages_for_model
from maxproof.formal.solution.types import SolutionState, SolutionVerdict
from maxproof.models.types import Answer, CallAddress, Caller
from maxproof.search.engine import search
from maxproof.search.events import Observer
from maxproof.search.refinement import sibling_list
from maxproof.search.roles import Roles
from maxproof.search.settings import SearchSettings
from maxproof.search.types import Candidate, SearchResult, Slot, Standing, StopReason
from maxproof.verifier.types import MAX_POINTS, Draft, ScoreState, Verdict, Verification

SUMMARY_CHARS = 300
_NOTHING = Offer()


def formal_search(settings: SearchSettings, seed: int, symbolic: int, heading: int) -> SearchSettings:
    """The same search for an exact fitness: one verification, one accepted proof ends it, every candidate may win.

    Args:
        seed: the attempt's; it decides ties.
        symbolic: candidates of the symbolic prover, on top of those that `settings` gives the model.
        heading: characters of the statement, which every candidate repeats before what makes it another one.
    """
    candidates = settings.candidates + symbolic
    return settings.model_copy(
        update={
            "candidates": candidates,
            "verifications": 1,
            "stop_at_perfect": 1,
            "finalists": candidates + 2 * settings.parents * settings.rounds,
            "finalist_mode": "top",
            "votes": 1,
            "diversity_prefix": settings.diversity_prefix + heading,
            "seed": seed,
        }
    )


def points(verdict: SolutionVerdict) -> float:
    """0..7: the verdict's credit, rounded down and below 7 unless the solution is accepted.

    What is no proof of this problem (a cheat, another statement, no Dafny) has none, whatever it proves.
    """
    if verdict.accepted:
        return float(MAX_POINTS)
    if verdict.state not in (SolutionState.UNPROVED, SolutionState.TIMEOUT):
        return 0.0
    return float(min(MAX_POINTS - 1, int(MAX_POINTS * verdict.credit)))


def verification_of(verdict: SolutionVerdict, sample: int) -> Verification:
    """The checker's verdict as a verification; a checker that failed leaves the candidate not scored."""
    if verdict.state is SolutionState.TOOL_ERROR:
        return Verification(sample, ScoreState.NOT_SCORED, None, None, verdict.reason)
    score = points(verdict)
    if verdict.accepted:
        return Verification(sample, ScoreState.PASSED, score, Verdict.NO_ERRORS, "")
    wrong = Verdict.FUNDAMENTALLY_WRONG if score == 0 else Verdict.HAS_ERRORS
    return Verification(sample, ScoreState.FAILED, score, wrong, messages_for_model(verdict))


@dataclass(slots=True)
class FormalVerifier:
    """Checks candidates; keeps what each came to."""

    problem: FormalProblem
    checker: Checker
    limits: Limits
    verdicts: dict[int, SolutionVerdict] = field(default_factory=dict)

    async def verify(self, candidate: Candidate, samples: Sequence[int]) -> Mapping[int, Verification]:
        verdict = await check_solution(self.problem, candidate.text, self.checker, self.limits)
        self.verdicts[candidate.id] = verdict
        return {sample: verification_of(verdict, sample) for sample in samples}


@dataclass(slots=True)
class ModelWriter:
    """Asks the model for candidates. `attempt`: which repetition; each has answers of its own."""

    problem: FormalProblem
    prompts: Prompts
    caller: Caller
    offer: Offer
    attempt: int

    async def generate(self, slot: Slot) -> Draft:
        return self._draft(await self.caller.ask(self.prompts.prove(self._address("generator", "generate", slot))))

    async def patch(self, slot: Slot, parent: Standing, siblings: Sequence[Standing]) -> Draft:
        """A repair where obligations failed."""
        address = self._address("refiner", "patch", slot)
        call = self.prompts.patch(address, parent.candidate.text, parent.critique, sibling_list(siblings))
        return self._draft(await self.caller.ask(call))

    async def rewrite(self, slot: Slot, parent: Standing, siblings: Sequence[Standing]) -> Draft:
        """Another route."""
        address = self._address("refiner", "rewrite", slot)
        call = self.prompts.rewrite(address, parent.candidate.text, sibling_list(siblings))
        return self._draft(await self.caller.ask(call))

    def _address(self, role: str, task: str, slot: Slot) -> CallAddress:
        return CallAddress(role, task, slot.id, sample=self.attempt)

    def _draft(self, answer: Answer) -> Draft:
        text = self.offer.submission(self.problem, answer.text)
        return Draft(text, answer.reasoning, answer.state, answer.unclosed_thinking)


@dataclass(slots=True)
class TwoGenerators:
    """The model fills the first `model_slots` slots, the symbolic prover's proofs the others."""

    writer: ModelWriter
    symbolic: Sequence[str]
    model_slots: int

    async def generate(self, slot: Slot) -> Draft:
        if slot.id >= self.model_slots:
            return Draft(self.symbolic[slot.id - self.model_slots])
        return await self.writer.generate(slot)


class MessageSummariser:
    """What still fails, in one line, from the checker's messages: no model is asked."""

    async def summarise(self, candidate: Candidate, first: Verification) -> str:
        return " ".join(first.critique.split())[:SUMMARY_CHARS]


class ShortestRanker:
    """An accepted proof beats any other; then more points; then the shorter text; then the older one."""

    async def rank(self, match: int, vote: int, first: Standing, second: Standing) -> Literal["first", "second"] | None:
        return "first" if _order(first) <= _order(second) else "second"


def _order(standing: Standing) -> tuple[float, int, int]:
    return -(standing.fitness or 0.0), len(standing.candidate.text), standing.candidate.id


class PopulationProof:
    """A `Method`: the whole population search on one problem.

    Args:
        settings: candidates, rounds and parents; what an exact fitness decides is set by `formal_search`.
        lemmas: how many lemmas the model is shown.
        symbolic: the symbolic prover, or its earlier attempts; None for the model alone. What it cost counts.
        offer: learned lemmas.
        observe: gets the engine's events.
    """

    name = "population"

    def __init__(
        self,
        caller: Caller,
        checker: Checker,
        limits: Limits,
        settings: SearchSettings,
        lemmas: int,
        symbolic: Method | None = None,
        offer: Offer = _NOTHING,
        observe: Observer | None = None,
    ) -> None:
        self._caller = caller
        self._checker = checker
        self._limits = limits
        self._settings = settings
        self._lemmas = lemmas
        self._symbolic = symbolic
        self._offer = offer
        self._observe = observe

    async def attempt(self, problem: FormalProblem, seed: int) -> Attempt:
        """One search; `seed` decides its ties, and each has samples of its own.

        A search that a refused call (budget, endpoint) cut short is without a verdict, unless it has found a proof.
        """
        first = None if self._symbolic is None else await self._symbolic.attempt(problem, seed)
        started = time.monotonic()
        if first is not None and first.accepted:
            return replace(first, method=self.name)
        proofs = [first.solution] if first is not None and first.solution else []
        caller = CountingCaller(self._caller)
        verifier = FormalVerifier(problem, self._checker, self._limits)
        prompts = Prompts(problem, self._lemmas, [lemma.lemma for lemma in self._offer.lemmas_for(problem)])
        writer = ModelWriter(problem, prompts, caller, self._offer, seed)
        roles = Roles(
            generator=TwoGenerators(writer, proofs, self._settings.candidates),
            verifier=verifier,
            summariser=MessageSummariser(),
            refiner=writer,
            ranker=ShortestRanker(),
        )
        settings = formal_search(self._settings, seed, len(proofs), len(prompts.statement))
        result = await search(settings, roles, self._observe)
        checked = [verdict for _, verdict in sorted(verifier.verdicts.items())]
        results = [verdict.result for verdict in checked if verdict.result is not None]
        made = Attempt(
            problem.name,
            self.name,
            seed,
            SolutionState.TOOL_ERROR,
            checker=str(self._checker.tool),
            checks=len(results) + (first.checks if first is not None else 0),
            seconds=time.monotonic() - started + (first.seconds if first is not None else 0.0),
            resource=sum(one.resource for one in results) + (first.resource if first is not None else 0),
            calls=caller.calls,
            prompt_tokens=caller.prompt_tokens,
            completion_tokens=caller.completion_tokens,
            errors=tuple(wrong for verdict in checked if (wrong := error_class(verdict)) is not None),
            reason="no candidate was written",
        )
        if result.winner is None:
            return replace(made, reason=_lost(result) or made.reason)
        text = result.standing(result.winner).candidate.text
        made = judged(made, verifier.verdicts[result.winner], text)
        if result.stop is StopReason.NOT_RUN and not made.accepted:
            return replace(made, state=SolutionState.TOOL_ERROR, reason=f"cut short: {_lost(result)}")
        return made


def _lost(result: SearchResult) -> str:
    """Why the last candidate that got lost was lost; "" if none was."""
    return list(result.lost.values())[-1] if result.lost else ""
