"""The stated false-alarm rate, measured; `docs/monitor-alarms.md` has the larger study."""

from __future__ import annotations

import pytest

np = pytest.importorskip("numpy", reason="needs the extra monitor")
pytest.importorskip("polars", reason="needs the extra monitor")

from benchmarks.monitor_alarms import delays, false_alarm_rate  # noqa: E402
from benchmarks.monitor_calibration import LENGTHS, autoregressive, largest, trend  # noqa: E402
from benchmarks.monitor_null import KINDS  # noqa: E402

from maxproof.monitor.alarms import threshold, trend_threshold  # noqa: E402
from maxproof.monitor.settings import MonitorSettings  # noqa: E402


@pytest.mark.parametrize("kind", KINDS)
def test_runs_in_which_nothing_changes_stay_quiet(kind: str) -> None:
    assert false_alarm_rate(KINDS[kind], MonitorSettings(), 25, 7).low <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize("baseline", [10, 20, 50])
@pytest.mark.parametrize("kind", KINDS)
def test_the_false_alarm_rate_is_at_most_the_stated_one(kind: str, baseline: int) -> None:
    assert false_alarm_rate(KINDS[kind], MonitorSettings(baseline=baseline), 400, 8).low <= 0.05


def test_the_table_of_thresholds_is_what_a_simulation_gives() -> None:
    rng = np.random.default_rng(5)
    draws = autoregressive(rng, 4000, 20 + 200, 0.3)
    over = (largest(draws, 20, [200])[:, 0] > threshold(20, 200, 0.02)).mean()
    assert 200 in LENGTHS
    assert 0.012 <= over <= 0.029  # 0.02 with four standard errors
    assert 0.012 <= (trend(draws, 20) > trend_threshold(20, 0.02)).mean() <= 0.029


def test_a_change_of_five_spreads_is_found_within_twelve_steps() -> None:
    late, off = delays(5.0, 0, MonitorSettings(), 40, 9)
    assert all(delay is not None and delay <= 12 for delay in late)
    assert sum(abs(error) <= 2 for error in off) >= 36
