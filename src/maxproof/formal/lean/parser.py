"""Lean 4 terms, read with Lean's and Mathlib's own precedences.

The levels that matter, weakest first: `↔` 20, `→` 25, `∨` 30, `∧` 35, relations and `∣` 50 (no chains), `+ - ∪` 65, the
body of `∑` and `∏` 67, `* / % ∩ \\` 70, unary `-` and `^` 75 (so `-x^2` is `-(x^2)` and `^` groups to the right), `⁻¹'`
and `''` 80, application, then the postfixes `⁻¹` and `!`. `¬` reaches over everything from 40 up. `∀`, `∃` and `fun`
reach as far right as they can.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final, Literal, cast

from maxproof.formal.lean.cursor import KEYWORDS, Cursor, shown, spelling
from maxproof.formal.lean.lexer import Kind, Token
from maxproof.formal.lean.tree import (
    Application,
    Ascription,
    BigOperator,
    BoundName,
    Coercion,
    Conditional,
    Congruence,
    Display,
    Enclosed,
    Function,
    Hole,
    Ident,
    Infix,
    Numeral,
    Postfix,
    Prefix,
    Projection,
    Quantified,
    SetBuilder,
    Syntax,
)
from maxproof.formal.syntax.ast import Position

MAX_NESTING: Final = 60
MAX_BOUND: Final = 50

# operator: (its level, least level of the left operand, least level of the right operand)
_INFIX: Final[dict[str, tuple[int, int, int]]] = {
    "↔": (20, 21, 21),
    "→": (25, 26, 25),
    "∨": (30, 31, 30),
    "∧": (35, 36, 35),
    "×": (35, 36, 35),
    "≃": (25, 26, 26),
    **dict.fromkeys(("=", "≠", "<", ">", "≤", "≥", "∈", "∉", "⊆", "⊂", "∣", "∤"), (50, 51, 51)),
    **dict.fromkeys(("+", "-", "∪"), (65, 65, 66)),
    **dict.fromkeys(("*", "/", "%", "∩"), (70, 70, 71)),
    "\\": (70, 71, 71),
    "^": (75, 76, 75),
    **dict.fromkeys(("⁻¹'", "''"), (80, 80, 81)),
    "∘": (90, 91, 90),
}
_HIGHEST: Final = 1024
_RELATIONS: Final = ("<", ">", "≤", "≥", "≠", "∈", "∉", "⊆", "⊂", "=", "∣")
_CLOSERS: Final = {"⌊": ("⌋", "⌋₊"), "⌈": ("⌉", "⌉₊")}
_ATOM_SYMBOLS: Final = ("ℕ", "ℤ", "ℚ", "ℝ", "ℂ", "ℝ≥0", "ℕ+", "𝓝", "∅")
_ARGUMENT_SYMBOLS: Final = (*_ATOM_SYMBOLS, "(", "[", "{", "⌊", "⌈", "↑", "√", "fun", "_", "·")


class TermParser(Cursor):
    """The rules for terms and binders."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        """`tokens` ends with an END token."""
        super().__init__(tokens)
        self._nesting = 0
        self._dots: list[list[BoundName] | None] = [None]

    # Terms

    def term(self, level: int = 0) -> Syntax:
        """A term whose operators all bind at least as tightly as `level`."""
        self._enter()
        left, left_level = self._leading()
        while True:
            token = self.here
            op = spelling(token)
            if token.kind is Kind.SYMBOL and op == "≡" and level <= 50:
                left, left_level = self._congruence(left), 50
                continue
            levels = _INFIX.get(op) if token.kind is Kind.SYMBOL else None
            if levels is None or levels[0] < level:
                break
            own, least_left, least_right = levels
            if left_level < least_left:
                self.refuse(f"a chain with `{op}`")
            self.advance()
            left, left_level = Infix(op, left, self.term(least_right), token.at), own
        self._nesting -= 1
        return left

    def _enter(self) -> None:
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            self.refuse(f"terms nested more than {MAX_NESTING} deep")

    def _congruence(self, left: Syntax) -> Syntax:
        at = self.advance().at
        right = self.term(51)
        self.take("[")
        kind = self.advance()
        if kind.text not in ("MOD", "ZMOD"):
            self.refuse(f"{shown(kind)} where `MOD` or `ZMOD` was expected", kind)
        modulus = self.term()
        self.take("]")
        return Congruence(cast(Literal["MOD", "ZMOD"], kind.text), left, right, modulus, at)

    def _leading(self) -> tuple[Syntax, int]:
        """The term's first part and its level."""
        token = self.here
        if self.at_symbol("-"):
            self.advance()
            return Prefix("-", self.term(75), token.at), 75
        if self.at_symbol("¬"):
            self.advance()
            return Prefix("¬", self.term(40), token.at), _HIGHEST
        if self.at_symbol("∀", "∃"):
            return self._quantified(), _HIGHEST
        if self.at_symbol("∑", "∏"):
            return self._big_operator(), _HIGHEST
        if self.at_symbol("if"):
            return self._conditional(), _HIGHEST
        return self._application(), _HIGHEST

    def _application(self) -> Syntax:
        at = self.here.at
        function = self._tight()
        args: list[Syntax] = []
        while self._begins_argument():
            args.append(self._tight())
        return Application(function, tuple(args), at) if args else function

    def _begins_argument(self) -> bool:
        token = self.here
        if token.kind is Kind.IDENT:
            return token.text not in KEYWORDS or token.text == "fun"
        if token.kind is Kind.NUMBER:
            return True
        if token.kind is not Kind.SYMBOL:
            return False
        if token.text in ("|", "‖"):
            return token.spaced and not self.ahead().spaced
        if token.text == "[" and self.ahead().text in ("MOD", "ZMOD"):
            return False
        return spelling(token) in _ARGUMENT_SYMBOLS

    def _tight(self) -> Syntax:
        """An atom with its postfixes: fields, `⁻¹` and `!`."""
        value = self._atom()
        while True:
            token = self.here
            if token.kind is not Kind.SYMBOL:
                return value
            if token.text == "." and not token.spaced and self.ahead().kind in (Kind.IDENT, Kind.NUMBER):
                self.advance()
                for name in self.advance().text.split("."):
                    value = Projection(value, name, token.at)
            elif token.text in ("⁻¹", "!"):
                self.advance()
                value = Postfix(token.text, value, token.at)
            else:
                return value

    def _atom(self) -> Syntax:
        token = self.here
        if token.kind is Kind.NUMBER:
            self.advance()
            return Numeral(Fraction(token.text), "." in token.text, token.at)
        if self.at_symbol("fun"):
            return self._function()
        if token.kind is Kind.IDENT and token.text not in KEYWORDS:
            self.advance()
            return Ident(token.text, token.at)
        if token.kind is Kind.SYMBOL:
            return self._symbol_atom(token)
        self.refuse(shown(token))

    def _symbol_atom(self, token: Token) -> Syntax:
        if token.text in _ATOM_SYMBOLS:
            self.advance()
            return Ident(token.text, token.at)
        if token.text == "(":
            return self._parenthesis()
        if token.text == "{":
            return self._braces()
        if token.text == "[":
            return self._list()
        if token.text in ("⌊", "⌈"):
            self.advance()
            inner = self.term()
            closer = self.take(*_CLOSERS[token.text])
            return Enclosed(cast(Literal["⌊⌋"], token.text + closer.text), inner, token.at)
        if token.text in ("|", "‖"):
            self.advance()
            inner = self.term()
            if self.here.spaced:
                self.refuse(f"white space before the closing `{token.text}`")
            self.take(token.text)
            return Enclosed(cast(Literal["||"], token.text * 2), inner, token.at)
        if token.text == "↑":
            self._enter()
            self.advance()
            coerced = Coercion(self._tight(), token.at)
            self._nesting -= 1
            return coerced
        if token.text == "√":
            self._enter()
            self.advance()
            root = Prefix("√", self._application(), token.at)
            self._nesting -= 1
            return root
        if token.text == "_":
            self.advance()
            return Hole(token.at)
        if token.text == "·":
            dots = self._dots[-1]
            if dots is None:
                self.refuse("`·` outside parentheses")
            self.advance()
            dots.append(BoundName(f"·{len(self._dots)}.{len(dots) + 1}", None, token.at))
            return Ident(dots[-1].name, token.at)
        self.refuse(shown(token))

    def _parenthesis(self) -> Syntax:
        at = self.take("(").at
        self._dots.append([])
        items = [self.term()]
        type_: Syntax | None = None
        if self.at_symbol(":"):
            self.advance()
            type_ = self.term()
        while type_ is None and self.at_symbol(","):
            self.advance()
            items.append(self.term())
        self.take(")")
        dots = self._dots.pop()
        value: Syntax = items[0] if len(items) == 1 else Display("()", tuple(items), at)
        if dots:
            value = Function(tuple(dots), value, at)
        return value if type_ is None else Ascription(value, type_, at)

    def _list(self) -> Syntax:
        at = self.take("[").at
        items: list[Syntax] = []
        while not self.at_symbol("]"):
            items.append(self.term())
            if not self.at_symbol("]"):
                self.take(",")
        self.take("]")
        return Display("[]", tuple(items), at)

    def _braces(self) -> Syntax:
        at = self.take("{").at
        name = self.here
        if name.kind is Kind.IDENT and self.ahead().text in ("|", ":", "∈"):
            start = self._index
            self.advance()
            if self.at_symbol(":"):
                self.advance()
                return self._builder_body(BoundName(name.text, self.term(), name.at), None, at)
            if self.at_symbol("|"):
                return self._builder_body(BoundName(name.text, None, name.at), None, at)
            self.advance()
            domain = self.term(51)
            if self.at_symbol("|"):
                return self._builder_body(BoundName(name.text, None, name.at), domain, at)
            self._index = start
        items: list[Syntax] = []
        while not self.at_symbol("}"):
            items.append(self.term())
            if not self.at_symbol("}"):
                self.take(",")
        self.take("}")
        return Display("{}", tuple(items), at)

    def _builder_body(self, binder: BoundName, domain: Syntax | None, at: Position) -> Syntax:
        self.take("|")
        body = self.term()
        self.take("}")
        return SetBuilder(binder, domain, body, at)

    def _conditional(self) -> Syntax:
        at = self.take("if").at
        condition = self.term()
        self.take("then")
        then = self.term()
        self.take("else")
        return Conditional(condition, then, self.term(), at)

    # Binders

    def _quantified(self) -> Syntax:
        token = self.advance()
        kind = token.text
        if kind == "∃" and self.at_symbol("!"):
            if self.here.spaced:
                self.refuse("`!`")
            self.advance()
            kind = "∃!"
        binders = self._bound_names(",")
        self.take(",")
        return Quantified(cast(Literal["∀"], kind), binders, self.term(), token.at)

    def _function(self) -> Syntax:
        at = self.take("fun").at
        binders = self._bound_names("↦")
        self.take("↦")
        return Function(binders, self.term(), at)

    def _big_operator(self) -> Syntax:
        token = self.advance()
        name = self._name()
        type_: Syntax | None = None
        domain: Syntax | None = None
        condition: Syntax | None = None
        if self.at_symbol(":"):
            self.advance()
            type_ = self.term()
        elif self.at_symbol("∈", "in"):
            self.advance()
            domain = self.term()
        if self.at_symbol("with"):
            self.advance()
            condition = self.term()
        if not self.at_symbol(","):
            self.refuse(f"`{token.text}` bound by {shown(self.here)}")
        self.advance()
        binder = BoundName(name.text, type_, name.at)
        return BigOperator(cast(Literal["∑"], token.text), binder, domain, condition, self.term(67), token.at)

    def _bound_names(self, closer: str) -> tuple[BoundName, ...]:
        """Binders of `∀`, `∃` or `fun`, up to `closer`."""
        binders: list[BoundName] = []
        bare: list[Token] = []
        while not self.at_symbol(closer):
            if self.at_symbol("(", "{", "["):
                binders += (BoundName(t.text, None, t.at) for t in bare)
                bare = []
                binders += self.bracketed()
            elif self.at_symbol(":"):
                self.advance()
                type_ = self.term()
                binders += (BoundName(t.text, type_, t.at) for t in bare)
                bare = []
                break
            elif len(bare) == 1 and closer == "," and self.at_symbol(*_RELATIONS):
                relation = spelling(self.here)
                self.advance()
                binders.append(BoundName(bare[0].text, None, bare[0].at, relation, self.term()))
                bare = []
                break
            else:
                bare.append(self._name())
        binders += (BoundName(t.text, None, t.at) for t in bare)
        if not 0 < len(binders) <= MAX_BOUND:
            self.refuse(f"more than {MAX_BOUND} bound variables" if binders else "no bound variable")
        return tuple(binders)

    def bracketed(self) -> list[BoundName]:
        """`(x y : T)`, `{x : T}`, `[T]` or `(x)`."""
        opener = self.take("(", "{", "[")
        closer = {"(": ")", "{": "}", "[": "]"}[opener.text]
        if opener.text == "[" and self.ahead().text != ":":
            type_ = self.term()
            self.take("]")
            return [BoundName("_", type_, opener.at)]
        names = [self._name()]
        while not self.at_symbol(":", closer):
            names.append(self._name())
        bound: Syntax | None = None
        if self.at_symbol(":"):
            self.advance()
            bound = self.term()
        self.take(closer)
        return [BoundName(t.text, bound, t.at) for t in names]

    def _name(self) -> Token:
        token = self.here
        if self.at_symbol("_") or (token.kind is Kind.IDENT and token.text not in KEYWORDS and "." not in token.text):
            return self.advance()
        self.refuse(f"{shown(token)} where a bound variable was expected")
