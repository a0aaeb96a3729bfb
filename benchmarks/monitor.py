"""Speed and peak memory of the monitor on generated rollouts of 4 KB, as JSONL and as Parquet, at two sizes.

    monitor       all that `maxproof monitor` does up to the report: reading, features, sums, readings, alarms
    polars scan   polars' own streaming scan of the same file that only adds up the lengths of the texts: what reading
                  costs at least
    json + re     the plain way, on the first rollouts: a line at a time with `json` and `re`, the same kinds of counts

Each is a process of its own, timed inside after its imports. Memory is the process's peak resident set (VmHWM). Ten
times the rollouts, in as many steps, must not need more of it. Files are written to a temporary folder, just before
they are read, so that they are in the page cache where that holds them.

`python -m benchmarks.monitor --rollouts 1000000` measures that size alone (about 6 GB of disk). Where the cores are
shared with other work, CPU seconds say more than seconds.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from random import Random

from benchmarks.report import console, machine_line, print_table

TEXT_CHARS = 4_000
STEPS = 100
PLAIN_SAMPLE = 20_000
_SENTENCES = 4_000
_WORDS = (
    "Let the number be an even prime divisor of and suppose that n is odd then we have by induction on k since every "
    "term in this sum has absolute value at most one it follows from triangle inequality for all x y positive real "
    "integers such exists unique polynomial with coefficients modulo p which contradicts minimality hence claim holds"
)
_MARKS = (
    "$a^2+b^2=c^2$",
    "\\frac{1}{2}",
    "**Step 3.**",
    "It can be shown that",
    "Wait,",
    "$n \\equiv 1 \\pmod 4$",
    "QED",
)


def write_jsonl(path: Path, rollouts: int) -> None:
    """Rollouts with all columns, the same for the same number; step = place * STEPS // rollouts."""
    random = Random(0)
    pool = [_sentence(random) for _ in range(_SENTENCES)]
    with path.open("w", encoding="utf-8") as file:
        for number in range(rollouts):
            text = " ".join(random.choices(pool, k=TEXT_CHARS // 80))[:TEXT_CHARS]
            reward = random.random()
            row = {
                "problem": f"p{number % 997}",
                "step": number * STEPS // rollouts,
                "group": number // 8,
                "sample": number % 8,
                "text": text,
                "thinking": "",
                "train_reward": reward,
                "oracle": min(1.0, reward * random.random() * 1.5) if number % 4 == 0 else None,
                "judges": {"a": reward, "b": random.random()},
                "is_proof": number % 3 > 0,
            }
            file.write(json.dumps(row) + "\n")


def _sentence(random: Random) -> str:
    words = random.choices(_WORDS.split(), k=random.randrange(8, 20))
    words.insert(random.randrange(len(words)), random.choice(_MARKS))
    return " ".join(words) + "."


def measure_monitor(path: Path) -> int:
    """The report of a file; how many rollouts it has."""
    from maxproof.monitor.assemble import report_of
    from maxproof.monitor.fields import MAPS
    from maxproof.monitor.follow import take
    from maxproof.monitor.phrases import load_phrases
    from maxproof.monitor.read import Skipped, read_batches
    from maxproof.monitor.settings import MonitorSettings
    from maxproof.monitor.stats import Stats

    stats, skipped, phrases = Stats(), dict[str, Skipped](), load_phrases()
    for batch in read_batches([path], MAPS["maxproof"]):
        take(batch, stats, skipped, phrases)
    return report_of(stats, MonitorSettings(), str(path)).rollouts


def measure_scan(path: Path) -> int:
    """Polars adds up the lengths of all texts."""
    import polars as pl

    scan = pl.scan_parquet(path) if path.suffix == ".parquet" else pl.scan_ndjson(path)
    found = scan.select(pl.len(), length=pl.col("text").str.len_chars().sum()).collect(engine="streaming")
    return int(found["len"][0])


def measure_plain(path: Path) -> int:
    """Line by line: rewards, lengths, openers and counts of patterns by step."""
    hand_waving = re.compile(r"it can be shown|clearly|obviously|after simplification|it is easy to see", re.IGNORECASE)
    wait = re.compile(r"\bwait\b|\bhold on\b|let me re-?check", re.IGNORECASE)
    template = re.compile(r"\*\*step \d+|## verification", re.IGNORECASE)
    sums: dict[int, list[float]] = defaultdict(lambda: [0.0] * 6)
    openers: dict[tuple[int, str], int] = defaultdict(int)
    read = 0
    with path.open(encoding="utf-8") as file:
        for line in islice(file, PLAIN_SAMPLE):
            row = json.loads(line)
            text, step = row["text"], sums[row["step"]]
            step[0] += 1
            step[1] += row["train_reward"] or 0.0
            step[2] += len(text)
            step[3] += len(hand_waving.findall(text))
            step[4] += len(wait.findall(text))
            step[5] += len(template.findall(text)) > 1
            openers[row["step"], " ".join(text.split()[:3]).lower()] += 1
            read += 1
    return read


_KINDS: dict[str, Callable[[Path], int]] = {
    "monitor": measure_monitor,
    "polars scan": measure_scan,
    "json + re": measure_plain,
}


def run(quick: bool, sizes: Sequence[int] = ()) -> None:
    """Prints a row for each way, format and size."""
    rows = []
    for size in sizes or ((2_000, 20_000) if quick else (10_000, 100_000)):
        with tempfile.TemporaryDirectory(prefix="maxproof-benchmark-") as folder:
            jsonl, parquet = Path(folder, "rollouts.jsonl"), Path(folder, "rollouts.parquet")
            _child("write", jsonl, str(size))
            rows += [_row(kind, jsonl, size) for kind in _KINDS]
            _child("convert", jsonl)
            rows += [_row(kind, parquet, size) for kind in ("monitor", "polars scan")]
    print_table(
        f"Monitor: rollouts of {TEXT_CHARS:,} characters in {STEPS} steps",
        ("what", "format", "rollouts", "file MB", "seconds", "CPU s", "rollouts/s", "rollouts/CPU s", "peak MB"),
        rows,
        note=f"json + re: the first {PLAIN_SAMPLE:,} rollouts at most. CPU: of all threads",
    )


def _row(kind: str, path: Path, size: int) -> tuple[object, ...]:
    found = json.loads(_child(kind, path))
    read, seconds = found["rollouts"], found["seconds"]
    if read != (min(size, PLAIN_SAMPLE) if kind == "json + re" else size):
        raise RuntimeError(f"{kind} read {read} of {size} rollouts")
    console.print(
        f"{kind}, {path.name}: {read:,} rollouts in {seconds:.1f} s, peak {found['peak_mb']:.0f} MB", style="dim"
    )
    megabytes, cpu = round(path.stat().st_size / 1e6), found["cpu"]
    speeds = round(read / seconds), round(read / cpu)
    return kind, path.suffix[1:], read, megabytes, seconds, cpu, *speeds, round(found["peak_mb"])


def _child(kind: str, path: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "benchmarks.monitor", "--child", kind, str(path), *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def _as_child(kind: str, path: Path, *arguments: str) -> None:
    if kind == "write":
        write_jsonl(path, int(arguments[0]))
    elif kind == "convert":
        import polars as pl

        pl.scan_ndjson(path).sink_parquet(path.with_suffix(".parquet"), compression="snappy")
    else:
        __import__("polars")
        begun, cpu = time.perf_counter(), time.process_time()
        rollouts = _KINDS[kind](path)
        seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu
        print(json.dumps({"rollouts": rollouts, "seconds": seconds, "cpu": cpu, "peak_mb": _peak_mb()}))


def _peak_mb() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        _as_child(sys.argv[2], Path(sys.argv[3]), *sys.argv[4:])
    else:
        parser = argparse.ArgumentParser(prog="python -m benchmarks.monitor")
        parser.add_argument("--rollouts", type=int, nargs="+", default=[], help="default: 10000 100000")
        sizes = parser.parse_args().rollouts
        console.print(machine_line())
        run(quick=False, sizes=sizes)
