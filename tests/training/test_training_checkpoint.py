"""Saving and loading: nothing is lost, nothing wrong is loaded, and training goes on bit for bit."""

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs the extra train")

from safetensors.torch import load_file, save_file  # noqa: E402

from maxproof.problems import InputError  # noqa: E402
from maxproof.training import checkpoint as module  # noqa: E402
from maxproof.training.checkpoint import (  # noqa: E402
    Checkpoint,
    CheckpointMeta,
    copy_model,
    digest,
    has_checkpoint,
    load_checkpoint,
    new_checkpoint,
    save_checkpoint,
)
from maxproof.training.settings import ModelShape  # noqa: E402
from maxproof.training.state import NUMBERS, TENSORS, capture, load_state, restore  # noqa: E402
from maxproof.training.tokenizer import build_tokenizer  # noqa: E402

SHAPE = ModelShape(layers=2, width=32, heads=4, kv_heads=2, hidden=48, context=64, tied=False)
TOKENIZER = build_tokenizer(["Solve So"])


def fresh(seed: int = 0, **change: Any) -> Checkpoint:
    return new_checkpoint(SHAPE.model_copy(update=change), TOKENIZER, seed)


@pytest.mark.parametrize("tied", [True, False])
def test_what_is_loaded_is_what_was_saved(tmp_path: Path, tied: bool) -> None:
    saved = fresh(3, tied=tied)
    saved = Checkpoint(
        saved.model, saved.tokenizer, CheckpointMeta(3, 40, "sft", "abc", {"torch": "1"}, {"loss": 0.5, "x": [1]})
    )
    save_checkpoint(tmp_path / "model", saved)
    loaded = load_checkpoint(tmp_path / "model")
    assert digest(loaded) == digest(saved)
    assert loaded.meta == saved.meta
    assert loaded.model.shape == saved.model.shape
    assert loaded.tokenizer.to_json() == saved.tokenizer.to_json()
    assert load_state(tmp_path / "model") is None
    assert os.listdir(tmp_path) == ["model"]


def test_a_digest_tells_models_apart() -> None:
    assert digest(fresh(1)) == digest(fresh(1))
    assert len({digest(fresh(1)), digest(fresh(2)), digest(fresh(1, context=65))}) == 3
    copied = copy_model(fresh(1).model)
    with torch.no_grad():
        copied.model.norm.weight[0] += 1
    assert digest(Checkpoint(copied, TOKENIZER, CheckpointMeta(1))) != digest(fresh(1))


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_half_precision_halves_the_file_and_loads_as_float32(tmp_path: Path, dtype: Any) -> None:
    save_checkpoint(tmp_path / "full", fresh())
    save_checkpoint(tmp_path / "half", fresh(), dtype=dtype)
    sizes = [(tmp_path / name / "model.safetensors").stat().st_size for name in ("full", "half")]
    assert sizes[1] < 0.6 * sizes[0]
    loaded = load_checkpoint(tmp_path / "half").model
    for name, weights in loaded.state_dict().items():
        assert weights.dtype == torch.float32
        assert torch.allclose(weights, fresh().model.state_dict()[name], rtol=1e-2)


def test_transformers_loads_the_folder_and_agrees(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers", reason="needs the extra hf")
    for tied in (True, False):
        saved = fresh(5, tied=tied)
        save_checkpoint(tmp_path / "model", saved)
        theirs, report = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "model", output_loading_info=True)
        assert not any(report.get(key) for key in ("missing_keys", "unexpected_keys", "mismatched_keys"))
        tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "model")
        ids = tokenizer("<prove> Solve 3 x = -6 <sep>", return_tensors="pt")["input_ids"]
        assert ids[0].tolist() == TOKENIZER.encode_prompt("<prove> Solve 3 x = -6 <sep>")
        with torch.no_grad():
            assert torch.allclose(theirs(ids).logits, saved.model(ids), atol=1e-4)


def edit_json(name: str, **changes: Any) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        content = json.loads((folder / name).read_text())
        (folder / name).write_text(json.dumps(content | changes))

    return edit


def edit_tensors(change: Callable[[dict[str, Any]], None]) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        tensors = load_file(folder / "model.safetensors")
        change(tensors)
        save_file(tensors, folder / "model.safetensors")

    return edit


def put(name: str, content: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_text(content) and None


def with_nan(tensors: dict[str, Any]) -> None:
    tensors["model.norm.weight"][3] = float("nan")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (edit_json("maxproof.json", layout=7), r"maxproof\.json: layout: unknown layout 7; expected 1"),
        (edit_json("maxproof.json", step=None), r"maxproof\.json: not what maxproof writes"),
        (put("maxproof.json", "{"), r"maxproof\.json: not JSON"),
        (put("maxproof.json", "[1]"), r"maxproof\.json: not a JSON object"),
        (put("config.json", "[" * 100_000), r"config\.json: not JSON"),
        (edit_json("config.json", model_type="gpt2"), r"config\.json: model_type: is 'gpt2'; expected 'llama'"),
        (edit_json("config.json", hidden_size="32"), r"config\.json: hidden_size: is '32'"),
        (edit_json("config.json", hidden_size=2), r"config\.json: width: "),
        (edit_json("config.json", num_attention_heads=3), r"config\.json: num_attention_heads"),
        (edit_json("config.json", rope_theta=5e5), r"config\.json: rope_theta: is 500000\.0; expected 10000\.0"),
        (edit_json("config.json", vocab_size=17), r"config\.json: vocab_size: is 17, but tokenizer\.json has \d+"),
        (edit_json("config.json", num_hidden_layers=10**12), r"holds 21 tensors; expected 9000000000003 for"),
        (edit_json("config.json", max_position_embeddings=10**12), r"max_position_embeddings: exceeds"),
        (edit_json("config.json", intermediate_size=10**9), r"gate_proj\.weight: has shape \[48, 32\]; expected \[10"),
        (put("tokenizer.json", "{}"), r"tokenizer\.json: "),
        (put("model.safetensors", "abc"), r"model\.safetensors: can't be read"),
        (lambda folder: (folder / "model.safetensors").unlink(), r"model\.safetensors: can't be read"),
        (edit_tensors(lambda t: t.pop("lm_head.weight")), r"model\.safetensors: holds 20 tensors; expected 21"),
        (edit_tensors(lambda t: t.update(other=t.pop("lm_head.weight"))), r"lm_head\.weight: is missing"),
        (edit_tensors(with_nan), r"model\.safetensors: model\.norm\.weight: holds NaN"),
        (edit_tensors(lambda t: t.update({"model.norm.weight": torch.ones(32).int()})), r"is torch\.int32"),
    ],
)
def test_a_wrong_checkpoint_is_one_clear_line(tmp_path: Path, damage: Callable[[Path], None], message: str) -> None:
    save_checkpoint(tmp_path / "model", fresh())
    damage(tmp_path / "model")
    with pytest.raises(InputError, match=message) as caught:
        load_checkpoint(tmp_path / "model")
    assert "\n" not in str(caught.value)


def test_a_runs_folder_and_the_current_one_can_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_checkpoint(tmp_path / "run" / "checkpoint", fresh())
    assert digest(load_checkpoint(tmp_path / "run")) == digest(fresh())
    monkeypatch.chdir(tmp_path / "run" / "checkpoint")
    assert digest(load_checkpoint(Path("."))) == digest(fresh())
    assert has_checkpoint(Path("."))
    assert not has_checkpoint(tmp_path)


def test_no_checkpoint_at_all(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no checkpoint here"):
        load_checkpoint(tmp_path / "absent")
    with pytest.raises(InputError, match=r"maxproof\.json: can't be read"):
        load_checkpoint(tmp_path)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES])
@pytest.mark.parametrize("call", range(1, 9))
def test_a_failed_save_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, call: int
) -> None:
    """The disk is full at the n-th file that is synced or renamed."""
    save_checkpoint(tmp_path / "model", fresh(1))
    calls = 0

    def failing(real: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*args: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == call:
                raise OSError(code, os.strerror(code))
            return real(*args)

        return wrapped

    with monkeypatch.context() as patched:
        patched.setattr(module.os, "fsync", failing(os.fsync))
        patched.setattr(module.os, "replace", failing(os.replace))
        with pytest.raises(InputError, match="no space left" if code == errno.ENOSPC else "can't be saved"):
            save_checkpoint(tmp_path / "model", fresh(2))
    assert digest(load_checkpoint(tmp_path / "model")) == digest(fresh(1))
    assert os.listdir(tmp_path) == ["model"]
    save_checkpoint(tmp_path / "model", fresh(2))
    assert digest(load_checkpoint(tmp_path / "model")) == digest(fresh(2))


@pytest.mark.parametrize("call", range(1, 9))
def test_a_killed_save_leaves_the_old_one(tmp_path: Path, call: int) -> None:
    """The process dies at the n-th sync or rename, nothing is cleaned up."""
    save_checkpoint(tmp_path / "model", fresh(1))
    child = os.fork()
    if child == 0:
        calls = 0

        def dying(real: Callable[..., Any]) -> Callable[..., Any]:
            def wrapped(*args: Any) -> Any:
                nonlocal calls
                calls += 1
                if calls == call:
                    os._exit(9)
                return real(*args)

            return wrapped

        module.os.fsync, module.os.replace = dying(os.fsync), dying(os.replace)  # type: ignore[misc]
        save_checkpoint(tmp_path / "model", fresh(2))
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert digest(load_checkpoint(tmp_path / "model")) == digest(fresh(1))
    save_checkpoint(tmp_path / "model", fresh(3))
    assert digest(load_checkpoint(tmp_path / "model")) == digest(fresh(3))
    assert os.listdir(tmp_path) == ["model"]


def test_a_folder_with_anything_else_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match=r"'thesis\.tex'"):
        save_checkpoint(tmp_path / "model", fresh())
    assert (tmp_path / "model" / "thesis.tex").read_text() == "years of work"


def test_weights_that_are_not_finite_are_not_saved(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "model", fresh(1))
    broken = fresh(2)
    with torch.no_grad():
        broken.model.model.norm.weight[0] = torch.inf
    with pytest.raises(InputError, match=r"model\.norm\.weight: holds NaN or infinite"):
        save_checkpoint(tmp_path / "model", broken)
    assert digest(load_checkpoint(tmp_path / "model")) == digest(fresh(1))


def steps(model: Any, optimizer: Any, first: int, last: int) -> None:
    for step in range(first, last):
        ids = torch.randint(0, len(TOKENIZER), (4, 12), generator=torch.Generator().manual_seed(step))
        noise = torch.rand(())
        loss = torch.nn.functional.cross_entropy(model(ids)[:, :-1].flatten(0, 1), ids[:, 1:].flatten()) * noise
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def test_training_goes_on_bit_for_bit(tmp_path: Path) -> None:
    torch.manual_seed(5)
    straight = fresh()
    optimizer = torch.optim.AdamW(straight.model.parameters(), lr=1e-2)
    steps(straight.model, optimizer, 0, 3)
    state = capture(straight.model, optimizer, step=3, position=12, extra={"loss": 1.5})
    save_checkpoint(tmp_path / "model", straight, state=state)
    steps(straight.model, optimizer, 3, 6)

    resumed = load_checkpoint(tmp_path / "model")
    again = torch.optim.AdamW(resumed.model.parameters(), lr=1e-2)
    loaded = load_state(tmp_path / "model")
    assert loaded is not None
    assert (loaded.step, loaded.position, loaded.extra) == (3, 12, {"loss": 1.5})
    restore(loaded, resumed.model, again)
    steps(resumed.model, again, 3, 6)
    assert digest(resumed) == digest(straight)


@pytest.mark.parametrize("name", [NUMBERS, TENSORS])
def test_a_damaged_state_is_one_clear_line(tmp_path: Path, name: str) -> None:
    saved = fresh()
    save_checkpoint(
        tmp_path / "model", saved, state=capture(saved.model, torch.optim.AdamW(saved.model.parameters()), step=0)
    )
    (tmp_path / "model" / name).write_text("{")
    with pytest.raises(InputError, match=name):
        load_state(tmp_path / "model")


def test_another_models_state_is_refused() -> None:
    small, large = fresh(), fresh(layers=3)
    optimizer = torch.optim.AdamW(large.model.parameters())
    steps(large.model, optimizer, 0, 1)
    state = capture(large.model, optimizer, step=1)
    with pytest.raises(InputError, match=r"no parameter 'model\.layers\.2"):
        restore(state, small.model, torch.optim.AdamW(small.model.parameters()))
    wide = fresh(hidden=64)
    with pytest.raises(InputError, match="has shape"):
        restore(
            capture(large.model, optimizer, step=1),
            fresh(layers=3, hidden=64).model,
            torch.optim.AdamW(wide.model.parameters()),
        )
