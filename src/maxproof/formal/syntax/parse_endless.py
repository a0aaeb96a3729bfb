"""Expressions that end in an expression, and so reach as far to the right as they can: `if`, `match`, quantifiers,
comprehensions, `var`, lambdas, and statements before a value.

`calls` and `lambdas` are the flags of `ExpressionReader`; they hold for the expression at the end too.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Final, Literal

from maxproof.formal.syntax.ast import (
    Attribute,
    Binder,
    BoolLiteral,
    Comprehension,
    Expr,
    IfExpr,
    LambdaExpr,
    LetExpr,
    MatchCase,
    MatchExpr,
    Position,
    Quantifier,
    Stmt,
    StmtExpr,
)
from maxproof.formal.syntax.errors import DafnySyntaxError
from maxproof.formal.syntax.parse_types import TypeReader


class EndlessReader(TypeReader):
    @abstractmethod
    def proof_statement(self) -> Stmt:
        """An assert, assume, expect, calc or reveal statement, with its end."""

    @abstractmethod
    def attributes(self) -> tuple[Attribute, ...]: ...

    @abstractmethod
    def expression(self, *, calls: bool = True, lambdas: bool = True) -> Expr: ...

    @abstractmethod
    def expressions(self, *, calls: bool = True, lambdas: bool = True) -> tuple[Expr, ...]: ...

    def _lambda(self, calls: bool) -> Expr:
        at = self.at
        params: list[Binder] = []
        if self.accept("("):
            while not self.sees(")"):
                params.append(self.binder("a parameter or ')'", wildcard=True))
                if not self.accept(","):
                    break
            self.expect(")", "or ','")
        else:
            params.append(self.binder("a parameter", wildcard=True))
        requires: list[Expr] = []
        while self.sees("requires", "reads"):
            if self.sees("reads"):
                self.refuse("'reads'", "nothing has a state: leave it out")
            self.next()
            requires.append(self.expression(calls=False, lambdas=False))
        self.expect("=>", "and the lambda's body")
        return LambdaExpr(tuple(params), self.expression(calls=calls), tuple(requires), at=at)

    def _if(self, calls: bool, lambdas: bool) -> Expr:
        at = self.next().at
        if self.token.kind == "name" and self.ahead().text in (":|", ":"):
            self.refuse("'if x :| P' in an expression", "write if exists x :: P then var x :| P; ... else ...")
        if self.sees("case"):
            self.refuse("'if case' in an expression", "write if ... then ... else ...")
        condition = self.expression()
        self.expect("then")
        then = self.expression()
        self.expect("else", "and the other value")
        return IfExpr(condition, then, self.expression(calls=calls, lambdas=lambdas), at=at)

    def _match(self, calls: bool, lambdas: bool) -> Expr:
        at = self.next().at
        value = self.expression(calls=calls)
        braces = self.accept("{")
        cases: list[MatchCase] = []
        while self.sees("case"):
            case_at = self.next().at
            constructor, binders = self.pattern()
            self.expect("=>", "after the pattern")
            body = self.expression(calls=calls or braces, lambdas=lambdas or braces)
            cases.append(MatchCase(constructor, binders, body, at=case_at))
        if braces:
            self.expect("}", "or 'case'")
        elif not cases:
            self.fail("'{' or 'case'")
        return MatchExpr(value, tuple(cases), at=at)

    def pattern(self) -> tuple[str, tuple[Binder, ...]]:
        """The constructor ("_": any) and the variables of a case."""
        token = self.token
        if token[:2] == ("name", "_"):
            self.next()
            return "_", ()
        if token.kind in ("int", "real") or self.sees("(", "-", "true", "false"):
            self.refuse("cases on numbers, truth values or tuples", "write if ... then ... else ...")
        constructor = self.name("a constructor or '_'").text
        if self.sees("|"):
            self.refuse("cases with alternatives", "write one case for each constructor")
        binders: list[Binder] = []
        if self.accept("("):
            while not self.sees(")"):
                binders.append(self.binder("a variable or ')'", wildcard=True))
                if self.sees("("):
                    self.refuse("patterns inside patterns", "match again in the case's body")
                if not self.accept(","):
                    break
            self.expect(")", "or ','")
        return constructor, tuple(binders)

    def domain(self) -> tuple[tuple[Binder, ...], tuple[Attribute, ...]]:
        """`x: T, y {:trigger f(x)}`."""
        binders = [self.binder()]
        while self.accept(","):
            binders.append(self.binder())
        if self.sees("<") and self.ahead().text == "-":
            self.refuse("'x <- s'", "write x | x in s")
        return tuple(binders), self.attributes()

    def _quantifier(self, calls: bool, lambdas: bool) -> Expr:
        token = self.next()
        kind: Literal["forall", "exists"] = "forall" if token.text == "forall" else "exists"
        binders, attributes = self.domain()
        limits = self.expression(calls=calls, lambdas=lambdas) if self.accept("|") else None
        self.expect("::", "or '|'" if limits is None else "")
        body = self.expression(calls=calls, lambdas=lambdas)
        return Quantifier(kind, binders, body, limits, attributes, at=token.at)

    def _comprehension(self, calls: bool, lambdas: bool) -> Expr:
        token = self.token
        self.next()
        if token.text == "set" and self.sees("{"):
            self.refuse("'set{...}'", "write {...}", token.at)
        binders, attributes = self.domain()
        limits: Expr
        if self.sees("::"):
            limits = BoolLiteral(True, at=self.at)
        else:
            self.expect("|", "or '::'")
            limits = self.expression(calls=calls, lambdas=lambdas)
        term = self.expression(calls=calls, lambdas=lambdas) if self.accept("::") else None
        if term is None and len(binders) > 1:
            self.fail("'::' and the element: a set over several variables must say what it collects")
        return Comprehension(binders, limits, term, token.text == "set", attributes, at=token.at)

    def _let(self, calls: bool, lambdas: bool) -> Expr:
        at = self.at
        if self.accept("ghost") and not self.sees("var"):
            self.fail("'var' after 'ghost'")
        self.expect("var")
        if self.sees("("):
            self.refuse("patterns in 'var'", "take the members one by one: x.0, x.1")
        binders = [self.binder()]
        if self.sees("("):
            self.refuse("patterns in 'var'", "take the members one by one")
        while self.accept(","):
            binders.append(self.binder())
        such_that = self.sees(":|")
        if not such_that:
            self.expect(":=", "or ':|'")
        else:
            self.next()
            if self.sees("assume", "{:"):
                self.refuse("':| assume'", "show that a value exists")
        values = self.expressions(calls=False)
        self._check_values(binders, values, such_that, at)
        self.expect(";", "after the value")
        body = self.expression(calls=calls, lambdas=lambdas)
        return LetExpr(tuple(binders), values, body, such_that, at=at)

    def _check_values(self, binders: list[Binder], values: tuple[Expr, ...], such_that: bool, at: Position) -> None:
        expected = 1 if such_that else len(binders)
        if len(values) != expected:
            what = "condition" if such_that else "value"
            raise DafnySyntaxError(f"found {len(values)} {what}s, expected {expected}", at)

    def _statement(self, calls: bool, lambdas: bool) -> Expr:
        at = self.at
        statement = self.proof_statement()
        return StmtExpr(statement, self.expression(calls=calls, lambdas=lambdas), at=at)

    _endless: Final[dict[str, Callable[[EndlessReader, bool, bool], Expr]]] = {
        "if": _if,
        "match": _match,
        "forall": _quantifier,
        "exists": _quantifier,
        "set": _comprehension,
        "iset": _comprehension,
        "var": _let,
        "ghost": _let,
        "assert": _statement,
        "assume": _statement,
        "expect": _statement,
        "calc": _statement,
        "reveal": _statement,
    }
