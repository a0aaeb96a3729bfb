"""What a merge is told."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Method = Literal["linear", "task_arithmetic", "ties", "dare_linear", "dare_ties"]


class MergeSettings(BaseModel):
    """How the experts are put together; `formulas.py` has the formula of each method.

    Weights are relative to each other in `linear`, `ties` and `dare_ties`, which average (`scale` sets the size of the
    step there); in `task_arithmetic` and `dare_linear` they are added up as they are.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    method: Method = "ties"
    weights: tuple[float, ...] = Field(min_length=1, description="one an expert, in their order")
    density: float = Field(0.5, gt=0, le=1, description="share of each task vector kept: ties, dare_*; per tensor")
    scale: float = Field(1.0, description="lambda: factor on the merged task vector; not for linear")
    seed: int = Field(0, ge=0, description="of what dare_* drops")

    @model_validator(mode="after")
    def _meaningful(self) -> MergeSettings:
        if self.method in ("linear", "ties", "dare_ties"):
            if min(self.weights) < 0:
                raise ValueError(f"{self.method} averages: weights are at least 0, got {min(self.weights):g}")
            if not sum(self.weights) > 0:
                raise ValueError(f"{self.method} averages: at least one weight is above 0")
        if self.method == "linear" and self.scale != 1.0:
            raise ValueError("linear has no task vector to scale: leave scale at 1")
        return self

    @property
    def uses_density(self) -> bool:
        return self.method in ("ties", "dare_linear", "dare_ties")
