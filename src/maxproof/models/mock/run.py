"""The mock server as a command: plain options in, a listening server out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path

from maxproof.models.mock.faults import FaultPlan
from maxproof.models.mock.script import Replies, Script
from maxproof.models.mock.server import MockServer
from maxproof.models.mock.settings import Features, Latency
from maxproof.models.mock.simulate import SimulatedModel
from maxproof.problems.errors import InputError


async def run_mock(
    *,
    host: str = "127.0.0.1",
    port: int = 8080,
    seed: int = 0,
    quality: float = 0.6,
    false_positive: float = 0.0,
    false_negative: float = 0.0,
    judge_correlation: float = 0.0,
    format_drift: float = 0.0,
    refusal: float = 0.0,
    truncation: float = 0.0,
    proof_chars: int = 1500,
    reasoning_chars: int = 0,
    replies: Path | None = None,
    faults: Sequence[str] = (),
    latency_s: float = 0.0,
    latency_sigma: float = 0.5,
    stragglers: float = 0.0,
    max_concurrency: int | None = None,
    features: Features | None = None,
    ready: Callable[[str], None] = print,
) -> None:
    """Serves until cancelled; calls `ready` with the base URL once it listens.

    `quality` to `reasoning_chars` are those of `SimulatedModel`; `replies` is a file for `load_replies` that takes its
    place; `faults` are short forms (see `faults.py`); `latency_s` is the median, `stragglers` their share.
    Raises InputError for a wrong option or a port that can't be had.
    """
    for name, rate in (
        ("quality", quality),
        ("false-positive", false_positive),
        ("false-negative", false_negative),
        ("judge-correlation", judge_correlation),
        ("format-drift", format_drift),
        ("refusal", refusal),
        ("truncation", truncation),
        ("stragglers", stragglers),
    ):
        if not 0 <= rate <= 1:
            raise InputError(f"{rate} is not in 0..1", field=f"--{name}")
    if min(latency_s, latency_sigma) < 0:
        raise InputError("a latency can't be negative", field="--latency")
    script: Script = SimulatedModel(
        seed=seed,
        quality=quality,
        false_positive=false_positive,
        false_negative=false_negative,
        judge_correlation=judge_correlation,
        format_drift=format_drift,
        refusal=refusal,
        truncation=truncation,
        proof_chars=proof_chars,
        reasoning_chars=reasoning_chars,
    )
    if replies is not None:
        script = load_replies(replies)
    server = MockServer(
        script,
        faults=FaultPlan.parse(faults, seed),
        latency=Latency(latency_s, latency_sigma, straggler_share=stragglers, seed=seed),
        max_concurrency=max_concurrency,
        features=features or Features(),
        host=host,
        port=port,
    )
    async with server:
        ready(server.base_url)
        await asyncio.Event().wait()


def load_replies(file: Path) -> Replies:
    """Fixed replies from a JSON file: `{"verify": ["first reply", "second"], "default": "any other"}`.

    Keys are tasks (`generate`, `verify`, `normalise`, `summarise`, `patch`, `rewrite`, `rank`); replies are given in
    turn and the last is repeated. Raises InputError.
    """
    expected = 'expected an object such as {"verify": ["a reply"], "default": "another"}'
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror}", file=file) from error
    except json.JSONDecodeError as error:
        raise InputError(f"is no JSON: {error.msg}", file=file, line=error.lineno, hint=expected) from error
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8", file=file) from error
    if not isinstance(data, dict):
        raise InputError(expected, file=file)
    default = data.pop("default", "A reply.")
    tasks = ("generate", "verify", "normalise", "summarise", "patch", "rewrite", "rank")
    for task, texts in data.items():
        if task not in tasks:
            raise InputError(f"unknown task '{task}'; known: {', '.join(tasks)}, default", file=file)
        if not (isinstance(texts, list) and texts and all(isinstance(text, str) for text in texts)):
            raise InputError("expected a list of texts", file=file, field=task)
    if not isinstance(default, str):
        raise InputError("expected a text", file=file, field="default")
    return Replies(data, default)
