"""Phrase lists: data files in `phrases/`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Phrases:
    hand_waving: tuple[str, ...]
    self_correction: tuple[str, ...]
    templates: tuple[tuple[str, str], ...]


def load_phrases(extra: Path | None = None) -> Phrases:
    """The shipped lists, and those of the folder `extra` on top. Raises InputError."""
    raise NotImplementedError
