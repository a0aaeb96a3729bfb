"""`maxproof data balance`: domains (and levels) to target shares, frequent techniques capped, the long tail kept.

Strata. The records are sampled by domain, or by domain and level when level shares are given too; the share of such a
cell is the product of the two. With n_c records, of total weight W_c, in a cell of share s_c, the size is the largest
that meets every share from what the cells are worth after smoothing: N = min_c floor(W_c / s_c). A given size may go
up to min_c floor(n_c / s_c). Each cell gives round(N s_c) records, rounded by largest remainder.

Smoothing. In a domain, let f_t be the share of the annotated records that name technique t. A technique's weight is
w_t = min(1, (c / f_t)^strength), where c is the cap, or the mean of the domain's f_t if that is more, so that an even
mix is left alone. A technique of share f > c is worth f (c/f)^strength of the domain (strength 1 brings it down to c,
0 leaves it). A record's weight is the largest of its techniques': what has one rare technique is kept. A record
without techniques has the mean weight of its domain's annotated ones; 1 if none is.

Sampling. A cell's records with the smallest u / w are taken, where u in (0, 1) is a hash of the seed and the record's
id: sequential Poisson sampling (Ohlsson 1998), a sample of fixed size in which a record's chance is close to
proportional to its weight. At the size W_c that is the weight itself: all of the long tail is kept, which drawing
by u^(1/w) (Efraimidis and Spirakis 2006) would not do. A record's fate does not depend on the order of the file.
In memory, for n records: 12 n bytes, and each distinct combination of domain, level and techniques once.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, field_validator

from maxproof.problems.data.files import DataWriter, Reject, provenance, read_data, settings_digest
from maxproof.problems.data.record import DataRecord
from maxproof.problems.errors import InputError
from maxproof.problems.text import Advance

DOMAIN_SHARES: Mapping[str, float] = {
    "combinatorics": 0.305, "geometry": 0.279, "algebra": 0.247, "number theory": 0.17,
}  # fmt: skip
"""The mix reported for MaxProof's training data (arXiv 2606.13473, section 2.4); they add up to 1.001."""
LEVEL_SHARES: Mapping[str, float] = {"L1": 0.108, "L2": 0.502, "L3": 0.318, "L4": 0.071}
"""Its difficulty levels (0.999)."""
OTHER = "(other)"

Cell = tuple[str, str | None]
_Combination = tuple[Cell, str, tuple[str, ...]]


class BalanceSettings(BaseModel):
    """What the records are balanced to.

    Attributes:
        domains, levels: relative shares, > 0, scaled to add up to 1; no levels: levels are left as they come.
        size: records to keep; None: as many as meet the shares after smoothing.
        cap: the share of a domain's annotated records above which a technique is frequent.
        strength: how far frequent techniques are brought down, 0 (not at all) .. 1 (to the cap).
        other: what becomes of records whose domain (or level) has no share: dropped, or all kept beside the others.
        seed: of the sampling.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    domains: Mapping[str, float] = Field(default_factory=lambda: dict(DOMAIN_SHARES), min_length=1)
    levels: Mapping[str, float] = Field(default_factory=dict)
    size: int | None = Field(default=None, ge=1)
    cap: float = Field(default=0.1, gt=0, le=1)
    strength: float = Field(default=0.5, ge=0, le=1)
    other: Literal["drop", "keep"] = "drop"
    seed: int = Field(default=0, ge=0)

    @field_validator("domains", "levels")
    @classmethod
    def _scaled(cls, shares: Mapping[str, float]) -> Mapping[str, float]:
        if any(not 0 < share < float("inf") for share in shares.values()):
            raise ValueError("a share must be greater than 0")
        total = sum(shares.values())
        return {name: share / total for name, share in shares.items()}

    def cells(self) -> dict[Cell, float]:
        """The share of each cell; they add up to 1."""
        levels: dict[str | None, float] = dict(self.levels.items()) if self.levels else {None: 1.0}
        return {
            (domain, level): share * part for domain, share in self.domains.items() for level, part in levels.items()
        }

    def cell_of(self, record: DataRecord) -> Cell:
        """The cell that a record counts for; (OTHER, None) for one whose domain or level has no share."""
        domain, level = record.domain or OTHER, record.level or OTHER
        if domain not in self.domains or (self.levels and level not in self.levels):
            return (OTHER, None)
        return (domain, level if self.levels else None)


@dataclass(slots=True)
class Tally:
    """How many records there are in all, and by domain, by level and by technique."""

    records: int = 0
    domains: Counter[str] = field(default_factory=Counter)
    levels: Counter[str] = field(default_factory=Counter)
    techniques: Counter[str] = field(default_factory=Counter)

    def add(self, domain: str, level: str, techniques: tuple[str, ...], count: int) -> None:
        """Counts `count` records of one kind."""
        self.records += count
        self.domains[domain] += count
        self.levels[level] += count
        for technique in techniques:
            self.techniques[technique] += count


@dataclass(frozen=True, slots=True)
class BalanceCounts:
    """The mix before and after, and what each cell was asked for."""

    before: Tally
    after: Tally
    wanted: dict[Cell, int]
    available: dict[Cell, int]


def balance(path: Path, writer: DataWriter, settings: BalanceSettings, advance: Advance | None = None) -> BalanceCounts:
    """Writes the records of `path` that are chosen, in their order; `path` is read twice.

    Raises InputError: a cell with a share has no record, or the size is more than the records can give.
    """
    combinations: dict[_Combination, int] = {}
    codes, draws = _first_pass(path, settings, combinations, advance)
    kinds = list(combinations)
    counts = np.bincount(codes, minlength=len(kinds)) if len(kinds) else np.zeros(0, np.int64)
    weights = np.array(_weights(kinds, counts, settings))
    cell_codes = {cell: code for code, cell in enumerate(settings.cells())}
    cells = np.array([cell_codes.get(cell, -1) for cell, _, _ in kinds], np.int64)
    wanted = _wanted(settings, cells, counts, weights)
    chosen = np.zeros(len(codes), bool)
    if settings.other == "keep" and len(kinds):
        chosen |= cells[codes] < 0
    for cell, code in cell_codes.items():
        members = np.flatnonzero(cells[codes] == code) if len(kinds) else np.zeros(0, np.int64)
        ranks = draws[members] / weights[codes[members]]
        chosen[members[np.argsort(ranks, kind="stable")[: wanted[cell]]]] = True
    before, after = Tally(), Tally()
    kept = np.bincount(codes[chosen], minlength=len(kinds)) if len(kinds) else counts
    for (cell, level, techniques), count, left in zip(kinds, counts.tolist(), kept.tolist(), strict=True):
        before.add(cell[0], level, techniques, count)
        after.add(cell[0], level, techniques, left)
    _second_pass(path, writer, chosen, settings_digest(settings), advance)
    available = {cell: int(counts[cells == code].sum()) for cell, code in cell_codes.items()}
    return BalanceCounts(before, after, wanted, available)


def _first_pass(
    path: Path, settings: BalanceSettings, combinations: dict[_Combination, int], advance: Advance | None
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """For each record the number of its combination, and u in (0, 1)."""
    codes: list[NDArray[np.int32]] = [np.zeros(0, np.int32)]
    draws: list[NDArray[np.float64]] = [np.zeros(0)]
    batch: list[tuple[int, float]] = []

    def flush() -> None:
        codes.append(np.array([code for code, _ in batch], np.int32))
        draws.append(np.array([draw for _, draw in batch], np.float64))
        batch.clear()

    for _, row in read_data(path, advance):
        if isinstance(row, Reject):
            continue
        combination = (settings.cell_of(row), row.level or OTHER, row.techniques)
        batch.append((combinations.setdefault(combination, len(combinations)), uniform(settings.seed, row.id)))
        if len(batch) >= 1 << 16:
            flush()
    flush()
    return np.concatenate(codes), np.concatenate(draws)


def uniform(seed: int, id: str) -> float:
    """A number in (0, 1), a hash of the seed and an id."""
    digest = hashlib.blake2b(f"{seed} {id}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return ((int.from_bytes(digest, "big") >> 12) + 0.5) / 2**52


def _weights(kinds: list[_Combination], counts: NDArray[np.int64], settings: BalanceSettings) -> list[float]:
    """The weight of each combination."""
    annotated: Counter[str] = Counter()
    named: dict[str, Counter[str]] = {}
    for ((domain, _), _, techniques), count in zip(kinds, counts.tolist(), strict=True):
        if techniques:
            annotated[domain] += count
            named.setdefault(domain, Counter()).update(dict.fromkeys(techniques, count))
    caps = {
        domain: max(settings.cap, names.total() / len(names) / annotated[domain]) for domain, names in named.items()
    }
    weights = [
        max(
            technique_weight(named[domain][name] / annotated[domain], caps[domain], settings.strength)
            for name in techniques
        )
        if techniques
        else 0.0
        for (domain, _), _, techniques in kinds
    ]
    total: Counter[str] = Counter()
    for ((domain, _), _, techniques), count, weight in zip(kinds, counts.tolist(), weights, strict=True):
        if techniques:
            total[domain] += count * weight
    return [
        weight if techniques else (total[domain] / annotated[domain] if annotated[domain] else 1.0)
        for ((domain, _), _, techniques), weight in zip(kinds, weights, strict=True)
    ]


def technique_weight(share: float, cap: float, strength: float) -> float:
    """min(1, (cap / share)^strength), for a technique that a share (0 < share <= 1) of the annotated records names."""
    return float(min(1.0, (cap / share) ** strength))


def _wanted(
    settings: BalanceSettings, cells: NDArray[np.int64], counts: NDArray[np.int64], weights: NDArray[np.float64]
) -> dict[Cell, int]:
    """How many records each cell gives. Raises InputError."""
    shares = settings.cells()
    there = {cell: int(counts[cells == code].sum()) for code, cell in enumerate(shares)}
    worth = {cell: float((counts * weights)[cells == code].sum()) for code, cell in enumerate(shares)}
    for cell, count in there.items():
        if not count:
            field_ = "--levels" if cell[1] is not None else "--domains"
            raise InputError(
                f"no record of {_name(cell)}, which is to have a share of {shares[cell]:.1%}",
                field=field_,
                hint="maxproof data annotate names domains; or give the shares of those there are",
            )
    most = min(int(there[cell] / share + 1e-9) for cell, share in shares.items())
    size = settings.size if settings.size is not None else max(1, _floor(worth, shares))
    wanted = _rounded(shares, size)
    short = [cell for cell, count in wanted.items() if count > there[cell]]
    if short and settings.size is not None:
        raise InputError(
            f"{size:,} records need {wanted[short[0]]:,} of {_name(short[0])}, there are {there[short[0]]:,}",
            field="--size",
            hint=f"at most {most:,}",
        )
    return {cell: min(count, there[cell]) for cell, count in wanted.items()}


def _floor(worth: Mapping[Cell, float], shares: Mapping[Cell, float]) -> int:
    return min(int(worth[cell] / share + 1e-9) for cell, share in shares.items())


def _rounded(shares: Mapping[Cell, float], size: int) -> dict[Cell, int]:
    """`size` in whole parts by the shares, by largest remainder."""
    exact = {cell: size * share for cell, share in shares.items()}
    parts = {cell: int(value) for cell, value in exact.items()}
    left = sorted(exact, key=lambda cell: (parts[cell] - exact[cell], str(cell)))
    for cell in left[: size - sum(parts.values())]:
        parts[cell] += 1
    return parts


def _name(cell: Cell) -> str:
    return cell[0] if cell[1] is None else f"{cell[0]}, level {cell[1]}"


def _second_pass(
    path: Path, writer: DataWriter, chosen: NDArray[np.bool_], digest: str, advance: Advance | None
) -> None:
    entry = provenance("balance", digest)
    number = 0
    for _, row in read_data(path, advance):
        if isinstance(row, Reject):
            writer.reject(row)
            continue
        if chosen[number]:
            writer.write(row.after(entry))
        number += 1
