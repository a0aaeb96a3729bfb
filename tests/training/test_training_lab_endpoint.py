"""The lab's model as an endpoint: prompts of all roles, batches, seeds, and replies that the real parsers read."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs the extra train")

from maxproof.lab import dialogue  # noqa: E402
from maxproof.lab.generate import LabProblem, problems  # noqa: E402
from maxproof.lab.oracle import grade  # noqa: E402
from maxproof.models.bindings import resolve_bindings  # noqa: E402
from maxproof.models.caller import JournaledCaller  # noqa: E402
from maxproof.models.chat import ChatRequest  # noqa: E402
from maxproof.models.endpoints import open_clients  # noqa: E402
from maxproof.models.journal import Journal  # noqa: E402
from maxproof.models.schemes import register_scheme  # noqa: E402
from maxproof.models.settings import EndpointSettings  # noqa: E402
from maxproof.models.types import (  # noqa: E402
    Answer,
    AnswerState,
    Call,
    CallFailed,
    FailureKind,
    Message,
    NoAnswer,
    Sampling,
)
from maxproof.problems import InputError, Problem  # noqa: E402
from maxproof.search.engine import search  # noqa: E402
from maxproof.search.prompted import prompted_roles  # noqa: E402
from maxproof.search.settings import SearchSettings  # noqa: E402
from maxproof.training import sampling as sampling_module  # noqa: E402
from maxproof.training.checkpoint import Checkpoint, new_checkpoint, save_checkpoint  # noqa: E402
from maxproof.training.lab_endpoint import LabEndpoint, lab_prompt, open_lab  # noqa: E402
from maxproof.training.settings import ModelShape, SamplingSettings  # noqa: E402
from maxproof.training.tokenizer import Tokenizer, build_tokenizer  # noqa: E402
from maxproof.training.types import Sampled  # noqa: E402
from maxproof.verifier.judges import judge_calls  # noqa: E402
from maxproof.verifier.settings import VerifierSettings  # noqa: E402

SMALL = ModelShape(layers=1, width=16, heads=2, hidden=32, context=384)
WORDS = "first second ok false leap note missing no_errors minor_gaps has_errors fundamentally_wrong by issue at no"


@pytest.fixture(scope="module")
def problem() -> LabProblem:
    return problems("test", 1, 0)[0]


@pytest.fixture(scope="module")
def checkpoint(problem: LabProblem) -> Checkpoint:
    texts = [problem.problem.statement, problem.problem.reference or "", WORDS, " ".join(problem.question.techniques)]
    return new_checkpoint(SMALL, build_tokenizer(texts), 0)


class Recorder:
    """A caller that keeps the calls and answers nothing."""

    def __init__(self) -> None:
        self.calls: list[Call] = []

    async def ask(self, call: Call) -> Answer:
        self.calls.append(call)
        return Answer("Nothing at all is proved by this text.")

    async def ask_samples(self, calls: Sequence[Call]) -> list[Answer | NoAnswer]:
        return [await self.ask(call) for call in calls]


class RightModel:
    """In the place of `sample`: writes a wrong first draft and does everything else rightly."""

    def __init__(self, problem: LabProblem) -> None:
        self.problem = problem
        self.batches: list[list[str]] = []

    def __call__(
        self, model: object, tokenizer: Tokenizer, prompts: Sequence[str], settings: SamplingSettings, seeds: object
    ) -> list[Sampled]:
        self.batches.append([prompt.split()[0] for prompt in prompts])
        return [Sampled((*tokenizer.encode(self.answer(prompt)), tokenizer.end), (0.0,), True) for prompt in prompts]

    def answer(self, prompt: str) -> str:
        task, right = prompt.split()[0], dialogue.canonical(self.problem.problem.reference or "")
        draft = "\n".join([*right.split("\n")[:-1], "The answer is 99."])
        if task == "<prove>":
            return draft
        if task in ("<patch>", "<rewrite>"):
            return right
        first = prompt.split("<sep>")[1].strip()
        shown = right if first == dialogue.numbered(right) else draft
        report = grade(self.problem.question, shown)
        if task == "<verify>":
            return dialogue.critique_answer(dialogue.marks_of_report(report), report.verdict)
        if task == "<summarise>":
            return dialogue.summary_answer(self.problem.question.techniques[0], dialogue.marks_of_report(report))
        return "first" if shown == right else "second"


def proving(problem: Problem, n: int = 1, seed: int | None = 1, **sampling: float) -> ChatRequest:
    from maxproof.models.template import load_template

    messages = load_template("maxproof.search", "generate").render({"problem": problem.statement})
    return ChatRequest("", messages, Sampling(1.0, 0.95, int(sampling.get("max_tokens", 12))), n, seed)


async def test_every_role_of_a_search_is_answered(
    problem: LabProblem, checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A model that repairs rightly ends the search with a right proof, through all prompts and parsers."""
    model = RightModel(problem)
    monkeypatch.setattr(sampling_module, "sample", model)
    settings = SearchSettings(candidates=3, verifications=2, rounds=2, parents=2, seed=0)
    endpoints = {"default": EndpointSettings(base_url="lab:x")}
    judges = VerifierSettings()
    with Journal.create(tmp_path / "journal.sqlite", {}) as journal:
        async with LabEndpoint(checkpoint) as endpoint:
            caller = JournaledCaller(
                journal, {"default": endpoint}, resolve_bindings(endpoints, {}, judges.judges), seed=0
            )
            result = await search(settings, prompted_roles(problem.problem, settings, judges, caller))
            usage = caller.usage()
    assert result.passed
    assert result.winner is not None
    proof = result.standing(result.winner).candidate.text
    assert grade(problem.question, proof).points == 7
    tasks = {task for batch in model.batches for task in batch}
    assert tasks == {"<prove>", "<verify>", "<summarise>", "<patch>", "<rewrite>", "<rank>"}
    assert model.batches[0] == ["<prove>"] * 3
    assert all(row.failed == 0 and row.completion_tokens > 0 for row in usage)
    assert len(model.batches[1]) == 3 * judge_calls(judges, problem.problem)  # lazy: one sample each


async def test_prompts_of_the_roles(problem: LabProblem) -> None:
    recorder = Recorder()
    settings = SearchSettings(candidates=2, verifications=1, rounds=1, parents=1, seed=0)
    await search(settings, prompted_roles(problem.problem, settings, VerifierSettings(), recorder))
    asked = {call.address.task: lab_prompt(call.prompt()).text for call in recorder.calls}
    statement = problem.problem.statement
    assert asked["generate"] == dialogue.prove_prompt(statement)
    assert asked["generate"].startswith("<prove> ")
    others = set(asked) - {"generate"}
    assert others
    assert all(asked[task].split()[1 : 1 + len(statement.split())] == statement.split() for task in others)


async def test_an_unreadable_answer_is_passed_on(
    problem: LabProblem, checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    def babble(model: object, tokenizer: Tokenizer, prompts: Sequence[str], *rest: object) -> list[Sampled]:
        return [Sampled((*tokenizer.encode("1 ok no_errors no_errors"), tokenizer.end), (0.0,), True) for _ in prompts]

    monkeypatch.setattr(sampling_module, "sample", babble)
    recorder = Recorder()
    settings = SearchSettings(candidates=1, verifications=1, rounds=0, parents=1, seed=0)
    roles = prompted_roles(problem.problem, settings, VerifierSettings(), recorder)
    await search(settings, roles)
    monkeypatch.setattr(sampling_module, "sample", babble)
    call = next(call for call in recorder.calls if call.address.role == "judge")
    async with LabEndpoint(checkpoint) as endpoint:
        reply = await endpoint.complete(ChatRequest("", call.prompt(), Sampling()))
    assert "<verdict>" not in reply.answers[0].text
    assert reply.answers[0].state is AnswerState.COMPLETE


async def test_what_a_sample_becomes_does_not_depend_on_its_batch(problem: LabProblem, checkpoint: Checkpoint) -> None:
    async with LabEndpoint(checkpoint) as endpoint:
        alone = [(await endpoint.complete(proving(problem.problem, seed=seed))).answers[0].text for seed in (5, 6, 7)]
        together = await endpoint.complete(proving(problem.problem, 3, 5))
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(endpoint.complete(proving(problem.problem, seed=seed))) for seed in (7, 6, 5)]
    assert [answer.text for answer in together.answers] == alone
    assert [task.result().answers[0].text for task in reversed(tasks)] == alone
    assert len(set(alone)) == 3


async def test_requests_that_wait_together_are_one_batch(
    problem: LabProblem, checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = RightModel(problem)
    monkeypatch.setattr(sampling_module, "sample", model)
    async with LabEndpoint(checkpoint) as endpoint, asyncio.TaskGroup() as group:
        for seed in range(40):
            group.create_task(endpoint.complete(proving(problem.problem, 2, seed)))
    assert [len(batch) for batch in model.batches] == [80]


async def test_a_cancelled_request_leaves_the_others_alone(problem: LabProblem, checkpoint: Checkpoint) -> None:
    async with LabEndpoint(checkpoint) as endpoint:
        expected = await endpoint.complete(proving(problem.problem, seed=2))
        given_up = asyncio.create_task(endpoint.complete(proving(problem.problem, seed=1)))
        kept = asyncio.create_task(endpoint.complete(proving(problem.problem, seed=2)))
        await asyncio.sleep(0)
        given_up.cancel()
        assert (await kept).answers[0].text == expected.answers[0].text
        assert endpoint.waiting == endpoint.in_flight == 0


async def test_usage_and_the_token_limit(problem: LabProblem, checkpoint: Checkpoint) -> None:
    async with LabEndpoint(checkpoint) as endpoint:
        reply = await endpoint.complete(proving(problem.problem, 2, max_tokens=3))
    prompt = checkpoint.tokenizer.encode_prompt(dialogue.prove_prompt(problem.problem.statement))
    assert [answer.usage.prompt_tokens for answer in reply.answers] == [len(prompt), 0]
    for answer in reply.answers:
        assert answer.usage.completion_tokens <= 3
        assert (answer.state is AnswerState.TRUNCATED) == (answer.finish_reason == "length")
    assert any(answer.state is AnswerState.TRUNCATED for answer in reply.answers)


async def test_unseeded_requests_differ(problem: LabProblem, checkpoint: Checkpoint) -> None:
    async with LabEndpoint(checkpoint) as endpoint:
        texts = [(await endpoint.complete(proving(problem.problem, seed=None))).answers[0].text for _ in range(4)]
    assert len(set(texts)) == 4


@pytest.mark.parametrize("what", ["another problem", "chat", "normalise", "other weights", "too long"])
async def test_what_it_cannot_do_is_a_failed_call(problem: LabProblem, checkpoint: Checkpoint, what: str) -> None:
    from maxproof.models.template import load_template

    request = proving(problem.problem)
    kind = FailureKind.REJECTED
    if what == "another problem":
        request = proving(Problem("x", "Prove that there are infinitely many primes."))
    elif what == "chat":
        request = replace(request, messages=(Message("user", "Hello"),))
    elif what == "normalise":
        messages = load_template("maxproof.verifier", "normalise").render({"candidate": "x"})
        request = replace(request, messages=messages)
    elif what == "other weights":
        request, kind = replace(request, model="lab-0"), FailureKind.PERMANENT
    else:
        kind = FailureKind.CONTEXT_LENGTH
        shape = SMALL.model_copy(update={"context": 5})
        checkpoint = new_checkpoint(shape, checkpoint.tokenizer, 0)
    async with LabEndpoint(checkpoint, "name") as endpoint:
        with pytest.raises(CallFailed) as failure:
            await endpoint.complete(request)
    assert failure.value.kind is kind
    assert str(failure.value).startswith("name: ")


async def test_a_failing_sampler_reaches_every_request(
    problem: LabProblem, checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> list[Sampled]:
        raise MemoryError("no memory")

    monkeypatch.setattr(sampling_module, "sample", broken)
    async with LabEndpoint(checkpoint) as endpoint:
        for _ in range(2):
            with pytest.raises(MemoryError):
                await endpoint.complete(proving(problem.problem, 3))


async def test_the_scheme_opens_a_saved_checkpoint(problem: LabProblem, checkpoint: Checkpoint, tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "model", checkpoint)
    register_scheme("lab:", open_lab)
    settings = EndpointSettings(base_url=f"lab:{tmp_path / 'model'}")
    async with open_clients({"one": settings, "two": settings}) as clients:
        checks = [await client.check("") for client in clients.values()]
        names = [await client.first_model() for client in clients.values()]
        reply = await clients["one"].complete(proving(problem.problem))
    assert all(check.ok for check in checks)
    assert names[0] == names[1] == checks[0].model
    async with LabEndpoint(checkpoint) as endpoint:
        assert (await endpoint.complete(proving(problem.problem))).answers[0].text == reply.answers[0].text


def test_a_missing_checkpoint_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"), open_lab(str(tmp_path / "none")):
        pass
