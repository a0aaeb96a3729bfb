"""The population search with a checker in the judges' place: fitness, offspring, two generators, how it ends."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from formal_models import LIMITS, ScriptedCaller, WordChecker, blocks, fenced, problem
from hypothesis import given
from hypothesis import strategies as st

from maxproof.formal.embedded.checker import EmbeddedChecker
from maxproof.formal.error_classes import ErrorClass
from maxproof.formal.population import PopulationProof, formal_search, points, verification_of
from maxproof.formal.problem import FormalProblem
from maxproof.formal.prover.search import ProverSettings, SymbolicProver
from maxproof.formal.results import Attempt
from maxproof.formal.solution.types import SolutionState, SolutionVerdict
from maxproof.models.types import CallAddress, Message
from maxproof.search.events import Event, MatchClosed, RoundStarted, Stopped
from maxproof.search.settings import SearchSettings
from maxproof.search.types import StopReason
from maxproof.verifier.types import ScoreState

SMALL = SearchSettings(candidates=4, rounds=2, parents=2)
OPEN = "assert true; assert x > {};"


def script(bodies: Callable[[CallAddress], str]) -> ScriptedCaller:
    return ScriptedCaller(lambda address, _: fenced(bodies(address)))


def open_body(address: CallAddress) -> str:
    return OPEN.format(10 + address.candidate)


def population(caller: ScriptedCaller, settings: SearchSettings = SMALL, **options: object) -> PopulationProof:
    return PopulationProof(caller, WordChecker(), LIMITS, settings, 4, **options)  # type: ignore[arg-type]


class Symbolic:
    """A symbolic prover that always comes to the same."""

    name = "symbolic"

    def __init__(self, solution: str, state: SolutionState) -> None:
        self.solution, self.state = solution, state

    async def attempt(self, problem: FormalProblem, seed: int) -> Attempt:
        return Attempt(problem.name, self.name, seed, self.state, self.solution, checks=3, seconds=5.0, resource=11)


async def test_one_accepted_proof_ends_it() -> None:
    events: list[Event] = []
    caller = script(lambda address: "assert proof(x);" if address.candidate == 2 else open_body(address))
    attempt = await population(caller, observe=events.append).attempt(problem(), 0)
    assert attempt.accepted
    assert "assert proof(x);" in attempt.solution
    assert [address.task for address, _ in caller.asked] == ["generate"] * 4  # the round is finished, no other begun
    assert (attempt.calls, attempt.checks, attempt.errors) == (4, 4, (ErrorClass.ASSERTION,) * 3)
    assert [event.number for event in events if isinstance(event, RoundStarted)] == [0]
    assert [event.reason for event in events if isinstance(event, Stopped)] == [StopReason.PERFECT]
    assert any(isinstance(event, MatchClosed) for event in events)  # decided without a call


async def test_an_offspring_ends_it_too() -> None:
    caller = script(lambda a: "assert proof(x);" if a.task == "patch" and a.candidate == 6 else open_body(a))
    attempt = await population(caller).attempt(problem(), 0)
    assert attempt.accepted
    assert sorted({a.task for a, _ in caller.asked}) == ["generate", "patch", "rewrite"]
    assert len(caller.asked) == 4 + 4  # of two rounds, one


async def test_a_proof_by_the_symbolic_prover_asks_no_model() -> None:
    caller = script(open_body)
    prover = Symbolic("{ assert true; }", SolutionState.ACCEPTED)
    attempt = await population(caller, symbolic=prover).attempt(problem(), 1)
    assert (attempt.method, attempt.seed, attempt.state) == ("population", 1, SolutionState.ACCEPTED)
    assert (caller.asked, attempt.calls, attempt.checks) == ([], 0, 3)


async def test_the_closest_symbolic_proof_is_a_candidate_beside_the_models() -> None:
    caller = script(open_body)
    closest = "{ assert proof(1); assert proof(2); assert proof(3); assert x > 5; }"
    prover = Symbolic(closest, SolutionState.UNPROVED)
    attempt = await population(caller, symbolic=prover).attempt(problem(), 0)
    assert attempt.solution == closest
    assert attempt.seconds >= 5.0  # what the symbolic prover took counts
    assert attempt.checks == 3 + 5 + 2 * 4
    generated = [address.candidate for address, _ in caller.asked if address.task == "generate"]
    assert sorted(generated) == [0, 1, 2, 3]  # the model has all of its own
    patched = [blocks(messages)["proof"] for address, messages in caller.asked if address.task == "patch"]
    assert closest in patched
    assert len(patched) == 4


async def test_offspring_are_told_what_failed_and_what_siblings_tried() -> None:
    caller = script(open_body)
    attempt = await population(caller).attempt(problem(), 0)
    assert attempt.state is SolutionState.UNPROVED
    assert len(attempt.errors) == 4 + 2 * 4
    patch = next(blocks(messages) for address, messages in caller.asked if address.task == "patch")
    parent = re.search(r"assert x > (\d+);", patch["proof"])
    assert parent is not None
    assert f"assertion could not be proved: x > {parent[1]}" in patch["messages"]
    assert patch["messages"].startswith("The proof is not complete. 1 of 3 obligations are proved.")
    lines = patch["other attempts"].splitlines()
    assert [line.split(":")[0] for line in lines] == [
        f"Candidate {candidate}" for candidate in range(4) if candidate + 10 != int(parent[1])
    ]
    assert all("could not be proved: x > " in line and len(line) < 400 for line in lines)
    rewrite = next(blocks(messages) for address, messages in caller.asked if address.task == "rewrite")
    assert "messages" not in rewrite
    assert rewrite["proof"]
    assert "could not be proved" in rewrite["other attempts"]


async def test_of_all_accepted_proofs_the_shortest_wins() -> None:
    lengths = {0: 3, 1: 2, 2: 5, 3: 4, 4: 6, 5: 1, 6: 2, 7: 3}

    def bodies(address: CallAddress) -> str:
        return "assert proof(x); " * lengths[address.candidate]

    settings = SearchSettings(candidates=8, rounds=1, parents=2, finalists=2)
    for seed in range(4):
        attempt = await population(script(bodies), settings).attempt(problem(), seed)
        assert attempt.solution.count("proof(x)") == 1


async def test_a_budget_winds_the_search_down() -> None:
    caller = script(open_body)
    caller.budget = 6
    attempt = await population(caller).attempt(problem(), 0)
    assert (attempt.state, attempt.calls) == (SolutionState.TOOL_ERROR, 6)
    assert attempt.reason == "cut short: budget: calls"
    assert "assert x >" in attempt.solution
    caller.budget = 0
    nothing = await population(caller).attempt(problem(), 0)
    assert (nothing.state, nothing.solution, nothing.reason) == (SolutionState.TOOL_ERROR, "", "budget: calls")


async def test_a_budget_does_not_undo_a_proof() -> None:
    caller = script(lambda address: "assert proof(x);" if address.candidate == 0 else open_body(address))
    caller.budget = 2
    attempt = await population(caller).attempt(problem(), 0)
    assert attempt.accepted


async def test_a_failed_call_costs_its_slot_only() -> None:
    caller = script(open_body)
    caller.failing = frozenset({1})
    attempt = await population(caller).attempt(problem(), 0)
    assert attempt.state is SolutionState.UNPROVED
    assert attempt.calls == 3 + 2 * 4


async def test_the_order_of_answers_changes_nothing() -> None:
    found = set()
    for order in range(6):
        caller = script(lambda a: "assert proof(x);" if a.candidate >= 8 and a.task == "rewrite" else open_body(a))
        caller.order = order
        attempt = await population(caller).attempt(problem(), 3)
        found.add((replace(attempt, seconds=0.0), frozenset(caller.keys)))
    assert len(found) == 1


async def test_repetitions_have_samples_of_their_own() -> None:
    caller = script(open_body)
    for seed in (0, 1):
        await population(caller).attempt(problem(), seed)
    assert len(set(caller.keys)) == len(caller.keys) == 2 * 12


async def test_hostile_candidates_are_at_zero_and_end_nothing() -> None:
    texts = [
        "```dafny\nlemma {:axiom} goal(x: int) ensures x * x > 9\n```",
        fenced("assume false; assert proof(x);"),
        "```dafny\n" + "((" * 30_000,
        "",
    ]

    def answer(address: CallAddress, messages: Sequence[Message]) -> str:
        return texts[address.candidate % 4]

    checker = WordChecker()
    caller = ScriptedCaller(answer)
    attempt = await PopulationProof(caller, checker, LIMITS, SMALL, 4).attempt(problem(), 0)
    assert not attempt.accepted
    assert checker.checks == 0  # refused before any check
    assert set(attempt.errors) == {ErrorClass.CHEATING, ErrorClass.SYNTAX}


@given(st.integers(0, 40).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total))))
def test_points_are_the_credit(counts: tuple[int, int]) -> None:
    proved, total = counts
    for state in SolutionState:
        verdict = SolutionVerdict(state, credit=proved / max(1, total))
        score = points(verdict)
        assert (score == 7) == verdict.accepted
        if state in (SolutionState.UNPROVED, SolutionState.TIMEOUT):
            assert score == min(6, 7 * proved // max(1, total))
        elif not verdict.accepted:
            assert score == 0
        scored = verification_of(verdict, 0)
        assert (scored.state is ScoreState.NOT_SCORED) == (state is SolutionState.TOOL_ERROR)
        assert (scored.state is ScoreState.PASSED) == verdict.accepted


@pytest.mark.parametrize("settings", [SearchSettings(), SMALL, SearchSettings(candidates=1, rounds=0, parents=1)])
def test_any_search_settings_serve(settings: SearchSettings) -> None:
    formal = formal_search(settings, 5, 1, 200)
    assert SearchSettings.model_validate(formal.model_dump()) == formal
    assert (formal.rounds, formal.parents, formal.seed) == (settings.rounds, settings.parents, 5)
    assert formal.candidates == settings.candidates + 1


async def test_with_the_embedded_checker_and_the_symbolic_prover() -> None:
    hard = problem("lemma goal(n: nat, x: int) requires 3 * x == ipow(4, n) ensures false {}")
    proof = (
        "lemma goal(n: nat, x: int) requires 3 * x == ipow(4, n) ensures false { four(n); }\n"
        "lemma four(n: nat) ensures ipow(4, n) % 3 == 1 { if n > 0 { four(n - 1); } }"
    )

    def answer(address: CallAddress, messages: Sequence[Message]) -> str:
        return f"```dafny\n{proof}\n```" if address.task == "patch" else "```dafny\n{ assert x * 3 != 1; }\n```"

    caller = ScriptedCaller(answer)
    checker = EmbeddedChecker(1)
    limits = replace(LIMITS, resource=300_000)
    prover = SymbolicProver(checker, limits, ProverSettings(checks=1))
    settings = SearchSettings(candidates=1, rounds=2, parents=1)
    try:
        attempt = await PopulationProof(caller, checker, limits, settings, 4, prover).attempt(hard, 0)
    finally:
        await checker.aclose()
    assert attempt.accepted
    assert attempt.solution == proof
    assert [address.task for address, _ in caller.asked] == ["generate", "patch", "rewrite"]
