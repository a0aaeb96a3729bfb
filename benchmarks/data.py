"""Speed, memory and accuracy of the steps of `maxproof data` that ask no model, at two sizes.

The records are made up: statements of 25 to 60 words and formulas, in the four domains, with techniques of a
long-tailed distribution. Planted, with known truth:

    copies       1 % are a copy of an earlier one, with `\\frac` and variables changed: `build` must drop these only
    near copies  2 % are an earlier one with one word changed: `split` must put them into the earlier one's cluster
    evaluation   1,000 evaluation problems: for 500 of them a record is a renamed copy, for 500 one word is changed

Each step is a process of its own. CPU seconds are its user and system time, which other work on the machine does not
change; memory is its peak resident set as the kernel counts it (`ru_maxrss`).
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.report import console, print_table
from maxproof.problems.data.files import rejects_path

EVALUATION = 1000
COPIES, NEAR = 0.01, 0.02
_SYLLABLES = ("ba", "co", "di", "fe", "gu", "ha", "ji", "ko", "lu", "me", "ni", "po", "ra", "se", "ti", "vo")
_WORDS = [f"{one}{two}{three}" for one in _SYLLABLES for two in _SYLLABLES for three in _SYLLABLES[:8]]
_DOMAINS = ("Algebra", "Combinatorics", "Geometry", "Number theory")
_TECHNIQUES = ("induction", "pigeonhole", "invariants", "AM-GM", "angle chasing", "inversion", "double counting")
_LETTERS = "bcdfghkmnpqrstuvwxyz"


def statement(seed: str, letters: str = _LETTERS, frac: str = "\\frac", changed: bool = False) -> str:
    """The statement of a seed; under other letters and fractions it is a copy, `changed` replaces one word."""
    rng = random.Random(seed)
    names = rng.sample(range(len(letters)), 3)
    one, two, three = (letters[name] for name in names)
    words = rng.choices(_WORDS, k=rng.randint(25, 60))
    a, b, c = (rng.randint(2, 99) for _ in range(3))
    if changed:
        words[len(words) // 2] = "altered"
    half = len(words) // 2
    return (
        f"Let ${one}, {two}$ be {' '.join(words[:half])} with ${one}^{{{a}}} + {frac}{{{two}}}{{{b}}} \\le {three}$. "
        f"Prove that {' '.join(words[half:])} for all ${three} > {c}$."
    )


def rows(count: int) -> Iterator[dict[str, object]]:
    """Raw rows with their truth in the id: `KIND-NUMBER` or `KIND-NUMBER-OF` for one made from an earlier one."""
    other = _LETTERS[7:] + _LETTERS[:7]
    for number in range(count):
        rng = random.Random(f"row {number}")
        draw, earlier = rng.random(), rng.randrange(max(number // 2, 1)) * 2
        if number < EVALUATION:
            kind, text = (
                ("evalcopy", statement(f"eval {number}", other, "\\dfrac"))
                if number % 2
                else ("evalnear", statement(f"eval {number}", changed=True))
            )
            name = f"{kind}-{number}"
        elif number % 2 == 0 or earlier < EVALUATION:
            name, text = f"new-{number}", statement(f"row {number}")
        elif draw < 2 * COPIES:
            name, text = f"copy-{number}-{earlier}", statement(f"row {earlier}", other, "\\tfrac")
        elif draw < 2 * (COPIES + NEAR):
            name, text = f"near-{number}-{earlier}", statement(f"row {earlier}", changed=True)
        else:
            name, text = f"new-{number}", statement(f"row {number}")
        technique = _TECHNIQUES[min(int(rng.paretovariate(1.0)) - 1, len(_TECHNIQUES) - 1)]
        yield {"id": name, "problem": text, "category": _DOMAINS[number % 4], "tags": [technique]}


def run(quick: bool) -> None:
    """Prints for each size a table of speed and memory, and one of accuracy."""
    for count in (10_000, 30_000) if quick else (100_000, 1_000_000):
        speed: list[tuple[object, ...]] = []
        with tempfile.TemporaryDirectory(dir=os.environ.get("BENCHMARK_TMP")) as name:
            folder = Path(name)
            for step, read, seconds, cpu, peak in _steps(folder, count):
                console.print(f"{step}, {read:,} records: {cpu:.0f} CPU s of {seconds:.0f} s, {peak:.0f} MB")
                speed.append((step, f"{read:,}", seconds, cpu, f"{read / cpu:,.0f}", peak))
            accuracy = list(_accuracy(folder))
        print_table(
            f"data, {count:,} rows: steps without a model",
            ("step", "records", "wall s", "CPU s", "records per CPU s", "peak MB"),
            speed,
        )
        print_table(f"planted among {count:,} rows", ("pairs", "planted", "found", "recall", "precision"), accuracy)


def _steps(folder: Path, count: int) -> Iterator[tuple[str, int, float, float, float]]:
    """Runs the steps; name, records read, seconds, CPU seconds and peak MB of each."""
    raw, evaluation = folder / "raw.jsonl", folder / "evaluation.jsonl"
    with raw.open("w") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows(count))
    with evaluation.open("w") as file:
        problems = ({"id": f"E{number}", "problem": statement(f"eval {number}")} for number in range(EVALUATION))
        file.writelines(json.dumps(problem) + "\n" for problem in problems)
    records, clean, balanced, parts = (folder / f"{name}.jsonl" for name in ("records", "clean", "balanced", "split"))
    read = count
    for step, arguments, out in (
        ("build", [raw], records),
        ("decontaminate", [records, "--against", evaluation], clean),
        ("balance", [clean], balanced),
        ("split", [clean, "--no-check"], parts),
    ):
        started = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.data", step, *map(str, arguments), "-o", str(out), "--json"],
            stdout=subprocess.PIPE,
        )
        told = json.loads(process.stdout.read()) if process.stdout is not None else {}
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"data {step} ended with exit code {process.returncode}")
        cpu = usage.ru_utime + usage.ru_stime
        yield step, read, time.perf_counter() - started, cpu, usage.ru_maxrss / 1024
        read = told["written"] if step in ("build", "decontaminate") else read


def _accuracy(folder: Path) -> Iterator[tuple[object, ...]]:
    """What was found of what was planted."""
    planted: dict[str, set[str]] = {"copy": set(), "near": set(), "evalcopy": set(), "evalnear": set()}
    for line in (folder / "raw.jsonl").open():
        name = json.loads(line)["id"]
        planted.get(name.split("-")[0], set()).add(name)
    dropped = {json.loads(line)["id"] for line in rejects_path(folder / "records.jsonl").open()}
    # A near copy that an equal one came before is a copy as well.
    twice = {name for name in dropped if name.startswith("near")}
    yield _figures("copies dropped by build", planted["copy"], dropped - twice)
    pairs = [json.loads(line) for line in (folder / "clean.pairs.jsonl").open()]
    for kind in ("evalcopy", "evalnear"):
        found = {pair["id"] for pair in pairs if pair["id"].startswith(kind) or not pair["id"].startswith("eval")}
        yield _figures(f"{kind} found by decontaminate", planted[kind], found)
    first: dict[str, set[str]] = {}
    for line in (folder / "split.jsonl").open():
        record = json.loads(line)
        if cluster := record["provenance"][-1].get("notes", {}).get("cluster"):
            first.setdefault(cluster, set()).add(record["id"])
    true = {name for name in planted["near"] - twice if _origin(name) not in dropped}
    joined = {name for members in first.values() for name in members if _origin(name) in members}
    strangers = sum(1 for members in first.values() if len({_origin(name) for name in members}) > 1)
    yield ("near copies joined by split", len(true), len(joined & true), len(joined & true) / len(true),
           1 - strangers / max(len(first), 1))  # fmt: skip


def _origin(name: str) -> str:
    parts = name.split("-")
    return f"new-{parts[2]}" if len(parts) == 3 else name


def _figures(name: str, planted: set[str], found: set[str]) -> tuple[object, ...]:
    hits = len(planted & found)
    return name, len(planted), hits, hits / max(len(planted), 1), hits / max(len(found), 1)


if __name__ == "__main__":
    from maxproof.cli.data import data_app

    data_app()
