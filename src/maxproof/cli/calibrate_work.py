"""What `maxproof calibrate` does: graded proofs from files, verdicts from judges or a file, a card into a folder."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from maxproof.cli.errors import ExitCode
from maxproof.cli.loop import run_async
from maxproof.cli.train_judges import open_judges
from maxproof.evaluation.calibrate.card import Card, make_card
from maxproof.evaluation.calibrate.graded import read_graded
from maxproof.evaluation.calibrate.replay import RULES, judged, read_verdicts, verdicts_text
from maxproof.evaluation.calibrate.report import KICKER, card_sections, title_of
from maxproof.evaluation.calibrate.run import verify_graded
from maxproof.evaluation.calibrate.transcripts import read_transcripts
from maxproof.evaluation.calibrate.types import CardSettings, Evidence, Graded
from maxproof.models.bindings import resolve_bindings
from maxproof.models.call_key import public_url
from maxproof.models.caller import JournaledCaller
from maxproof.models.template import visible
from maxproof.models.types import Stop, StopKind
from maxproof.problems import InputError, Problem, load_problems
from maxproof.report.blocks import to_html, to_markdown
from maxproof.search.run_folder import make_folder, write_atomically
from maxproof.search.settings import RunSettings, SearchSettings
from maxproof.verifier import VerifierSettings

DEFAULT_SAMPLES = SearchSettings.model_fields["verifications"].default
TRUTH = "Grades are those of the file; a proof is right from {0:g} points on, or where the file says so."


@dataclass(frozen=True, slots=True)
class Source:
    """The files of a calibration; `proofs` or `transcripts` is there."""

    proofs: Path | None
    problems: Path | None
    verdicts: Path | None
    transcripts: Path | None


@dataclass(frozen=True, slots=True)
class Loaded:
    """What was read: `evidence` where verdicts are there already, else proofs to be verified."""

    proofs: tuple[Graded, ...]
    problems: Mapping[str, Problem]
    evidence: Evidence | None
    truth: str


@dataclass(frozen=True, slots=True)
class Done:
    """The card, and what ended the verification early, if anything did."""

    card: Card
    stop: Stop = field(default_factory=Stop)

    @property
    def exit_code(self) -> ExitCode:
        if self.stop.kind is StopKind.BUDGET:
            return ExitCode.BUDGET
        if self.stop.kind is StopKind.ENDPOINT:
            return ExitCode.NO_MODEL
        scored = any(rule.false_positive.rate.total + rule.false_negative.rate.total for rule in self.card.rules)
        return ExitCode.PASSED if scored else ExitCode.NOT_SCORED

    def to_text(self, folder: Path) -> str:
        lines = [to_markdown(KICKER, title_of(self.card), card_sections(self.card))]
        if self.stop:
            lines.append(self.stopped(folder))
        lines.append(f"Card: {folder / 'card.html'}")
        return visible("\n".join(lines))

    def stopped(self, folder: Path) -> str:
        """What ended it early, in a line."""
        return visible(f"Not all was verified: {self.stop.reason}. The same command with --out {folder} goes on.")


def card_settings(values: Mapping[str, object]) -> CardSettings:
    """Raises InputError."""
    try:
        return CardSettings.model_validate({key: value for key, value in values.items() if value is not None})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        option = "--" + "-".join(str(part) for part in first["loc"]).replace("_", "-")
        raise InputError(first["msg"].removeprefix("Value error, "), field=option) from None


def load(source: Source, settings: CardSettings) -> Loaded:
    """Reads and checks all files. Raises InputError."""
    truth = TRUTH.format(settings.right_at)
    if source.transcripts is not None:
        return Loaded((), {}, read_transcripts(source.transcripts), "")
    if source.proofs is None:
        raise ValueError("no proofs and no transcripts")
    problems = {problem.id: problem for problem in load_problems(source.problems)} if source.problems else {}
    proofs = read_graded(source.proofs, settings.right_at, problems or None)
    if source.verdicts is not None:
        found = read_verdicts(source.verdicts, (proof.id for proof in proofs))
        samples = tuple(judged(proof, found.get(proof.id, ())) for proof in proofs)
        return Loaded(
            proofs, problems, Evidence(samples, truth, verifier=f"replayed from {source.verdicts.name}"), truth
        )
    for proof in proofs:
        if not proof.text or not proof.statement:
            what = "text" if not proof.text else "statement of its problem"
            raise InputError(
                f"the proof {proof.id!r} has no {what}",
                file=source.proofs,
                hint="judges need it: add it, name --problems FILE, or replay verdicts with --verdicts FILE",
            )
    return Loaded(proofs, problems, None, truth)


def calibrated(
    loaded: Loaded,
    settings: CardSettings,
    folder: Path,
    judges: str,
    models: RunSettings | None,
    samples: int | None,
    seed: int,
    *,
    quiet: bool,
    as_json: bool,
) -> Done:
    """Verifies what has no verdicts, makes the card and writes it to `folder`. Raises InputError."""
    evidence, stop = loaded.evidence, Stop()
    if evidence is None:
        if models is not None:
            _check_names(models.verifier)
        make_folder(folder)  # before anybody is asked in vain
        wanted = models.search.verifications if models is not None else samples or DEFAULT_SAMPLES
        with _bar(len(loaded.proofs), quiet or as_json) as observe:
            evidence, stop = run_async(verified(loaded, folder, judges, models, wanted, seed, observe))
    card = make_card(evidence, settings)
    sections = card_sections(card)
    make_folder(folder)
    write_atomically(folder / "verdicts.jsonl", verdicts_text(evidence.proofs))
    write_atomically(folder / "card.json", json.dumps(card.to_json(), indent=2) + "\n")
    write_atomically(folder / "card.md", to_markdown(KICKER, title_of(card), sections))
    write_atomically(folder / "card.html", to_html("MaxProof", KICKER, title_of(card), sections))
    return Done(card, stop)


def _check_names(verifier: VerifierSettings) -> None:
    """Raises InputError for a judge that is called what the card calls a rule over the judges."""
    for judge in verifier.judges:
        if judge.name in RULES:
            raise InputError(
                f"{judge.name!r} is a rule over the judges, expected a judge's name", field="verifier.judges"
            )


async def verified(
    loaded: Loaded,
    folder: Path,
    judges: str,
    models: RunSettings | None,
    samples: int,
    seed: int,
    observe: Callable[[int], None],
) -> tuple[Evidence, Stop]:
    """Asks the judges `judges` names about the loaded proofs, through a journal in `folder` where they are endpoints.

    Returns what they said and what ended it early, if anything did. Raises InputError.
    """
    async with open_judges(judges, models, seed, folder, "calibrate") as (verifier, caller):
        found = await verify_graded(loaded.proofs, loaded.problems, verifier, samples, caller, observe)
        stop = Stop()
        if isinstance(caller, JournaledCaller):
            await caller.finish("calibrated")
            stop = caller.stop
        return Evidence(found, loaded.truth, verifier=_who(judges, verifier, models)), stop


def _who(judges: str, verifier: VerifierSettings, models: RunSettings | None) -> str:
    """The configured judges, each with its model; who was asked of them, the error rates show."""
    names = [judge.name for judge in verifier.judges]
    if models is None:
        return f"{judges}: {', '.join(names)}"
    bindings = resolve_bindings(models.endpoints, models.roles, verifier.judges)
    told = [(name, bindings[f"judge:{name}"]) for name in names]
    return ", ".join(
        f"{name} ({binding.model or 'the first model'} at {public_url(binding.settings.base_url)})"
        for name, binding in told
    )


@contextmanager
def _bar(total: int, quiet: bool) -> Iterator[Callable[[int], None]]:
    """A function that is told how many proofs are done; it shows them on a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda done: None
        return
    # Of use on a terminal only, and slow to import.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("verifying", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=total)
        yield lambda done: progress.update(task, completed=done)
