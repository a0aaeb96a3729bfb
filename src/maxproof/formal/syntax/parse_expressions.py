"""Expressions, with Dafny's precedence.

From loose to tight: `<==>`; `==>` (to the right) and `<==` (to the left); `&&` and `||`, not to be mixed without
parentheses; comparisons, which chain; `+ -`; `* / %`; `as`; `! -`; calls, members and indices. What ends in an
expression without a closing sign (if, match, quantifiers, comprehensions, let, lambda) reaches as far right as it can.

Operators are read with an explicit stack, so that only brackets and such endless expressions cost Python frames.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final, Literal, NamedTuple, TypeAlias, cast

from maxproof.formal.syntax.ast import (
    Apply,
    AsExpr,
    Binary,
    BoolLiteral,
    CallStmt,
    Cardinality,
    Comparison,
    Expr,
    Index,
    IntLiteral,
    Member,
    Name,
    RealLiteral,
    SeqDisplay,
    SeqInit,
    SetDisplay,
    Slice,
    StmtExpr,
    TupleExpr,
    Unary,
    Update,
)
from maxproof.formal.syntax.errors import DafnySyntaxError
from maxproof.formal.syntax.parse_endless import EndlessReader
from maxproof.formal.syntax.tokens import Token
from maxproof.formal.syntax.words import EXPRESSION_ADVICE

_IMPLIES, _LOGIC, _RELATION = 2, 3, 4
_LEVELS: Final = {
    "<==>": 1, "==>": _IMPLIES, "<==": _IMPLIES, "&&": _LOGIC, "||": _LOGIC,
    "==": _RELATION, "!=": _RELATION, "<": _RELATION, "<=": _RELATION, ">": _RELATION, ">=": _RELATION,
    "in": _RELATION, "!in": _RELATION, "!!": _RELATION,
    "+": 5, "-": 5, "*": 6, "/": 6, "%": 6,
}  # fmt: skip

_RISING, _FALLING = frozenset(("==", "!=", "<", "<=")), frozenset(("==", "!=", ">", ">="))

_BinaryOp: TypeAlias = Literal["<==>", "==>", "<==", "&&", "||", "+", "-", "*", "/", "%"]
_RelationOp: TypeAlias = Literal["==", "!=", "<", "<=", ">", ">=", "in", "!in", "!!"]


class _Operator(NamedTuple):
    token: Token
    level: int


class ExpressionReader(EndlessReader):
    """Reads expressions.

    Two flags travel with them, as in Dafny's grammar: `calls`: `L(x); e` may stand here (not where a `;` ends the
    statement); `lambdas`: `x => e` may stand here without parentheses (not before the `=>` of a case).
    """

    def expression(self, *, calls: bool = True, lambdas: bool = True) -> Expr:
        self.deeper()
        start = self.at
        operands: list[Expr] = []
        operators: list[_Operator] = []
        leading = ""  # the `&&` of a list `&& a && b`, while that list is being read
        level = 1
        while level:
            if self.sees("&&", "||") and (not operators or operators[-1].level < _LOGIC):
                leading = self.next().text
            operands.append(self._operand(calls, lambdas))
            token = self.token
            level = _LEVELS.get(token.text, 0) if token.kind in ("symbol", "word") else 0
            while operators and (
                operators[-1].level > level
                or (operators[-1].level == level and level != _RELATION and token.text != "==>")
            ):
                _refuse_mixture(operators[-1], token, level)
                _reduce(operands, operators)
            if operators:
                _refuse_mixture(operators[-1], token, level)
            if level < _LOGIC:
                leading = ""
            elif level == _LOGIC and leading and token.text != leading:
                self.fail(f"'{leading}': '&&' and '||' together need parentheses")
            if level:
                operators.append(_Operator(self.next(), level))
            if level == _RELATION:
                _check_chain(operators)
        value = operands[0]
        if calls and self.sees(";") and isinstance(value, Apply) and value.at == start:
            self.next()
            call = CallStmt(value, at=start)
            value = StmtExpr(call, self.expression(calls=calls, lambdas=lambdas), at=start)
        self.deeper(-1)
        return value

    def expressions(self, *, calls: bool = True, lambdas: bool = True) -> tuple[Expr, ...]:
        """One or more, with commas between."""
        items = [self.expression(calls=calls, lambdas=lambdas)]
        while self.accept(","):
            items.append(self.expression(calls=calls, lambdas=lambdas))
        return tuple(items)

    # Operands

    def _operand(self, calls: bool, lambdas: bool) -> Expr:
        prefixes: list[Token] = []
        while self.sees("!", "-", "!!"):
            token = self.next()
            if token.text == "!!":
                prefixes.append(token)
            prefixes.append(token)
        value = self._postfix(calls, lambdas)
        for token in reversed(prefixes):
            value = Unary("-" if token.text == "-" else "!", value, at=token.at)
        while self.accept("as"):
            value = AsExpr(value, self.type(arrows=False), at=value.at)
        if self.sees("is"):
            self.refuse("'is'", EXPRESSION_ADVICE["is"])
        return value

    # Members, indices, calls

    def _postfix(self, calls: bool, lambdas: bool) -> Expr:
        token = self.token
        endless = self._endless.get(token.text) if token.kind == "word" else None
        if endless is not None and not (token.text == "iset" and self.ahead().text == "{"):
            return endless(self, calls, lambdas)
        if lambdas and self._at_lambda():
            return self._lambda(calls)
        value = self._primary()
        while True:
            if self.accept("."):
                value = self._member(value)
            elif self.accept("("):
                value = Apply(value, self._items(")"), at=value.at)
            elif self.accept("["):
                value = self._bracket(value)
            elif self.sees("`", "#"):
                self.fail("an operator or the end of the expression")
            else:
                return value

    def _member(self, value: Expr) -> Expr:
        token = self.token
        if token.kind in ("name", "int"):
            self.next()
            return Member(value, token.text, at=value.at)
        if self.sees("("):
            self.refuse("updates of a datatype's fields", "call the constructor")
        if self.sees("requires", "reads"):
            self.refuse(f"'.{token.text}'", "write the condition itself")
        self.fail("a member's name after '.'")

    def _items(self, closer: str) -> tuple[Expr, ...]:
        """Expressions up to the closing sign, which is read too."""
        items: list[Expr] = []
        while not self.sees(closer):
            items.append(self.expression())
            if self.sees(":=") and closer == ")":
                self.refuse("arguments by name", "give the arguments in order")
            if not self.accept(","):
                break
        self.expect(closer, "or ','")
        return tuple(items)

    def _bracket(self, value: Expr) -> Expr:
        at = value.at
        low = None if self.sees("..") else self.expression()
        if self.accept(".."):
            high = None if self.sees("]") else self.expression()
            self.expect("]")
            return Slice(value, low, high, at=at)
        assert low is not None
        if self.accept(":="):
            item = self.expression()
            self.expect("]")
            return Update(value, low, item, at=at)
        if self.sees(","):
            self.refuse("several indices", "index step by step")
        self.expect("]", "'..' or ':='")
        return Index(value, low, at=at)

    # Primaries

    def _primary(self) -> Expr:
        token = self.token
        match token.kind:
            case "name":
                self.name("an expression")
                return Name(token.text, at=token.at)
            case "int":
                self.next()
                digits = token.text.replace("_", "")
                return IntLiteral(int(digits, 16 if digits.startswith("0x") else 10), at=token.at)
            case "real":
                self.next()
                whole, _, part = token.text.replace("_", "").partition(".")
                return RealLiteral(Fraction(int(whole + part), 10 ** len(part)), at=token.at)
            case "string" | "char":
                self.refuse(str(token), "strings and characters have no place in a proof")
            case "word":
                return self._word(token)
            case _:
                pass
        match token.text:
            case "(":
                self.next()
                items = self._items(")")
                if not items:
                    self.refuse("the unit value ()", "leave it out", token.at)
                return items[0] if len(items) == 1 else TupleExpr(items, at=token.at)
            case "{":
                self.next()
                return SetDisplay(self._items("}"), at=token.at)
            case "[":
                self.next()
                return SeqDisplay(self._items("]"), at=token.at)
            case "|":
                self.next()
                operand = self.expression()
                self.expect("|", "to close the cardinality")
                return Cardinality(operand, at=token.at)
            case "*":
                self.refuse("'*' as an expression", "write the condition or the value")
            case "@":
                self.refuse("attributes inside expressions", "leave them out")
            case _:
                self.fail("an expression")

    def _word(self, token: Token) -> Expr:
        match token.text:
            case "true" | "false":
                self.next()
                return BoolLiteral(token.text == "true", at=token.at)
            case "iset":
                self.next()
                self.expect("{")
                return SetDisplay(self._items("}"), finite=False, at=token.at)
            case "seq":
                return self._sequence()
            case "int" | "nat" | "real" | "bool" if self.ahead().text == "(":
                self.refuse(f"the conversion '{token.text}(x)'", f"write x as {token.text}")
            case "int" | "nat" | "real" | "bool":
                self.refuse("types as arguments", "leave them out")
            case word if word in EXPRESSION_ADVICE:
                self.refuse(f"'{word}'", EXPRESSION_ADVICE[word])
        raise DafnySyntaxError(f"found the reserved word '{token.text}', expected an expression", token.at)

    def _sequence(self) -> Expr:
        at = self.next().at
        if self.sees("<"):
            self.refuse("the type argument of 'seq(n, f)'", "leave it out: write seq(n, i => ...)")
        self.expect("(", "after 'seq'")
        length = self.expression()
        self.expect(",", "and the function that gives the elements")
        function = self.expression()
        self.expect(")")
        return SeqInit(length, function, at=at)

    def _at_lambda(self) -> bool:
        token = self.token
        if token.kind == "name":
            return self.ahead().text == "=>" and self.ahead().kind == "symbol"
        if not self.sees("("):
            return False
        after = self.after_parenthesis()
        return after.text in ("=>", "requires", "reads") and after.kind in ("symbol", "word")


def _refuse_mixture(before: _Operator, token: Token, level: int) -> None:
    if before.level == level and level in (_IMPLIES, _LOGIC) and before.token.text != token.text:
        names = "'&&' and '||'" if level == _LOGIC else "'==>' and '<=='"
        raise DafnySyntaxError(f"{names} together need parentheses", token.at)


def _check_chain(operators: list[_Operator]) -> None:
    """Of the comparisons on top: those of a looser operator's other side were reduced before."""
    chain: list[str] = []
    for operator in reversed(operators):
        if operator.level != _RELATION:
            break
        chain.append(operator.token.text)
    if len(chain) > 1 and (not (set(chain) <= _RISING or set(chain) <= _FALLING) or chain.count("!=") > 1):
        message = f"'{chain[1]}' and '{chain[0]}' can't be chained; use parentheses or '&&'"
        raise DafnySyntaxError(message, operators[-1].token.at)


def _reduce(operands: list[Expr], operators: list[_Operator]) -> None:
    """Applies the operator on top; a chain of comparisons becomes one node."""
    if operators[-1].level != _RELATION:
        operator = operators.pop()
        right = operands.pop()
        left = operands.pop()
        operands.append(Binary(cast("_BinaryOp", operator.token.text), left, right, at=left.at))
        return
    count = 0
    while count < len(operators) and operators[-1 - count].level == _RELATION:
        count += 1
    ops = tuple(cast("_RelationOp", operator.token.text) for operator in operators[-count:])
    items = tuple(operands[-count - 1 :])
    del operators[-count:]
    del operands[-count - 1 :]
    operands.append(Comparison(items, ops, at=items[0].at))
