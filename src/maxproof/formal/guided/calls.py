"""The calls that formal proving makes: prompts with the statement, the offered lemmas and the checker's messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from maxproof.formal.guided.retrieval import offered, relevant_lemmas
from maxproof.formal.prelude.load import prelude
from maxproof.formal.problem import FormalProblem
from maxproof.formal.syntax.ast import Lemma, Program
from maxproof.formal.syntax.dialect import Dialect
from maxproof.formal.syntax.printer import print_program
from maxproof.models.call_key import inputs_digest
from maxproof.models.template import clip, load_template
from maxproof.models.types import Call, CallAddress, Message

_PACKAGE = "maxproof.formal.guided"
EMPTY_REPLY = "(nothing)"  # servers refuse a message without text
NO_ATTEMPTS = "There are no other attempts yet."


@dataclass(frozen=True, slots=True)
class Turn:
    """One refused reply of a conversation, with what it was answered."""

    reply: str
    messages: str


class Prompts:
    """Builds the calls about one problem. The statement and the offered lemmas are printed once.

    Args:
        lemmas: how many lemmas are offered, the most relevant of the library and as many of `learned`.
    """

    def __init__(self, problem: FormalProblem, lemmas: int, learned: Sequence[Lemma] = ()) -> None:
        self.statement = print_program(Program((*problem.definitions, problem.lemma)), Dialect.DAFNY_4).text
        known = prelude()
        relevant = [
            lemma for source in (known.library.lemmas, learned) for lemma in relevant_lemmas(problem, source, lemmas)
        ]
        self._library = offered(problem, known.definitions, relevant) or None

    def prove(self, address: CallAddress, turns: Sequence[Turn] = ()) -> Call:
        """A first proof, or the next turn of the conversation that it began."""
        template, answer = load_template(_PACKAGE, "prove"), load_template(_PACKAGE, "messages")
        spoken = [part for turn in turns for part in (turn.reply, turn.messages)]
        inputs = inputs_digest(self.statement, self._library, *spoken)

        def prompt() -> tuple[Message, ...]:
            messages = list(template.render({"problem": self.statement, "library": self._library}))
            for turn in turns:
                messages.append(Message("assistant", clip(turn.reply) or EMPTY_REPLY))
                messages.append(answer.render({"messages": turn.messages})[1])
            return tuple(messages)

        name = f"{template.id}+{answer.id}" if turns else template.id
        return Call(address, name, inputs, prompt)

    def patch(self, address: CallAddress, proof: str, messages: str, others: str = "") -> Call:
        """A repair of `proof`, from the checker's messages."""
        return self._refine(address, "patch", {"proof": proof, "messages": messages, "other_attempts": others or None})

    def rewrite(self, address: CallAddress, proof: str, others: str) -> Call:
        """Another proof than `proof`."""
        return self._refine(address, "rewrite", {"proof": proof, "other_attempts": others or NO_ATTEMPTS})

    def _refine(self, address: CallAddress, name: str, texts: dict[str, str | None]) -> Call:
        template = load_template(_PACKAGE, name)
        fenced = {"problem": self.statement, "library": self._library, **texts}
        inputs = inputs_digest(*(part for item in sorted(fenced.items()) for part in item))
        return Call(address, template.id, inputs, lambda: template.render(fenced))
