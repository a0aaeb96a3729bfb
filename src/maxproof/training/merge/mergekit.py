"""The same merge in mergekit's language, for its further methods and for a second opinion. mergekit isn't imported.

Its YAML keys: `merge_method`, `base_model`, `models` with `weight` and `density`, and the methods' `normalize`,
`rescale` and `lambda`, all of whose defaults depend on the method, so all are written.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from maxproof.training.merge.settings import MergeSettings


def to_mergekit(base: str, experts: Sequence[str], settings: MergeSettings, *, out_dtype: str | None = None) -> str:
    """The text of the YAML file; run it with `mergekit-yaml FILE OUT`.

    Args:
        base, experts: folders or model names, as mergekit should find them.
        out_dtype: torch's name of the dtype to store, such as bfloat16; None leaves it to mergekit.
    """
    lines = [f"# {note}" for note in _notes(settings)]
    lines.append(f"merge_method: {settings.method}")
    if settings.method != "linear":
        lines.append(f"base_model: {json.dumps(base)}")
    lines.append("models:")
    for expert, weight in zip(experts, settings.weights, strict=True):
        lines += [f"  - model: {json.dumps(expert)}", "    parameters:", f"      weight: {weight}"]
        if settings.uses_density:
            lines.append(f"      density: {settings.density}")
    lines += ["parameters:", f"  normalize: {_yaml(settings.method in ('linear', 'ties', 'dare_ties'))}"]
    if settings.method != "linear":
        lines += [f"  rescale: {_yaml(settings.method.startswith('dare'))}", f"  lambda: {settings.scale}"]
    lines.append("dtype: float32")
    if out_dtype is not None:
        lines.append(f"out_dtype: {out_dtype}")
    return "\n".join(lines) + "\n"


def _notes(settings: MergeSettings) -> list[str]:
    if settings.method.startswith("dare"):
        return ["DARE is random: mergekit drops other elements than maxproof merge does, whatever the seed."]
    return []


def _yaml(value: bool) -> str:
    return "true" if value else "false"
