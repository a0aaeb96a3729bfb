"""What a person sees of a formal run: terminal, JSON and page from made-up attempts."""

from __future__ import annotations

import html
import json
import random
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from test_report_browser import ATTACKS, CHROMIUM, Document, assert_inert, load, trap  # noqa: F401 - a fixture

from maxproof.formal.error_classes import ErrorClass
from maxproof.formal.folder import FormalFolder
from maxproof.formal.load import problem_from_text
from maxproof.formal.problem import FormalProblem
from maxproof.formal.results import Attempt, Status
from maxproof.formal.settings import FormalSettings
from maxproof.formal.solution.types import SolutionState
from maxproof.models.types import Stop, StopKind
from maxproof.report.formal_html import MAX_TEXT_CHARS, render_formal_report
from maxproof.report.formal_outputs import write_formal_outputs
from maxproof.report.formal_text import proved_label, render_proof, render_set, run_json
from maxproof.report.formal_view import FormalView, view_of_attempts
from maxproof.search.settings import RunSettings

TOOL = "embedded 1 (z3 5)"


def problem(name: str, split: str = "", comment: str = "") -> FormalProblem:
    text = f"// {comment}\nlemma {name}(x: int)\n  ensures x * x >= 0\n{{}}\n"
    found = problem_from_text(text.replace("\r", " "), Path("p.dfy"))
    return FormalProblem(found.lemma, (), found.source, split=split)


def made(name: str, method: str = "empty", seed: int = 0, ok: bool = True, **more: object) -> Attempt:
    values: dict[str, object] = {"solution": "{}", "checker": TOOL, "proved": 1 if ok else 0, "checks": 1}
    if not ok:
        values |= {"errors": (ErrorClass.POSTCONDITION,), "findings": ("postcondition is false: x",), "reason": "false"}
    state = SolutionState.ACCEPTED if ok else SolutionState.UNPROVED
    return Attempt(name, method, seed, **({"state": state} | values | more))  # type: ignore[arg-type]


def view(
    attempts: Sequence[Attempt],
    names: Sequence[str] = ("a", "b"),
    statements: dict[str, Status] | None = None,
    stop: Stop | None = None,
    path: Path = Path("run"),
    **formal: object,
) -> FormalView:
    settings = FormalSettings.model_validate({"methods": ("empty", "symbolic"), **formal})
    problems = tuple(problem(name) for name in names)
    return view_of_attempts(
        FormalFolder(path, problems, settings, RunSettings(), "1", statements or {}), attempts, stop
    )


def test_the_order_in_which_attempts_ended_makes_no_difference() -> None:
    attempts = [made(n, m, s, ok=s % 2 == 0) for n in "ab" for m in ("empty", "symbolic") for s in range(3)]
    shuffled = random.Random(1).sample(attempts, len(attempts))
    assert view(shuffled, repeats=3) == view(attempts, repeats=3)
    assert render_formal_report(view(shuffled, repeats=3)) == render_formal_report(view(attempts, repeats=3))


def test_a_vacuous_problem_is_never_solved() -> None:
    shown = view([made("a"), made("b")], statements={"a": Status.VACUOUS})
    assert (shown.count(Status.SOLVED), shown.count(Status.VACUOUS)) == (1, 1)
    assert "1/2" in render_set(shown, each_problem=False)
    assert "1 of 2 solved" in render_formal_report(shown)


def test_a_proof_of_a_vacuous_statement_is_shown_as_that() -> None:
    shown = view([made("a")], names="a", statements={"a": Status.VACUOUS}, first_success=True)
    told = render_proof(shown)
    assert told.startswith("Vacuous: a: its hypotheses contradict each other")
    assert "Proved" not in told
    page = render_formal_report(shown)
    assert "Accepted, but not counted" in page
    assert 'class="outcome not_passed"' in page


@pytest.mark.parametrize("status", [Status.REFUTED, Status.ILL_FORMED])
def test_a_statement_that_is_not_sound_is_said_first(status: Status) -> None:
    shown = view([made("a", ok=False)], names="a", statements={"a": status}, first_success=True)
    assert render_proof(shown).startswith(("Refuted: a", "Ill-formed: a"))


def test_the_embedded_checker_never_proves_without_its_name() -> None:
    assert proved_label(TOOL, "") == "Proved (embedded checker 1 (z3 5))"
    assert proved_label(TOOL, "dafny-2.3 2.3.0 (z3 4)") == "Proved, certified by dafny-2.3 2.3.0 (z3 4)"
    assert proved_label("dafny-4 4.11 (z3)", "") == "Proved by dafny-4 4.11 (z3)"


def test_a_certified_proof_is_preferred_and_a_missing_certificate_is_said() -> None:
    long = made("a", "symbolic", solution="{ assert x == x; }", certified="dafny-2.3")
    shown = view([made("a"), long], names="a", first_success=True, certify=True)
    assert shown.entries[0].proof == long
    assert "certified by dafny-2.3" in render_proof(shown)
    assert "Not certified" in render_proof(view([made("a")], names="a", first_success=True, certify=True))


def test_repeated_attempts_show_pass_at_k_errors_and_unstable_problems() -> None:
    attempts = [made("a", seed=s, ok=s > 0) for s in range(4)] + [made("b", seed=s) for s in range(4)]
    told = render_set(view(attempts, repeats=4), each_problem=True)
    assert "pass@1" in told
    assert "pass@4" in told
    assert "proved 3/4" in told
    assert "unstable under empty: a" in told
    assert "refused under empty: 1 postcondition" in told
    page = render_formal_report(view(attempts, repeats=4))
    assert "pass@4: 100.0 %" in page
    assert "1 postcondition" in page


def test_an_attempt_without_a_verdict_is_not_a_failed_one() -> None:
    crashed = made("a", ok=False, state=SolutionState.TOOL_ERROR, findings=(), reason="the checker died")
    told = render_set(view([crashed, made("b")]), each_problem=True)
    assert "not scored, and tried again on resume: a" in told
    one = render_proof(view([crashed], names="a", first_success=True))
    assert one == "Not scored: a by empty (1 check, 0.00 s): the checker died"


def test_what_stopped_a_run_is_on_the_page_and_in_the_json() -> None:
    shown = view([made("a")], stop=Stop(StopKind.BUDGET, "the budget max_calls = 2 is reached"))
    assert "Not all was tried: the budget max_calls = 2 is reached" in render_formal_report(shown)
    assert run_json(shown)["stopped"] == "the budget max_calls = 2 is reached"


def test_outputs_are_json_a_page_and_a_file_for_each_proof(tmp_path: Path) -> None:
    shown = view([made("a"), made("b", ok=False)], path=tmp_path)
    write_formal_outputs(shown)
    assert json.loads((tmp_path / "result.json").read_text())["statuses"] == {"a": "solved", "b": "open"}
    assert [file.name for file in (tmp_path / "solutions").iterdir()] == ["a.dfy"]
    assert (tmp_path / "solutions" / "a.dfy").read_text() == "{}\n"
    assert (tmp_path / "report.html").read_text() == render_formal_report(shown)


def test_names_and_messages_cannot_move_the_cursor() -> None:
    attack = "\x1b[31m\x07\u202e"
    attempts = [made("a", ok=False, findings=(attack,), reason=attack, checker=attack), made("b")]
    shown = view(attempts)
    hostile = view_of_attempts(
        FormalFolder(
            Path("run"), (problem("a", attack), problem("b", attack)), shown.folder.formal, RunSettings(), "1"
        ),
        attempts,
    )
    one = view(attempts[:1], names="a", first_success=True)
    for told in (render_set(hostile, each_problem=True), render_proof(one), render_formal_report(hostile)):
        assert not set(attack) - set("[31m") & set(told)


def large_view(problems: int, text: str = "") -> FormalView:
    names = [f"mathd_numbertheory_{number}" for number in range(problems)]
    methods = ("empty", "symbolic", "guided", "population")
    solution = "{ assert x * x >= 0; }\n" * 10 + text
    findings = ("line 3, column 5: postcondition could not be proved: x * x < y * y (fails for x = 1, y = 2)",) * 8
    attempts = [
        made(name, method, ok=(number + turn) % 2 == 0, solution=solution)
        if (number + turn) % 2 == 0
        else made(name, method, ok=False, solution=solution, findings=findings)
        for number, name in enumerate(names)
        for turn, method in enumerate(methods)
    ]
    return view(attempts, names=names, methods=methods)


def test_the_page_of_488_problems_is_small_and_one_of_huge_texts_bounded() -> None:
    assert len(render_formal_report(large_view(488)).encode()) < 5_000_000
    assert len(render_formal_report(large_view(100, "x" * MAX_TEXT_CHARS)).encode()) < 8_000_000


def test_the_page_has_each_problem_once_with_a_link_to_it() -> None:
    page = render_formal_report(large_view(20))
    assert re.findall(r'<details class="card" id="(p\d+)"', page) == re.findall(r'<a href="#(p\d+)"', page)


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_hostile_statements_proofs_and_messages_do_nothing_in_a_browser(trap, tmp_path) -> None:  # noqa: F811
    attack = ATTACKS.replace("TRAP", trap.url)
    hostile = made("a", ok=False, solution=attack, findings=(attack,), reason=attack, checker=attack)
    accepted = made("b", solution=attack, checker=attack, certified=attack)
    problems = tuple(
        FormalProblem(problem(name).lemma, (), attack, split=attack, domain=attack, origin=attack) for name in "ab"
    )
    settings = FormalSettings.model_validate({"methods": ("empty",), "repeats": 2})
    folder = FormalFolder(Path(attack.replace("/", "")), problems, settings, RunSettings(), attack)
    shown = view_of_attempts(folder, [hostile, made("a", seed=1), accepted], Stop(StopKind.BUDGET, attack))
    page = render_formal_report(shown).replace("<details", "<details open")
    document = Document(load(page, tmp_path))
    assert_inert(document)
    assert html.unescape(document.title).endswith("MaxProof formal report")
    assert trap.hits == []
