"""From the rollouts of proof RL to the data of the verifier and fixer experts (MaxProof sections 3 and 4).

Each scored candidate brings what the judge that realises the minimum said of it: its verdict, its located errors, its
critique. `harvest` drops what says nothing about a proof, drops repeated texts, splits by problem and evens out the
four verdicts; every candidate below `no_errors` is a triple for the fixer as well. `harvest_files.py` reads and writes.

Left out, by reason: candidates that were not scored, and those that layer 1 stopped unread.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from maxproof.problems import InputError
from maxproof.training.rollouts import RolloutRecord
from maxproof.verifier.normalise import normalise_text
from maxproof.verifier.types import LocatedError, ScoreState, Verdict

Split = Literal["train", "validation"]
SPLITS: tuple[Split, ...] = ("train", "validation")


class HarvestSettings(BaseModel):
    """How candidates become data. The paper says that classes are evened out and splits go by problem; the rest is
    ours."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    validation_share: float = Field(0.2, ge=0, lt=1, description="of the problems, by a hash of their ids")
    class_ratio: float = Field(
        1.0, ge=1, description="the most frequent verdict kept, over the rarest one that is there, in each split"
    )
    class_cap: int | None = Field(None, ge=1, description="examples of one verdict in one split at most")
    seed: int = Field(0, ge=0, description="of what is kept where a verdict has too many")
    normalised: bool = Field(True, description="the judges saw proofs after the rules of layer 2: so do examples")


@dataclass(frozen=True, slots=True)
class Harvest:
    """One example for the verifier expert.

    Attributes:
        problem: the problem's id.
        proof: the candidate as its judges saw it, after the rules of layer 2 where those were used.
        verdict, errors, assessment: of the judge that realised the minimum; `errors` is empty iff `no_errors`.
        critique: that judge's view as one text.
        judge: its name.
        step: of the training run the candidate comes from.
    """

    problem: str
    statement: str
    proof: str
    verdict: Verdict
    errors: tuple[LocatedError, ...]
    assessment: str
    critique: str
    judge: str
    step: int
    split: Split


@dataclass(frozen=True, slots=True)
class Triple:
    """One task for the fixer: a problem, a proof with errors as it was written, and what was said of it."""

    problem: str
    statement: str
    flawed_proof: str
    verification_analysis: str
    verdict: Verdict
    errors: tuple[LocatedError, ...]
    step: int
    split: Split


@dataclass(frozen=True, slots=True)
class Counts:
    """What became of the candidates.

    Attributes:
        candidates: read in all.
        dropped: left out, by reason.
        before, after: examples by split and verdict, before and after the verdicts were evened out.
        problems: with at least one example, by split.
        missing: `SPLIT: VERDICT` of which there is no example at all.
    """

    candidates: int
    dropped: Mapping[str, int] = field(default_factory=dict)
    before: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    after: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    problems: Mapping[str, int] = field(default_factory=dict)
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Harvested:
    """Examples and triples, each in the order of their candidates, with the counts."""

    examples: tuple[Harvest, ...]
    triples: tuple[Triple, ...]
    counts: Counts


def harvest(
    records: Iterable[RolloutRecord],
    settings: HarvestSettings | None = None,
    statements: Mapping[str, str] | None = None,
) -> Harvested:
    """The data in `records`.

    Two candidates for one problem that are the same text after layer 2 are one: the one with the worse verdict stays,
    since a false alarm costs less than a pass that is wrong; of equal ones the first.

    Args:
        statements: by problem id. A problem that isn't there is stated by its prompt (`stated_in`).

    Raises InputError when one problem id comes with two statements: the splits could not be trusted.
    """
    settings = settings or HarvestSettings()
    statements = statements or {}
    dropped: Counter[str] = Counter()
    kept: dict[tuple[str, str], RolloutRecord] = {}
    stated: dict[str, str] = {}
    count = 0
    for record in records:
        count += 1
        _note_statement(record.problem, _statement(record, statements), stated)
        reason = _unusable(record)
        if reason:
            dropped[reason] += 1
            continue
        key = record.problem, _folded(normalise_text(record.text)[0])
        if key in kept:
            dropped["the same text again"] += 1
        if key not in kept or _rank(record) > _rank(kept[key]):
            kept[key] = record
    splits = _splits(stated, settings.validation_share)
    found = [
        (_example(record, _statement(record, statements), splits[record.problem], settings), record)
        for record in kept.values()
    ]
    examples = [example for example, _ in found]
    balanced = tuple(example for split in SPLITS for example in balance(_of(examples, split), settings))
    triples = tuple(
        Triple(
            problem=example.problem,
            statement=example.statement,
            flawed_proof=record.text,
            verification_analysis=example.critique,
            verdict=example.verdict,
            errors=example.errors,
            step=example.step,
            split=example.split,
        )
        for example, record in found
        if example.verdict is not Verdict.NO_ERRORS
    )
    before, after = _table(examples), _table(balanced)
    counts = Counts(
        candidates=count,
        dropped=dict(sorted(dropped.items())),
        before=before,
        after=after,
        problems={split: len({example.problem for example in _of(balanced, split)}) for split in SPLITS},
        missing=tuple(
            f"{split}: {verdict}"
            for split in SPLITS
            for verdict in Verdict
            if not before[split][verdict] and (split == "train" or settings.validation_share)
        ),
    )
    return Harvested(balanced, triples, counts)


def stated_in(prompt: str) -> str:
    """The statement in a prompt: what stands between `<prove>` and `<sep>`; failing that, the prompt as it is."""
    found = _PROVE.fullmatch(prompt)
    return (found.group(1) if found else prompt).strip()


_PROVE = re.compile(r"\s*<prove>((?:(?!<sep>).)*)<sep>\s*", re.DOTALL)


def balance(examples: Sequence[Harvest], settings: HarvestSettings) -> list[Harvest]:
    """Drops examples of the frequent verdicts, until none has more than the settings allow. Keeps the order.

    Which ones stay follows from a hash of seed, problem and proof, not from the order of the examples.
    """
    counts = Counter(example.verdict for example in examples)
    if not counts:
        return []
    limit = int(min(counts.values()) * settings.class_ratio)
    if settings.class_cap is not None:
        limit = min(limit, settings.class_cap)
    kept: set[int] = set()
    for verdict in counts:
        places = [place for place, example in enumerate(examples) if example.verdict is verdict]
        kept |= set(sorted(places, key=lambda place: _draw(examples[place], settings.seed))[:limit])
    return [example for place, example in enumerate(examples) if place in kept]


def split_of(problem: str, validation_share: float) -> Split:
    """The split of a problem, by a hash of its id alone: it never changes as other problems come or go."""
    place = int.from_bytes(hashlib.sha256(f"split\0{problem}".encode()).digest()[:8], "big") / 2**64
    return "validation" if place < validation_share else "train"


def _splits(statements: Mapping[str, str], validation_share: float) -> dict[str, Split]:
    """By problem id. Problems with one statement under several ids go by the least of them, so into one split."""
    least: dict[str, str] = {}
    for problem in sorted(statements):
        least.setdefault(statements[problem], problem)
    return {problem: split_of(least[statement], validation_share) for problem, statement in statements.items()}


def _note_statement(problem: str, statement: str, stated: dict[str, str]) -> None:
    folded = _folded(statement)
    if stated.setdefault(problem, folded) != folded:
        raise InputError(
            f"problem {problem!r} has two statements",
            hint="harvest runs apart whose problem ids mean different problems",
        )


def _statement(record: RolloutRecord, statements: Mapping[str, str]) -> str:
    known = statements.get(record.problem)
    return stated_in(record.prompt) if known is None else known


def _unusable(record: RolloutRecord) -> str:
    """Why a candidate is left out; "" when it is not."""
    if record.bad_cases:
        return f"stopped by layer 1: {record.bad_cases[0]}"
    if record.points is None:
        return "not scored" if record.state is ScoreState.NOT_SCORED else "no judge was asked"
    return "" if record.verdict is not None and record.judge else "no judge decided"


def _example(record: RolloutRecord, statement: str, split: Split, settings: HarvestSettings) -> Harvest:
    if record.verdict is None:
        raise ValueError("a usable record has a verdict")
    return Harvest(
        problem=record.problem,
        statement=statement,
        proof=normalise_text(record.text)[0] if settings.normalised else record.text,
        verdict=record.verdict,
        errors=tuple(LocatedError(error.location, error.description) for error in record.errors),
        assessment=record.assessment,
        critique=record.critique,
        judge=record.judge,
        step=record.step,
        split=split,
    )


def _rank(record: RolloutRecord) -> int:
    """Higher is worse."""
    return list(Verdict).index(record.verdict) if record.verdict is not None else -1


def _draw(example: Harvest, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}\0{example.problem}\0{example.proof}".encode()).digest()


def _of(examples: Iterable[Harvest], split: Split) -> list[Harvest]:
    return [example for example in examples if example.split == split]


def _table(examples: Sequence[Harvest]) -> dict[str, dict[str, int]]:
    table = {str(split): {str(verdict): 0 for verdict in Verdict} for split in SPLITS}
    for example in examples:
        table[example.split][example.verdict] += 1
    return table


def _folded(text: str) -> str:
    return " ".join(text.split())
