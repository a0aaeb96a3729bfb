"""A verifier that is replayed: verdicts from a file, one a line, in place of judges that are asked.

    {"proof": "p1-a", "sample": 0, "judge": "rubric-1", "points": 7}
    {"proof": "p1-a", "sample": 0, "judge": "free", "verdict": "has_errors"}
    {"proof": "p1-b", "sample": 0, "judge": "free", "passed": true}
    {"proof": "p1-b", "sample": 1, "judge": "free", "points": null}           not scored
    {"proof": "p2-a", "sample": 0, "filtered": true}                           stopped by layer 1, no judge asked

`sample` is 0 where it is missing. A judge that has verdicts in the file but none for a sample of a proof is not scored
there. A calibration writes the verdicts that it got in this form (`verdicts.jsonl`), so it can be replayed anywhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import PydanticCustomError

from maxproof.evaluation.calibrate.style import styles_of
from maxproof.evaluation.calibrate.types import Graded, Judged, Sample
from maxproof.problems import InputError
from maxproof.problems.errors import Place, nearest
from maxproof.problems.text import read_lines
from maxproof.verifier.settings import PointsMap
from maxproof.verifier.types import MAX_POINTS, Verdict

MAX_LINE_BYTES = 1024 * 1024
MAX_SAMPLES = 1024
MAX_JUDGES = 64
"""The card has a row for every pair of them."""
MAX_NAME_CHARS = 200
RULES = ("min", "mean", "majority")
"""What the card calls its rules over the judges: no judge can have these names."""


class _Row(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    proof: str = Field(min_length=1)
    sample: int = Field(0, ge=0, lt=MAX_SAMPLES)
    judge: str = Field("", max_length=MAX_NAME_CHARS)
    points: float | None = Field(None, ge=0, le=MAX_POINTS)
    verdict: Verdict | None = None
    passed: bool | None = None
    filtered: bool = False

    @field_validator("points", mode="before")
    @classmethod
    def _no_truth(cls, value: object) -> object:
        """A yes or no is not one point or none."""
        if isinstance(value, bool):
            raise PydanticCustomError("points", "expected a number, not true or false (that is `passed`)")
        return value


def read_verdicts(path: Path, known: Iterable[str], points: PointsMap | None = None) -> dict[str, tuple[Sample, ...]]:
    """The samples of each proof, in their order.

    Args:
        known: the ids of the graded proofs.
        points: what a verdict is worth.

    Raises InputError with file, line and field: no JSON, an unknown proof, a judge that says two things of one sample,
    more than MAX_JUDGES judges, no verdict at all.
    """
    worth = points or PointsMap()
    proofs = set(known)
    found: dict[str, dict[int, dict[str, float | None] | None]] = {}
    judges: dict[str, None] = {}
    for number, line in read_lines(path, MAX_LINE_BYTES):
        if not line.strip():
            continue
        place = Place(path, number)
        try:
            row = _Row.model_validate_json(line.strip())
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            raise place.error(first["msg"], field=".".join(map(str, first["loc"])) or None) from None
        if row.proof not in proofs:
            raise place.error(f"no graded proof {row.proof[:100]!r}", field="proof", hint=nearest(row.proof, proofs))
        samples = found.setdefault(row.proof, {})
        if row.filtered:
            if samples.setdefault(row.sample, None) is not None:
                raise place.error("stopped by layer 1, but a judge has seen it", field="filtered")
            continue
        if not row.judge:
            raise place.error("names no judge", field="judge")
        if row.judge in RULES:
            raise place.error(f"{row.judge!r} is a rule over the judges, expected a judge's name", field="judge")
        views = samples.setdefault(row.sample, {})
        if views is None or row.judge in views:
            raise place.error(f"sample {row.sample} of {row.proof!r} has a verdict already", field="judge")
        views[row.judge] = _worth(row, worth)
        judges[row.judge] = None
        if len(judges) > MAX_JUDGES:
            raise place.error(f"more than {MAX_JUDGES} judges", field="judge")
    if not found:
        raise InputError("no verdict in the file", file=path)
    blank: dict[str, float | None] = dict.fromkeys(judges)
    return {
        proof: tuple(
            Sample({}, filtered=True) if views is None else Sample({**blank, **views})
            for _, views in sorted(samples.items())
        )
        for proof, samples in found.items()
    }


def _worth(row: _Row, points: PointsMap) -> float | None:
    if row.points is not None:
        return row.points
    if row.verdict is not None:
        return float(getattr(points, row.verdict.value))
    return None if row.passed is None else float(MAX_POINTS if row.passed else 0)


def verdicts_text(proofs: Sequence[Judged]) -> str:
    """The verdicts of judged proofs, as `read_verdicts` reads them."""
    rows: list[Mapping[str, object]] = []
    for proof in proofs:
        for index, sample in enumerate(proof.samples):
            if sample.filtered:
                rows.append({"proof": proof.id, "sample": index, "filtered": True})
            rows += [
                {"proof": proof.id, "sample": index, "judge": judge, "points": points}
                for judge, points in sample.points.items()
            ]
    return "".join(json.dumps(row) + "\n" for row in rows)


def judged(graded: Graded, samples: Sequence[Sample]) -> Judged:
    """A graded proof with its verifications."""
    return Judged(
        graded.id, graded.problem, graded.right, tuple(samples), len(graded.text),
        styles_of(graded.text) if graded.text else frozenset(), graded.label,
    )  # fmt: skip
