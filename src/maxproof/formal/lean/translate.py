"""Lean 4 statements to formal problems, one at a time or a whole set."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from maxproof.formal.lean.commands import read_theorems
from maxproof.formal.lean.elaborate import elaborate
from maxproof.formal.lean.errors import NotTranslated
from maxproof.formal.lean.lemma import to_lemma
from maxproof.formal.lean.terms import Statement
from maxproof.formal.lean.tree import Theorem
from maxproof.formal.problem import FormalProblem
from maxproof.formal.syntax.ast import Position
from maxproof.formal.syntax.printer import print_declaration
from maxproof.problems import InputError

MAX_FILE_BYTES: Final = 50_000_000


@dataclass(frozen=True, slots=True)
class Refused:
    """A statement of a set that has no translation: where it stands, and what stands in the way."""

    name: str
    construct: str
    line: int
    column: int
    file: Path
    split: str = ""

    def __str__(self) -> str:
        return f"{self.name}: {self.file}, line {self.line}, column {self.column}: not translated: {self.construct}"


@dataclass(frozen=True, slots=True)
class TranslatedSet:
    """What became of every statement of a set, in its order; `statements` are the elaborated ones of `problems`."""

    problems: tuple[FormalProblem, ...]
    statements: tuple[Statement, ...]
    refused: tuple[Refused, ...]

    def __len__(self) -> int:
        return len(self.problems) + len(self.refused)


def translate(text: str, *, opened: Sequence[str] = (), split: str = "", file: Path | None = None) -> FormalProblem:
    """The formal problem that a Lean theorem states.

    Args:
        text: one theorem, with or without a proof, and the commands before it if there are any.
        opened: `open` commands that hold before the text, e.g. `open Real Nat`, or bare namespaces.

    Raises:
        NotTranslated: a construct outside the fragment, or not exactly one theorem.
    """
    theorems = read_theorems(text, _namespaces(opened))
    if len(theorems) > 1:
        second = theorems[1]
        at = second.at if isinstance(second, Theorem) else Position(second.line, second.column)
        raise NotTranslated("a second theorem", at)
    return _translated(theorems[0], split, file)[1]


def translate_set(path: Path) -> TranslatedSet:
    """Translates every theorem of a `.jsonl` file, a `.lean` file or a folder of `.lean` files (read recursively).

    A line of a `.jsonl` file is an object with `statement`, and may have `name`, `split` and `open` (a list of `open`
    commands).

    Raises:
        InputError: the file can't be read or has no such form, or two statements have one name.
    """
    problems: list[FormalProblem] = []
    statements: list[Statement] = []
    refused: list[Refused] = []
    for entry in _entries(path):
        try:
            statement, problem = _translated(entry.theorem, entry.split, entry.file)
        except NotTranslated as refusal:
            name = refusal.name or entry.name
            line = refusal.line + entry.line - 1
            refused.append(Refused(name, refusal.construct, line, refusal.column, entry.file, entry.split))
        else:
            statements.append(statement)
            problems.append(problem)
    seen: dict[str, Path | None] = {}
    for problem in problems:
        if problem.name in seen:
            raise InputError(f"{problem.file}: a second statement named {problem.name}")
        seen[problem.name] = problem.file
    return TranslatedSet(tuple(problems), tuple(statements), tuple(refused))


def write_problem(problem: FormalProblem, folder: Path) -> Path:
    """Writes `NAME.dfy` into `folder`: the lemma, under a header with the source's name and hash. Returns its path."""
    path = folder / f"{problem.name}.dfy"
    path.write_text(problem_text(problem), "utf-8")
    return path


def problem_text(problem: FormalProblem) -> str:
    """A translated problem as a Dafny file; the same text for the same Lean statement."""
    header = [
        f"// {problem.name}: translated from Lean 4",
        f"// SHA-256 of the Lean statement: {problem.origin}",
    ]
    declarations = [print_declaration(d).strip() for d in (*problem.definitions, problem.lemma)]
    return "\n".join(header) + "\n\n" + "\n\n".join(declarations) + "\n"


def _translated(theorem: Theorem | NotTranslated, split: str, file: Path | None) -> tuple[Statement, FormalProblem]:
    if isinstance(theorem, NotTranslated):
        raise theorem
    try:
        statement = elaborate(theorem)
        lemma, definitions = to_lemma(statement)
    except NotTranslated as refusal:
        refusal.name = refusal.name or theorem.name
        raise
    except RecursionError:  # the limits of the parser keep far from it, but the caller may be deep already
        raise NotTranslated("a statement nested too deeply", theorem.at, theorem.name) from None
    origin = hashlib.sha256(theorem.text.encode("utf-8")).hexdigest()
    problem = FormalProblem(lemma, definitions, source=theorem.text, file=file, split=split, origin=origin)
    return statement, problem


def _namespaces(opened: Sequence[str]) -> tuple[str, ...]:
    words = [w for line in opened for w in line.split()]
    return tuple(w for w in words if w not in ("open", "scoped"))


# Sets


@dataclass(frozen=True, slots=True)
class _Entry:
    """One statement of a set; `line` is the file's line on which its text begins."""

    theorem: Theorem | NotTranslated
    name: str
    split: str
    file: Path
    line: int


def _entries(path: Path) -> list[_Entry]:
    if path.is_dir():
        files = sorted(p for p in path.rglob("*.lean") if p.is_file())
        if not files:
            raise InputError(f"{path}: no .lean file in it")
        return [entry for file in files for entry in _from_lean(file)]
    return _from_records(path) if path.suffix == ".jsonl" else _from_lean(path)


def _from_lean(file: Path) -> list[_Entry]:
    try:
        theorems = read_theorems(_text(file))
    except NotTranslated as refusal:
        return [_Entry(refusal, file.stem, file.parent.name, file, 1)]
    return [_Entry(t, t.name or file.stem, file.parent.name, file, 1) for t in theorems]


def _from_records(file: Path) -> list[_Entry]:
    entries: list[_Entry] = []
    for number, line in enumerate(_text(file).split("\n"), 1):
        if not line.strip():
            continue
        record = _record(line, file, number)
        name = record.get("name", f"line {number}")
        try:
            theorems = read_theorems(record["statement"], _namespaces(record.get("open", ())))
        except NotTranslated as refusal:
            theorems = (refusal,)
        if len(theorems) != 1:
            raise InputError(f"{file}, line {number}: {len(theorems)} theorems in one record")
        entries.append(_Entry(theorems[0], name, record.get("split", ""), file, 1))
    return entries


def _record(line: str, file: Path, number: int) -> Mapping[str, Any]:
    try:
        record = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        raise InputError(f"{file}, line {number}: not JSON: {error}") from None
    opened = record.get("open", []) if isinstance(record, dict) else None
    strings = isinstance(record, dict) and all(isinstance(record.get(k, ""), str) for k in ("name", "split"))
    lines = isinstance(opened, list) and all(isinstance(o, str) for o in opened)
    if not strings or not lines or not isinstance(record.get("statement"), str):
        raise InputError(f"{file}, line {number}: no record with a statement, and texts for name, split and open")
    return record  # type: ignore[no-any-return]


def _text(file: Path) -> str:
    try:
        if file.stat().st_size > MAX_FILE_BYTES:
            raise InputError(f"{file}: larger than {MAX_FILE_BYTES // 1_000_000} MB")
        return file.read_text("utf-8")
    except OSError as error:
        raise InputError(f"{file}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise InputError(f"{file}: not UTF-8 text") from None
