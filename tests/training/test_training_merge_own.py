"""Checkpoints of ours: the merged folder is one again, and says something before it gets its name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs the extra train")
pytest.importorskip("tokenizers", reason="needs the extra train")

from maxproof.training.checkpoint import load_checkpoint, new_checkpoint, save_checkpoint  # noqa: E402
from maxproof.training.merge.run import merge  # noqa: E402
from maxproof.training.merge.settings import MergeSettings  # noqa: E402
from maxproof.training.merge.smoke import smoke  # noqa: E402
from maxproof.training.settings import ModelShape  # noqa: E402
from maxproof.training.tokenizer import build_tokenizer  # noqa: E402

SHAPE = ModelShape(layers=1, width=16, heads=2, kv_heads=1, hidden=16, context=64)


@pytest.mark.parametrize("method", ["linear", "ties"])
def test_merges_into_a_checkpoint_that_loads_and_generates(tmp_path: Path, method: str) -> None:
    tokenizer = build_tokenizer(["Solve 3 x + 4 = 10. The answer is 2."])
    made = [new_checkpoint(SHAPE, tokenizer, seed) for seed in (0, 1, 2)]
    folders = [tmp_path / f"m{i}" for i in range(3)]
    for folder, checkpoint in zip(folders, made, strict=True):
        save_checkpoint(folder, checkpoint)
    settings = MergeSettings(method=method, weights=(3.0, 1.0), seed=4)
    merged = merge(folders[0], folders[1:], tmp_path / "out", settings, smoke=smoke)
    assert merged.smoke.startswith("Solve 3 x + 4 = 10. -> ")
    loaded = load_checkpoint(merged.folder)
    assert loaded.meta.trained_by == f"merge {method}"
    assert [parent["folder"] for parent in loaded.meta.notes["merge"]["parents"]] == list(map(str, folders))
    if method == "linear":
        for name, weight in loaded.model.state_dict().items():
            expected = (3 * made[1].model.state_dict()[name] + made[2].model.state_dict()[name]) / 4
            torch.testing.assert_close(weight, expected)


def test_a_training_state_is_not_carried_over(tmp_path: Path) -> None:
    checkpoint = new_checkpoint(SHAPE, build_tokenizer(["a b"]), 0)
    folders = [tmp_path / "base", tmp_path / "expert"]
    for folder in folders:
        save_checkpoint(folder, checkpoint)
        (folder / "state.json").write_text("{}")
        (folder / "state.safetensors").write_bytes(b"")
    merged = merge(folders[0], folders[1:], tmp_path / "out", MergeSettings(method="ties", weights=(1.0,)))
    names = {path.name for path in merged.folder.iterdir()}
    assert names == {"config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", "maxproof.json"}
    assert json.loads((merged.folder / "maxproof.json").read_text())["notes"]["merge"]["method"] == "ties"


def test_tokenizers_of_other_words_are_refused(tmp_path: Path) -> None:
    for name, text in (("base", "one two"), ("expert", "one three")):
        save_checkpoint(tmp_path / name, new_checkpoint(SHAPE, build_tokenizer([text]), 0))
    with pytest.raises(Exception, match="vocabularies differ in 2 of"):
        merge(tmp_path / "base", [tmp_path / "expert"], tmp_path / "out", MergeSettings(weights=(1.0,)))
