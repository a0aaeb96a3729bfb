"""A study as one HTML page that loads nothing, as Markdown, and as JSON; simulated and measured alike."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from maxproof.evaluation.study.types import Arm, Curve, Difference, Question, StudyResult
from maxproof.problems.errors import InputError
from maxproof.problems.text import read_text
from maxproof.report.blocks import Block, Charts, Code, Details, Section, Table, Text, to_html, to_markdown
from maxproof.report.line_charts import DASHES, Level, Series, legend, line_chart
from maxproof.search.run_folder import make_folder, write_atomically

COMMAND = "command"
"""The setting that holds the command which makes the study again."""
FILES = ("result.json", "report.html", "report.md")
MAX_JSON_BYTES = 64 * 1024**2
MAX_NUMBER = 1e15
"""Sizes of numbers that can be drawn."""

_TITLE = "What the search is worth"
_RESULT = TypeAdapter(StudyResult)


def write_study(folder: Path, result: StudyResult) -> tuple[Path, ...]:
    """Writes the three `FILES` into the folder, which is made if it is not there, and returns their paths.

    Raises InputError if it can't be made, OSError if it can't be written.
    """
    make_folder(folder)
    sections = study_sections(result)
    texts = (
        json.dumps(asdict(result), indent=1, allow_nan=False) + "\n",
        to_html("MaxProof study", _TITLE, subtitle(result), sections),
        to_markdown(_TITLE, subtitle(result), sections),
    )
    paths = tuple(folder / name for name in FILES)
    for path, text in zip(paths, texts, strict=True):
        write_atomically(path, text)
    return paths


def read_study(path: Path) -> StudyResult:
    """A saved `result.json`. Raises InputError that names the field at fault."""
    try:
        result = _RESULT.validate_json(read_text(path, MAX_JSON_BYTES))
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or None
        raise InputError(f"no study: {first['msg']}", file=path, field=field) from error
    try:
        json.dumps(asdict(result), allow_nan=False)
    except ValueError as error:
        raise InputError("no study: a number in it is not finite", file=path) from error
    if any(abs(number) > MAX_NUMBER for number in _numbers(result)):
        raise InputError(f"no study: a number in it is out of range, beyond {MAX_NUMBER:g}", file=path)
    return result


def _numbers(result: StudyResult) -> Iterator[float]:
    """All that the report shows or draws."""
    yield result.seconds
    for question in result.questions:
        for arm in question.arms:
            yield from (arm.value, arm.low, arm.high, arm.budget, arm.count, *arm.more.values())
        for found in question.differences:
            yield from (found.value, found.low, found.high)
        for curve in question.curves:
            yield from (number for line in curve.lines.values() for point in line for number in point)


def subtitle(result: StudyResult) -> str:
    """What was studied, in a line."""
    return f"{result.kind}: {result.subject}; seed {result.seed}"


def study_sections(result: StudyResult) -> tuple[Section, ...]:
    """The whole report."""
    return (_summary(result), *map(_section, result.questions), _reproduce(result))


def _summary(result: StudyResult) -> Section:
    how = (
        "Everything here is simulated: it shows what follows from the model's assumptions, not what a real model does."
        if result.kind == "simulated"
        else "Everything here was measured on a real model; arms share calls, and each counts every call that it used."
    )
    rows = tuple((question.title, question.answer) for question in result.questions)
    return Section(
        "In short",
        (
            Text(
                f"{how} Intervals are 95 %; differences are paired by problem, and what can't be told from 0 is said "
                "to be so. Intervals are not corrected for the number of comparisons: of twenty differences that are "
                "none, one is expected to look like one."
            ),
            Table(("question", "answer"), rows, prose=True),
        ),
    )


def _section(question: Question) -> Section:
    blocks: list[Block] = [Text(f"{question.asked} Measured: {question.measure}."), _arms(question)]
    if question.differences:
        blocks.append(_differences(question))
    if question.curves:
        blocks.append(_charts(question))
        blocks.append(Details("The numbers drawn", tuple(_curve_table(question, curve) for curve in question.curves)))
    return Section(question.title, (*blocks, Text(question.answer)))


def _arms(question: Question) -> Table:
    known = dict.fromkeys(name for arm in question.arms for name in arm.more)
    # The measure itself may be among the further figures, and is shown once.
    names = tuple(name for name in known if any(arm.more.get(name) != arm.value for arm in question.arms))
    rows = tuple(
        (
            arm.name,
            _interval(question, arm),
            f"{arm.budget:,.1f}",
            f"{arm.count:,}",
            *(_more(name, arm.more.get(name)) for name in names),
        )
        for arm in question.arms
    )
    heads = tuple(name.removesuffix("_rate").replace("_", " ") for name in names)
    return Table(("arm", "measured", question.budget, "problems", *heads), rows)


def _differences(question: Question) -> Table:
    rows = tuple((f"{found.arm} - {found.against}", _signed(question, found)) for found in question.differences)
    return Table(("difference, paired", "measured"), rows)


def _charts(question: Question) -> Charts:
    kinds: dict[str, int] = {}
    for curve in question.curves:
        for name in curve.lines:
            kinds.setdefault(name, len(kinds) % len(DASHES))
    svg = [_chart(question, curve, kinds) for curve in question.curves]
    return Charts((legend(tuple(kinds.items())), *svg), "The bands are 95 % intervals.")


def _chart(question: Question, curve: Curve, kinds: dict[str, int]) -> str:
    series = [
        Series(
            name,
            tuple((x, value) for x, value, _, _ in points),
            tuple(low for _, _, low, _ in points),
            tuple(high for _, _, _, high in points),
            kinds[name],
        )
        for name, points in curve.lines.items()
    ]
    crosses = any(low < 0 for points in curve.lines.values() for _, _, low, _ in points)
    level = Level(0.0, 0.0, 0.0, "no difference") if crosses else None
    return line_chart(curve.title, series, curve.x_name, bottom=None, level=level)


def _curve_table(question: Question, curve: Curve) -> Table:
    places = sorted({x for points in curve.lines.values() for x, *_ in points})
    rows = []
    for name, points in curve.lines.items():
        at = {x: (value, low, high) for x, value, low, high in points}
        rows.append((name, *(_three(*at[x], _is_share(question, curve)) if x in at else "-" for x in places)))
    return Table((f"{curve.title}: {curve.x_name} =", *(f"{x:g}" for x in places)), tuple(rows))


def _reproduce(result: StudyResult) -> Section:
    blocks: list[Block] = []
    if command := result.settings.get(COMMAND):
        blocks.append(Code(command))
    blocks.append(Text(f"It took {result.seconds:,.0f} s."))
    rows = tuple((name, value) for name, value in result.settings.items() if name != COMMAND)
    blocks.append(Table(("setting", "value"), rows))
    return Section("Reproduce", tuple(blocks))


def _is_share(question: Question, curve: Curve | None = None) -> bool:
    """Shares are told by their name: a measure that begins so, a curve of positives or negatives."""
    if curve is not None and curve.title.startswith("false "):
        return True
    return question.measure.startswith("share")


def _interval(question: Question, arm: Arm) -> str:
    return _three(arm.value, arm.low, arm.high, _is_share(question))


def _three(value: float, low: float, high: float, share: bool) -> str:
    return f"{value:.1%} [{low:.1%}, {high:.1%}]" if share else f"{value:.2f} [{low:.2f}, {high:.2f}]"


def _signed(question: Question, found: Difference) -> str:
    if _is_share(question):
        return f"{found.value:+.1%} [{found.low:+.1%}, {found.high:+.1%}]"
    return f"{found.value:+.3f} [{found.low:+.3f}, {found.high:+.3f}]"


def _more(name: str, value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.1%}" if name.endswith("_rate") else f"{value:,.2f}"
