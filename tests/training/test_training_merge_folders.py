"""Whole folders: what is refused before writing, what is written, how much memory, what is left after a failure."""

from __future__ import annotations

import json
import shutil
import weakref
from collections.abc import Callable
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs the extra train")
safetensors = pytest.importorskip("safetensors", reason="needs the extra train")

from safetensors.torch import load_file, save_file  # noqa: E402

from maxproof.problems import InputError  # noqa: E402
from maxproof.training.merge import run, shards  # noqa: E402
from maxproof.training.merge.checks import comparable_config  # noqa: E402
from maxproof.training.merge.run import merge  # noqa: E402
from maxproof.training.merge.settings import MergeSettings  # noqa: E402
from maxproof.training.merge.shards import read_entries  # noqa: E402

CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 8,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "vocab_size": 6,
    "rope_theta": 10000.0,
    "tie_word_embeddings": True,
}
TOKENIZER = {"version": "1.0", "added_tokens": [], "model": {"type": "WordLevel", "vocab": {"a": 0, "b": 1, "c": 2}}}
LINEAR = MergeSettings(method="linear", weights=(1.0, 1.0, 1.0))


def weights(seed: int, layers: int = 3) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    found = {"model.embed_tokens.weight": torch.randn(6, 8, generator=generator)}
    for layer in range(layers):
        found[f"model.layers.{layer}.mlp.up_proj.weight"] = torch.randn(16, 8, generator=generator)
        found[f"model.layers.{layer}.input_layernorm.weight"] = torch.randn(8, generator=generator)
    found["steps"] = torch.tensor([3, 4])
    return found


def checkpoint(
    folder: Path,
    tensors: dict[str, torch.Tensor],
    config: dict[str, object] | None = None,
    tokenizer: dict[str, object] | None = None,
    files: int = 1,
) -> Path:
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(CONFIG if config is None else config))
    (folder / "tokenizer.json").write_text(json.dumps(TOKENIZER if tokenizer is None else tokenizer))
    if files == 1:
        save_file(tensors, folder / "model.safetensors")
        return folder
    names = list(tensors)
    where = {name: f"part-{i % files}.safetensors" for i, name in enumerate(names)}
    for file in sorted(set(where.values())):
        save_file({name: tensors[name] for name in names if where[name] == file}, folder / file)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": where}))
    return folder


@pytest.fixture
def family(tmp_path: Path) -> list[Path]:
    """A base and three experts, cut into files differently."""
    return [checkpoint(tmp_path / f"m{i}", weights(i), files=i + 1) for i in range(4)]


def tensors_of(folder: Path) -> dict[str, torch.Tensor]:
    found: dict[str, torch.Tensor] = {}
    for path in sorted(folder.glob("*.safetensors")):
        found |= load_file(path)
    return found


def test_merges_folders_whatever_their_files(family: list[Path], tmp_path: Path) -> None:
    base, *experts = family
    merged = merge(base, experts, tmp_path / "out", LINEAR)
    found = tensors_of(merged.folder)
    parts = [weights(i) for i in (1, 2, 3)]
    assert found.keys() == parts[0].keys()
    for name, tensor in found.items():
        expected = parts[0][name] if name == "steps" else sum(part[name] for part in parts) / 3
        torch.testing.assert_close(tensor, expected)
    assert (merged.folder / "tokenizer.json").read_bytes() == (base / "tokenizer.json").read_bytes()
    assert (merged.folder / "config.json").read_bytes() == (base / "config.json").read_bytes()


def test_writes_the_same_in_one_file_or_many(family: list[Path], tmp_path: Path) -> None:
    base, *experts = family
    settings = MergeSettings(method="dare_ties", weights=(1.0, 2.0, 1.0), seed=5)
    whole = merge(base, experts, tmp_path / "whole", settings)
    cut = merge(base, experts, tmp_path / "cut", settings, shard_bytes=600)
    files = sorted(path.name for path in cut.folder.glob("*.safetensors"))
    assert len(files) > 2
    assert files[0] == f"model-00001-of-{len(files):05}.safetensors"
    index = json.loads((cut.folder / shards.INDEX_NAME).read_text())
    assert index["metadata"]["total_size"] == whole.size == cut.size
    for name, tensor in tensors_of(whole.folder).items():
        assert torch.equal(load_file(cut.folder / index["weight_map"][name])[name], tensor)
    assert read_entries(cut.folder).keys() == read_entries(whole.folder).keys()


def test_what_dare_drops_does_not_depend_on_how_the_parents_are_cut(family: list[Path], tmp_path: Path) -> None:
    base, *experts = family
    settings = MergeSettings(method="dare_linear", weights=(1.0, 1.0, 1.0), seed=1)
    first = merge(base, experts, tmp_path / "first", settings)
    recut = [checkpoint(tmp_path / f"r{i}", weights(i), files=4 - i) for i in range(4)]
    second = merge(recut[0], recut[1:], tmp_path / "second", settings)
    for name, tensor in tensors_of(first.folder).items():
        assert torch.equal(tensors_of(second.folder)[name], tensor)


def test_the_record_names_parents_method_weights_and_seed(family: list[Path], tmp_path: Path) -> None:
    base, *experts = family
    merged = merge(base, experts, tmp_path / "out", MergeSettings(method="ties", weights=(1.0, 0.5, 2.0), seed=9))
    record = json.loads((merged.folder / "maxproof.json").read_text())["merge"]
    assert [parent["folder"] for parent in record["parents"]] == [str(folder) for folder in family]
    assert len({parent["sha256"] for parent in record["parents"]}) == 4
    assert (record["method"], record["weights"], record["seed"]) == ("ties", [1.0, 0.5, 2.0], 9)


def test_only_a_few_tensors_are_in_memory_at_once(family: list[Path], tmp_path: Path, monkeypatch) -> None:
    """However many tensors a checkpoint holds: those read and still alive are at most one a parent, and one before."""
    alive: list[weakref.ref] = []
    peak = 0
    original = shards.TensorReader.read

    def read(self: shards.TensorReader, name: str) -> torch.Tensor:
        nonlocal peak
        tensor = original(self, name)
        alive.append(weakref.ref(tensor))
        peak = max(peak, sum(ref() is not None for ref in alive))
        return tensor

    monkeypatch.setattr(shards.TensorReader, "read", read)
    many = [checkpoint(tmp_path / f"n{i}", weights(i, layers=40), files=3) for i in range(4)]
    for method in ("linear", "ties", "dare_linear"):
        merge(many[0], many[1:], tmp_path / method, MergeSettings(method=method, weights=(1.0, 1.0, 1.0)))
    assert len(alive) > 900
    assert peak <= 5


def change_config(**values: object) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / "config.json").write_text(json.dumps({**CONFIG, **values}))

    return change


def change_tokenizer(**values: object) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / "tokenizer.json").write_text(json.dumps({**TOKENIZER, **values}))

    return change


def change_tensors(edit: Callable[[dict[str, torch.Tensor]], None]) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        tensors = tensors_of(folder)
        for path in folder.glob("*.safetensors*"):
            path.unlink()
        edit(tensors)
        save_file(tensors, folder / "model.safetensors")

    return change


NORM = "model.layers.1.input_layernorm.weight"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (change_config(hidden_size=16), "hidden_size is 16 against 8"),
        (change_config(num_attention_heads=4), "num_attention_heads is 4 against 2"),
        (change_config(rope_theta=500000.0), "rope_theta is 500000.0 against 10000.0"),
        (change_config(vocab_size=7), "vocab_size is 7 against 6"),
        (change_config(architectures=["MistralForCausalLM"]), "architectures"),
        (change_config(rope_scaling={"type": "linear", "factor": 2}), "rope"),
        (change_config(tie_word_embeddings=False), "untied against tied"),
        (change_config(quantization_config={"bits": 4}), "quantised"),
        (
            change_tokenizer(model={"vocab": {"a": 0, "b": 2, "c": 1}}),
            "vocabularies differ in 2 of 3 tokens, the first 'b': 2 against 1",
        ),
        (change_tokenizer(added_tokens=[{"content": "<pad>", "id": 3}]), "'<pad>': 3 against absent"),
        (change_tokenizer(model={**TOKENIZER["model"], "merges": ["a b"]}), "merges differ"),
        (change_tokenizer(normalizer={"type": "NFC"}), "differ in normalizer"),
        (lambda folder: (folder / "tokenizer.json").unlink(), "has no tokenizer file"),
        (change_tensors(lambda t: t.pop(NORM)), f"lacks 1 of 8 tensors, the first {NORM}"),
        (change_tensors(lambda t: t.update(extra=torch.ones(1))), "1 tensors that the base lacks, the first extra"),
        (change_tensors(lambda t: t.update({NORM: torch.ones(9)})), f"{NORM} has shape \\[9\\] against \\[8\\]"),
        (change_tensors(lambda t: t.update({NORM: torch.ones(8).int()})), f"{NORM} is I32 against F32"),
        (change_tensors(lambda t: t.update({NORM: torch.ones(8).to(torch.float8_e4m3fn)})), "F8_E4M3"),
        (change_tensors(lambda t: t.update(steps=torch.tensor([3, 5]))), "steps holds I64"),
        (lambda folder: (folder / "config.json").write_text("[" * 100_000), "not valid JSON"),
        (lambda folder: (folder / "config.json").write_text("[]"), "not a JSON object"),
        (lambda folder: (folder / "config.json").unlink(), "No such file"),
    ],
)
def test_what_does_not_match_is_refused_in_one_line_before_writing(
    family: list[Path], tmp_path: Path, change: Callable[[Path], None], message: str
) -> None:
    change(family[2])
    before = sorted(tmp_path.iterdir())
    with pytest.raises(InputError, match=message) as caught:
        merge(family[0], family[1:], tmp_path / "out", LINEAR)
    assert "\n" not in str(caught.value)
    assert str(family[0]) in str(caught.value) or str(family[2]) in str(caught.value)
    assert sorted(tmp_path.iterdir()) == before


def test_what_two_versions_of_transformers_write_differently_still_matches(family: list[Path], tmp_path: Path) -> None:
    config = {key: value for key, value in CONFIG.items() if key not in ("rope_theta", "num_key_value_heads")}
    config |= {
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0},
        "head_dim": 4,
        "attention_bias": False,
        "transformers_version": "5.0",
        "dtype": "float32",
    }
    (family[2] / "config.json").write_text(json.dumps(config))
    assert comparable_config(config) == comparable_config(CONFIG)
    merge(family[0], family[1:], tmp_path / "out", LINEAR)


def test_floating_dtypes_mix_and_the_base_decides(family: list[Path], tmp_path: Path) -> None:
    change_tensors(lambda t: t.update({n: v.bfloat16() for n, v in t.items() if v.is_floating_point()}))(family[0])
    merged = merge(family[0], family[1:], tmp_path / "out", LINEAR)
    assert tensors_of(merged.folder)[NORM].dtype == torch.bfloat16


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff" * 8,
        (10).to_bytes(8, "little") + b"{}",
        (2).to_bytes(8, "little") + b"[]",
        (2).to_bytes(8, "little") + b"{}" + b"tail",
        (60).to_bytes(8, "little") + b'{"w":{"dtype":"F32","shape":[9999999999],"data_offsets":[0,4]}}'[:60].ljust(60),
    ],
)
def test_a_damaged_weight_file_is_refused(family: list[Path], tmp_path: Path, content: bytes) -> None:
    (family[0] / "model.safetensors").write_bytes(content)
    with pytest.raises(InputError, match=r"model\.safetensors"):
        merge(family[0], family[1:], tmp_path / "out", LINEAR)


@pytest.mark.parametrize("shape", [[10**9, 10**9], [-1], ["x"], [2]])
def test_a_shape_that_the_bytes_do_not_hold_is_refused(family: list[Path], tmp_path: Path, shape: list[object]) -> None:
    header = json.dumps({"w": {"dtype": "F32", "shape": shape, "data_offsets": [0, 4]}}).encode()
    (family[0] / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + b"\0" * 4)
    with pytest.raises(InputError, match="w has a shape"):
        merge(family[0], family[1:], tmp_path / "out", LINEAR)


def test_an_index_can_not_name_files_elsewhere(family: list[Path], tmp_path: Path) -> None:
    (family[1] / shards.INDEX_NAME).write_text(json.dumps({"weight_map": {"w": "../m0/model.safetensors"}}))
    with pytest.raises(InputError, match="not a file beside it"):
        merge(family[0], family[1:], tmp_path / "out", LINEAR)


def test_an_existing_target_is_left_alone(family: list[Path], tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(InputError, match="exists already"):
        merge(family[0], family[1:], tmp_path / "out", LINEAR)
    assert not list((tmp_path / "out").iterdir())


def test_nothing_is_left_when_writing_fails(family: list[Path], tmp_path: Path, monkeypatch) -> None:
    def broken(*_: object) -> None:
        raise OSError(28, "No space left on device")

    before = sorted(tmp_path.iterdir())
    monkeypatch.setattr(shards, "_write_tensor", broken)
    with pytest.raises(OSError, match="No space"):
        merge(family[0], family[1:], tmp_path / "out", LINEAR)
    assert sorted(tmp_path.iterdir()) == before


def test_too_little_space_is_told_before_writing(family: list[Path], tmp_path: Path, monkeypatch) -> None:
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(run.shutil, "disk_usage", lambda _: usage._replace(free=10))
    with pytest.raises(InputError, match="are free"):
        merge(family[0], family[1:], tmp_path / "out", LINEAR)


def test_a_merge_that_is_not_finite_or_fails_its_smoke_test_is_not_kept(family: list[Path], tmp_path: Path) -> None:
    def refuse(folder: Path) -> str:
        assert (folder / "model.safetensors").is_file()
        raise InputError("talks nonsense")

    with pytest.raises(InputError, match="nonsense"):
        merge(family[0], family[1:], tmp_path / "out", LINEAR, smoke=refuse)
    change_tensors(lambda t: t[NORM].fill_(float("nan")))(family[3])
    with pytest.raises(InputError, match=f"{NORM}: the merged values are not all finite"):
        merge(family[0], family[1:], tmp_path / "out", LINEAR)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m0", "m1", "m2", "m3"]


def test_as_many_weights_as_experts(family: list[Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="3 weights for 2 experts"):
        merge(family[0], family[1:3], tmp_path / "out", LINEAR)


def test_progress_counts_the_tensors(family: list[Path], tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    merge(family[0], family[1:], tmp_path / "out", LINEAR, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(i, 8) for i in range(1, 9)]
