"""The page: what stands in it for each kind of run, and that it is a pure function of the view."""

import re
import threading
from dataclasses import replace
from html import escape

import pytest
from report_views import failed_view, filtered, passed_view, realistic_view, standing, verification, view_of

from maxproof.report.html import render_report
from maxproof.report.tables import mark_errors, shown, stages, total_usage
from maxproof.search.types import Match, StopReason, Vote


def section(html: str, name: str) -> str:
    found = re.search(rf'<section id="{name}">.*?</section>', html, re.DOTALL)
    assert found, name
    return found[0]


def test_the_same_view_gives_the_same_bytes():
    page = render_report(realistic_view())
    assert page == render_report(realistic_view())
    # ... and does so however deep the caller's stack is.
    deep = []

    def descend(levels: int) -> None:
        if levels:
            descend(levels - 1)
        else:
            deep.append(render_report(realistic_view()))

    thread = threading.Thread(target=descend, args=(700,))
    thread.start()
    thread.join()
    assert deep == [page]


def test_a_passed_run_shows_the_proof_with_rendered_mathematics():
    page = render_report(passed_view())
    proof = section(page, "proof")
    assert "<h2>Proof <small>candidate 0</small></h2>" in proof
    assert "<mfrac>" in proof
    assert "known" not in proof
    assert 'class="outcome passed"' in page


def test_a_run_without_a_proof_never_calls_the_best_candidate_one():
    page = render_report(failed_view())
    proof = section(page, "proof")
    assert "<h2>Best candidate, not a proof" in proof
    assert proof.index("Its known errors") < proof.index("Lagrange")
    assert "The boundary is not treated" in proof
    assert "A proof passed" not in page
    assert "<h2>Proof" not in page


def test_a_stopped_run_and_one_without_any_candidate_say_so():
    stopped = replace(failed_view(), stopped="the budget of 100 calls is spent")
    assert "The run was stopped: the budget of 100 calls is spent" in render_report(stopped)
    nothing = view_of(winner=None, lost=dict.fromkeys(range(2), "gone"), stop=StopReason.NOT_RUN, stopped="gone")
    page = render_report(nothing)
    assert "No candidate: not one proof attempt could be made. All 2 attempts failed." in page
    assert '<section id="proof">' not in page
    assert '<section id="problem">' in page


def test_the_matrix_has_all_five_states_with_symbols():
    view = view_of(
        standing(0, {0: verification(0, 7, 7), 1: verification(1, 6, 7), 2: verification(2, None)}),
        standing(1, {0: filtered(0)}),
        winner=0,
    )
    verdicts = section(render_report(view), "verdicts")
    for state, label in [
        ("passed", "✓"),
        ("failed", "✗ 6"),
        ("not_scored", r"\?"),
        ("filtered", "⊘"),
        ("not_run", "·"),
    ]:
        assert re.search(rf'<td><span class="mark {state}" title="[^"]*">{label}</span></td>', verdicts), state
    assert "timed out after 3600 s" in verdicts


def test_the_tree_has_a_node_for_each_candidate_and_an_edge_for_each_offspring():
    view = realistic_view()
    tree = section(render_report(view), "search")
    offspring = [s.candidate.slot for s in view.result.standings if s.candidate.slot.parent is not None]
    assert len(re.findall(r'class="node f', tree.split("Family tree", 1)[1])) == len(view.result.standings)
    for origin in ("patch", "rewrite"):
        assert tree.count(f'class="edge {origin}"') == sum(slot.origin == origin for slot in offspring)
    assert tree.count('class="ring winner"') == 1
    assert tree.count('class="ring"') == len(view.result.finalists) - 1
    assert "candidate 17: server-1: the deadline" in tree


def test_every_candidate_stands_beside_its_errors():
    view = realistic_view()
    page = section(render_report(view), "candidates")
    for s in view.result.standings:
        assert f'id="c{s.candidate.id}"' in page
    card = page.split('id="c0"', 1)[1].split('<details class="card">', 1)[0]
    assert re.search(r'<mark>It is clear that .*?<a href="#c0e\d">\d</a></mark>', card)
    assert "The boundary is not treated" in card


def test_only_finalists_have_rendered_mathematics():
    view = realistic_view()
    cards = section(render_report(view), "candidates").split('<details class="card">')[1:]
    rendered = {int(re.search(r'id="c(\d+)"', card)[1]) for card in cards if "<math" in card}
    assert rendered == set(view.result.finalists)


def test_costs_mark_estimates_and_missing_prices():
    view = realistic_view()
    cost = section(render_report(view), "cost")
    assert "≈ 310,000" in cost
    assert "≈ 2,423,000" in cost
    assert "1,513,200 (62 %)" in cost
    assert "58 saved" in cost
    unpriced = replace(view, usage=(*view.usage[:1], replace(view.usage[1], cost=None)))
    assert section(render_report(unpriced), "cost").count("no prices") == 2
    assert total_usage(view.usage).calls == 606


def test_the_bracket_shows_votes_order_and_tie_breaks():
    bracket = section(render_report(realistic_view()), "tournament")
    assert bracket.index("Semi-finals") < bracket.index(">Final<")
    assert "1 : 1, 1 invalid, decided by fitness" in bracket
    assert "shown first: 50; picked 50" in bracket
    assert "invalid" in bracket


def test_stage_names_count_from_the_final():
    matches = [Match(n, stage, 0, 1, (), 0, "id") for n, stage in enumerate([0, 1, 2, 3])]
    assert [name for name, _ in stages(matches)] == ["Stage 1", "Quarter-finals", "Semi-finals", "Final"]


def test_settings_and_problem_fields_are_shown():
    page = render_report(realistic_view())
    assert "prover-large" in section(page, "settings")
    assert "Grading scheme" in section(page, "problem")


def test_the_page_loads_nothing_and_has_no_script():
    page = render_report(realistic_view())
    assert "<script" not in page
    assert not re.search(r"\s(src|srcset|style|on\w+)=", re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL))
    assert re.findall(r'href="([^#"][^"]*)"', page) == []
    assert "url(" not in page
    assert "default-src 'none'; style-src 'sha256-" in page


@pytest.mark.parametrize("hidden", ["\u202e", "\u200b", "\x1b", "\ud800", "\ufeff"])
def test_hidden_characters_are_visible_everywhere(hidden):
    view = failed_view()
    poor = standing(0, {0: verification(0, 1)}, text=f"a{hidden}b", summary=f"s{hidden}")
    result = replace(view.result, standings=(poor,), lost={9: f"r{hidden}"})
    problem = replace(view.problem, id=f"p{hidden}", statement=f"t{hidden}")
    page = render_report(replace(view, result=result, problem=problem, settings={"a": f"v{hidden}"}))
    assert hidden not in page
    assert page.count(f"⟨U+{ord(hidden):04X}⟩") >= 6
    page.encode()


def test_quotes_of_errors_are_marked_once_and_never_overlap():
    pieces = mark_errors(
        "the sum is finite because it is", ["sum is finite", '"is finite because"', "short", "it is absent"]
    )
    assert [(p.text, p.error) for p in pieces] == [
        ("the ", 0),
        ("sum is finite", 1),
        (" because it is", 0),
    ]


@pytest.mark.parametrize("heavy", ['"', "<&", "\u200b\u202e", "証"])
def test_a_page_is_bounded_in_what_is_written_not_in_characters(heavy):
    text = heavy * (4000 // len(heavy)) + " the end"
    written = shown(text, 2000)
    assert 1500 < len(escape(written).encode()) < 3100
    assert "characters left out" in written
    assert shown("short " + heavy, 2000).startswith("short ")


def test_long_texts_are_cut_with_a_note_and_the_page_stays_bounded():
    many = [standing(n, {0: verification(0, 1)}, text="x" * 5_000_000) for n in range(3)]
    page = render_report(view_of(*many, winner=0))
    assert "characters left out" in page
    assert len(page) < 2_000_000


def test_a_closed_candidate_tells_its_summary_and_who_won():
    page = render_report(passed_view())
    rows = re.findall(r'<details class="card">\n<summary>(.*?)</summary>', page)
    assert "★ winner" in rows[0]
    assert '<span class="gist">Pairs of equal sign.</span>' in rows[0]
    assert "★" not in rows[1]
    assert '<span class="gist">Lagrange multipliers' in rows[1]


def test_an_unfinished_run_is_shown_as_such():
    votes = Vote(0, 0, None, "not recorded"), Vote(1, 1, 1)
    match = Match(0, 0, 0, 1, votes, 0, "id")
    view = replace(passed_view(), result=replace(passed_view().result, matches=(match,)))
    page = render_report(view)
    assert 'class="outcome unfinished"' in page
    assert "Unfinished: candidate 0 has passed all 4 verifications." in page
    assert "shown first: 0; not run" in page
