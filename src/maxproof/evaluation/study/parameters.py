"""The simulator's parameters: units, ranges, and where each default comes from.

Rates are probabilities in [0, 1]; correlations are those of normal latent errors; qualities are in standard deviations
of one sample's quality on one route. A default is marked *set in the lab* (docs/lab-judges.md), *measured in the lab*
(docs/lab-report.md), *fitted* (to the published points by round, docs/study.md) or *guess*.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, model_validator


class SimulatorSettings(BaseModel):
    """`simulator.*` of `maxproof study --set`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    # Prover
    skill: float = Field(1.44, ge=-10, le=10, description="mean quality of a fresh proof; full points above 0 (fitted)")
    difficulty_spread: float = Field(
        3.31, ge=0, le=10, description="standard deviation of difficulty between problems (fitted)"
    )
    routes: int = Field(6, ge=1, le=32, description="approaches to a problem (guess)")
    route_decay: float = Field(
        0.22, gt=0, le=1, description="how much less often each next approach is taken; 1: all alike (fitted)"
    )
    blocked: float = Field(0.28, ge=0, le=1, description="approaches that can't work: at most 1 point on them (fitted)")
    blocked_by_difficulty: float = Field(
        0.57, ge=0, le=1, description="share of difficulty in what blocks an approach (fitted)"
    )
    gap_width: float = Field(0.5, ge=0, le=10, description="quality below 0 at which gaps are minor: 6 points (guess)")
    error_width: float = Field(2.0, ge=0, le=10, description="further below, errors: 1 point; then 0 (guess)")

    # Refinement
    critique_right: float = Field(
        0.6, ge=0, le=1, description="a critique of a wrong proof names its real error (measured in the lab: R_error)"
    )
    patch_gap: float = Field(
        0.5,
        ge=0,
        le=1,
        description="PATCH closes a minor gap that is rightly named, unless it spoils the proof (guess)",
    )
    patch_error: float = Field(
        0.09,
        ge=0,
        le=0.5,
        description="PATCH mends an error that is rightly named, unless it spoils the proof; as often it leaves a "
        "minor gap, and as often it makes a fundamentally wrong proof one with errors "
        "(measured in the lab: 5.5 % of all repairs, of which 60 % have a right critique)",
    )
    patch_rho: float = Field(
        0.75,
        ge=0,
        le=1,
        description="correlation of what PATCHes make on one problem (measured in the lab: 4.5 to 5.5 % of repairs "
        "succeed, 10.4 to 11.5 % of four of one proof, which is a correlation of 0.75 to 0.8)",
    )
    damage: float = Field(0.1, ge=0, le=0.5, description="PATCH makes a proof one class worse (guess)")
    escape: float = Field(
        0.7,
        ge=0,
        le=1,
        description="REWRITE surely leaves its parent's approach; else it takes one as a first proof does (guess)",
    )
    keeps_opening: float = Field(
        0.7, ge=0, le=1, description="PATCH keeps the opening, so that the diversity rule takes it for the same (guess)"
    )
    inherits: float = Field(
        0.5,
        ge=0,
        le=1,
        description="share (of the variance) of the verifier's shared error that a PATCH has from its parent (guess)",
    )

    # Verifier
    judges: int = Field(1, ge=1, le=8, description="judges of one verification; the minimum counts, a call for each")
    pass_gap: float = Field(
        0.3, ge=0, le=1, description="one judge passes a proof with minor gaps (set in the lab: misses a leap)"
    )
    pass_error: float = Field(
        0.1, ge=0, le=1, description="one judge passes a proof with errors (set in the lab: misses a false claim)"
    )
    pass_wrong: float = Field(0.02, ge=0, le=1, description="one judge passes a fundamentally wrong proof (guess)")
    false_alarm: float = Field(
        0.05, ge=0, le=1, description="one judge faults a right proof: 6 points (set in the lab)"
    )
    slip: float = Field(0.1, ge=0, le=0.4, description="a failing verdict is one class off, each way (guess)")
    rho: float = Field(
        0.5, ge=0, le=1, description="correlation of the errors of one judge's samples on a proof (guess)"
    )
    rho_judges: float = Field(
        0.3, ge=0, le=1, description="correlation of the errors of different judges (set in the lab); at most rho"
    )
    blind_spot: float = Field(
        0.02,
        ge=0,
        le=1,
        description="proofs that are not right, by style, that every judge passes in every sample (guess; the lab's "
        "panel passed 1.2 % of wrong proofs)",
    )

    # Ranker
    ranker_accuracy: float = Field(
        0.8, ge=0.5, lt=1, description="one vote prefers a right proof to one with errors (guess)"
    )
    ranker_shared: float = Field(
        0.5, ge=0, le=1, description="share of the ranker's error that is the same in all votes on a proof (guess)"
    )
    ranker_rho: float = Field(
        0.3,
        ge=0,
        le=1,
        description="correlation of that error with the verifier's; also its chance to fall for the verifier's blind "
        "spots (guess)",
    )
    position_bias: float = Field(
        0.2,
        ge=-5,
        le=5,
        description="what the proof shown first gains, in standard deviations of the error on one proof (guess)",
    )

    @model_validator(mode="after")
    def _consistent(self) -> SimulatorSettings:
        if self.judges > 1 and self.rho_judges > self.rho:
            raise ValueError(f"rho_judges = {self.rho_judges} exceeds rho = {self.rho}: other judges can't agree more")
        if self.pass_gap + self.slip > 1 or self.pass_error + 2 * self.slip > 1 or self.pass_wrong + self.slip > 1:
            raise ValueError("pass_gap + slip, pass_error + 2 slip and pass_wrong + slip must be at most 1")
        return self
