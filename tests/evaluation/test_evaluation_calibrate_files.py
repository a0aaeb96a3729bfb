"""Graded proofs, replayed verdicts, logs, and the command that makes a card of them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from maxproof.cli.calibrate import calibrate
from maxproof.cli.calibrate_work import Loaded, verified
from maxproof.cli.config import load_config
from maxproof.evaluation.calibrate.card import MIN, make_card
from maxproof.evaluation.calibrate.graded import read_graded
from maxproof.evaluation.calibrate.replay import RULES, judged, read_verdicts, verdicts_text
from maxproof.evaluation.calibrate.style import styles_of
from maxproof.evaluation.calibrate.transcripts import CAUTION, REPORT, YES_NO, read_transcripts, stated_points
from maxproof.evaluation.calibrate.types import Graded, Sample
from maxproof.models.mock import MockServer, SimulatedModel
from maxproof.models.types import StopKind
from maxproof.problems import InputError, Problem

EXAMPLES = Path(__file__).parents[2] / "examples" / "calibrate"
TRANSCRIPTS = Path(__file__).parents[3] / "shared" / "data" / "imo2025-transcripts.jsonl"


def lines(path: Path, *rows: object) -> Path:
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


# --- graded proofs ----------------------------------------------------------------------------------------------------


def test_grades_are_points_or_yes_and_no(tmp_path: Path) -> None:
    file = lines(
        tmp_path / "g.jsonl",
        {"id": "a", "problem": "P", "proof": "text\r\nmore", "points": 7, "style": "terse", "extra": [1]},
        {"Proof ID": "b", "Problem-ID": "P", "solution": "t", "grade": "6.5"},
        {"id": "c", "problem": "P", "text": "t", "correct": True},
        {"id": "d", "problem": "P", "text": "t", "correct": "No", "points": 7},
        {"problem": "P", "text": "t", "points": 0},
        {"id": "f", "statement": "Prove it.", "proof": "t", "points": 3},
    )
    found = read_graded(file, 6.5)
    assert [graded.right for graded in found] == [True, True, True, False, False, False]
    assert (found[0].text, found[0].label) == ("text\nmore", "terse")
    assert found[4].id == "line 5"
    assert (found[5].problem, found[5].statement) == ("Prove it.", "Prove it.")
    assert [graded.right for graded in read_graded(file, 7)][1] is False


def test_csv_and_problems(tmp_path: Path) -> None:
    file = tmp_path / "g.csv"
    file.write_text("problem,proof,correct,group\nP1,first,yes,x\nP2,second,0,\n")
    found = read_graded(file, 7, {"P1": Problem("P1", "One."), "P2": Problem("P2", "Two.")})
    assert [(graded.statement, graded.right, graded.label) for graded in found] == [
        ("One.", True, "x"),
        ("Two.", False, ""),
    ]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"proof": "t", "points": 1}, "problem: names no problem"),
        ({"problem": "P", "proof": "t"}, "points: has no grade"),
        ({"problem": "P", "points": 8}, "points: expected a number from 0 to 7"),
        ({"problem": "P", "points": "nan"}, "points: expected a number from 0 to 7"),
        ({"problem": "P", "points": True}, "points: expected a number from 0 to 7"),
        ({"problem": "P", "points": [7]}, "points: expected a number from 0 to 7"),
        ({"problem": "P", "correct": "yes", "points": 8}, "points: expected a number from 0 to 7"),
        ({"problem": "P", "correct": "no", "points": -1}, "points: expected a number from 0 to 7"),
        ({"problem": "P", "correct": "perhaps"}, "correct: expected yes or no"),
        ({"problem": "P", "proof": ["t"], "points": 1}, "proof: expected text"),
        ("{", "not JSON"),
        ("[" * 100_000, "JSON"),
    ],
)
def test_a_bad_row_is_named(tmp_path: Path, row: object, message: str) -> None:
    file = lines(tmp_path / "g.jsonl", {"problem": "P", "points": 1}, row)
    with pytest.raises(InputError) as caught:
        read_graded(file, 7)
    assert message in str(caught.value)
    assert "g.jsonl:2" in str(caught.value)


def test_ids_and_problems_must_fit(tmp_path: Path) -> None:
    twice = lines(tmp_path / "g.jsonl", *[{"id": "a", "problem": "P", "points": 1}] * 2)
    with pytest.raises(InputError, match="'a' is given twice"):
        read_graded(twice, 7)
    with pytest.raises(InputError, match=r"no problem 'P'.*did you mean P1"):
        read_graded(lines(tmp_path / "h.jsonl", {"problem": "P", "points": 1}), 7, {"P1": Problem("P1", "One.")})
    with pytest.raises(InputError, match="no graded proof"):
        read_graded(lines(tmp_path / "i.jsonl"), 7)
    with pytest.raises(InputError, match="unknown suffix"):
        read_graded(tmp_path / "g.md", 7)


# --- replayed verdicts ------------------------------------------------------------------------------------------------


def test_verdicts_are_points_labels_or_passes(tmp_path: Path) -> None:
    file = lines(
        tmp_path / "v.jsonl",
        {"proof": "p", "judge": "a", "points": 5.5},
        {"proof": "p", "judge": "b", "verdict": "minor_gaps", "sample": 0},
        {"proof": "p", "judge": "c", "passed": True},
        {"proof": "p", "judge": "a", "sample": 1, "points": None},
        {"proof": "q", "sample": 3, "filtered": True},
    )
    found = read_verdicts(file, ["p", "q", "r"])
    assert found["p"] == (Sample({"a": 5.5, "b": 6.0, "c": 7.0}), Sample({"a": None, "b": None, "c": None}))
    assert found["q"] == (Sample({}, filtered=True),)
    assert "r" not in found


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"proof": "x", "judge": "a", "points": 1}], "v.jsonl:1: proof: no graded proof 'x'"),
        ([{"proof": "p", "judge": "a", "points": 9}], "points: "),
        ([{"proof": "p", "judge": "a", "verdict": "fine"}], "verdict: "),
        ([{"proof": "p", "points": 1}], "judge: names no judge"),
        ([{"proof": "p", "judge": "a", "points": True}], "points: expected a number, not true or false"),
        ([{"proof": "p", "judge": "j" * 1000}], "judge: "),
        ([{"proof": "p", "judge": "min"}], "'min' is a rule over the judges"),
        ([{"proof": "p", "judge": f"j{n}"} for n in range(65)], "v.jsonl:65: judge: more than 64 judges"),
        ([{"proof": "p", "judge": "a"}] * 2, "v.jsonl:2: judge: sample 0 of 'p' has a verdict already"),
        (
            [{"proof": "p", "judge": "a"}, {"proof": "p", "filtered": True}],
            "stopped by layer 1, but a judge has seen it",
        ),
        ([{"proof": "p", "filtered": True}, {"proof": "p", "judge": "a"}], "has a verdict already"),
        ([{"proof": "p", "judge": "a", "sample": 10**9}], "sample: "),
        (["[" * 10_000], "v.jsonl:1"),
        ([], "no verdict in the file"),
    ],
)
def test_a_verdict_that_says_nothing_is_refused(tmp_path: Path, rows: list[object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_verdicts(lines(tmp_path / "v.jsonl", *rows), ["p"])
    assert message in str(caught.value)


def test_what_is_written_reads_back(tmp_path: Path) -> None:
    samples = (Sample({"a": 7.0, "b": None}), Sample({}, filtered=True), Sample({"a": 0.0, "b": 6.0}))
    proof = judged(Graded("p", "q", True, "Text."), samples)
    file = tmp_path / "v.jsonl"
    file.write_text(verdicts_text([proof]))
    assert read_verdicts(file, ["p"])["p"] == samples


def test_styles_are_what_layer_2_takes_off() -> None:
    assert styles_of("x = 1, so we are done.") == frozenset()
    assert {"opening", "heading"} <= styles_of("Here is a complete proof.\n\n## Claim of the day\n\nLet $x = 1$. Done.")


def test_styles_need_no_content_guard(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> str:
        raise AssertionError("the guard compares formulas, which a style doesn't need")

    monkeypatch.setattr("maxproof.verifier.normalise.violation", fail)
    assert styles_of("## Guarded\n\n**Let** $x = 1$.\n\n---\n\nDone.") == {"heading", "bold", "rule_line"}


# --- logs -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verdict", "points"),
    [
        ("**Final Verdict:** The solution is correct.", 7.0),
        ("Final Verdict: The solution is **invalid** because of gaps.", 0.0),
        ("**Final verdict**\nThe solution contains a Critical Error.", 0.0),
        ("Final Verdict: The solution's approach is viable but contains a Justification Gap.", 6.0),
        ("Final Verdict: The solution is largely correct, but it contains one minor Justification Gap.", 6.0),
        ("Final Verdict: The solution is incomplete.", 0.0),
        ("Final Verdict: A single, clear sentence.", None),
        ("The solution is correct.", None),
        ("", None),
    ],
)
def test_the_stated_verdict_of_a_report(verdict: str, points: float | None) -> None:
    assert stated_points(f"### Summary ###\n\n{verdict}\n\nMore.") == points


def log(kinds: str, model: str = "m", problem: str = "p", start: int = 0) -> list[dict[str, object]]:
    """P a proof, v a report, y and n its answers, ? another answer."""
    names = {"P": "proof", "v": "verification"}
    texts = {"P": "A proof.", "v": "Final Verdict: The solution is correct.", "y": "Yes", "n": "no", "?": "maybe"}
    return [
        {"model": model, "problem": problem, "seq": start + n, "kind": names.get(k, "yes_no"), "text": texts[k]}
        for n, k in enumerate(kinds)
    ]


def test_a_log_settles_on_its_last_proof(tmp_path: Path) -> None:
    rows = log("PPvyvnPv?Pvyvy") + log("Pvyvn", "other")
    evidence = read_transcripts(lines(tmp_path / "t.jsonl", *reversed(rows)))
    assert [(proof.right, len(proof.samples)) for proof in evidence.proofs if proof.label == "m"] == [
        (False, 2),
        (False, 1),
        (True, 2),
    ]
    assert [proof.right for proof in evidence.proofs if proof.label == "other"] == [False]
    assert evidence.unused == {"proofs without a verification": 1}
    assert evidence.caution == CAUTION
    card = make_card(evidence)
    assert card.rule(YES_NO).false_positive.rate.successes == 2
    assert card.rule(YES_NO).false_positive.rate.total == 4
    assert card.rule(YES_NO).not_scored_wrong == 1
    assert card.rule(REPORT).false_positive.rate.value == 1.0


def test_a_log_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no proof stands before it"):
        read_transcripts(lines(tmp_path / "t.jsonl", *log("vy")))
    with pytest.raises(InputError, match="no verified proof"):
        read_transcripts(lines(tmp_path / "t.jsonl", *log("PP")))
    with pytest.raises(InputError, match=r"t.jsonl:1: kind"):
        read_transcripts(lines(tmp_path / "t.jsonl", {**log("P")[0], "kind": "hint"}))


@pytest.mark.skipif(not TRANSCRIPTS.exists(), reason="needs ../shared/data/imo2025-transcripts.jsonl")
def test_the_real_logs_make_a_card() -> None:
    evidence = read_transcripts(TRANSCRIPTS)
    answers = Counter(
        json.loads(line)["text"].strip().lower()
        for line in TRANSCRIPTS.read_text().splitlines()
        if '"kind": "yes_no"' in line
    )
    card = make_card(evidence)
    rates = card.rule(YES_NO)
    assert rates.false_positive.rate.total + rates.false_negative.rate.total == sum(answers.values()) == 167
    passes = rates.wrong_passes.rate
    assert passes.total == answers["yes"]
    # Every log of these ends with five passes in a row, by which it settles.
    assert (card.counts.right, rates.false_negative.rate.successes) == (10, 0)
    assert passes.total - passes.successes == 50
    assert rates.not_scored_right == rates.not_scored_wrong == 0


# --- the command ------------------------------------------------------------------------------------------------------


def run(*arguments: object) -> tuple[int, str]:
    app = typer.Typer()
    app.command()(calibrate)
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return result.exit_code, result.output


def test_the_shipped_proofs_verified_and_replayed(tmp_path: Path) -> None:
    proofs, problems = EXAMPLES / "lab-proofs.jsonl", EXAMPLES / "lab-problems.jsonl"
    asked = tmp_path / "asked"
    code, output = run(proofs, "--problems", problems, "--judges", "lab-panel", "-K", 2, "-o", asked, "--json")
    assert code == 0
    card = json.loads(output)
    assert card["counts"]["judgements"] == 240
    assert {path.name for path in asked.iterdir()} == {"card.json", "card.md", "card.html", "verdicts.jsonl"}
    again = tmp_path / "again"
    code, output = run(proofs, "--verdicts", asked / "verdicts.jsonl", "-o", again, "--json")
    assert code == 0
    replayed = json.loads(output)
    for name in ("rules", "draws", "on_wrong", "on_right", "sweeps", "lengths", "styles", "counts"):
        assert replayed[name] == card[name], name
    assert (again / "verdicts.jsonl").read_text() == (asked / "verdicts.jsonl").read_text()


def test_the_command_says_what_is_missing(tmp_path: Path) -> None:
    out = tmp_path / "out"
    graded = lines(tmp_path / "g.jsonl", {"id": "a", "problem": "P", "points": 1})
    for arguments, message in (
        ((), "expected either PROOFS or --transcripts"),
        ((graded, "--judges", "lab-panel"), "has no text"),
        ((graded, "--pass-at", 9), "--pass-at"),
        (("--transcripts", graded, "--verdicts", graded), "transcripts bring their own"),
    ):
        code, output = run(*arguments, "-o", out)
        assert code == 2
        assert message in output
    assert not out.exists()


def test_no_scored_verdict_is_not_scored(tmp_path: Path) -> None:
    graded = lines(tmp_path / "g.jsonl", {"id": "a", "problem": "P", "points": 1})
    verdicts = lines(tmp_path / "v.jsonl", {"proof": "a", "judge": "j", "points": None})
    code, output = run(graded, "--verdicts", verdicts, "-o", tmp_path / "out")
    assert code == 6
    assert f"| {MIN} | none |" in output
    assert "its false positives come out too low" in output


@pytest.mark.parametrize("name", RULES)
def test_no_judge_that_is_asked_has_the_name_of_a_rule(tmp_path: Path, name: str) -> None:
    graded = lines(tmp_path / "g.jsonl", {"id": "a", "statement": "Prove it.", "proof": "Clear.", "points": 1})
    (tmp_path / "c.toml").write_text(f'[[verifier.judges]]\nname = "{name}"\n')
    out = tmp_path / "out"
    code, output = run(graded, "--config", tmp_path / "c.toml", "--base-url", "http://127.0.0.1:9/v1", "-o", out)
    assert code == 2
    assert f"verifier.judges: '{name}' is a rule over the judges" in output
    assert not out.exists()


def test_an_endpoint_that_refuses_connections_is_one_line_and_no_model(tmp_path: Path) -> None:
    graded = lines(
        tmp_path / "g.jsonl",
        *({"id": f"p{n}", "statement": "Prove it.", "proof": "By induction, clear.", "points": 7} for n in range(12)),
    )
    # So short a deadline leaves no time to ask again.
    gone = ("--base-url", "http://127.0.0.1:9/v1", "--model", "m", "--timeout", 0.3)
    code, output = run(graded, *gone, "-o", tmp_path / "out", "--quiet")
    assert code == 4
    assert output.startswith("Not all was verified: 10 calls in a row failed at endpoint default, the last: ")
    assert len(output.splitlines()) == 1


HOSTILE = "<img src=x onerror=alert(1)>|a\n# b [c](javascript:d)\x1b[31m\u202e"


def test_hostile_names_are_text_in_every_form_of_a_card(tmp_path: Path) -> None:
    # An id of several lines, or with hidden characters, is refused; names and groups are not.
    plain = "<img src=x onerror=alert(1)>|[c](javascript:d)"
    ids = [f"{plain}{n}" for n in range(4)]
    graded = lines(
        tmp_path / "g.jsonl",
        *({"id": id, "problem": plain, "points": 7 * (n % 2), "style": HOSTILE} for n, id in enumerate(ids)),
    )
    verdicts = lines(
        tmp_path / "<b>v\u202e[x](y).jsonl",
        *(
            {"proof": id, "judge": judge, "sample": sample, "points": n}
            for n, id in enumerate(ids)
            for sample in range(2)
            for judge in (HOSTILE, HOSTILE + "2")
        ),
    )
    out = tmp_path / "out"
    code, shown = run(graded, "--verdicts", verdicts, "-o", out)
    assert code == 0, shown
    markdown, html = (out / "card.md").read_text(), (out / "card.html").read_text()
    for text in (shown, markdown, html):
        assert "<img" not in text
        assert "<b>v" not in text
        assert "\x1b" not in text
        assert "\u202e" not in text
    for text in (shown, markdown):
        assert "](javascript" not in text
        assert "](y" not in text
        assert "\n# b" not in text
    assert set(read_verdicts(out / "verdicts.jsonl", ids)) == set(ids)
    # One judge: the chart of the threshold has his name.
    lines(verdicts, *({"proof": id, "judge": HOSTILE, "points": n} for n, id in enumerate(ids)))
    assert run(graded, "--verdicts", verdicts, "-o", out)[0] == 0
    assert "<img" not in (out / "card.html").read_text()


@pytest.mark.parametrize("judge", [HOSTILE, "\x1b]0;t\x07"])
def test_a_hostile_name_in_a_refusal_is_one_plain_line(tmp_path: Path, judge: str) -> None:
    graded = lines(tmp_path / "g.jsonl", {"id": "a", "problem": "P", "points": 1})
    verdicts = lines(tmp_path / "v.jsonl", {"proof": judge, "judge": judge, "points": 1})
    code, output = run(graded, "--verdicts", verdicts, "-o", tmp_path / "out")
    assert code == 2
    assert len(output.splitlines()) == 1
    assert "\x1b" not in output
    assert "\u202e" not in output


async def test_configured_judges_are_asked_once(tmp_path: Path) -> None:
    proofs = tuple(
        Graded(f"p{n}", "q", bool(n % 2), f"Proof number {n}, by induction on n.", "Prove it.") for n in range(6)
    )
    loaded = Loaded(proofs, {}, None, "grades")
    async with MockServer(SimulatedModel(seed=1)) as server:
        overrides = {"endpoints.default.base_url": server.base_url, "search.verifications": 2}
        small, whole = (
            load_config(None, overrides={**overrides, "budget.max_calls": calls}, environ={}) for calls in (5, 100)
        )
        evidence, stop = await verified(loaded, tmp_path, "endpoints", small, 2, 0, lambda done: None)
        assert stop.kind is StopKind.BUDGET
        assert any(len(proof.samples) < 2 for proof in evidence.proofs)
        evidence, stop = await verified(loaded, tmp_path, "endpoints", whole, 2, 0, lambda done: None)
        asked = server.stats.requests
        again, _ = await verified(loaded, tmp_path, "endpoints", whole, 2, 0, lambda done: None)
        assert server.stats.requests == asked
    assert not stop
    assert all(len(proof.samples) == 2 for proof in evidence.proofs)
    assert again == evidence
    assert f"free (the first model at {server.base_url})" in evidence.verifier
    assert {name for proof in evidence.proofs for sample in proof.samples for name in sample.points} == {"free"}
