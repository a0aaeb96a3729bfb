"""Types and bound variables."""

from __future__ import annotations

from maxproof.formal.syntax.ast import Binder, FunctionType, NamedType, TupleType, Type
from maxproof.formal.syntax.cursor import Cursor
from maxproof.formal.syntax.words import TYPE_ADVICE


class TypeReader(Cursor):
    def type(self, *, arrows: bool = True) -> Type:
        """`arrows=False`: stops before `->`, as after `as`."""
        self.deeper()
        at = self.at
        params: tuple[Type, ...]
        if self.sees("("):
            params = self._parenthesised_types()
        else:
            params = (self._simple_type(),)
            if arrows and self.sees("<"):
                self.refuse("type parameters", "write the types out")
            if self.sees("."):
                self.refuse("names of modules in types", "write the declarations at the top level")
        self.deeper(-1)
        if arrows and self.sees("->", "-->", "~>"):
            arrow = self.next().text
            self.deeper()
            result = self.type()
            self.deeper(-1)
            return FunctionType(params, result, "->" if arrow == "->" else "-->" if arrow == "-->" else "~>", at=at)
        if not params:
            self.refuse("the unit type ()", "leave it out", at)
        return params[0] if len(params) == 1 else TupleType(params, at=at)

    def binder(self, what: str = "a variable", *, typed: bool = False, wildcard: bool = False) -> Binder:
        """`x` or `x: T`; with `typed` the type must be there, with `wildcard` `_` may stand for the name."""
        if self.sees("ghost"):
            self.refuse("'ghost' variables", "everything in a proof is ghost: leave it out")
        token = self.next() if wildcard and self.token[:2] == ("name", "_") else self.name(what)
        if typed:
            self.expect(":", f"and the type of '{token.text}'")
            return Binder(token.text, self.type(), at=token.at)
        return Binder(token.text, self.type() if self.accept(":") else None, at=token.at)

    def parameters(self) -> tuple[Binder, ...]:
        """`(x: int, y: real)`."""
        self.expect("(", "and the parameters")
        params: list[Binder] = []
        while not self.sees(")"):
            if self.sees("nameonly", "older"):
                self.refuse(f"'{self.token.text}' parameters", "leave it out")
            params.append(self.binder("a parameter or ')'", typed=True))
            if self.sees(":="):
                self.refuse("parameters with a default", "give every argument")
            if not self.accept(","):
                break
        self.expect(")", "or ','")
        return tuple(params)

    def _parenthesised_types(self) -> tuple[Type, ...]:
        self.expect("(")
        items: list[Type] = []
        while not self.sees(")"):
            if self.sees("ghost"):
                self.refuse("'ghost' in a tuple", "everything in a proof is ghost: leave it out")
            items.append(self.type())
            if not self.accept(","):
                break
        self.expect(")", "or ','")
        return tuple(items)

    def _simple_type(self) -> Type:
        token = self.token
        if token.kind == "word" and token.text in ("int", "nat", "real", "bool"):
            self.next()
            return NamedType(token.text, at=token.at)
        if token.kind == "word" and token.text in ("set", "iset", "seq"):
            self.next()
            self.expect("<", f"and the type of the elements of '{token.text}'")
            element = self.type()
            if self.sees(","):
                self.fail(f"'>': '{token.text}' has one type argument")
            self.expect(">")
            return NamedType(token.text, (element,), at=token.at)
        if token.kind == "word" and (token.text in TYPE_ADVICE or token.text[:2] == "bv" or token.text[:5] == "array"):
            advice = TYPE_ADVICE.get(token.text.rstrip("?0123456789"), "write int or real")
            self.refuse(f"type '{token.text}'", advice)
        return NamedType(self.name("a type").text, at=token.at)
