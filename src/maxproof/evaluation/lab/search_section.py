"""The report's section on the search: what each method returns at what cost, and which part brings how much."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

from maxproof.evaluation.lab.cells import NOT_YET, claims, counted, difference, judgement, points, world
from maxproof.evaluation.lab.results import LabResults
from maxproof.report.blocks import Section, Table, Text
from maxproof.verifier.types import MAX_POINTS

METHODS = {
    "best_of": "best-of-N and tournament, N as in the search",
    "best_of_equal": "best-of-N and tournament, equal budget",
    "maxproof": "MaxProof",
}

Row = Mapping[str, Any]
Part = tuple[str, str]
"""A method and what of it is graded; "" where a method has one thing only."""

PARTS: tuple[tuple[str, Part, Part], ...] = (
    ("best-of-N - one-shot: samples, verifier, tournament", ("best_of", "picked"), ("one_shot", "")),
    ("more samples: best-of-N at equal budget - best-of-N", ("best_of_equal", "picked"), ("best_of", "picked")),
    ("search - best-of-N", ("maxproof", "picked"), ("best_of", "picked")),
    ("search - best-of-N at equal budget", ("maxproof", "picked"), ("best_of_equal", "picked")),
    ("rounds, in the archive: search - best-of-N", ("maxproof", "best"), ("best_of", "best")),
    ("in the archive: search - best-of-N at equal budget", ("maxproof", "best"), ("best_of_equal", "best")),
    ("tournament - highest fitness, in the search", ("maxproof", "picked"), ("maxproof", "argmax")),
    (
        "tournament - highest fitness, best-of-N at equal budget",
        ("best_of_equal", "picked"),
        ("best_of_equal", "argmax"),
    ),
    ("lost in selection: returned - archive, in the search", ("maxproof", "picked"), ("maxproof", "best")),
)


def search_sections(results: LabResults) -> tuple[Section, Section]:
    """Claim 4, by problem: full points of what is returned, and of the best in the archive.

    Once with the merged model as its own verifier, once with the panel in that place, which tells what is lost by the
    verifier from what is lost by the search.
    """
    own = "the merged model plays every role"
    panel = "the merged model plays every role but the verifier's, which is the panel of the proof RL (new draws)"
    return (
        _section("Search", results, results.searches, own, "tokens", "prompts included"),
        _section(
            "Search with the panel as verifier", results, results.panel_searches, panel, "calls", "judges' included"
        ),
    )


def _section(title: str, results: LabResults, rows: Sequence[Row], roles: str, unit: str, included: str) -> Section:
    if not rows:
        return Section(title, (NOT_YET,))
    one_shot = [r["one_shot"] for r in rows]
    table: list[tuple[str, ...]] = [("one-shot", _passes(one_shot), "-", "-", points(one_shot), "1", "-")]
    for key, name in METHODS.items():
        table.append(
            (
                name,
                *(_passes([r[key][what] for r in rows]) for what in ("picked", "argmax", "best")),
                points([r[key]["picked"] for r in rows]),
                f"{mean(r[key]['calls'] for r in rows):.0f}",
                f"{mean(r[key]['prompt_tokens'] + r[key]['completion_tokens'] for r in rows):,.0f}",
            )
        )
    stops = Counter(str(r["maxproof"]["stop"]) for r in rows)
    return Section(
        title,
        (
            Text(
                f"{len(rows)} of {results.profile.search_problems} held-out problems, {world(results.profile)}; "
                f"graded by the exact oracle; {roles}. Equal budget: on each problem best-of-N "
                f"may spend the {unit} that the search spent there, {included}{_planned(rows)}; what it then leaves "
                "unspent is what lazy verification saved. The methods share their samples, so differences are paired."
            ),
            Table(
                (
                    "method", "returned passes", "highest fitness passes", "best in archive passes", "points",
                    "calls", "tokens",
                ),
                tuple(table),
                "Passes are 7 points of 7 by the oracle; 95 % intervals over problems. Calls and tokens are means over "
                "problems.",
            ),
            Table(
                ("part", "passes it adds"),
                tuple((name, difference(_differences(rows, *pair))) for name, *pair in PARTS),
                "Paired differences with 95 % bootstrap intervals. Returned, unless it says archive.",
            ),
            _by_round(rows),
            Table(
                ("what the search returned came from", "problems", "of them right"),
                _origins(rows),
            ),
            Text(f"The search ended by: {_counts(stops)}. It said `passed` of {_said(rows)}."),
            claims(
                (
                    "The search returns more right proofs than best-of-N with a tournament at equal budget",
                    judgement(_differences(rows, ("maxproof", "picked"), ("best_of_equal", "picked"))),
                ),
                (
                    "The search's archive holds a right proof more often than best-of-N's at equal budget",
                    judgement(_differences(rows, ("maxproof", "best"), ("best_of_equal", "best"))),
                ),
            ),
        ),
    )  # fmt: skip


def _by_round(rows: Sequence[Row]) -> Table:
    curves = [r["maxproof"]["best_by_round"] or [0.0] for r in rows]
    longest = max(map(len, curves))
    reached = [[curve[min(number, len(curve) - 1)] for curve in curves] for number in range(longest)]
    return Table(
        ("best in archive after round", *(str(number) for number in range(longest))),
        (("passes", *map(_passes, reached)), ("points", *map(points, reached))),
        "A search that has ended keeps its last value.",
    )


def _origins(rows: Sequence[Row]) -> tuple[tuple[str, ...], ...]:
    found: dict[str, list[float]] = {}
    for row in rows:
        found.setdefault(str(row["maxproof"].get("origin", "none")), []).append(row["maxproof"]["picked"])
    return tuple((name, str(len(values)), _passes(values)) for name, values in sorted(found.items()))


def _planned(rows: Sequence[Row]) -> str:
    """Nothing for outcomes that don't say it."""
    planned = [r["best_of_equal"].get("planned") for r in rows]
    return "" if None in planned else f": {mean(planned):.1f} candidates, in the mean"


def _said(rows: Sequence[Row]) -> str:
    said = [r["maxproof"] for r in rows if r["maxproof"].get("passed")]
    right = sum(r["picked"] == MAX_POINTS for r in said)
    return f"{len(said)} returned proofs, of which {right} are right by the oracle"


def _pass(points: float) -> float:
    return float(points == MAX_POINTS)


def _passes(values: Sequence[float]) -> str:
    return counted(sum(value == MAX_POINTS for value in values), len(values))


def _differences(rows: Sequence[Row], one: Part, other: Part) -> list[float]:
    return [_pass(_value(row, one)) - _pass(_value(row, other)) for row in rows]


def _value(row: Row, part: Part) -> float:
    method, what = part
    return float(row[method][what] if what else row[method])


def _counts(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.most_common())
