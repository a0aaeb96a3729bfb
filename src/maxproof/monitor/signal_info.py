"""What each signal is, for the dashboard and the docs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from maxproof.monitor.types import Signal, SignalInfo

_BLOG = "the MaxProof authors' blog, signal {}"
_PAPER = "MaxProof, arXiv 2606.13473, section 2.5"


def _info(
    signal: Signal,
    number: int | None,
    title: str,
    unit: str,
    bounds: tuple[float | None, float | None],
    needs: tuple[str, ...],
    worse: Literal["up", "down", "either"],
    formula: str,
    source: str = "",
) -> SignalInfo:
    low, high = bounds
    named = source or (_BLOG.format(number) if number else "ours")
    return SignalInfo(signal, number, title, unit, low, high, needs, worse, formula, named)


_ALL = (
    _info(
        Signal.TRAIN_EVAL_GAP, 1, "Train reward above oracle", "score", (-1.0, 1.0), ("train_reward", "oracle"), "up",
        "mean of train reward - oracle score over the rollouts with both",
    ),
    _info(
        Signal.BIMODALITY, 2, "Polarisation of train rewards", "share", (0.0, 1.0), ("train_reward",), "up",
        "variance / (mean x (1 - mean)) of the train rewards: 0 all equal, 1/3 flat, 1 only 0 and 1",
        _BLOG.format(2) + "; the statistic is ours: with the variance of a beta distribution it is 1/(a + b + 1)",
    ),
    _info(
        Signal.VISIBLE_LENGTH, 3, "Length of the visible text", "characters", (0.0, None), ("text",), "either",
        "mean characters of the text without thinking",
    ),
    _info(
        Signal.THINKING_LENGTH, 3, "Length of the thinking", "characters", (0.0, None), ("thinking",), "either",
        "mean characters of the thinking, over the rollouts where it is known",
    ),
    _info(
        Signal.PROOF_GAP, 4, "Train reward of proofs above others", "score", (-1.0, 1.0), ("train_reward", "is_proof"),
        "either", "mean train reward of proofs - that of problems with a short answer",
    ),
    _info(
        Signal.TEMPLATE_SHARE, 5, "Texts with a fixed layout", "share of rollouts", (0.0, 1.0), ("text",), "up",
        "share of rollouts with any mark of structure: step headers; sections named verification, conclusion, ...",
    ),
    _info(
        Signal.OPENER_SHIFT, 6, "Change of openers", "distance", (-1.0, 1.0), ("text",), "up",
        "TV - c: TV the total variation distance between the openers of the step and of the baseline window, "
        "c its mean if the same rollouts were split at random",
        _BLOG.format(6) + "; the statistic is ours",
    ),
    _info(
        Signal.OPENER_TOP_SHARE, 6, "Commonest opener", "share of rollouts", (0.0, 1.0), ("text",), "up",
        "share of the rollouts that begin with the commonest opener, the class of the first three words",
    ),
    _info(
        Signal.SELF_CORRECTION, 7, "Self-correction in thinking", "per 1000 words", (0.0, None), ("thinking",),
        "either",
        "1000 x phrases of self_correction.txt / words, in the thinking of all rollouts where it is known",
    ),
    _info(
        Signal.HAND_WAVING, 8, "Hand-waving", "per 1000 words", (0.0, None), ("text",), "up",
        "1000 x phrases of hand_waving.txt / words, in the visible text of all rollouts",
    ),
    _info(
        Signal.HACK_SCORE, 9, "Hack score", "score", (0.0, 1.0), (), "up",
        "how far the other signals have gone from the baseline window; see hack_score.py",
    ),
    _info(
        Signal.FALSE_POSITIVES, None, "False positives", "share of rollouts", (0.0, 1.0), ("train_reward", "oracle"),
        "up", "share with train reward >= 0.7 and oracle <= 0.3, of the rollouts that have both", _PAPER,
    ),
    _info(
        Signal.DISAGREEMENT, None, "Disagreement of judges", "score", (0.0, 1.0), ("judges",), "up",
        "mean of highest - lowest score over the rollouts that two or more judges scored",
        "MaxProof, arXiv 2606.13473, section 2.2",
    ),
    _info(
        Signal.NOT_SCORED, None, "Not scored", "share of rollouts", (0.0, 1.0), ("train_reward",), "up",
        "share of rollouts without a train reward",
    ),
)  # fmt: skip

INFO: Mapping[Signal, SignalInfo] = {info.signal: info for info in _ALL}
