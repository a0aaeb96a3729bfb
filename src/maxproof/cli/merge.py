"""`maxproof merge`: several experts of one base into one model, or into mergekit's YAML.

What does the work is imported when the command runs: the command line starts without it, and without torch.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from maxproof.cli import options as o
from maxproof.cli.errors import needs_extra, reporting
from maxproof.problems import InputError

if TYPE_CHECKING:
    from maxproof.training.merge.run import Merged
    from maxproof.training.merge.settings import MergeSettings


def merge(
    experts: Annotated[list[Path], typer.Argument(metavar="EXPERT...", help="Folders in Hugging Face's layout.")],
    base: Annotated[Path, typer.Option("--base", help="The model that all experts were trained from.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The new folder of the merged model.")] = None,
    method: Annotated[
        str, typer.Option("--method", help="linear, task_arithmetic, ties, dare_linear or dare_ties.")
    ] = "ties",
    weights: Annotated[
        str | None, typer.Option("--weights", metavar="W,W,...", help="One an expert. Default: all 1.")
    ] = None,
    density: Annotated[
        float, typer.Option("--density", help="Share of each task vector that is kept: ties and dare_*.")
    ] = 0.5,
    scale: Annotated[float, typer.Option("--scale", help="Factor on the merged task vector; not for linear.")] = 1.0,
    seed: Annotated[int, typer.Option("--seed", help="Of what dare_* drops.")] = 0,
    mergekit: Annotated[
        Path | None, typer.Option("--mergekit", metavar="FILE", help="Write the equivalent mergekit YAML.")
    ] = None,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Merge experts of one base; refuse, before writing, what doesn't match."""
    with reporting(as_json):
        settings = _settings(method, weights, len(experts), density, scale, seed)
        if out is None and mergekit is None:
            raise InputError("nothing to write: name a folder with --out, or a YAML file with --mergekit")
        if mergekit is not None:
            _write_mergekit(mergekit, base, experts, settings)
        if out is None:
            typer.echo(json.dumps({"mergekit": str(mergekit)}) if as_json else f"Written: {mergekit}")
            return
        merged = _merge(base, experts, out, settings, quiet=quiet or as_json)
        typer.echo(_as_json(merged, settings) if as_json else _as_text(merged, settings))


def _settings(method: str, weights: str | None, experts: int, density: float, scale: float, seed: int) -> MergeSettings:
    from pydantic import ValidationError

    from maxproof.training.merge.settings import MergeSettings

    try:
        given = (1.0,) * experts if weights is None else tuple(map(float, weights.split(",")))
    except ValueError:
        raise InputError(f"expected numbers and commas, such as 1,0.5,1, got {weights!r}", field="--weights") from None
    if len(given) != experts:
        raise InputError(f"{len(given)} weights for {experts} experts: give one an expert", field="--weights")
    values = {"method": method, "weights": given, "density": density, "scale": scale, "seed": seed}
    try:
        return MergeSettings.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        field = f"--{first['loc'][0]}" if first["loc"] else "--weights"
        raise InputError(first["msg"].removeprefix("Value error, "), field=field) from None


def _write_mergekit(path: Path, base: Path, experts: list[Path], settings: MergeSettings) -> None:
    from maxproof.search.run_folder import write_atomically
    from maxproof.training.merge.mergekit import to_mergekit

    write_atomically(path, to_mergekit(str(base), [str(expert) for expert in experts], settings))


def _merge(base: Path, experts: list[Path], out: Path, settings: MergeSettings, *, quiet: bool) -> Merged:
    with needs_extra("train", "merging"):
        import safetensors  # noqa: F401
        import torch  # noqa: F401
    from maxproof.training.merge.run import merge
    from maxproof.training.merge.smoke import smoke

    def progress(done: int, total: int) -> None:
        if not quiet and sys.stderr.isatty():
            print(f"\r{done}/{total} tensors", end="\n" if done == total else "", file=sys.stderr, flush=True)

    return merge(base, experts, out, settings, smoke=smoke, progress=progress)


def _as_json(merged: Merged, settings: MergeSettings) -> str:
    parents = [{"folder": folder, "sha256": digest} for folder, digest in merged.parents]
    value = {"out": str(merged.folder), "tensors": merged.tensors, "bytes": merged.size, "smoke": merged.smoke}
    return json.dumps({**value, "parents": parents, **settings.model_dump(mode="json")}, indent=2)


def _as_text(merged: Merged, settings: MergeSettings) -> str:
    what = f"{merged.tensors} tensors, {merged.size / 1e6:.1f} MB, {settings.method}"
    return f"Merged: {merged.folder} ({what})\nFirst generation: {merged.smoke}"
