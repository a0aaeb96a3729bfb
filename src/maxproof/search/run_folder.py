"""A run folder: all that a run needs to go on, to be shown, or to be replayed on another machine.

    run.json         what was asked: the problem, the settings, what kind of run (written once, then only its settings)
    journal.sqlite   every finished call (see `maxproof.models.journal`)
    proof.md         the proof that was returned, or the best candidate with its known errors
    result.json      the outcome for machines
    report.html      the outcome for people

The last three are derived: `maxproof report` makes them again from the first two, byte for byte, with no network.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, ValidationError

from maxproof.problems import InputError, Problem
from maxproof.search.settings import RunSettings

FORMAT = 1


class _Description(BaseModel):
    """What `run.json` holds beside its format."""

    kind: Literal["prove", "verify"]
    maxproof: str
    problem: Problem
    settings: RunSettings
    proof: str = ""
    served: dict[str, str] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunFolder:
    """One run folder, read from disk.

    `kind` is `prove` (the search) or `verify` (`proof` holds the text that is verified). `saved` is false as long as
    the settings are not those of `run.json`. `served`: by endpoint, the model that its server gave this run where the
    settings name none.
    """

    path: Path
    kind: Literal["prove", "verify"]
    problem: Problem
    settings: RunSettings
    version: str
    proof: str = ""
    served: Mapping[str, str] = field(default_factory=dict)
    saved: bool = True

    @property
    def name(self) -> str:
        """The folder's own name, whatever path it was opened by and whatever the locale takes its bytes for."""
        return os.fsencode(self.path.resolve().name).decode("utf-8", "backslashreplace")

    @property
    def journal(self) -> Path:
        return self.path / "journal.sqlite"

    @property
    def lost_journal(self) -> bool:
        """The run has worked, as its outputs or the journal's log show, but its journal is gone."""
        left = ("result.json", "proof.md", "journal.sqlite-wal")
        return not self.journal.exists() and any((self.path / name).exists() for name in left)

    def with_settings(self, settings: RunSettings) -> RunFolder:
        """The same run under other settings, not yet saved: only who holds the journal may do that."""
        served = {name: model for name, model in self.served.items() if _same_server(name, self.settings, settings)}
        return replace(self, settings=settings, served=served, saved=False)

    def save(self) -> None:
        """Writes `run.json`. The caller holds the journal's lock: no other process works under the old settings."""
        write_atomically(self.path / "run.json", self.to_json())

    def to_json(self) -> str:
        value = {
            "format": FORMAT,
            "kind": self.kind,
            "maxproof": self.version,
            "problem": asdict(self.problem),
            "settings": self.settings.model_dump(mode="json"),
            "proof": self.proof,
            "served": dict(self.served),
        }
        return json.dumps(value, indent=2, ensure_ascii=True) + "\n"


def create_run(
    path: Path, kind: Literal["prove", "verify"], problem: Problem, settings: RunSettings, version: str, proof: str = ""
) -> RunFolder:
    """Makes a new run folder.

    Raises InputError when `path` already holds a run or can't be written.
    """
    folder = RunFolder(path, kind, problem, settings, version, proof)
    try:
        if (path / "run.json").exists():
            raise InputError("already holds a run", file=path, hint=f"go on with it: maxproof resume {path}")
        path.mkdir(parents=True, exist_ok=True)
        write_atomically(path / "run.json", folder.to_json())
    except OSError as error:
        raise InputError(
            f"can't write the run folder: {error.strerror}", file=path, hint="name another one with --out"
        ) from error
    # As a replay will read it, so that nothing that JSON does not keep can make a difference.
    return open_run(path)


def make_folder(path: Path) -> None:
    """Makes the folder and those above it; one that is there is left. Raises InputError when that can't be."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the folder can't be made: {error.strerror}", file=path, hint="choose another one") from error


def open_run(path: Path) -> RunFolder:
    """Reads a run folder.

    Raises InputError when it is not one, was written by a newer version, or is damaged.
    """
    file = path / "run.json"
    try:
        value = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError("is not a run folder: it has no run.json", file=path) from None
    except NotADirectoryError:
        raise InputError("is not a run folder", file=path) from None
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror}", file=file) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"is damaged: {error}", file=file) from error
    if not isinstance(value, dict) or not isinstance(value.get("format"), int):
        raise InputError("is not a run description", file=file, field="format")
    if value["format"] > FORMAT:
        raise InputError(
            f"was written by MaxProof {value.get('maxproof')} in format {value['format']}; this version reads {FORMAT}",
            file=file,
            hint="upgrade maxproof",
        )
    try:
        told = _Description.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise InputError(f"is damaged: {first['msg']}", file=file, field=where) from error
    return RunFolder(path, told.kind, told.problem, told.settings, told.maxproof, told.proof, told.served)


def _same_server(endpoint: str, one: RunSettings, other: RunSettings) -> bool:
    urls = [settings.endpoints[endpoint].base_url for settings in (one, other) if endpoint in settings.endpoints]
    return len(urls) == 2 and urls[0] == urls[1]


def new_run_path(runs: Path, name: str) -> Path:
    """Makes the first unused folder of `RUNS/NAME-1`, `RUNS/NAME-2`, ...: two runs that start together get two.

    Raises InputError when it can't be made.
    """
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:60] or "run"
    number = 1
    while True:
        path = runs / f"{stem}-{number}"
        try:
            path.mkdir(parents=True)
            return path
        except FileExistsError:
            if not runs.is_dir():
                raise InputError("is not a folder", file=runs, hint="name the run folder with --out") from None
            number += 1
        except OSError as error:
            raise InputError(
                f"can't make the run folder: {error.strerror}", file=path, hint="name another one with --out"
            ) from error


def write_atomically(path: Path, text: str) -> None:
    """Replaces `path` by `text` (UTF-8) so that a reader sees the old or the new file, never a part."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
