"""`maxproof lab problems` and `maxproof lab grade`: the proof world's problems, and its exact oracle on a text.

What does the work is imported when a command runs: the command line starts without it.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from maxproof.cli import options as o
from maxproof.cli.errors import ExitCode, reporting
from maxproof.problems import InputError

if TYPE_CHECKING:
    from maxproof.lab.types import OracleReport

MAX_COUNT = 100_000


def problems(
    split: Annotated[
        Literal["train", "validation", "test"],
        typer.Option("--split", help="They differ in the problems' structure."),
    ] = "test",
    count: Annotated[int, typer.Option("--count", min=1, max=MAX_COUNT)] = 20,
    seed: Annotated[int, typer.Option("--seed", min=0)] = 0,
    domain: Annotated[str | None, typer.Option("--domain", help="Only this one.")] = None,
    level: Annotated[int | None, typer.Option("--level", min=1, max=4, help="Only this difficulty, 1 to 4.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="A .jsonl file, for maxproof prove FILE --id ID.")
    ] = None,
    as_json: o.Json = False,
) -> None:
    """Write problems of the lab as JSON lines, each with a reference proof and a rubric. The seed fixes them."""
    with reporting(as_json):
        from maxproof.lab.domains import DOMAINS
        from maxproof.lab.generate import problems as generated
        from maxproof.problems.errors import nearest
        from maxproof.search.run_folder import write_atomically

        if domain is not None and domain not in DOMAINS:
            hint = nearest(domain, DOMAINS) or f"known: {', '.join(DOMAINS)}"
            raise InputError(f"unknown domain {domain!r}", field="--domain", hint=hint)
        try:
            made = generated(
                split,
                count,
                seed,
                levels=(1, 2, 3, 4) if level is None else (level,),
                domains=None if domain is None else (domain,),
            )
        except ValueError as error:
            raise InputError(str(error), field="--count", hint="ask for fewer") from error
        found = [
            {key: value for key, value in asdict(problem.problem).items() if value is not None} for problem in made
        ]
        lines = "".join(json.dumps(record) + "\n" for record in found)
        if out is None:
            typer.echo(lines, nl=False)
            return
        if out.suffix.lower() != ".jsonl":
            raise InputError("expected a name that ends in .jsonl", file=out, field="--out")
        try:
            out.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(out, lines)
        except OSError as error:
            raise InputError(f"can't be written: {error.strerror}", file=out) from error
        first = {"problems": len(found), "file": str(out), "first": found[0]["id"]}
        typer.echo(json.dumps(first) if as_json else f"{len(found)} problems in {out}; the first is {found[0]['id']}")


def grade(
    problem: o.ProblemPath,
    proof: Annotated[Path, typer.Argument(metavar="PROOF", help="A text file; - for standard input.")],
    problem_id: o.ProblemId = None,
    as_json: o.Json = False,
) -> None:
    """What the lab's exact oracle says of PROOF, sentence by sentence. Exit code 0: no errors; 3: any.

    PROBLEM must be one of the lab's: its statement is read by the oracle.
    """
    with reporting(as_json):
        from maxproof.lab import oracle
        from maxproof.lab.domains import read_question
        from maxproof.models.template import visible
        from maxproof.problems.load import load_problem, read_proof
        from maxproof.verifier.types import Verdict

        found = load_problem(problem, problem_id)
        question = read_question(found.statement)
        if question is None:
            raise InputError(
                "the oracle can't read its statement: it is no problem of the lab",
                file=problem,
                hint="maxproof lab problems writes some; maxproof verify judges any other",
            )
        report = oracle.grade(question, read_proof(proof))
        typer.echo(json.dumps(asdict(report), indent=2) if as_json else visible(_text(report)))
        raise typer.Exit(ExitCode.PASSED if report.verdict is Verdict.NO_ERRORS else ExitCode.NOT_PASSED)


def _text(report: OracleReport) -> str:
    from maxproof.report.summary import oracle_line

    width = max((len(sentence.verdict) for sentence in report.sentences), default=0)
    lines = [oracle_line(report), ""]
    for sentence in report.sentences:
        lines.append(f"  {sentence.verdict:<{width}}  {' '.join(sentence.text.split())}")
        if sentence.description:
            lines.append(f"  {'':<{width}}    {sentence.description}")
    return "\n".join(lines).rstrip()
