"""The comparison of searches on one problem, with a scripted model in all roles."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from maxproof.evaluation.lab import searches
from maxproof.evaluation.lab.measure import points_of
from maxproof.evaluation.lab.profile import LabProfile, profile_named
from maxproof.evaluation.lab.searches import OUTCOMES, compare, graded, read_outcomes
from maxproof.evaluation.methods.budget import Spent
from maxproof.lab import dialogue
from maxproof.lab.domains import read_question
from maxproof.lab.generate import LabProblem, problems
from maxproof.lab.judges import PANEL, LabJudges
from maxproof.lab.oracle import grade
from maxproof.models.chat import ChatReply, ChatRequest
from maxproof.models.template import fenced_blocks
from maxproof.models.types import Answer, CallFailed, FailureKind, Usage
from maxproof.search.settings import SearchSettings
from maxproof.search.types import Candidate, Round, SearchResult, Slot, Standing, StopReason
from maxproof.verifier.types import Draft, ScoreState, Verification

PROBLEM = problems("test", 3, 0)[1]
WRONG = "The answer is 12345."


class Scripted:
    """A model that is right in `share` of its proofs, judges as the oracle does, and repairs in `repair` of them."""

    def __init__(self, share: float, repair: float = 0.5, *, lost: Sequence[str] = ()) -> None:
        self._share = share
        self._repair = repair
        self._lost = lost
        self.asked: list[str] = []

    async def complete(self, request: ChatRequest) -> ChatReply:
        await asyncio.sleep(0)
        blocks = fenced_blocks(request.messages)
        seed = request.seed or 0
        answers = [self._answer(blocks, Random(seed + i)) for i in range(request.n)]
        return ChatReply(tuple(answers), b"", b"")

    def _answer(self, blocks: dict[str, str], rng: Random) -> Answer:
        statement = blocks["problem"]
        names = frozenset(blocks) - {"problem", "rubric", "reference", "answer"}
        reference = PROBLEM.problem.reference or ""
        if not names:
            task, text = "prove", reference if rng.random() < self._share else f"{WRONG}\n{rng.random()}"
        elif names == {"candidate"}:
            question = read_question(statement)
            assert question is not None
            report = grade(question, blocks["candidate"])
            answer = dialogue.critique_answer(dialogue.marks_of_report(report), report.verdict)
            found = dialogue.read_marks(answer, blocks["candidate"])
            task, text = "judge", dialogue.critique_reply(found) if found else ""
        elif "other_attempts" in names:
            task, text = "refine", reference if rng.random() < self._repair else f"{WRONG}\n{rng.random()}"
        elif "first_proof" in names:
            task, text = "rank", "<choice>first</choice>"
        else:
            task, text = "summarise", "<summary>a way</summary>"
        self.asked.append(task)
        if task in self._lost:
            raise CallFailed(FailureKind.TIMEOUT, "too late")
        return Answer(text, usage=Usage(sum(len(b.split()) for b in blocks.values()), len(text.split())))


def profile(**search: object) -> LabProfile:
    sizes = {"candidates": 4, "verifications": 2, "rounds": 2, "parents": 2, "finalists": 2, "votes": 1, **search}
    return profile_named("tiny").model_copy(update={"search": SearchSettings.model_validate(sizes)})


def outcome(endpoint: Scripted, **search: object) -> dict[str, object]:
    return asyncio.run(compare(endpoint, PROBLEM, profile(**search)))  # type: ignore[arg-type]


@pytest.mark.parametrize("share", [0.0, 0.2, 1.0])
def test_methods_are_graded_by_the_oracle_and_paid_in_tokens(share: float) -> None:
    found = outcome(Scripted(share, 0.4))
    assert found["problem"] == PROBLEM.problem.id
    assert found["technique"] == f"{PROBLEM.question.domain}/{PROBLEM.technique}"
    for name in ("best_of", "maxproof", "best_of_equal"):
        method = found[name]
        assert isinstance(method, dict)
        curve = method["best_by_round"]
        assert curve == sorted(curve)
        assert curve[-1] == method["best"] >= max(method["picked"], method["argmax"])
        assert method["calls"] > 0
    if share == 1.0:
        assert found["one_shot"] == found["best_of"]["picked"] == found["maxproof"]["picked"] == 7  # type: ignore[index]
    if share == 0.0:
        assert found["one_shot"] == found["best_of"]["best"] == 0  # type: ignore[index]


def test_the_search_starts_from_the_proofs_of_best_of_n_and_can_only_add() -> None:
    found = outcome(Scripted(0.0, 1.0))
    assert found["maxproof"]["best"] == found["maxproof"]["picked"] == 7  # type: ignore[index]
    assert found["maxproof"]["best_by_round"][0] == found["best_of"]["best"] == 0  # type: ignore[index]
    assert found["maxproof"]["origin"] in ("patch", "rewrite")  # type: ignore[index]


def test_equal_budget_is_that_of_this_problem() -> None:
    found = outcome(Scripted(0.0, 0.0), rounds=3)
    small, full, equal = found["best_of"], found["maxproof"], found["best_of_equal"]
    tokens = {k: v["prompt_tokens"] + v["completion_tokens"] for k, v in found.items() if isinstance(v, dict)}  # type: ignore[index]
    planned = equal["planned"]  # type: ignore[index]
    assert planned == round(4 * tokens["maxproof"] / tokens["best_of"]) > 4
    assert tokens["best_of_equal"] == pytest.approx(tokens["maxproof"], rel=0.25)
    assert full["calls"] > small["calls"]  # type: ignore[index]


def test_a_search_that_adds_nothing_leaves_best_of_n_its_candidates() -> None:
    found = outcome(Scripted(1.0))
    assert found["best_of_equal"]["planned"] >= 4  # type: ignore[index]


def test_the_same_seed_gives_the_same_outcome() -> None:
    assert outcome(Scripted(0.3)) == outcome(Scripted(0.3))


def test_lost_proofs_are_nothing_that_was_returned() -> None:
    found = outcome(Scripted(1.0, lost=["prove"]))
    for name in ("best_of", "maxproof", "best_of_equal"):
        method = found[name]
        assert isinstance(method, dict)
        assert (method["picked"], method["best"], method["best_by_round"]) == (0.0, 0.0, [])


def test_a_lost_first_sample_is_no_other_sample() -> None:
    class FirstLost(Scripted):
        def _answer(self, blocks: dict[str, str], rng: Random) -> Answer:
            answer = super()._answer(blocks, rng)
            if self.asked.count("prove") == 1 and self.asked[-1] == "prove":
                raise CallFailed(FailureKind.TIMEOUT, "too late")
            return answer

    found = outcome(FirstLost(1.0))
    assert found["best_of"]["picked"] == 7  # type: ignore[index]


def standing(number: int, text: str, in_round: int = 0, points: float = 7.0) -> Standing:
    judged = Verification(0, ScoreState.PASSED if points == 7 else ScoreState.FAILED, points, None, "")
    candidate = Candidate(Slot(number, in_round, "generate"), Draft(text))
    return Standing(candidate, 1, {0: judged})


def result(standings: Sequence[Standing], winner: int, finalists: tuple[int, ...]) -> SearchResult:
    rounds = tuple(Round(number, (), (), None, ()) for number in range(3))
    return SearchResult(tuple(standings), rounds, StopReason.ROUNDS, finalists, (), winner)


def test_picked_argmax_and_best_tell_apart_what_selection_did() -> None:
    right = PROBLEM.problem.reference or ""
    shown = [standing(0, WRONG), standing(1, right, 1, 0.0), standing(2, f"{WRONG} ", 2)]
    found = graded(PROBLEM, result(shown, 2, (0, 2)), Spent(3, 30, 3))
    assert (found["picked"], found["argmax"], found["best"]) == (0.0, 0.0, 7.0)
    assert found["best_by_round"] == [0.0, 7.0, 7.0]
    assert found["passed"] is True  # what its judges said, and they were wrong
    assert (found["calls"], found["candidates"]) == (3, 3)
    assert graded(PROBLEM, result(shown, 1, (1, 2)), Spent())["argmax"] == 7.0
    nothing = graded(PROBLEM, replace(result([], 0, ()), winner=None), Spent())
    assert (nothing["picked"], nothing["best"], nothing["best_by_round"]) == (0.0, 0.0, [])


def test_grades_are_the_oracles() -> None:
    assert points_of(PROBLEM, PROBLEM.problem.reference or "") == 7
    assert points_of(PROBLEM, WRONG) == 0
    assert points_of(PROBLEM, "") == 0


@pytest.mark.parametrize("tail", ['{"problem": "c"', '{"problem": "c"}', "nonsense\n", "[1]\n", "\x00"])
def test_a_torn_line_is_no_outcome(tmp_path: Path, tail: str) -> None:
    path = tmp_path / OUTCOMES
    assert read_outcomes(path) == []
    path.write_text('{"problem": "a"}\n{"problem": "b"}\n' + tail, encoding="utf-8")
    assert [row["problem"] for row in read_outcomes(path)] == ["a", "b"]


def test_with_the_panel_the_model_judges_nothing_and_the_budget_is_in_calls() -> None:
    endpoint = Scripted(0.5)
    judges = LabJudges(PANEL, 3)
    found = asyncio.run(compare(endpoint, PROBLEM, profile(), judges))  # type: ignore[arg-type]
    assert "judge" not in endpoint.asked
    assert {"prove", "rank"} & set(endpoint.asked)
    spent, cheap = found["maxproof"]["calls"], found["best_of"]["calls"]
    assert found["best_of_equal"]["planned"] == max(4, round(4 * spent / cheap))


def test_a_resumed_shard_cuts_off_the_torn_line_and_searches_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch", reason="needs the extra train")
    from maxproof.evaluation.lab.stages import Place, Stage
    from maxproof.training import checkpoint, lab_endpoint

    asked: list[str] = []

    async def fake(endpoint: object, problem: LabProblem, profile: LabProfile, judges: object) -> dict[str, str]:
        asked.append(problem.problem.id)
        return {"problem": problem.problem.id}

    monkeypatch.setattr(searches, "compare", fake)
    monkeypatch.setattr(checkpoint, "load_checkpoint", lambda folder: None)
    monkeypatch.setattr(lab_endpoint, "LabEndpoint", lambda checkpoint: None)
    tiny = profile_named("tiny")
    place = Place(tmp_path, Stage("search-0", "", (), 1, "0"))
    place.own.mkdir(parents=True)
    ids = [p.problem.id for p in searches.heldout(tiny, tiny.search_problems)]
    kept = "".join(json.dumps({"problem": name}) + "\n" for name in ids[:2])
    (place.own / OUTCOMES).write_text(kept + '{"problem": "half', encoding="utf-8")
    assert searches.run(place, tiny, lambda share, text: None) == {"problems": len(ids)}
    assert sorted(asked) == sorted(ids[2:])
    assert sorted(row["problem"] for row in read_outcomes(place.own / OUTCOMES)) == sorted(ids)
    asked.clear()
    searches.run(place, tiny, lambda share, text: None)
    assert asked == []
