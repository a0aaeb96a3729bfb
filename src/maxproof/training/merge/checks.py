"""What must agree before checkpoints are merged, compared before anything is written.

A merge of models that don't match succeeds silently and talks nonsense; so every difference that could do that is
refused, naming what differs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from maxproof.problems.errors import InputError
from maxproof.training.merge.shards import ITEM_SIZE, Entry, TensorReader, read_entries, read_json

FLOATS = frozenset({"F64", "F32", "F16", "BF16"})

# What says nothing about the function that the weights compute. Everything else in config.json must agree.
_COSMETIC = frozenset(
    {
        "_name_or_path",
        "_attn_implementation",
        "attn_implementation",
        "transformers_version",
        "torch_dtype",
        "dtype",
        "use_cache",
        "return_dict",
        "output_attentions",
        "output_hidden_states",
        "initializer_range",
        "attention_dropout",
        "hidden_dropout",
        "resid_pdrop",
        "embd_pdrop",
        "attn_pdrop",
        "bos_token_id",
        "eos_token_id",
        "pad_token_id",
        "pretraining_tp",
        "max_position_embeddings",
        "id2label",
        "label2id",
        "problem_type",
        "gradient_checkpointing",
        "is_llama_config",
        "auto_map",
    }
)
_ROPE = frozenset({"rope_theta", "rope_scaling", "rope_parameters"})
_TOKENIZER_FILES = ("tokenizer.json", "tokenizer.model", "vocab.json", "merges.txt")


@dataclass(frozen=True)
class Source:
    """One checkpoint to merge, by its headers.

    Attributes:
        tied: output and input embeddings are one matrix.
    """

    folder: Path
    config: Mapping[str, Any]
    entries: Mapping[str, Entry]
    tied: bool


def open_source(folder: Path) -> Source:
    """Reads config and tensor headers. Raises InputError if it is no checkpoint that can be merged."""
    if not folder.is_dir():
        raise InputError("is not a folder", file=folder)
    config = read_json(folder / "config.json")
    if not isinstance(config, dict):
        raise InputError("is not a JSON object", file=folder / "config.json")
    if config.get("quantization_config"):
        raise InputError("is quantised: merge the weights it was made from", file=folder)
    entries = read_entries(folder)
    for name, entry in entries.items():
        if entry.dtype not in ITEM_SIZE:
            raise InputError(f"{name} is stored as {entry.dtype}, which can't be merged", file=entry.file)
    tied = config.get("tie_word_embeddings")
    return Source(folder, config, entries, "lm_head.weight" not in entries if tied is None else bool(tied))


def check_mergeable(base: Source, experts: Sequence[Source]) -> None:
    """Raises InputError, in one line that names what differs, for the first expert that doesn't match the base."""
    for expert in experts:
        found = differences(base, expert)
        if found:
            more = f"; and {len(found) - 2} more differences" if len(found) > 2 else ""
            raise InputError(f"can't be merged with {base.folder}: {'; '.join(found[:2])}{more}", file=expert.folder)
    readers = [TensorReader(source.entries) for source in (base, *experts)]
    for name, entry in base.entries.items():
        if entry.dtype not in FLOATS and not _same(name, readers):
            raise InputError(f"{name} holds {entry.dtype}, no floats, and is not the same in all", file=base.folder)


def _same(name: str, readers: Sequence[TensorReader]) -> bool:
    from maxproof.training.merge.formulas import equal_tensors

    return equal_tensors([reader.read(name) for reader in readers])


def differences(base: Source, expert: Source) -> list[str]:
    """What keeps the two apart, the most telling first, one phrase each."""
    return [
        *_config_differences(base.config, expert.config),
        *_tokenizer_differences(base.folder, expert.folder),
        *_tensor_differences(base, expert),
    ]


def _config_differences(base: Mapping[str, Any], expert: Mapping[str, Any]) -> list[str]:
    ours, theirs = comparable_config(base), comparable_config(expert)
    first = ("architectures", "model_type", "vocab_size", "hidden_size")
    names = sorted(ours.keys() | theirs.keys(), key=lambda name: (name not in first, name))
    return [
        f"{name} is {_short(theirs.get(name))} against {_short(ours.get(name))} (config.json)"
        for name in names
        if ours.get(name) != theirs.get(name)
    ]


def comparable_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that matter; what says the same in two versions of transformers is made equal.

    Absent, null and false are one; rotary settings are flattened from `rope_parameters` (transformers 5) or
    `rope_scaling` and `rope_theta` (4); a `head_dim` that is hidden size over heads is left out.
    """
    fields = {
        name: value for name, value in config.items() if name not in _COSMETIC | _ROPE and value not in (None, False)
    }
    fields.pop("tie_word_embeddings", None)  # compared as `Source.tied`, which knows the default
    rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
    rope = dict(rope) if isinstance(rope, dict) else {"rope_scaling": rope}
    kind = rope.pop("rope_type", None) or rope.pop("type", None) or "default"
    rope.pop("type", None)
    theta = rope.pop("rope_theta", None) or config.get("rope_theta")
    if theta is not None:
        fields["rope_theta"] = theta
    if kind != "default":
        fields["rope_type"] = kind
    fields |= {f"rope {name}": value for name, value in rope.items()}
    width, heads = config.get("hidden_size"), config.get("num_attention_heads")
    if isinstance(width, int) and isinstance(heads, int) and heads and fields.get("head_dim") == width // heads:
        del fields["head_dim"]
    if fields.get("num_key_value_heads") == heads:
        fields.pop("num_key_value_heads", None)
    return fields


def _tokenizer_differences(base: Path, expert: Path) -> list[str]:
    files = [name for name in _TOKENIZER_FILES if (base / name).is_file()]
    theirs = [name for name in _TOKENIZER_FILES if (expert / name).is_file()]
    if not files or not theirs:
        where = base if not files else expert
        return [f"{where} has no tokenizer file ({', '.join(_TOKENIZER_FILES[:2])}, ...), so it can't be compared"]
    if "tokenizer.json" in files and "tokenizer.json" in theirs:
        return _tokenizer_json_differences(read_json(base / "tokenizer.json"), read_json(expert / "tokenizer.json"))
    if files != theirs:
        return [f"its tokenizer is in {', '.join(theirs)} against {', '.join(files)}"]
    return [
        f"the tokenizers differ ({name})"
        for name in files
        if (base / name).read_bytes() != (expert / name).read_bytes()
    ]


def _tokenizer_json_differences(base: Any, expert: Any) -> list[str]:
    if not (isinstance(base, dict) and isinstance(expert, dict)):
        return ["a tokenizer.json is not a JSON object"]
    ours, theirs = _vocabulary(base), _vocabulary(expert)
    if ours != theirs:
        tokens = [token for token in {**ours, **theirs} if ours.get(token) != theirs.get(token)]
        token = tokens[0]
        return [
            f"the tokenizers' vocabularies differ in {len(tokens)} of {len(ours)} tokens, the first {_short(token)}: "
            f"{theirs.get(token, 'absent')} against {ours.get(token, 'absent')}"
        ]
    model_base, model_expert = _model(base), _model(expert)
    if _merges(model_base) != _merges(model_expert):
        return ["the tokenizers' merges differ"]
    # How a text is cut to length, and in what version merges are written, is not the tokenizer's content.
    skipped = {"padding", "truncation", "model", "version"}
    return [
        f"the tokenizers differ in {name}"
        for name in sorted(base.keys() | expert.keys())
        if name not in skipped and base.get(name) != expert.get(name)
    ]


def _model(tokenizer: Mapping[str, Any]) -> Mapping[str, Any]:
    model = tokenizer.get("model")
    return model if isinstance(model, dict) else {}


def _vocabulary(tokenizer: Mapping[str, Any]) -> dict[str, Any]:
    """Token -> id (or score, of a unigram model), added tokens included."""
    vocabulary = _model(tokenizer).get("vocab")
    if isinstance(vocabulary, list):  # unigram: [token, score], the id is the place
        found: dict[str, Any] = {str(item[0]): (i, item[1:]) for i, item in enumerate(vocabulary) if item}
    else:
        found = dict(vocabulary) if isinstance(vocabulary, dict) else {}
    for token in tokenizer.get("added_tokens") or []:
        if isinstance(token, dict):
            found[str(token.get("content"))] = token.get("id")
    return found


def _merges(model: Mapping[str, Any]) -> list[str]:
    merges = model.get("merges")
    return [" ".join(map(str, merge)) if isinstance(merge, list) else str(merge) for merge in merges or []]


def _tensor_differences(base: Source, expert: Source) -> list[str]:
    if base.tied != expert.tied:
        words = {True: "tied", False: "untied"}
        return [f"its embeddings are {words[expert.tied]} against {words[base.tied]}"]
    ours, theirs = base.entries, expert.entries
    missing, extra = [n for n in ours if n not in theirs], [n for n in theirs if n not in ours]
    found = []
    if missing:
        found.append(f"it lacks {len(missing)} of {len(ours)} tensors, the first {missing[0]}")
    if extra:
        found.append(f"it has {len(extra)} tensors that the base lacks, the first {extra[0]}")
    for name, entry in ours.items():
        other = theirs.get(name)
        if other is None:
            continue
        if other.shape != entry.shape:
            found.append(f"{name} has shape {list(other.shape)} against {list(entry.shape)}")
        elif other.dtype != entry.dtype and not {other.dtype, entry.dtype} <= FLOATS:
            found.append(f"{name} is {other.dtype} against {entry.dtype}, which can't be mixed")
    return found


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
