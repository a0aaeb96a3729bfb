"""Checkpoints: a model with its tokenizer, in one folder that `transformers` can load as it is.

`config.json` (a LlamaConfig), `model.safetensors`, `tokenizer.json` and `tokenizer_config.json` are Hugging Face's
layout; `maxproof.json` says where the weights come from; `state.safetensors` and `state.json` are there while a
training run may be resumed.

A save writes a new folder beside the old one, syncs it and swaps the two: whenever it is interrupted, the old
checkpoint or the new one is there whole.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

import torch
from pydantic import ValidationError
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from maxproof.problems import InputError
from maxproof.training.model import NORM_EPSILON, ROTARY_BASE, Decoder
from maxproof.training.settings import ModelShape
from maxproof.training.state import NUMBERS, TENSORS, TrainState, state_files
from maxproof.training.tokenizer import Tokenizer

LAYOUT = 1
CONFIG, WEIGHTS, TOKENIZER, TOKENIZER_CONFIG, META = (
    "config.json",
    "model.safetensors",
    "tokenizer.json",
    "tokenizer_config.json",
    "maxproof.json",
)
_FILES = {CONFIG, WEIGHTS, TOKENIZER, TOKENIZER_CONFIG, META, TENSORS, NUMBERS}
LATEST = "checkpoint"
"""Where in a training run's folder its latest checkpoint is; `load_checkpoint` takes the run's folder too."""
_LARGEST_CONTEXT = 65536
_FIELDS = {
    "num_hidden_layers": "layers",
    "hidden_size": "width",
    "num_attention_heads": "heads",
    "num_key_value_heads": "kv_heads",
    "intermediate_size": "hidden",
    "max_position_embeddings": "context",
    "tie_word_embeddings": "tied",
}
DTypeName = Literal["float32", "bfloat16", "float16"]


@dataclass(frozen=True, slots=True)
class CheckpointMeta:
    """Where weights come from.

    Attributes:
        seed: of the initial weights or of the run that trained them.
        step: optimiser steps of that run.
        trained_by: what made them: "initial", "sft", "cispo", "merge ties", ...
        parent: digest of the checkpoint that the run started from; "" for initial weights.
        versions: package versions at the time.
        notes: further facts for the record, JSON values.
    """

    seed: int
    step: int = 0
    trained_by: str = "initial"
    parent: str = ""
    versions: Mapping[str, str] = field(default_factory=lambda: package_versions())
    notes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A model, its tokenizer and where it comes from."""

    model: Decoder
    tokenizer: Tokenizer
    meta: CheckpointMeta


def new_checkpoint(shape: ModelShape, tokenizer: Tokenizer, seed: int) -> Checkpoint:
    """Untrained weights for a tokenizer. Raises ValueError for a shape that doesn't work out."""
    return Checkpoint(Decoder(shape, len(tokenizer), seed), tokenizer, CheckpointMeta(seed))


def copy_model(model: Decoder) -> Decoder:
    """A model of its own with the same weights: training it leaves the first as it is."""
    copy = Decoder(model.shape, model.vocabulary).to(model.device)
    copy.load_state_dict(model.state_dict())
    return copy


def package_versions() -> dict[str, str]:
    """Versions of the packages that decide what training computes."""
    found = {}
    for name in ("maxproof", "torch", "tokenizers", "safetensors", "numpy"):
        with contextlib.suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def digest(checkpoint: Checkpoint) -> str:
    """SHA-256 of shape, tokenizer and float32 weights; not of `meta`."""
    total = hashlib.sha256(checkpoint.model.shape.model_dump_json().encode())
    total.update(checkpoint.tokenizer.to_json().encode())
    for name, weights in sorted(checkpoint.model.state_dict().items()):
        total.update(name.encode())
        total.update(weights.detach().float().cpu().contiguous().numpy().tobytes())
    return total.hexdigest()


def config_of(model: Decoder, tokenizer: Tokenizer, dtype: DTypeName) -> dict[str, Any]:
    """The content of config.json, as `transformers.LlamaConfig` reads it (its versions before and since 5)."""
    shape = model.shape
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": model.vocabulary,
        **{name: getattr(shape, ours) for name, ours in _FIELDS.items()},
        "head_dim": shape.width // shape.heads,
        "hidden_act": "silu",
        "rms_norm_eps": NORM_EPSILON,
        "rope_theta": ROTARY_BASE,
        "rope_parameters": {"rope_type": "default", "rope_theta": ROTARY_BASE},
        "attention_bias": False,
        "mlp_bias": False,
        "pad_token_id": tokenizer.pad,
        "bos_token_id": None,
        "eos_token_id": tokenizer.end,
        "torch_dtype": dtype,
    }


def save_checkpoint(
    folder: Path, checkpoint: Checkpoint, *, dtype: DTypeName = "float32", state: TrainState | None = None
) -> None:
    """Saves into `folder`, replacing the checkpoint that is there, in one swap.

    `dtype`: of the stored weights; half precision halves the file and is for shipping. `state`: to resume training.

    Raises InputError if the weights aren't finite, the folder holds anything but a checkpoint, or it can't be written
    (a full disk); what was there before is then still there.
    """
    weights = {name: value.detach().cpu() for name, value in checkpoint.model.state_dict().items()}
    if bad := _not_finite(weights):
        raise InputError("holds NaN or infinite weights; not saved", file=folder / WEIGHTS, field=bad)
    stored = {name: value.to(getattr(torch, dtype)).contiguous() for name, value in weights.items()}
    tokenizer_config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "pad_token": "<pad>",
        "unk_token": "<unk>",
        "eos_token": "<end>",
        "model_max_length": checkpoint.model.shape.context,
        "clean_up_tokenization_spaces": False,
    }
    contents = {
        CONFIG: _json(config_of(checkpoint.model, checkpoint.tokenizer, dtype)),
        WEIGHTS: save(stored, metadata={"format": "pt"}),
        TOKENIZER: checkpoint.tokenizer.to_json().encode(),
        TOKENIZER_CONFIG: _json(tokenizer_config),
        META: _json({"layout": LAYOUT, **asdict(checkpoint.meta)}),
        **(state_files(state) if state else {}),
    }
    _write_folder(folder, contents)


def has_checkpoint(folder: Path) -> bool:
    """Whether `folder` holds a checkpoint, sound or not; a save that was interrupted counts."""
    _recover(folder)
    return (folder / META).exists()


def load_checkpoint(folder: Path, device: torch.device | str = "cpu") -> Checkpoint:
    """Loads a checkpoint, or the latest of a training run's folder; stored half precision becomes float32.

    Raises InputError, naming file and field and what was expected, for an unknown layout, a tokenizer of another
    size than the embedding, tensors that are missing, unknown or of another shape than the config says, and weights
    that aren't finite.
    """
    _recover(folder)
    _recover(folder / LATEST)
    if not (folder / META).exists() and (folder / LATEST).is_dir():
        folder = folder / LATEST
    if not folder.is_dir():
        raise InputError("no checkpoint here: not a folder", file=folder)
    meta = _read_meta(folder / META)
    config = _read_json(folder / CONFIG)
    shape, vocabulary = _read_config(folder / CONFIG, config)
    tokenizer = Tokenizer.from_file(folder / TOKENIZER)
    if len(tokenizer) != vocabulary:
        raise InputError(
            f"is {vocabulary}, but {TOKENIZER} has {len(tokenizer)} tokens; expected the tokenizer of this model",
            file=folder / CONFIG,
            field="vocab_size",
        )
    try:
        tensors = load((folder / WEIGHTS).read_bytes())
    except (OSError, SafetensorError) as error:
        raise InputError(f"can't be read: {error}", file=folder / WEIGHTS) from error
    _check_tensors(folder / WEIGHTS, tensors, shape, vocabulary)
    model = Decoder(shape, vocabulary)
    model.load_state_dict({name: value.float() for name, value in tensors.items()})
    return Checkpoint(model.to(device), tokenizer, meta)


def trained(
    checkpoint: Checkpoint, model: Decoder, *, trained_by: str, seed: int, step: int, notes: Mapping[str, Any]
) -> Checkpoint:
    """`model`, which a run started from `checkpoint` has reached, as a checkpoint that names its parent."""
    meta = CheckpointMeta(seed, step, trained_by, digest(checkpoint), notes=notes)
    return replace(checkpoint, model=model, meta=meta)


def _expected_shapes(shape: ModelShape, vocabulary: int) -> dict[str, list[int]]:
    shared = shape.width // shape.heads * shape.kv_heads
    shapes = {"model.embed_tokens.weight": [vocabulary, shape.width], "model.norm.weight": [shape.width]}
    if not shape.tied:
        shapes["lm_head.weight"] = [vocabulary, shape.width]
    for layer in range(shape.layers):
        prefix = f"model.layers.{layer}."
        for name, size in (("q", shape.width), ("k", shared), ("v", shared), ("o", shape.width)):
            shapes[f"{prefix}self_attn.{name}_proj.weight"] = [size, shape.width]
        for name in ("gate", "up"):
            shapes[f"{prefix}mlp.{name}_proj.weight"] = [shape.hidden, shape.width]
        shapes[f"{prefix}mlp.down_proj.weight"] = [shape.width, shape.hidden]
        for name in ("input_layernorm", "post_attention_layernorm"):
            shapes[f"{prefix}{name}.weight"] = [shape.width]
    return shapes


def _check_tensors(path: Path, tensors: Mapping[str, Tensor], shape: ModelShape, vocabulary: int) -> None:
    # Before the expected names are listed: a damaged config may claim billions of layers.
    count = 9 * shape.layers + 2 + (not shape.tied)
    if len(tensors) != count:
        raise InputError(f"holds {len(tensors)} tensors; expected {count} for {shape.layers} layers", file=path)
    for name, size in _expected_shapes(shape, vocabulary).items():
        if name not in tensors:
            raise InputError("is missing", file=path, field=name)
        if (found := list(tensors[name].shape)) != size:
            raise InputError(f"has shape {found}; expected {size} by {CONFIG}", file=path, field=name)
        if not tensors[name].is_floating_point():
            raise InputError(f"is {tensors[name].dtype}; expected floating point", file=path, field=name)
    if bad := _not_finite(tensors):
        raise InputError("holds NaN or infinite weights", file=path, field=bad)


def _not_finite(tensors: Mapping[str, Tensor]) -> str | None:
    return next((name for name, value in tensors.items() if not torch.isfinite(value).all()), None)


def _read_config(path: Path, config: Mapping[str, Any]) -> tuple[ModelShape, int]:
    if config.get("model_type") != "llama":
        raise InputError(f"is {config.get('model_type')!r}; expected 'llama'", file=path, field="model_type")
    for name in (*_FIELDS, "vocab_size"):
        if type(config.get(name)) is not (bool if name == "tie_word_embeddings" else int):
            raise InputError(f"is {config.get(name)!r}; expected a number (or true, false)", file=path, field=name)
    for name, only in (("rms_norm_eps", NORM_EPSILON), ("rope_theta", ROTARY_BASE), ("hidden_act", "silu")):
        if config.get(name) != only:
            raise InputError(f"is {config.get(name)!r}; expected {only!r}", file=path, field=name)
    if config["max_position_embeddings"] > _LARGEST_CONTEXT:
        raise InputError(f"exceeds {_LARGEST_CONTEXT}", file=path, field="max_position_embeddings")
    try:
        shape = ModelShape(**{ours: config[name] for name, ours in _FIELDS.items()})
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(first["msg"], file=path, field=str(first["loc"][0])) from error
    if shape.width % (2 * shape.heads) or shape.heads % shape.kv_heads:
        raise InputError("width, heads and key-value heads do not divide", file=path, field="num_attention_heads")
    return shape, int(config["vocab_size"])


def _read_meta(path: Path) -> CheckpointMeta:
    content = _read_json(path)
    if content.get("layout") != LAYOUT:
        raise InputError(f"unknown layout {content.get('layout')!r}; expected {LAYOUT}", file=path, field="layout")
    try:
        return CheckpointMeta(
            int(content["seed"]),
            int(content["step"]),
            str(content["trained_by"]),
            str(content["parent"]),
            dict(content["versions"]),
            dict(content["notes"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"not what maxproof writes: {error!r}", file=path) from error


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror}; expected a checkpoint of maxproof", file=path) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"not JSON: {error}", file=path) from error
    if not isinstance(content, dict):
        raise InputError("not a JSON object", file=path)
    return content


def _json(content: Mapping[str, Any]) -> bytes:
    return (json.dumps(content, indent=2, sort_keys=True) + "\n").encode()


def _beside(folder: Path, suffix: str) -> Path:
    folder = folder.absolute()
    return folder.with_name(f".{folder.name}.{suffix}")


def _recover(folder: Path) -> None:
    """Undoes a swap that was interrupted between its two renames."""
    old = _beside(folder, "old")
    if old.is_dir() and not folder.exists():
        os.replace(old, folder)


def _write_folder(folder: Path, contents: Mapping[str, bytes]) -> None:
    folder = folder.absolute()
    new, old = _beside(folder, "new"), _beside(folder, "old")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        _recover(folder)
        if folder.exists() and (foreign := sorted({path.name for path in folder.iterdir()} - _FILES)):
            raise InputError(f"holds {foreign[0]!r}, which is no part of a checkpoint; not replaced", file=folder)
        for leftover in (new, old):
            shutil.rmtree(leftover, ignore_errors=True)
        new.mkdir()
        for name, content in contents.items():
            with open(new / name, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        _sync(new)
        if folder.exists():
            os.replace(folder, old)
        os.replace(new, folder)
    except OSError as error:
        shutil.rmtree(new, ignore_errors=True)
        _recover(folder)
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise InputError(
            "no space left to save the checkpoint" if full else f"the checkpoint can't be saved: {error.strerror}",
            file=folder,
            hint="what was saved before is untouched",
        ) from error
    # The swap is done: what fails from here on loses nothing.
    with contextlib.suppress(OSError):
        _sync(folder.parent)
    shutil.rmtree(old, ignore_errors=True)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
