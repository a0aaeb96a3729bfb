"""Statements of proofs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from maxproof.formal.syntax.ast import (
    Apply,
    Assert,
    Assign,
    Assume,
    Attribute,
    Binder,
    Block,
    Calc,
    CallStmt,
    Clause,
    Expr,
    ForallStmt,
    GuardedCase,
    IfCases,
    IfStmt,
    MatchCase,
    MatchStmt,
    Name,
    Return,
    Reveal,
    Stmt,
    StringLiteral,
    VarStmt,
    While,
)
from maxproof.formal.syntax.errors import DafnySyntaxError
from maxproof.formal.syntax.parse_expressions import ExpressionReader
from maxproof.formal.syntax.words import DECLARATION_ADVICE, STATEMENT_ADVICE

_CALC_OPS: Final = ("==", "!=", "<", "<=", ">", ">=", "<==>", "==>", "<==")


class StatementReader(ExpressionReader):
    def statements(self) -> tuple[Stmt, ...]:
        """All statements up to a `}`, a `case` or the end, which stays."""
        found: list[Stmt] = []
        while self.token.kind != "end" and not self.sees("}", "case"):
            found.append(self.statement())
        return tuple(found)

    def block(self, what: str = "") -> Block:
        at = self.expect("{", what).at
        body = self.statements()
        self.expect("}", "or a statement")
        return Block(body, at=at)

    def statement(self) -> Stmt:
        self.deeper(2)
        token = self.token
        reader = self._statements.get(token.text) if token.kind in ("word", "symbol") else None
        if reader is not None:
            statement = reader(self)
        elif token.kind == "word" and token.text in STATEMENT_ADVICE:
            self.refuse(f"'{token.text}' statements", STATEMENT_ADVICE[token.text])
        elif token.kind == "word" and token.text in ({"lemma", "function", "predicate"} | DECLARATION_ADVICE.keys()):
            raise DafnySyntaxError(f"found '{token.text}' inside a body: is a '}}' missing before it?", token.at)
        elif token.kind == "symbol" and token.text == ";":
            self.fail("a statement")
        else:
            statement = self._call_or_assignment()
        self.deeper(-2)
        return statement

    def attributes(self) -> tuple[Attribute, ...]:
        """`{:name args}`, any number."""
        found: list[Attribute] = []
        while self.sees("{:"):
            at = self.next().at
            name = self._attribute_name()
            args: tuple[Expr, ...] = ()
            if not self.sees("}"):
                args = self.attribute_arguments()
            self.expect("}", "to close the attribute")
            found.append(Attribute(name, args, at=at))
        return tuple(found)

    def _attribute_name(self) -> str:
        if self.token.kind not in ("name", "word"):
            self.fail("the attribute's name")
        return self.next().text

    def attribute_arguments(self) -> tuple[Expr, ...]:
        args: list[Expr] = []
        while True:
            if self.token.kind == "string":
                args.append(StringLiteral(self.token.text, at=self.next().at))
            else:
                args.append(self.expression())
            if not self.accept(","):
                return tuple(args)

    def clause(self, *, labelled: bool = False) -> Clause:
        """What follows `requires`, `ensures` or `invariant`, its end included; only a lemma's `requires` has labels."""
        at = self.at
        attributes = self.attributes()
        label = self._label() if labelled else ""
        condition = self.expression(calls=False, lambdas=False)
        self.accept(";")
        return Clause(condition, attributes, label, at=at)

    def _label(self) -> str:
        if self.token.kind in ("name", "int") and self.ahead()[:2] == ("symbol", ":"):
            label = self.next().text
            self.next()
            return label
        return ""

    def proof_statement(self) -> Stmt:
        match self.token.text:
            case "assert":
                return self._assert(labelled=False)
            case "calc":
                return self._calc()
            case "reveal":
                return self._reveal()
            case _:
                return self._assume()

    # One method a keyword

    def _assert(self, *, labelled: bool = True) -> Stmt:
        at = self.next().at
        attributes = self.attributes()
        label = self._label() if labelled else ""
        if self.sees("..."):
            self.refuse("'assert ...'", "write the condition")
        condition = self.expression(calls=False)
        by = None
        if self.accept("by"):
            by = self.block("and the proof after 'by'")
        else:
            self.expect(";", "or 'by' after the assertion")
        return Assert(condition, by, label, attributes, at=at)

    def _assume(self) -> Stmt:
        token = self.next()
        keyword: Literal["assume", "expect"] = "assume" if token.text == "assume" else "expect"
        attributes = self.attributes()
        condition = self.expression(calls=False)
        if keyword == "expect" and self.sees(","):
            self.refuse("messages of 'expect'", "a proof prints nothing")
        self.expect(";", f"after '{keyword}'")
        return Assume(condition, keyword, attributes, at=token.at)

    def _calc(self) -> Stmt:
        at = self.next().at
        attributes = self.attributes()
        op = self._calc_op() or "=="
        self.expect("{", "after 'calc'")
        lines: list[Expr] = []
        ops: list[str | None] = []
        hints: list[tuple[Block, ...]] = []
        while not self.sees("}"):
            lines.append(self.expression(calls=False))
            self.expect(";", "after a line of the calculation")
            op_at = self.at
            step = self._calc_op()
            blocks: list[Block] = []
            while self.sees("{", "calc"):
                hint_at = self.at
                blocks.append(self.block() if self.sees("{") else Block((self._calc(),), at=hint_at))
            ops.append(step)
            hints.append(tuple(blocks))
            if self.sees("}") and step is not None:
                raise DafnySyntaxError(f"found '{step}' after the last line, expected a line after it", op_at)
        self.next()
        if lines and hints[-1]:
            # Hints under the last line prove nothing about it, yet must be checked: the line equals itself.
            lines.append(lines[-1])
            ops[-1] = "=="
        else:
            ops, hints = ops[:-1], hints[:-1]
        return Calc(tuple(lines), tuple(ops), tuple(hints), op, attributes, at=at)

    def _calc_op(self) -> str | None:
        if not self.sees(*_CALC_OPS):
            return None
        op = self.next().text
        if self.sees("#"):
            self.refuse("'==#'", "there is no coinduction: write '=='")
        return op

    def _forall_statement(self) -> Stmt:
        at = self.next().at
        parenthesised = self.accept("(")
        binders, attributes = self.domain()
        limits = None
        if self.accept("|"):
            limits = self.expression(lambdas=parenthesised)
        if self.sees("::"):
            raise DafnySyntaxError("found '::', expected 'ensures' or '{': a quantifier is no statement", self.at)
        if parenthesised:
            self.expect(")")
        ensures: list[Clause] = []
        while self.accept("ensures"):
            if self.sees("{:"):
                self.refuse("attributes of a forall statement's 'ensures'", "leave them out")
            ensures.append(self.clause())
        # Dafny takes a forall statement without a body for an assumption, with a mere warning.
        body = self.block("and the proof of the forall statement ('{ }' if it needs none)")
        return ForallStmt(binders, limits, tuple(ensures), body, attributes, at=at)

    def _if_statement(self) -> IfStmt | IfCases:
        at = self.next().at
        if self.sees("case") or (self.sees("{") and self.ahead()[:2] == ("word", "case")):
            braces = self.accept("{")
            cases = self._guarded_cases()
            if braces:
                self.expect("}", "or 'case'")
            return IfCases(cases, at=at)
        self._refuse_star("'if *'")
        binders, condition = self._guard(lambdas=True)
        then = self.block("or an operator after the condition")
        otherwise: Block | IfStmt | IfCases | None = None
        if self.accept("else"):
            if self.sees("if"):
                self.deeper()
                otherwise = self._if_statement()
                self.deeper(-1)
            else:
                otherwise = self.block("or 'if' after 'else'")
        return IfStmt(condition, then, otherwise, binders, at=at)

    def _guard(self, *, lambdas: bool) -> tuple[tuple[Binder, ...], Expr]:
        """A condition, or `x: T :| P`."""
        if self.token.kind == "name" and self.ahead().text in (":|", ":", ",") and self.ahead().kind == "symbol":
            binders = [self.binder()]
            while self.accept(","):
                binders.append(self.binder())
            self.expect(":|", "and the condition")
            return tuple(binders), self.expression(lambdas=lambdas)
        return (), self.expression(lambdas=lambdas)

    def _guarded_cases(self) -> tuple[GuardedCase, ...]:
        cases: list[GuardedCase] = []
        while self.sees("case"):
            at = self.next().at
            self._refuse_star("'case *'")
            binders, condition = self._guard(lambdas=False)
            self.expect("=>", "after the case's condition")
            cases.append(GuardedCase(condition, self.statements(), binders, at=at))
        return tuple(cases)

    def _match_statement(self) -> Stmt:
        at = self.next().at
        value = self.expression()
        braces = self.accept("{")
        cases: list[MatchCase] = []
        while self.sees("case"):
            case_at = self.next().at
            constructor, binders = self.pattern()
            self.expect("=>", "after the pattern")
            cases.append(MatchCase(constructor, binders, self.statements(), at=case_at))
        if braces:
            self.expect("}", "or 'case'")
        elif not cases:
            self.fail("'{' or 'case'")
        return MatchStmt(value, tuple(cases), at=at)

    def _var(self) -> Stmt:
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
        if self.accept(";"):
            return VarStmt(tuple(binders), at=at)
        values, such_that = self._values("';', ':=' or ':|'")
        if such_that or len(values) != 1 or not isinstance(values[0], Apply):
            self._check_values(binders, values, such_that, at)
        return VarStmt(tuple(binders), values, such_that, at=at)

    def _values(self, expected: str) -> tuple[tuple[Expr, ...], bool]:
        """`:= a, b;` or `:| P;`."""
        such_that = self.accept(":|")
        if not such_that and not self.accept(":="):
            if self.sees(":-"):
                self.refuse("':-'", "write ':='")
            self.fail(expected)
        if such_that and self.sees("assume", "{:"):
            self.refuse("':| assume'", "show that a value exists")
        self._refuse_star("'*' as a value")
        if self.sees("new"):
            self.refuse("'new'", STATEMENT_ADVICE["new"])
        values = self.expressions(calls=False)
        if self.sees("by"):
            self.refuse("'by' after a call", "write the proof before it")
        self.expect(";", "after the value")
        return values, such_that

    def _while(self) -> Stmt:
        at = self.next().at
        if self.sees("{", "case") or (self.sees("invariant", "decreases")):
            self.refuse("'while' with cases", "write one condition")
        self._refuse_star("'while *'")
        condition = self.expression(lambdas=False)
        invariants: list[Clause] = []
        decreases: list[Expr] = []
        while not self.sees("{"):
            if self.accept("invariant"):
                invariants.append(self.clause())
            elif self.sees("decreases"):
                decreases.extend(self.decreases())
            elif self.sees("modifies"):
                self.refuse("'modifies'", "nothing has a state: leave it out")
            else:
                self.fail("'invariant', 'decreases' or '{'")
        return While(condition, tuple(invariants), tuple(decreases), self.block(), at=at)

    def decreases(self) -> tuple[Expr, ...]:
        self.expect("decreases")
        if self.sees("*"):
            self.refuse("'decreases *'", "proofs must end: give a measure")
        if self.sees("{:"):
            self.refuse("attributes of 'decreases'", "leave them out")
        measures = self.expressions(calls=False, lambdas=False)
        self.accept(";")
        return measures

    def _return(self) -> Stmt:
        at = self.next().at
        if self.accept(";"):
            return Return(at=at)
        values = self.expressions(calls=False)
        self.expect(";", "after the values")
        return Return(values, at=at)

    def _reveal(self) -> Stmt:
        at = self.next().at
        if self.sees("*"):
            self.refuse("'reveal *'", "name what to reveal")
        targets = self.expressions(calls=False)
        self.expect(";", "after 'reveal'")
        return Reveal(targets, at=at)

    def _call_or_assignment(self) -> Stmt:
        at = self.at
        expressions = self.expressions(calls=False)
        if self.sees(":=", ":|", ":-"):
            targets: list[str] = []
            for target in expressions:
                if not isinstance(target, Name):
                    raise DafnySyntaxError("only a variable can be assigned to", target.at)
                targets.append(target.name)
            values, such_that = self._values("':=' or ':|'")
            return Assign(tuple(targets), values, such_that, at=at)
        first = expressions[0]
        if len(expressions) > 1 or not isinstance(first, Apply):
            if self.sees(":"):
                self.refuse("labels of statements", "only assertions and preconditions may have labels")
            raise DafnySyntaxError("found an expression, expected a statement: an assertion, a call, ...", at)
        if self.sees("by"):
            self.refuse("'by' after a call", "write the proof before it")
        self.expect(";", "after the call")
        return CallStmt(first, at=at)

    def _refuse_star(self, construct: str) -> None:
        if self.sees("*"):
            self.refuse(construct, "write the condition or the value")

    _statements: Final[dict[str, Callable[[StatementReader], Stmt]]] = {
        "{": block,
        "assert": _assert,
        "assume": _assume,
        "expect": _assume,
        "calc": _calc,
        "forall": _forall_statement,
        "if": _if_statement,
        "match": _match_statement,
        "var": _var,
        "ghost": _var,
        "while": _while,
        "return": _return,
        "reveal": _reveal,
    }
