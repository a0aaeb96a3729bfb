"""From text to the syntax tree.

    parse_program("lemma Square(x: int) ensures x * x >= 0 {}")
    parse_expression("x * x >= 0")
    parse_statements("assert x * x >= 0;")

Everything that these return can be walked by plain recursion: a tree of more than `MAX_HEIGHT` levels is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from maxproof.formal.syntax.ast import Expr, Node, Program, Stmt
from maxproof.formal.syntax.errors import DafnySyntaxError
from maxproof.formal.syntax.parse_declarations import DeclarationReader
from maxproof.formal.syntax.walk import children

MAX_HEIGHT: Final = 200


def parse_program(text: str) -> Program:
    """The declarations of a whole file. Raises DafnySyntaxError."""
    reader = DeclarationReader(text)
    program = reader.program()
    _check_height(program.declarations)
    return program


def parse_expression(text: str) -> Expr:
    """One expression. Raises DafnySyntaxError, also for anything after it."""
    reader = DeclarationReader(text)
    expression = reader.expression()
    _expect_end(reader)
    _check_height((expression,))
    return expression


def parse_statements(text: str) -> tuple[Stmt, ...]:
    """The statements of a body, without its braces. Raises DafnySyntaxError."""
    reader = DeclarationReader(text)
    statements = reader.statements()
    _expect_end(reader)
    _check_height(statements)
    return statements


def parse_submission(text: str) -> tuple[tuple[Stmt, ...] | None, Program]:
    """A body, in braces or bare, with or without declarations after it, or declarations alone (the body is None).

    Declarations may follow a body in braces only. Raises DafnySyntaxError.
    """
    reader = DeclarationReader(text)
    body: tuple[Stmt, ...] | None = None
    program = Program(())
    if reader.sees("{"):
        body = reader.block().body
        program = reader.program()
    elif reader.token.kind == "end" or reader.at_declaration():
        program = reader.program()
    else:
        body = reader.statements()
        _expect_end(reader)
    _check_height((*(body or ()), *program.declarations))
    return body, program


def _expect_end(reader: DeclarationReader) -> None:
    if reader.token.kind != "end":
        reader.fail("the end")


def _check_height(roots: Iterable[Node]) -> None:
    """Chains such as `a + a + ...` cost the parser no depth, yet make a deep tree."""
    waiting = [(root, 1) for root in roots]
    while waiting:
        node, height = waiting.pop()
        if height > MAX_HEIGHT:
            raise DafnySyntaxError(f"more than {MAX_HEIGHT} operations deep; split it up", node.at)
        waiting.extend((child, height + 1) for child in children(node))
