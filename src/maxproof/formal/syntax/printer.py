"""From the syntax tree to text.

    print_program(program, Dialect.DAFNY_2_3).text
    print_expression(expression)
    print_statements(statements, indent=1)

What is printed parses to the same tree. The dialects differ in `ghost` before functions and in `@` attributes.
"""

from __future__ import annotations

from collections.abc import Iterable

from maxproof.formal.syntax.ast import Attribute, Datatype, Declaration, Expr, Function, Lemma, Program, Stmt
from maxproof.formal.syntax.dialect import Dialect
from maxproof.formal.syntax.print_shape import Place
from maxproof.formal.syntax.print_statements import StatementPrinter
from maxproof.formal.syntax.printed import Printed, Writer


def print_program(program: Program, dialect: Dialect) -> Printed:
    """A whole file for that version of Dafny, with where each part of it came from.

    Raises ValueError: `seq(n, f)` for Dafny 2.3, which has none; a tree that no text could give.
    """
    writer = Writer()
    printer = _DeclarationPrinter(writer, dialect)
    for index, declaration in enumerate(program.declarations):
        if index:
            writer.write("\n")
        printer.declaration(declaration)
    return writer.printed()


def print_declaration(declaration: Declaration, dialect: Dialect = Dialect.DAFNY_4) -> str:
    """One declaration, with a line end after it."""
    writer = Writer()
    _DeclarationPrinter(writer, dialect).declaration(declaration)
    return writer.printed().text


def print_expression(expression: Expr) -> str:
    """On one line, unless a calculation or a proof stands inside it."""
    writer = Writer()
    _DeclarationPrinter(writer, Dialect.DAFNY_4).expression(expression, Place.BODY)
    return writer.printed().text


def print_statements(statements: Iterable[Stmt], indent: int = 0) -> str:
    """Lines of a body, `indent` levels of two spaces in; "" for none."""
    writer = Writer()
    _DeclarationPrinter(writer, Dialect.DAFNY_4, indent).statements(statements)
    return writer.printed().text


class _DeclarationPrinter(StatementPrinter):
    def declaration(self, declaration: Declaration) -> None:
        opened = self.writer.open(declaration)
        match declaration:
            case Lemma():
                self._lemma(declaration)
            case Function():
                self._function(declaration)
            case Datatype():
                self._datatype(declaration)
        self.writer.close(opened)

    def _heading(self, keyword: str, name: str, attributes: tuple[Attribute, ...]) -> None:
        placed_before = [a for a in attributes if a.form == "at" and self.dialect is Dialect.DAFNY_4]
        for attribute in placed_before:
            self._write(f"@{attribute.name}")
            if attribute.args:
                self._write("(")
                self.items(attribute.args, force=True)
                self._write(")")
            self._write("\n")
        self._write(keyword)
        self.attributes(a for a in attributes if a not in placed_before)
        self._write(f" {name}")

    def _lemma(self, lemma: Lemma) -> None:
        self._heading("lemma", lemma.name, lemma.attributes)
        self._write("(")
        self.binders(lemma.params)
        self._write(")")
        if lemma.results:
            self._write(" returns (")
            self.binders(lemma.results)
            self._write(")")
        self._specification(lemma)
        if lemma.body is not None:
            self._braced(lemma.body)
            self._write("\n")

    def _function(self, function: Function) -> None:
        predicate = function.predicate and not function.result_name
        keyword = "predicate" if predicate else "function"
        if self.dialect is Dialect.DAFNY_4:
            keyword = f"ghost {keyword}"
        self._heading(keyword, function.name, function.attributes)
        self._write("(")
        self.binders(function.params)
        self._write(")")
        if function.result_name:
            self._write(f": ({function.result_name}: ")
            self.write_type(function.result)
            self._write(")")
        elif not predicate:
            self._write(": ")
            self.write_type(function.result)
        self._specification(function)
        if function.body is not None:
            self._write("{\n  ")
            self.expression(function.body, Place.BODY)
            self._write("\n}\n")

    def _specification(self, declaration: Lemma | Function) -> None:
        """Ends the heading's line; then one line a clause."""
        self._write("\n")
        self.indented(1)
        self.clauses("requires", declaration.requires)
        self.clauses("ensures", declaration.ensures)
        self.decreases(declaration.decreases)
        self.indented(-1)

    def _datatype(self, datatype: Datatype) -> None:
        self._heading("datatype", datatype.name, datatype.attributes)
        for index, constructor in enumerate(datatype.constructors):
            self._write(" | " if index else " = ")
            opened = self.writer.open(constructor)
            self._write(constructor.name)
            if constructor.fields:
                self._write("(")
                self.binders(constructor.fields)
                self._write(")")
            self.writer.close(opened)
        self._write("\n")
