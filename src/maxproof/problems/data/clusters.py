"""Near-duplicate clusters over millions of records, in memory that does not grow with the texts.

    with ClusterIndex(folder, settings) as index:
        for record in records:
            index.add(record.statement)
        found = index.clusters()

Two statements are linked when their normal forms are equal, or when the true Jaccard index of their n-gram sets reaches
the threshold; a cluster is what links connect (single linkage). What is kept on disk, in a temporary folder: the n-gram
sets, and for each band of the MinHash signatures one file of 64-bit keys. In memory, for n records: 8 n bytes for where
each set starts, 8 n for the union-find array (Tarjan 1975, with path halving), and while a band is worked on 16 n for
its keys and their order. Links that the bands bring up are checked with the sets on disk.

A band's bucket of more than BUCKET records is not compared pair by pair: each record in it is compared with the first
record of each cluster in the bucket, and with BUCKET of these at most: `Clusters.not_compared` counts the records for
which there were more.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from maxproof.problems.data.near_duplicates import (
    MAX_NGRAM,
    NGRAM,
    PERMUTATIONS,
    THRESHOLD,
    Grams,
    band_keys,
    bands_for,
    grams_of,
    jaccard,
    signatures,
)
from maxproof.problems.data.normal_form import normal_form
from maxproof.problems.data.seen import key_of

BUCKET = 64
_BATCH = 4096  # records whose keys are written at once
_BYTES = 8

Order = NDArray[np.int64]


class ClusterSettings(BaseModel):
    """What counts as near; as in DecontaminateSettings.

    Attributes:
        min_grams: a statement of fewer n-grams is only linked to its copies.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    threshold: float = Field(default=THRESHOLD, gt=0, le=1)
    ngram: int = Field(default=NGRAM, ge=1, le=MAX_NGRAM)
    permutations: int = Field(default=PERMUTATIONS, ge=16, le=1024)
    min_grams: int = Field(default=5, ge=1)
    seed: int = Field(default=1, ge=0)


@dataclass(frozen=True, slots=True)
class Clusters:
    """The clusters of n records.

    Attributes:
        first: shape (n,): the number of the first record of each record's cluster.
        keys: shape (n,): a 64-bit key of each record's normal form.
        compared, linked: candidate pairs checked, and those that were alike.
        not_compared: how often a record of a large bucket was not compared with all that it should have been.
    """

    first: Order
    keys: NDArray[np.uint64]
    compared: int
    linked: int
    not_compared: int

    @property
    def count(self) -> int:
        """How many clusters there are."""
        return int(np.count_nonzero(self.first == np.arange(len(self.first))))


class ClusterIndex:
    """Collects records, then finds their clusters. `folder` must exist; its files are removed at the end."""

    def __init__(self, folder: Path, settings: ClusterSettings) -> None:
        self.settings = settings
        self.bands = bands_for(settings.threshold, settings.permutations)
        self._folder = folder
        self._files: dict[str, BinaryIO] = {}
        self._batch: list[tuple[int, Grams]] = []
        self._starts: list[NDArray[np.int64]] = []
        self._end = 0  # n-grams written
        self.size = 0

    def __enter__(self) -> Self:
        for name in ("grams", "copies", *(f"band-{band}" for band in range(self.bands.bands))):
            self._files[name] = (self._folder / name).open("w+b")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for name, file in self._files.items():
            file.close()
            (self._folder / name).unlink(missing_ok=True)

    def add(self, statement: str) -> None:
        """Takes in the next record."""
        form = normal_form(statement)
        self._batch.append((key_of(form.key), grams_of(form.words, self.settings.ngram)))
        self.size += 1
        if len(self._batch) == _BATCH:
            self._flush()

    def _flush(self) -> None:
        batch, self._batch = self._batch, []
        keys = np.empty((len(batch), self.bands.bands), np.uint64)
        marks = signatures((grams for _, grams in batch), self.settings.seed, self.settings.permutations)
        for row, ((copy, grams), mark) in enumerate(zip(batch, marks, strict=True)):
            keys[row] = band_keys(mark.hashvalues, self.bands)
            if len(grams) < self.settings.min_grams:
                keys[row] = copy  # meets only its copies
        for band in range(self.bands.bands):
            self._files[f"band-{band}"].write(keys[:, band].tobytes())
        self._files["copies"].write(np.array([copy for copy, _ in batch], np.uint64).tobytes())
        lengths = np.array([len(grams) for _, grams in batch], np.int64)
        self._starts.append(self._end + np.cumsum(lengths) - lengths)
        self._end += int(lengths.sum())
        for _, grams in batch:
            self._files["grams"].write(grams.tobytes())

    def clusters(self) -> Clusters:
        """The clusters of all records so far. Their order makes no difference, but in buckets of more than BUCKET."""
        self._flush()
        for file in self._files.values():
            file.flush()
        search = _Search(self._files["grams"].fileno(), np.concatenate([*self._starts, [self._end]]), self.settings)
        copies = self._read("copies")
        search.join_copies(copies)
        for band in range(self.bands.bands):
            search.join_band(self._read(f"band-{band}"))
        return Clusters(search.firsts(), copies, search.compared, search.linked, search.not_compared)

    def _read(self, name: str) -> NDArray[np.uint64]:
        return np.fromfile(self._folder / name, np.uint64)


class _Search:
    """Union-find over the records, and the checks of candidate pairs."""

    def __init__(self, grams: int, starts: Order, settings: ClusterSettings) -> None:
        self.grams, self.starts, self.settings = grams, starts, settings
        self.parents = np.arange(len(starts) - 1, dtype=np.int64)
        self.compared = self.linked = self.not_compared = 0

    def root(self, number: int) -> int:
        parents = self.parents
        while (parent := int(parents[number])) != number:
            parents[number] = parents[parent]
            number = parent
        return number

    def join(self, one: int, other: int) -> None:
        """The smaller number is the root, so that it is the first of its cluster."""
        one, other = self.root(one), self.root(other)
        self.parents[max(one, other)] = min(one, other)

    def join_copies(self, keys: NDArray[np.uint64]) -> None:
        for members in _buckets(keys):
            for one, other in pairwise(members.tolist()):
                self.join(one, other)

    def join_band(self, keys: NDArray[np.uint64]) -> None:
        for members in _buckets(keys):
            if len(members) <= BUCKET:
                self._join_all(members.tolist())
            else:
                self._join_large(members.tolist())

    def _join_all(self, members: list[int]) -> None:
        sets: dict[int, Grams] = {}
        for at, one in enumerate(members):
            for other in members[at + 1 :]:
                if self.root(one) != self.root(other):
                    self._join_if_alike(one, other, sets)

    def _join_large(self, members: list[int]) -> None:
        sets: dict[int, Grams] = {}
        firsts: list[int] = []
        roots: set[int] = set()
        for number in members:
            if self.root(number) in roots:
                continue
            if not any(self._join_if_alike(first, number, sets) for first in firsts):
                if len(firsts) < BUCKET:
                    firsts.append(number)
                else:
                    self.not_compared += 1
            roots = {self.root(first) for first in firsts}

    def _join_if_alike(self, one: int, other: int, sets: dict[int, Grams]) -> bool:
        self.compared += 1
        first, second = (self._set(number, sets) for number in (one, other))
        alike = jaccard(first, second) >= self.settings.threshold
        if alike:
            self.linked += 1
            self.join(one, other)
        return alike

    def _set(self, number: int, sets: dict[int, Grams]) -> Grams:
        if number not in sets:
            if len(sets) > 4 * BUCKET:
                sets.clear()
            start, end = int(self.starts[number]), int(self.starts[number + 1])
            data = os.pread(self.grams, (end - start) * _BYTES, start * _BYTES)
            sets[number] = np.frombuffer(data, np.uint64)
        return sets[number]

    def firsts(self) -> Order:
        return np.array([self.root(number) for number in range(len(self.parents))], np.int64)


def _buckets(keys: NDArray[np.uint64]) -> Iterator[Order]:
    """The numbers of the records that share a key, for each key that two or more have, in order of the numbers."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    edges = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    starts, ends = np.concatenate([[0], edges]), np.concatenate([edges, [len(keys)]])
    shared = ends - starts > 1
    for start, end in zip(starts[shared].tolist(), ends[shared].tolist(), strict=True):
        yield order[start:end]
