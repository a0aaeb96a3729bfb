"""Stages for tests of the runner: small functions that a fresh process can import."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from maxproof.evaluation.lab.profile import LabProfile
from maxproof.evaluation.lab.stages import Place, Result, Tell
from maxproof.models.types import CallFailed, FailureKind
from maxproof.problems import InputError


def note(place: Place, profile: LabProfile, tell: Tell) -> Result:
    """Says when it ran, what it read from the stages it needs, and how often it was run."""
    log = place.run / "order.txt"
    with log.open("a", encoding="utf-8") as file:
        file.write(place.stage.name + "\n")
    return {"seed": profile.seed, "from": {name: place.result(name)["value"] for name in place.stage.needs}, "value": 1}


def add(place: Place, profile: LabProfile, tell: Tell) -> Result:
    """A value that follows from the profile, the argument and what is needed."""
    return {
        "value": profile.seed + int(place.stage.argument) + sum(place.result(n)["value"] for n in place.stage.needs)
    }


def slow(place: Place, profile: LabProfile, tell: Tell) -> Result:
    """Ends only after the stage `failing` has begun, and a moment more."""
    for _ in range(600):
        if (place.folder("failing") / "begun").exists():
            break
        time.sleep(0.02)
    time.sleep(0.3)
    return {"value": 2}


def fail(place: Place, profile: LabProfile, tell: Tell) -> Result:
    (place.own / "begun").touch()
    raise InputError("is not a number", file="settings", line=3, hint="write one")


def fail_strangely(place: Place, profile: LabProfile, tell: Tell) -> Result:
    """Raises an error that can't be rebuilt from its text."""
    raise CallFailed(FailureKind.TIMEOUT, "too late", endpoint="lab")


def die(place: Place, profile: LabProfile, tell: Tell) -> Result:
    os.kill(os.getpid(), signal.SIGKILL)
    return {}


def read_order(run: Path) -> list[str]:
    return (run / "order.txt").read_text(encoding="utf-8").split()


def linger(place: Place, profile: LabProfile, tell: Tell) -> Result:
    """Says who it is, then works on for minutes."""
    (place.run / "pid").write_text(str(os.getpid()))
    time.sleep(300)
    return {}
