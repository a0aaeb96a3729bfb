r"""The normal form of a statement: what is left when spelling, layout and the names of variables are set aside.

    normal_form(r"Let $n\geq \frac{1}{2}$.").canonical == normal_form(r"let \(m ≥ 1/2\)").canonical

Read are LaTeX, Markdown, Unicode mathematics and plain text, by one pass of a tokeniser of our own. It takes a tenth of
a LaTeX parser's time (pylatexenc 2.10, on the 60 statements of IMO-ProofBench: 0.16 and 1.5 ms each) and knows no
broken LaTeX. The rules:

- delimiters of formulas, spacing, sizes and fonts are left out; symbols under several names become one;
- `\frac{a+b}{2}`, `\dfrac`, `{a+b \over 2}` and `(a+b)/2` are the same; so are `x^{2}`, `x^2`, `x²`; `\sqrt{2}`, `√2`;
- a sign of multiplication is kept between two numbers only;
- words lose case and punctuation; hyphens between words are blanks;
- a variable is a Latin or Greek letter of a formula, a letter alone in prose (`a`, `A`, `I` only where they can't be
  words), or a word of two to six capitals in prose, which names points.

`canonical` names variables by the order in which they first appear (see `variables.py`): a consistent renaming changes
nothing, that of `x_1, x_2` to `x, y` included; a changed number, sign or word does. `words` has one name for all
variables: what near-duplicates are compared by.

Time is linear in the text: nesting is followed to MAX_DEPTH, and only MAX_CHARS characters are read (the rest counts
by its hash).
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass, field
from functools import lru_cache

from maxproof.problems.data import latex_tables as tables
from maxproof.problems.data.variables import VARIABLE, renamed

MAX_CHARS = 200_000
MAX_DEPTH = 50
_PROSE = "\x02"  # starts a token of prose that `_tidy` keeps or drops; no text has it
_HYPHEN, _STAR, _COMMA = _PROSE + "-", _PROSE + "*", _PROSE + ","
_PROSE_LETTERS = (_PROSE + "a", _PROSE + "A", _PROSE + "I")

_TOKEN = re.compile(
    r"""\\(?:begin|end)\s*\{(?P<environment>[A-Za-z]{1,30})\*?\}(?:\{[^{}]{0,40}\})?
      |\\(?P<command>[A-Za-z]+)\*?
      |\\(?P<escaped>.)
      |(?P<number>\d{1,3}(?:(?:,|\{,\})\d{3})+(?!\d)|\d+(?:\.\d+)?)
      |(?P<cjk>[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])
      |(?P<word>[^\W\d_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+(?:'[a-z]{1,2}\b)?)
      |(?P<operator>\.\.\.|<=>|=>|<=|>=|!=|->|\*\*|\$\$|[-+*/=<>|^_'(){}\[\]!$%,])
    """,
    re.VERBOSE | re.DOTALL,
)
_ROOT = re.compile(r"\\sqrt\s*\[([^][{}$]{1,20})\]")
_RAISED = re.compile(tables.RAISED_CLASS + "+")
_LOWERED = re.compile(tables.LOWERED_CLASS + "+")
_NOT = re.compile(r"\\not\s*(?:=|\\eq\b)")
_SIGN = re.compile(r"[\s(\[{|]?-(?:\d|[^\W\d_](?!\w))")  # a minus, not a hyphen or the mark of a list
_AFTER_LETTER = tables.split("and or be is are divides denote denotes equals satisfy satisfies such where with")
_OPERATORS = tables.split("+ - * / = < > <= >= != ^ _ | -> => <=> ... equiv approx cong sim") | {_STAR, _HYPHEN}
_LOOKED_AT = frozenset((_PROSE, "*", ")", "\\"))
_TIGHT = frozenset(("^", "_", "/", "sqrt"))


@dataclass(frozen=True, slots=True)
class NormalForm:
    """A statement's tokens. Statements with the same `canonical` tokens are copies of one another.

    Attributes:
        plain: variables under their own names. canonical: variables by order of appearance. words: one name for all.
    """

    plain: tuple[str, ...]
    canonical: tuple[str, ...]
    words: tuple[str, ...]

    @property
    def key(self) -> str:
        """The canonical tokens as one text: equal exactly for copies."""
        return " ".join(self.canonical)


def normal_form(statement: str) -> NormalForm:
    """The normal form of a statement; never without tokens for a text that isn't blank."""
    plain = _Reader(statement[:MAX_CHARS]).read()
    if not plain:
        plain = [char for char in statement[:MAX_CHARS] if not char.isspace()]
    if len(statement) > MAX_CHARS:
        plain.append(hashlib.sha256(statement[MAX_CHARS:].encode("utf-8", "surrogatepass")).hexdigest())
    canonical, words = renamed(plain)
    return NormalForm(tuple(plain), canonical, words)


@dataclass(slots=True)
class _Frame:
    """An open group, or a command that waits for its arguments."""

    command: str = ""
    wanted: int = 0  # arguments; 0: a group
    formula: bool = False
    tokens: list[str] = field(default_factory=list)
    arguments: list[list[str]] = field(default_factory=list)


class _Reader:
    """One pass over the text with a stack of open groups and commands."""

    def __init__(self, text: str) -> None:
        text = _RAISED.sub(lambda found: "^{" + found[0].translate(tables.RAISED) + "}", text)
        text = _NOT.sub(r"\\ne ", text)
        text = _ROOT.sub(r"\\root{\1}", text)
        text = _LOWERED.sub(lambda found: "_{" + found[0].translate(tables.LOWERED) + "}", text)
        text = unicodedata.normalize("NFKC", text.translate(tables.CHARACTERS))
        self.text = text.replace(VARIABLE, " ").replace(_PROSE, " ")
        self.group = _Frame()  # the innermost open group
        self.stack = [self.group]
        self.ignored = 0  # groups deeper than MAX_DEPTH
        self.blank_line = -1

    def read(self) -> list[str]:
        for found in _TOKEN.finditer(self.text):
            kind, value = found.lastgroup, found[found.lastgroup or 0]
            if kind == "word":
                top = self.stack[-1]
                if top.wanted or top.formula:
                    self._word(value)
                else:  # most of what there is
                    top.tokens += _prose_word(value)
            elif kind == "number":
                self._number(value.replace("{,}", ""))
            elif kind == "cjk":
                self._give([value])
            elif kind == "command":
                self._command(value)
            elif kind == "environment":
                self._environment(value, begins=found[0].startswith("\\begin"))
            elif kind == "escaped":
                self._escaped(value)
            else:
                self._operator(value, found)
        while len(self.stack) > 1:
            self._close()
        return _tidy(self.stack[0].tokens)

    def _give(self, tokens: list[str]) -> None:
        """Hands an atom (a token, a group, a command with its arguments) to what is open."""
        while True:
            top = self.stack[-1]
            if not top.wanted:
                raised = len(tokens) > 1 and top.tokens and top.tokens[-1] in ("^", "_")
                top.tokens += _grouped(tokens) if raised else tokens
                return
            top.arguments.append(tokens)
            if len(top.arguments) < top.wanted:
                return
            self.stack.pop()
            tokens = _applied(top.command, top.arguments)

    def _close(self) -> None:
        """Ends the innermost group, or a command that has too few arguments."""
        top = self.stack.pop()
        if top.wanted:
            self._give(_applied(top.command, top.arguments))
            return
        tokens = _chosen(top.tokens)
        self.group = next(frame for frame in reversed(self.stack) if not frame.wanted)
        self._give(tokens)

    def _number(self, value: str) -> None:
        if self.stack[-1].wanted and value.isdecimal():  # \frac12: an argument without braces is one digit
            for digit in value:
                self._give([digit])
        elif self.group.formula:  # f(2,100) has two arguments
            for part in value.split(","):
                self._give([part])
        else:
            self._give([value.replace(",", "")])

    def _word(self, value: str) -> None:
        if not self.group.formula:
            for token in _prose_word(value):
                self._give([token])
        elif value in tables.NAMES:
            self._give([value])
        else:
            for char in value.replace("'", ""):
                self._give([VARIABLE + char])

    def _command(self, name: str) -> None:
        if name in tables.LOOKS:
            return
        if name in tables.GREEK:
            self._give([VARIABLE + tables.GREEK_SAME.get(name, name)])
        elif name in tables.TWO_ARGUMENTS:
            self._open(tables.TWO_ARGUMENTS[name], 2)
        elif name in tables.PROSE:
            self._open("text", 1)
        elif name in tables.ONE_ARGUMENT:
            self._open(name, 1)
        elif name in ("over", "choose", "atop"):
            self.group.tokens.append("\\" + name)
        elif symbol := tables.SYMBOLS.get(name, name):
            self._give([symbol])

    def _environment(self, name: str, *, begins: bool) -> None:
        if name in tables.MATH_ENVIRONMENTS:
            self.group.formula = begins
        elif begins and name not in ("document", "itemize", "enumerate", "center", "array"):
            self._give([name])

    def _escaped(self, char: str) -> None:
        if char in "([":
            self.group.formula = True
        elif char in ")]":
            self.group.formula = False
        elif char in "{}|":
            self._give(["||" if char == "|" else char])
        elif char == "%":
            self._give(["percent"])

    def _operator(self, value: str, found: re.Match[str]) -> None:
        formula = self.group.formula
        if value in ("$", "$$"):
            self._dollar(value, found.end())
        elif value == "{":
            if len(self.stack) >= MAX_DEPTH:
                self.ignored += 1
            else:
                prose = self.stack[-1].command == "text"
                self.group = _Frame(formula=formula and not prose)
                self.stack.append(self.group)
        elif value == "}":
            if self.ignored:
                self.ignored -= 1
            elif len(self.stack) > 1:
                while self.stack[-1].wanted:
                    self._close()
                if len(self.stack) > 1:
                    self._close()
        elif value == "%":
            self._give(["percent"])
        elif value == "**":  # in prose, bold type
            if formula:
                self._give(["^"])
        elif formula:
            if value != ",":
                self._give([value])
        elif value == "-" and _SIGN.match(self.text, max(found.start() - 1, 0)):
            self._give(["-"])
        elif value in "-*,":
            self._give([_PROSE + value])
        elif value not in "'!_[]" or self._ends_operand(found.start()):
            self._give([value])

    def _ends_operand(self, at: int) -> bool:
        """Whether a variable, a number or a closing parenthesis ends right before `at`: else it is punctuation."""
        tokens = self.group.tokens
        if not at or self.text[at - 1].isspace() or not tokens:
            return False
        return _is_operand(tokens[-1]) or tokens[-1] == ")" or tokens[-1] in _PROSE_LETTERS

    def _dollar(self, mark: str, end: int) -> None:
        group = self.group
        if group.formula:
            group.formula = False
            return
        if self.blank_line < end and self.blank_line != len(self.text):
            at = self.text.find("\n\n", end)
            self.blank_line = at if at >= 0 else len(self.text)
        # A dollar that no other closes in its paragraph is money.
        group.formula = self.text.find("$", end, self.blank_line) >= 0 or mark == "$$"

    def _open(self, command: str, wanted: int) -> None:
        if len(self.stack) >= MAX_DEPTH:
            self._give([command])
        else:
            self.stack.append(_Frame(command, wanted))


@lru_cache(maxsize=1 << 15)
def _prose_word(word: str) -> tuple[str, ...]:
    if _PROSE + word in _PROSE_LETTERS:
        return (_PROSE + word,)
    if word in tables.NAMES:
        return (word,)
    if len(word) == 1 or (2 <= len(word) <= 6 and word.isupper() and word.isascii()):
        return tuple(VARIABLE + char for char in word)
    return (word.replace("'", "").casefold(),)


def _applied(command: str, arguments: list[list[str]]) -> list[str]:
    """The tokens of a command with its arguments (too few at the end of a text or group)."""
    if command in tables.SKIPPED:
        return []
    if command == "text":
        return arguments[0] if arguments else []
    if command == "frac":
        upper, lower = (arguments[0] if arguments else []), (arguments[1] if len(arguments) > 1 else [])
        return [*(upper if _is_monomial(upper) else _grouped(upper)), "/"] + (
            lower if _is_power(lower) else _grouped(lower)
        )
    if command in ("pmod", "pod"):
        return ["(", "mod", *(arguments[0] if arguments else []), ")"]
    if command in tables.FONTS or command in tables.SCRIPTS:
        return _styled(command, arguments[0] if arguments else [])
    return [command, *(token for argument in arguments for token in _grouped(argument))]


def _styled(font: str, tokens: list[str]) -> list[str]:
    letters = [token[1:] for token in tokens]
    if not tokens or any(token[0] != VARIABLE for token in tokens):
        return tokens
    if font in tables.SCRIPTS:
        return [f"{VARIABLE}{font} {letter}" for letter in letters]
    if font in ("mathbb", "Bbb", "mathbf") and len(letters) == 1 and letters[0] in tables.BLACKBOARD:
        return [f"mathbb {letters[0]}"]
    if font in ("mathrm", "operatorname", "rm") and len(letters) > 1:
        return ["".join(letters).casefold()]
    return tokens


def _chosen(tokens: list[str]) -> list[str]:
    r"""`{n \choose k}` and `{a \over b}` as `\binom{n}{k}` and `\frac{a}{b}`."""
    for mark, command in (("\\choose", "binom"), ("\\over", "frac"), ("\\atop", "atop")):
        if mark in tokens:
            at = tokens.index(mark)
            return _applied(command, [tokens[:at], tokens[at + 1 :]])
    return tokens


def _grouped(tokens: list[str]) -> list[str]:
    """In parentheses, where there is more than one token and there are none yet."""
    if len(tokens) <= 1 or _in_parentheses(tokens):
        return tokens
    return ["(", *tokens, ")"]


def _in_parentheses(tokens: list[str]) -> bool:
    if tokens[0] != "(" or tokens[-1] != ")":
        return False
    depth = 0
    for token in tokens[:-1]:
        depth += (token == "(") - (token == ")")
        if depth == 0:
            return False
    return True


def _tidy(tokens: list[str]) -> list[str]:
    """What depends on the neighbours: hyphens, signs of multiplication, letters that may be words, single tokens."""
    out: list[str] = []
    left = ""
    for index, token in enumerate(tokens):
        if token[0] in _LOOKED_AT:
            right = tokens[index + 1] if index + 1 < len(tokens) else ""
            _add(out, token, right)
        elif left == "non" and token.isalpha():
            out[-1] = left + token  # nonnegative, non-negative, non negative
        else:
            out.append(token)
        left = out[-1] if out else ""
    return out


def _add(out: list[str], token: str, right: str) -> None:
    """Appends what `token` is between the last of `out` and `right`."""
    left = out[-1] if out else ""
    if token in ("*", _STAR):
        if _is_number(left) and _is_number(right):
            out.append("*")
    elif token == _HYPHEN:
        if (_is_operand(left) or left == ")" or left in _OPERATORS) and (_is_operand(right) or right == "("):
            out.append("-")
    elif token[0] == _PROSE:
        if token != _COMMA:
            letter = right in _AFTER_LETTER or right in _OPERATORS or left in _OPERATORS or right in (_COMMA, ")")
            out.append(VARIABLE + token[1:] if letter else token[1:].casefold())
    elif token == ")" and len(out) >= 3 and out[-2] == "(" and out[-3] in _TIGHT:
        del out[-2]  # x^(2), 1/(2): the parentheses say nothing
    elif token == ")" and len(out) >= 5 and out[-5] == "/" and out[-4] == "(" and _is_power(out[-3:]):
        del out[-4]  # 1/(x^2)
    else:
        out.append(token[1:] if token[0] == "\\" and len(token) > 1 else token)


def _is_number(token: str) -> bool:
    return bool(token) and token[0].isdigit()


def _is_operand(token: str) -> bool:
    return bool(token) and (token[0] == VARIABLE or token[0].isdigit())


def _is_monomial(tokens: list[str]) -> bool:
    """Whether a fraction needs no parentheses around this numerator."""
    return all(_is_operand(token) or token in ("^", "_") for token in tokens)


def _is_power(tokens: list[str]) -> bool:
    """Whether a fraction needs no parentheses around this denominator: `x^2`, `x_1`."""
    return len(tokens) == 3 and tokens[1] in ("^", "_") and _is_operand(tokens[0]) and _is_operand(tokens[2])
