"""Every number of the training kit. What the paper leaves undisclosed has our default and says so."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, model_validator


class ModelShape(BaseModel):
    """A decoder-only transformer in the shape of Llama: RMSNorm, rotary positions, SwiGLU, no biases."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    layers: int = Field(4, ge=1)
    width: int = Field(128, ge=8, description="of the residual stream; a multiple of heads")
    heads: int = Field(4, ge=1)
    kv_heads: int = Field(1, ge=1, description="key-value heads; fewer make the cache smaller and decoding faster")
    hidden: int = Field(352, ge=8, description="of the feed-forward part")
    context: int = Field(384, ge=16, description="tokens, prompt and answer together")
    tied: bool = Field(True, description="output and input embeddings are one matrix")


class SamplingSettings(BaseModel):
    """How rollouts are drawn."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    temperature: float = Field(1.0, ge=0, description="0 is greedy")
    top_p: float = Field(1.0, gt=0, le=1, description="1 in RL: what is trained is what was sampled")
    max_new_tokens: int = Field(128, ge=1)
    batch: int = Field(256, ge=1, description="sequences decoded at once")


class SftSettings(BaseModel):
    """Supervised training on (prompt, answer) pairs; the loss is on answers."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    steps: int = Field(1000, ge=1)
    batch: int = Field(64, ge=1)
    learning_rate: float = Field(2e-3, gt=0)
    matrix_learning_rate: float | None = Field(
        None, gt=0, description="of Muon (Jordan et al. 2024) on the hidden matrices; none: AdamW on all of them"
    )
    warmup: int = Field(50, ge=0, description="steps of linear warm-up; then cosine to a tenth")
    weight_decay: float = Field(0.01, ge=0)
    clip_norm: float = Field(1.0, gt=0)
    save_every: int = Field(200, ge=1, description="steps between checkpoints")


class CispoSettings(BaseModel):
    """Proof RL (MaxProof section 2.3). The paper discloses none of these numbers; the defaults are ours.

    `weight_low` and `weight_high` are the absolute interval that the importance weight is clipped to: never an offset
    from 1. CISPO's origin (MiniMax-M1, arXiv 2506.13585) has no effective lower bound.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    steps: int = Field(60, ge=1)
    prompts: int = Field(16, ge=1, description="problems a step")
    group: int = Field(8, ge=2, description="G, rollouts a problem; 1 has no spread and is refused")
    std_threshold: float = Field(
        0.05, ge=0, description="tau: a group is used iff its population std exceeds it; rewards are 0..1"
    )
    epsilon: float = Field(1e-6, gt=0, description="added to the std")
    weight_low: float = Field(0.0, ge=0)
    weight_high: float = Field(5.0, gt=0)
    minibatches: int = Field(2, ge=1, description="optimiser steps a batch; with 1 the weight is always 1")
    learning_rate: float = Field(3e-4, gt=0)
    clip_norm: float = Field(1.0, gt=0)
    max_empty_batches: int = Field(10, ge=1, description="batches in a row without a usable group that stop the run")
    save_every: int = Field(20, ge=1, description="steps between checkpoints")
    seed: int = Field(0, ge=0)
    sampling: SamplingSettings = Field(default_factory=lambda: SamplingSettings())

    @model_validator(mode="after")
    def _interval(self) -> CispoSettings:
        if self.weight_low >= self.weight_high:
            raise ValueError(f"weight_low = {self.weight_low} is not below weight_high = {self.weight_high}")
        return self
