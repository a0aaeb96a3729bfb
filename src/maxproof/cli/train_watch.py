"""What `maxproof train` shows on standard error while it works."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from maxproof.cli.lab import PLAIN_EVERY_S
from maxproof.models.template import visible
from maxproof.training.rl_report import StepReport

_SFT_EVERY_S = 1.0


class Watch:
    """Shows progress: lines on a terminal, fewer of them elsewhere, JSON lines with `as_json`, nothing with `quiet`.

    Steps of SFT come at most once a second. Where standard error is no terminal, steps of any kind come at most once in
    `PLAIN_EVERY_S`. The last step, notes and warnings always come.
    """

    def __init__(self, *, as_json: bool, quiet: bool) -> None:
        self._as_json = as_json
        self._quiet = quiet and not as_json
        self._every_s = 0.0 if as_json or sys.stderr.isatty() else PLAIN_EVERY_S
        self._last: float | None = None

    def sft(self, step: int, steps: int, loss: float, speed: float, eta_s: float) -> None:
        """As `train_sft` reports."""
        if step == steps or self._is_time(max(self._every_s, _SFT_EVERY_S)):
            self._tell(
                {"event": "sft", "step": step, "steps": steps, "loss": loss, "tokens_per_s": speed, "eta_s": eta_s},
                f"sft {step}/{steps}  loss {loss:.3f}  {speed:,.0f} tokens/s  ETA {_minutes(eta_s)}",
            )

    def step(self, report: StepReport) -> None:
        """As `train_rl` reports."""
        if report.warning and not self._as_json:  # JSON has it in the step's figures
            self._tell({}, f"maxproof: warning: {report.warning}")
        if report.step + 1 == report.steps or self._is_time(self._every_s):
            self._tell({"event": "step", **step_json(report)}, step_text(report))

    def note(self, text: str) -> None:
        """What happens now."""
        self._tell({"event": "note", "text": text}, text)

    def _is_time(self, every_s: float) -> bool:
        now = time.monotonic()
        if self._last is not None and now - self._last < every_s:
            return False
        self._last = now
        return True

    def _tell(self, event: Mapping[str, Any], text: str) -> None:
        if not self._quiet:
            print(json.dumps(event) if self._as_json else visible(text), file=sys.stderr, flush=True)


def step_json(report: StepReport) -> dict[str, Any]:
    """A step's figures."""
    weights = report.weights
    return {
        **asdict(report),
        "weights": {
            "tokens": weights.tokens,
            "share_below": weights.share_below,
            "share_above": weights.share_above,
            "mean_ratio": weights.mean_ratio,
            "approximate_kl": weights.mean_kl,
            "all_one": weights.all_one,
        },
    }


def step_text(report: StepReport) -> str:
    """A step in one line."""
    parts = [
        f"step {report.step + 1}/{report.steps}",
        f"reward {decimals(report.reward_mean)}",
        *([f"oracle {decimals(report.oracle_mean)}"] if report.oracle_mean is not None else []),
        f"pass {decimals(report.pass_rate)}",
        f"groups {report.kept}/{report.groups}",
        *([f"not scored {report.rollouts - report.scored}"] if report.scored < report.rollouts else []),
        f"{report.length_mean:.0f} tokens",
        f"{report.sampling_s:.1f}+{report.reward_s:.1f}+{report.training_s:.1f} s",
        f"ETA {_minutes(report.eta_s)}",
    ]
    return "  ".join(parts)


def decimals(value: float | None) -> str:
    """A figure for people, `none` where there is none."""
    return "none" if value is None else f"{value:.3f}"


def _minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"
