"""Decontamination: records whose statement is in an evaluation set, or nearly so.

The evaluation sets are held in memory (they are the small side); the records stream past them. A record is compared by

1. its text, but for blanks (`exact`), its normal form under its own variables (`normalised`), and its normal form with
   variables renamed (`renamed`): a copy, whatever else it says;
2. its n-grams (`near`): candidates are those that share a MinHash band (datasketch's MinHashLSH), and are reported when
   their true Jaccard index reaches the threshold;
3. containment (`contained`): the share of the evaluation problem's n-grams that the record holds, so that a problem
   with other text around it is found. What holds a share c of n n-grams holds one of any n - ceil(c n) + 1 of them:
   the rarest that many are looked up, and what they bring up is checked exactly (prefix filtering, Chaudhuri, Ganti
   and Kaushik 2006).

Each record is reported with its most similar evaluation problem, and with all others that reach the threshold too.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from datasketch import MinHashLSH
from pydantic import BaseModel, ConfigDict, Field

from maxproof.problems.data.files import DataWriter, Reject, provenance, read_data, settings_digest
from maxproof.problems.data.near_duplicates import (
    MAX_NGRAM,
    NGRAM,
    PERMUTATIONS,
    THRESHOLD,
    Grams,
    bands_for,
    grams_of,
    overlap,
    signatures,
)
from maxproof.problems.data.normal_form import NormalForm, normal_form
from maxproof.problems.errors import InputError, Place
from maxproof.problems.fields import to_problem
from maxproof.problems.problem import Problem
from maxproof.problems.records import read_records
from maxproof.problems.text import Advance

SHOWN_PAIRS = 20
CONTAINMENT = 0.9

Kind = Literal["exact", "normalised", "renamed", "near", "contained"]
Part = Literal["statement", "reference", "answer"]


class DecontaminateSettings(BaseModel):
    """What counts as contaminated.

    Attributes:
        threshold: the Jaccard index from which two texts are near-duplicates.
        containment: the share of an evaluation problem's n-grams from which it is contained; 0: not looked for.
        ngram: tokens a gram. permutations: values of a MinHash signature. seed: of the signatures.
        min_grams: an evaluation text of fewer n-grams is only looked for as a copy: too short to be near by design.
        references: reference solutions are compared too, with one another.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    threshold: float = Field(default=THRESHOLD, gt=0, le=1)
    containment: float = Field(default=CONTAINMENT, ge=0, le=1)
    ngram: int = Field(default=NGRAM, ge=1, le=MAX_NGRAM)
    permutations: int = Field(default=PERMUTATIONS, ge=16, le=1024)
    seed: int = Field(default=1, ge=0)
    min_grams: int = Field(default=5, ge=1)
    references: bool = False


@dataclass(frozen=True, slots=True)
class Match:
    """A record and an evaluation problem that are too much alike.

    Attributes:
        jaccard: the true index of their n-gram sets, 0..1. containment: the share of the evaluation text's n-grams that
            the record has, 0..1.
        part: of both, what was compared.
    """

    kind: Kind
    part: Part
    id: str
    file: str
    line: int | None
    evaluation_id: str
    evaluation_file: str
    evaluation_line: int | None
    jaccard: float
    containment: float

    def to_json(self) -> dict[str, object]:
        return {key: round(value, 4) if isinstance(value, float) else value for key, value in asdict(self).items()}


@dataclass(frozen=True, slots=True)
class _Text:
    """A text of an evaluation set."""

    problem: Problem
    place: Place
    raw: str
    form: NormalForm
    grams: Grams


def read_evaluation_set(path: Path) -> Iterator[tuple[Place, Problem]]:
    """The problems of an evaluation set with their places. Raises InputError: a bad row, or no problem at all.

    An evaluation set with a bad row is an error, not a reject: what it holds would go unseen.
    """
    empty = True
    for record in read_records(path):
        empty = False
        yield record.place, to_problem(record.raw, record.place, record.id)
    if empty:
        raise InputError("no problem in this evaluation set", file=path)


class EvaluationIndex:
    """The texts of the evaluation sets, ready to be compared with records."""

    def __init__(self, problems: Iterable[tuple[Place, Problem]], settings: DecontaminateSettings) -> None:
        self.settings = settings
        self.bands = bands_for(settings.threshold, settings.permutations)
        self._parts: dict[Part, _PartIndex] = {"statement": _PartIndex(settings)}
        if settings.references:
            self._parts["reference"] = _PartIndex(settings)
        self.size = 0
        for place, problem in problems:
            self.size += 1
            for part, index in self._parts.items():
                if text := _part_of(problem, part):
                    index.add(problem, place, text)

    def matches(self, problem: Problem, place: Place) -> list[Match]:
        """The evaluation problems that `problem` is too much like, the most similar first."""
        found: list[Match] = []
        for part, index in self._parts.items():
            if text := _part_of(problem, part):
                found += index.matches(problem, place, text, part)
        return sorted(found, key=lambda match: (-match.jaccard, -match.containment, match.evaluation_id))


def _part_of(problem: Problem, part: Part) -> str | None:
    return problem.statement if part == "statement" else problem.reference


class _PartIndex:
    """One part (all statements, say) of the evaluation sets."""

    def __init__(self, settings: DecontaminateSettings) -> None:
        self.settings = settings
        self.texts: list[_Text] = []
        self.by_key: dict[str, list[int]] = {}
        self.by_gram: dict[int, list[int]] | None = None  # the texts that a rare n-gram brings up, once asked for
        self.known: Grams | None = None  # all n-grams of all texts, once asked for
        bands = bands_for(settings.threshold, settings.permutations)
        self.lsh = MinHashLSH(num_perm=settings.permutations, params=(bands.bands, bands.rows))

    def add(self, problem: Problem, place: Place, text: str) -> None:
        form = normal_form(text)
        grams = grams_of(form.words, self.settings.ngram)
        number = len(self.texts)
        self.texts.append(_Text(problem, place, text, form, grams))
        self.by_key.setdefault(form.key, []).append(number)
        self.known = self.by_gram = None
        if len(grams) < self.settings.min_grams:
            return
        self.lsh.insert(number, next(signatures([grams], self.settings.seed, self.settings.permutations)))

    def _may_contain(self, grams: Grams) -> set[int]:
        """All texts whose containment in the set may reach the setting."""
        if self.by_gram is None:
            self.by_gram = {}
            sizes = Counter(gram for text in self.texts for gram in text.grams.tolist())
            for number, text in enumerate(self.texts):
                total = len(text.grams)
                if total >= self.settings.min_grams:
                    wanted = math.ceil(self.settings.containment * total - 1e-9)
                    rarest = sorted(text.grams.tolist(), key=lambda gram: (sizes[gram], gram))
                    for gram in rarest[: total - wanted + 1]:
                        self.by_gram.setdefault(gram, []).append(number)
        lists = map(self.by_gram.get, grams.tolist())
        return {number for numbers in lists if numbers is not None for number in numbers}

    def _may_be_near(self, grams: Grams) -> bool:
        """Whether the set's share of n-grams known to any evaluation text is enough: J(A, B) <= |A ∩ B| / |A|.

        Exact, and false for nearly all records: only the others need a signature.
        """
        if self.known is None:
            self.known = np.unique(np.concatenate([text.grams for text in self.texts])) if self.texts else None
        return self.known is not None and overlap(self.known, grams) >= self.settings.threshold * len(grams)

    def matches(self, problem: Problem, place: Place, text: str, part: Part) -> Iterator[Match]:
        settings = self.settings
        form = normal_form(text)
        grams = grams_of(form.words, settings.ngram)
        copies = self.by_key.get(form.key, [])
        candidates = set(copies)
        if len(grams) >= settings.min_grams and self._may_be_near(grams):
            candidates.update(self.lsh.query(next(signatures([grams], settings.seed, settings.permutations))))
        if settings.containment:
            candidates |= self._may_contain(grams)
        for number in sorted(candidates):
            known = self.texts[number]
            common = overlap(known.grams, grams)
            similarity, contained = common / (len(known.grams) + len(grams) - common), common / len(known.grams)
            kind: Kind
            if number in copies:
                kind = _copy_kind(text, form, known)
            elif similarity >= settings.threshold:
                kind = "near"
            elif settings.containment and contained >= settings.containment and len(known.grams) >= settings.min_grams:
                kind = "contained"
            else:
                continue
            yield Match(
                kind, part, problem.id, str(place.file), place.line, known.problem.id, str(known.place.file),
                known.place.line, similarity, contained,
            )  # fmt: skip


def _copy_kind(text: str, form: NormalForm, known: _Text) -> Kind:
    if text.split() == known.raw.split():
        return "exact"
    return "normalised" if form.plain == known.form.plain else "renamed"


@dataclass(slots=True)
class DecontaminateCounts:
    """What was found: records that match by the kind of their best match, and pairs in all."""

    records: int
    evaluation: int
    by_kind: dict[str, int]
    pairs: int
    first_pairs: list[Match]


def decontaminate(
    path: Path,
    index: EvaluationIndex,
    writer: DataWriter,
    *,
    flag: bool = False,
    advance: Advance | None = None,
) -> DecontaminateCounts:
    """Streams the records of `path` past the evaluation sets, each match to the file `OUT.pairs.jsonl`.

    A record that matches is dropped (to the reject file, with its best match as the reason) or, with `flag`, kept with
    its best match in its provenance. `writer` was made with `beside=("pairs",)`. Raises InputError.
    """
    counts = DecontaminateCounts(0, index.size, {}, 0, [])
    digest = settings_digest(index.settings)
    for place, row in read_data(path, advance):
        if isinstance(row, Reject):
            writer.reject(row)
            continue
        counts.records += 1
        matches = index.matches(row.problem(), place)
        for match in matches:
            counts.pairs += 1
            if len(counts.first_pairs) < SHOWN_PAIRS:
                counts.first_pairs.append(match)
            writer.beside("pairs", match.to_json())
        if not matches:
            writer.write(row.after(provenance("decontaminate", digest)))
            continue
        best = matches[0]
        counts.by_kind[best.kind] = counts.by_kind.get(best.kind, 0) + 1
        if flag:
            notes: dict[str, str | float] = {
                "contaminated": best.kind,
                "with": best.evaluation_id,
                "jaccard": round(best.jaccard, 4),
            }
            writer.write(row.after(provenance("decontaminate", digest, **notes)))
        else:
            reason = f"{best.kind}: {best.evaluation_id} in {best.evaluation_file} (Jaccard {best.jaccard:.2f})"
            writer.drop(Reject(place, reason, row.model_dump(mode="json", exclude_defaults=True), row.id))
    return counts
