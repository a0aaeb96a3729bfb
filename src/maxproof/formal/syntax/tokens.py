"""From text to tokens.

    tokenize("x*x >= 0 // square")  ->  x  *  x  >=  0  (end)

Comments (nested ones too) and white space leave no token. Strings, characters, attributes `{:` and `@` are tokens of
their own, so that whoever looks for a word never finds it inside a comment or a string. Outside those only printable
ASCII may stand: an invisible or look-alike character is an error with its name.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final, Literal, NamedTuple, TypeAlias

from maxproof.formal.syntax.ast import Position
from maxproof.formal.syntax.errors import DafnySyntaxError
from maxproof.formal.syntax.words import is_reserved

MAX_CHARACTERS: Final = 1_000_000
MAX_DIGITS: Final = 4_000

Kind: TypeAlias = Literal["name", "word", "int", "real", "string", "char", "symbol", "end"]


class Token(NamedTuple):
    """One token.

    Attributes:
        kind: `word` is a reserved word; `end` stands after the last token.
        text: as written; a string without its quotes, escapes kept.
        at: its first character.
    """

    kind: Kind
    text: str
    at: Position

    def __str__(self) -> str:
        """As error messages show it."""
        match self.kind:
            case "end":
                return "the end of the text"
            case "string":
                return "a string"
            case "char":
                return "a character"
            case _:
                return f"'{self.text if len(self.text) <= 40 else self.text[:37] + '...'}'"


_SPACE = re.compile(r"[ \t\r\n\f\v]+")
_LINE_COMMENT = re.compile(r"//[^\n]*")
_COMMENT_EDGE = re.compile(r"/\*|\*/")
_NAME = re.compile(r"[A-Za-z_?][A-Za-z0-9_'?]*")
_DIGITS = re.compile(r"[0-9]+")
_NUMBER = re.compile(r"(?P<hex>0x[0-9A-Fa-f]+(?:_[0-9A-Fa-f]+)*)|[0-9]+(?:_[0-9]+)*(?P<part>\.[0-9]+(?:_[0-9]+)*)?")
_STRING = re.compile(r'"((?:[^"\\\r\n]|\\[^\r\n])*)"')
_VERBATIM = re.compile(r'@"((?:[^"]|"")*)"')
_CHAR = re.compile(r"'(?:[^'\\\r\n]|\\[^\r\n][0-9A-Fa-f{}]*)'")
_SYMBOL = re.compile(
    r"<==>|==>|<==|-->|\.\.\.|==#|::|:=|:\||:-|\{:|==|!=|<=|>=|&&|\|\||!in(?![A-Za-z0-9_'?])|!!|->|~>|=>|\.\."
    r"|[-()\[\]{}<>+*/%!|&^.,;:@#`=~]"
)

# Mathematical signs that older Dafny reads or that models write.
_WRITTEN_AS: Final = {
    "∀": "forall", "∃": "exists", "•": "::", "≤": "<=", "≥": ">=", "≠": "!=", "∧": "&&", "∨": "||", "⇒": "==>",
    "⇐": "<==", "⇔": "<==>", "¬": "!", "∈": "in", "∉": "!in", "→": "->", "·": "*", "×": "*", "−": "-",
}  # fmt: skip


def tokenize(text: str) -> tuple[Token, ...]:
    """All tokens of `text`, the last of kind `end`.

    Raises DafnySyntaxError: too long a text or number, a character that has no place in Dafny, an unclosed comment or
    string. `text` may hold anything.
    """
    if len(text) > MAX_CHARACTERS:
        raise DafnySyntaxError(f"{len(text):,} characters, at most {MAX_CHARACTERS:,} are read", Position(1, 1))
    nul = text.find("\0")
    if nul >= 0:
        raise DafnySyntaxError("NUL character", _position(text, nul))
    return tuple(_tokens(text))


def _tokens(text: str) -> list[Token]:
    tokens: list[Token] = []
    at = 0
    line, line_start = 1, 0
    end = len(text)
    while at < end:
        start = at
        here = Position(line, start - line_start + 1)
        char = text[at]
        if found := _SPACE.match(text, at):
            at = found.end()
        elif text.startswith("//", at):
            found = _LINE_COMMENT.match(text, at)
            at = found.end() if found else end
        elif text.startswith("/*", at):
            at = _comment_end(text, at, here)
        elif found := _NAME.match(text, at):
            at = found.end()
            word = found.group()
            tokens.append(Token("word" if is_reserved(word) else "name", word, here))
        elif "0" <= char <= "9":
            # After a dot stands a tuple's field: `t.0.1` has no decimal in it.
            found = (_DIGITS if tokens and tokens[-1][:2] == ("symbol", ".") else _NUMBER).match(text, at)
            assert found is not None
            at = found.end()
            tokens.append(_number(found, here))
            if text[at : at + 1].isalnum() or text[at : at + 1] == "_":
                raise DafnySyntaxError(f"no number: '{found.group()[:40]}{text[at]}'", here)
        elif char == '"' or text.startswith('@"', at):
            found = (_STRING if char == '"' else _VERBATIM).match(text, at)
            if found is None:
                raise DafnySyntaxError("string without its closing quote", here)
            at = found.end()
            inside = found.group(1)
            tokens.append(Token("string", inside if char == '"' else _escaped(inside), here))
        elif char == "'":
            found = _CHAR.match(text, at)
            if found is None:
                raise DafnySyntaxError('found "\'", expected a name, which starts with a letter', here)
            at = found.end()
            tokens.append(Token("char", found.group(), here))
        elif found := _SYMBOL.match(text, at):
            at = found.end()
            tokens.append(Token("symbol", found.group(), here))
        else:
            raise DafnySyntaxError(_unexpected(char), here)
        newlines = text.count("\n", start, at)
        if newlines:
            line += newlines
            line_start = text.rfind("\n", start, at) + 1
    tokens.append(Token("end", "", Position(line, end - line_start + 1)))
    return tokens


def _comment_end(text: str, start: int, here: Position) -> int:
    depth = 0
    at = start
    while edge := _COMMENT_EDGE.search(text, at):
        at = edge.end()
        depth += 1 if edge.group() == "/*" else -1
        if depth == 0:
            return at
    raise DafnySyntaxError("comment without its closing '*/'", here)


def _escaped(verbatim: str) -> str:
    """What stands between the quotes of `@"..."`, as an ordinary string writes it."""
    text = verbatim.replace("\\", "\\\\").replace('""', '\\"')
    return text.replace("\r", "\\r").replace("\n", "\\n")


def _number(found: re.Match[str], here: Position) -> Token:
    text = found.group()
    if len(text) > MAX_DIGITS:
        raise DafnySyntaxError(f"number of {len(text):,} digits, at most {MAX_DIGITS:,} are read", here)
    return Token("real" if "." in text else "int", text, here)


def _unexpected(char: str) -> str:
    if char in _WRITTEN_AS:
        return f"found '{char}', which is written '{_WRITTEN_AS[char]}'"
    name = unicodedata.name(char, "no named character")
    return f"character U+{ord(char):04X} ({name}) has no place in Dafny outside comments and strings"


def _position(text: str, offset: int) -> Position:
    return Position(text.count("\n", 0, offset) + 1, offset - (text.rfind("\n", 0, offset) + 1) + 1)
