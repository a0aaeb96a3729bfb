"""Makes the graded proofs of this folder: right and spoilt proofs of problems of the lab, graded by its exact oracle.

python examples/calibrate/make_lab_proofs.py 60 0 examples/calibrate
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from random import Random

from maxproof.lab.generate import problems
from maxproof.lab.mutations import MUTATIONS, mutate
from maxproof.lab.oracle import grade
from maxproof.lab.style import StyleMix, render

MIX = StyleMix(task=0.3, given=0.3, headers=0.4, connectives=0.5, filler=0.4, verification=0.3)


def make(count: int, seed: int, folder: Path) -> None:
    """Two proofs of each of `count` problems: a right one and a spoilt one, both dressed at random."""
    rng = Random(seed)
    made = problems("validation", count, seed)
    rows = []
    for problem in made:
        claims = problem.question.solve(problem.technique)
        spoilt = None
        while spoilt is None:
            spoilt = mutate(problem.question, claims, rng.choice(list(MUTATIONS)), rng)
        for name, lines in (("right", claims), ("spoilt", spoilt)):
            text = render(lines, MIX.draw(rng), rng)
            points = grade(problem.question, text).points
            rows.append(
                {"id": f"{problem.problem.id}/{name}", "problem": problem.problem.id, "proof": text, "points": points}
            )
    _write(folder / "lab-problems.jsonl", [asdict(problem.problem) for problem in made])
    _write(folder / "lab-proofs.jsonl", rows)


def _write(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


if __name__ == "__main__":
    make(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
