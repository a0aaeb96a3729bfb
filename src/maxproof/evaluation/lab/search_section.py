"""The report's section on the search: what each method returns at what cost, and which part brings how much."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from statistics import mean
from typing import Any

from maxproof.evaluation.lab.blocks import Section, Table, Text
from maxproof.evaluation.lab.results import LabResults
from maxproof.verifier.types import MAX_POINTS

METHODS = {
    "best_of": "best-of-N and tournament, N as in the search",
    "best_of_equal": "best-of-N and tournament, equal budget",
    "maxproof": "MaxProof",
}
BOOTSTRAPS = 2000

Row = Mapping[str, Any]


def search_section(results: LabResults) -> Section:
    """Claim 4, by problem: full points of what is returned, and of the best in the archive."""
    rows = results.searches
    if not rows:
        return Section("Search", (Text("Not measured yet: the stages that this section needs are not done."),))
    table: list[tuple[str, ...]] = [
        ("one-shot", _passes([r["one_shot"] for r in rows]), "-", "-", _points([r["one_shot"] for r in rows]), "1", "-")
    ]
    for key, name in METHODS.items():
        table.append(
            (
                name,
                *(_passes([r[key][what] for r in rows]) for what in ("picked", "argmax", "best")),
                _points([r[key]["picked"] for r in rows]),
                f"{mean(r[key]['calls'] for r in rows):.0f}",
                f"{mean(r[key]['prompt_tokens'] + r[key]['completion_tokens'] for r in rows):,.0f}",
            )
        )
    parts = (
        ("search - best-of-N as in the search", _difference(rows, "maxproof", "best_of")),
        ("search - best-of-N at equal budget", _difference(rows, "maxproof", "best_of_equal")),
        ("tournament - highest fitness, in the search", _own_difference(rows, "maxproof")),
        ("tournament - highest fitness, best-of-N", _own_difference(rows, "best_of_equal")),
    )
    low, _ = _interval([_pass(r["maxproof"]["picked"]) - _pass(r["best_of_equal"]["picked"]) for r in rows])
    ahead = mean(_pass(r["maxproof"]["picked"]) - _pass(r["best_of_equal"]["picked"]) for r in rows)
    origins = Counter(str(r["maxproof"].get("origin", "none")) for r in rows)
    stops = Counter(str(r["maxproof"]["stop"]) for r in rows)
    return Section(
        "Search",
        (
            Text(
                f"{len(rows)} held-out problems; the merged model plays every role; graded by the exact oracle. "
                "Equal budget: on each problem best-of-N may spend the tokens that the search spent there, prompts "
                "included. The methods share their samples, so differences are paired."
            ),
            Table(
                (
                    "method", "returned passes", "highest fitness passes", "best in archive passes", "points",
                    "calls", "tokens",
                ),
                tuple(table),
                "Passes are 7 points of 7 by the oracle; 95 % bootstrap intervals over problems.",
            ),
            Table(("part", "passes it adds"), parts, "Paired differences with 95 % bootstrap intervals."),
            _by_round(rows),
            Text(
                f"What the search returned came from: {_counts(origins)}. It ended by: {_counts(stops)}. It said "
                f"`passed` of {_said(rows)}."
            ),
            Table(
                ("claim", "here"),
                (
                    (
                        "The search returns more right proofs than best-of-N with a tournament at equal budget",
                        "holds" if low > 0 else ("not shown: the interval holds 0" if ahead > 0 else "does NOT hold"),
                    ),
                ),
            ),
        ),
    )  # fmt: skip


def _by_round(rows: Sequence[Row]) -> Table:
    longest = max((len(r["maxproof"]["best_by_round"]) for r in rows), default=0)
    values = []
    for number in range(longest):
        reached = [r["maxproof"]["best_by_round"] for r in rows if r["maxproof"]["best_by_round"]]
        values.append(mean(curve[min(number, len(curve) - 1)] for curve in reached))
    return Table(
        ("", *(f"round {number}" for number in range(longest))),
        (("mean best in archive, points", *(f"{value:.2f}" for value in values)),),
        "A search that has ended keeps its last value.",
    )


def _said(rows: Sequence[Row]) -> str:
    said = [r["maxproof"] for r in rows if r["maxproof"].get("passed")]
    right = sum(r["picked"] == MAX_POINTS for r in said)
    return f"{len(said)} returned proofs, of which {right} are right by the oracle"


def _pass(points: float) -> float:
    return float(points == MAX_POINTS)


def _passes(points: Sequence[float]) -> str:
    values = [_pass(value) for value in points]
    low, high = _interval(values)
    return f"{mean(values):.1%} [{low:.1%}, {high:.1%}]"


def _points(points: Sequence[float]) -> str:
    return f"{mean(points):.2f}"


def _difference(rows: Sequence[Row], one: str, other: str) -> str:
    return _signed([_pass(r[one]["picked"]) - _pass(r[other]["picked"]) for r in rows])


def _own_difference(rows: Sequence[Row], method: str) -> str:
    return _signed([_pass(r[method]["picked"]) - _pass(r[method]["argmax"]) for r in rows])


def _signed(values: Sequence[float]) -> str:
    low, high = _interval(values)
    return f"{mean(values):+.1%} [{low:+.1%}, {high:+.1%}]"


def _interval(values: Sequence[float]) -> tuple[float, float]:
    """95 % percentile bootstrap interval of the mean over problems (Efron, Ann. Stat. 7, 1979); seeded."""
    rng = Random(0)
    means = sorted(mean(rng.choices(values, k=len(values))) for _ in range(BOOTSTRAPS))
    return means[int(0.025 * BOOTSTRAPS)], means[int(0.975 * BOOTSTRAPS) - 1]


def _counts(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.most_common())
