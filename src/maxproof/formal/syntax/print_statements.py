"""Printing statements, two spaces for each level."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from maxproof.formal.syntax.ast import (
    Assert,
    Assign,
    Assume,
    Attribute,
    Block,
    Calc,
    CallStmt,
    Clause,
    Expr,
    ForallStmt,
    GuardedCase,
    IfCases,
    IfStmt,
    MatchStmt,
    Return,
    Reveal,
    Stmt,
    VarStmt,
    While,
)
from maxproof.formal.syntax.dialect import Dialect
from maxproof.formal.syntax.print_expressions import ExpressionPrinter
from maxproof.formal.syntax.print_shape import BRACKETED, Place, starts_with_brace
from maxproof.formal.syntax.printed import Writer


class StatementPrinter(ExpressionPrinter):
    def __init__(self, writer: Writer, dialect: Dialect, indent: int = 0) -> None:
        super().__init__(writer, dialect)
        self._indent = indent

    def statements(self, statements: Iterable[Stmt]) -> None:
        """One or more lines each, at the current indentation."""
        for statement in statements:
            self._margin()
            self._statement_node(statement)
            self._write("\n")

    def block(self, block: Block) -> None:
        """`{ ... }`, from where the line stands."""
        opened = self.writer.open(block)
        self._braced(block.body)
        self.writer.close(opened)

    def clause(self, keyword: str, clause: Clause) -> None:
        """One line."""
        self._margin()
        opened = self.writer.open(clause)
        self._write(keyword)
        self._labelled(clause.attributes, clause.label)
        self._write(" ")
        self.expression(clause.condition, Place.CLAUSE)
        self.writer.close(opened)
        self._write("\n")

    def clauses(self, keyword: str, clauses: Iterable[Clause]) -> None:
        for clause in clauses:
            self.clause(keyword, clause)

    def decreases(self, measures: tuple[Expr, ...]) -> None:
        if measures:
            self._margin()
            self._write("decreases ")
            self.items(measures, force=True, level=1)
            self._write("\n")

    def indented(self, levels: int) -> None:
        self._indent += levels

    def statement_in_expression(self, statement: Stmt) -> None:
        self._statement_node(statement)

    def _margin(self) -> None:
        self._write("  " * self._indent)

    def _statement_node(self, statement: Stmt) -> None:
        opened = self.writer.open(statement)
        self._statement_printers[type(statement)](self, statement)
        self.writer.close(opened)

    def _braced(self, statements: tuple[Stmt, ...]) -> None:
        if not statements:
            self._write("{ }")
            return
        self._write("{\n")
        self._indent += 1
        self.statements(statements)
        self._indent -= 1
        self._margin()
        self._write("}")

    def _labelled(self, attributes: tuple[Attribute, ...], label: str) -> None:
        self.attributes(attributes)
        if label:
            self._write(f" {label}:")

    # One method a class

    def _assert(self, node: Assert) -> None:
        self._write("assert")
        self._labelled(node.attributes, node.label)
        self._write(" ")
        self.expression(node.condition)
        if node.by is None:
            self._write(";")
        else:
            self._write(" by ")
            self.block(node.by)

    def _assume(self, node: Assume) -> None:
        self._write(node.keyword)
        self.attributes(node.attributes)
        self._write(" ")
        self.expression(node.condition)
        self._write(";")

    def _calc(self, node: Calc) -> None:
        self._write("calc")
        self.attributes(node.attributes)
        self._write(" {\n" if node.op == "==" else f" {node.op} {{\n")
        self._indent += 1
        for index, line in enumerate(node.lines):
            self._margin()
            if starts_with_brace(line):
                self.expression(line, level=BRACKETED)
            else:
                self.expression(line)
            self._write(";\n")
            if index < len(node.ops):
                self._calc_step(node.ops[index], node.hints[index])
        self._indent -= 1
        self._margin()
        self._write("}")

    def _calc_step(self, op: str | None, hints: tuple[Block, ...]) -> None:
        if op is None and not hints:
            return
        self._write("  " * (self._indent - 1) + (op or ""))
        for index, hint in enumerate(hints):
            self._write(" " if index or op else "  ")
            self.block(hint)
        self._write("\n")

    def _forall(self, node: ForallStmt) -> None:
        self._write("forall ")
        self.domain(node.binders, node.attributes, node.range)
        if not node.ensures:
            self._write(" ")
        else:
            self._write("\n")
            self._indent += 1
            self.clauses("ensures", node.ensures)
            self._indent -= 1
            self._margin()
        # Without a body, Dafny would assume it.
        if node.body is None:
            self._write("{ }")
        else:
            self.block(node.body)

    def _guard(self, node: IfStmt | GuardedCase) -> None:
        if node.binders:
            self.binders(node.binders)
            self._write(" :| ")
        self._condition(node.condition)

    def _condition(self, condition: Expr) -> None:
        self.expression(condition, level=BRACKETED if starts_with_brace(condition) else 1)

    def _if_statement(self, node: IfStmt) -> None:
        otherwise: Block | IfStmt | IfCases | None = node
        while isinstance(otherwise, IfStmt):
            self._write("if ")
            self._guard(otherwise)
            self._write(" ")
            self.block(otherwise.then)
            otherwise = otherwise.otherwise
            if otherwise is not None:
                self._write(" else ")
        if isinstance(otherwise, IfCases):
            self._if_cases(otherwise)
        elif otherwise is not None:
            self.block(otherwise)

    def _if_cases(self, node: IfCases) -> None:
        self._write("if {\n")
        self._indent += 1
        for case in node.cases:
            self._margin()
            opened = self.writer.open(case)
            self._write("case ")
            self._guard(case)
            self._case_body(case.body)
            self.writer.close(opened)
        self._indent -= 1
        self._margin()
        self._write("}")

    def _case_body(self, body: tuple[Stmt, ...]) -> None:
        self._write(" =>\n")
        self._indent += 1
        self.statements(body)
        self._indent -= 1

    def _match_statement(self, node: MatchStmt) -> None:
        self._write("match ")
        self.expression(node.value, level=1)
        self._write(" {\n")
        self._indent += 1
        for case in node.cases:
            self._margin()
            opened = self.writer.open(case)
            self._write(f"case {case.constructor}")
            if case.binders:
                self._write("(")
                self.binders(case.binders)
                self._write(")")
            if not isinstance(case.body, tuple):
                raise ValueError("a case of a match statement holds statements")
            self._case_body(case.body)
            self.writer.close(opened)
        self._indent -= 1
        self._margin()
        self._write("}")

    def _var(self, node: VarStmt) -> None:
        self._write("var ")
        self.binders(node.binders)
        if node.values:
            self._values(node.values, node.such_that)
        self._write(";")

    def _assign(self, node: Assign) -> None:
        self._write(", ".join(node.targets))
        self._values(node.values, node.such_that)
        self._write(";")

    def _values(self, values: tuple[Expr, ...], such_that: bool) -> None:
        self._write(" :| " if such_that else " := ")
        self.items(values)

    def _call(self, node: CallStmt) -> None:
        self.expression(node.call)
        self._write(";")

    def _while(self, node: While) -> None:
        self._write("while ")
        self._condition(node.condition)
        self._write("\n")
        self._indent += 1
        self.clauses("invariant", node.invariants)
        self.decreases(node.decreases)
        self._indent -= 1
        self._margin()
        self.block(node.body)

    def _return(self, node: Return) -> None:
        self._write("return")
        if node.values:
            self._write(" ")
            self.items(node.values)
        self._write(";")

    def _reveal(self, node: Reveal) -> None:
        self._write("reveal ")
        self.items(node.targets)
        self._write(";")

    _statement_printers: Final[dict[type, Callable[[Any, Any], None]]] = {
        Block: block,
        Assert: _assert,
        Assume: _assume,
        Calc: _calc,
        ForallStmt: _forall,
        IfStmt: _if_statement,
        IfCases: _if_cases,
        MatchStmt: _match_statement,
        VarStmt: _var,
        Assign: _assign,
        CallStmt: _call,
        While: _while,
        Return: _return,
        Reveal: _reveal,
    }
