"""Reading problems and proofs from files.

    problem = load_problem(Path("examples/odd-sum.md"))
    problem = load_problem(Path("imo-proofbench.csv"), "PB-Basic-002")
    for problem in load_problems(Path("problems.jsonl")): ...
    proof = read_proof("proof.md")

A file is only ever parsed as data. Whatever is wrong with it is an `InputError`, one clear line.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from maxproof.problems.errors import InputError, nearest
from maxproof.problems.fields import to_problem
from maxproof.problems.problem import Problem
from maxproof.problems.records import Record, read_records
from maxproof.problems.text import bounded_text, opened

MAX_PROOF_BYTES = 8 * 1024 * 1024

_SHOWN_IDS = 5


def load_problem(path: Path, id: str | None = None) -> Problem:
    """The one problem of a file, or the one whose id is `id`.

    The whole file must parse and its ids must differ, but only the chosen record must be a proper problem.

    Raises InputError: unreadable file, no problem, several and no `id`, an unknown `id`, a bad record.
    """
    ids: list[str] = []
    chosen: Record | None = None
    for record in read_records(path):
        ids.append(record.id)
        if id is None or record.id == id:
            chosen = record
    if not ids:
        raise InputError("no problem in the file", file=path)
    if id is None and len(ids) > 1:
        raise InputError(
            f"holds {len(ids)} problems, expected one", file=path, hint=f"choose one with --id: {_some(ids)}"
        )
    if chosen is None:
        raise InputError(
            f"no problem with id {id!r} among {len(ids)}",
            file=path,
            hint=nearest(id or "", ids, count=3) or f"there are: {_some(ids)}",
        )
    return to_problem(chosen.raw, chosen.place, chosen.id)


def load_problems(path: Path) -> Iterator[Problem]:
    """Streams all problems of a file, in order. Raises InputError at the first bad record."""
    for record in read_records(path):
        yield to_problem(record.raw, record.place, record.id)


def read_proof(path: str | Path) -> str:
    """The text of a proof, UTF-8; `-` reads standard input. Never blank, at most MAX_PROOF_BYTES.

    Raises InputError.
    """
    if str(path) == "-":
        data, name = sys.stdin.buffer.read(MAX_PROOF_BYTES + 1), "<stdin>"
    else:
        name = str(path)
        with opened(Path(path), regular=False) as file:
            data = file.read(MAX_PROOF_BYTES + 1)
    text = bounded_text(data, name, MAX_PROOF_BYTES)
    if not text.strip():
        raise InputError("empty: expected the text of a proof", file=name)
    return text


def _some(ids: list[str]) -> str:
    more = f", … ({len(ids) - _SHOWN_IDS} more)" if len(ids) > _SHOWN_IDS else ""
    return ", ".join(ids[:_SHOWN_IDS]) + more
