"""The lab's small model as an endpoint: a checkpoint behind the same interface as a chat server.

    with open_lab("") as connect:                      # the weights that are shipped; or the folder of a checkpoint
        async with connect("default", settings, 0) as endpoint:
            reply = await endpoint.complete(request)

The model knows a compact format of its own (`maxproof.lab.dialogue`). Here a prompt of the project's templates becomes
such a prompt, by the names of its fenced blocks, and the answer becomes the reply that the role's parser expects. An
answer that isn't in the compact format is passed on as it is: the parser then says that it can't be read.

Requests that wait at the same time are decoded in one batch, in a worker thread. Each sample has its own seed, so that
what it becomes does not depend on its batch. Sample i of a request has the request's seed plus i.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

from maxproof.lab import dialogue
from maxproof.lab.domains import read_question
from maxproof.models.chat import ChatReply, ChatRequest, EndpointCheck
from maxproof.models.schemes import Connect
from maxproof.models.settings import EndpointSettings
from maxproof.models.template import fenced_blocks
from maxproof.models.types import Answer, AnswerState, CallFailed, FailureKind, Message, Usage
from maxproof.problems import InputError
from maxproof.training.settings import SamplingSettings

if TYPE_CHECKING:
    from maxproof.training.checkpoint import Checkpoint
    from maxproof.training.types import Sampled

MAX_ANSWER_TOKENS = 144
"""Of one answer, where the request and the context leave room: a longest proof has 130."""
BATCH = 256
"""Samples that are decoded at once."""

_INSTALL_HINT = "install it with: pip install 'maxproof[train]'"
_TURNS = 3  # of the event loop without a new request, before a batch starts


@dataclass(frozen=True, slots=True)
class LabPrompt:
    """What the model is asked for: a proof, marks, or a few words. `reply` turns its answer into the role's reply."""

    form: Literal["proof", "marks", "word"]
    text: str
    reply: Callable[[str], str]


def lab_prompt(messages: Sequence[Message]) -> LabPrompt:
    """The compact prompt for messages of the project's own templates.

    Raises ValueError, saying what the matter is, if they ask for something the model was not taught, or the problem is
    none of the lab's.
    """
    blocks = fenced_blocks(messages)
    statement = blocks.get("problem")
    if statement is None:
        raise ValueError("the lab's model is asked through the project's own prompts only, and not to normalise texts")
    if read_question(statement) is None:
        raise ValueError("this is no problem of the lab, and the lab's model can't prove anything else")
    match frozenset(blocks) - {"problem", "reference", "rubric", "answer"}:
        case names if not names:
            return LabPrompt("proof", dialogue.prove_prompt(statement), dialogue.read_proof)
        case names if names == {"candidate"}:
            proof = blocks["candidate"]
            return LabPrompt("marks", dialogue.verify_prompt(statement, proof), lambda answer: _judged(answer, proof))
        case names if names == {"proof", "critique", "other_attempts"}:
            marks = dialogue.marks_from_critique(blocks["critique"], blocks["proof"])
            return LabPrompt("proof", dialogue.patch_prompt(statement, blocks["proof"], marks), dialogue.read_proof)
        case names if names == {"proof", "other_attempts"}:
            return LabPrompt("proof", dialogue.rewrite_prompt(statement, blocks["proof"]), dialogue.read_proof)
        case names if names == {"proof", "critique"}:
            marks = dialogue.marks_from_critique(blocks["critique"], blocks["proof"])
            return LabPrompt(
                "word", dialogue.summarise_prompt(statement, blocks["proof"], marks), dialogue.summary_reply
            )
        case names if names == {"first_proof", "second_proof"}:
            prompt = dialogue.rank_prompt(statement, blocks["first_proof"], blocks["second_proof"])
            return LabPrompt("word", prompt, dialogue.choice_reply)
        case names:
            raise ValueError(f"the lab's model has no task with the blocks {', '.join(sorted(names))}")


def _judged(answer: str, proof: str) -> str:
    critique = dialogue.read_marks(answer, proof)
    return answer if critique is None else dialogue.critique_reply(critique)


@dataclass(frozen=True, slots=True)
class _Batchable:
    """What the samples of one batch have in common. Answers of one form have like lengths."""

    form: Literal["proof", "marks", "word"]
    temperature: float
    top_p: float
    limit: int


@dataclass(frozen=True, slots=True)
class _Row:
    kind: _Batchable
    prompt: str
    seed: int
    result: asyncio.Future[Sampled]


class LabEndpoint:
    """A checkpoint as `models.chat.ChatEndpoint`, in one event loop. `async with` waits for the batch that is running.

    Args:
        name: the endpoint's name in the configuration; failures carry it.
    """

    supports_n = True
    trouble = ""

    def __init__(self, checkpoint: Checkpoint, name: str = "lab") -> None:
        self._checkpoint = checkpoint
        self._name = name
        self._waiting: list[_Row] = []
        self._decoding = 0
        self._worker: asyncio.Task[None] | None = None
        self._unseeded = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._waiting.clear()
        if self._worker is not None:
            await self._worker

    @property
    def in_flight(self) -> int:
        """Samples that are being decoded."""
        return self._decoding

    @property
    def waiting(self) -> int:
        """Samples that wait for a batch."""
        return len(self._waiting)

    @cached_property
    def _model(self) -> str:
        from maxproof.training.checkpoint import digest

        return f"lab-{digest(self._checkpoint)[:12]}"

    async def first_model(self) -> str:
        """`lab-` and a digest of the weights, so that a resumed run notices other ones."""
        return self._model

    async def models(self) -> Sequence[str]:
        return (self._model,)

    async def check(self, model: str) -> EndpointCheck:
        """Decodes one token. See `OpenEndpoint`."""
        started = time.perf_counter()
        try:
            self._known(model)
            await self._row(_Batchable("proof", 0.0, 1.0, 1), "<prove> Compute 1 + 1 modulo 7. <sep>", 0).result
        except CallFailed as failure:
            return EndpointCheck(self._name, False, model, message=failure.message, models=(self._model,))
        return EndpointCheck(self._name, True, self._model, time.perf_counter() - started, models=(self._model,))

    async def complete(self, request: ChatRequest) -> ChatReply:
        """All samples of one request.

        Raises CallFailed: `REJECTED` for what the model was not taught, `CONTEXT_LENGTH` for what does not fit.
        """
        started = time.perf_counter()
        self._known(request.model)
        try:
            prompt = lab_prompt(request.messages)
        except ValueError as error:
            raise CallFailed(FailureKind.REJECTED, str(error), endpoint=self._name) from None
        seed = request.seed
        if seed is None:  # new samples, each time
            seed, self._unseeded = self._unseeded, self._unseeded + request.n
        prompt_tokens = self._length(prompt.text)
        sampling = request.sampling
        limit = min(sampling.max_tokens, MAX_ANSWER_TOKENS)
        kind = _Batchable(prompt.form, sampling.temperature, sampling.top_p, limit)
        rows = [self._row(kind, prompt.text, seed + index) for index in range(request.n)]
        try:
            sampled = [await row.result for row in rows]
        finally:
            for row in rows:
                if not row.result.cancel() and not row.result.cancelled():
                    row.result.exception()  # counts as seen
        latency = time.perf_counter() - started
        texts = [self._text(one) for one in sampled]
        answers = tuple(
            _answer(prompt, text, one, prompt_tokens if index == 0 else 0, latency, self._model)
            for index, (text, one) in enumerate(zip(texts, sampled, strict=True))
        )
        asked = {
            "model": self._model,
            "prompt": prompt.text,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "max_tokens": limit,
            "n": request.n,
            "seed": seed,
        }
        replied = {
            "model": self._model,
            "answers": [
                {"text": text, "tokens": len(one.ids), "finished": one.finished}
                for text, one in zip(texts, sampled, strict=True)
            ],
        }
        return ChatReply(answers, json.dumps(asked).encode(), json.dumps(replied).encode(), latency_s=latency)

    def _known(self, model: str) -> None:
        if model not in ("", self._model):
            message = f"the weights are those of {self._model}, not of {model}"
            raise CallFailed(FailureKind.PERMANENT, message, endpoint=self._name)

    def _text(self, sampled: Sampled) -> str:
        return self._checkpoint.tokenizer.decode(sampled.ids)

    def _length(self, prompt: str) -> int:
        """Tokens of a prompt. Raises CallFailed if they leave no room for an answer."""
        length = len(self._checkpoint.tokenizer.encode_prompt(prompt))
        context = self._checkpoint.model.shape.context
        if length >= context:
            message = f"the prompt has {length} tokens, the model's context {context}"
            raise CallFailed(FailureKind.CONTEXT_LENGTH, message, endpoint=self._name)
        return length

    def _row(self, kind: _Batchable, prompt: str, seed: int) -> _Row:
        """Puts one sample into the queue."""
        row = _Row(kind, prompt, seed, asyncio.get_running_loop().create_future())
        self._waiting.append(row)
        if self._worker is None:
            self._worker = asyncio.create_task(self._work())
        return row

    async def _work(self) -> None:
        """Decodes batches until nothing waits."""
        try:
            while self._waiting:
                await self._gathered()
                batch = self._next_batch()
                if batch:
                    await self._decode(batch)
        finally:
            self._worker = None

    async def _gathered(self) -> None:
        """Returns when no further request has come for some turns of the event loop, or a batch is full."""
        known, quiet = -1, 0
        while quiet < _TURNS and len(self._waiting) < BATCH:
            quiet = quiet + 1 if len(self._waiting) == known else 0
            known = len(self._waiting)
            await asyncio.sleep(0)

    def _next_batch(self) -> list[_Row]:
        """Takes what can be decoded with the row that has waited longest."""
        self._waiting = [row for row in self._waiting if not row.result.done()]
        kind = self._waiting[0].kind if self._waiting else None
        batch = [row for row in self._waiting if row.kind == kind][:BATCH]
        taken = set(map(id, batch))
        self._waiting = [row for row in self._waiting if id(row) not in taken]
        return batch

    async def _decode(self, batch: Sequence[_Row]) -> None:
        self._decoding = len(batch)
        try:
            results = await asyncio.to_thread(self._sample, batch)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is raised where the samples are waited for
            for row in batch:
                if not row.result.done():
                    row.result.set_exception(error)
        else:
            for row, result in zip(batch, results, strict=True):
                if not row.result.done():
                    row.result.set_result(result)
        finally:
            self._decoding = 0

    def _sample(self, batch: Sequence[_Row]) -> Sequence[Sampled]:
        from maxproof.training.sampling import sample

        kind = batch[0].kind
        settings = SamplingSettings(
            temperature=kind.temperature, top_p=kind.top_p, max_new_tokens=kind.limit, batch=BATCH
        )
        return sample(
            self._checkpoint.model,
            self._checkpoint.tokenizer,
            [row.prompt for row in batch],
            settings,
            [row.seed for row in batch],
        )


def _answer(prompt: LabPrompt, text: str, sampled: Sampled, prompt_tokens: int, latency: float, model: str) -> Answer:
    usage = Usage(prompt_tokens, len(sampled.ids))
    reply = prompt.reply(text) if sampled.finished else text
    state = AnswerState.COMPLETE if reply.strip() else AnswerState.EMPTY
    if not sampled.finished:
        state = AnswerState.TRUNCATED
    return Answer(
        reply,
        state,
        finish_reason="stop" if sampled.finished else "length",
        usage=usage,
        latency_s=latency,
        model=model,
    )


@contextmanager
def open_lab(folder: str) -> Iterator[Connect]:
    """An opener for `models.schemes`: the checkpoint in `folder`, or the shipped one for "", loaded once.

    Raises InputError if it is not there or can't be read, or the extra is not installed.
    """
    path = Path(folder) if folder else Path(str(resources.files("maxproof.lab") / "weights"))
    try:
        from maxproof.training.checkpoint import load_checkpoint
        from maxproof.training.model import use_threads
    except ImportError as error:
        if error.name is None or error.name.startswith("maxproof"):
            raise
        raise InputError(f"the lab's model needs {error.name}, which is not installed", hint=_INSTALL_HINT) from None
    if not path.is_dir():
        if folder:
            raise InputError("no such folder with a checkpoint", file=path)
        raise InputError(
            "this installation has no weights of the lab's model", hint="name a checkpoint with --model lab:FOLDER"
        )
    checkpoint = load_checkpoint(path)
    use_threads(1)  # its matrices are small: one thread is faster than two

    def connect(name: str, settings: EndpointSettings, seed: int) -> LabEndpoint:
        return LabEndpoint(checkpoint, name)

    yield connect
