"""The search's parameters, with the published defaults (MaxProof section 5), and all the settings of one run.

`fitness`, `offspring` and `summaries` are for ablations: what the search is worth without one of its parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from maxproof.models.settings import BudgetSettings, EndpointSettings, RoleSettings
from maxproof.search.types import Fitness
from maxproof.verifier.settings import VerifierSettings


class SearchSettings(BaseModel):
    """`[search]` of `maxproof.toml`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    candidates: int = Field(32, ge=1, description="N, initial candidates")
    verifications: int = Field(4, ge=1, description="K_verify, verifier samples per candidate")
    fitness: Fitness = Field(
        "min", description="how the samples make a fitness; mean and majority (the lower median) need lazy = false"
    )
    rounds: int = Field(10, ge=0, description="R, refinement rounds at most")
    parents: int = Field(4, ge=1, description="M, parents a round; each gets two offspring")
    offspring: Literal["both", "patch", "rewrite"] = Field(
        "both", description="a parent's two offspring: a PATCH and a REWRITE, or two of one kind"
    )
    summaries: bool = Field(True, description="summarise candidates and tell refiners the summaries of the others")
    stop_at_perfect: int = Field(2, ge=1, description="stop when this many candidates are at full fitness")
    finalists: int = Field(4, ge=1, description="candidates in the tournament")
    finalist_mode: Literal["top", "perfect"] = Field(
        "top", description="after an early stop: the top candidates, or only the perfect ones"
    )
    votes: int = Field(3, ge=1, description="K_ranker, votes per match; odd")
    diversity_prefix: int = Field(
        300, ge=1, description="candidates whose normalised texts share this many first characters are not both parents"
    )
    lazy: bool = Field(True, description="skip verifications that can't change a decision")
    seed: int = Field(0, ge=0, description="decides ties and sampling seeds")

    @model_validator(mode="after")
    def _consistent(self) -> SearchSettings:
        if self.parents > self.candidates:
            raise ValueError(
                f"parents = {self.parents} exceeds candidates = {self.candidates}: a round can't have more parents "
                "than there are candidates; lower parents or raise candidates"
            )
        if self.lazy and self.fitness != "min":
            raise ValueError(
                f'fitness = "{self.fitness}" with lazy = true: only a minimum can be known before all samples are in; '
                "set lazy = false"
            )
        if self.votes % 2 == 0:
            raise ValueError(f"votes = {self.votes} is even: a majority needs an odd number")
        return self


class RunSettings(BaseModel):
    """All the settings of one run, as `maxproof.toml` holds them; never a key."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    endpoints: Mapping[str, EndpointSettings] = Field(default_factory=dict, description="by name")
    roles: Mapping[str, RoleSettings] = Field(default_factory=dict, description="by role name")
    verifier: VerifierSettings = Field(default_factory=lambda: VerifierSettings())
    search: SearchSettings = Field(default_factory=lambda: SearchSettings())
    budget: BudgetSettings = Field(default_factory=lambda: BudgetSettings())
