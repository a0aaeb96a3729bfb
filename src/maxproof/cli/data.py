"""`maxproof data`: from raw problems to a training set, one step a command.

The steps without a model are here; `rubric`, `annotate` and `filter` are in `data_models.py`. What does the work is
imported when a command runs: the command line starts without it.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Annotated, Literal

import typer

from maxproof.cli import options as o
from maxproof.cli.data_models import annotate, filter_, rubric
from maxproof.cli.errors import needs_extra, reporting

data_app = typer.Typer(
    name="data",
    help="Prepare problems for training: build, rubric, annotate, decontaminate, filter, balance, split.",
    epilog=(
        "Each step reads records and writes records, one JSON object a line, with what it did to them. Rows that can't "
        "be used go to OUT.rejects.jsonl with file, line and reason, and don't stop the run."
    ),
    no_args_is_help=True,
)

Records = Annotated[Path, typer.Argument(metavar="RECORDS", help="Records, a .jsonl file that `data build` made.")]
OutFile = Annotated[Path, typer.Option("--out", "-o", metavar="OUT", help="The records as they are then, .jsonl.")]
Strict = Annotated[bool, typer.Option("--strict", help="Stop at the first bad row, and write nothing.")]
Json = Annotated[bool, typer.Option("--json", help="The counts as JSON on stdout.")]
Threshold = Annotated[
    float | None,
    typer.Option("--threshold", help="Jaccard index of word n-grams from which texts are near. Default 0.6."),
]
Ngram = Annotated[int | None, typer.Option("--ngram", help="Words of an n-gram. Default 4.")]
Permutations = Annotated[int | None, typer.Option("--permutations", help="Values of a MinHash signature. Default 128.")]
Seed = Annotated[int | None, typer.Option("--seed", help="The same seed gives the same result.")]
_WHAT = "maxproof data"


@contextmanager
def _step(as_json: bool) -> Iterator[None]:
    """`reporting` for a step that writes all or nothing; SIGTERM ends it as Ctrl-C does, and leaves no file behind."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    with reporting(as_json) as report:
        report.again = "the output appears whole or not at all: the same command starts anew"
        before = signal.signal(signal.SIGTERM, stop)
        try:
            yield
        finally:
            signal.signal(signal.SIGTERM, before)


@data_app.command()
def build(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATHS...", help="Files (.jsonl, .csv, .json, .md, .txt) or folders of them."),
    ],
    out: OutFile,
    source: Annotated[str | None, typer.Option("--source", help="Source of records that name none.")] = None,
    taxonomy: Annotated[
        Path | None, typer.Option("--taxonomy", metavar="FILE", help="Domains and techniques. Default: our own.")
    ] = None,
    keep_duplicates: Annotated[
        bool, typer.Option("--keep-duplicates", help="Keep all copies of a statement, not only the first.")
    ] = False,
    strict: Strict = False,
    as_json: Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Make records of raw problems: field names and domains as sources write them, ids made unique, copies dropped."""
    with _step(as_json):
        from maxproof.cli.data_work import bar, told
        from maxproof.problems.data.build import BuildSettings, input_files
        from maxproof.problems.data.build import build as built
        from maxproof.problems.data.files import DataWriter
        from maxproof.problems.data.taxonomy import load_taxonomy

        files, known = input_files(paths), load_taxonomy(taxonomy)
        settings = BuildSettings(source=source, keep_duplicates=keep_duplicates)
        with DataWriter(out, inputs=files, strict=strict) as writer, bar(files, quiet=quiet) as advance:
            counts = built(files, writer, known, settings, advance)
        found = {"files": len(files), "duplicates": counts.duplicates, "renamed_ids": counts.renamed_ids}
        lines = [f"{counts.duplicates:,} copies dropped, {counts.renamed_ids:,} ids made unique"]
        told(writer, found, lines, as_json=as_json, quiet=quiet)


@data_app.command()
def decontaminate(
    records: Records,
    out: OutFile,
    evaluation: Annotated[
        list[Path],
        typer.Option(
            "--against", "-a", metavar="FILE", help="An evaluation set, any file of problems; may be given repeatedly."
        ),
    ],
    threshold: Threshold = None,
    containment: Annotated[
        float | None,
        typer.Option(
            "--containment",
            help="Also match when this share of an evaluation problem's n-grams is in a record. Default 0.9; 0: don't.",
        ),
    ] = None,
    references: Annotated[
        bool, typer.Option("--references", help="Compare reference solutions with one another, too.")
    ] = False,
    flag: Annotated[bool, typer.Option("--flag", help="Keep what matches, marked in its provenance.")] = False,
    ngram: Ngram = None,
    permutations: Permutations = None,
    seed: Seed = None,
    strict: Strict = False,
    as_json: Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Drop records that are in an evaluation set: copies in any spelling or with renamed variables, and near-copies.

    All pairs go to OUT.pairs.jsonl, with the exact Jaccard index and containment of each.
    """
    with _step(as_json):
        with needs_extra("data", _WHAT):
            from maxproof.problems.data.decontaminate import (
                DecontaminateSettings,
                EvaluationIndex,
                read_evaluation_set,
            )
            from maxproof.problems.data.decontaminate import decontaminate as decontaminated
        from maxproof.cli.data_work import bar, pair_lines, settings_of, told
        from maxproof.problems.data.files import DataWriter

        settings = settings_of(
            DecontaminateSettings,
            {
                "threshold": threshold, "containment": containment, "references": references, "ngram": ngram,
                "permutations": permutations, "seed": seed,
            },
        )  # fmt: skip
        index = EvaluationIndex((item for path in evaluation for item in read_evaluation_set(path)), settings)
        with (
            DataWriter(out, inputs=(records, *evaluation), beside=("pairs",), strict=strict) as writer,
            bar([records], quiet=quiet) as advance,
        ):
            counts = decontaminated(records, index, writer, flag=flag, advance=advance)
        chance = index.bands.chance(settings.threshold)
        found = {
            "evaluation": counts.evaluation, "by_kind": counts.by_kind, "pairs": counts.pairs,
            "threshold": settings.threshold, "chance_at_threshold": round(chance, 4),
        }  # fmt: skip
        told(writer, found, pair_lines(counts, index, settings.threshold, flag), as_json=as_json, quiet=quiet)


@data_app.command()
def balance(
    records: Records,
    out: OutFile,
    domains: Annotated[
        str | None,
        typer.Option(
            "--domains",
            metavar="NAME=SHARE,...",
            help="Target shares, of any total. Default: combinatorics=30.5, geometry=27.9, algebra=24.7, "
            "number theory=17.0.",
        ),
    ] = None,
    levels: Annotated[
        str | None,
        typer.Option(
            "--levels",
            metavar="NAME=SHARE,...",
            help="Target shares of levels too; `paper` is L1=10.8, L2=50.2, L3=31.8, L4=7.1. Default: as they come.",
        ),
    ] = None,
    size: Annotated[
        int | None, typer.Option("--size", help="Records to keep. Default: as many as meet the shares.")
    ] = None,
    cap: Annotated[
        float | None,
        typer.Option("--cap", help="Share of a domain above which a technique is too frequent. Default 0.1."),
    ] = None,
    strength: Annotated[
        float | None,
        typer.Option("--strength", help="How far such techniques come down: 0 not, 1 to the cap. Default 0.5."),
    ] = None,
    other: Annotated[
        Literal["drop", "keep"] | None,
        typer.Option("--other", help="Records whose domain or level has no share. Default: drop."),
    ] = None,
    seed: Seed = None,
    strict: Strict = False,
    as_json: Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Sample records so that domains have their shares, frequent techniques fewer, and rare ones all they have."""
    with _step(as_json):
        with needs_extra("data", _WHAT):
            from maxproof.problems.data.balance import LEVEL_SHARES, BalanceSettings
            from maxproof.problems.data.balance import balance as balanced
        from maxproof.cli.data_work import balance_json, balance_lines, bar, settings_of, shares_of, told
        from maxproof.problems.data.files import DataWriter

        values: dict[str, object] = {"size": size, "cap": cap, "strength": strength, "other": other, "seed": seed}
        if domains is not None:
            values["domains"] = shares_of(domains, "--domains")
        if levels is not None:
            values["levels"] = dict(LEVEL_SHARES) if levels == "paper" else shares_of(levels, "--levels")
        settings = settings_of(BalanceSettings, values)
        with (
            DataWriter(out, inputs=(records,), strict=strict) as writer,
            bar([records], quiet=quiet, passes=2) as advance,
        ):
            counts = balanced(records, writer, settings, advance)
        told(writer, balance_json(counts), balance_lines(counts, settings), as_json=as_json, quiet=quiet)


@data_app.command()
def split(
    records: Records,
    out: OutFile,
    validation: Annotated[
        float | None, typer.Option("--validation", help="Share of the records. Default 0.05.")
    ] = None,
    test: Annotated[float | None, typer.Option("--test", help="Share of the records. Default 0.05.")] = None,
    files: Annotated[
        bool, typer.Option("--files", help="Also write OUT.train.jsonl, OUT.validation.jsonl, OUT.test.jsonl.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check/--no-check", help="Look for leaks in the result, by other signatures.")
    ] = True,
    threshold: Threshold = None,
    ngram: Ngram = None,
    permutations: Permutations = None,
    seed: Seed = None,
    strict: Strict = False,
    as_json: Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Split records into training, validation and test, whole clusters of near-duplicates each, by domain.

    Temporary files, about 0.6 KB a record, stand beside OUT while it works. A leak that the check finds ends it with
    exit code 1.
    """
    with _step(as_json):
        with needs_extra("data", _WHAT):
            from maxproof.cli.data_split import split_and_check
        from maxproof.cli.data_work import settings_of, told
        from maxproof.problems.data.clusters import ClusterSettings
        from maxproof.problems.data.split import SplitSettings

        signature_seed = {"seed": seed + 1} if seed is not None else {}
        clusters = settings_of(
            ClusterSettings, {"threshold": threshold, "ngram": ngram, "permutations": permutations, **signature_seed}
        )
        settings = settings_of(
            SplitSettings, {"validation": validation, "test": test, "seed": seed, "clusters": clusters}
        )
        done = split_and_check(records, out, settings, files=files, check=check, strict=strict, quiet=quiet)
        told(done.writer, done.to_json(), done.lines(), as_json=as_json, quiet=quiet)
        if done.leaks:
            if as_json:
                typer.echo(json.dumps({"event": "leaks", "leaks": [leak.records for leak in done.leaks]}), err=True)
            raise SystemExit(1)


data_app.command()(rubric)
data_app.command()(annotate)
data_app.command("filter")(filter_)
