"""What a prover is worth, by the exact oracle: greedy and sampled side by side, and best-of-k.

A *pass* is 7 points. best@k is the share of problems of which at least one of k samples passes, estimated without bias
from all samples drawn (Chen et al., arXiv 2107.03374, equation 1); pass@1 of samples is best@1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from maxproof.lab.dialogue import prove_prompt
from maxproof.lab.generate import LabProblem
from maxproof.lab.oracle import grade
from maxproof.statistics import MeanRate, Rate, mean_pass_at_k, wilson
from maxproof.training.settings import SamplingSettings
from maxproof.verifier.types import MAX_POINTS

if TYPE_CHECKING:
    from maxproof.training.checkpoint import Checkpoint


@dataclass(frozen=True, slots=True)
class ProverMeasure:
    """A prover on a set of problems.

    Attributes:
        greedy: share of problems that the greedy proof passes.
        best_at: k -> best@k of the samples; k = 1 is the sampled pass@1.
        greedy_points, sampled_points: mean points, 0..7.
        by_technique: `domain/technique` a problem was made for -> (problems, greedy passes, mean sampled pass@1,
            problems with any pass).
        greedy_by_problem, passes_by_problem: greedy passes (0 or 1), and passes among the samples, in the order of the
            problems; models that are measured on the same problems are compared problem by problem.
    """

    problems: int
    samples: int
    greedy: Rate
    best_at: Mapping[int, MeanRate]
    greedy_points: float
    sampled_points: float
    by_technique: Mapping[str, tuple[int, int, float, int]]
    greedy_by_problem: tuple[int, ...]
    passes_by_problem: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        """As a JSON object; keys of `best_at` become text."""
        return {**asdict(self), "best_at": {str(k): asdict(v) for k, v in self.best_at.items()}}


def measure_prover(
    checkpoint: Checkpoint,
    problems: Sequence[LabProblem],
    samples: int,
    sampling: SamplingSettings,
    seed: int,
) -> ProverMeasure:
    """Draws one greedy proof and `samples` sampled ones (temperature 1) of each problem, and grades them."""
    greedy = prove(checkpoint, problems, sampling.model_copy(update={"temperature": 0.0}), seed, 1)
    sampled = prove(checkpoint, problems, sampling.model_copy(update={"temperature": 1.0}), seed, samples)
    first = [points_of(p, texts[0]) for p, texts in zip(problems, greedy, strict=True)]
    drawn = [[points_of(p, text) for text in texts] for p, texts in zip(problems, sampled, strict=True)]
    passes = [sum(points == MAX_POINTS for points in row) for row in drawn]
    groups: dict[str, list[int]] = defaultdict(list)
    for index, problem in enumerate(problems):
        groups[f"{problem.question.domain}/{problem.technique}"].append(index)
    ks = [k for k in (1, 2, 4, 8, 16, 32, 64) if k <= samples]
    return ProverMeasure(
        problems=len(problems),
        samples=samples,
        greedy=wilson(sum(points == MAX_POINTS for points in first), len(first)),
        best_at={k: mean_pass_at_k([(samples, c) for c in passes], k) for k in ks},
        greedy_points=sum(first) / len(first),
        sampled_points=sum(map(sum, drawn)) / (samples * len(drawn)),
        by_technique={
            name: (
                len(members),
                sum(first[i] == MAX_POINTS for i in members),
                sum(passes[i] for i in members) / (samples * len(members)),
                sum(passes[i] > 0 for i in members),
            )
            for name, members in sorted(groups.items())
        },
        greedy_by_problem=tuple(int(points == MAX_POINTS) for points in first),
        passes_by_problem=tuple(passes),
    )


def prove(
    checkpoint: Checkpoint, problems: Sequence[LabProblem], sampling: SamplingSettings, seed: int, samples: int
) -> list[list[str]]:
    """`samples` proofs of each problem, as text."""
    from maxproof.training.sampling import sample

    prompts = [prove_prompt(problem.problem.statement) for problem in problems for _ in range(samples)]
    seeds = [seed * 1_000_003 + index for index in range(len(prompts))]
    drawn = sample(checkpoint.model, checkpoint.tokenizer, prompts, sampling, seeds)
    texts = [checkpoint.tokenizer.decode(one.ids) for one in drawn]
    return [texts[start : start + samples] for start in range(0, len(texts), samples)]


def points_of(problem: LabProblem, text: str) -> float:
    """The oracle's points of a text, 0..7."""
    return grade(problem.question, text).points
