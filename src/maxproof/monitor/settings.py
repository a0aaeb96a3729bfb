"""What a user may set of the alarms. `docs/monitor-alarms.md` says how to choose."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, model_validator

SMALLEST_BASELINE = 10
"""Fewer readings say too little of the spread to watch anything against them."""


class MonitorSettings(BaseModel):
    """Settings of the alarms.

    Attributes:
        baseline: how many readings of a signal, from its first on, make its baseline.
        baseline_steps: first and last step of the baseline, instead; whatever comes after the last is watched.
        false_alarms: the chance that a run in which nothing changes raises any alarm at all, over all signals together.
        run_steps: for how many steps after the baseline that chance holds; a longer run has a larger one.
        smallest_change: no smaller change raises an alarm: in the signal's unit where it can't exceed 1 (0.02 of a
            share is two percentage points), else as a part of its mean over the baseline (0.02 is 2 % of the length).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    baseline: int = Field(default=20, ge=SMALLEST_BASELINE, le=1000)
    baseline_steps: tuple[int, int] | None = None
    false_alarms: float = Field(default=0.05, ge=0.01, le=0.5)
    run_steps: int = Field(default=200, ge=1, le=2000)
    smallest_change: float = Field(default=0.02, gt=0, lt=1)

    @model_validator(mode="after")
    def _ordered(self) -> MonitorSettings:
        if self.baseline_steps is not None:
            first, last = self.baseline_steps
            if not 0 <= first <= last - (SMALLEST_BASELINE - 1):
                raise ValueError(f"baseline_steps needs at least {SMALLEST_BASELINE} steps, got {first}..{last}")
        return self
