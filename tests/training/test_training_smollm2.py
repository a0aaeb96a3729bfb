"""The example that trains a real language model, for one step. It asserts the protocol; the model can't prove much."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from maxproof.models.weights import find_weights
from maxproof.problems import InputError

EXAMPLE = Path(__file__).parents[2] / "examples" / "training" / "smollm2_cispo.py"

pytest.importorskip("trl", reason="needs the extra hf")
pytest.importorskip("peft", reason="needs the extra hf")


@pytest.mark.slow
@pytest.mark.local_model
def test_one_step_of_cispo_on_smollm2(tmp_path: Path) -> None:
    try:
        find_weights("smollm2")
    except InputError as error:
        pytest.skip(str(error))
    command = [sys.executable, str(EXAMPLE), "--steps", "1", "--prompts", "1", "--out", str(tmp_path / "adapter")]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=1200, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout[done.stdout.index("\n{\n") :])
    assert (found["steps"], found["optimiser_steps"], len(found["answers"])) == (1, 2, 4)
    assert found["finite"]
    for answer in found["answers"]:
        assert 1 <= answer["tokens"] <= 48
        assert answer["reward"] is not None
        assert 0 <= answer["reward"] <= 1
        assert 0 <= answer["oracle"] <= 1
    rewards = [answer["reward"] for answer in found["answers"]]
    # A group whose rewards are all equal moves nothing.
    assert (found["largest_change"] > 0) == (max(rewards) - min(rewards) > 0)
    assert (tmp_path / "adapter" / "adapter_model.safetensors").stat().st_size > 1_000_000
