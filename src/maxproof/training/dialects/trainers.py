"""The trainers that can be written for."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from maxproof.problems.errors import InputError, nearest
from maxproof.training.dialects.nemo_rl import to_nemo_rl
from maxproof.training.dialects.skyrl import to_skyrl
from maxproof.training.dialects.slime import to_slime
from maxproof.training.dialects.spec import CispoSpec, DialectConfig, Launch
from maxproof.training.dialects.swift import to_swift
from maxproof.training.dialects.trl import to_trl
from maxproof.training.dialects.verl import to_verl

Translate = Callable[[CispoSpec, Launch], DialectConfig]

TRAINERS: Mapping[str, Translate] = {
    "trl": to_trl,
    "verl": to_verl,
    "slime": to_slime,
    "nemo-rl": to_nemo_rl,
    "skyrl": to_skyrl,
    "ms-swift": to_swift,
}


def translator(trainer: str) -> Translate:
    """The translation for a trainer. Raises InputError."""
    if trainer not in TRAINERS:
        raise InputError(
            f"no trainer {trainer!r}; there are {', '.join(TRAINERS)}",
            field="--trainer",
            hint=nearest(trainer, TRAINERS) or None,
        )
    return TRAINERS[trainer]
