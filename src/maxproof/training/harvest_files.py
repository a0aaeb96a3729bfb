"""The folder of a harvest: examples and triples as JSON lines, and how many there are.

train.jsonl, validation.jsonl            one `Harvest` a line
train.chat.jsonl, validation.chat.jsonl  instead, for other trainers: {"prompt": [...], "completion": [...]} a line
triples.jsonl                            one `Triple` a line, all splits
harvest.json                             the settings and the counts
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import TypeAdapter, ValidationError

from maxproof.models.template import load_template
from maxproof.problems import InputError
from maxproof.problems.text import read_lines
from maxproof.search.run_folder import write_atomically
from maxproof.training.harvest import SPLITS, Harvest, Harvested, HarvestSettings, Split, Triple
from maxproof.training.rollouts import RolloutRecord, read_rollouts
from maxproof.verifier.judge_reply import ReplyFault, parse_reply
from maxproof.verifier.types import Verdict

Format = Literal["records", "chat"]
ROLLOUTS, TRIPLES, SUMMARY = "rollouts.jsonl", "triples.jsonl", "harvest.json"
MAX_LINE_BYTES = 16 * 1024 * 1024

Record = TypeVar("Record", Harvest, Triple)

_HARVEST = TypeAdapter(Harvest)
_TRIPLE = TypeAdapter(Triple)


def rollout_files(paths: Iterable[Path]) -> list[Path]:
    """The rollout files: each path itself, or every `rollouts.jsonl` below it, in the order of their names.

    Raises InputError for a path that doesn't exist and a folder without one.
    """
    files: list[Path] = []
    for path in paths:
        found = sorted(path.rglob(ROLLOUTS)) if path.is_dir() else [path]
        if not found:
            raise InputError(f"no {ROLLOUTS} in this folder", file=path, hint="maxproof train prover writes it")
        if not found[0].exists():
            raise InputError("no such file", file=path)
        files += found
    return files


def read_all_rollouts(files: Iterable[Path]) -> Iterator[RolloutRecord]:
    """The records of several files, one after another. Raises InputError."""
    for file in files:
        yield from read_rollouts(file)


def write_harvest(folder: Path, harvested: Harvested, settings: HarvestSettings, format: Format) -> int:
    """Writes the folder, making it if need be; the number of examples that can't be said in a chat reply.

    Each file appears whole or not at all. Raises OSError; InputError if the folder holds something else already.
    """
    if (folder / SUMMARY).exists() or (folder.is_dir() and not any(folder.iterdir())) or not folder.exists():
        folder.mkdir(parents=True, exist_ok=True)
    else:
        raise InputError("a folder that holds something else", file=folder, hint="name a new or empty folder")
    unsayable = 0
    for split in SPLITS:
        examples = [example for example in harvested.examples if example.split == split]
        for old in (f"{split}.jsonl", f"{split}.chat.jsonl"):
            (folder / old).unlink(missing_ok=True)
        if format == "records":
            _write(folder / f"{split}.jsonl", [asdict(example) for example in examples])
        else:
            chats = [chat for example in examples if (chat := chat_example(example)) is not None]
            unsayable += len(examples) - len(chats)
            _write(folder / f"{split}.chat.jsonl", chats)
    _write(folder / TRIPLES, [asdict(triple) for triple in harvested.triples])
    summary = {
        "format": format,
        "settings": settings.model_dump(mode="json"),
        "counts": asdict(harvested.counts),
        "triples": len(harvested.triples),
        "unsayable": unsayable,
    }
    write_atomically(folder / SUMMARY, json.dumps(summary, indent=2) + "\n")
    return unsayable


def read_harvest(folder: Path, split: Split) -> list[Harvest]:
    """The examples of one split.

    Raises InputError for a folder that is no harvest in the format `records`, and for a bad line.
    """
    path = folder / f"{split}.jsonl"
    if (folder / f"{split}.chat.jsonl").exists() and not path.exists():
        raise InputError("a harvest in the chat format", file=folder, hint="harvest again with --format records")
    return _read(path, _HARVEST, split)


def read_triples(folder: Path, split: Split) -> list[Triple]:
    """The triples of one split. Raises InputError."""
    return [triple for triple in _read(folder / TRIPLES, _TRIPLE, None) if triple.split == split]


def _read(path: Path, adapter: TypeAdapter[Record], split: Split | None) -> list[Record]:
    if not path.parent.is_dir() or not path.exists():
        raise InputError("not a harvest", file=path.parent, hint=f"no {path.name}; maxproof harvest writes one")
    found: list[Record] = []
    for number, line in read_lines(path, MAX_LINE_BYTES):
        if not line.strip():
            continue
        try:
            record = adapter.validate_json(line)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            field = ".".join(str(part) for part in first["loc"]) or None
            raise InputError(first["msg"], file=path, line=number, field=field) from None
        if split is not None and record.split != split:
            raise InputError(f"expected {split}, got {record.split}", file=path, line=number, field="split")
        found.append(record)
    return found


# --- chat -------------------------------------------------------------------------------------------------------------


def chat_example(example: Harvest) -> Mapping[str, object] | None:
    """The example as messages: the free judge's own prompt, and a reply in the form that its parser reads.

    None when no reply says this: written out and read back, verdict or errors would differ (an error without words, for
    one).
    """
    reply = reply_text(example)
    read = parse_reply(reply)
    if isinstance(read, ReplyFault) or read.verdict is not example.verdict or len(read.errors) != len(example.errors):
        return None
    template = load_template("maxproof.verifier", "judge-free")
    messages = template.render({"problem": example.statement, "candidate": example.proof}, {"fault": None})
    return {
        "prompt": [{"role": message.role, "content": message.content} for message in messages],
        "completion": [{"role": "assistant", "content": reply}],
    }


def reply_text(example: Harvest) -> str:
    """What the deciding judge found, as a judge's reply."""
    errors = "\n".join(
        f'{number}. Location: "{_quotable(error.location)}"\n   Description: {_quotable(error.description)}'
        for number, error in enumerate(example.errors, 1)
    )
    listed = "none" if example.verdict is Verdict.NO_ERRORS else errors
    assessment = _untagged(example.assessment).strip() or "Each step was read."
    return (
        f"<assessment>\n{assessment}\n</assessment>\n<errors>\n{listed}\n</errors>\n"
        f"<verdict>{example.verdict}</verdict>"
    )


def _quotable(text: str) -> str:
    return " ".join(_untagged(text).split()).replace('"', "'")


def _untagged(text: str) -> str:
    """Judges are told to leave out angle brackets of what they quote: only comparisons keep theirs."""
    for kind in ("assessment", "errors", "verdict", "score"):
        for tag in (f"<{kind}", f"</{kind}"):
            text = text.replace(tag, tag.replace("<", "‹"))
    return text


def _write(path: Path, records: Iterable[Mapping[str, object]]) -> None:
    write_atomically(path, "".join(json.dumps(record, allow_nan=False) + "\n" for record in records))
