"""What the lab report says: its sections, from what was measured. Numbers only; nothing is interpreted twice.

Whether a published claim holds here is decided by a rule that is written beside it, before the numbers are known.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from typing import Any

from maxproof.evaluation.lab.cells import NOT_YET, claims, difference, figure, judgement, rate, world
from maxproof.evaluation.lab.hacking_section import hacking_section
from maxproof.evaluation.lab.merging import trades
from maxproof.evaluation.lab.pipeline import PROVER
from maxproof.evaluation.lab.reproduce_section import reproduce_section
from maxproof.evaluation.lab.results import LabResults
from maxproof.evaluation.lab.search_section import search_sections
from maxproof.report.blocks import Block, Section, Table, Text
from maxproof.statistics import pass_at_k


def all_sections(results: LabResults) -> tuple[Section, ...]:
    """The report's sections; those whose stages are not done say so."""
    return (
        hacking_section(results),
        provers_section(results),
        verifier_section(results),
        fixer_section(results),
        merge_section(results),
        *search_sections(results),
        tried_section(),
        reproduce_section(results),
    )


def provers_section(results: LabResults) -> Section:
    """Every model as a prover, greedy and sampled side by side."""
    named = {name.removeprefix("measure-"): r for name, r in results.results.items() if name.startswith("measure-")}
    if not named:
        return Section("Provers", (NOT_YET,))
    named = dict(sorted(named.items(), key=lambda pair: pair[0] != "base"))
    ks = sorted({int(k) for r in named.values() for k in r["best_at"]})
    rows = tuple(
        (
            name,
            rate(r["greedy"]),
            *(rate(r["best_at"][str(k)]) for k in ks),
            f"{r['greedy_points']:.2f}",
            f"{r['sampled_points']:.2f}",
        )
        for name, r in named.items()
    )
    first = next(iter(named.values()))
    techniques = tuple(
        (technique, str(first["by_technique"][technique][0]), *(_technique(r, technique) for r in named.values()))
        for technique in first["by_technique"]
    )
    blocks: list[Block] = [
        Text(
            f"{first['problems']} held-out problems, {world(results.profile)} (test split: shapes not seen in "
            f"training), {first['samples']} samples each at temperature 1, graded by the exact oracle; a pass is 7 "
            f"points. The proof expert is {PROVER}. Each model, here and in the sections below, is one training run: "
            "intervals are over problems and don't say what another seed of training would give."
        ),
        Table(
            ("model", "greedy pass@1", *(f"best@{k}" for k in ks), "greedy points", "sampled points"),
            rows,
            "best@1 is the sampled pass@1. 95 % intervals over problems.",
        ),
    ]
    if "base" in named and len(named) > 1:
        blocks += _against_base(named, ks[-1])
    blocks.append(
        Table(
            ("technique", "problems", *named),
            techniques,
            "By technique: greedy passes / sampled pass@1 in percent / problems with any pass.",
        )
    )
    return Section("Provers", tuple(blocks))


def _against_base(named: Mapping[str, Mapping[str, Any]], k: int) -> list[Block]:
    base = named["base"]
    gains = {name: _gains(r, base, k) for name, r in named.items() if name != "base"}
    blocks: list[Block] = [
        Table(
            ("model - base", "greedy pass@1", "sampled pass@1", f"best@{k}"),
            tuple((name, *map(difference, found)) for name, found in gains.items()),
            "The same problems: paired differences, with 95 % bootstrap intervals over problems.",
        )
    ]
    if PROVER in gains:
        greedy, sampled, best = map(judgement, gains[PROVER])
        blocks.append(
            claims(
                ("The proof expert proves more than its start, greedy", greedy),
                ("The proof expert proves more than its start, one sample", sampled),
                (f"The proof expert proves more than its start, best of {k} samples", best),
            )
        )
    return blocks


def _gains(model: Mapping[str, Any], base: Mapping[str, Any], k: int) -> tuple[list[float], ...]:
    """Paired differences by problem: greedy, sampled pass@1, best@k."""
    pairs = list(zip(model["passes_by_problem"], base["passes_by_problem"], strict=True))
    samples = model["samples"], base["samples"]
    return (
        [float(a - b) for a, b in zip(model["greedy_by_problem"], base["greedy_by_problem"], strict=True)],
        [a / samples[0] - b / samples[1] for a, b in pairs],
        [pass_at_k(samples[0], a, k) - pass_at_k(samples[1], b, k) for a, b in pairs],
    )


def verifier_section(results: LabResults) -> Section:
    """The verifier expert against its start."""
    result = results.results.get("verifier")
    if result is None:
        return Section("Verifier expert", (NOT_YET,))
    rows = []
    for name in ("base", "warm_up", "expert"):
        for decoding in ("greedy", "sampled"):
            r = result[name][decoding]
            judge, oracle = r["by_judge"], r["by_oracle"]
            rows.append(
                (
                    f"{name.replace('_', '-')}, {decoding}",
                    *(figure(r[key]) for key in ("reward", "r_error", "r_verdict")),
                    *(rate(judge[key]) for key in ("accuracy", "false_positives", "false_negatives")),
                    *(rate(oracle[key]) if oracle else "-" for key in ("false_positives", "false_negatives")),
                    rate(r["unreadable"]),
                )
            )
    panel = result["expert"]["judge_by_oracle"]
    return Section(
        "Verifier expert",
        (
            Text(
                f"Trained on {result['examples']} harvested critiques of the deciding judge, measured on "
                f"{result['expert']['examples']} proofs of held-out problems. R = 0.7 R_error + 0.3 R_verdict; R_error "
                "is half for where the errors are and half for what they are, R_verdict falls with the distance of the "
                "verdicts. A false positive (FP) passes what the reference does not pass, a false negative (FN) faults "
                "what it passes: read R beside both. The panel is the four-layer verifier with its three lab judges; "
                "the min judge is the one of them that gave the lowest score."
            ),
            Table(
                (
                    "verifier", "R", "R_error", "R_verdict", "verdict accuracy", "FP vs min judge", "FN vs min judge",
                    "FP vs oracle", "FN vs oracle", "unreadable",
                ),
                tuple(rows),
                "The panel itself against the oracle: false positives "
                f"{rate(panel['false_positives'])}, false negatives {rate(panel['false_negatives'])}."
                if panel
                else "",
            ),
            claims(
                *(
                    (
                        f"The verifier expert's R is above its start's, {decoding}",
                        _apart(result["expert"][decoding]["reward"], result["base"][decoding]["reward"]),
                    )
                    for decoding in ("greedy", "sampled")
                )
            ),
        ),
    )  # fmt: skip


def fixer_section(results: LabResults) -> Section:
    """The fixer expert against its start."""
    result = results.results.get("fixer")
    if result is None:
        return Section("Fixer expert", (NOT_YET,))
    counts = result["counts"]
    rows = tuple(
        (
            {"base": "base", "prover": "proof expert", "expert": "fixer expert"}[name],
            rate(result[name]["greedy"]["right"]),
            rate(result[name]["sampled"]["right"]),
            rate(result[name]["sampled"]["any_right"]),
            rate(result[name]["sampled"]["accepted"]),
            rate(result[name]["sampled"]["wrongly_accepted"]),
        )
        for name in ("base", "prover", "expert")
    )
    return Section(
        "Fixer expert",
        (
            Text(
                f"{counts['corrections']} corrections of {counts['triples']} flawed proofs were sampled from the proof "
                f"expert; {counts['repairs']} were accepted by the panel (no_errors only) and trained on. Measured on "
                f"{result['expert']['triples']} flawed proofs of held-out problems."
            ),
            Table(
                (
                    "model", "greedy repair, oracle", "sampled repair, oracle", f"any of {result['expert']['samples']}",
                    "accepted by the panel", "of those, wrong",
                ),
                rows,
                "95 % intervals over problems; of what is wrong, over accepted corrections.",
            ),
            claims(
                *(
                    (
                        f"The fixer expert repairs more than its start, {decoding}",
                        _apart(result["expert"][decoding]["right"], result["base"][decoding]["right"]),
                    )
                    for decoding in ("greedy", "sampled")
                )
            ),
        ),
    )  # fmt: skip


def merge_section(results: LabResults) -> Section:
    """All merge methods against the experts."""
    result = results.results.get("merge")
    if result is None:
        return Section("Merge", (NOT_YET,))
    measured: Mapping[str, Any] = result["measured"]
    start = trades(measured["base"])
    best = {trade: trades(measured[trade])[trade] for trade in start}
    merged = trades(measured[f"merged, {result['chosen']['method']}"])
    rows = tuple(
        (name, *_trade_cells(figures), *(_kept(trades(figures)[t], start[t], best[t]) for t in start))
        for name, figures in measured.items()
    )
    tries = tuple((_settings(t["settings"]), f"{t['score']:.3f}", *_trade_cells(t)) for t in result["tries"])
    headers = ("prover pass@1", "verifier R", "fixer success")
    return Section(
        "Merge",
        (
            Text(
                "Settings of each method were chosen on the validation split by the mean of the three figures (prover "
                "and fixer by the oracle, R against the deciding judge), and "
                f"measured on held-out problems. Merged is: {_settings(result['chosen'])}. Kept: the share of "
                "the expert's gain over the base that the model has in that trade."
            ),
            Table(
                ("model", *headers, "prover kept", "verifier kept", "fixer kept"),
                rows,
                "95 % intervals over problems. Kept is a ratio of two such figures and as uncertain as both.",
            ),
            Table(("tried on validation", "score", *headers), tries),
            claims(
                *(
                    (
                        f"The merged model keeps at least half of the {trade} expert's gain, by point estimates",
                        _keeps_half(merged[trade], start[trade], best[trade]),
                    )
                    for trade in start
                )
            ),
        ),
    )


def tried_section() -> Section:
    """The record of settings that were tried while the lab was made."""
    text = (resources.files("maxproof.evaluation.lab") / "tried.md").read_text(encoding="utf-8")
    return Section("What was tried", tuple(Text(line) for line in text.split("\n\n") if line.strip()))


# --- cells ------------------------------------------------------------------------------------------------------------


def _technique(result: Mapping[str, Any], technique: str) -> str:
    found = result["by_technique"].get(technique)
    return "-" if found is None else f"{found[1]} / {found[2]:.0%} / {found[3]}"


def _trade_cells(figures: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        rate(figures["prover"]["best_at"]["1"]),
        figure(figures["verifier"]["reward"]),
        rate(figures["fixer"]["sampled"]["right"]),
    )


def _apart(expert: Mapping[str, Any], base: Mapping[str, Any]) -> str:
    """By intervals that do not touch: stricter than a paired test, which would need both by problem."""
    if expert["low"] > base["high"]:
        return "holds"
    return "not shown: the intervals overlap" if expert["value"] > base["value"] else "does NOT hold"


def _kept(value: float, start: float, best: float) -> str:
    return f"{(value - start) / (best - start):.0%}" if best > start else "no gain"


def _keeps_half(value: float, start: float, best: float) -> str:
    if best <= start:
        return "nothing to keep: the expert gained nothing"
    return "holds" if value - start >= 0.5 * (best - start) else "does NOT hold"


def _settings(settings: Mapping[str, Any]) -> str:
    weights = ", ".join(f"{weight:g}" for weight in settings["weights"])
    text = f"{settings['method']} ({weights})"
    if settings["method"] in ("ties", "dare_linear", "dare_ties"):
        text += f", density {settings['density']:g}"
    return text if settings["scale"] == 1 else f"{text}, scale {settings['scale']:g}"
