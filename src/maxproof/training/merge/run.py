"""The merge of checkpoint folders: checked first, written beside the target, renamed when all is well."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

from maxproof import __version__
from maxproof.problems.errors import InputError
from maxproof.training.merge.checks import FLOATS, Source, check_mergeable, open_source
from maxproof.training.merge.settings import MergeSettings
from maxproof.training.merge.shards import (
    Entry,
    TensorReader,
    read_json,
    total_size,
    write_checkpoint,
)

if TYPE_CHECKING:
    from torch import Tensor

META_NAME = "maxproof.json"
SHARD_BYTES = 5_000_000_000
# Beside the weights: what config, tokenizer and chat template are kept in. A training state isn't carried over.
_COMPANIONS = (
    "config.json",
    "generation_config.json",
    "tokenizer*",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.*",
    "merges.txt",
    "chat_template*",
    "*processor_config.json",
    "*.py",
)


@dataclass(frozen=True)
class Merged:
    """What was written.

    Attributes:
        tensors, size: of the merged model; size in bytes.
        parents: folder and SHA-256 of the weights, the base first.
        smoke: what the first generation showed, or why there was none.
    """

    folder: Path
    tensors: int
    size: int
    parents: tuple[tuple[str, str], ...]
    smoke: str


def merge(
    base: Path,
    experts: Sequence[Path],
    out: Path,
    settings: MergeSettings,
    *,
    smoke: Callable[[Path], str] | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
    shard_bytes: int = SHARD_BYTES,
) -> Merged:
    """Merges `experts` of `base` into the new folder `out`; a failure leaves no trace of it.

    Memory: one tensor of the base and of each expert at a time, at the width of the computation.

    Args:
        smoke: asked about the written folder before it gets its name; returns what it saw and raises InputError if the
            model is broken.
        progress: called with the tensors done and their total.
        shard_bytes: size at which a new file begins.
    Raises:
        InputError: something doesn't match, `out` exists, the disk is too full, or a merged value isn't finite.
    """
    if len(experts) != len(settings.weights):
        raise InputError(
            f"{len(settings.weights)} weights for {len(experts)} experts: give one an expert", field="weights"
        )
    sources = [open_source(folder) for folder in (base, *experts)]
    check_mergeable(sources[0], sources[1:])
    _check_room(out, sources[0])
    partial = out.with_name(f".{out.name}.{os.getpid()}.tmp")
    shutil.rmtree(partial, ignore_errors=True)  # of a killed process that had our number
    partial.mkdir(parents=True)
    try:
        parents = tuple((str(source.folder), weights_digest(source)) for source in sources)
        merged = _Merge(sources, settings, progress)
        write_checkpoint(partial, merged.entries, merged.tensor, shard_bytes=shard_bytes)
        _copy_companions(base, partial)
        _write_meta(base, partial, parents, settings)
        seen = smoke(partial) if smoke is not None else "none asked for"
        _sync(partial)
        partial.rename(out)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return Merged(out, len(merged.entries), total_size(merged.entries.values()), parents, seen)


class _Merge:
    """Gives the merged tensors one by one, as the writer asks for them."""

    def __init__(
        self, sources: Sequence[Source], settings: MergeSettings, progress: Callable[[int, int], None]
    ) -> None:
        self.entries: Mapping[str, Entry] = sources[0].entries
        self._readers = [TensorReader(source.entries) for source in sources]
        self._settings = settings
        self._progress = progress
        self._done = 0

    def tensor(self, name: str) -> Tensor:
        from maxproof.training.merge.formulas import merged_tensor

        base, *experts = self._readers
        tensor = base.read(name)
        if self.entries[name].dtype in FLOATS:  # else the same in all: checked before
            tensor = merged_tensor(name, tensor, (expert.read(name) for expert in experts), self._settings)
            if not bool(tensor.isfinite().all()):
                raise InputError("the merged values are not all finite", field=name)
        self._done += 1
        self._progress(self._done, len(self.entries))
        return tensor


def _check_room(out: Path, base: Source) -> None:
    if out.exists():
        raise InputError("exists already: name a new folder", file=out)
    place = next(parent for parent in out.absolute().parents if parent.exists())
    needed, free = total_size(base.entries.values()), shutil.disk_usage(place).free
    if needed > free:
        raise InputError(f"needs {needed / 1e9:.1f} GB, {free / 1e9:.1f} GB are free", file=out)


def _sync(folder: Path) -> None:
    """Nothing of the folder is lost by a power failure after its rename."""
    for path in (*folder.iterdir(), folder):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def weights_digest(source: Source) -> str:
    """SHA-256 over the names and contents of the weight files."""
    total = hashlib.sha256()
    for path in sorted({entry.file for entry in source.entries.values()}):
        with path.open("rb") as file:
            total.update(f"{path.name}\0{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return total.hexdigest()


def _copy_companions(base: Path, target: Path) -> None:
    for path in sorted(base.iterdir()):
        if path.is_file() and any(fnmatch(path.name, pattern) for pattern in _COMPANIONS):
            shutil.copyfile(path, target / path.name)


def _write_meta(base: Path, target: Path, parents: Sequence[tuple[str, str]], settings: MergeSettings) -> None:
    """What was merged. The record of a checkpoint of ours keeps its form, so that it stays one."""
    record = {
        "version": __version__,
        "parents": [{"folder": folder, "sha256": digest} for folder, digest in parents],
        **settings.model_dump(mode="json"),
    }
    path = base / META_NAME
    meta: Any = read_json(path) if path.is_file() else {}
    if isinstance(meta, dict) and "layout" in meta:
        value = meta | {
            "trained_by": f"merge {settings.method}",
            "seed": settings.seed,
            "step": 0,
            "parent": "",  # it has several: see the notes
            "notes": {"merge": record},
        }
    else:
        value = {"merge": record}
    (target / META_NAME).write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
