"""The verifier expert: a model that finds errors and gives the verdict (MaxProof section 3), from one of our own
checkpoints.

It learns in the lab's compact format: one mark a sentence, then the verdict (`lab/dialogue.py`). First SFT on the
harvest, then CISPO on the same prompts with R as the reward (`verifier_reward.py`). In that format a description is
nothing but the kind of an error, so two descriptions agree when they are of one kind, and a place is a sentence's
number. For a model of full size use `maxproof harvest --format chat` with any trainer, and the HTTP reward server.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from maxproof.lab.dialogue import (
    Critique,
    critique,
    critique_answer,
    mark_of,
    marks_from_errors,
    proof_lines,
    read_marks,
    verify_prompt,
)
from maxproof.problems import InputError
from maxproof.problems.text import read_text
from maxproof.search.run_folder import write_atomically
from maxproof.statistics import MeanRate, Rate, wilson
from maxproof.training.harvest import Harvest
from maxproof.training.settings import CispoSettings, SamplingSettings, SftSettings
from maxproof.training.types import Example, Rollout, Task
from maxproof.training.verifier_reward import DescriptionPair, Findings, VerifierExpertReward, VerifierScore, task_ids
from maxproof.verifier.types import LocatedError, Verdict

if TYPE_CHECKING:
    from maxproof.training.checkpoint import Checkpoint
    from maxproof.training.rl_report import StepReport

UNREADABLE = "unreadable"
EXAMPLES = "examples.sha256"
MAX_ANSWER_TOKENS = 72  # 32 sentences with a mark and a number each, and the verdict


class VerifierExpertSettings(BaseModel):
    """How the verifier expert is trained. The paper discloses none of these numbers; the defaults are ours."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sft: SftSettings = Field(
        default_factory=lambda: SftSettings(steps=300, batch=48, learning_rate=5e-4, warmup=20),
        description="the warm-up",
    )
    rl: CispoSettings | None = Field(
        default_factory=lambda: CispoSettings(
            steps=60, prompts=24, group=8, sampling=SamplingSettings(max_new_tokens=MAX_ANSWER_TOKENS)
        ),
        description="its seed is that of the training; None: the warm-up only",
    )


@dataclass(frozen=True, slots=True)
class Marked:
    """A harvested example in the compact format.

    Attributes:
        example: its proof one sentence a line, its errors by the number of their sentence.
        prompt, answer: what the model is asked, and what it should say.
    """

    example: Harvest
    prompt: str
    answer: str


def in_marks(example: Harvest) -> Marked | None:
    """The example in marks; None for a proof that has no sentence or doesn't fit into a prompt.

    Judges' errors that are at no sentence become a missing goal, as `marks_from_errors` says.
    """
    lines, whole = proof_lines(example.proof)
    if not lines or not whole:
        return None
    marks = marks_from_errors(example.errors, example.verdict, example.proof)
    golden = critique(marks, example.verdict, lines)
    return Marked(
        replace(example, proof="\n".join(lines), errors=_by_number(golden)),
        verify_prompt(example.statement, example.proof),
        critique_answer(marks, example.verdict),
    )


def all_in_marks(examples: Sequence[Harvest]) -> list[Marked]:
    """Those that can be said in marks. Raises InputError if none can."""
    found = [marked for example in examples if (marked := in_marks(example)) is not None]
    if not found:
        raise InputError(
            "no example that the compact format can say: none at all, or proofs too long for it",
            hint="for a model of full size: maxproof harvest --format chat",
        )
    return found


@dataclass(frozen=True, slots=True)
class MarkFindings:
    """What was read from an answer in marks: errors by the number of their sentence."""

    verdict: Verdict
    errors: tuple[LocatedError, ...]


def read_marked(example: Harvest, text: str) -> Findings | str:
    """Reads an answer about `Marked.example`; a text, the reason, for one that isn't in the format."""
    found = read_marks(text, example.proof)
    return (
        "it does not mark each sentence once, or its verdict contradicts its marks"
        if found is None
        else (MarkFindings(found.verdict, _by_number(found)))
    )


def _by_number(found: Critique) -> tuple[LocatedError, ...]:
    """Sentence numbers tell places apart where a proof says the same thing twice."""
    numbers = [number for number, mark in enumerate(found.marks, 1) if mark.is_error]
    return tuple(
        LocatedError(f"sentence {number}", error.description)
        for number, error in zip(numbers, found.errors, strict=True)
    )


async def compare_marks(pairs: Sequence[DescriptionPair]) -> list[float | None]:
    """1 for two descriptions of one kind (false, a leap, missing), else 0."""
    return [float(mark_of(pair.predicted) is mark_of(pair.golden)) for pair in pairs]


def marks_reward(examples: Mapping[str, Harvest]) -> VerifierExpertReward:
    """R for answers in marks, by task id; the examples are those of `Marked`."""
    return VerifierExpertReward(examples, read_marked, compare_marks)


async def train_verifier(
    checkpoint: Checkpoint,
    examples: Sequence[Harvest],
    settings: VerifierExpertSettings,
    out: Path,
    seed: int,
    *,
    progress: Callable[[int, int, float, float, float], None] | None = None,
    observe: Callable[[StepReport], None] | None = None,
) -> Checkpoint:
    """SFT on `examples` (the train split), then CISPO with R. Resumes in `out` what was interrupted.

    Args:
        progress, observe: as `train_sft` and `train_rl` take them.

    Raises InputError when no example can be said in marks, and as the two trainers do.
    """
    from maxproof.training.rl import train_rl
    from maxproof.training.sft import train_sft

    marked = all_in_marks(examples)
    pairs = [Example(one.prompt, one.answer) for one in marked]
    claim_examples(out, pairs)
    warm = train_sft(
        checkpoint,
        pairs,
        settings.sft,
        out / "sft",
        seed,
        progress=progress,
    )
    if settings.rl is None:
        return warm
    by_task = task_ids([one.example for one in marked])
    tasks = [Task(id, one.prompt) for id, one in zip(by_task, marked, strict=True)]
    rl = settings.rl.model_copy(update={"seed": seed})
    return await train_rl(warm, tasks, marks_reward(by_task), rl, out / "rl", observe=observe)


def claim_examples(out: Path, examples: Sequence[Example]) -> None:
    """Notes in `out` what is trained on. Raises InputError when a run on other examples is there."""
    out.mkdir(parents=True, exist_ok=True)
    path = out / EXAMPLES
    total = hashlib.sha256("".join(f"{one.prompt!r} {one.answer!r}\n" for one in examples).encode()).hexdigest()
    if path.exists() and read_text(path, 1024).strip() != total:
        raise InputError("this run has other examples", file=out, hint="name another folder")
    write_atomically(path, total + "\n")


# --- evaluation -------------------------------------------------------------------------------------------------------

Oracle = Callable[[str, str], Verdict | None]
"""(statement, proof) -> the true verdict; None where it is not known."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Verdicts against a reference, as pass (`no_errors`) or not. Unreadable answers are in none of the counts.

    Attributes:
        accuracy: the same of the four verdicts.
        false_positives: passed, among those that the reference does not pass.
        false_negatives: not passed, among those that the reference passes.
    """

    accuracy: Rate
    false_positives: Rate
    false_negatives: Rate


@dataclass(frozen=True, slots=True)
class VerifierFigures:
    """One way of decoding, on all examples.

    Attributes:
        reward, r_error, r_verdict: means over all answers, 0..1, with intervals over problems; an unreadable answer
            counts 0.
        unreadable: answers that could not be read.
        by_judge: against the verdict of the judge that realised the minimum.
        by_oracle: against the oracle, over the examples that it knows; None without one.
        confusion: golden verdict -> predicted verdict, or `unreadable` -> how many.
    """

    answers: int
    reward: MeanRate
    r_error: MeanRate
    r_verdict: MeanRate
    unreadable: Rate
    by_judge: Agreement
    by_oracle: Agreement | None
    confusion: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class VerifierEvaluation:
    """A verifier on held-out examples: greedy and sampled side by side.

    Attributes:
        left_out: examples that don't fit into the format; they are in no figure.
        judge_by_oracle: the harvested verdicts themselves against the oracle, for comparison.
    """

    examples: int
    left_out: int
    greedy: VerifierFigures
    sampled: VerifierFigures
    judge_by_oracle: Agreement | None

    def to_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return asdict(self)


async def evaluate_verifier(
    checkpoint: Checkpoint,
    examples: Sequence[Harvest],
    oracle: Oracle | None = None,
    *,
    seed: int = 0,
    samples: int = 4,
    batch: int = 256,
) -> VerifierEvaluation:
    """Asks about each example once greedily and `samples` times at temperature 1.

    Raises InputError when no example can be said in marks.
    """
    marked = all_in_marks(examples)
    truths = [oracle(one.example.statement, one.example.proof) if oracle else None for one in marked]
    greedy = SamplingSettings(temperature=0.0, max_new_tokens=MAX_ANSWER_TOKENS, batch=batch)
    sampled = greedy.model_copy(update={"temperature": 1.0})
    goldens = [one.example.verdict for one in marked]
    return VerifierEvaluation(
        examples=len(marked),
        left_out=len(examples) - len(marked),
        greedy=await _figures(marked, truths, _answers(checkpoint, marked, greedy, seed, 1)),
        sampled=await _figures(marked, truths, _answers(checkpoint, marked, sampled, seed, samples)),
        judge_by_oracle=agreement(list(zip(goldens, truths, strict=True))) if oracle else None,
    )


def _answers(
    checkpoint: Checkpoint, marked: Sequence[Marked], settings: SamplingSettings, seed: int, samples: int
) -> list[Rollout]:
    from maxproof.training.sampling import sample

    rows = [(place, number) for place in range(len(marked)) for number in range(samples)]
    drawn = sample(
        checkpoint.model,
        checkpoint.tokenizer,
        [marked[place].prompt for place, _ in rows],
        settings,
        [row_seed(seed, "verify", place, number) for place, number in rows],
    )
    return [
        Rollout(0, str(place), place, number, marked[place].prompt, checkpoint.tokenizer.decode(one.ids), one.finished)
        for (place, number), one in zip(rows, drawn, strict=True)
    ]


async def _figures(
    marked: Sequence[Marked], truths: Sequence[Verdict | None], rollouts: Sequence[Rollout]
) -> VerifierFigures:
    reward = marks_reward({str(place): one.example for place, one in enumerate(marked)})

    scores = [await reward.score(rollout) for rollout in rollouts]
    predicted = [_verdict(marked[rollout.group].example, rollout) for rollout in rollouts]
    goldens = [marked[rollout.group].example.verdict for rollout in rollouts]
    known = [truths[rollout.group] for rollout in rollouts]
    confusion = {str(golden): {**{str(verdict): 0 for verdict in Verdict}, UNREADABLE: 0} for golden in Verdict}
    for golden, verdict in zip(goldens, predicted, strict=True):
        confusion[golden][verdict or UNREADABLE] += 1
    clusters: dict[str, list[VerifierScore]] = {}
    for rollout, found in zip(rollouts, scores, strict=True):
        clusters.setdefault(marked[rollout.group].example.problem, []).append(found)
    groups = list(clusters.values())
    return VerifierFigures(
        answers=len(rollouts),
        # Marks are always scored: no part of a score is None.
        reward=clustered_mean([[score.value or 0.0 for score in group] for group in groups]),
        r_error=clustered_mean([[score.r_error or 0.0 for score in group] for group in groups]),
        r_verdict=clustered_mean([[score.r_verdict for score in group] for group in groups]),
        unreadable=wilson(predicted.count(None), len(predicted)),
        by_judge=agreement(list(zip(predicted, goldens, strict=True))),
        by_oracle=agreement(list(zip(predicted, known, strict=True))) if any(truths) else None,
        confusion=confusion,
    )


def _verdict(example: Harvest, rollout: Rollout) -> Verdict | None:
    found = read_marked(example, rollout.text) if rollout.finished else ""
    return None if isinstance(found, str) else found.verdict


def agreement(pairs: Sequence[tuple[Verdict | None, Verdict | None]]) -> Agreement:
    """Counts over (predicted, reference); a pair in which either is None is left out."""
    known = Counter(
        (predicted, reference) for predicted, reference in pairs if predicted is not None and reference is not None
    )
    passed = {
        (said, true): sum(
            count
            for (predicted, reference), count in known.items()
            if (predicted is Verdict.NO_ERRORS) is said and (reference is Verdict.NO_ERRORS) is true
        )
        for said in (True, False)
        for true in (True, False)
    }
    return Agreement(
        accuracy=wilson(sum(count for (one, other), count in known.items() if one is other), known.total()),
        false_positives=wilson(passed[True, False], passed[True, False] + passed[False, False]),
        false_negatives=wilson(passed[False, True], passed[False, True] + passed[True, True]),
    )


def clustered_mean(clusters: Sequence[Sequence[float]]) -> MeanRate:
    """The mean of all values, each 0..1, with a 95 % interval where those of a cluster are not independent.

    Normal, with the variance of the ratio (sum of values / number of values) over clusters. Where that says nothing, as
    all values are 0 or all 1, Wilson's for the number of clusters. No values: 0 in [0, 1].
    """
    size = sum(map(len, clusters))
    if not size:
        return MeanRate(0.0, 0.0, 1.0)
    middle = sum(map(sum, clusters)) / size
    if middle in (0.0, 1.0):
        rate = wilson(round(middle * len(clusters)), len(clusters))
        return MeanRate(middle, rate.low, rate.high)
    if len(clusters) < 2:
        return MeanRate(middle, 0.0, 1.0)
    spread = sum((sum(cluster) - middle * len(cluster)) ** 2 for cluster in clusters)
    half = 1.96 * (spread * len(clusters) / (len(clusters) - 1)) ** 0.5 / size
    return MeanRate(middle, max(0.0, middle - half), min(1.0, middle + half))


def row_seed(seed: int, what: str, place: int, number: int) -> int:
    """31 bits for one sample of one prompt: the same whatever else is drawn."""
    data = hashlib.sha256(f"{seed}\0{what}\0{place}\0{number}".encode()).digest()
    return int.from_bytes(data[:4], "big") & 0x7FFFFFFF
