"""Which values are summed up, and how: for each quantity x the number of rollouts that have it, sum x and sum x^2; for
a rate of hits in words also sum hits x words; for the train reward up to the fourth power.
"""

from __future__ import annotations

import polars as pl

from maxproof.monitor.types import FP_ORACLE, FP_TRAIN, ROUNDING

MOMENTS = ("gap", "visible", "thinking", "proof", "other", "spread")
"""Quantities with `.n`, `.1` (sum) and `.2` (sum of squares): train reward - oracle; characters of the text, and of the
thinking; train reward of proofs, and of what is known to be none; highest - lowest score of a rollout's judges."""
RATES = {"hand_waving": "words", "self_correction": "thinking_words"}
"""Hits by what they are counted per: `.n`, `.1`, `.2` of the hits, `.w1`, `.w2` of the words, `.hw` of the product."""
SHARES = ("templated", "false_positives", "judges_apart")
"""Rollouts that are so: with any mark of structure; false positives; judges at least half the scale apart."""
SUMS = (
    "n",
    *(f"{name}.{power}" for name in MOMENTS for power in ("n", "1", "2")),
    *(f"reward.{power}" for power in ("n", "1", "2", "3", "4")),
    *(f"{name}.{power}" for name in RATES for power in ("n", "1", "2", "w1", "w2", "hw")),
    *SHARES,
)

_APART = 0.5


def with_values(frame: pl.DataFrame) -> pl.DataFrame:
    """`frame` with the quantities as columns."""
    reward, oracle = pl.col("train_reward"), pl.col("oracle")
    judge = pl.element().struct.field("score")
    scores = pl.col("judges").list.eval(judge)
    return frame.with_columns(
        gap=reward - oracle,
        visible=pl.col("visible_chars").cast(pl.Float64),
        thinking_length=pl.col("thinking_chars").cast(pl.Float64),
        proof=pl.when(pl.col("is_proof")).then(reward),
        other=pl.when(~pl.col("is_proof")).then(reward),
        spread=pl.when(scores.list.len() >= 2).then(scores.list.max() - scores.list.min()),
        templated=pl.col("templates") > 0,
        false_positives=(reward >= FP_TRAIN - ROUNDING) & (oracle <= FP_ORACLE + ROUNDING),
    ).with_columns(judges_apart=pl.col("spread") >= _APART)


def summed(frame: pl.DataFrame) -> pl.DataFrame:
    """`frame` from `with_values`: a row for each step with the columns `step` and SUMS."""
    wanted = [pl.len().alias("n")]
    for name in MOMENTS:
        value = pl.col("thinking_length" if name == "thinking" else name)
        wanted += [
            value.count().alias(f"{name}.n"),
            value.sum().alias(f"{name}.1"),
            (value * value).sum().alias(f"{name}.2"),
        ]
    reward = pl.col("train_reward")
    wanted.append(reward.count().alias("reward.n"))
    wanted += [(reward**power).sum().alias(f"reward.{power}") for power in (1, 2, 3, 4)]
    for name, per in RATES.items():
        hits, words = pl.col(name).cast(pl.Float64), pl.col(per).cast(pl.Float64)
        wanted += [
            hits.count().alias(f"{name}.n"),
            hits.sum().alias(f"{name}.1"),
            (hits * hits).sum().alias(f"{name}.2"),
            words.sum().alias(f"{name}.w1"),
            (words * words).sum().alias(f"{name}.w2"),
            (hits * words).sum().alias(f"{name}.hw"),
        ]
    wanted += [pl.col(name).sum().alias(name) for name in SHARES]
    return frame.group_by("step").agg(wanted)
