"""The reward of the verifier expert (MaxProof section 3.4): R = 0.7 R_error + 0.3 R_verdict, in [0, 1].

R_verdict goes by the distance of the two verdicts in their order: 0 -> 1, 1 -> 0.5, more -> 0. R_error is half
localisation and half description, each the F1-like credit of the same one-to-one pairing (`error_matching.py`): two
empty lists are 1, one empty list is 0. A description earns only where its place is right, so a right verdict with wrong
places earns at most 0.3. An answer that can't be read, or was cut, is 0 with its reason.

Descriptions are judged by a `DescriptionJudge`: a strong model in the paper (`ModelDescriptions`), the words themselves
where there is none (`compare_words`). One that gives no usable answer leaves the rollout not scored: never a zero.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from maxproof.models.call_key import inputs_digest
from maxproof.models.template import load_template
from maxproof.models.types import Answer, AnswerState, Call, CallAddress, Caller, Message, NoAnswer
from maxproof.training.error_matching import (
    RIGHT_PLACE,
    Pair,
    Sentences,
    f1_like,
    kind_of,
    match_errors,
    word_agreement,
)
from maxproof.training.harvest import Harvest
from maxproof.training.types import Reward, Rollout
from maxproof.verifier.judge_reply import ReplyFault, holds_tags, parse_reply
from maxproof.verifier.types import LocatedError, Verdict

ERROR_WEIGHT, VERDICT_WEIGHT = 0.7, 0.3
LOCALISATION_WEIGHT, DESCRIPTION_WEIGHT = 0.5, 0.5
CUT = "the answer was cut at the token limit"


class Findings(Protocol):
    """What a verifier says of a proof: `errors` is empty iff the verdict is `no_errors`."""

    @property
    def verdict(self) -> Verdict: ...
    @property
    def errors(self) -> tuple[LocatedError, ...]: ...


@dataclass(frozen=True, slots=True)
class DescriptionPair:
    """Two descriptions of one place in a proof, to be compared."""

    statement: str
    proof: str
    location: str
    predicted: str
    golden: str


class DescriptionJudge(Protocol):
    """Says how far a predicted description names the golden one's fault, 0..1; None when it can't say."""

    async def __call__(self, pairs: Sequence[DescriptionPair]) -> Sequence[float | None]: ...


@dataclass(frozen=True, slots=True)
class VerifierScore:
    """One answer against one harvested example.

    Attributes:
        value: R, 0..1; None when some description could not be judged.
        r_verdict, localisation, description: its parts, 0..1; `r_error` and `description` are None with it.
        reason: why it is 0 without having been compared, or why it is None; else "".
    """

    value: float | None
    r_verdict: float = 0.0
    r_error: float | None = 0.0
    localisation: float = 0.0
    description: float | None = 0.0
    reason: str = ""


def verdict_reward(predicted: Verdict, golden: Verdict) -> float:
    """R_verdict: 1, 0.5 or 0 by the distance of the two in `Verdict`'s order.

    A constant answer on evenly many of each verdict earns 0.375, 0.5, 0.5 or 0.375.
    """
    order = list(Verdict)
    distance = abs(order.index(predicted) - order.index(golden))
    return {0: 1.0, 1: 0.5}.get(distance, 0.0)


async def score_findings(
    predicted: Findings | str, golden: Findings, statement: str, proof: str, judge: DescriptionJudge
) -> VerifierScore:
    """R of what was read from an answer, or of the reason (a text) why nothing could be."""
    if isinstance(predicted, str):
        return VerifierScore(0.0, reason=predicted)
    r_verdict = verdict_reward(predicted.verdict, golden.verdict)
    sizes = len(predicted.errors), len(golden.errors)
    pairs = match_errors(predicted.errors, golden.errors, Sentences(proof))
    placed = f1_like(sum(pair.localisation for pair in pairs), *sizes)
    credits = await _description_credits(pairs, predicted, golden, statement, proof, judge)
    if credits is None:
        return VerifierScore(None, r_verdict, None, placed, None, reason="a description could not be judged")
    described = f1_like(sum(credits), *sizes)
    r_error = LOCALISATION_WEIGHT * placed + DESCRIPTION_WEIGHT * described
    value = ERROR_WEIGHT * r_error + VERDICT_WEIGHT * r_verdict
    return VerifierScore(min(value, 1.0), r_verdict, r_error, placed, described)


async def _description_credits(
    pairs: Sequence[Pair], predicted: Findings, golden: Findings, statement: str, proof: str, judge: DescriptionJudge
) -> list[float] | None:
    """A credit for each rightly placed pair, at most its localisation; None when one could not be judged."""
    right = [pair for pair in pairs if pair.localisation >= RIGHT_PLACE]
    if not right:
        return []
    judged = await judge(
        [
            DescriptionPair(
                statement,
                proof,
                golden.errors[pair.golden].location,
                predicted.errors[pair.predicted].description,
                golden.errors[pair.golden].description,
            )
            for pair in right
        ]
    )
    credits: list[float] = []
    for pair, value in zip(right, judged, strict=True):
        if value is None:
            return None
        credits.append(min(max(value, 0.0), 1.0) * pair.localisation)
    return credits


# --- judges of descriptions -------------------------------------------------------------------------------------------


async def compare_words(pairs: Sequence[DescriptionPair]) -> list[float | None]:
    """Half for the same kind of fault (false, or a gap), half for shared words; words alone where a kind isn't said."""
    return [_agreement(pair.predicted, pair.golden) for pair in pairs]


def _agreement(predicted: str, golden: str) -> float:
    words = word_agreement(predicted, golden)
    kinds = kind_of(predicted), kind_of(golden)
    return 0.5 * (kinds[0] == kinds[1]) + 0.5 * words if all(kinds) else words


_AGREEMENT = re.compile(r"<agreement>\s*(same|partly|different)\s*</agreement>", re.IGNORECASE)
_CREDIT = {"same": 1.0, "partly": 0.5, "different": 0.0}


class ModelDescriptions:
    """Asks a model about each pair, all at once; an unreadable reply is asked for once more, then the pair is None.

    Args:
        judge: the judge whose endpoint, model and sampling answer; one that isn't configured uses the `judge` role's.
    """

    def __init__(self, caller: Caller, judge: str = "descriptions") -> None:
        self._caller = caller
        self._judge = judge

    async def __call__(self, pairs: Sequence[DescriptionPair]) -> list[float | None]:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._ask(index, pair)) for index, pair in enumerate(pairs)]
        return [task.result() for task in tasks]

    async def _ask(self, index: int, pair: DescriptionPair) -> float | None:
        for attempt in (0, 1):
            try:
                answer = await self._caller.ask(self._call(index, pair, attempt))
            except NoAnswer:
                return None
            credit = _read_agreement(answer)
            if credit is not None:
                return credit
        return None

    def _call(self, index: int, pair: DescriptionPair, attempt: int) -> Call:
        template = load_template("maxproof.training", "compare-descriptions")
        shown = {
            "problem": pair.statement,
            "proof": pair.proof,
            "place": pair.location,
            "reference_finding": pair.golden,
            "finding": pair.predicted,
        }

        def prompt() -> tuple[Message, ...]:
            return template.render(shown)

        return Call(
            address=CallAddress("judge", "describe", index, judge=self._judge, attempt=attempt),
            template=template.id,
            inputs=inputs_digest(*shown.values()),
            prompt=prompt,
        )


def _read_agreement(answer: Answer) -> float | None:
    """The one agreement a complete reply ends with; None when it has none, or several that differ."""
    if answer.state is not AnswerState.COMPLETE or answer.unclosed_thinking:
        return None
    found = {name.lower() for name in _AGREEMENT.findall(answer.text)}
    return _CREDIT[found.pop()] if len(found) == 1 else None


# --- as the trainer calls it ------------------------------------------------------------------------------------------


class VerifierExpertReward:
    """R as the `RewardFunction` of `train_rl`.

    Args:
        examples: by task id (`task_ids`).
        read: an answer's findings, or why it can't be read; given the example that it is about.
        judge: of descriptions.
    """

    def __init__(
        self,
        examples: Mapping[str, Harvest],
        read: Callable[[Harvest, str], Findings | str],
        judge: DescriptionJudge = compare_words,
    ) -> None:
        self._examples = examples
        self._read = read
        self._judge = judge

    async def __call__(self, rollouts: Sequence[Rollout]) -> list[Reward]:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self.score(rollout)) for rollout in rollouts]
        return [_reward(task.result()) for task in tasks]

    async def score(self, rollout: Rollout) -> VerifierScore:
        """Raises KeyError for a task that has no example."""
        example = self._examples[rollout.task]
        found = self._read(example, rollout.text) if rollout.finished else CUT
        return await score_findings(found, example, example.statement, example.proof, self._judge)


def _reward(score: VerifierScore) -> Reward:
    parts = {
        "r_verdict": score.r_verdict,
        "localisation": score.localisation,
        "unreadable": float(bool(score.reason) and score.value is not None),
    }
    if score.r_error is not None and score.description is not None:
        parts |= {"r_error": score.r_error, "description": score.description}
    return Reward(score.value, parts=parts)


def task_ids(examples: Sequence[Harvest]) -> dict[str, Harvest]:
    """The examples by task id, `PROBLEM#NUMBER` with the number in the list."""
    return {f"{example.problem}#{number}": example for number, example in enumerate(examples)}


def read_reply(example: Harvest, text: str) -> Findings | str:
    """Reads an answer in the form of the project's judges (`<assessment>`, `<errors>`, `<verdict>`)."""
    reply = parse_reply(text, tagged=lambda: holds_tags(example.proof) or holds_tags(example.statement))
    return reply.value if isinstance(reply, ReplyFault) else reply
