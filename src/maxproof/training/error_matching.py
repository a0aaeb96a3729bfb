"""Which predicted error is which golden one, and how well it is placed (MaxProof section 3.4; the details are ours).

A location is placed in the proof: the sentences its quotation stands in. Two locations agree by the share of sentences
they have in common, so the same sentence is 1 and another one is 0, however alike the two read. Errors are then paired
one to one so that the sum of agreements is the greatest there is; where two pairings are as good, descriptions decide.

    places = Sentences(proof)
    pairs = match_errors(predicted, golden, places)
    f1_like(sum(pair.localisation for pair in pairs), len(predicted), len(golden))
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from maxproof.verifier.types import LocatedError

MAX_ERRORS = 64
"""Of a longer list the first ones are paired; the rest still counts in `f1_like`, so that listing more earns less."""
MAX_SENTENCES = 4000
MAX_LOCATION_CHARS = 2000
MAX_OCCURRENCES = 64
RIGHT_PLACE = 0.5
"""From this agreement on a pair is rightly placed, and its description can earn something."""
MIN_MISQUOTED = 0.8  # agreement in words (Dice) from which a quotation that stands nowhere is taken for a sentence
TIE_BREAK = 1e-3  # weight of the descriptions' words in the pairing, far below any difference between places

_SENTENCE_END = re.compile(r"(?<=[.!?])[ \t]+|\n+")
_TOKEN = re.compile(r"[^\W\d_]+|\d+|[^\w\s]|_")
_ELLIPSIS = re.compile(r"\.\.\.|…|\[\.\.\.\]")
_NUMBERED = re.compile(r"\s*(?:sentence|line)s?\s+(\d{1,4})(?:\s*[-–]\s*(\d{1,4}))?\b", re.IGNORECASE)
_EDGE = frozenset(".,;:!?\"'`“”„‘’*$…")

_STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be but by for from has have here in into is it its of on or so that the then there this to "
        "was which with",
    )
)
_GAP = re.compile(
    r"\b(?:gaps?|leaps?|jumps?|missing|incomplete|omitted|skip(?:s|ped)|not (?:shown|proved|proven|justified|reached)"
    r"|un(?:justified|proved|proven|supported|explained|shown)|without (?:proof|reason|justification))\b",
    re.IGNORECASE,
)
_FALSE = re.compile(
    r"\b(?:false|wrong|incorrect|errors?|mistakes?|mistaken|invalid|contradicts?|contradiction|fails?|untrue"
    r"|mis(?:calculated|computed)|unreadable)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Pair:
    """A predicted and a golden error that are taken for one, by index. `localisation` is in (0, 1]."""

    predicted: int
    golden: int
    localisation: float


class Sentences:
    """A proof as sentences in which quotations are placed. A sentence ends at a line's end, or after `.`, `!`, `?`.

    Of a text with more than MAX_SENTENCES the rest is one sentence.
    """

    def __init__(self, proof: str) -> None:
        texts = [part for part in _SENTENCE_END.split(proof, maxsplit=MAX_SENTENCES) if part and part.strip()]
        tokens = [_tokens(text) for text in texts]
        self.count = len(texts)
        self._words = [frozenset(words) for words in tokens]
        self._bare = [_trimmed(words) for words in tokens]
        self._starts: list[int] = []
        parts: list[str] = []
        position = 1
        for words in tokens:
            self._starts.append(position)
            joined = "".join(word + " " for word in words)
            parts.append(joined)
            position += len(joined)
        self._joined = " " + "".join(parts)

    def place(self, location: str) -> frozenset[int]:
        """Indexes of the sentences that `location` points at; empty when it points at none.

        It is a quotation (whole tokens; an ellipsis joins several), or `sentence 3`, or words of which most are those
        of one sentence and all of whose numbers stand in it. A quotation that stands in several sentences points at all
        of them, or at those that are nothing but it, if there are any.
        """
        location = location[:MAX_LOCATION_CHARS]
        found: set[int] = set()
        for part in _ELLIPSIS.split(location):
            found |= self._quoted(_trimmed(_tokens(part)))
        if found:
            return frozenset(found)
        numbered = _NUMBERED.match(location)
        if numbered:
            first = int(numbered.group(1))
            last = int(numbered.group(2) or first)
            return frozenset(range(max(first, 1) - 1, min(last, self.count)))
        return self._misquoted(_tokens(location))

    def _quoted(self, tokens: list[str]) -> set[int]:
        if not tokens:
            return set()
        wanted = " " + " ".join(tokens) + " "
        found: set[int] = set()
        at = -1
        for _ in range(MAX_OCCURRENCES):
            at = self._joined.find(wanted, at + 1)
            if at < 0:
                break
            first = bisect_right(self._starts, at + 1) - 1
            last = bisect_right(self._starts, at + len(wanted) - 2) - 1
            found |= set(range(first, last + 1))
        whole = {index for index in found if self._bare[index] == tokens}
        return whole or found

    def _misquoted(self, tokens: list[str]) -> frozenset[int]:
        words = frozenset(tokens)
        numbers = {word for word in words if word.isdigit()}
        if not words:
            return frozenset()
        agreements = {
            index: 2 * len(words & sentence) / (len(words) + len(sentence))
            for index, sentence in enumerate(self._words)
            if numbers <= sentence
        }
        best = max(agreements.values(), default=0.0)
        if best < MIN_MISQUOTED:
            return frozenset()
        return frozenset(index for index, agreement in agreements.items() if agreement == best)


def localisation(predicted: str, golden: str, places: Sentences) -> float:
    """Agreement of two locations, 0..1: shared sentences over all sentences of either.

    Where neither can be placed, they agree iff they are the same words; two errors without a place agree.
    """
    one, other = (_Reading(LocatedError(location, ""), places) for location in (predicted, golden))
    return _agreement(one, other)


class _Reading:
    """An error, read once for all its pairs. `named`: the words of a place that is in no sentence."""

    __slots__ = ("named", "places", "words")

    def __init__(self, error: LocatedError, places: Sentences) -> None:
        self.places = places.place(error.location)
        self.named = [] if self.places else _trimmed(_tokens(error.location[:MAX_LOCATION_CHARS]))
        self.words = _content(error.description)


def _agreement(one: _Reading, other: _Reading) -> float:
    if not one.places and not other.places:
        return float(one.named == other.named)
    return len(one.places & other.places) / len(one.places | other.places)


def match_errors(
    predicted: Sequence[LocatedError], golden: Sequence[LocatedError], places: Sentences
) -> tuple[Pair, ...]:
    """Pairs errors one to one with the greatest sum of `localisation`; pairs that agree nowhere are left out.

    Exact (Hungarian algorithm, cubic), for at most MAX_ERRORS on each side. In order of the predicted errors.
    """
    predicted, golden = predicted[:MAX_ERRORS], golden[:MAX_ERRORS]
    ours, theirs = [_Reading(error, places) for error in predicted], [_Reading(error, places) for error in golden]
    agreements = [[_agreement(one, other) for other in theirs] for one in ours]
    weights = [
        [
            agreement and agreement + TIE_BREAK * _shared(one.words, other.words)
            for agreement, other in zip(row, theirs, strict=True)
        ]
        for row, one in zip(agreements, ours, strict=True)
    ]
    return tuple(Pair(i, j, agreements[i][j]) for i, j in assignment(weights) if agreements[i][j] > 0)


def f1_like(credit: float, predicted: int, golden: int) -> float:
    """2 * credit / (predicted + golden), 0..1, for a credit of at most 1 a pair; 1 when both lists are empty."""
    return 2 * credit / (predicted + golden) if predicted + golden else 1.0


def assignment(weights: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """The one-to-one pairs (row, column) of greatest total weight, in order of the rows.

    Every row or every column is used, whichever are fewer. The Hungarian algorithm with potentials (H. W. Kuhn, 1955;
    shortest augmenting paths as in Jonker and Volgenant, 1987): O(rows^2 * columns).
    """
    if not weights or not weights[0]:
        return []
    if len(weights) > len(weights[0]):
        turned = assignment([list(column) for column in zip(*weights, strict=True)])
        return sorted((row, column) for column, row in turned)
    rows, columns = len(weights), len(weights[0])
    # Index 0 of rows and columns is a dummy: a row's search for its column starts there.
    row_potential = [0.0] * (rows + 1)
    column_potential = [0.0] * (columns + 1)
    row_of = [0] * (columns + 1)
    for row in range(1, rows + 1):
        row_of[0] = row
        current = 0
        slack = [float("inf")] * (columns + 1)
        previous = [0] * (columns + 1)
        done = [False] * (columns + 1)
        while row_of[current]:
            done[current] = True
            at = row_of[current]
            step, following = float("inf"), 0
            for column in range(1, columns + 1):
                if done[column]:
                    continue
                reduced = -weights[at - 1][column - 1] - row_potential[at] - column_potential[column]
                if reduced < slack[column]:
                    slack[column], previous[column] = reduced, current
                if slack[column] < step:
                    step, following = slack[column], column
            for column in range(columns + 1):
                if done[column]:
                    row_potential[row_of[column]] += step
                    column_potential[column] -= step
                else:
                    slack[column] -= step
            current = following
        while current:
            row_of[current] = row_of[previous[current]]
            current = previous[current]
    return sorted((row_of[column] - 1, column - 1) for column in range(1, columns + 1) if row_of[column])


def word_agreement(one: str, other: str) -> float:
    """Dice overlap of two descriptions' words, 0..1, common small words left out; 1 when both have none."""
    return _shared(_content(one), _content(other))


def _shared(words: frozenset[str], others: frozenset[str]) -> float:
    if not words and not others:
        return 1.0
    return 2 * len(words & others) / (len(words) + len(others))


def kind_of(description: str) -> str:
    """`false` (something is wrong), `gap` (something is missing), or "" when the words say neither."""
    description = description[:MAX_LOCATION_CHARS]
    if _FALSE.search(description):
        return "false"
    return "gap" if _GAP.search(description) else ""


def _content(text: str) -> frozenset[str]:
    return frozenset(
        word for word in _tokens(text[:MAX_LOCATION_CHARS]) if word not in _STOP_WORDS and word not in _EDGE
    )


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text.lower())


def _trimmed(tokens: list[str]) -> list[str]:
    """Without quotation marks and punctuation at both ends: a quotation may or may not take them along."""
    start, end = 0, len(tokens)
    while start < end and tokens[start] in _EDGE:
        start += 1
    while end > start and tokens[end - 1] in _EDGE:
        end -= 1
    return tokens[start:end]
