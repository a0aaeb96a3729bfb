"""How fast the mock server answers, and which parts of the OpenAI interface it has."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Literal

from maxproof.models.mock.script import MockRequest, draw_int


@dataclass(frozen=True, slots=True)
class Latency:
    """Seeded log-normal latencies with stragglers; 0 by default.

    A sample's latency is a function of (seed, request, sample), so it does not depend on the order of arrival.

    Attributes:
        median_s: median, seconds; 0 turns all latency off.
        sigma: standard deviation of the logarithm.
        straggler_share: share of samples, 0..1, that are stragglers.
        straggler_factor: a straggler takes this many times as long.
        task_factors: a factor for each task that is not 1, e.g. `{"summarise": 0.1}`.
        seed: of all draws.
    """

    median_s: float = 0.0
    sigma: float = 0.5
    straggler_share: float = 0.0
    straggler_factor: float = 10.0
    task_factors: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0

    def seconds(self, request: MockRequest) -> float:
        """The latency of one sample, seconds."""
        if self.median_s == 0:
            return 0.0
        random = Random(draw_int("latency", self.seed, request.key, request.sample))
        seconds = self.median_s * math.exp(self.sigma * random.gauss(0, 1))
        if random.random() < self.straggler_share:
            seconds *= self.straggler_factor
        return seconds * self.task_factors.get(request.task, 1.0)


@dataclass(frozen=True, slots=True)
class Features:
    """What this server supports. The default is a complete modern server without a key.

    Attributes:
        models: names under `/v1/models`; any name is accepted in a request.
        n: `supported`, `ignored` (one choice whatever is asked) or `refused` (400 for n > 1).
        usage: replies carry token counts.
        system_role: system messages are accepted; 400 otherwise.
        reasoning: where thinking goes: a message field, in-band `<think>` tags, or nowhere.
        seed: a `seed` is accepted; 400 otherwise.
        max_completion_tokens_only: `max_tokens` is refused with 400, as newer commercial models do.
        cached_tokens: usage reports the part of the prompt that earlier prompts began with.
        context_tokens: context length; a longer prompt or prompt + limit is refused with 400. None: no limit.
        api_key: the key that requests must carry; 401 otherwise. None: none needed.
    """

    models: tuple[str, ...] = ("mock",)
    n: Literal["supported", "ignored", "refused"] = "supported"
    usage: bool = True
    system_role: bool = True
    reasoning: Literal["reasoning_content", "reasoning", "think-tags", "none"] = "reasoning_content"
    seed: bool = True
    max_completion_tokens_only: bool = False
    cached_tokens: bool = False
    context_tokens: int | None = None
    api_key: str | None = None
