"""The signals: what each is, and its readings from the sums of the steps.

Each signal is a pure function of a step's sums; `INFO` says what it means. The standard errors take the rollouts of a
step as independent. Rollouts of one problem are alike, so the spread between steps can be larger than they say.

Why these statistics:

- Polarisation rather than Sarle's coefficient for bimodality, see `polarisation`.
- Lengths in characters, which need no tokenizer and are what the authors report.
- Phrases per 1000 words, not the share of rollouts with one: a text three times as long has three times the chance.
- Shares of rollouts for the templates and false positives, as the authors report them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import sqrt

from maxproof.monitor.openers import pooled, risen, shift
from maxproof.monitor.signal_info import INFO
from maxproof.monitor.stats import Stats, StepStats
from maxproof.monitor.types import Reading, Series, Signal

__all__ = ["INFO", "off", "readings"]

Value = tuple[float | None, int, float | None, str]
"""(value, rollouts behind it, standard error, detail)."""
_NOTHING: Value = (None, 0, None, "")


def mean_gap(step: StepStats) -> Value:
    """Mean of train reward - oracle over the rollouts with both; in [-1, 1]."""
    return _mean(step, "gap")


def polarisation(step: StepStats) -> Value:
    """Var / (m (1 - m)) of the train rewards with mean m: the share of the largest variance that this mean allows.

    In [0, 1]: 0 if all rewards are equal, 1 if all are 0 or 1. A beta distribution has 1 / (a + b + 1), so a flat one
    1/3, and more means U-shaped. Not defined, hence None, when all rewards are 0 or all 1.

    Sarle's coefficient (skewness^2 + 1) / kurtosis does not say this: it is 1 for any two points, be they 0.4 and 0.5,
    and exceeds its flat value 5/9 for skewed distributions with one mode, so a training that merely gets better moves
    it. Here a training with rewards of 0 and 1 only stays at 1 at any mean. The standard error is by the delta method.
    """
    n = int(step.sums["reward.n"])
    if n < 2:
        return _NOTHING
    a, b, c, d = (step.sums[f"reward.{power}"] / n for power in (1, 2, 3, 4))
    room = a * (1 - a)
    if room <= 1e-12:
        return None, n, None, ""
    value = min(1.0, max(0.0, b - a * a) / room)
    by_b = 1 / room
    by_a = (-2 * a * room - (b - a * a) * (1 - 2 * a)) / room**2
    variance = by_a**2 * (b - a * a) + 2 * by_a * by_b * (c - a * b) + by_b**2 * (d - b * b)
    ends = f"{step.rewards[0] / n:.0%} of rewards below 0.05, {step.rewards[-1] / n:.0%} from 0.95 on"
    return value, n, max(sqrt(max(0.0, variance) / n), 0.5 / n), ends


def mean_visible(step: StepStats) -> Value:
    """Mean characters of the visible text; >= 0."""
    return _mean(step, "visible")


def mean_thinking(step: StepStats) -> Value:
    """Mean characters of the thinking, over the rollouts where it is known; >= 0."""
    return _mean(step, "thinking")


def proof_gap(step: StepStats) -> Value:
    """Mean train reward of proofs - that of what is known to be none; in [-1, 1]."""
    proofs, proof_n, proof_error, _ = _mean(step, "proof")
    others, other_n, other_error, _ = _mean(step, "other")
    if proofs is None or others is None:
        return _NOTHING
    error = sqrt(proof_error**2 + other_error**2) if proof_error is not None and other_error is not None else None
    return proofs - others, proof_n + other_n, error, f"proofs {proofs:.2f}, others {others:.2f}"


def template_share(step: StepStats) -> Value:
    """Share of rollouts whose text has any mark of structure of `templates.txt`; in [0, 1]."""
    value, n, error, _ = _share(step.sums["templated"], step.sums["n"])
    kinds = ", ".join(f"{name} {count / n:.0%}" for name, count in sorted(step.templates.items(), key=_commonest)[:3])
    return value, n, error, kinds


def opener_top_share(step: StepStats) -> Value:
    """Share of the commonest opener; in [0, 1], too low by at most 1 / (OPENERS + 1)."""
    name, count = min(step.openers.items(), key=_commonest, default=("", 0))
    value, n, error, _ = _share(count, step.sums["n"])
    return value, n, error, name


def opener_shift(step: StepStats, there: Mapping[str, int], m: int) -> Value:
    """Total variation distance between the step's openers and those of the m rollouts of the baseline, beyond chance.

    0 on average for no change, at most 1; the detail names the opener that rose most. See `openers.shift`.
    """
    n = int(step.sums["n"])
    if not n or not m:
        return _NOTHING
    value, error = shift(step.openers, n, there, m)
    name, before, now = risen(step.openers, n, there, m)
    return value, n, error, f"{name!r} {before:.0%} -> {now:.0%}" if now > before else ""


def risen_opener(stats: Stats, baseline: Sequence[int], steps: Sequence[int]) -> str:
    """The opener whose share rose most from the baseline window to `steps`; "" if there is none."""
    here, there = (pooled(stats[one].openers for one in some) for some in (steps, baseline))
    n, m = (int(sum(stats[one].sums["n"] for one in some)) for some in (steps, baseline))
    return risen(here, n, there, m)[0] if n and m else ""


def self_correction(step: StepStats) -> Value:
    """Phrases of `self_correction.txt` per 1000 words of thinking; >= 0."""
    return _per_1000(step, "self_correction")


def hand_waving(step: StepStats) -> Value:
    """Phrases of `hand_waving.txt` per 1000 words of the visible text; >= 0."""
    return _per_1000(step, "hand_waving")


def false_positives(step: StepStats) -> Value:
    """Share of the rollouts with both scores whose train reward is >= 0.7 and oracle <= 0.3; in [0, 1]."""
    return _share(step.sums["false_positives"], step.sums["gap.n"])


def disagreement(step: StepStats) -> Value:
    """Mean of highest - lowest score over the rollouts that two or more judges scored; in [0, 1]."""
    value, n, error, _ = _mean(step, "spread")
    return value, n, error, f"{int(step.sums['judges_apart'])} of {n} by 0.5 or more" if n else ""


def not_scored(step: StepStats) -> Value:
    """Share of rollouts without a train reward; in [0, 1]."""
    return _share(step.sums["n"] - step.sums["reward.n"], step.sums["n"])


_BY_STEP: Mapping[Signal, Callable[[StepStats], Value]] = {
    Signal.TRAIN_EVAL_GAP: mean_gap,
    Signal.BIMODALITY: polarisation,
    Signal.VISIBLE_LENGTH: mean_visible,
    Signal.THINKING_LENGTH: mean_thinking,
    Signal.PROOF_GAP: proof_gap,
    Signal.TEMPLATE_SHARE: template_share,
    Signal.OPENER_TOP_SHARE: opener_top_share,
    Signal.SELF_CORRECTION: self_correction,
    Signal.HAND_WAVING: hand_waving,
    Signal.FALSE_POSITIVES: false_positives,
    Signal.DISAGREEMENT: disagreement,
    Signal.NOT_SCORED: not_scored,
}
_COUNTED = {
    "train_reward": ("reward.n",),
    "oracle": ("gap.n",),
    "is_proof": ("proof.n", "other.n"),
    "judges": ("spread.n",),
    "thinking": ("self_correction.w1",),
}
_MISSING = {
    "train_reward": "no rollout has a train reward",
    "oracle": "no rollout has an oracle score beside its train reward",
    "is_proof": "no rollouts of both kinds, proofs and others, have a train reward",
    "judges": "no rollout was scored by two judges",
    "thinking": "no rollout has any thinking",
}


def readings(stats: Stats, baseline: Sequence[int]) -> Mapping[Signal, Series]:
    """All series but HACK_SCORE; a signal that is off is missing.

    Args:
        baseline: the steps of the baseline window that the openers are compared with, unknown ones left out. A step of
            the window itself is compared with the others of it, so that its reading is like that of any later step.
    """
    gone = off(stats)
    steps = stats.steps
    window = [step for step in sorted(set(baseline)) if step in set(steps)]
    found: dict[Signal, Series] = {}
    for signal in INFO:
        if signal in gone:
            continue
        if signal in _BY_STEP:
            found[signal] = tuple(_reading(step, _BY_STEP[signal](stats[step])) for step in steps)
    if window and Signal.OPENER_SHIFT not in gone:
        whole = pooled(stats[step].openers for step in window)
        size = int(sum(stats[step].sums["n"] for step in window))
        shifts = []
        for step in steps:
            inside = step in window
            there = whole - stats[step].openers if inside else whole
            m = size - int(stats[step].sums["n"]) if inside else size
            shifts.append(_reading(step, opener_shift(stats[step], there, m)))
        found[Signal.OPENER_SHIFT] = tuple(shifts)
    return found


def off(stats: Stats) -> Mapping[Signal, str]:
    """Why a signal is off, for those that are, HACK_SCORE excepted. With no rollouts at all, all are."""
    if not stats.rollouts:
        return {signal: "no rollouts" for signal in INFO if signal is not Signal.HACK_SCORE}
    found: dict[Signal, str] = {}
    for signal, info in INFO.items():
        for column in info.needs:
            if any(not stats.total(name) for name in _COUNTED.get(column, ())):
                found.setdefault(signal, _MISSING[column])
    found.pop(Signal.HACK_SCORE, None)
    return found


def _reading(step: int, found: Value) -> Reading:
    value, count, error, detail = found
    return Reading(step, value, count, error, detail)


def _commonest(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]


def _mean(step: StepStats, name: str) -> Value:
    """Mean and its standard error, sqrt of (sample variance / n); no error for one rollout."""
    n, total, squares = (step.sums[f"{name}.{part}"] for part in ("n", "1", "2"))
    if not n:
        return _NOTHING
    mean = total / n
    if n < 2:
        return mean, int(n), None, ""
    return mean, int(n), sqrt(max(0.0, squares - n * mean * mean) / (n - 1) / n), ""


def _share(hits: float, n: float) -> Value:
    """A share and its standard error, from (hits + 0.5) / (n + 1), so that it is never 0."""
    if not n:
        return _NOTHING
    near = (hits + 0.5) / (n + 1)
    return hits / n, int(n), sqrt(near * (1 - near) / n), ""


def _per_1000(step: StepStats, name: str) -> Value:
    """1000 x hits / words, and the standard error of a ratio of means (linearised), at least that of half a hit."""
    n, hits, hits2, words, words2, both = (step.sums[f"{name}.{part}"] for part in ("n", "1", "2", "w1", "w2", "hw"))
    if not words:
        return _NOTHING
    rate = hits / words
    residual = max(0.0, hits2 - 2 * rate * both + rate * rate * words2)
    error = sqrt(residual * n / (n - 1)) / words if n > 1 else None
    detail = f"{int(hits)} in {int(words)} words"
    return 1000 * rate, int(n), None if error is None else 1000 * max(error, 0.5 / words), detail
