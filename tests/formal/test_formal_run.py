"""Whole formal runs over a mock server: what is asked, stored, resumed after a kill, and never paid twice."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from formal_models import GOAL, QuickProver, WordChecker, fenced, problem

from maxproof.formal.checkers.types import Checker
from maxproof.formal.folder import FormalFolder, create_formal_run, open_formal_run
from maxproof.formal.guided.method import GuidedProof
from maxproof.formal.guided.protocol import paper_protocol
from maxproof.formal.guided.settings import GuidedSettings
from maxproof.formal.learned.library import LearnedLibrary, default_library
from maxproof.formal.problem import FormalProblem
from maxproof.formal.results import Attempt
from maxproof.formal.run import run_formal
from maxproof.formal.settings import FormalSettings, LimitSettings
from maxproof.formal.solution.types import SolutionState
from maxproof.formal.store import read_attempts
from maxproof.formal.summary import summarise_methods, summarise_problems
from maxproof.models.mock import MockReply, MockRequest, MockServer
from maxproof.models.settings import BudgetSettings, EndpointSettings, RoleSettings
from maxproof.models.types import StopKind
from maxproof.problems import InputError
from maxproof.search.settings import RunSettings, SearchSettings

NAMES = ("alpha", "beta", "gamma")
CONCURRENCY = 4
SEARCH = SearchSettings(candidates=3, rounds=1, parents=1)


def problems(names: tuple[str, ...] = NAMES) -> list[FormalProblem]:
    return [problem(GOAL.replace("goal", name)) for name in names]


def answer(request: MockRequest) -> MockReply:
    """`alpha` is proved at once, `beta` by a correction or a patch, `gamma` never."""
    name = re.findall(r"^lemma (alpha|beta|gamma)\b", request.user, re.MULTILINE)[0]
    first = not request.block("messages", "proof")
    body = "assert proof(x);" if name == "alpha" or (name == "beta" and not first) else f"assert x > {request.seed};"
    return MockReply(fenced(body).replace("goal", name))


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("MAXPROOF_DAFNY", raising=False)


@pytest.fixture
def words(monkeypatch: pytest.MonkeyPatch) -> list[WordChecker]:
    """All runs are judged by word checkers; these are they."""
    opened: list[WordChecker] = []

    @asynccontextmanager
    async def open_words(name: str, workers: int) -> AsyncIterator[Checker]:
        opened.append(WordChecker())
        yield opened[-1]

    monkeypatch.setattr("maxproof.formal.run.open_checker", open_words)
    monkeypatch.setattr("maxproof.formal.run.SymbolicProver", QuickProver)
    return opened


def new_run(path: Path, base_url: str, budget: BudgetSettings | None = None, **formal: object) -> FormalFolder:
    settings = RunSettings(
        endpoints={"default": EndpointSettings(base_url=base_url, model="m", concurrency=CONCURRENCY)},
        roles={role: RoleSettings(max_tokens=4000) for role in ("generator", "refiner")},
        search=SEARCH,
        budget=budget or BudgetSettings(),
    )
    values = {"workers": 2, "guided": GuidedSettings(corrections=1, lemmas=2)} | formal
    return create_formal_run(path, problems(), FormalSettings(**values), settings, "1")  # type: ignore[arg-type]


def shown(attempts: object) -> list[tuple[str, str, int, str]]:
    return [(a.method, a.problem, a.seed, a.state.value) for a in attempts]  # type: ignore[attr-defined]


async def test_every_method_on_every_problem(tmp_path: Path, words: list[WordChecker]) -> None:
    seen: list[Attempt] = []
    async with MockServer(answer) as server:
        folder = new_run(
            tmp_path / "run", server.base_url, methods=("empty", "symbolic", "guided", "population"), repeats=2
        )
        outcome = await run_formal(folder, seen.append)
        asked = server.stats.requests
        again = await run_formal(open_formal_run(folder.path), seen.append)
        assert server.stats.requests == asked
    assert not outcome.stop
    assert [(method, name, seed) for method, name, seed, _ in shown(outcome.attempts)] == [
        (method, name, seed)
        for method in ("empty", "symbolic", "guided", "population")
        for name in NAMES
        for seed in (0, 1)
    ]
    accepted = {(a.method, a.problem) for a in outcome.attempts if a.accepted}
    assert accepted == {(method, name) for method in ("guided", "population") for name in ("alpha", "beta")}
    assert len(seen) == 24  # none of the second time
    assert again == outcome
    assert sorted(shown(read_attempts(folder.attempts)[1])) == sorted(shown(outcome.attempts))
    guided = [a for a in outcome.attempts if a.method == "guided"]
    assert [a.calls for a in guided] == [1, 1, 2, 2, 2, 2]
    summary = summarise_methods(summarise_problems(folder.problems, outcome.attempts, {}), outcome.attempts)
    assert [(s.method, s.solved.successes, [round(p.rate.value, 3) for p in s.pass_at]) for s in summary] == [
        ("empty", 0, [0, 0]),
        ("symbolic", 0, [0, 0]),
        ("guided", 2, [0.667, 0.667]),
        ("population", 2, [0.667, 0.667]),
    ]
    # Every attempt had answers of its own.
    requests = 6 + 4 + 2 * (3 + 5 + 5)
    assert asked == requests


async def test_the_population_search_takes_the_symbolic_prover_s_earlier_attempts(
    tmp_path: Path, words: list[WordChecker], monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: list[tuple[str, int]] = []

    class Watched(QuickProver):
        async def attempt(self, problem: FormalProblem, seed: int) -> Attempt:
            searched.append((problem.name, seed))
            return await super().attempt(problem, seed)

    monkeypatch.setattr("maxproof.formal.run.SymbolicProver", Watched)
    once = sorted((name, seed) for name in NAMES for seed in (0, 1))
    found = {}
    async with MockServer(answer) as server:
        for name, methods in (("with", ("symbolic", "population")), ("alone", ("population",))):
            searched.clear()
            folder = new_run(tmp_path / name, server.base_url, methods=methods, repeats=2)
            outcome = await run_formal(folder)
            assert sorted(searched) == once
            found[name] = [without_spending(a) for a in outcome.attempts if a.method == "population"]
        assert found["with"] == found["alone"]
        # A run that was ended between the two methods.
        folder = new_run(tmp_path / "resumed", server.base_url, methods=("symbolic", "population"), repeats=2)
        whole = (tmp_path / "with" / folder.attempts.name).read_text().splitlines(keepends=True)
        folder.attempts.write_text("".join(line for line in whole if '"method": "population"' not in line))
        searched.clear()
        resumed = await run_formal(open_formal_run(folder.path))
    assert searched == []
    assert [without_spending(a) for a in resumed.attempts if a.method == "population"] == found["with"]


async def test_the_published_protocol_is_what_is_sent(tmp_path: Path, words: list[WordChecker]) -> None:
    bodies: list[Mapping[str, object]] = []

    def watching(request: MockRequest) -> MockReply:
        bodies.append(request.body)
        return answer(request)

    async with MockServer(watching) as server:
        plain = new_run(tmp_path / "plain", server.base_url)
        formal, settings = paper_protocol(FormalSettings(methods=("guided",)), plain.settings)
        outcome = await run_formal(create_formal_run(tmp_path / "run", problems(), formal, settings, "1"))
    assert {(body["temperature"], body["max_tokens"]) for body in bodies} == {(0.5, 8192)}
    assert [attempt.calls for attempt in outcome.attempts] == [1] * 4 + [2] * 4 + [4] * 4  # N = 4, E = 3
    summary = summarise_methods(summarise_problems(plain.problems, outcome.attempts, {}), outcome.attempts)
    assert [one.k for one in summary[0].pass_at] == [1, 2, 3, 4]


async def test_what_is_solved_is_not_asked_again(tmp_path: Path, words: list[WordChecker]) -> None:
    async with MockServer(answer) as server:
        folder = new_run(tmp_path / "run", server.base_url, methods=("guided", "population"), first_success=True)
        outcome = await run_formal(folder)
    assert [(method, name) for method, name, _, _ in shown(outcome.attempts)] == [
        *(("guided", name) for name in NAMES),
        ("population", "gamma"),
    ]


async def test_a_spent_budget_ends_the_run_and_more_of_it_goes_on(tmp_path: Path, words: list[WordChecker]) -> None:
    methods = ("guided", "population")
    async with MockServer(answer) as server:
        whole = await run_formal(new_run(tmp_path / "whole", server.base_url, methods=methods, workers=1))
        paid = server.stats.requests
    async with MockServer(answer) as server:
        folder = new_run(tmp_path / "run", server.base_url, BudgetSettings(max_calls=4), methods=methods, workers=1)
        cut = await run_formal(folder)
        assert cut.stop.kind is StopKind.BUDGET
        assert len(cut.attempts) == 6
        assert any(not attempt.scored for attempt in cut.attempts)
        assert server.stats.requests == 4
        folder = replace(folder, settings=folder.settings.model_copy(update={"budget": BudgetSettings()}))
        folder.save()
        seen: list[Attempt] = []
        done = await run_formal(open_formal_run(folder.path), seen.append)
        assert server.stats.requests == paid  # what was paid is not paid again
    assert len(seen) == sum(not attempt.scored for attempt in cut.attempts)
    assert not done.stop
    assert [without_spending(a) for a in done.attempts] == [without_spending(a) for a in whole.attempts]


def without_spending(attempt: Attempt) -> Attempt:
    return replace(attempt, seconds=0.0)


async def test_one_problem_that_breaks_a_method_costs_the_others_nothing(
    tmp_path: Path, words: list[WordChecker], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = GuidedProof.attempt

    async def attempt(self: GuidedProof, problem: FormalProblem, seed: int) -> Attempt:
        if problem.name == "beta":
            raise RuntimeError("a bug")
        return await whole(self, problem, seed)

    async with MockServer(answer) as server:
        folder = new_run(tmp_path / "run", server.base_url, methods=("guided",))
        with monkeypatch.context() as patched:
            patched.setattr(GuidedProof, "attempt", attempt)
            broken = await run_formal(folder)
        mended = await run_formal(folder)
    assert [a.state for a in broken.attempts] == [
        SolutionState.ACCEPTED, SolutionState.TOOL_ERROR, SolutionState.UNPROVED
    ]  # fmt: skip
    assert "a bug" in broken.attempts[1].reason
    assert [a.accepted for a in mended.attempts] == [True, True, False]


async def test_a_dead_endpoint_stops_the_run_and_keeps_what_is_done(tmp_path: Path, words: list[WordChecker]) -> None:
    folder = new_run(tmp_path / "run", "http://127.0.0.1:9/v1", methods=("empty", "guided"))
    endpoint = folder.settings.endpoints["default"].model_copy(update={"timeout_s": 1.0})
    folder = replace(folder, settings=folder.settings.model_copy(update={"endpoints": {"default": endpoint}}))
    outcome = await run_formal(folder)
    assert outcome.stop.kind is StopKind.ENDPOINT
    assert [a.scored for a in outcome.attempts] == [True] * 3 + [False] * 3


@pytest.mark.parametrize(
    ("formal", "message"),
    [
        ({"checker": "coq"}, "no checker 'coq'"),
        ({"certify": True}, "no command '/nowhere/dafny'"),
        ({"confirm": "dafny-4"}, "no command '/nowhere/dafny'"),
    ],
)
async def test_what_can_not_be_run_is_one_clear_line(
    formal: dict[str, object], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAXPROOF_DAFNY", "/nowhere/dafny")
    folder = new_run(tmp_path / "run", "http://h/v1", methods=("empty",), **formal)
    with pytest.raises(InputError, match=message):
        await run_formal(folder)


async def test_a_run_of_other_problems_is_refused(tmp_path: Path, words: list[WordChecker]) -> None:
    folder = new_run(tmp_path / "run", "http://h/v1", methods=("empty",))
    await run_formal(folder)
    other = replace(folder, problems=folder.problems[:2])
    with pytest.raises(InputError, match="another problems"):
        await run_formal(other)


async def test_a_learning_run_keeps_to_what_it_began_with(tmp_path: Path, words: list[WordChecker]) -> None:
    helper = "\nlemma squares(a: int) ensures a * (a * a) * a >= 0 { assert proof(a); }"

    def teaching(request: MockRequest) -> MockReply:
        reply = answer(request)
        return MockReply(reply.text.replace("\n```\nDone", helper + "\n```\nDone"))

    async with MockServer(teaching) as server:
        first = await run_formal(new_run(tmp_path / "first", server.base_url, methods=("guided",), learn=True))
        assert [a.accepted for a in first.attempts] == [True, True, False]
        with LearnedLibrary(default_library()) as library:
            (lemma,) = library.lemmas()
        assert (lemma.problem in ("alpha", "beta"), lemma.method) == (True, "guided")
        assert json.loads((tmp_path / "first" / "learned.json").read_text()) == []  # nothing was known when it began
        asked = server.stats.requests
        await run_formal(open_formal_run(tmp_path / "first"))
        assert server.stats.requests == asked
        prompts: list[str] = []

        def watching(request: MockRequest) -> MockReply:
            prompts.append(request.block("library") or "")
            return teaching(request)

    async with MockServer(watching) as server:
        second = await run_formal(new_run(tmp_path / "second", server.base_url, methods=("guided",), learn=True))
        off = await run_formal(new_run(tmp_path / "off", server.base_url, methods=("guided",)))
    assert [lemma.name in text for text in prompts] == [True] * 5 + [False] * 5
    assert [a.accepted for a in second.attempts] == [a.accepted for a in off.attempts]


async def test_with_the_embedded_checker(tmp_path: Path) -> None:
    texts = {
        "easy": "lemma easy(x: int) requires x > 3 ensures x * x > 9 {}",
        "needs": "lemma needs(n: nat, x: int) requires x == ipow(4, n) + 2 ensures x % 3 == 0 {}",
    }
    proof = "```dafny\n{ four(n); }\nlemma four(n: nat) ensures ipow(4, n) % 3 == 1 { if n > 0 { four(n - 1); } }\n```"
    async with MockServer(lambda request: MockReply(proof if "needs" in request.user else "{}")) as server:
        made = new_run(tmp_path / "run", server.base_url)
        limits = LimitSettings(resource=300_000)
        formal = FormalSettings(methods=("empty", "guided"), first_success=True, workers=1, limits=limits)
        folder = create_formal_run(
            tmp_path / "real", [problem(text) for text in texts.values()], formal, made.settings, "1"
        )
        outcome = await run_formal(folder)
    assert [(method, name, state) for method, name, _, state in shown(outcome.attempts)] == [
        ("empty", "easy", "accepted"),
        ("empty", "needs", "unproved"),
        ("guided", "needs", "accepted"),
    ]
    assert outcome.attempts[2].checker.startswith("embedded")


# kill -9

_RUN = """
import asyncio, sys
from contextlib import asynccontextmanager
from pathlib import Path
import maxproof.formal.run as run
from formal_models import QuickProver, WordChecker
from maxproof.formal.folder import open_formal_run
@asynccontextmanager
async def open_words(name, workers):
    yield WordChecker()
run.open_checker = open_words
run.SymbolicProver = QuickProver
asyncio.run(run.run_formal(open_formal_run(Path(sys.argv[1]))))
"""


async def test_kills_lose_nothing_finished_and_pay_nothing_twice(tmp_path: Path, words: list[WordChecker]) -> None:
    formal = {"methods": ("guided", "population"), "repeats": 3, "guided": GuidedSettings(corrections=3, lemmas=0)}
    random = Random(5)

    async def slowly(request: MockRequest) -> MockReply:
        await asyncio.sleep(0.05)
        return answer(request)

    async with MockServer(slowly) as server:
        whole = await run_formal(new_run(tmp_path / "whole", server.base_url, **formal))
        paid = server.stats.requests
    async with MockServer(slowly) as server:
        folder = new_run(tmp_path / "run", server.base_url, **formal)
        kills = 0
        finished: set[tuple[str, str, int, str]] = set()
        while True:
            environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent), "OMP_NUM_THREADS": "1"}
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-c", _RUN, str(folder.path), env=environment, stderr=asyncio.subprocess.PIPE
            )
            target = server.stats.requests + random.randrange(4, 16)
            while process.returncode is None and (kills == 3 or server.stats.requests < target):  # noqa: ASYNC110
                await asyncio.sleep(0.005)
            if process.returncode is None:
                process.kill()
                kills += 1
                await process.communicate()
                kept = set(shown(read_attempts(folder.attempts)[1])) if folder.attempts.exists() else set()
                assert finished <= kept
                finished = kept
                continue
            _, errors = await process.communicate()
            assert process.returncode == 0, errors.decode()
            break
        assert kills == 3
        outcome = await run_formal(open_formal_run(folder.path))
        # What was at the server when a kill came, or answered and not yet on the disk, is asked once more.
        assert server.stats.requests <= paid + kills * 2 * CONCURRENCY
    assert [without_spending(a) for a in outcome.attempts] == [without_spending(a) for a in whole.attempts]
