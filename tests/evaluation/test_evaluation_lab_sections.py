"""What the lab report says of made-up results: claims follow the numbers, and what is not measured is said to be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lab_results_fakes import (
    arm,
    everything,
    fixer,
    measured,
    merge,
    method,
    results_of,
    searched,
    verifier,
)

from maxproof.evaluation.lab.cells import NOT_YET, counted, difference, in_most, interval, judgement, points, rate
from maxproof.evaluation.lab.hacking_section import drifted, growth, hacking_section
from maxproof.evaluation.lab.reproduce_section import reproduce_section, wall_time
from maxproof.evaluation.lab.search_section import search_sections
from maxproof.evaluation.lab.sections import (
    all_sections,
    fixer_section,
    merge_section,
    provers_section,
    verifier_section,
)
from maxproof.report.blocks import Section, Table, to_markdown


def claims_of(section: Section) -> dict[str, str]:
    tables = [block for block in section.blocks if isinstance(block, Table) and block.headers[0] == "claim"]
    return {row[0]: row[1] for table in tables for row in table.rows}


def table(section: Section, first_header: str) -> dict[str, tuple[str, ...]]:
    (found,) = [block for block in section.blocks if isinstance(block, Table) and block.headers[0] == first_header]
    return {row[0]: row[1:] for row in found.rows}


# --- what is not measured ---------------------------------------------------------------------------------------------


def test_without_results_every_section_says_not_measured() -> None:
    sections = all_sections(results_of({}))
    assert len({section.title for section in sections}) == len(sections) == 9
    for section in sections[:6]:
        assert section.blocks == (NOT_YET,), section.title
    assert "Not done yet: base, " in to_markdown("t", "s", sections)


@pytest.mark.parametrize("missing", ["verifier", "fixer", "merge", "measure-base", "measure-panel-0", "harvest"])
def test_a_missing_stage_leaves_the_others_readable(missing: str) -> None:
    results = everything()
    del results[missing]
    text = to_markdown("t", "s", all_sections(results_of(results, searched([(0.0, 0.0, 7.0)] * 3))))
    assert f"Not done yet: {missing}" in text or f", {missing}" in text


def test_one_arm_alone_shows_no_hacking() -> None:
    results = {name: r for name, r in everything().items() if not name.startswith("panel")}
    assert hacking_section(results_of(results)).blocks == (NOT_YET,)


def test_a_seed_that_is_missing_is_named() -> None:
    results = everything()
    del results["biased-1"]
    section = hacking_section(results_of(results))
    assert "one biased judge 1 of 2, four layers 2 of 2" in section.blocks[0].text  # type: ignore[union-attr]
    assert [said for said in claims_of(section).values() if "2 planned" in said]


# --- reward hacking ---------------------------------------------------------------------------------------------------


def hacking(
    biased_end: tuple[float, float, int],
    panel_end: tuple[float, float, int],
    biased_headers: tuple[float, float],
    panel_headers: tuple[float, float],
) -> list[str]:
    results = everything(
        **{f"biased_{s}": arm("biased", s, (0.5, 0.4, 5), biased_end, biased_headers) for s in (0, 1)},
        **{f"panel_{s}": arm("panel", s, (0.4, 0.4, 5), panel_end, panel_headers) for s in (0, 1)},
    )
    return list(claims_of(hacking_section(results_of(results))).values())


def test_claims_on_hacking_follow_the_numbers() -> None:
    found = hacking((0.9, 0.3, 40), (0.6, 0.6, 5), (0.1, 0.3), (0.1, 0.29))
    assert found == ["holds (2 of 2 seeds)"] * 6
    found = hacking((0.5, 0.5, 9), (0.6, 0.45, 8), (0.1, 0.29), (0.1, 0.3))
    assert found == ["does NOT hold (0 of 2 seeds)"] * 6


@pytest.mark.parametrize("key", ["given", "headers", "verification"])
def test_any_packaging_that_spreads_is_drift_and_others_are_not(key: str) -> None:
    run = arm("biased", 0, (0.5, 0.4, 5), (0.5, 0.4, 5))
    assert not drifted(run)
    for point in run["curve"][12:]:
        point["opener"] = 1.0
    assert not drifted(run)
    for point in run["curve"][12:]:
        point[key] = 0.25
    assert drifted(run)


def test_a_share_that_grew_among_few_texts_has_not_drifted() -> None:
    run = arm("biased", 0, (0.5, 0.4, 5), (0.5, 0.4, 5), (0.25, 0.5))
    for point in run["curve"]:
        point |= {"samples": 2, "not_scored": 0, "false_positives": 0}
    assert not drifted(run)


def test_claims_that_need_no_interval_say_so() -> None:
    told = [*claims_of(hacking_section(results_of(everything()))), *claims_of(merge_section(results_of(everything())))]
    assert len(told) == 9
    assert all(("by point estimates" in text) != ("intervals apart" in text) for text in told)


@pytest.mark.parametrize(("start", "end"), [(0, 1), (1, 2), (2, 5)])
def test_a_rate_that_doubled_by_chance_has_not_doubled(start: int, end: int) -> None:
    run = arm("biased", 0, (0.5, 0.4, 0), (0.9, 0.3, 0))
    run["curve"][0]["false_positives"] = start
    run["curve"][-1]["false_positives"] = end
    assert growth(run) >= 2
    said = claims_of(hacking_section(results_of(everything(biased_0=run, biased_1=run))))
    assert next(iter(said.values())) == "does NOT hold (0 of 2 seeds)"


def test_rates_at_start_and_end_have_intervals_and_seeds_have_their_spread() -> None:
    results = everything(biased_1=arm("biased", 1, (0.5, 0.4, 15), (0.9, 0.3, 60)))
    rows = table(hacking_section(results_of(results)), "arm")
    assert rows["one biased judge, seed 0"][2:] == (counted(50, 1000), counted(400, 1000), "20")
    assert rows["one biased judge, mean of 2 seeds"] == (
        "to 0.90 (0.90 to 0.90)",
        "to 0.30 (0.30 to 0.30)",
        "10.0% (5.0% to 15.0%)",
        "50.0% (40.0% to 60.0%)",
        "40",
    )


def test_no_false_positives_at_all_are_no_growth() -> None:
    def run(start: int, end: int) -> dict[str, Any]:
        return arm("biased", 0, (0.5, 0.5, start), (0.5, 0.5, end))

    assert growth(run(0, 0)) == 1
    assert growth(run(0, 1)) == float("inf")
    assert growth(run(2, 0)) == 0
    assert growth(run(5, 20)) == 4


def test_a_tie_between_seeds_is_no_majority() -> None:
    assert in_most([True, False], 2) == "does NOT hold (1 of 2 seeds)"
    assert in_most([True, True, False], 3) == "holds (2 of 3 seeds)"
    assert in_most([True], 3) == "so far holds (1 of 1 seeds, 3 planned)"
    assert in_most([], 3) == "not measured yet"


# --- experts ----------------------------------------------------------------------------------------------------------


def test_provers_are_compared_problem_by_problem() -> None:
    section = provers_section(results_of(everything()))
    assert table(section, "model")["base"][:2] == (counted(2, 10), "25.0% [25.0%, 25.0%]")
    greedy, sampled, best = table(section, "model - base")["panel-0"]
    assert greedy.startswith("+60.0% [+")
    assert sampled.startswith("+50.0% [+2")
    assert best == "+0.0% [-27.8%, +27.8%]"
    assert list(claims_of(section).values()) == ["holds", "holds", "does NOT hold"]


def test_a_prover_that_got_worse_is_said_to_have() -> None:
    results = results_of(everything(measure_panel_0=measured(1, 2)))
    assert list(claims_of(provers_section(results)).values()) == ["does NOT hold"] * 3


def test_provers_without_their_start_are_shown_alone() -> None:
    results = everything()
    del results["measure-base"]
    section = provers_section(results_of(results))
    assert claims_of(section) == {}
    assert list(table(section, "model")) == ["panel-0"]


@pytest.mark.parametrize(
    ("expert", "said"), [(0.6, "holds"), (0.25, "not shown: the intervals overlap"), (0.2, "does NOT hold")]
)
def test_claims_on_verifier_and_fixer_follow_the_numbers(expert: float, said: str) -> None:
    results = everything()
    results["verifier"]["expert"] = verifier(expert)
    results["fixer"]["expert"] = fixer(expert)
    assert set(claims_of(verifier_section(results_of(results))).values()) == {said}
    assert set(claims_of(fixer_section(results_of(results))).values()) == {said}


def test_a_verifier_that_no_oracle_knows_has_no_such_rates() -> None:
    results = everything()
    for name in ("base", "warm_up", "expert"):
        results["verifier"][name] = verifier(0.5, oracle=False)
    rows = table(verifier_section(results_of(results)), "verifier")
    assert rows["expert, greedy"][6:8] == ("-", "-")
    assert rows["expert, greedy"][5] == "-"  # no proof that the judges pass: a rate of nothing


# --- merge ------------------------------------------------------------------------------------------------------------


def test_what_is_kept_is_a_share_of_the_gain() -> None:
    section = merge_section(results_of(everything(merge=merge((0.4, 0.35, 0.4)))))
    rows = table(section, "model")
    assert rows["prover"][3:] == ("100%", "0%", "no gain")
    assert rows["merged, ties"][3:] == ("67%", "37%", "no gain")
    assert list(claims_of(section).values()) == [
        "holds",
        "does NOT hold",
        "nothing to keep: the expert gained nothing",
    ]
    assert "ties (1, 0.5, 0.5), density 0.7, scale 1.6" in table(section, "tried on validation")


# --- search -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([(0.0, 0.0, 7.0)] * 30, "holds"),
        ([(0.0, 0.0, 7.0)] * 2, "holds"),
        ([(0.0, 7.0, 0.0)] * 30, "does NOT hold"),
        ([(7.0, 7.0, 7.0)] * 30, "does NOT hold"),
        ([(0.0, 0.0, 7.0)] + [(0.0, 0.0, 0.0)] * 9, "not shown: the interval holds 0"),
        ([(0.0, 0.0, 6.0)] * 30, "does NOT hold"),  # 6 points are no pass
    ],
)
def test_the_claim_on_the_search_needs_the_whole_interval(rows: list[tuple[float, float, float]], said: str) -> None:
    section = search_sections(results_of(everything(), searched(rows)))[0]
    assert set(claims_of(section).values()) == {said}


def test_every_method_is_shown_with_what_it_cost() -> None:
    rows = searched([(0.0, 7.0, 7.0), (0.0, 0.0, 7.0)])
    section = search_sections(results_of(everything(), rows))[0]
    found = table(section, "method")
    assert found["one-shot"][0] == counted(0, 2)
    assert found["best-of-N and tournament, equal budget"] == (*[counted(1, 2)] * 3, points([7, 0]), "10", "150")
    assert found["MaxProof"][0] == counted(2, 2)
    parts = table(section, "part")
    assert parts["search - best-of-N at equal budget"][0].startswith("+50.0%")
    assert parts["more samples: best-of-N at equal budget - best-of-N"][0].startswith("+50.0%")
    assert table(section, "what the search returned came from")["patch"] == ("2", counted(2, 2))


def test_a_search_without_candidates_counts_as_nothing_reached() -> None:
    rows = searched([(0.0, 0.0, 7.0), (0.0, 0.0, 0.0)])
    rows[1]["maxproof"] = {**method(0.0), "best_by_round": []}
    del rows[1]["maxproof"]["origin"]
    section = search_sections(results_of(everything(), rows))[0]
    by_round = table(section, "best in archive after round")
    assert by_round["passes"] == (counted(0, 2), counted(1, 2))
    assert table(section, "what the search returned came from")["none"] == ("1", counted(0, 1))


def test_what_the_search_said_of_itself_is_held_against_the_oracle() -> None:
    rows = searched([(0.0, 0.0, 7.0), (0.0, 0.0, 1.0)])
    text = to_markdown("t", "s", [search_sections(results_of(everything(), rows))[0]])
    assert "said `passed` of 2 returned proofs, of which 1 are right by the oracle" in text


def test_provers_and_searches_say_on_what_problems() -> None:
    results = results_of(everything(), searched([(0.0, 0.0, 7.0)]))
    wide = replace(results, profile=results.profile.model_copy(update={"levels": (1, 2), "domains": None}))
    for section in (provers_section, lambda results: search_sections(results)[0]):
        assert "held-out problems, level 1 of the domain inequalities" in to_markdown("t", "s", [section(results)])
        text = to_markdown("t", "s", [section(wide)])
        assert "held-out problems, levels 1, 2 of the domains linear, inequalities, modular, sums" in text


def test_outcomes_without_a_planned_count_stay_readable() -> None:
    rows = searched([(0.0, 0.0, 7.0)] * 2)
    text = to_markdown("t", "s", [search_sections(results_of(everything(), rows))[0]])
    assert "prompts included; what" in text
    for row, planned in zip(rows, (40, 61), strict=True):
        row["best_of_equal"]["planned"] = planned
    text = to_markdown("t", "s", [search_sections(results_of(everything(), rows))[0]])
    assert "prompts included: 50.5 candidates" in text


# --- cost ------------------------------------------------------------------------------------------------------------


def test_costs_that_older_results_lack_are_not_invented() -> None:
    section = reproduce_section(results_of(everything()))
    rows = table(section, "stage")
    assert rows["base"] == ("5", "-")
    assert rows["all, one thread each"][1] == "-"
    assert table(section, "tokens a second")["RL, training"] == ("not measured", "-", "-")
    assert "pauses included: -." in to_markdown("t", "s", [section])


def test_time_memory_and_speed_are_shown() -> None:
    results = everything()
    for number, result in enumerate(results.values()):
        result |= {"seconds": 9.0, "started": 100.0 + number, "ended": 110.0 + number}
        result |= {"peak_mib": 500 + number, "peak_mib_before": 500}
    speed = {"gflops": 50.0, "tokens_per_s": {"sft": {"measured": 2500, "bound": 10000}}}
    results["base"]["speed"] = speed
    section = reproduce_section(results_of(results))
    rows = table(section, "stage")
    assert (rows["base"], rows["measure-base"]) == (("9", "at most 500"), ("9", "501"))
    assert rows["all, one thread each"] == (str(9 * len(results)), str(499 + len(results)))
    speeds = table(section, "tokens a second")
    assert speeds["base, supervised"] == ("2,500", "10,000", "25%")
    assert speeds["RL, sampling"] == ("not measured", "-", "-")
    text = to_markdown("t", "s", [section])
    assert f"pauses included: {9 + len(results)} s." in text
    assert "50 GFLOP/s" in text
    results["merge"]["started"] = None
    assert wall_time(results.values()) == "-"


# --- cells ------------------------------------------------------------------------------------------------------------


def test_a_rate_of_nothing_is_no_zero() -> None:
    assert rate(None) == "-"
    assert counted(0, 0) == "-"
    assert counted(0, 4) == "0.0% [0.0%, 49.0%]"


@settings(deadline=None)
@given(st.lists(st.floats(-1, 1), min_size=1, max_size=20))
def test_an_interval_holds_the_mean_and_is_the_same_each_time(values: list[float]) -> None:
    low, high = interval(values)
    assert (low, high) == interval(values)
    assert -1 <= low <= high <= 1
    assert low - 1e-9 <= max(values)
    assert min(values) <= high + 1e-9


def test_equal_values_are_no_certainty() -> None:
    low, high = interval([0.0] * 6)
    assert (low, high) == (-interval([0.0] * 6)[1], pytest.approx(0.390, abs=1e-3))
    assert interval([0.0] * 200)[1] < 0.02
    assert points([0.0, 0.0]) == "0.00 [0.00, 4.60]"
    assert points([7.0, 7.0]) == "7.00 [2.40, 7.00]"
    with pytest.raises(ValueError, match="no values"):
        interval([])


def test_a_judgement_goes_by_the_interval() -> None:
    assert judgement([1.0] * 20) == "holds"
    assert judgement([1.0] + [0.0] * 5) == "not shown: the interval holds 0"
    assert judgement([0.0, 0.0]) == judgement([-1.0, 0.5]) == "does NOT hold"
    assert difference([0.5, 0.5, 0.5, 0.5]).startswith("+50.0% [")
