"""How a model is asked for formal proofs."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class GuidedSettings(BaseModel):
    """How corrections go; the defaults are the published protocol's (miniF2F-Dafny, section 4)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    corrections: int = Field(3, ge=0, description="E, corrections of each attempt with the checker's messages")
    mode: Literal["conversation", "afresh"] = Field(
        "conversation", description="corrections go on in one conversation, or each starts from the last proof alone"
    )
    lemmas: int = Field(
        12, ge=0, description="lemmas of the library that are shown, the most relevant ones, and as many learned ones"
    )
