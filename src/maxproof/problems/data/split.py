"""`maxproof data split`: training, validation and test sets that no near-duplicate crosses.

Whole clusters (see `clusters.py`) go to a split. Within a domain the clusters are ordered by a hash of the seed and of
the cluster's content; in that order a cluster goes to the test set if it fits into what the domain owes it, else to the
validation set likewise, else to the training set. So the split is the same for the same records in any order, and when
records are added only clusters near the ends of the small splits can move. What a domain owes is its share of the
records, rounded so that the rounding evens out over the domains.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator

from maxproof.problems.data.clusters import ClusterIndex, Clusters, ClusterSettings
from maxproof.problems.data.files import DataWriter, Reject, provenance, read_data, settings_digest
from maxproof.problems.data.record import DataRecord
from maxproof.problems.text import Advance

Split = Literal["train", "validation", "test"]
SPLITS: tuple[Split, ...] = ("train", "validation", "test")
NO_DOMAIN = "(none)"
SHOWN_LEAKS = 20


class SplitSettings(BaseModel):
    """How records are split.

    Attributes:
        validation, test: shares of the records, 0..1; the rest is for training.
        seed: of the order of clusters, and of the signatures.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    validation: float = Field(default=0.05, ge=0, lt=1)
    test: float = Field(default=0.05, ge=0, lt=1)
    seed: int = Field(default=0, ge=0)
    clusters: ClusterSettings = ClusterSettings()

    @model_validator(mode="after")
    def _leaves_some(self) -> SplitSettings:
        if self.validation + self.test >= 1:
            raise ValueError("validation and test together leave nothing for training")
        return self


@dataclass(frozen=True, slots=True)
class SplitCounts:
    """What was split: records by domain and split, clusters by split, and how the clusters were found."""

    by_domain: dict[str, dict[str, int]]
    clusters: dict[str, int]
    largest_cluster: int
    compared: int
    linked: int
    not_compared: int

    def of(self, split: str) -> int:
        """Records in a split."""
        return sum(counts[split] for counts in self.by_domain.values())


@dataclass(frozen=True, slots=True)
class Leak:
    """Records of one near-duplicate cluster that are in different splits: id and split of one for each split."""

    records: tuple[tuple[str, str], ...]


def split(
    path: Path,
    writer: DataWriter,
    settings: SplitSettings,
    folder: Path,
    advance: Advance | None = None,
    *,
    files: bool = False,
) -> SplitCounts:
    """Writes each record of `path` with its split. `folder` holds temporary files; `path` is read twice.

    With `files`, the records of each split are also written to a file of their own, `OUT.SPLIT.jsonl`; `writer` was
    made with `beside=SPLITS`.

    Raises InputError.
    """
    domains: list[str] = []
    code_of: dict[str, int] = {}
    codes: list[NDArray[np.int32]] = []
    batch: list[int] = []
    with ClusterIndex(folder, settings.clusters) as index:
        for record in _records(path, advance):
            index.add(record.statement)
            domain = record.domain or NO_DOMAIN
            if domain not in code_of:
                code_of[domain] = len(domains)
                domains.append(domain)
            batch.append(code_of[domain])
            if len(batch) >= 1 << 16:
                codes.append(np.array(batch, np.int32))
                batch.clear()
        found = index.clusters()
    by_name = np.argsort(np.argsort(np.array(domains, dtype=object))) if domains else np.array([], np.int64)
    ranks = by_name[np.concatenate([*codes, np.array(batch, np.int32)])]
    labels, names, sizes = assign(found, ranks, settings)
    counts: dict[str, dict[str, int]] = {domain: dict.fromkeys(SPLITS, 0) for domain in sorted(domains)}
    digest = settings_digest(settings)
    number = 0
    for _, row in read_data(path, advance):
        if isinstance(row, Reject):
            writer.reject(row)
            continue
        chosen = SPLITS[labels[number]]
        counts[row.domain or NO_DOMAIN][chosen] += 1
        size = int(sizes[number])
        notes: dict[str, str | int] = (
            {"cluster": f"{int(names[number]):016x}", "cluster_size": size} if size > 1 else {}
        )
        done = row.after(provenance("split", digest, **notes), split=chosen)
        writer.write(done)
        if files:
            writer.beside(chosen, done.model_dump(mode="json", exclude_defaults=True))
        number += 1
    firsts = np.flatnonzero(found.first == np.arange(len(found.first)))
    clusters: dict[str, int] = {name: int(np.count_nonzero(labels[firsts] == code)) for code, name in enumerate(SPLITS)}
    largest = int(sizes.max()) if len(sizes) else 0
    return SplitCounts(counts, clusters, largest, found.compared, found.linked, found.not_compared)


def assign(
    found: Clusters, domains: NDArray[np.int64], settings: SplitSettings
) -> tuple[NDArray[np.int8], NDArray[np.uint64], NDArray[np.int64]]:
    """For each record its split (index into SPLITS), its cluster's name (a key of content) and its cluster's size.

    `domains`: shape (n,), the rank of each record's domain among the sorted names. A cluster's name is the smallest key
    of its records, its domain that of the record with that key (of copies, the first by name).
    """
    order = np.lexsort((domains, found.keys, found.first))
    firsts, starts, sizes = np.unique(found.first[order], return_index=True, return_counts=True)
    leaders = order[starts]
    names, strata = found.keys[leaders], domains[leaders]
    ranked = np.lexsort((names, _hashes(names, settings.seed), strata))
    labels = np.zeros(len(firsts), np.int8)
    owed = {2: 0.0, 1: 0.0}
    shares = {2: settings.test, 1: settings.validation}
    at = 0
    while at < len(ranked):
        end = at + int(np.count_nonzero(strata == strata[ranked[at]]))
        members = ranked[at:end]
        total = int(sizes[members].sum())
        for code, share in shares.items():
            owed[code] += share * total
        room = {code: round(value) for code, value in owed.items()}
        for member in members.tolist():
            size = int(sizes[member])
            code = next((code for code in (2, 1) if size <= room[code]), 0)
            labels[member] = code
            if code:
                room[code] -= size
                owed[code] -= size
        at = end
    back = np.searchsorted(firsts, found.first)
    return labels[back], names[back], sizes[back]


def _hashes(names: NDArray[np.uint64], seed: int) -> NDArray[np.uint64]:
    """A hash of the seed and each name: the order of clusters."""
    salt = int.from_bytes(hashlib.blake2b(f"split {seed}".encode(), digest_size=8).digest(), "big")
    value = names ^ np.uint64(salt)
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        value = (value ^ (value >> np.uint64(33))) * np.uint64(factor)
    return value ^ (value >> np.uint64(33))


def leaks(path: Path, settings: ClusterSettings, folder: Path, advance: Advance | None = None) -> list[Leak]:
    """Near-duplicate clusters of a split file that are in more than one split, SHOWN_LEAKS at most; [] as it must be.

    A look of its own: with another seed than the split's it finds candidates by other signatures. Raises InputError.
    """
    labels: list[NDArray[np.int8]] = []
    with ClusterIndex(folder, settings) as index:
        batch: list[int] = []
        for record in _records(path, advance):
            index.add(record.statement)
            batch.append(SPLITS.index(record.split) if record.split is not None else -1)
            if len(batch) >= 1 << 16:
                labels.append(np.array(batch, np.int8))
                batch.clear()
        labels.append(np.array(batch, np.int8))
        found = index.clusters()
    every = np.concatenate(labels)
    crossing = np.unique(found.first[every != every[found.first]])[:SHOWN_LEAKS]
    return [Leak(records) for records in _named(path, found.first, every, crossing.tolist())]


def _named(
    path: Path, first: NDArray[np.int64], labels: NDArray[np.int8], crossing: Sequence[int]
) -> Iterator[tuple[tuple[str, str], ...]]:
    wanted: dict[int, tuple[int, int]] = {}
    for cluster in crossing:
        members = np.flatnonzero(first == cluster)
        for label in np.unique(labels[members]).tolist():
            wanted[int(members[labels[members] == label][0])] = (cluster, label)
    named: dict[int, list[tuple[str, str]]] = {cluster: [] for cluster in crossing}
    if wanted:
        for number, record in enumerate(_records(path, None)):
            if number in wanted:
                named[wanted[number][0]].append((record.id, record.split or NO_DOMAIN))
    yield from (tuple(records) for records in named.values())


def _records(path: Path, advance: Advance | None) -> Iterator[DataRecord]:
    for _, row in read_data(path, advance):
        if not isinstance(row, Reject):
            yield row
