"""Near-duplicates: sets of word n-grams, MinHash signatures of them, and the bands that find candidates.

The similarity of two statements is the Jaccard index |A ∩ B| / |A ∪ B| of their sets of word n-grams (Broder 1997, "On
the resemblance and containment of documents"), with NGRAM tokens of the normal form each, in which all variables have
one name. The containment of one in the other is |A ∩ B| / |A|.

MinHash (datasketch) finds candidates: two statements of similarity s agree in each of the signature's values with
chance s, hence in all `rows` values of one of `bands` bands with chance

    P(candidate) = 1 - (1 - s^rows)^bands                (Indyk & Motwani 1998; Leskovec et al., MMDS, section 3.4)

Every candidate is then checked exactly: what is reported is always the true Jaccard index, so there are no false
reports; what can be lost is a pair that no band brings together, at most MISSED_AT_THRESHOLD of those at the threshold
and fewer above it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from datasketch import MinHash
from numpy.typing import NDArray

Grams = NDArray[np.uint64]
"""A set of n-grams: their 64-bit hashes, sorted, each once. Two n-grams share a hash with a chance of 5e-20."""

NGRAM = 4
"""Tokens a gram. One changed word of 40 leaves a similarity of 33/41 = 0.80, two of them apart leave 29/45 = 0.64."""
PERMUTATIONS = 128
THRESHOLD = 0.6
MISSED_AT_THRESHOLD = 0.02

_MULTIPLIERS = np.array(
    [int.from_bytes(hashlib.blake2b(bytes([place]), digest_size=8).digest(), "big") | 1 for place in range(16)],
    dtype=np.uint64,
)
MAX_NGRAM = len(_MULTIPLIERS)


def grams_of(words: Sequence[str], ngram: int = NGRAM) -> Grams:
    """The set of n-grams of a statement's words; a shorter statement is one gram. 1 <= ngram <= MAX_NGRAM."""
    length = min(ngram, max(len(words), 1))
    hashes = np.array(list(map(_word_hash, words or ("",))), np.uint64)
    count = len(hashes) - length + 1
    total = np.full(count, length, np.uint64)
    for place in range(length):
        total += hashes[place : place + count] * _MULTIPLIERS[place]
    # The end of MurmurHash3: a sum of products has weak low bits.
    for shift, factor in ((33, 0xFF51AFD7ED558CCD), (33, 0xC4CEB9FE1A85EC53), (33, 1)):
        total ^= total >> np.uint64(shift)
        total *= np.uint64(factor)
    return np.unique(total)


@lru_cache(maxsize=1 << 16)
def _word_hash(word: str) -> int:
    return int.from_bytes(hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def overlap(one: Grams, other: Grams) -> int:
    """How many n-grams two sets share."""
    if len(one) > len(other):
        one, other = other, one
    places = np.minimum(np.searchsorted(other, one), len(other) - 1)
    return int(np.count_nonzero(other[places] == one))


def jaccard(one: Grams, other: Grams) -> float:
    """|A ∩ B| / |A ∪ B|, 0..1. Neither set is empty."""
    shared = overlap(one, other)
    return shared / (len(one) + len(other) - shared)


@dataclass(frozen=True, slots=True)
class Bands:
    """How a signature is cut: `bands` times `rows` values, at most the number of permutations."""

    bands: int
    rows: int

    def chance(self, similarity: float) -> float:
        """The chance that two statements of a similarity (0..1) become a candidate pair."""
        return float(1 - (1 - similarity**self.rows) ** self.bands)


def bands_for(threshold: float, permutations: int = PERMUTATIONS, missed: float = MISSED_AT_THRESHOLD) -> Bands:
    """The longest bands (so the fewest vain candidates) that lose at most `missed` of the pairs at `threshold`.

    There are two bands at least. With single rows the loss is (1 - threshold)^permutations: where even that is more,
    single rows it is.
    """
    for rows in range(permutations // 2, 1, -1):
        bands = Bands(permutations // rows, rows)
        if 1 - bands.chance(threshold) <= missed:
            return bands
    return Bands(permutations, 1)


def signatures(sets: Iterable[Grams], seed: int, permutations: int = PERMUTATIONS) -> Iterator[MinHash]:
    """The MinHash signature of each set, in order. The same seed gives the same signatures."""
    # A gram is hashed already: its upper half goes in as it is.
    halves = ((grams >> np.uint64(32)).tolist() for grams in sets)
    yield from MinHash.generator(halves, num_perm=permutations, seed=seed % (1 << 32), hashfunc=int)


def band_keys(values: NDArray[np.uint64], bands: Bands) -> Grams:
    """One 64-bit key a band of a signature's values (of any integer type); shape (bands,)."""
    cut = values[: bands.bands * bands.rows].astype(np.uint64).reshape(bands.bands, bands.rows)
    keys = np.arange(1, bands.bands + 1, dtype=np.uint64)
    for row in range(bands.rows):
        keys = (keys ^ cut[:, row]) * np.uint64(0xFF51AFD7ED558CCD)
        keys ^= keys >> np.uint64(32)
    return keys
