"""The rows that verl reads, from a file of problems: a parquet file whose `extra_info.problem_id` the reward needs.

    python examples/training/verl_rows.py problems.jsonl train.parquet

Then, with the server's host in place of HOST (docs/training-rewards.md has the whole path):

    maxproof reward serve --problems problems.jsonl --out rewards --host 0.0.0.0
    maxproof train config --trainer verl --model MODEL --data train.parquet --reward-url http://HOST:8300 --out run
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from datasets import Dataset

from maxproof.problems import Problem
from maxproof.problems.load import load_problems


def row(problem: Problem) -> dict[str, Any]:
    """One row. verl wants a ground truth; the judges have theirs from the server's own file, so it is empty."""
    return {
        "data_source": "maxproof",
        "prompt": [{"role": "user", "content": f"Prove the following, step by step.\n\n{problem.statement}"}],
        "ability": problem.domain or "mathematics",
        "reward_model": {"style": "rule", "ground_truth": ""},
        "extra_info": {"problem_id": problem.id},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problems", type=Path)
    parser.add_argument("parquet", type=Path)
    given = parser.parse_args()
    rows = [row(problem) for problem in load_problems(given.problems)]
    Dataset.from_list(rows).to_parquet(given.parquet)
    print(f"{len(rows)} rows in {given.parquet}")


if __name__ == "__main__":
    main()
