"""Checkpoints in Hugging Face's layout, read and written tensor by tensor.

A folder holds `model.safetensors`, or several files and `model.safetensors.index.json`. Reading the headers takes no
tensor into memory; a writer knows every size beforehand, so it streams one tensor after another into the file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from maxproof.problems.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor

INDEX_NAME = "model.safetensors.index.json"
SINGLE_NAME = "model.safetensors"
_MAX_HEADER = 100_000_000  # bytes; the format's own limit

ITEM_SIZE = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U8": 1, "BOOL": 1}


@dataclass(frozen=True, slots=True)
class Entry:
    """One tensor as its header tells it: the safetensors name of the dtype, the shape, the file that holds it."""

    dtype: str
    shape: tuple[int, ...]
    file: Path

    @property
    def size(self) -> int:
        """Bytes. Raises KeyError for a dtype that isn't in ITEM_SIZE."""
        count = ITEM_SIZE[self.dtype]
        for length in self.shape:
            count *= length
        return count


def read_json(path: Path) -> Any:
    """The JSON in a file. Raises InputError."""
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(error.strerror or "can't be read", file=path) from error
    except (ValueError, RecursionError) as error:  # UnicodeDecodeError is a ValueError
        raise InputError("is not valid JSON", file=path) from error


def read_entries(folder: Path) -> dict[str, Entry]:
    """All tensors of a checkpoint by name, in the order of their files, without reading any. Raises InputError."""
    index = folder / INDEX_NAME
    if not index.is_file():
        single = folder / SINGLE_NAME
        if not single.is_file():
            raise InputError(f"holds neither {SINGLE_NAME} nor {INDEX_NAME}", file=folder)
        return _file_entries(single)
    value = read_json(index)
    names = value.get("weight_map") if isinstance(value, dict) else None
    if not isinstance(names, dict) or not all(isinstance(name, str) for name in names.values()):
        raise InputError("has no weight_map of tensor names to file names", file=index)
    entries: dict[str, Entry] = {}
    for file in sorted(set(names.values())):
        if Path(file).name != file:  # an index names files beside it, nothing else on this machine
            raise InputError(f"names {file!r}, which is not a file beside it", file=index)
        entries |= _file_entries(folder / file)
    if lost := sorted(set(names) - set(entries)):
        raise InputError(f"names {lost[0]}, which its file doesn't hold", file=index)
    return {name: entry for name, entry in entries.items() if name in names}


def _file_entries(path: Path) -> dict[str, Entry]:
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            size = os.fstat(file.fileno()).st_size
            if not 0 < length <= min(_MAX_HEADER, size - 8):
                raise InputError("is not a safetensors file, or is cut off", file=path)
            header = json.loads(file.read(length))
        header.pop("__metadata__", None)
        entries = {name: Entry(value["dtype"], tuple(value["shape"]), path) for name, value in header.items()}
        spans = {name: tuple(value["data_offsets"]) for name, value in header.items()}
        end = max((span[1] for span in spans.values()), default=0)
        wrong = next((name for name, entry in entries.items() if not _plausible(entry, *spans[name])), None)
    except OSError as error:
        raise InputError(error.strerror or "can't be read", file=path) from error
    except (ValueError, RecursionError, AttributeError, KeyError, TypeError, IndexError) as error:
        raise InputError("is not a safetensors file: its header can't be read", file=path) from error
    if wrong is not None:
        raise InputError(f"{wrong} has a shape that its bytes don't hold", file=path)
    if 8 + length + end != size:
        raise InputError(
            f"is cut off or has bytes too many: {size} bytes, its header says {8 + length + end}", file=path
        )
    return entries


def _plausible(entry: Entry, begin: int, end: int) -> bool:
    """Whether the bytes fit the shape; a dtype that isn't known passes, it is refused by name later."""
    if not all(isinstance(length, int) and length >= 0 for length in entry.shape) or not 0 <= begin <= end:
        return False
    return entry.dtype not in ITEM_SIZE or entry.size == end - begin


class TensorReader:
    """Reads single tensors of one checkpoint; keeps at most one file open."""

    def __init__(self, entries: Mapping[str, Entry]) -> None:
        self._entries = entries
        self._path: Path | None = None
        self._file: Any = None

    def read(self, name: str) -> Tensor:
        from safetensors import SafetensorError, safe_open

        path = self._entries[name].file
        try:
            if path != self._path:
                self._file, self._path = safe_open(path, "pt"), path
            tensor: Tensor = self._file.get_tensor(name)
        except (SafetensorError, OSError) as error:
            raise InputError(f"{name} can't be read: {error}", file=path) from error
        return tensor


def write_checkpoint(
    folder: Path, entries: Mapping[str, Entry], tensor_of: Callable[[str], Tensor], *, shard_bytes: int
) -> tuple[Path, ...]:
    """Writes the tensors that `entries` describes (its `file` is of no account) into `folder`, which exists.

    Args:
        tensor_of: gives a tensor of the entry's shape and dtype; each is asked for once and dropped once written.
        shard_bytes: a new file begins where this size would be passed.
    Returns: the files, in order.
    """
    shards = split(entries, shard_bytes)
    if len(shards) == 1:
        names = [SINGLE_NAME]
    else:
        names = [f"model-{i:05}-of-{len(shards):05}.safetensors" for i in range(1, len(shards) + 1)]
    for file, shard in zip(names, shards, strict=True):
        _write_file(folder / file, [(name, entries[name]) for name in shard], tensor_of)
    if len(shards) > 1:
        where = {name: file for file, shard in zip(names, shards, strict=True) for name in shard}
        total = sum(entry.size for entry in entries.values())
        index = {"metadata": {"total_size": total}, "weight_map": dict(sorted(where.items()))}
        (folder / INDEX_NAME).write_text(json.dumps(index, indent=2) + "\n", encoding="utf-8")
    return tuple(folder / name for name in names)


def split(entries: Mapping[str, Entry], shard_bytes: int) -> list[list[str]]:
    """Tensor names in their order, cut into runs of at most `shard_bytes`; a larger tensor stands alone."""
    shards: list[list[str]] = [[]]
    used = 0
    for name, entry in entries.items():
        if shards[-1] and used + entry.size > shard_bytes:
            shards.append([])
            used = 0
        shards[-1].append(name)
        used += entry.size
    return shards


def _write_file(path: Path, entries: Sequence[tuple[str, Entry]], tensor_of: Callable[[str], Tensor]) -> None:
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    offset = 0
    for name, entry in entries:
        end = offset + entry.size
        header[name] = {"dtype": entry.dtype, "shape": list(entry.shape), "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # the data begins at a multiple of 8
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name, entry in entries:
            _write_tensor(file.write, name, entry, tensor_of(name))


def _write_tensor(write: Callable[[memoryview], Any], name: str, entry: Entry, tensor: Tensor) -> None:
    import torch

    if tuple(tensor.shape) != entry.shape or tensor.numel() * tensor.element_size() != entry.size:
        raise ValueError(f"{name}: a {tensor.dtype} of shape {tuple(tensor.shape)} is not the {entry} announced")
    write(tensor.contiguous().view(-1).view(torch.uint8).numpy().data)


def total_size(entries: Iterable[Entry]) -> int:
    """Bytes of all of them."""
    return sum(entry.size for entry in entries)
