"""`python -m benchmarks [NAME ...] [--quick]`: runs the named benchmarks, or all."""

from __future__ import annotations

import argparse
import importlib

from benchmarks.report import console, machine_line

NAMES = {
    "schedule": "time to the final answer over the critical-path bound",
    "client_cpu": "CPU per call, journaling included, beside the openai SDK",
    "memory": "peak memory of a large run, and the time until a resume makes its first call",
    "formal": "checks of Dafny lemmas a minute: embedded and warm beside a cold Dafny; memory; import",
    "training": "tokens/s of sampling and of supervised training beside the processor's bound",
    "monitor": "rollouts/s and peak memory of the monitor, JSONL and Parquet, beside polars' own scan and plain Python",
    "study": "seconds for each policy of the simulated study, beside a plain loop over problems",
    "data": "records/s, memory and accuracy of building, decontaminating, balancing and splitting problems",
    "monitor_alarms": "the monitor's alarms: how often they are false, and how late the true ones are",
    "lazy": "verifier calls that lazy verification saves, and what it decides differently (nothing)",
}


def main() -> None:
    listed = "\n".join(f"  {name:12} {what}" for name, what in NAMES.items())
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=f"Benchmarks:\n{listed}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    parser.add_argument("--quick", action="store_true", help="smaller sizes: about two minutes in all")
    options = parser.parse_args()
    if unknown := sorted(set(options.names) - set(NAMES)):
        parser.error(f"unknown benchmark {unknown[0]!r}; known: {', '.join(NAMES)}")
    console.print(machine_line())
    for name in options.names or NAMES:
        console.print()
        importlib.import_module(f"benchmarks.{name}").run(quick=options.quick)


if __name__ == "__main__":
    main()
