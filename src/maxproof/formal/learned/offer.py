"""Learned lemmas offered for one run: shown to models, tried by the symbolic prover, carried by what uses them.

    offer = Offer(lemmas)
    offer.lemmas_for(problem)              # those whose names are free there
    offer.submission(problem, reply)       # the Dafny in a reply, with the learned lemmas that it calls

Such a submission stands for itself: whoever checks it proves the learned lemmas in it again.
"""

from __future__ import annotations

from collections.abc import Sequence

from maxproof.formal.learned.lemma import LearnedLemma
from maxproof.formal.prelude.load import prelude
from maxproof.formal.problem import FormalProblem
from maxproof.formal.solution.extract import dafny_text
from maxproof.formal.solution.wrap import MAX_CHARACTERS
from maxproof.formal.syntax.ast import Block
from maxproof.formal.syntax.errors import DafnySyntaxError
from maxproof.formal.syntax.parse import parse_submission
from maxproof.formal.syntax.tokens import tokenize
from maxproof.formal.syntax.walk import names_used


class Offer:
    """A fixed set of learned lemmas; the same for every problem of a run, whatever is learned meanwhile."""

    def __init__(self, lemmas: Sequence[LearnedLemma] = ()) -> None:
        self._lemmas = tuple(lemmas)

    def lemmas_for(self, problem: FormalProblem) -> tuple[LearnedLemma, ...]:
        """All but those that declare a name of the problem or the library."""
        if not self._lemmas:
            return ()
        known = prelude()
        declared = (*known.definitions.declarations, *known.library.declarations, *problem.definitions, problem.lemma)
        taken = {declaration.name for declaration in declared}
        return tuple(lemma for lemma in self._lemmas if taken.isdisjoint(d.name for d in lemma.declarations))

    def submission(self, problem: FormalProblem, reply: str) -> str:
        """What a model's reply submits: what stands in its Markdown fence, if it has one, completed."""
        return self.complete(problem, dafny_text(reply, problem.name).strip("\n").rstrip())

    def complete(self, problem: FormalProblem, text: str) -> str:
        """Dafny `text` with the learned lemmas that it calls and doesn't declare, after it; its own lines stay.

        A text that can't be read, or calls none, is returned as it is.
        """
        if not self._lemmas or len(text) > MAX_CHARACTERS:
            return text
        try:
            body, program = parse_submission(text)
        except DafnySyntaxError:
            return text
        used = names_used(program) | names_used(Block(body or ()))
        declared = {declaration.name for declaration in program.declarations}
        called = [
            lemma
            for lemma in self.lemmas_for(problem)
            if lemma.name in used and declared.isdisjoint(d.name for d in lemma.declarations)
        ]
        if not called:
            return text
        if body is not None and tokenize(text)[0].text != "{":
            text = f"{{ {text}\n}}"
        return "\n".join([text, *(lemma.text for lemma in called)])
