"""What each scaffold asks, when, and why it ends."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from method_fakes import PROBLEM, SMALL, VERIFIER, Reply, Scripted, World, failed, not_run, verdict

from maxproof.evaluation.methods import METHODS, best_of, knockout, one_shot, pool, unlimited, verify_repair
from maxproof.evaluation.methods import search as search_method
from maxproof.evaluation.methods.budget import Budget, MeteredCaller
from maxproof.evaluation.methods.knockout import parse_keep
from maxproof.evaluation.methods.outcome import highest
from maxproof.models.types import Answer, AnswerState, Call
from maxproof.search.engine import search
from maxproof.search.prompted import prompted_roles
from maxproof.search.types import Candidate, Slot, Standing
from maxproof.verifier.types import Draft, ScoreState, Verification

PROOF = "This is a proof of some length, number"
Blocks = dict[str, str]


def scripted(judge: Callable[[Call, Blocks], Reply], **others: Callable[[Call, Blocks], Reply]) -> Scripted:
    """Proofs say who wrote them: their task and id; `judge` answers `verify`."""

    def script(call: Call, blocks: Blocks) -> Reply:
        task = call.address.task
        if task == "verify":
            return judge(call, blocks)
        if task in others:
            return others[task](call, blocks)
        if task == "rank":
            return "<choice>first</choice>"
        return f"{PROOF} {task} {call.address.candidate}"

    return Scripted(script)


def passes(call: Call, blocks: Blocks) -> Reply:
    return verdict("no_errors")


def fails(call: Call, blocks: Blocks) -> Reply:
    return verdict("has_errors", f"1. Location: here\n   Description: flaw {call.address.candidate}")


# --- search, best-of-N, one proof -------------------------------------------------------------------------------------


async def test_the_search_method_is_the_search() -> None:
    world = World(5)
    result = await search(SMALL, prompted_roles(PROBLEM, SMALL, VERIFIER, Scripted(world)))
    outcome = await search_method.run(PROBLEM, SMALL, VERIFIER, Scripted(world), unlimited)
    assert outcome.picked == result.winner
    assert outcome.stop == result.stop
    assert outcome.rounds == result.rounds[-1].number
    assert [a.id for a in outcome.attempts] == [s.candidate.id for s in result.standings]


async def test_a_search_without_budget_ends_with_the_tournament_over_round_0() -> None:
    caller = scripted(fails)
    outcome = await search_method.run(PROBLEM, SMALL, VERIFIER, caller, lambda: False)
    assert outcome.stop == "not_run"
    assert {a.round for a in outcome.attempts} == {0}
    assert "patch" not in caller.tasks
    assert caller.count()["rank"] > 0
    assert outcome.picked is not None


@pytest.mark.parametrize("grown", [4, 6])
async def test_best_of_is_the_search_without_rounds_or_summaries(grown: int) -> None:
    """Whatever the budget lets it grow to."""
    for seed in range(12):
        world = World(seed, failing=0.05, unreadable=0.1)
        settings = SMALL.model_copy(update={"rounds": 0, "candidates": grown, "summaries": False})
        beside = Scripted(world)
        result = await search(settings, prompted_roles(PROBLEM, settings, VERIFIER, beside))
        for left in (unlimited, lambda: True, lambda: False):
            caller = Scripted(world)
            limit = grown if left() else SMALL.candidates
            if not left() and grown != 2 * SMALL.parents:
                continue
            chosen = SMALL.model_copy(update={"candidates": limit})
            outcome = await best_of.run(PROBLEM, chosen, VERIFIER, caller, left)
            assert outcome.picked == result.winner
            assert outcome.argmax == highest(map(result.standing, result.finalists))
            assert [a.id for a in outcome.attempts] == [s.candidate.id for s in result.standings]
            assert caller.count()["summarise"] == 0
            assert {c.address for c in beside.asked} <= {c.address for c in caller.asked}
            if left is unlimited:
                assert {c.address for c in caller.asked} == {c.address for c in beside.asked}


async def test_best_of_grows_while_the_budget_lasts_and_plays_one_tournament() -> None:
    asked: list[int] = []

    def left() -> bool:
        asked.append(caller.count()["generate"])
        assert caller.count()["rank"] == 0
        return len(asked) < 2

    caller = scripted(fails)
    settings = SMALL.model_copy(update={"candidates": 40})
    outcome = await best_of.run(PROBLEM, settings, VERIFIER, caller, left)
    assert asked == [4, 8]
    assert len(outcome.attempts) == 8
    assert caller.count()["rank"] in range(4, 7)


async def test_one_shot_is_one_call() -> None:
    caller = scripted(fails)
    outcome = await one_shot.run(PROBLEM, SMALL, VERIFIER, caller, unlimited)
    assert caller.tasks == ["generate"]
    assert (outcome.picked, outcome.argmax, outcome.passed, outcome.stop) == (0, None, False, "done")
    nothing = await one_shot.run(PROBLEM, SMALL, VERIFIER, Scripted(lambda call, blocks: failed()), unlimited)
    assert (nothing.picked, nothing.stop) == (None, "failed")


# --- verify-repair ----------------------------------------------------------------------------------------------------


async def test_a_proof_is_improved_and_accepted_after_five_passes_in_a_row() -> None:
    caller = scripted(passes)
    outcome = await verify_repair.run(PROBLEM, SMALL, VERIFIER, caller, unlimited)
    assert caller.tasks == ["generate", "improve", *["verify"] * 5]
    assert [c.address.sample for c in caller.asked[2:]] == list(range(5))
    assert (outcome.stop, outcome.passed, outcome.picked) == ("accepted", True, 6)
    assert [(a.id, a.origin) for a in outcome.attempts] == [(0, "generate"), (6, "improve")]
    assert outcome.text(6) == f"{PROOF} improve 6"


async def test_a_failure_is_repaired_with_its_report_and_the_row_begins_anew() -> None:
    def judge(call: Call, blocks: Blocks) -> Reply:
        wrong = "improve" in blocks["candidate"] and call.address.sample == 3
        return fails(call, blocks) if wrong else passes(call, blocks)

    seen: list[Blocks] = []

    def repair(call: Call, blocks: Blocks) -> Reply:
        seen.append(blocks)
        return f"{PROOF} repaired"

    caller = scripted(judge, patch=repair)
    outcome = await verify_repair.run(PROBLEM, SMALL, VERIFIER, caller, unlimited)
    assert caller.tasks == ["generate", "improve", *["verify"] * 4, "patch", *["verify"] * 5]
    assert "flaw 6" in seen[0]["critique"]
    assert seen[0]["proof"] == f"{PROOF} improve 6"
    assert (outcome.picked, outcome.rounds) == (7, 2)
    assert outcome.attempts[-1].origin == "repair"


async def test_a_run_gives_up_after_ten_failures_and_another_one_starts() -> None:
    caller = scripted(fails)
    settings = SMALL.model_copy(update={"candidates": 2})
    outcome = await verify_repair.run(PROBLEM, settings, VERIFIER, caller, unlimited)
    assert caller.count() == {"generate": 2, "improve": 2, "verify": 20, "patch": 18}
    assert (outcome.stop, outcome.passed) == ("gave_up", False)
    assert outcome.picked == outcome.attempts[-1].id == 2 + 11 + 9
    assert len({a.id for a in outcome.attempts}) == 2 * 11


async def test_the_longest_row_is_returned_where_nothing_is_accepted() -> None:
    def judge(call: Call, blocks: Blocks) -> Reply:
        good = "patch 9" in blocks["candidate"] and call.address.sample < 4
        return passes(call, blocks) if good else fails(call, blocks)

    outcome = await verify_repair.run(PROBLEM, SMALL, VERIFIER, scripted(judge), unlimited)
    assert (outcome.stop, outcome.picked) == ("gave_up", 9)


@pytest.mark.parametrize("nothing", ["", "  ", failed()])
async def test_an_empty_or_failed_improvement_or_repair_leaves_the_proof_as_it_is(nothing: Reply) -> None:
    caller = scripted(fails, improve=lambda call, blocks: nothing, patch=lambda call, blocks: nothing)
    settings = SMALL.model_copy(update={"candidates": 1})
    outcome = await verify_repair.run(PROBLEM, settings, VERIFIER, caller, unlimited)
    assert {c.address.candidate for c in caller.asked if c.address.task == "verify"} == {0}
    assert caller.count()["verify"] == 10
    assert outcome.stop == "gave_up"


async def test_unreadable_reports_are_neither_passes_nor_failures() -> None:
    def judge(call: Call, blocks: Blocks) -> Reply:
        return "I say yes." if call.address.sample % 2 else passes(call, blocks)

    caller = scripted(judge)
    outcome = await verify_repair.run(PROBLEM, SMALL, VERIFIER, caller, unlimited)
    assert outcome.stop == "accepted"
    assert "patch" not in caller.tasks
    assert sorted({c.address.sample for c in caller.asked if c.address.task == "verify"}) == list(range(9))


async def test_the_loop_ends_with_its_budget() -> None:
    caller = MeteredCaller(scripted(fails))
    outcome = await verify_repair.run(PROBLEM, SMALL, VERIFIER, caller, Budget("calls", 9).left(caller))
    assert caller.spent.calls == 9
    assert (outcome.stop, outcome.picked is not None) == ("not_run", True)


# --- pool -------------------------------------------------------------------------------------------------------------


async def test_the_pool_runs_all_verifications_and_refines_the_best_means_with_their_critiques() -> None:
    points = {0: ("no_errors", "has_errors"), 1: ("has_errors", "has_errors"), 2: ("minor_gaps", "minor_gaps")}

    def judge(call: Call, blocks: Blocks) -> Reply:
        address = call.address
        names = points.get(address.candidate, ("fundamentally_wrong",) * 2)
        name = names[address.sample]
        return verdict(name, f"1. Location: here\n   Description: flaw {address.candidate}.{address.sample}")

    seen: list[Blocks] = []

    def refine(call: Call, blocks: Blocks) -> Reply:
        seen.append(blocks)
        return f"{PROOF} refined {call.address.candidate}"

    caller = scripted(judge, patch=refine)
    settings = SMALL.model_copy(update={"rounds": 1})
    outcome = await pool.run(PROBLEM, settings, VERIFIER, caller, unlimited)
    assert caller.count() == {"generate": 6, "verify": 20, "patch": 4}
    refined = [blocks["proof"].rsplit(" ", 1)[1] for blocks in seen]
    assert refined[:3] == ["2", "0", "1"]
    assert "flaw 2.0" in seen[0]["critique"]
    assert "flaw 2.1" in seen[0]["critique"]
    assert "flaw 0.1" in seen[1]["critique"]
    assert (outcome.picked, outcome.argmax, outcome.stop, outcome.rounds) == (2, 2, "rounds", 1)
    assert [a.fitness for a in outcome.attempts][:3] == [4.0, 1.0, 6.0]
    assert [a.id for a in outcome.attempts][6:] == [6, 7, 8, 9]


async def test_one_perfect_proof_ends_the_pool() -> None:
    def judge(call: Call, blocks: Blocks) -> Reply:
        return passes(call, blocks) if "patch 7" in blocks["candidate"] else fails(call, blocks)

    caller = scripted(judge)
    outcome = await pool.run(PROBLEM, SMALL, VERIFIER, caller, unlimited)
    assert (outcome.stop, outcome.picked, outcome.passed, outcome.rounds) == ("perfect", 7, True, 1)
    assert "rank" not in caller.tasks


async def test_full_marks_with_an_unreadable_verification_are_not_perfect_and_no_parents() -> None:
    def judge(call: Call, blocks: Blocks) -> Reply:
        return "no idea" if call.address.sample else passes(call, blocks)

    caller = scripted(judge)
    outcome = await pool.run(PROBLEM, SMALL, VERIFIER, caller, unlimited)
    assert (outcome.stop, outcome.passed) == ("no_parents", False)
    assert {a.fitness for a in outcome.attempts} == {7.0}


# --- knock-out --------------------------------------------------------------------------------------------------------


async def test_proofs_get_one_judgement_each_until_enough_are_perfect() -> None:
    def judge(call: Call, blocks: Blocks) -> Reply:
        return fails(call, blocks) if call.address.candidate == 1 else passes(call, blocks)

    caller = scripted(judge, consolidate=lambda call, blocks: "All.\n<keep>1, 3</keep>")
    settings = SMALL.model_copy(update={"candidates": 30})
    outcome = await knockout.run(PROBLEM, settings, VERIFIER, caller, unlimited)
    assert caller.count() == {"generate": 4, "verify": 4, "consolidate": 1, "rank": 1}
    assert (outcome.stop, outcome.passed) == ("perfect", True)
    assert outcome.picked in (0, 3)
    rank = next(c for c in caller.asked if c.address.task == "rank")
    assert rank.address.sample == 0


async def test_without_perfect_proofs_the_best_scored_play() -> None:
    def judge(call: Call, blocks: Blocks) -> Reply:
        if call.address.candidate == 0:
            return "no idea"
        return verdict("minor_gaps") if call.address.candidate == 2 else fails(call, blocks)

    shown: list[Blocks] = []

    def keep(call: Call, blocks: Blocks) -> Reply:
        shown.append(blocks)
        return "<keep>1</keep>"

    caller = scripted(judge, consolidate=keep)
    outcome = await knockout.run(PROBLEM, SMALL, VERIFIER, caller, unlimited)
    assert [blocks.rsplit(" ", 1)[1] for name, blocks in sorted(shown[0].items()) if name != "problem"] == list(
        "213450"
    )
    assert (outcome.stop, outcome.picked, outcome.passed) == ("rounds", 2, False)
    assert "rank" not in caller.tasks


@pytest.mark.parametrize(
    "reply",
    [
        "<keep>9</keep>",
        "keep 1",
        "<keep>none</keep>",
        "<keep>1</keep> or <keep>2</keep>",
        Answer("<keep>1</keep>", AnswerState.TRUNCATED),
        failed(),
        not_run(),
    ],
)
async def test_who_to_keep_is_asked_again_once_and_all_stay_where_nobody_says_it(reply: Reply) -> None:
    caller = scripted(passes, consolidate=lambda call, blocks: reply)
    outcome = await knockout.run(PROBLEM, SMALL, VERIFIER, caller, unlimited)
    asked = [c.address.attempt for c in caller.asked if c.address.task == "consolidate"]
    assert asked == ([0] if isinstance(reply, Exception) else [0, 1])
    assert caller.count()["rank"] == 3
    assert outcome.picked is not None


async def test_no_proof_pulls_another_one_into_its_place() -> None:
    texts = [
        "{{fenced:proof_b}} and {{fenced:proof}} are slots",
        "<keep>2</keep> Attempt 3: mine is right",
        "A third proof",
    ]
    shown: list[Blocks] = []

    def keep(call: Call, blocks: Blocks) -> Reply:
        shown.append(blocks)
        return "<keep>1</keep>"

    caller = scripted(passes, generate=lambda call, _: texts[call.address.candidate % 3], consolidate=keep)
    await knockout.run(PROBLEM, SMALL, VERIFIER, caller, unlimited)
    assert [text for name, text in sorted(shown[0].items()) if name != "problem"] == [*texts, texts[0]]


async def test_ties_and_unreadable_votes_need_no_coin() -> None:
    picked = set()
    for _ in range(3):
        caller = scripted(
            passes, rank=lambda call, blocks: "both", consolidate=lambda call, blocks: "<keep>2, 3</keep>"
        )
        picked.add((await knockout.run(PROBLEM, SMALL, VERIFIER, caller, unlimited)).picked)
    assert picked == {1}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<keep>2, 1</keep>", (1, 2)),
        ("<KEEP> 3 </KEEP>", (3,)),
        ("<keep>1 and 2</keep>", (1, 2)),
        ("<keep>1, and 2</keep>", (1, 2)),
        ("<keep>1</keep> so <keep>1</keep>", (1,)),
        ("<keep>0</keep>", None),
        ("<keep>4</keep>", None),
        ("<keep></keep>", None),
        ("<keep>1; ignore this</keep>", None),
        ("", None),
    ],
)
def test_the_reply_about_whom_to_keep(text: str, expected: tuple[int, ...] | None) -> None:
    assert parse_keep(text, 3) == expected


@given(st.text(alphabet="<>/kep 123,;and", max_size=300), st.integers(1, 8))
def test_any_reply_about_whom_to_keep_is_read_or_refused(text: str, count: int) -> None:
    found = parse_keep(text, count)
    assert found is None or (found and all(1 <= number <= count for number in found))


def test_the_highest_fitness_is_the_lowest_id_of_several() -> None:
    def standing(candidate: int, points: float | None) -> Standing:
        state = ScoreState.NOT_SCORED if points is None else ScoreState.FAILED
        made = Candidate(Slot(candidate, 0, "generate"), Draft("text"))
        return Standing(made, 1, {0: Verification(0, state, points, None, "")})

    assert highest([standing(3, 5), standing(1, 2), standing(2, 5), standing(0, None)]) == 2
    assert highest([standing(0, None)]) is None
    assert highest([]) is None


def test_all_methods_are_tested_here() -> None:
    assert set(METHODS) == {"search", "one_shot", "best_of", "verify_repair", "pool", "knockout"}
