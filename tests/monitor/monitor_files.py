"""Files of rollouts for tests, and what is read of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from maxproof.monitor.fields import MAPS, parse_map
from maxproof.monitor.read import Batch, add_skipped, read_batches

OWN = MAPS["maxproof"]
GOOD: dict[str, Any] = {"problem": "p", "step": 1, "text": "We are given $x$.", "train_reward": 0.5}


def rows_of(batches: Sequence[Batch]) -> list[dict[str, Any]]:
    return [row for batch in batches for row in batch.frame.to_dicts()]


def skipped_of(batches: Sequence[Batch]) -> dict[str, tuple[int, str]]:
    total: dict[str, Any] = {}
    for batch in batches:
        add_skipped(total, batch.skipped)
    return {reason: (skipped.count, skipped.first) for reason, skipped in total.items()}


def written(path: Path, rows: Sequence[Any], end: str = "\n") -> Path:
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines) + end, encoding="utf-8", errors="surrogatepass")
    return path


def read(path: Path, *entries: str, base: str = "maxproof") -> list[Batch]:
    return list(read_batches([path], parse_map(entries, MAPS[base])))
