"""The report of an evaluation: `report.html`, `report.md`, `result.json` and a few lines for a terminal.

All are pure functions of the result: the same units give the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from maxproof.evaluation.bootstrap import RESAMPLES, Mean
from maxproof.evaluation.dataset.folder import GIVEN
from maxproof.evaluation.dataset.published import comparable
from maxproof.evaluation.dataset.result import EvalResult, UnitResult, Used, unit_json
from maxproof.evaluation.dataset.tables import WRONG_POINTS, Group, Tables, tables_of
from maxproof.evaluation.methods import TITLES
from maxproof.evaluation.oracle.told import oracle_lines, same_model
from maxproof.models.template import clip
from maxproof.report.blocks import Block, Charts, Details, Notice, Section, Table, to_html, to_markdown
from maxproof.report.layout import one_line
from maxproof.report.line_charts import Series, line_chart
from maxproof.search.run_folder import write_atomically
from maxproof.verifier.types import MAX_POINTS

FORMAT = 1
_NONE = "–"


def write_report(path: Path, result: EvalResult) -> Tables:
    """Writes `result.json`, `report.html` and `report.md` into the folder `path`. Raises OSError."""
    tables = tables_of(result)
    made = sections(result, tables)
    title = f"{result.asked.dataset}: {method_title(result)}"
    write_atomically(path / "result.json", json.dumps(result_json(result, tables), indent=1, ensure_ascii=True) + "\n")
    write_atomically(path / "report.html", to_html("Evaluation", title, subtitle(result), made))
    write_atomically(path / "report.md", to_markdown(title, subtitle(result), made))
    return tables


def result_json(result: EvalResult, tables: Tables) -> dict[str, Any]:
    """Everything that the report shows, and every candidate with its points."""
    asked = result.asked
    return {
        "format": FORMAT,
        "dataset": asked.dataset,
        "digest": asked.digest,
        "method": asked.method,
        "seeds": list(asked.seeds),
        "oracle": oracle_lines(asked),
        "same_model": same_model(asked),
        "states": result.states,
        "tables": asdict(tables),
        "units": [unit_json(unit) for unit in result.units],
    }


def method_title(result: EvalResult) -> str:
    """What was evaluated, in words."""
    if result.asked.method == GIVEN:
        return "given proofs, verified" if result.asked.verify else "given proofs"
    return TITLES[result.asked.method]


def subtitle(result: EvalResult) -> str:
    """The first line: what was run, and whether the oracle is independent."""
    states, asked = result.states, result.asked
    seeds = f"{len(asked.seeds)} seeds" if len(asked.seeds) > 1 else f"seed {asked.seeds[0]}"
    parts = [f"{asked.problems} problems, {seeds}; {states['done']} of {len(result.units)} runs done."]
    parts += [line + "." for line in (same_model(asked), *oracle_lines(asked)) if line]
    return " ".join(parts)


def summary_lines(result: EvalResult, tables: Tables) -> list[str]:
    """The outcome in a few lines, for a terminal and for the head of the report."""
    whole, states = tables.whole, result.states
    lines = [line for line in (same_model(result.asked), *oracle_lines(result.asked)) if line]
    if states["stopped"] or states["not_run"]:
        reasons = [unit.reason for unit in result.units if unit.reason]
        why = f" ({one_line(clip(reasons[0], 200))})" if reasons else ""
        lines.append(f"Not complete: {states['stopped']} runs ended early{why}, {states['not_run']} were not started")
    lines.append(f"Picked proof: {_points(whole.picked)} of {MAX_POINTS}")
    if whole.best.value is not None:
        lines.append(f"Best in the archive: {_points(whole.best)}; selection loss {_points(whole.loss)}")
    lines.append(f"Solved (picked, {MAX_POINTS} points): {_share(whole.solved)}")
    check = tables.verifier
    if check.perfect:
        lines.append(
            f"Of {check.perfect} graded candidates at full fitness the oracle gives {check.right} full points, "
            f"{check.wrong} at most {WRONG_POINTS:g}"
        )
    if tables.graded < tables.candidates:
        bound = "; best and selection loss may be more" if whole.best.value is not None else ""
        missing = tables.candidates - tables.graded
        lines.append(f"Not graded: {missing} of {tables.candidates} proofs; none is a zero{bound}")
    if whole.no_proof:
        lines.append(f"Without any proof: {whole.no_proof} runs; they are in no mean")
    if whole.no_pick:
        lines.append(f"Without a pick: {whole.no_pick} runs; they are in no mean of picked proofs")
    if stray := result.stray_grades:
        lines.append(
            f"Grades that fit no proof: {len(stray)}, the first of problem {one_line(stray[0].problem)}, "
            + (f"proof {stray[0].proof}" if stray[0].proof else f"attempt {stray[0].attempt}")
        )
    lines += _without_reference(result)
    used = (("Search", tables.search), ("Oracle", tables.oracle))
    lines += [f"{name}: {_used_text(amount)}" for name, amount in used if amount.calls]
    return lines


def _without_reference(result: EvalResult) -> list[str]:
    """A line, if a model has graded proofs of problems with nothing to mark them by."""
    bare = sum(not (problem.reference or problem.rubric) for problem in result.problems.values())
    if result.asked.oracle != "judge" or not bare:
        return []
    return [f"Graded without reference solution and grading scheme, as there is none: {bare} problems"]


def sections(result: EvalResult, tables: Tables) -> list[Section]:
    """The report's sections, those with nothing to show left out."""
    lines = summary_lines(result, tables)
    complete = result.states["done"] == len(result.units) and tables.whole.picked.value is not None
    head = "What was measured" if complete else "What was measured so far"
    made = [
        Section("Outcome", (Notice("good" if complete else "open", head, tuple(lines)), _measures(tables))),
        Section("By problem", _by_problem(result)),
        Section("Best in the archive by round", _rounds(tables)),
        Section("By domain and level", _groups("domain", tables.by_domain) + _groups("level", tables.by_level)),
        Section("The verifier against the oracle", _verifier(tables)),
        Section("Seeds", _seeds(tables)),
        Section("What it used", (_usage(tables),)),
        Section("Beside published results", _published(result)),
        Section("Proofs that are not graded", _ungraded(result)),
        Section("Settings", (_settings(result),)),
    ]
    return [section for section in made if section.blocks]


def _measures(tables: Tables) -> Table:
    whole = tables.whole
    rows = [
        ("picked proof, points", whole.picked, _number),
        ("highest fitness, points", whole.argmax, _number),
        ("best in the archive, points", whole.best, _number),
        ("selection loss, points", whole.loss, _number),
        (f"solved: picked proof has {MAX_POINTS} points", whole.solved, _percent),
        ("called right by the method itself", whole.passed, _percent),
    ]
    cells = tuple(
        (name, show(mean.value), _bounds(mean, show), str(mean.problems), str(mean.values))
        for name, mean, show in rows
        if mean.value is not None
    )
    note = (
        f"Means over problems of means over seeds. Intervals at 95 %: percentiles of {RESAMPLES} resamples of problems "
        "with all their seeds, as far out as Student's t asks for (with fewer than eight problems that is not far "
        "enough); of a share of 0 or 1, Wilson's over the problems. No interval: one problem, or no spread at all. "
        "What is not graded is left out, never taken for 0."
    )
    return Table(("measure", "value", "interval", "problems", "runs"), cells, note)


def _by_problem(result: EvalResult) -> tuple[Block, ...]:
    several = len(result.asked.seeds) > 1
    headers = (
        "problem", *(("seed",) if several else ()), "picked", "best", "loss", "by round", "ended", "rounds", "passed",
        "proofs", "not graded", "tokens", "cost", "oracle tokens", "oracle cost",
    )  # fmt: skip
    order = {problem: index for index, problem in enumerate(result.problems)}
    units = sorted(result.units, key=lambda unit: (order[unit.problem], unit.seed))
    rows = [_row(unit, several=several) for unit in units]
    if not rows:
        return ()
    search, oracle = (sum((part(unit) for unit in units), Used()) for part in (_search_of, _oracle_of))
    picked = [unit.picked_points for unit in units if unit.picked_points is not None]
    best = [unit.best for unit in units if unit.best is not None]
    losses = [unit.loss for unit in units if unit.loss is not None]
    rows.append(
        (
            "all", *(("",) if several else ()), _sum(picked), _sum(best), _sum(losses), "", "",
            str(sum(unit.rounds for unit in units)), str(sum(unit.passed for unit in units)),
            str(sum(len(unit.candidates) for unit in units)), str(sum(unit.not_graded for unit in units)),
            f"{search.tokens:,}", _money(search), f"{oracle.tokens:,}", _money(oracle),
        )
    )  # fmt: skip
    note = (
        "picked, best: the oracle's points of the returned proof and of the best graded one. by round: best after "
        "rounds 0, 1, ... A dash: not graded, not run, or not known."
    )
    return (Table(headers, tuple(rows), note),)


def _row(unit: UnitResult, *, several: bool) -> tuple[str, ...]:
    rounds = [_number(unit.best_after(number)) for number in range(unit.rounds + 1)] if unit.candidates else []
    ended = unit.stop if unit.state == "done" else unit.state.replace("_", " ")
    return (
        unit.problem, *((str(unit.seed),) if several else ()), _number(unit.picked_points), _number(unit.best),
        _number(unit.loss), " ".join(rounds), ended, str(unit.rounds), "yes" if unit.passed else "no",
        str(len(unit.candidates)), str(unit.not_graded), f"{unit.search.tokens:,}", _money(unit.search),
        f"{unit.oracle.tokens:,}", _money(unit.oracle),
    )  # fmt: skip


def _rounds(tables: Tables) -> tuple[Block, ...]:
    known = [(number, mean) for number, mean in enumerate(tables.by_round) if mean.value is not None]
    if len(known) < 2:
        return ()
    points = tuple((float(number), mean.value or 0.0) for number, mean in known)
    low = tuple(mean.value if mean.low is None else mean.low for _, mean in known)
    high = tuple(mean.value if mean.high is None else mean.high for _, mean in known)
    series = Series("best in the archive", points, tuple(v or 0.0 for v in low), tuple(v or 0.0 for v in high))
    chart = line_chart("mean points of the best in the archive", [series], "round", float(MAX_POINTS))
    rows = tuple((str(number), _number(mean.value), _bounds(mean, _number)) for number, mean in known)
    note = "Runs with a graded proof in round 0. One that has ended keeps its last value."
    return Charts((chart,), "Mean over problems with its interval."), Table(("round", "points", "interval"), rows, note)


def _groups(name: str, groups: Sequence[Group]) -> tuple[Block, ...]:
    if not groups:
        return ()
    rows = tuple(
        (
            group.name, str(group.problems), _number(group.picked.value), _bounds(group.picked, _number),
            _number(group.best.value), _number(group.loss.value), _percent(group.solved.value),
            _bounds(group.solved, _percent), str(group.ungraded + group.no_proof + group.no_pick),
        )
        for group in groups
    )  # fmt: skip
    headers = (name, "problems", "picked", "interval", "best", "loss", "solved", "interval", "left out")
    return (Table(headers, rows, "left out: runs without a proof or a pick, or whose picked proof is not graded."),)


def _verifier(tables: Tables) -> tuple[Block, ...]:
    check = tables.verifier
    if not check.perfect + check.rejected:
        return ()
    rows = (
        ("at full fitness, graded", str(check.perfect), ""),
        (f"… of these {MAX_POINTS} points by the oracle", str(check.right), ""),
        ("… of these less (false positives)", *_rate(check.perfect - check.right, check.false_positive)),
        (f"… of these at most {WRONG_POINTS:g} points", *_rate(check.wrong, check.wrongly_perfect)),
        ("below full fitness, graded", str(check.rejected), ""),
        (f"… of these {MAX_POINTS} points by the oracle", str(check.missed), ""),
        ("… these among all of full points (false negatives)", *_rate(check.missed, check.false_negative)),
        ("left out: not graded", str(check.not_graded), ""),
        ("left out: the method has no view", str(check.no_view), ""),
    )  # fmt: skip
    note = (
        "Full fitness: 7 by all verifications that were run; lazy verification may have run fewer than K where no "
        "decision needed more. Candidates that were patched or ranked high are not a random sample of proofs."
    )
    return (Table(("candidates", "count", "rate and interval"), rows, note),)


def _seeds(tables: Tables) -> tuple[Block, ...]:
    if len(tables.seeds) < 2:
        return ()
    rows = tuple((str(seed), _number(points), str(count)) for seed, points, count in tables.seeds)
    return (Table(("seed", "picked, mean points", "graded"), rows),)


def _usage(tables: Tables) -> Table:
    rows = tuple(
        (
            name,
            f"{used.calls:,}",
            f"{used.failed:,}",
            f"{used.tokens:,}",
            _money(used),
            "yes" if used.estimated else "no",
        )
        for name, used in (("search", tables.search), ("oracle", tables.oracle))
    )
    note = "Over all sessions. A dash: an endpoint has no prices. estimated: some token counts are our own."
    return Table(("part", "calls", "failed", "tokens", "cost", "estimated"), rows, note)


def _published(result: EvalResult) -> tuple[Block, ...]:
    rows = []
    for published, ids in comparable(result.problems.values()):
        ours = [
            sum(points) / len(points)
            for problem in ids
            if (
                points := [
                    u.picked_points for u in result.units if u.problem == problem and u.picked_points is not None
                ]
            )
        ]
        total = _number(sum(ours)) if len(ours) == len(ids) else f"{_number(sum(ours))} ({len(ours)} of 6 graded)"
        rows.append((published.name, total, str(published.one_shot), str(published.search), str(published.best)))
    if not rows:
        return ()
    headers = (
        "of 42 points",
        "here, picked",
        "published, one proof",
        "published, search",
        "published, best in archive",
    )
    note = (
        "A comparison only: arXiv 2606.13473, another model, graded by people. The oracle here is not those people; "
        "points of different graders are not the same points."
    )
    return (Table(headers, tuple(rows), note),)


def _ungraded(result: EvalResult) -> tuple[Block, ...]:
    rows = [
        (unit.problem, str(unit.seed), str(candidate.id), candidate.reason[:200])
        for unit in result.units
        for candidate in unit.candidates
        if candidate.points is None
    ]
    if not rows:
        return ()
    shown = Table(("problem", "seed", "proof", "reason"), tuple(rows[:500]), prose=True)
    more = f", the first {len(shown.rows)} shown" if len(rows) > len(shown.rows) else ""
    return (Details(f"{len(rows)} proofs{more}", (shown,)),)


def _settings(result: EvalResult) -> Table:
    asked = result.asked
    search = asked.settings.search
    rows = [
        ("dataset", f"{asked.dataset}, {asked.problems} problems, SHA-256 {asked.digest[:16]}…"),
        ("method", method_title(result)),
        ("seeds", ", ".join(map(str, asked.seeds))),
        ("graded", "every proof in the archive" if asked.grade == "archive" else "picked proofs only"),
    ]
    if asked.method != GIVEN or asked.verify:
        skipped = {"seed"}
        rows += [(name, str(value)) for name, value in search.model_dump().items() if name not in skipped]
        rows += [
            (f"endpoint {name}", f"{endpoint.base_url} {endpoint.model or asked.served.get(name, '')}".strip())
            for name, endpoint in asked.settings.endpoints.items()
        ]
    return Table(("setting", "value"), tuple(rows), prose=True)


def _search_of(unit: UnitResult) -> Used:
    return unit.search


def _oracle_of(unit: UnitResult) -> Used:
    return unit.oracle


def _number(value: float | None) -> str:
    return _NONE if value is None else f"{value:.2f}".rstrip("0").rstrip(".")


def _sum(values: Sequence[float]) -> str:
    return _number(sum(values)) if values else _NONE


def _percent(value: float | None) -> str:
    return _NONE if value is None else f"{100 * value:.1f} %"


def _bounds(mean: Mean, show: Any) -> str:
    return _NONE if mean.low is None or mean.high is None else f"{show(mean.low)} to {show(mean.high)}"


def _points(mean: Mean) -> str:
    bounds = f" [{_bounds(mean, _number)}]" if mean.low is not None else ""
    return f"{_number(mean.value)}{bounds}"


def _share(mean: Mean) -> str:
    bounds = f" [{_bounds(mean, _percent)}]" if mean.low is not None else ""
    return f"{_percent(mean.value)}{bounds}"


def _rate(count: int, mean: Mean) -> tuple[str, str]:
    return str(count), f"{_percent(mean.value)}, {_bounds(mean, _percent)}" if mean.value is not None else _NONE


def _money(used: Used) -> str:
    return _NONE if used.cost is None else f"{used.cost:,.4f}"


def _used_text(used: Used) -> str:
    cost = "" if used.cost is None else f", cost {used.cost:,.4f}"
    return f"{used.calls:,} calls, {used.tokens:,} tokens{cost}"
