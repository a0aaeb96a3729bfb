"""The report's last section: how to have the same again, and what it costs in time and memory."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from maxproof.evaluation.lab.profile import is_built_in
from maxproof.evaluation.lab.results import LabResults
from maxproof.evaluation.lab.stages import Result
from maxproof.report.blocks import Block, Code, Section, Table, Text

SPEEDS = {"sft": "base, supervised", "rl_sampling": "RL, sampling", "rl_training": "RL, training"}


def reproduce_section(results: LabResults) -> Section:
    """Command, versions, sizes, times, memory, speed."""
    profile = results.profile
    versions = ", ".join(f"{name} {number}" for name, number in results.versions.items())
    blocks: list[Block] = [
        Code(f"maxproof lab run --profile {profile.name} --seed {profile.seed} --out FOLDER")
        if is_built_in(profile)
        else Text("The profile is none of the built-in ones: run_lab(FOLDER, profile, ...) with what stands below."),
        Text(f"Versions: {versions}."),
        Text(
            f"Wall time, from the first start to the last end, pauses included: {wall_time(results.results.values())}."
        ),
        _costs(results),
        _speeds(results.results.get("base", {})),
        Code(json.dumps(profile.model_dump(mode="json"), indent=1)),
    ]
    if results.waiting:
        blocks.insert(0, Text(f"Not done yet: {', '.join(results.waiting)}."))
    return Section("Reproduce", tuple(blocks))


def wall_time(stages: Iterable[Result]) -> str:
    """Of the stages that are done; "-" where one of them does not say when it began and ended."""
    times = [(stage.get("started"), stage.get("ended")) for stage in stages]
    starts = [started for started, _ in times if started is not None]
    ends = [ended for _, ended in times if ended is not None]
    if not times or len(starts) < len(times) or len(ends) < len(times):
        return "-"
    return f"{max(ends) - min(starts):.0f} s"


def _costs(results: LabResults) -> Table:
    rows = [(name, f"{r['seconds']:.0f}", _peak(r)) for name, r in results.results.items()]
    total = sum(float(r["seconds"]) for r in results.results.values())
    peaks = [r["peak_mib"] for r in results.results.values() if "peak_mib" in r]
    highest = str(max(peaks)) if peaks and len(peaks) == len(rows) else "-"
    return Table(
        ("stage", "seconds", "peak memory, MiB"),
        (*rows, ("all, one thread each", f"{total:.0f}", highest)),
        "Resident memory of the stage's process; a process runs several stages, so a stage that did not raise its peak "
        "had at most that. In the last row the sum of seconds, and the highest peak of one process.",
    )


def _peak(result: Result) -> str:
    peak = result.get("peak_mib")
    if peak is None:
        return "-"
    return str(peak) if peak > result["peak_mib_before"] else f"at most {peak}"


def _speeds(base: Result) -> Table:
    found: dict[str, Any] = base.get("speed", {})
    measured = found.get("tokens_per_s", {})
    note = ""
    if found:
        note = (
            "A probe of seconds on one thread at the end of the base stage, beside whatever else ran; the bound is "
            f"{found['gflops']:g} GFLOP/s of a matrix product over the operations that a token costs."
        )
    return Table(
        ("tokens a second", "measured", "bound by arithmetic", "of the bound"),
        tuple((name, *_speed(measured.get(key))) for key, name in SPEEDS.items()),
        note,
    )


def _speed(found: dict[str, float] | None) -> tuple[str, str, str]:
    if found is None:
        return "not measured", "-", "-"
    return f"{found['measured']:,.0f}", f"{found['bound']:,.0f}", f"{found['measured'] / found['bound']:.0%}"
