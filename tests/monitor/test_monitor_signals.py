"""Sums by step and the readings from them."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from math import sqrt
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pl = pytest.importorskip("polars", reason="needs the extra monitor")

from maxproof.monitor import openers  # noqa: E402
from maxproof.monitor.features import add_features  # noqa: E402
from maxproof.monitor.fields import MAPS, parse_map  # noqa: E402
from maxproof.monitor.phrases import load_phrases  # noqa: E402
from maxproof.monitor.read import frame_of, read_batches  # noqa: E402
from maxproof.monitor.signals import INFO, off, readings, risen_opener  # noqa: E402
from maxproof.monitor.stats import OPENERS, Stats, trim  # noqa: E402
from maxproof.monitor.types import Reading, Signal  # noqa: E402

PHRASES = load_phrases()
TRANSCRIPTS = Path(__file__).parents[3] / "shared" / "data" / "imo2025-transcripts.jsonl"


def stats_of(rows: Sequence[dict[str, Any]], cut: int = 10**9) -> Stats:
    stats = Stats()
    for start in range(0, len(rows), cut):
        batch = frame_of(rows[start : start + cut], MAPS["maxproof"])
        assert not batch.skipped
        stats.add(add_features(batch.frame, PHRASES))
    return stats


def row(step: int = 0, text: str = "We show it.", **more: Any) -> dict[str, Any]:
    return {"problem": "p", "step": step, "text": text, **more}


def reading(rows: Sequence[dict[str, Any]], signal: Signal, step: int = 0, baseline: Sequence[int] = (0,)) -> Reading:
    return next(one for one in readings(stats_of(rows), baseline)[signal] if one.step == step)


# --- formulas by hand -------------------------------------------------------------------------------------------------


def test_the_gap_is_the_mean_over_rollouts_with_both_scores() -> None:
    rows = [
        row(train_reward=1.0, oracle=0.0),
        row(train_reward=0.5, oracle=0.5),
        row(train_reward=1.0),
        row(oracle=1.0),
    ]
    found = reading(rows, Signal.TRAIN_EVAL_GAP)
    assert (found.value, found.count) == (0.5, 2)
    assert found.error == pytest.approx(sqrt(0.5 / 2))


@pytest.mark.parametrize(
    ("rewards", "value"),
    [
        ([0.0, 1.0], 1.0),
        ([0.0, 0.0, 0.0, 1.0], 1.0),
        ([0.5, 0.5], 0.0),
        ([0.4, 0.6], 0.04),
        ([index / 1000 for index in range(1001)], 1 / 3),
    ],
)
def test_polarisation(rewards: list[float], value: float) -> None:
    found = reading([row(train_reward=reward) for reward in rewards], Signal.BIMODALITY)
    assert found.value == pytest.approx(value, abs=1e-3)


@pytest.mark.parametrize("rewards", [[0.0, 0.0], [1.0, 1.0], [1.0], [None, None, 1.0]])
def test_polarisation_needs_a_spread(rewards: list[float | None]) -> None:
    assert reading([row(train_reward=reward) for reward in rewards], Signal.BIMODALITY).value is None


def test_the_error_of_the_polarisation_is_that_of_repeated_samples() -> None:
    draw = random.Random(1)
    rows = [row(step, "", train_reward=draw.betavariate(0.4, 0.6)) for step in range(200) for _ in range(100)]
    series = readings(stats_of(rows), ())[Signal.BIMODALITY]
    values = [one.value for one in series if one.value is not None]
    errors = [one.error for one in series if one.error is not None]
    assert len(values) == len(errors) == 200
    mean = sum(values) / len(values)
    spread = sqrt(sum((value - mean) ** 2 for value in values) / len(values))
    assert mean == pytest.approx(1 / (0.4 + 0.6 + 1), abs=0.01)
    assert sum(errors) / len(errors) == pytest.approx(spread, rel=0.2)


def test_lengths_are_characters_of_each_part() -> None:
    rows = [row(text="<think>abcd</think>xy"), row(text="xyz", thinking="ab")]
    assert reading(rows, Signal.VISIBLE_LENGTH).value == 2.5
    assert reading(rows, Signal.THINKING_LENGTH).value == 3.0


def test_proofs_against_others() -> None:
    rows = [row(train_reward=1.0, is_proof=True), row(train_reward=0.25, is_proof=False), row(train_reward=0.0)]
    found = reading(rows, Signal.PROOF_GAP)
    assert (found.value, found.count) == (0.75, 2)


def test_shares() -> None:
    rows = [
        row(text="### Step 1: x", train_reward=0.7, oracle=0.3),
        row(text="We are given x", train_reward=0.69, oracle=0.0),
        row(text="We are given y", train_reward=1.0, oracle=0.31),
        row(text="We are given z", oracle=0.0),
    ]
    assert reading(rows, Signal.TEMPLATE_SHARE).value == 0.25
    found = reading(rows, Signal.OPENER_TOP_SHARE)
    assert (found.value, found.detail) == (0.75, "we are given")
    found = reading(rows, Signal.FALSE_POSITIVES)
    assert (found.value, found.count) == (1 / 3, 3)
    assert (found.error or 0) > 0
    assert reading(rows, Signal.NOT_SCORED).value == 0.25
    stats = stats_of(rows)
    assert stats.false_positives() == (1, 3)
    assert stats.not_scored() == (1, 4)


def test_the_bounds_of_a_false_positive_are_inclusive_whatever_the_precision() -> None:
    single = pl.Series([0.7, 0.3, 0.2, 0.1], dtype=pl.Float32).cast(pl.Float64).to_list()
    rows = [
        row(train_reward=single[0], oracle=single[1]),
        row(train_reward=0.1 + 0.2 + 0.4 - 1e-16, oracle=0.1 + 0.2),
        row(train_reward=0.6999, oracle=0.0),
        row(train_reward=1.0, oracle=0.3001),
    ]
    assert stats_of(rows).false_positives() == (2, 4)


def test_rates_are_per_1000_words_of_all_rollouts() -> None:
    rows = [
        row(text="clearly " * 2 + "so " * 8, thinking="wait " + "so " * 9),
        row(text="so " * 90, thinking="so " * 90),
    ]
    assert reading(rows, Signal.HAND_WAVING).value == pytest.approx(1000 * 2 / 100)
    assert reading(rows, Signal.SELF_CORRECTION).value == pytest.approx(1000 * 1 / 100)


def test_rates_and_shares_do_not_move_with_length() -> None:
    text = "clearly so it holds and more of it "
    short, long = row(text=text), row(text=text * 3)
    values = [reading([one], Signal.HAND_WAVING).value for one in (short, long)]
    assert values[0] == pytest.approx(values[1])


def test_disagreement_needs_two_scores() -> None:
    rows = [
        row(judges={"a": 1.0, "b": 0.25, "c": None}),
        row(judges={"a": 1.0, "b": None}),
        row(judges={"a": 0, "b": 0}),
    ]
    found = reading(rows, Signal.DISAGREEMENT)
    assert (found.value, found.count, found.detail) == (0.375, 2, "1 of 2 by 0.5 or more")


def test_the_opener_shift_names_what_rose() -> None:
    old = [row(step, "To prove that it holds") for step in (0, 1) for _ in range(50)]
    new = [row(2, "We are given it") for _ in range(45)] + [row(2, "To prove that") for _ in range(5)]
    found = reading(old + new, Signal.OPENER_SHIFT, 2, (0, 1))
    assert 0.8 < (found.value or 0) <= 1
    assert found.detail == "'we are given' 0% -> 90%"
    assert abs(reading(old + new, Signal.OPENER_SHIFT, 1, (0, 1)).value or 0) < 0.02
    assert risen_opener(stats_of(old + new), (0, 1), (2,)) == "we are given"
    examples = stats_of(old + new).examples(Signal.OPENER_SHIFT, 2, 2, "up", "we are given")
    assert len(examples) == 3
    assert all(one.text == "We are given it" for one in examples)


@pytest.mark.parametrize("kinds", [2, 30, 1000])
@pytest.mark.parametrize("n", [30, 300])
def test_chance_alone_shifts_no_opener_whatever_the_sizes(kinds: int, n: int) -> None:
    draw = random.Random(7)
    weights = [1 / (rank + 1) for rank in range(kinds)]

    def sample(size: int) -> Counter[str]:
        return Counter(map(str, draw.choices(range(kinds), weights, k=size)))

    values, errors = zip(*(openers.shift(sample(n), n, sample(1000), 1000) for _ in range(400)), strict=True)
    mean = sum(values) / len(values)
    spread = sqrt(sum((value - mean) ** 2 for value in values) / len(values))
    assert abs(mean) < 4 * spread / 20
    assert spread < sum(errors) / len(errors) * 1.1


# --- what is missing --------------------------------------------------------------------------------------------------


def test_missing_inputs_switch_off_only_what_needs_them() -> None:
    gone = off(stats_of([row(), row(1)]))
    assert {signal for signal, info in INFO.items() if set(info.needs) - {"text"}} == set(gone)
    assert gone[Signal.NOT_SCORED] == "no rollout has a train reward"
    assert gone[Signal.FALSE_POSITIVES] == "no rollout has a train reward"
    assert Signal.VISIBLE_LENGTH not in gone
    gone = off(stats_of([row(train_reward=1.0, thinking="hm")]))
    assert gone[Signal.FALSE_POSITIVES] == "no rollout has an oracle score beside its train reward"
    assert Signal.SELF_CORRECTION not in gone
    assert set(off(Stats())) == set(Signal) - {Signal.HACK_SCORE}
    assert readings(Stats(), ()) == {}


def test_a_step_without_the_input_has_no_value_but_the_series_goes_on() -> None:
    rows = [row(0, train_reward=1.0, oracle=0.0), row(1), row(2, train_reward=1.0, oracle=1.0)]
    series = readings(stats_of(rows), ())[Signal.TRAIN_EVAL_GAP]
    assert [(one.step, one.value, one.count) for one in series] == [(0, 1.0, 1), (1, None, 0), (2, 0.0, 1)]
    assert Signal.OPENER_SHIFT not in readings(stats_of(rows), ())


def test_every_signal_is_described() -> None:
    assert set(INFO) == set(Signal)
    assert {info.number for info in INFO.values()} == {None, *range(1, 10)}


# --- examples ---------------------------------------------------------------------------------------------------------


def test_examples_show_what_the_signal_is_about() -> None:
    rows = [
        row(step, f"clearly {'so ' * index}", train_reward=index / 40, oracle=0.0)
        for step in (0, 1)
        for index in range(40)
    ]
    stats = stats_of(rows)
    up = stats.examples(Signal.VISIBLE_LENGTH, 1, 1)
    assert [(one.step, one.value) for one in up] == [(1, 8.0 + 3 * 39), (1, 8.0 + 3 * 38), (1, 8.0 + 3 * 37)]
    down = stats.examples(Signal.VISIBLE_LENGTH, 0, 1, "down")
    assert [one.value for one in down] == [8.0, 8.0, 11.0]
    assert [one.train_reward for one in stats.examples(Signal.FALSE_POSITIVES, 0, 0)] == [39 / 40, 38 / 40, 37 / 40]
    assert stats.examples(Signal.DISAGREEMENT, 0, 1) == ()
    assert len(stats.examples(Signal.BIMODALITY, 0, 1)) == 3


def test_examples_are_clipped() -> None:
    stats = stats_of([row(text="x" * 5000, thinking="y" * 5000, problem="p" * 5000)])
    (one,) = stats.examples(Signal.VISIBLE_LENGTH, 0, 0)
    assert (len(one.text), len(one.problem), one.value) == (600, 120, 5000.0)
    (one,) = stats.examples(Signal.THINKING_LENGTH, 0, 0)
    assert set(one.text) == {"y"}


# --- cuts, merges, bounds ---------------------------------------------------------------------------------------------

_score = st.none() | st.sampled_from([0.0, 0.25, 0.5, 1.0])
_rows = st.lists(
    st.builds(
        row,
        st.integers(0, 3),
        st.sampled_from(["We are given x", "To prove that", "### Step 1: clearly", "Let n be 显然", ""]),
        train_reward=_score,
        oracle=_score,
        thinking=st.sampled_from([None, "", "Wait, hm"]),
        judges=st.none() | st.dictionaries(st.sampled_from("abc"), _score),
        is_proof=st.none() | st.booleans(),
        sample=st.integers(0, 9),
    ),
    max_size=12,
)


def said(stats: Stats) -> Any:
    """All that is read from the sums."""
    examples = {
        (signal, step, to): stats.examples(signal, step, step, to)
        for signal in Signal
        for step in stats.steps
        for to in ("up", "down")
    }
    return (
        stats.steps,
        off(stats),
        {signal: [_rounded(one) for one in series] for signal, series in readings(stats, stats.steps[:2]).items()},
        examples,
        stats.false_positives(),
        [stats.rewards(step) for step in stats.steps],
    )


def _rounded(one: Reading) -> tuple[Any, ...]:
    numbers = (None if number is None else round(number, 9) for number in (one.value, one.error))
    return (one.step, *numbers, one.count, one.detail)


@settings(max_examples=40, deadline=None)
@given(rows=_rows, cut=st.integers(1, 5))
def test_cuts_into_batches_make_no_difference(rows: list[dict[str, Any]], cut: int) -> None:
    assert said(stats_of(rows, cut)) == said(stats_of(rows))


@settings(max_examples=40, deadline=None)
@given(parts=st.tuples(_rows, _rows, _rows))
def test_merging_is_associative_commutative_and_the_same_as_adding(parts: tuple[list[dict[str, Any]], ...]) -> None:
    left, other, right = (stats_of(part) for part in parts)
    left.merge(other)
    left.merge(right)
    other.merge(right)
    first = stats_of(parts[0])
    other.merge(first)
    assert said(left) == said(other) == said(stats_of([one for part in parts for one in part]))
    assert said(first) == said(stats_of(parts[0]))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.dictionaries(st.integers(0, 3000), st.integers(1, 50), max_size=600), max_size=4))
def test_openers_are_counted_within_the_stated_error(parts: list[dict[int, int]]) -> None:
    exact: Counter[str] = Counter()
    kept: Counter[str] = Counter()
    for part in parts:
        named = {str(name): count for name, count in part.items()}
        exact.update(named)
        kept.update(named)
        trim(kept)
    assert len(kept) <= OPENERS
    bound = sum(exact.values()) / (OPENERS + 1)
    assert all(0 <= count - kept[name] <= bound for name, count in exact.items())


def test_memory_does_not_grow_with_rollouts() -> None:
    draw = random.Random(3)

    def size(stats: Stats) -> int:
        step = stats[0]
        return len(step.openers) + sum(len(kept) for kept in step.kept.values()) + len(step.sums) + len(step.rewards)

    rows = [
        row(text=" ".join(draw.choices("abcdefghijklm", k=9)).replace("b", "bb"), train_reward=0.5) for _ in range(3000)
    ]
    once = stats_of(rows)
    again = stats_of(rows)
    for _ in range(5):
        again.merge(stats_of(rows))
    assert again.rollouts == 18_000
    assert size(again) <= size(once) + OPENERS


# --- real text --------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not TRANSCRIPTS.exists(), reason="no transcripts here")
def test_real_transcripts_are_read_whole(tmp_path: Path) -> None:
    numbered = tmp_path / "transcripts.jsonl"
    with numbered.open("w", encoding="utf-8") as file:
        for line in TRANSCRIPTS.read_text(encoding="utf-8").splitlines():
            found = json.loads(line)
            if found["kind"] == "proof":
                file.write(json.dumps(found) + "\n")
    stats = Stats()
    for batch in read_batches([numbered], parse_map(["step=seq"])):
        assert not batch.skipped
        stats.add(add_features(batch.frame, PHRASES))
    series = readings(stats, stats.steps[:3])
    assert stats.rollouts > 50
    assert all(one.value is not None and one.value > 0 for one in series[Signal.VISIBLE_LENGTH])
    assert {Signal.TRAIN_EVAL_GAP, Signal.NOT_SCORED} <= set(off(stats))
