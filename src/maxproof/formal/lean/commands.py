"""Lean 4 files: which theorems they state, under which open namespaces. Proofs are passed over unread.

A command begins with its keyword in the first column, as Lean code is laid out everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from maxproof.formal.lean.errors import NotTranslated
from maxproof.formal.lean.lexer import Kind, Token, tokenize
from maxproof.formal.lean.parser import TermParser
from maxproof.formal.lean.tree import BoundName, Theorem, check_depth

_THEOREMS: Final = ("theorem", "lemma")
_SCOPES: Final = ("open", "namespace", "section", "noncomputable", "end")
_HARMLESS: Final = (
    *("import", "set_option", "universe", "public", "module", "private", "protected", "example", "@", "#"),
    *("omit", "deriving"),
)
# What may change the meaning of all that comes after it.
_BARRIERS: Final = (
    *("variable", "def", "abbrev", "axiom", "notation", "local", "scoped", "instance", "structure", "inductive"),
    *("class", "opaque", "mutual", "export", "include", "alias", "attribute", "macro", "macro_rules", "syntax"),
    *("infix", "infixl", "infixr", "prefix", "postfix"),
)
_COMMANDS: Final = frozenset((*_THEOREMS, *_SCOPES, *_HARMLESS, *_BARRIERS))


def read_theorems(text: str, opened: Sequence[str] = ()) -> tuple[Theorem | NotTranslated, ...]:
    """Every theorem of a Lean text, in order; one that can't be read stands as the refusal that says why.

    Args:
        text: a file, or a statement alone; what follows `:=` is passed over.
        opened: namespaces that are open before the text begins.

    Raises:
        NotTranslated: a comment or string without end, a text without a theorem, or one that begins with no command.
    """
    tokens = tokenize(text)
    scope = _Scope(opened)
    theorems: list[Theorem | NotTranslated] = []
    for command in _commands(tokens):
        if command[0].text not in _THEOREMS:
            scope.read(command)
            continue
        name = command[1].text if command[1].kind is Kind.IDENT else ""
        try:
            if scope.barrier is not None:
                raise NotTranslated(f"what comes after `{scope.barrier}`", command[0].at)
            theorems.append(_theorem(command, text, scope.opened))
        except NotTranslated as refusal:
            refusal.name = refusal.name or name
            theorems.append(refusal)
        scope.for_one_command = ()
    if not theorems:
        raise NotTranslated(f"`{scope.barrier}`" if scope.barrier else "no theorem", tokens[0].at)
    return tuple(theorems)


def _commands(tokens: Sequence[Token]) -> list[list[Token]]:
    """The tokens cut at each command keyword of the first column, and at `theorem` behind attributes or `in`."""
    commands: list[list[Token]] = []
    for index, token in enumerate(tokens[:-1]):
        before = tokens[index - 1].text if index else ""
        starts = token.text in _COMMANDS and token.at.column == 1
        inline = token.text in (*_THEOREMS, "open") and before in ("in", "private", "protected", "noncomputable", "]")
        if starts or inline or not commands:
            commands.append([])
        commands[-1].append(token)
    end = tokens[-1]
    return [[*command, Token(Kind.END, "", end.at, end.start, end.end, True)] for command in commands]


class _Scope:
    """The namespaces that are open at a place, and the first command that makes what follows unreadable."""

    def __init__(self, opened: Sequence[str]) -> None:
        self._stack: list[tuple[str, ...]] = [tuple(opened)]
        self.for_one_command: tuple[str, ...] = ()
        self.barrier: str | None = None

    @property
    def opened(self) -> tuple[str, ...]:
        return (*self._stack[-1], *self.for_one_command)

    def read(self, command: Sequence[Token]) -> None:
        """A command that is no theorem."""
        word, rest = command[0].text, [t.text for t in command[1:-1]]
        opened = self._stack[-1]
        if word == "open":
            names = tuple(t for t in rest if t not in ("scoped", "in"))
            if {"(", "hiding", "renaming"} & set(names):
                self.barrier = self.barrier or "open"
            elif rest[-1:] == ["in"]:
                self.for_one_command += names
            else:
                self._stack[-1] = (*opened, *names)
        elif word == "namespace":
            self._stack.append((*opened, *rest[:1]))
        elif word == "section" or (word == "noncomputable" and rest[:1] == ["section"]):
            self._stack.append(opened)
        elif word == "end":
            del self._stack[max(1, len(self._stack) - 1) :]
        elif word not in (*_HARMLESS, "noncomputable"):
            self.barrier = self.barrier or word[:40]


def _theorem(command: Sequence[Token], text: str, opened: tuple[str, ...]) -> Theorem:
    end = _statement_end(command)
    parser = TermParser([*command[1:end], Token(Kind.END, "", command[end].at, command[end].start, 0, True)])
    name = parser.advance()
    if name.kind is not Kind.IDENT:
        parser.refuse("a theorem without a name", name)
    binders: list[BoundName] = []
    while parser.at_symbol("(", "{", "["):
        binders += parser.bracketed()
    parser.take(":")
    conclusion = parser.term()
    if parser.here.kind is not Kind.END:
        parser.refuse(f"`{parser.here.text[:40]}`")
    for term in (conclusion, *(b.type for b in binders if b.type is not None)):
        check_depth(term)
    statement = text[command[0].start : command[end - 1].end]
    return Theorem(name.text, tuple(binders), conclusion, statement, opened, command[0].at)


def _statement_end(command: Sequence[Token]) -> int:
    """Index of `:=` (or of the alternatives' `|`, or of the end) that closes the statement, outside all brackets."""
    depth = 0
    for index, token in enumerate(command):
        if token.kind is Kind.SYMBOL:
            if token.text in ("(", "[", "{", "⟨"):
                depth += 1
            elif token.text in (")", "]", "}", "⟩"):
                depth -= 1
            elif token.text == ":=" and depth <= 0:
                return index
    return len(command) - 1
