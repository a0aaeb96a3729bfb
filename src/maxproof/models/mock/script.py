"""What the mock server is asked, and what a script answers.

A script is any callable from `MockRequest` to `MockReply`, plain or async. It is called once for each sample of a
request, so `n = 4` is four calls with `sample` 0..3. It may return a `Fault` in place of a reply; the whole request
then fails in that way.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

from maxproof.models.mock.faults import Fault
from maxproof.models.types import Usage
from maxproof.problems.errors import InputError

Task = Literal[
    "generate", "verify", "normalise", "summarise", "patch", "rewrite", "rank", "improve", "consolidate", "rubric",
    "annotate", "grade",
]  # fmt: skip

# The tag that a role's instructions ask the answer to hold. A prover's answer is the proof itself: no tag.
_TASK_OF_TAG: tuple[tuple[str, Task], ...] = (
    ("<verdict>", "verify"),
    ("<points>", "grade"),
    ("<choice>", "rank"),
    ("<summary>", "summarise"),
    ("<normalised>", "normalise"),
    ("<keep>", "consolidate"),
    ("<scheme>", "rubric"),
    ("<techniques>", "annotate"),
)
_BEGIN = re.compile(r"^\[\[BEGIN ([a-z ]+) ([0-9a-f]{16})\]\]\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of a prompt, e.g. the candidate that a judge is to read."""

    name: str
    text: str


@dataclass(frozen=True)
class MockRequest:
    """One sample of one chat completion request.

    Attributes:
        number: the request's number, from 1, in order of arrival.
        body: the parsed JSON body.
        headers: as received.
        sample: index within `n`; for a request without a seed, plus `n` for each earlier equal request, since such
            a request asks for new samples.
        key: SHA-256 (hex) of model, messages and seed: equal requests have equal keys.
    """

    number: int
    body: Mapping[str, Any]
    headers: Mapping[str, str]
    sample: int
    key: str

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def seed(self) -> int | None:
        return self.body.get("seed")

    @property
    def messages(self) -> list[Mapping[str, Any]]:
        """The messages as sent."""
        return self.body["messages"]  # type: ignore[no-any-return]

    @cached_property
    def system(self) -> str:
        """All system messages, joined."""
        return "\n\n".join(content_text(m) for m in self.messages if m.get("role") in ("system", "developer"))

    @cached_property
    def user(self) -> str:
        """All user messages, joined."""
        return "\n\n".join(content_text(m) for m in self.messages if m.get("role") == "user")

    @cached_property
    def _parts(self) -> tuple[str, tuple[Block, ...]]:
        outside, blocks = split_blocks(self.user)
        return f"{self.system}\n{outside}", blocks

    @property
    def instructions(self) -> str:
        """The system message and what stands outside the fenced blocks of the user message."""
        return self._parts[0]

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The fenced blocks of the user message, in order; a block inside a block is text of the outer one."""
        return self._parts[1]

    def block(self, *names: str) -> str | None:
        """The text of the first block with one of these names, tried in the order given."""
        for name in names:
            for block in self.blocks:
                if block.name == name:
                    return block.text
        return None

    @cached_property
    def task(self) -> Task:
        """What is asked for, by the tags in the instructions and the fenced blocks."""
        for tag, task in _TASK_OF_TAG:
            if tag in self.instructions:
                return task
        names = {block.name for block in self.blocks}
        if "critique" in names:
            return "patch"
        if "draft" in names:
            return "improve"
        return "rewrite" if "proof" in names else "generate"


@dataclass(frozen=True, slots=True)
class MockReply:
    """One choice of a completion.

    Attributes:
        text: the visible text.
        reasoning: the thinking; the server puts it where its `Features` say.
        finish_reason: `stop`, `length`, `content_filter`, ...
        usage: token counts instead of the server's own (a quarter of the characters).
        latency_s: seconds until the reply, instead of a draw from the server's `Latency`.
    """

    text: str
    reasoning: str = ""
    finish_reason: str = "stop"
    usage: Usage | None = None
    latency_s: float | None = None


Script = Callable[[MockRequest], MockReply | Fault | Awaitable[MockReply | Fault]]


@dataclass(slots=True)
class Replies:
    """A script that gives fixed replies in turn, by task; the last one is repeated. For tests.

    `Replies({"verify": ["<verdict>no_errors</verdict>"]}, default="A proof.")`
    """

    by_task: Mapping[str, list[str | MockReply | Fault]] = field(default_factory=dict)
    default: str | MockReply | Fault = "A reply."
    seen: list[MockRequest] = field(default_factory=list)

    def __call__(self, request: MockRequest) -> MockReply | Fault:
        turn = sum(1 for earlier in self.seen if earlier.task == request.task)
        self.seen.append(request)
        replies = self.by_task.get(request.task) or [self.default]
        reply = replies[min(turn, len(replies) - 1)]
        return MockReply(reply) if isinstance(reply, str) else reply


def content_text(message: Mapping[str, Any]) -> str:
    """A message's text, whether its content is a string or a list of text parts."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))


def split_blocks(text: str) -> tuple[str, tuple[Block, ...]]:
    """The text outside the fenced blocks, and the blocks. A block without its closing line runs to the end."""
    outside: list[str] = []
    blocks: list[Block] = []
    at = 0
    while (begin := _BEGIN.search(text, at)) is not None:
        name, key = begin.groups()
        outside.append(text[at : begin.start()])
        end = text.find(f"\n[[END {name} {key}]]", begin.end() - 1)
        if end < 0:
            blocks.append(Block(name, text[begin.end() :]))
            return "".join(outside), tuple(blocks)
        blocks.append(Block(name, text[begin.end() : end]))
        at = end + len(f"\n[[END {name} {key}]]")
    outside.append(text[at:])
    return "".join(outside), tuple(blocks)


def request_key(body: Mapping[str, Any]) -> str:
    """See `MockRequest.key`."""
    digest = hashlib.sha256(f"{body.get('model')}\0{body.get('seed')}".encode())
    for message in body["messages"]:
        digest.update(f"\0{message.get('role')}\0{content_text(message)}".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def draw(*parts: object) -> float:
    """A uniform number in [0, 1) that is a function of `parts` alone (SHA-256)."""
    return draw_int(*parts) / 2**64


def draw_int(*parts: object) -> int:
    """A uniform integer in [0, 2^64) that is a function of `parts` alone (SHA-256)."""
    text = "\0".join(map(str, parts))
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8])


def load_replies(file: Path) -> Replies:
    """Fixed replies from a JSON file: `{"verify": ["first reply", "second"], "default": "any other"}`.

    Keys are tasks (see `Task`); replies are given in turn and the last is repeated. Raises InputError.
    """
    expected = 'expected an object such as {"verify": ["a reply"], "default": "another"}'
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror}", file=file) from error
    except json.JSONDecodeError as error:
        raise InputError(f"is no JSON: {error.msg}", file=file, line=error.lineno, hint=expected) from error
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8", file=file) from error
    if not isinstance(data, dict):
        raise InputError(expected, file=file)
    default = data.pop("default", "A reply.")
    tasks = get_args(Task)
    for task, texts in data.items():
        if task not in tasks:
            raise InputError(f"unknown task '{task}'; known: {', '.join(tasks)}, default", file=file)
        if not (isinstance(texts, list) and texts and all(isinstance(text, str) for text in texts)):
            raise InputError("expected a list of texts", file=file, field=task)
    if not isinstance(default, str):
        raise InputError("expected a text", file=file, field="default")
    return Replies(data, default)
