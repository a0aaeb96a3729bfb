"""Reading formal problems.

    load_formal_problem(Path("square.dfy"))       # a file with one lemma whose body is empty
    load_formal_problems(Path("problems/"))       # a folder of them, one such file, or a .jsonl with Dafny text

A file's other declarations (functions, datatypes, lemmas with proofs) are definitions that the statement may use.
Whatever is wrong with a file is an `InputError` with file, line and column: unknown names and wrong types too, so that
no submission is blamed for them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from maxproof.formal.problem import FormalProblem
from maxproof.formal.syntax.ast import NOWHERE, Datatype, Declaration, Lemma, Position, SetDisplay
from maxproof.formal.syntax.errors import DafnySyntaxError
from maxproof.formal.syntax.parse import parse_program
from maxproof.formal.syntax.walk import descendants
from maxproof.problems.errors import InputError, Place, nearest
from maxproof.problems.text import read_lines, read_text, unix_newlines

MAX_BYTES: Final = 1_000_000
# How a translated problem names the Lean statement it came from.
_ORIGIN: Final = re.compile(r"^// SHA-256 of the Lean statement: ([0-9a-f]{64})$", re.MULTILINE)
_DOMAIN: Final = re.compile(r"^// domain: *(\S.{0,99}?) *$", re.MULTILINE)
_FIELDS: Final = ("dafny", "name", "split", "domain", "origin")


@dataclass(frozen=True, slots=True)
class FormalSet:
    """The problems of a set that can be read, in order, and of each other one why it can't, a line each."""

    problems: tuple[FormalProblem, ...]
    unreadable: tuple[str, ...] = ()


def load_formal_problem(path: Path) -> FormalProblem:
    """The problem of a `.dfy` file. Raises InputError."""
    problem = problem_from_text(read_text(path, MAX_BYTES), path)
    _resolve(problem, path)
    return problem


def load_formal_problems(path: Path) -> FormalSet:
    """All problems of a folder (read recursively, in the order of their paths), a `.dfy` file or a `.jsonl` file.

    A folder's sub-folders name the split. A line of a `.jsonl` file is an object with `dafny`, and may have `name`,
    `split`, `domain` and `origin`. A bad file or line, and a later problem of a name that is there already, is
    unreadable; the others are read all the same. Raises InputError: nothing found, or nothing that can be read.
    """
    if path.is_dir():
        files = sorted(path.rglob("*.dfy"))
        if not files:
            raise InputError("no .dfy file in the folder", file=path)
        return _readable(_in_folder(path, files))
    if path.suffix == ".jsonl":
        return _readable(_in_lines(path))
    return FormalSet((load_formal_problem(path),))


Read = tuple[Place, FormalProblem | InputError]


def _in_folder(path: Path, files: Iterable[Path]) -> Iterator[Read]:
    for file in files:
        try:
            problem = load_formal_problem(file)
            yield Place(file), replace(problem, split="" if file.parent == path else file.parent.name)
        except InputError as wrong:
            yield Place(file), wrong


def _in_lines(path: Path) -> Iterator[Read]:
    empty = True
    for number, line in read_lines(path, 2 * MAX_BYTES):
        if not line.strip():
            continue
        empty = False
        place = Place(path, number)
        try:
            yield place, _record(line, place)
        except InputError as wrong:
            yield place, wrong
    if empty:
        raise InputError("no problem in the file", file=path)


def _readable(found: Iterable[Read]) -> FormalSet:
    problems: dict[str, tuple[FormalProblem, Place]] = {}
    wrong: list[InputError] = []
    for place, problem in found:
        if isinstance(problem, InputError):
            wrong.append(problem)
        elif problem.name in problems:
            earlier = problems[problem.name][1]
            where = str(earlier.file) if earlier.file != place.file else str(earlier)
            message = f"problem '{problem.name}' is there twice, first in {where}"
            wrong.append(place.error(message, hint="rename one of them"))
        else:
            problems[problem.name] = problem, place
    if not problems:
        raise wrong[0]
    return FormalSet(tuple(problem for problem, _ in problems.values()), tuple(map(str, wrong)))


def problem_from_text(text: str, file: Path, name: str = "") -> FormalProblem:
    """The problem that `text` holds.

    Args:
        file: where the text is from, for messages.
        name: the lemma's name that is expected; "": any.

    Raises InputError: a syntax error, no lemma with an empty body, several, another name.
    """
    text = unix_newlines(text)

    def error(message: str, at: Position, hint: str | None = None) -> InputError:
        return _error(file, message, at, hint)

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
            braces = _braces_at_the_end(lemma)
            if braces is not None:
                message = f"lemma '{lemma.name}' has no body: this {{}} was read as an expression, the empty set"
                raise error(message, braces, "write the body {} after it")
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
    domain = _DOMAIN.search(text)
    return FormalProblem(
        lemma, definitions, text, file, domain=domain[1] if domain else "", origin=origin[1] if origin else ""
    )


def _error(file: str | Path, message: str, at: Position, hint: str | None = None) -> InputError:
    return InputError(message, file=f"{file}:{at.line}:{at.column}", hint=hint)


def _bodiless(declaration: Declaration) -> bool:
    return not isinstance(declaration, Datatype) and declaration.body is None


def _braces_at_the_end(lemma: Lemma) -> Position | None:
    """Where an empty set is the last that is written of a lemma."""
    last = max(descendants(lemma), key=lambda node: node.at, default=None)
    return last.at if isinstance(last, SetDisplay) and not last.items else None


def _resolve(problem: FormalProblem, file: str | Path) -> None:
    """Raises InputError for names and types that are wrong. What only the embedded checker can't read is none."""
    # Imported here: who only reads runs needs no resolver.
    from maxproof.formal.embedded.errors import ResolutionError, Unsupported
    from maxproof.formal.embedded.resolve.program import resolve
    from maxproof.formal.prelude.assemble import assemble
    from maxproof.formal.prelude.load import prelude

    declarations = (*problem.definitions, problem.lemma)
    taken = {name for part in (prelude().definitions, prelude().library) for name, _ in _declared(part.declarations)}
    for name, at in _declared(declarations):
        if name in taken:
            raise _error(file, f"'{name}' is a name of the prelude or declared twice", at, "give it another name")
        taken.add(name)
    try:
        resolve(assemble(declarations, [problem.name]).program)
    except ResolutionError as wrong:
        first = wrong.diagnostics[0]
        raise _error(file, first.message, first.at if first.at != NOWHERE else problem.lemma.at) from None
    except Unsupported:
        pass  # another checker may read it


def _declared(declarations: Iterable[Declaration]) -> Iterator[tuple[str, Position]]:
    """Every name that they declare, datatypes' constructors included."""
    for declaration in declarations:
        yield declaration.name, declaration.at
        if isinstance(declaration, Datatype):
            for constructor in declaration.constructors:
                yield constructor.name, constructor.at


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
        _resolve(problem, place.file)
    except InputError as wrong:
        # The text's own lines stand inside one line of the file.
        inner = (wrong.file or "").removeprefix(str(place.file)).strip(":")
        raise place.error(f"{inner}: {wrong.message}", field="dafny", hint=wrong.hint) from None
    return replace(
        problem,
        split=raw.get("split", ""),
        domain=raw.get("domain", problem.domain),
        origin=raw.get("origin", problem.origin),
    )
