"""What a lab run has measured so far, read from its stages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from maxproof.evaluation.lab.pipeline import read_lab, read_versions, stages
from maxproof.evaluation.lab.profile import LabProfile
from maxproof.evaluation.lab.searches import OUTCOMES, read_outcomes
from maxproof.evaluation.lab.stages import Result, read_result, stage_folder


@dataclass(frozen=True, slots=True)
class LabResults:
    """Everything that is measured.

    Attributes:
        results: by stage, of those that are done.
        searches: one row for each problem of the comparison of searches, the merged model judging itself.
        panel_searches: the same with the panel as the verifier.
        versions: of the packages that the numbers depend on.
        waiting: names of the stages that are not done.
    """

    profile: LabProfile
    results: Mapping[str, Result]
    searches: tuple[Mapping[str, Any], ...]
    panel_searches: tuple[Mapping[str, Any], ...]
    versions: Mapping[str, str]
    waiting: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "profile": self.profile.model_dump(mode="json")}

    def arms(self, name: str) -> list[Result]:
        """The finished runs of one arm, by seed."""
        found = (self.results.get(f"{name}-{seed}") for seed in range(self.profile.rl_seeds))
        return [result for result in found if result is not None]


def read_results(run: Path) -> LabResults:
    """Raises InputError if there is no lab run, or a file of it is damaged."""
    profile = read_lab(run)
    planned = stages(profile)
    found = {stage.name: read_result(run, stage.name) for stage in planned}
    return LabResults(
        profile,
        {name: result for name, result in found.items() if result is not None},
        _outcomes(run, "search", profile),
        _outcomes(run, "panel-search", profile),
        read_versions(run),
        tuple(name for name, result in found.items() if result is None),
    )


def _outcomes(run: Path, stage: str, profile: LabProfile) -> tuple[Mapping[str, Any], ...]:
    rows = [
        row
        for shard in range(profile.search_shards)
        for row in read_outcomes(stage_folder(run, f"{stage}-{shard}") / OUTCOMES)
    ]
    return tuple(sorted(rows, key=lambda row: str(row["problem"])))
