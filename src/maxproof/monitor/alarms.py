"""Sequential change detection on one signal: a reading's noise raises nothing, a change that lasts does.

The test is a likelihood-ratio scan with a training sample. Readings after the baseline are standardised by the
baseline's mean and by the spread *between* its steps, z = (x - mean) / spread, and clipped to +-CLIP, so that no single
step counts for much. For every window of the last n readings, n in WINDOWS,

    T = mean(z over the window) / sqrt(1/n + 1/b)

is the two-sample t statistic of the window against the b readings of the baseline; 1/b is what the estimated mean adds.
An alarm is raised when the largest T passes a threshold. That is Page's scan (E. S. Page, Biometrika 41, 1954; D. O.
Siegmund and E. S. Venkatraman, Ann. Stat. 23, 1995, the generalised likelihood ratio) with the estimated parameters
of C.-S. J. Chu, M. Stinchcombe and H. White, "Monitoring structural change", Econometrica 64, 1996.

A training that hacks from its first steps on has no calm baseline. So the baseline is tested for a trend when it is
full: the t statistic of the slope of its readings over their number.

`alarm_thresholds.json` has the thresholds: quantiles of the largest T over a whole run, and of the slope's t,
simulated with Gaussian AR(1) readings of autocorrelation 0.3, for the number of readings in the baseline and the length
of the run. All tests of all signals share the false-alarm chance (Bonferroni's bound, which holds whatever depends on
what).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import accumulate
from math import log, sqrt
from typing import Literal

from maxproof.monitor.settings import SMALLEST_BASELINE, MonitorSettings
from maxproof.monitor.types import Alarm, Reading, Series, Signal, SignalInfo

WINDOWS = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128)
CLIP = 4.0
CALM_READINGS, CALM_LEVEL = 4, 1.0
"""After an alarm a direction is watched again once this many readings average less than CALM_LEVEL spreads off."""
_DUST = 1e-9

TREND = "inside the baseline window"
"""The detail of an alarm of a trend in the baseline begins so."""
Direction = Literal["up", "down"]


@dataclass(frozen=True, slots=True)
class Baseline:
    """What a signal was like before.

    Attributes:
        first, last: steps. readings: how many made it, >= SMALLEST_BASELINE.
        mean: of its readings. spread: standard deviation of one reading, > 0; see `baseline_of`.
        error: root mean square of the readings' own standard errors, 0 if they have none.
        count: rollouts behind a reading, on average.
        smallest: the smallest change that is worth an alarm, in the signal's unit.
        constant: whether all its readings were the same.
    """

    first: int
    last: int
    readings: int
    mean: float
    spread: float
    error: float
    count: float
    smallest: float
    constant: bool

    def deviation(self, reading: Reading) -> float:
        """How far a reading with a value is off, in standard deviations.

        A step with fewer rollouts than those of the baseline has a larger one, by the sampling error that this adds.
        Where the baseline was constant, a reading's own standard error is all there is to tell dust from a change.
        """
        assert reading.value is not None
        variance = self.spread**2
        if reading.count:
            variance += self.error**2 * max(0.0, self.count / reading.count - 1)
        if self.constant and reading.error is not None:
            variance = max(variance, reading.error**2)
        return (reading.value - self.mean) / sqrt(variance)


def baseline_of(
    series: Series, info: SignalInfo, settings: MonitorSettings, without: int | None = None
) -> Baseline | None:
    """The baseline of a signal; None while it isn't full. `without`: a step of the baseline that is to be left out.

    The spread is the largest of: the standard deviation between the steps (which holds all that differs from step to
    step, e.g. the problems drawn); the readings' own mean standard error (steps that are closer together than sampling
    allows are so by chance), for a share with one more case for and one against, which matters where cases are rare;
    half the smallest change worth an alarm (a constant signal has a spread, too).
    """
    known = _baseline_readings(series, settings)
    if known is None:
        return None
    known = [reading for reading in known if reading.step != without]
    values = [reading.value for reading in known if reading.value is not None]
    mean = sum(values) / len(values)
    between = sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))
    errors = [reading.error for reading in known if reading.error is not None]
    error = sqrt(sum(error**2 for error in errors) / len(errors)) if errors else 0.0
    if errors and (info.low, info.high) == (0.0, 1.0):
        error = max(error, _share_error(known, mean))
    scale = info.high if info.high is not None else abs(mean)
    smallest = settings.smallest_change * scale
    return Baseline(
        first=known[0].step,
        last=known[-1].step,
        readings=len(values),
        mean=mean,
        spread=max(between, error, smallest / 2, _DUST),
        error=error,
        count=sum(reading.count for reading in known) / len(known),
        smallest=smallest,
        constant=between <= _DUST * max(scale, 1.0),
    )


def threshold(baseline: int, steps: int, chance: float) -> float:
    """What the largest T of one side of one signal passes with at most this chance in a run without a change.

    Between the tabulated chances it is interpolated in log(chance); a baseline counts as the next smaller one of the
    table, a run as the next longer one.

    Args:
        baseline: readings in the baseline, >= SMALLEST_BASELINE. steps: readings after it that are watched.
        chance: clipped to the table's.
    """
    table = _table()
    size = max(known for known in table.quantiles if known <= baseline)
    length = min((known for known in table.quantiles[size] if known >= steps), default=max(table.quantiles[size]))
    return _at(chance, table.chances, table.quantiles[size][length])


def trend_threshold(baseline: int, chance: float) -> float:
    """The same for the slope of the baseline."""
    table = _table()
    return _at(chance, table.chances, table.trends[max(known for known in table.trends if known <= baseline)])


def one_sided_tests(infos: Mapping[Signal, SignalInfo]) -> int:
    """Over how many tests the false-alarm chance is shared: for each direction in which a signal is watched, the scan
    and the trend of the baseline.

    All signals count, also those that are off, so that an alarm doesn't depend on which columns come later.
    """
    return sum(2 * len(_directions(info)) for info in infos.values())


def detect(series: Series, info: SignalInfo, settings: MonitorSettings, tests: int) -> tuple[Alarm, ...]:
    """The alarms of one signal by the step that raised them, without examples. None while the baseline isn't full.

    An alarm is raised once per change: its direction is watched again, against the same baseline, only when the
    readings have come back to it. What came before decides alone: later readings never change an alarm.

    An alarm of a trend in the baseline began with its first step and is raised with its last; `baseline` and `value`
    are the means of the baseline's first and second half.

    Args:
        series: readings without a value are left out.
        tests: `one_sided_tests` of all signals that share the false-alarm chance.
    """
    baseline = baseline_of(series, info, settings)
    if baseline is None:
        return ()
    watched = [reading for reading in series if reading.value is not None and reading.step > baseline.last]
    chance = settings.false_alarms / tests
    limit = threshold(baseline.readings, settings.run_steps, chance)
    alarms = []
    for direction in _directions(info):
        trend = _trend(series, baseline, info.signal, direction, trend_threshold(baseline.readings, chance))
        alarms += [trend] if trend else []
        alarms += _scan(watched, baseline, info.signal, direction, limit, armed=trend is None)
    return tuple(sorted(alarms, key=lambda alarm: (alarm.raised, alarm.direction)))


def _directions(info: SignalInfo) -> tuple[Direction, ...]:
    return ("up", "down") if info.worse == "either" else (info.worse,)


def _baseline_readings(series: Series, settings: MonitorSettings) -> Sequence[Reading] | None:
    """Those with a value that make the baseline, once it is full."""
    known = [reading for reading in series if reading.value is not None]
    if settings.baseline_steps is None:
        return known[: settings.baseline] if len(known) >= settings.baseline else None
    first, last = settings.baseline_steps
    inside = [reading for reading in known if first <= reading.step <= last]
    full = bool(series) and series[-1].step >= last
    return inside if full and len(inside) >= SMALLEST_BASELINE else None


def _share_error(readings: Sequence[Reading], mean: float) -> float:
    """The standard error of a reading in 0..1 by Laplace's rule of succession.

    A share of n rollouts has the variance p (1 - p) / n, other quantities in 0..1 have the part of it that the
    readings' own errors show. Where cases are rare their number is far from Gaussian: the error is never less than half
    of what one case adds to a reading.
    """
    most = sum(reading.value * (1 - reading.value) for reading in readings if reading.value is not None)
    own = sum(reading.count * reading.error**2 for reading in readings if reading.error is not None)
    part = min(1.0, own / most) if most > 0 else 1.0
    rollouts = sum(reading.count for reading in readings)
    chance = (mean * rollouts + 1) / (rollouts + 2)
    size = max(rollouts, 1) / len(readings)
    return max(sqrt(part * chance * (1 - chance) / size), part / 2 / size)


def _trend(series: Series, baseline: Baseline, signal: Signal, direction: Direction, limit: float) -> Alarm | None:
    """The alarm of a baseline that moves in one direction."""
    known = [r for r in series if r.value is not None and baseline.first <= r.step <= baseline.last]
    values = [reading.value for reading in known if reading.value is not None]
    middle = (len(values) - 1) / 2
    squares = sum((place - middle) ** 2 for place in range(len(values)))
    slope = sum((place - middle) * value for place, value in enumerate(values)) / squares
    rest = sum((value - baseline.mean - slope * (place - middle)) ** 2 for place, value in enumerate(values))
    spread = max(sqrt(rest / (len(values) - 2)), baseline.error, baseline.smallest / 2, _DUST)
    half = len(values) // 2
    before, after = _mean(known[:half]), _mean(known[-half:])
    sign = 1.0 if direction == "up" else -1.0
    if sign * slope * sqrt(squares) / spread <= limit or sign * (after - before) < baseline.smallest:
        return None
    return Alarm(
        signal=signal,
        direction=direction,
        began=baseline.first,
        raised=baseline.last,
        baseline=before,
        value=after,
        sigmas=(after - before) / spread,
        detail=f"{TREND}{'; ' if known[-1].detail else ''}{known[-1].detail}",
    )


def _scan(
    readings: Sequence[Reading],
    baseline: Baseline,
    signal: Signal,
    direction: Direction,
    limit: float,
    armed: bool,
) -> list[Alarm]:
    """Alarms of one direction; `readings` have values and come after the baseline."""
    sign = 1.0 if direction == "up" else -1.0
    clipped = [min(max(sign * baseline.deviation(reading), -CLIP), CLIP) for reading in readings]
    sums = [0.0, *accumulate(clipped)]

    def statistic(start: int, end: int) -> float:
        count = end - start
        return (sums[end] - sums[start]) / count / sqrt(1 / count + 1 / baseline.readings)

    alarms: list[Alarm] = []
    start = 0
    for end in range(1, len(readings) + 1):
        if not armed:
            armed = (
                end - start >= CALM_READINGS and (sums[end] - sums[end - CALM_READINGS]) < CALM_LEVEL * CALM_READINGS
            )
            start = end if armed else start
            continue
        if max((statistic(end - count, end) for count in WINDOWS if count <= end - start), default=0.0) <= limit:
            continue
        began = max(range(start, end - 1), key=lambda first: statistic(first, end))
        value = _mean(readings[began:end])
        if abs(value - baseline.mean) < baseline.smallest:
            continue
        alarms.append(
            Alarm(
                signal=signal,
                direction=direction,
                began=readings[began].step,
                raised=readings[end - 1].step,
                baseline=baseline.mean,
                value=value,
                sigmas=(value - baseline.mean) / baseline.spread,
                detail=readings[end - 1].detail,
            )
        )
        start, armed = end, False
    return alarms


def _mean(readings: Sequence[Reading]) -> float:
    return sum(reading.value for reading in readings if reading.value is not None) / len(readings)


@dataclass(frozen=True, slots=True)
class _Table:
    """`quantiles[baseline][steps]` and `trends[baseline]` have one threshold for each of `chances`, which fall."""

    chances: tuple[float, ...]
    quantiles: Mapping[int, Mapping[int, tuple[float, ...]]]
    trends: Mapping[int, tuple[float, ...]]


def _at(chance: float, chances: Sequence[float], heights: Sequence[float]) -> float:
    if chance >= chances[0]:
        return heights[0]
    for left, right, low, high in zip(chances, chances[1:], heights, heights[1:], strict=False):
        if chance >= right:
            part = (log(left) - log(chance)) / (log(left) - log(right))
            return low + part * (high - low)
    return heights[-1]


@cache
def _table() -> _Table:
    raw = json.loads(resources.files("maxproof.monitor").joinpath("alarm_thresholds.json").read_text("utf-8"))
    return _Table(
        tuple(raw["chances"]),
        {
            int(size): {int(steps): tuple(heights) for steps, heights in rows.items()}
            for size, rows in raw["quantiles"].items()
        },
        {int(size): tuple(heights) for size, heights in raw["trends"].items()},
    )
