"""Real model proofs of IMO 2025 problems, where the shared data is present."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

import pytest

DATA = Path(__file__).parents[3] / "shared" / "data" / "imo2025-transcripts.jsonl"

needs_transcripts = pytest.mark.skipif(not DATA.exists(), reason=f"{DATA.name} is not here")


@lru_cache(maxsize=1)
def real_proofs() -> tuple[str, ...]:
    """Every text of kind `proof`. All of them ended by themselves: none is empty or ends inside a formula or a word
    list; many say openly that they are partial, which is for judges to see, not for layer 1."""
    records = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    return tuple(record["text"] for record in records if record["kind"] == "proof")
