"""The lemmas that a run offers, kept with it: a resumed run asks the same, whatever was learned meanwhile."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from maxproof.formal.learned.lemma import LearnedLemma, read_lemma
from maxproof.problems import InputError
from maxproof.search.run_folder import write_atomically

_FIELDS = ("key", "text", "problem", "method", "checker")


def write_snapshot(path: Path, lemmas: Sequence[LearnedLemma]) -> None:
    """Raises InputError."""
    entries = [{name: getattr(lemma, name) for name in _FIELDS} for lemma in lemmas]
    try:
        write_atomically(path, json.dumps(entries, indent=1, ensure_ascii=True) + "\n")
    except OSError as error:
        raise InputError(f"can't be written: {error.strerror}", file=path) from error


def read_snapshot(path: Path) -> tuple[LearnedLemma, ...]:
    """Raises InputError for a file that this program didn't write."""
    try:
        entries = json.loads(path.read_bytes())
        lemmas = [read_lemma(*(entry[name] for name in _FIELDS)) for entry in entries]
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror}", file=path) from error
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise InputError("is damaged", file=path, hint="start a new run") from error
    return tuple(lemma for lemma in lemmas if lemma is not None)
