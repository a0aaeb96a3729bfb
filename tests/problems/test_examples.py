"""The shipped examples load, and each proof belongs to a shipped problem."""

from __future__ import annotations

from pathlib import Path

import pytest

from maxproof.cli.config import load_config
from maxproof.problems import load_problem, load_problems, read_proof

EXAMPLES = Path(__file__).parents[2] / "examples"
FILES = sorted(path for path in EXAMPLES.iterdir() if path.suffix in (".md", ".jsonl"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_example_loads(path: Path) -> None:
    problems = list(load_problems(path))
    assert problems
    assert all(problem.domain and problem.level for problem in problems)


def test_the_graded_example_has_all_that_its_proofs_need() -> None:
    problem = load_problem(EXAMPLES / "acquaintances.md")
    assert problem.reference
    assert problem.rubric
    right, flawed = (read_proof(EXAMPLES / "proofs" / f"{problem.id}-{kind}.md") for kind in ("right", "flawed"))
    assert right != flawed


def test_the_settings_for_the_embedded_model_load() -> None:
    settings = load_config(
        EXAMPLES / "embedded.toml",
        effort="quick",
        overrides={"endpoints.default.base_url": "local:smollm2"},
        environ={},
    )
    assert all(role.max_tokens <= 1024 for name, role in settings.roles.items() if name != "normaliser")
