"""The first generation of a merged model: does it still say anything?"""

from __future__ import annotations

from pathlib import Path

from maxproof.problems.errors import InputError
from maxproof.training.merge.shards import read_json

_STATEMENT = "Solve 3 x + 4 = 10."


def smoke(folder: Path) -> str:
    """One greedy proof of a small lab problem by a checkpoint of ours, or why none was tried.

    Raises InputError, if the checkpoint doesn't load or its log-probabilities aren't finite.
    """
    meta = folder / "maxproof.json"
    content = read_json(meta) if meta.is_file() else None
    if not isinstance(content, dict) or "layout" not in content:
        return "not tried: only this project's own checkpoints are run here; load it where it will serve"
    import math

    from maxproof.lab.dialogue import prove_prompt
    from maxproof.training.checkpoint import load_checkpoint
    from maxproof.training.sampling import sample
    from maxproof.training.settings import SamplingSettings

    checkpoint = load_checkpoint(folder)
    settings = SamplingSettings(temperature=0, max_new_tokens=64)
    (answer,) = sample(checkpoint.model, checkpoint.tokenizer, [prove_prompt(_STATEMENT)], settings, [0])
    if not all(map(math.isfinite, answer.logprobs)):
        raise InputError("the merged model's log-probabilities are not finite", file=folder)
    text = checkpoint.tokenizer.decode(answer.ids)
    return f"{_STATEMENT} -> {text!r}"
