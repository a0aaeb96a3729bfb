"""Reports made by hand, for what shows them."""

import math

from maxproof.monitor.signals import INFO
from maxproof.monitor.types import Alarm, Example, Reading, Report, Signal
from maxproof.statistics import wilson

HOSTILE = (
    "<script>alert(1)</script></pre></details></section><h1>Quiet</h1><img src=http://trap/x onerror=alert(1)>"
    '"><style>@import url(http://trap/y)</style> \u202eabc\u200b \x1b[31mred\x1b[0m <think>hidden</think> {{ 7*7 }} ]]>'
)
OFF = {Signal.THINKING_LENGTH: "no column thinking", Signal.DISAGREEMENT: f"no column judges {HOSTILE}"}


def example(number: int = 0) -> Example:
    """A hostile one."""
    return Example(f"p{number} {HOSTILE}", 45 + number, number, 0, f"{HOSTILE} " * 200, 0.93, 0.1, 12.0)


def alarm(signal: Signal = Signal.VISIBLE_LENGTH, began: int = 41, raised: int = 46) -> Alarm:
    """Upwards, with three examples."""
    examples = tuple(example(number) for number in range(3))
    return Alarm(signal, "up", began, raised, 3500.0, 9800.0, 6.3, examples, f"opener {HOSTILE}")


def report(*alarms: Alarm, steps: int = 60, gap: int | None = None) -> Report:
    """A gentle wave in all signals but two that are off; `gap` is a step without any value."""
    series = {
        signal: tuple(
            Reading(step, None if step == gap else _value(signal, step), 64, 0.01, HOSTILE) for step in range(steps)
        )
        for signal in Signal
        if signal not in OFF
    }
    return Report(
        source=f"runs/{HOSTILE}",
        rollouts=64 * steps,
        steps=steps,
        series=series,
        off=OFF,
        alarms=alarms,
        false_positives=wilson(29, 1000),
        not_scored=wilson(3, 64 * steps),
        baseline=(0, 19) if steps > 20 else None,
        skipped={"no text": 2},
    )


def _value(signal: Signal, step: int) -> float:
    wave = 1 + 0.1 * math.sin(step)
    return 3500 * wave if INFO[signal].high is None and (INFO[signal].low or 0) == 0 else 0.2 * wave
