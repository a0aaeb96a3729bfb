"""What a formal run does: which methods, by which checker, within which limits."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from maxproof.formal.checkers.types import Limits
from maxproof.formal.guided.settings import GuidedSettings

MethodName = Literal["empty", "symbolic", "guided", "population"]
METHODS: tuple[MethodName, ...] = ("empty", "symbolic", "guided", "population")
MODEL_METHODS: frozenset[MethodName] = frozenset({"guided", "population"})


class LimitSettings(BaseModel):
    """What one check may spend."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    resource: int = Field(20_000_000, ge=1, description="solver resource units for each obligation (Z3 rlimit)")
    seconds: float = Field(10.0, gt=0, description="solver seconds for each obligation, where a checker takes them")
    wall_seconds: float = Field(60.0, gt=0, description="hard limit of a whole check")
    memory_mb: int = Field(2048, ge=256, description="memory of one solver process")

    def limits(self, seed: int = 0) -> Limits:
        return Limits(self.resource, self.seconds, self.wall_seconds, self.memory_mb, seed)


class FormalSettings(BaseModel):
    """All that shapes a formal run, beside the endpoints, roles, search and budget of `RunSettings`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    methods: tuple[MethodName, ...] = Field(("symbolic",), min_length=1, description="in the order in which they run")
    checker: str = Field("embedded", description="embedded, dafny, dafny-2.3 or dafny-4")
    confirm: str = Field("", description="a second checker that the symbolic prover's proofs should pass too")
    certify: bool = Field(False, description="re-check accepted solutions with an installed Dafny, in a fresh process")
    repeats: int = Field(1, ge=1, description="attempts of each method at a problem; the seeds are 0, 1, ...")
    first_success: bool = Field(False, description="a problem's later methods are left out once one was accepted")
    workers: int = Field(0, ge=0, description="checks at once; 0: one for each processor")
    learn: bool = Field(False, description="keep lemmas of accepted proofs in the learned library, and offer them")
    limits: LimitSettings = Field(default_factory=lambda: LimitSettings())
    guided: GuidedSettings = Field(default_factory=lambda: GuidedSettings())
