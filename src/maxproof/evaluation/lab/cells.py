"""Numbers of the lab report as short texts, each rate with its 95 % interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from statistics import mean
from typing import Any

from maxproof.evaluation.lab.profile import LabProfile
from maxproof.lab.domains import DOMAINS
from maxproof.report.blocks import Table, Text
from maxproof.statistics import wilson

NOT_YET = Text("Not measured yet: the stages that this section needs are not done.")
BOOTSTRAPS = 2000


def rate(found: Mapping[str, Any] | None) -> str:
    """A rate with its interval; `Rate` has counts, `MeanRate` a value. "-" for None and for a rate of nothing."""
    if found is None or found.get("total") == 0:
        return "-"
    value = found["successes"] / found["total"] if "total" in found else found["value"]
    return f"{value:.1%} [{found['low']:.1%}, {found['high']:.1%}]"


def counted(successes: int, total: int) -> str:
    """A rate from its counts."""
    found = wilson(successes, total)
    return rate({"successes": successes, "total": total, "low": found.low, "high": found.high})


def figure(found: Mapping[str, Any]) -> str:
    """A `MeanRate` that is no share of anything, such as R."""
    return f"{found['value']:.3f} [{found['low']:.3f}, {found['high']:.3f}]"


def points(values: Sequence[float]) -> str:
    """A mean of points 0..7 over problems."""
    low, high = interval(values, 7.0)
    return f"{mean(values):.2f} [{max(0.0, low):.2f}, {high:.2f}]"


def difference(values: Sequence[float]) -> str:
    """A mean of paired differences in [-1, 1] over problems."""
    low, high = interval(values)
    return f"{mean(values):+.1%} [{low:+.1%}, {high:+.1%}]"


def interval(values: Sequence[float], scale: float = 1.0) -> tuple[float, float]:
    """95 % percentile bootstrap interval of a mean over problems (Efron, Ann. Stat. 7, 1979); seeded.

    Where all values are the same, their spread says nothing: the interval is then as wide as Wilson's for none of as
    many, times `scale`, the largest size of a value.

    Raises ValueError for no values.
    """
    if not values:
        raise ValueError("no values")
    if min(values) == max(values):
        width = wilson(0, len(values)).high * scale
        return max(-scale, values[0] - width), min(scale, values[0] + width)
    rng = Random(0)
    means = sorted(mean(rng.choices(values, k=len(values))) for _ in range(BOOTSTRAPS))
    return means[int(0.025 * BOOTSTRAPS)], means[int(0.975 * BOOTSTRAPS) - 1]


def judgement(values: Sequence[float]) -> str:
    """Whether a claim that paired differences are positive holds: by the whole interval, not by the mean alone."""
    low, _ = interval(values)
    return "holds" if low > 0 else "not shown: the interval holds 0" if mean(values) > 0 else "does NOT hold"


def claims(*rows: tuple[str, str]) -> Table:
    """Claims, and what became of them here."""
    return Table(("claim", "here"), rows)


def world(profile: LabProfile) -> str:
    """Which problems the study is about, in words."""
    levels = f"level{'s' if len(profile.levels) > 1 else ''} {', '.join(map(str, profile.levels))}"
    domains = profile.domains or tuple(DOMAINS)
    return f"{levels} of the domain{'s' if len(domains) > 1 else ''} {', '.join(domains)}"


def in_most(held: Sequence[bool], planned: int) -> str:
    """What became of a claim about most seeds, `planned` of which the study has."""
    if not held:
        return "not measured yet"
    said = "holds" if 2 * sum(held) > len(held) else "does NOT hold"
    seeds = f"{sum(held)} of {len(held)} seeds"
    return f"{said} ({seeds})" if len(held) == planned else f"so far {said} ({seeds}, {planned} planned)"
