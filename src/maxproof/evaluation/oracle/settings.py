"""`[oracle]` of `maxproof.toml`: who grades, and how it is asked."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from maxproof.models.bindings import Binding, Bindings
from maxproof.models.settings import BudgetSettings, EndpointSettings
from maxproof.models.types import Sampling

ROLE = "oracle"
"""The role of the oracle's calls, and the name of its endpoint."""
OracleKind = Literal["judge", "lab", "grades", "none"]
Statistic = Literal["mean", "median"]


class OracleSettings(EndpointSettings):
    """An endpoint of the oracle's own."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    temperature: float = Field(1.0, ge=0, le=2, description="sampling temperature")
    top_p: float = Field(0.95, gt=0, le=1, description="nucleus sampling")
    max_tokens: int = Field(32768, ge=1, description="tokens an answer may have, thinking included")
    samples: int = Field(1, ge=1, le=64, description="times that each proof is graded")
    statistic: Statistic = Field("mean", description="how several samples make one grade")
    budget: BudgetSettings = Field(
        default_factory=lambda: BudgetSettings(),
        description="limits of the grading alone; [budget] limits the search",
    )

    def bindings(self, model: str = "") -> Bindings:
        """Who answers the role `oracle`; `model` is the server's where none is configured."""
        endpoint = EndpointSettings.model_validate(
            {name: getattr(self, name) for name in EndpointSettings.model_fields}
        )
        sampling = Sampling(self.temperature, self.top_p, self.max_tokens)
        return Bindings([Binding(ROLE, ROLE, endpoint, self.model or model, sampling)])
