"""The fixer expert: rejection-sampling SFT on repairs of flawed proofs (MaxProof section 4).

For each triple (problem, flawed proof, verification analysis) of a harvest the proof expert writes several corrections
in the patch dialogue; the verifier that rewarded it in training scores them; the accepted ones are trained on.

Accepted is by default only a correction that passes: verdict `no_errors` of every judge, as the paper has it; with
`accept = "minor_gaps"` that verdict as well, as its authors' blog has it. A correction that is the flawed proof again
is never a repair, whatever a second look says of it; one that is not scored is none either.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from maxproof.lab.canonical import canonical
from maxproof.lab.dialogue import marks_from_errors, patch_prompt, proof_answer, proof_lines, read_proof
from maxproof.problems import InputError
from maxproof.search.run_folder import write_atomically
from maxproof.statistics import MeanRate, Rate, wilson
from maxproof.training.harvest import Triple
from maxproof.training.settings import SamplingSettings, SftSettings
from maxproof.training.types import Example, Reward, RewardFunction, Rollout
from maxproof.training.verifier_expert import Oracle, claim_examples, clustered_mean, row_seed
from maxproof.verifier.normalise import normalise_text
from maxproof.verifier.types import MAX_POINTS, ScoreState, Verdict

if TYPE_CHECKING:
    from maxproof.training.checkpoint import Checkpoint

REPAIRS = "repairs.jsonl"

Accept = Literal["no_errors", "minor_gaps"]


class FixerSettings(BaseModel):
    """How the fixer expert is trained. The paper discloses no number; the defaults are ours."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    triples: int | None = Field(None, ge=1, description="flawed proofs at most, chosen by seed; None is all")
    corrections: int = Field(6, ge=1, le=1024, description="sampled for each flawed proof")
    accept: Accept = Field("no_errors", description="the worst verdict that is accepted")
    keep: int = Field(2, ge=1, description="different repairs of one flawed proof at most")
    sampling: SamplingSettings = Field(default_factory=lambda: SamplingSettings(max_new_tokens=140))
    sft: SftSettings = Field(default_factory=lambda: SftSettings(steps=300, batch=48, learning_rate=5e-4, warmup=20))


@dataclass(frozen=True, slots=True)
class Correction:
    """One sampled correction of `triple` with what the verifier says of it."""

    triple: Triple
    sample: int
    prompt: str
    text: str
    finished: bool
    reward: Reward


@dataclass(frozen=True, slots=True)
class Repair:
    """An accepted correction: what the fixer is trained on. `verdict` is the verifier's of `repaired_proof`."""

    problem: str
    statement: str
    flawed_proof: str
    verification_analysis: str
    repaired_proof: str
    verdict: Verdict
    prompt: str


@dataclass(frozen=True, slots=True)
class RepairCounts:
    """What became of the corrections.

    Attributes:
        triples: asked about. unsayable: triples left out, as the compact format can't say them.
        corrections: sampled; not_scored, unchanged, rejected, repeated, beyond_keep: of them, why each was left out.
        repairs: kept. repaired: triples with at least one.
    """

    triples: int
    unsayable: int
    corrections: int
    not_scored: int
    unchanged: int
    rejected: int
    repeated: int
    beyond_keep: int
    repairs: int
    repaired: int


def patch_prompt_of(triple: Triple) -> str | None:
    """Asks for a repair in the compact format; None for a proof without sentences, or too long for it."""
    lines, whole = proof_lines(triple.flawed_proof)
    if not lines or not whole:
        return None
    marks = marks_from_errors(triple.errors, triple.verdict, triple.flawed_proof)
    return patch_prompt(triple.statement, triple.flawed_proof, marks)


def is_accepted(reward: Reward, accept: Accept) -> bool:
    """Whether a correction with this reward is a repair; "not scored" never is.

    Without a verification the reward decides: 1 for `no_errors`, at least 6/7 for `minor_gaps`.
    """
    if reward.value is None:
        return False
    if reward.verification is None:
        return reward.value >= (1.0 if accept == "no_errors" else (MAX_POINTS - 1) / MAX_POINTS)
    if accept == "no_errors":
        return reward.verification.state is ScoreState.PASSED
    return reward.verification.verdict in (Verdict.NO_ERRORS, Verdict.MINOR_GAPS)


async def sample_corrections(
    checkpoint: Checkpoint,
    triples: Sequence[Triple],
    score: RewardFunction,
    sampling: SamplingSettings,
    samples: int,
    seed: int,
    *,
    step: int = 0,
) -> list[Correction]:
    """`samples` corrections of each triple that the compact format can say, in order, scored all at once.

    `score` gets rollouts whose task is the triple's problem id and whose step is `step`: judges see rollouts of other
    steps as other candidates.
    """
    from maxproof.training.sampling import sample

    asked = [(triple, prompt) for triple in triples if (prompt := patch_prompt_of(triple)) is not None]
    rows = [(place, number) for place in range(len(asked)) for number in range(samples)]
    drawn = sample(
        checkpoint.model,
        checkpoint.tokenizer,
        [asked[place][1] for place, _ in rows],
        sampling,
        [row_seed(seed, "patch", place, number) for place, number in rows],
    )
    rollouts = [
        Rollout(
            step,
            asked[place][0].problem,
            place,
            number,
            asked[place][1],
            read_proof(checkpoint.tokenizer.decode(one.ids)),
            one.finished,
        )
        for (place, number), one in zip(rows, drawn, strict=True)
    ]
    rewards = await score(rollouts) if rollouts else []
    return [
        Correction(asked[rollout.group][0], rollout.sample, rollout.prompt, rollout.text, rollout.finished, reward)
        for rollout, reward in zip(rollouts, rewards, strict=True)
    ]


def repairs(corrections: Sequence[Correction], accept: Accept, keep: int) -> tuple[list[Repair], RepairCounts]:
    """The accepted corrections, at most `keep` different ones of each flawed proof, those sampled first."""
    left_out = dict.fromkeys(("not_scored", "unchanged", "rejected", "repeated", "beyond_keep"), 0)
    kept: list[Repair] = []
    seen: dict[tuple[str, str], set[str]] = {}
    for correction in corrections:
        triple = correction.triple
        texts = seen.setdefault((triple.problem, triple.flawed_proof), set())
        key = _key(correction.text)
        reason = ""
        if correction.reward.value is None:
            reason = "not_scored"
        elif key == _key(triple.flawed_proof):
            reason = "unchanged"
        elif not (correction.finished and is_accepted(correction.reward, accept)):
            reason = "rejected"
        elif key in texts:
            reason = "repeated"
        elif len(texts) >= keep:
            reason = "beyond_keep"
        if reason:
            left_out[reason] += 1
            continue
        texts.add(key)
        kept.append(_repair(correction))
    counts = RepairCounts(
        triples=len(seen),
        unsayable=0,
        corrections=len(corrections),
        repairs=len(kept),
        repaired=sum(bool(texts) for texts in seen.values()),
        **left_out,
    )
    return kept, counts


def _repair(correction: Correction) -> Repair:
    triple, verification = correction.triple, correction.reward.verification
    verdict = verification.verdict if verification is not None else None
    if verdict is None:
        verdict = Verdict.NO_ERRORS if correction.reward.value == 1 else Verdict.MINOR_GAPS
    return Repair(
        triple.problem,
        triple.statement,
        triple.flawed_proof,
        triple.verification_analysis,
        correction.text,
        verdict,
        correction.prompt,
    )


def _key(proof: str) -> str:
    """The same for two texts that say the same: packaging and spacing don't count."""
    return canonical(normalise_text(proof)[0])


def chosen(triples: Sequence[Triple], count: int | None, seed: int) -> list[Triple]:
    """At most `count` of the triples that the compact format can say, by seed, in their order."""
    places = [place for place, triple in enumerate(triples) if patch_prompt_of(triple) is not None]
    if count is not None:
        places = sorted(sorted(places, key=lambda place: row_seed(seed, "triple", place, 0))[:count])
    return [triples[place] for place in places]


async def train_fixer(
    checkpoint: Checkpoint,
    triples: Sequence[Triple],
    score: RewardFunction,
    settings: FixerSettings,
    out: Path,
    seed: int,
    *,
    student: Checkpoint | None = None,
    progress: Callable[[int, int, float, float, float], None] | None = None,
    tell: Callable[[RepairCounts], None] | None = None,
) -> Checkpoint:
    """Samples corrections from `checkpoint` (the proof expert), keeps the accepted ones and trains on them.

    `out/repairs.jsonl` holds what it is trained on. A repeated call with the same arguments makes the same repairs, and
    the training resumes.

    Args:
        triples: of the train split. score: the verifier of the proof RL.
        student: what is trained; `checkpoint` itself by default. For a merge take the base of all experts.
        progress: as `train_sft` takes it. tell: called once the repairs are known.

    Raises InputError when there is nothing to repair or no correction was accepted, and as `train_sft`.
    """
    from maxproof.training.sft import train_sft

    sayable = chosen(triples, None, seed)
    if not sayable:
        raise InputError("no flawed proof that the compact format can say", hint="harvest rollouts of a lab model")
    asked = chosen(sayable, settings.triples, seed)
    corrections = await sample_corrections(checkpoint, asked, score, settings.sampling, settings.corrections, seed)
    kept, counts = repairs(corrections, settings.accept, settings.keep)
    counts = replace(counts, unsayable=len(triples) - len(sayable))
    if tell is not None:
        tell(counts)
    if not kept:
        raise InputError(
            f"none of {counts.corrections} corrections was accepted ({counts.not_scored} not scored)",
            hint="more --corrections, or --accept minor_gaps",
        )
    examples = [Example(repair.prompt, proof_answer(repair.repaired_proof)) for repair in kept]
    claim_examples(out, examples)
    _write(out, kept)
    return train_sft(student or checkpoint, examples, settings.sft, out / "sft", seed, progress=progress)


def _write(out: Path, kept: Sequence[Repair]) -> None:
    write_atomically(out / REPAIRS, "".join(json.dumps(asdict(repair)) + "\n" for repair in kept))


# --- evaluation -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RepairFigures:
    """One way of decoding. Rates are 0..1, over corrections that were scored, with 95 % intervals over problems.

    Attributes:
        corrections: drawn; not_scored: of them, in none of the rates.
        accepted: by the verifier, one correction of a flawed proof. any_accepted: at least one of those drawn.
        right, any_right: the same by the oracle (`no_errors`), None without one.
        wrongly_accepted: of those that the verifier accepted, not right by the oracle; None without one.
    """

    corrections: int
    not_scored: int
    accepted: MeanRate
    any_accepted: MeanRate
    right: MeanRate | None
    any_right: MeanRate | None
    wrongly_accepted: Rate | None


@dataclass(frozen=True, slots=True)
class FixerEvaluation:
    """A fixer on held-out triples: greedy and sampled side by side. `left_out`: those it can't be asked about."""

    triples: int
    problems: int
    left_out: int
    samples: int
    greedy: RepairFigures
    sampled: RepairFigures

    def to_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return asdict(self)


async def evaluate_fixer(
    checkpoint: Checkpoint,
    triples: Sequence[Triple],
    score: RewardFunction,
    settings: FixerSettings,
    seed: int,
    *,
    step: int = 1,
    oracle: Oracle | None = None,
) -> FixerEvaluation:
    """Repairs each held-out triple once greedily and `settings.corrections` times at temperature 1.

    Their rollouts have the steps `step` and `step + 1`.

    Raises InputError when the compact format can say none of them.
    """
    asked = chosen(triples, None, seed)
    if not asked:
        raise InputError("no held-out flawed proof that the compact format can say")
    greedy = settings.sampling.model_copy(update={"temperature": 0.0})
    sampled = settings.sampling.model_copy(update={"temperature": 1.0})
    once = await sample_corrections(checkpoint, asked, score, greedy, 1, seed, step=step)
    several = await sample_corrections(checkpoint, asked, score, sampled, settings.corrections, seed, step=step + 1)
    return FixerEvaluation(
        triples=len(asked),
        problems=len({triple.problem for triple in asked}),
        left_out=len(triples) - len(asked),
        samples=settings.corrections,
        greedy=repair_figures(once, settings.accept, oracle),
        sampled=repair_figures(several, settings.accept, oracle),
    )


def repair_figures(corrections: Sequence[Correction], accept: Accept, oracle: Oracle | None) -> RepairFigures:
    """The rates of some corrections. A correction that is the flawed proof again is never a success."""
    accepted: dict[Triple, list[float]] = {}
    right: dict[Triple, list[float]] = {}
    passed = wrong = not_scored = 0
    for correction in corrections:
        if correction.reward.value is None:
            not_scored += 1
            continue
        changed = correction.finished and _key(correction.text) != _key(correction.triple.flawed_proof)
        success = changed and is_accepted(correction.reward, accept)
        accepted.setdefault(correction.triple, []).append(float(success))
        truth = oracle(correction.triple.statement, correction.text) if oracle is not None else None
        if truth is not None:
            true = changed and truth is Verdict.NO_ERRORS
            right.setdefault(correction.triple, []).append(float(true))
            passed += success
            wrong += success and not true
    return RepairFigures(
        corrections=len(corrections),
        not_scored=not_scored,
        accepted=_by_problem(accepted),
        any_accepted=_by_problem({triple: [max(values)] for triple, values in accepted.items()}),
        right=_by_problem(right) if right else None,
        any_right=_by_problem({triple: [max(values)] for triple, values in right.items()}) if right else None,
        wrongly_accepted=wilson(wrong, passed) if right else None,
    )


def _by_problem(values: Mapping[Triple, Sequence[float]]) -> MeanRate:
    clusters: dict[str, list[float]] = {}
    for triple, found in values.items():
        clusters.setdefault(triple.problem, []).extend(found)
    return clustered_mean(list(clusters.values()))
