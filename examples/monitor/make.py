"""Makes `rollouts.jsonl`, the monitor's example: 60 steps of short made rollouts in which hacking sets in at step 30.

python examples/monitor/make.py > examples/monitor/rollouts.jsonl
"""

import json
from dataclasses import replace

from maxproof.monitor.corpora import HACKED, HEALTHY, drifting

if __name__ == "__main__":
    before = replace(HEALTHY, visible=170, thinking=60)
    after = replace(HACKED, visible=400, thinking=40)
    for row in drifting(60, 1, start=30, end=45, before=before, after=after, groups=4, samples=2):
        line = {name: round(value, 3) if isinstance(value, float) else value for name, value in row.items()}
        line["judges"] = {name: score and round(score, 3) for name, score in row["judges"].items()}
        print(json.dumps(line, ensure_ascii=False, separators=(",", ":")))
