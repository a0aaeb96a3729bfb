"""Reading formal problems.

    load_formal_problem(Path("square.dfy"))       # a file with one lemma whose body is empty
    load_formal_problems(Path("problems/"))       # a folder of them, one such file, or a .jsonl with Dafny text

A file's other declarations (functions, datatypes, lemmas with proofs) are definitions that the statement may use.
Whatever is wrong with a file is an `InputError` with file, line and column.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from maxproof.formal.problem import FormalProblem
from maxproof.formal.syntax.ast import Datatype, Declaration, Position
from maxproof.formal.syntax.errors import DafnySyntaxError
from maxproof.formal.syntax.parse import parse_program
from maxproof.problems.errors import InputError, Place, nearest
from maxproof.problems.text import read_lines, read_text, unix_newlines

MAX_BYTES: Final = 1_000_000
# How a translated problem names the Lean statement it came from.
_ORIGIN: Final = re.compile(r"^// SHA-256 of the Lean statement: ([0-9a-f]{64})$", re.MULTILINE)
_FIELDS: Final = ("dafny", "name", "split", "domain", "origin")


def load_formal_problem(path: Path) -> FormalProblem:
    """The problem of a `.dfy` file. Raises InputError."""
    return problem_from_text(read_text(path, MAX_BYTES), path)


def load_formal_problems(path: Path) -> list[FormalProblem]:
    """All problems of a folder (read recursively, in the order of their paths), a `.dfy` file or a `.jsonl` file.

    A folder's sub-folders name the split. A line of a `.jsonl` file is an object with `dafny`, and may have `name`,
    `split`, `domain` and `origin`. Raises InputError: nothing found, a bad file, two problems of one name.
    """
    if path.is_dir():
        files = sorted(path.rglob("*.dfy"))
        if not files:
            raise InputError("no .dfy file in the folder", file=path)
        problems = [
            replace(load_formal_problem(file), split="" if file.parent == path else file.parent.name) for file in files
        ]
        places = [Place(file) for file in files]
    elif path.suffix == ".jsonl":
        problems, places = _records(path)
        if not problems:
            raise InputError("no problem in the file", file=path)
    else:
        return [load_formal_problem(path)]
    seen: dict[str, Place] = {}
    for problem, place in zip(problems, places, strict=True):
        if problem.name in seen:
            earlier = seen[problem.name]
            where = str(earlier.file) if earlier.file != place.file else str(earlier)
            raise place.error(f"problem '{problem.name}' is there twice, first in {where}", hint="rename one of them")
        seen[problem.name] = place
    return problems


def problem_from_text(text: str, file: Path, name: str = "") -> FormalProblem:
    """The problem that `text` holds.

    Args:
        file: where the text is from, for messages.
        name: the lemma's name that is expected; "": any.

    Raises InputError: a syntax error, no lemma with an empty body, several, another name.
    """
    text = unix_newlines(text)

    def error(message: str, at: Position, hint: str | None = None) -> InputError:
        return InputError(message, file=f"{file}:{at.line}:{at.column}", hint=hint)

    try:
        program = parse_program(text)
    except DafnySyntaxError as wrong:
        raise error(wrong.message, wrong.at) from None
    lemmas = [lemma for lemma in program.lemmas if not lemma.body]
    if not lemmas:
        hint = "the problem is the lemma with the body {}" if program.lemmas else None
        raise error("no lemma with an empty body", Position(1, 1), hint)
    for lemma in lemmas:
        if lemma.body is None:
            raise error(f"lemma '{lemma.name}' has no body", lemma.at, "the problem is the lemma with the body {}")
    if len(lemmas) > 1:
        message = f"two lemmas with an empty body, '{lemmas[0].name}' and '{lemmas[1].name}', expected one"
        raise error(message, lemmas[1].at, "a file holds one problem")
    lemma = lemmas[0]
    if name and lemma.name != name:
        raise error(f"the problem is named '{lemma.name}', expected '{name}'", lemma.at)
    definitions = tuple(declaration for declaration in program.declarations if declaration is not lemma)
    for definition in definitions:
        if _bodiless(definition):
            raise error(f"'{definition.name}' has no body", definition.at, "a definition says what it means")
    origin = _ORIGIN.search(text)
    return FormalProblem(lemma, definitions, text, file, origin=origin[1] if origin else "")


def _bodiless(declaration: Declaration) -> bool:
    return not isinstance(declaration, Datatype) and declaration.body is None


def _records(path: Path) -> tuple[list[FormalProblem], list[Place]]:
    problems: list[FormalProblem] = []
    places: list[Place] = []
    for number, line in read_lines(path, 2 * MAX_BYTES):
        if not line.strip():
            continue
        place = Place(path, number)
        problems.append(_record(line, place))
        places.append(place)
    return problems, places


def _record(line: str, place: Place) -> FormalProblem:
    try:
        raw: Any = json.loads(line)
    except (ValueError, RecursionError) as wrong:
        raise place.error(f"no JSON: {wrong}") from None
    if not isinstance(raw, dict):
        raise place.error("expected a JSON object with the field 'dafny'")
    for key, value in raw.items():
        if key in _FIELDS and not isinstance(value, str):
            raise place.error("expected a text", field=key)
    if "dafny" not in raw:
        raise place.error("missing", field="dafny", hint=nearest("dafny", raw) or "the text of the problem's .dfy file")
    try:
        problem = problem_from_text(raw["dafny"], Path(place.file), raw.get("name", ""))
    except InputError as wrong:
        # The text's own lines stand inside one line of the file.
        inner = (wrong.file or "").removeprefix(str(place.file)).strip(":")
        raise place.error(f"{inner}: {wrong.message}", field="dafny", hint=wrong.hint) from None
    return replace(
        problem, split=raw.get("split", ""), domain=raw.get("domain", ""), origin=raw.get("origin", problem.origin)
    )
