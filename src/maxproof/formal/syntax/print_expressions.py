"""Printing types and expressions with no more parentheses than every reader of Dafny needs.

The text parses to the tree it came from, in both dialects. Where versions of Dafny read differently (an endless
expression in the middle, `a < b, c > (d)` that looks like type arguments), parentheses leave no choice.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, Final

from maxproof.formal.syntax.ast import (
    Apply,
    AsExpr,
    Attribute,
    Binary,
    Binder,
    BoolLiteral,
    Cardinality,
    Comparison,
    Comprehension,
    Expr,
    FunctionType,
    IfExpr,
    Index,
    IntLiteral,
    LambdaExpr,
    LetExpr,
    MatchExpr,
    Member,
    Name,
    NamedType,
    Quantifier,
    RealLiteral,
    SeqDisplay,
    SeqInit,
    SetDisplay,
    Slice,
    Stmt,
    StmtExpr,
    StringLiteral,
    TupleExpr,
    TupleType,
    Type,
    Unary,
    Update,
)
from maxproof.formal.syntax.dialect import Dialect
from maxproof.formal.syntax.print_shape import (
    AS,
    BRACKETED,
    LEVELS,
    PRIMARY,
    SUM,
    Place,
    bare_relation,
    decimal,
    first,
    inside,
    last,
    level_of,
    op_of,
    stands_bare,
)
from maxproof.formal.syntax.printed import Writer

_STRING = re.compile(r'(?:[^"\\\r\n]|\\[^\r\n])*\Z')


class ExpressionPrinter(ABC):
    def __init__(self, writer: Writer, dialect: Dialect) -> None:
        self.writer = writer
        self.dialect = dialect
        self._write = writer.write

    @abstractmethod
    def statement_in_expression(self, statement: Stmt) -> None:
        """On one line, with its end. The printer of statements knows how."""

    # Types and variables

    def write_type(self, type_: Type) -> None:
        opened = self.writer.open(type_)
        match type_:
            case NamedType():
                self._write(type_.name)
                if type_.args:
                    self._write("<")
                    self._separated(type_.args, self.write_type)
                    self._write(">")
            case TupleType():
                self._write("(")
                self._separated(type_.items, self.write_type)
                self._write(")")
            case FunctionType():
                only = type_.params[0] if len(type_.params) == 1 else None
                if isinstance(only, NamedType):
                    self.write_type(only)
                else:
                    self._write("(")
                    self._separated(type_.params, self.write_type)
                    self._write(")")
                self._write(f" {type_.arrow} ")
                self.write_type(type_.result)
        self.writer.close(opened)

    def binder(self, binder: Binder) -> None:
        opened = self.writer.open(binder)
        self._write(binder.name)
        if binder.type is not None:
            self._write(": ")
            self.write_type(binder.type)
        self.writer.close(opened)

    def binders(self, binders: Iterable[Binder]) -> None:
        self._separated(binders, self.binder)

    def attributes(self, attributes: Iterable[Attribute], *, before: str = " ", after: str = "") -> None:
        """In braces, each with `before` before it and `after` after it."""
        for attribute in attributes:
            self._write(before + "{:")
            name = attribute.name
            # Dafny 2.3 has no `@`; the names differ in the first letter's case.
            self._write(name if attribute.form == "brace" else name[:1].lower() + name[1:])
            if attribute.args:
                self._write(" ")
                self.items(attribute.args, force=True)
            self._write("}" + after)

    # Expressions

    def expression(self, expression: Expr, place: Place = Place.CLOSED, level: int = 0) -> None:
        """An expression, in parentheses where it needs them.

        Args:
            place: what surrounds it, when nothing to its right can join it (`level` 0).
            level: for an operand: how tightly it must bind to stand without parentheses; `BRACKETED`: it never may.
        """
        bare = level_of(expression) >= level if level else stands_bare(expression, place)
        if not bare:
            self._write("(")
        opened = self.writer.open(expression)
        self._printers[type(expression)](self, expression, place if bare else Place.BODY)
        self.writer.close(opened)
        if not bare:
            self._write(")")

    def items(self, items: tuple[Expr, ...], *, force: bool = False, level: int = 0) -> None:
        """With commas between. `force`: as if there were several; `level` as for `expression`."""
        if len(items) == 1 and not force:
            self.expression(items[0])
            return
        closes = [any(bare_relation(item, ">")) for item in items]
        for index, item in enumerate(items):
            if index:
                self._write(", ")
            # `a < b, c > (d)` reads as `a<b, c>(d)`, a call with type arguments.
            if any(closes[index + 1 :]) and any(bare_relation(item, "<")):
                self.expression(item, level=BRACKETED)
            else:
                self.expression(item, Place.ITEM, level)

    def _separated(self, items: Iterable[Any], write_item: Callable[[Any], None]) -> None:
        for index, item in enumerate(items):
            if index:
                self._write(", ")
            write_item(item)

    # One method a class

    def _int(self, node: IntLiteral, _place: Place) -> None:
        self._write(str(node.value))

    def _real(self, node: RealLiteral, _place: Place) -> None:
        self._write(decimal(node.value))

    def _bool(self, node: BoolLiteral, _place: Place) -> None:
        self._write("true" if node.value else "false")

    def _string(self, node: StringLiteral, _place: Place) -> None:
        if not _STRING.match(node.value):
            raise ValueError("a string literal's quotes and line ends must be escaped")
        self._write(f'"{node.value}"')

    def _name(self, node: Name, _place: Place) -> None:
        self._write(node.name)

    def _unary(self, node: Unary, _place: Place) -> None:
        self._write(node.op)
        self.expression(node.operand, level=PRIMARY)

    def _cardinality(self, node: Cardinality, _place: Place) -> None:
        self._write("|")
        # `||` is another sign.
        touching = isinstance(first(node.operand), Cardinality) or isinstance(last(node.operand), Cardinality)
        self.expression(node.operand, level=BRACKETED if touching else 1)
        self._write("|")

    def _binary(self, node: Binary, _place: Place) -> None:
        level = LEVELS[node.op]
        left, right = level, level + 1
        if node.op in ("==>", "<==", "&&", "||"):
            # These mix with their like only.
            left = level if node.op != "==>" and op_of(node.left) == node.op else level + 1
            right = level if node.op == "==>" and op_of(node.right) == node.op else level + 1
        self.expression(node.left, level=left)
        self._write(f" {node.op} ")
        self.expression(node.right, level=right)

    def _comparison(self, node: Comparison, _place: Place) -> None:
        self.expression(node.operands[0], level=SUM)
        for op, operand in zip(node.ops, node.operands[1:], strict=True):
            self._write(f" {op} ")
            self.expression(operand, level=SUM)

    def _as(self, node: AsExpr, _place: Place) -> None:
        self.expression(node.value, level=AS)
        self._write(" as ")
        if isinstance(node.type, FunctionType):
            self._write("(")
            self.write_type(node.type)
            self._write(")")
        else:
            self.write_type(node.type)

    def _base(self, node: Expr) -> None:
        """What a member, an index or arguments follow."""
        number = isinstance(node, IntLiteral | RealLiteral)
        self.expression(node, level=BRACKETED if number else PRIMARY)

    def _apply(self, node: Apply, _place: Place) -> None:
        self._base(node.function)
        self._write("(")
        self.items(node.args)
        self._write(")")

    def _member(self, node: Member, _place: Place) -> None:
        # `t.0.1` has a decimal in it for some readers.
        if node.name.isdigit() and isinstance(node.value, Member) and node.value.name.isdigit():
            self.expression(node.value, level=BRACKETED)
        else:
            self._base(node.value)
        self._write(f".{node.name}")

    def _index(self, node: Index, _place: Place) -> None:
        self._base(node.value)
        self._write("[")
        self.expression(node.index)
        self._write("]")

    def _slice(self, node: Slice, _place: Place) -> None:
        self._base(node.value)
        self._write("[")
        if node.low is not None:
            self.expression(node.low, level=1)
        self._write("..")
        if node.high is not None:
            self.expression(node.high, level=1)
        self._write("]")

    def _update(self, node: Update, _place: Place) -> None:
        self._base(node.value)
        self._write("[")
        self.expression(node.index, level=1)
        self._write(" := ")
        self.expression(node.item)
        self._write("]")

    def _tuple(self, node: TupleExpr, _place: Place) -> None:
        self._write("(")
        self.items(node.items)
        self._write(")")

    def _set(self, node: SetDisplay, _place: Place) -> None:
        self._write("{" if node.finite else "iset{")
        self.items(node.items)
        self._write("}")

    def _seq(self, node: SeqDisplay, _place: Place) -> None:
        self._write("[")
        self.items(node.items)
        self._write("]")

    def _seq_init(self, node: SeqInit, _place: Place) -> None:
        if self.dialect is Dialect.DAFNY_2_3:
            raise ValueError("Dafny 2.3 has no seq(n, f)")
        self._write("seq(")
        self.items((node.length, node.function))
        self._write(")")

    # Endless ones

    def _if(self, node: IfExpr, place: Place) -> None:
        self._write("if ")
        self.expression(node.condition, level=1)
        self._write(" then ")
        self.expression(node.then)
        self._write(" else ")
        self.expression(node.otherwise, place if isinstance(node.otherwise, IfExpr) else inside(place))

    def _let(self, node: LetExpr, place: Place) -> None:
        self._write("var ")
        self.binders(node.binders)
        self._write(" :| " if node.such_that else " := ")
        self.items(node.values)
        self._write("; ")
        self.expression(node.body, place)

    def _lambda(self, node: LambdaExpr, place: Place) -> None:
        if len(node.params) == 1 and node.params[0].type is None and not node.requires:
            self._write(node.params[0].name)
        else:
            self._write("(")
            self.binders(node.params)
            self._write(")")
        for condition in node.requires:
            self._write(" requires ")
            self.expression(condition, level=1)
        self._write(" => ")
        self.expression(node.body, inside(place))

    def _quantifier(self, node: Quantifier, place: Place) -> None:
        self._write(f"{node.kind} ")
        self.domain(node.binders, node.attributes, node.range)
        self._write(" :: ")
        self.expression(node.body, inside(place))

    def _comprehension(self, node: Comprehension, place: Place) -> None:
        self._write("set " if node.finite else "iset ")
        self.domain(node.binders, node.attributes, node.range)
        if node.term is not None:
            self._write(" :: ")
            self.expression(node.term, inside(place))

    def domain(self, binders: Iterable[Binder], attributes: Iterable[Attribute], limits: Expr | None) -> None:
        self.binders(binders)
        self.attributes(attributes)
        if limits is not None:
            self._write(" | ")
            self.expression(limits, level=1)

    def _match(self, node: MatchExpr, place: Place) -> None:
        self._write("match ")
        self.expression(node.value, level=1)
        self._write(" {")
        for case in node.cases:
            opened = self.writer.open(case)
            self._write(f" case {case.constructor}")
            if case.binders:
                self._write("(")
                self.binders(case.binders)
                self._write(")")
            self._write(" => ")
            if isinstance(case.body, tuple):
                raise ValueError("a case of a match expression holds an expression")
            self.expression(case.body, inside(place))
            self.writer.close(opened)
        self._write(" }")

    def _statement(self, node: StmtExpr, place: Place) -> None:
        self.statement_in_expression(node.statement)
        self._write(" ")
        self.expression(node.value, place)

    _printers: Final[dict[type, Callable[[Any, Any, Place], None]]] = {
        IntLiteral: _int,
        RealLiteral: _real,
        BoolLiteral: _bool,
        StringLiteral: _string,
        Name: _name,
        Unary: _unary,
        Cardinality: _cardinality,
        Binary: _binary,
        Comparison: _comparison,
        Apply: _apply,
        Member: _member,
        Index: _index,
        Slice: _slice,
        Update: _update,
        TupleExpr: _tuple,
        SetDisplay: _set,
        SeqDisplay: _seq,
        SeqInit: _seq_init,
        IfExpr: _if,
        LetExpr: _let,
        LambdaExpr: _lambda,
        Quantifier: _quantifier,
        Comprehension: _comprehension,
        AsExpr: _as,
        MatchExpr: _match,
        StmtExpr: _statement,
    }
