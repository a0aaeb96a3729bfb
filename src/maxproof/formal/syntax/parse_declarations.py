"""Lemmas, functions, predicates and datatypes."""

from __future__ import annotations

from typing import NoReturn

from maxproof.formal.syntax.ast import (
    Attribute,
    Binder,
    Clause,
    Constructor,
    Datatype,
    Declaration,
    Expr,
    Function,
    Lemma,
    NamedType,
    Position,
    Program,
    Stmt,
    Type,
)
from maxproof.formal.syntax.errors import DafnySyntaxError
from maxproof.formal.syntax.parse_statements import StatementReader
from maxproof.formal.syntax.words import CLAUSE_ADVICE, DECLARATION_ADVICE, EXPRESSION_ADVICE, STATEMENT_ADVICE


class _Specification:
    """The clauses of one declaration, in the order of each kind."""

    def __init__(self) -> None:
        self.requires: list[Clause] = []
        self.ensures: list[Clause] = []
        self.decreases: list[Expr] = []


class DeclarationReader(StatementReader):
    def program(self) -> Program:
        """All declarations up to the end. Raises DafnySyntaxError for a name that is declared twice, too."""
        declarations: list[Declaration] = []
        places: dict[str, Position] = {}
        while self.token.kind != "end":
            declaration = self.declaration()
            earlier = places.setdefault(declaration.name, declaration.at)
            if earlier is not declaration.at:
                raise DafnySyntaxError(
                    f"'{declaration.name}' is declared twice, first in line {earlier.line}", declaration.at
                )
            declarations.append(declaration)
        return Program(tuple(declarations))

    def at_declaration(self) -> bool:
        """Whether a declaration begins here."""
        token = self.token
        if token.kind == "symbol":
            return token.text == "@"
        if token[:2] == ("word", "ghost"):
            return self.ahead().text != "var"
        starts = ("lemma", "function", "predicate", "datatype")
        return token.kind == "word" and (token.text in starts or token.text in DECLARATION_ADVICE)

    def declaration(self) -> Declaration:
        at = self.at
        attributes = self._at_attributes()
        ghost = self.accept("ghost")
        token = self.token
        match token.text if token.kind == "word" else "":
            case "lemma":
                if ghost:
                    self.refuse("'ghost lemma'", "write lemma", at)
                self.next()
                return self._lemma(attributes, at)
            case "method" if ghost:
                self.next()
                return self._lemma(attributes, at)
            case "function" | "predicate":
                self.next()
                if self.sees("method"):
                    if ghost:
                        self.fail("a name: 'ghost' and 'method' exclude each other")
                    self.next()
                return self._function(token.text == "predicate", attributes, at)
            case "datatype" if not ghost:
                self.next()
                return self._datatype(attributes, at)
            case "const" | "var":
                self.refuse(f"'{token.text}' declarations", DECLARATION_ADVICE["const"])
            case word if word in DECLARATION_ADVICE:
                self.refuse(f"'{word}' declarations", DECLARATION_ADVICE[word])
        self.fail("a declaration: lemma, function, predicate or datatype")

    def _at_attributes(self) -> tuple[Attribute, ...]:
        """`@Name(args)` before a declaration."""
        found: list[Attribute] = []
        while self.sees("@"):
            at = self.next().at
            name = self._attribute_name()
            args: tuple[Expr, ...] = ()
            if self.accept("("):
                args = () if self.sees(")") else self.attribute_arguments()
                self.expect(")", "to close the attribute's arguments")
            found.append(Attribute(name, args, "at", at=at))
        return tuple(found)

    def _heading(self, what: str, attributes: tuple[Attribute, ...]) -> tuple[str, tuple[Attribute, ...]]:
        attributes += self.attributes()
        name = self.name(f"the {what}'s name").text
        if self.sees("."):
            self.refuse("names with modules", "write the declarations at the top level")
        if self.sees("<"):
            self.refuse("type parameters", "write one declaration for each type")
        if self.sees("["):
            self.refuse("prefix lemmas", "there is no coinduction")
        return name, attributes

    def _lemma(self, attributes: tuple[Attribute, ...], at: Position) -> Lemma:
        name, attributes = self._heading("lemma", attributes)
        params = self.parameters()
        results: tuple[Binder, ...] = ()
        if self.accept("returns"):
            results = self.parameters()
        elif self.sees(":"):
            self.fail("'requires', 'ensures' or '{': a lemma's results are written 'returns (r: int)'")
        clauses = self._specification("lemma")
        body: tuple[Stmt, ...] | None = None
        if self.sees("{"):
            body = self.block().body
        return Lemma(
            name,
            params,
            body,
            results,
            tuple(clauses.requires),
            tuple(clauses.ensures),
            tuple(clauses.decreases),
            attributes,
            at=at,
        )

    def _function(self, predicate: bool, attributes: tuple[Attribute, ...], at: Position) -> Function:
        what = "predicate" if predicate else "function"
        name, attributes = self._heading(what, attributes)
        params = self.parameters()
        result_name = ""
        result: Type = NamedType("bool", at=self.at)
        if self.sees(":"):
            result_name, result = self._result()
            if predicate and result != NamedType("bool"):
                raise DafnySyntaxError("a predicate's result is bool", result.at)
        elif not predicate:
            self.expect(":", "and the type of the result")
        clauses = self._specification(what)
        body: Expr | None = None
        if self.accept("{"):
            body = self.expression()
            self.expect("}", "or an operator")
            if self.sees("by"):
                self.refuse("'by method'", "leave it out")
        return Function(
            name,
            params,
            result,
            body,
            result_name,
            tuple(clauses.requires),
            tuple(clauses.ensures),
            tuple(clauses.decreases),
            predicate,
            attributes,
            at=at,
        )

    def _result(self) -> tuple[str, Type]:
        self.expect(":")
        if self.sees("(") and self.ahead().kind == "name" and self.ahead(2)[:2] == ("symbol", ":"):
            self.next()
            binder = self.binder("the result's name", typed=True)
            self.expect(")")
            assert binder.type is not None
            return binder.name, binder.type
        return "", self.type()

    def _specification(self, what: str) -> _Specification:
        found = _Specification()
        while True:
            token = self.token
            if self.accept("requires"):
                found.requires.append(self.clause(labelled=what == "lemma"))
            elif self.accept("ensures"):
                found.ensures.append(self.clause())
            elif self.sees("decreases"):
                found.decreases.extend(self.decreases())
            elif token.kind == "word" and token.text in CLAUSE_ADVICE:
                self.refuse(f"'{token.text}'", CLAUSE_ADVICE[token.text])
            elif token[:2] == ("name", "free") and self.ahead().text in ("requires", "ensures"):
                self.refuse(f"'free {self.ahead().text}'", "leave 'free' out")
            elif token.kind == "end" or self.sees("{") or self.at_declaration():
                return found
            else:
                self._no_clause(what)

    def _no_clause(self, what: str) -> NoReturn:
        if self.sees("{:"):
            self.fail(f"a clause: attributes stand before the {what}'s name")
        if self.token.kind == "word" and (
            self.token.text in STATEMENT_ADVICE or self.token.text in EXPRESSION_ADVICE or self.sees("assert", "assume")
        ):
            self.fail(f"'{{' before the {what}'s body")
        self.fail("an operator, 'requires', 'ensures', 'decreases' or '{'")

    def _datatype(self, attributes: tuple[Attribute, ...], at: Position) -> Datatype:
        name, attributes = self._heading("datatype", attributes)
        self.expect("=", "and the constructors")
        self.accept("|")
        constructors = [self._constructor()]
        while self.accept("|"):
            constructors.append(self._constructor())
        self.accept(";")
        if self.sees("{"):
            self.refuse("members of a datatype", "write functions at the top level")
        return Datatype(name, tuple(constructors), attributes, at=at)

    def _constructor(self) -> Constructor:
        at = self.at
        if self.sees("ghost"):
            self.refuse("'ghost' constructors", "leave 'ghost' out")
        name = self.name("a constructor").text
        fields: list[Binder] = []
        if self.accept("("):
            while not self.sees(")"):
                if self.token.kind != "name" or self.ahead()[:2] != ("symbol", ":"):
                    self.fail("a field with its type, such as 're: real'")
                fields.append(self.binder("a field", typed=True))
                if not self.accept(","):
                    break
            self.expect(")", "or ','")
        return Constructor(name, tuple(fields), at=at)
