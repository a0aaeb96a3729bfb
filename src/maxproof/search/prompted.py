"""The roles as prompted language models: one class for each, over one `Caller`.

    roles = prompted_roles(problem, settings, verifier_settings, caller)

A call carries a digest of everything that shapes its prompt; the prompt itself is built only if the answer is not
recorded. Whatever comes from a model or a problem file is fenced (`maxproof.models.template`). Prompts hold nothing
that lazy verification may leave open, such as another candidate's fitness: the prompts are the same with and without.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from maxproof.models.call_key import inputs_digest
from maxproof.models.template import load_template
from maxproof.models.types import Answer, AnswerState, Call, CallAddress, Caller
from maxproof.problems import Problem
from maxproof.search.refinement import sibling_list
from maxproof.search.replies import parse_choice, parse_summary
from maxproof.search.roles import Roles
from maxproof.search.settings import SearchSettings
from maxproof.search.types import Candidate, Slot, Standing
from maxproof.verifier import Verifier
from maxproof.verifier.settings import VerifierSettings
from maxproof.verifier.types import Draft, Verification

NO_CRITIQUE = "The examiner has no critique."
NO_SIBLINGS = "There are no other attempts yet."


def prompted_roles(
    problem: Problem, settings: SearchSettings, verifier_settings: VerifierSettings, caller: Caller
) -> Roles:
    """All the roles for one problem."""
    return Roles(
        generator=PromptedGenerator(problem, caller),
        verifier=PromptedVerifier(Verifier(verifier_settings, caller, problem)),
        summariser=PromptedSummariser(problem, caller),
        refiner=PromptedRefiner(problem, caller),
        ranker=PromptedRanker(problem, caller),
    )


class PromptedGenerator:
    """Writes first proofs from the statement alone: never from a reference solution or a rubric."""

    def __init__(self, problem: Problem, caller: Caller) -> None:
        self._problem = problem
        self._caller = caller

    async def generate(self, slot: Slot) -> Draft:
        address = CallAddress("generator", "generate", slot.id)
        call = role_call(address, "generate", self._problem, {})
        return draft_of(await self._caller.ask(call))


class PromptedVerifier:
    """The four-layer verifier."""

    def __init__(self, verifier: Verifier) -> None:
        self._verifier = verifier

    async def verify(self, candidate: Candidate, samples: Sequence[int]) -> Mapping[int, Verification]:
        return await self._verifier.verify(candidate.id, candidate.draft, samples)


class PromptedSummariser:
    """One sentence: approach and main issue. What layer 1 rejected needs no model to be summarised."""

    def __init__(self, problem: Problem, caller: Caller) -> None:
        self._problem = problem
        self._caller = caller

    async def summarise(self, candidate: Candidate, first: Verification) -> str:
        if first.bad_cases:
            return f"no usable proof: rejected unread ({', '.join(hit.rule for hit in first.bad_cases)})"
        address = CallAddress("summariser", "summarise", candidate.id)
        texts = {"proof": candidate.text, "critique": first.critique or NO_CRITIQUE}
        answer = await self._caller.ask(role_call(address, "summarise", self._problem, texts))
        return "" if answer.state is AnswerState.REFUSED else parse_summary(answer.text)


class PromptedRefiner:
    """PATCH and REWRITE. Only PATCH is told the critique."""

    def __init__(self, problem: Problem, caller: Caller) -> None:
        self._problem = problem
        self._caller = caller

    async def patch(self, slot: Slot, parent: Standing, siblings: Sequence[Standing]) -> Draft:
        texts = {
            "proof": parent.candidate.text,
            "critique": parent.critique or NO_CRITIQUE,
            "other_attempts": sibling_list(siblings) or NO_SIBLINGS,
        }
        call = role_call(CallAddress("refiner", "patch", slot.id), "patch", self._problem, texts)
        return draft_of(await self._caller.ask(call))

    async def rewrite(self, slot: Slot, parent: Standing, siblings: Sequence[Standing]) -> Draft:
        texts = {"proof": parent.candidate.text, "other_attempts": sibling_list(siblings) or NO_SIBLINGS}
        call = role_call(CallAddress("refiner", "rewrite", slot.id), "rewrite", self._problem, texts)
        return draft_of(await self._caller.ask(call))


class PromptedRanker:
    """Which of two proofs is more correct. It is not told what the verifier thinks of them."""

    def __init__(self, problem: Problem, caller: Caller) -> None:
        self._problem = problem
        self._caller = caller

    async def rank(self, match: int, vote: int, first: Standing, second: Standing) -> Literal["first", "second"] | None:
        texts = {"first_proof": first.candidate.text, "second_proof": second.candidate.text}
        for attempt in (0, 1):
            address = CallAddress("ranker", "rank", match, sample=vote, attempt=attempt)
            answer = await self._caller.ask(role_call(address, "rank", self._problem, texts))
            choice = parse_choice(answer.text)
            if choice is not None and answer.state is AnswerState.COMPLETE and not answer.unclosed_thinking:
                return choice
        return None


def role_call(
    address: CallAddress,
    name: str,
    problem: Problem,
    texts: Mapping[str, str | None],
    package: str = "maxproof.search",
) -> Call:
    """A call with the template `prompts/NAME.md` of `package`; `texts` go into its fenced slots, beside the problem."""
    template = load_template(package, name)
    inputs = inputs_digest(problem.digest, *(part for item in sorted(texts.items()) for part in item))
    fenced = {"problem": problem.statement, **texts}
    return Call(address, template.id, inputs, lambda: template.render(fenced))


def draft_of(answer: Answer) -> Draft:
    """A proof writer's answer as a draft."""
    return Draft(answer.text, answer.reasoning, answer.state, answer.unclosed_thinking)
