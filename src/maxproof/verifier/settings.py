"""The verifier's parameters: `[verifier]` of `maxproof.toml`."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from maxproof.models.template import MAX_BLOCK_CHARS


class BadCaseSettings(BaseModel):
    """Limits of layer 1. Each rule has its limits here; see `bad_case.py` for what they mean."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    min_chars: int = Field(10, ge=1, description="letters and digits that a proof has at least, characters")
    max_refusal_chars: int = Field(600, ge=0, description="a longer text is never called a refusal, characters")
    max_chars: int = Field(
        200_000, ge=1, le=MAX_BLOCK_CHARS, description="length budget of the visible proof, characters"
    )
    loop_min_words: int = Field(200, ge=20, description="shorter texts are never called a loop, words")
    loop_share: float = Field(
        0.6, gt=0, le=1, description="share of a text's words (or of its last loop_tail_words) inside repeated phrases"
    )
    loop_tail_words: int = Field(1000, ge=100, description="the end of a text that is looked at by itself, words")
    loop_phrase_words: int = Field(20, ge=2, le=1000, description="length of a phrase, words")
    loop_verbatim_repeats: int = Field(8, ge=2, description="a phrase said this often is repeated")
    loop_template_repeats: int = Field(
        40, ge=2, description="the same where the repetitions differ in numbers only, as in a long case by case check"
    )
    max_compression: float = Field(
        12, gt=1, description="length of the text over its zstd length (level 1); real proofs reach 3"
    )


class NormaliserSettings(BaseModel):
    """Layer 2."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    method: Literal["rule", "model", "none"] = "rule"


class JudgeSettings(BaseModel):
    """One judge of layer 3. `endpoint` and `model` default to those of the `judge` role."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")
    mode: Literal["rubric", "free"] = "free"
    endpoint: str | None = None
    model: str | None = None
    temperature: float | None = Field(None, ge=0, le=2)
    max_tokens: int | None = Field(None, ge=1)


def default_judges() -> tuple[JudgeSettings, ...]:
    """Two rubric-based judges and one rubric-free error finder (MaxProof section 2.2)."""
    return (
        JudgeSettings(name="rubric-1", mode="rubric"),
        JudgeSettings(name="rubric-2", mode="rubric"),
        JudgeSettings(name="free", mode="free"),
    )


class PointsMap(BaseModel):
    """Points of each verdict, 0..7, never rising. IMO-Bench's map for correct, almost, partial, incorrect."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    no_errors: float = Field(7.0, ge=7, le=7)
    minor_gaps: float = Field(6.0, ge=0, lt=7)
    has_errors: float = Field(1.0, ge=0, lt=7)
    fundamentally_wrong: float = Field(0.0, ge=0, lt=7)

    @model_validator(mode="after")
    def _ordered(self) -> PointsMap:
        if not self.minor_gaps >= self.has_errors >= self.fundamentally_wrong:
            raise ValueError("points must not rise from minor_gaps to has_errors to fundamentally_wrong")
        return self


class VerifierSettings(BaseModel):
    """All four layers."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    bad_case: BadCaseSettings = Field(default_factory=BadCaseSettings)
    normaliser: NormaliserSettings = Field(default_factory=NormaliserSettings)
    judges: tuple[JudgeSettings, ...] = Field(default_factory=default_judges, min_length=1)
    points: PointsMap = Field(default_factory=PointsMap)

    @model_validator(mode="after")
    def _distinct(self) -> VerifierSettings:
        names = [judge.name for judge in self.judges]
        if len(set(names)) != len(names):
            raise ValueError(f"judge names must differ, got {', '.join(names)}")
        return self
