"""The tokenizer: words, numbers and symbols of the proof language, one token each, on the `tokenizers` library.

Spaces are not tokens. Canonical text has one space between tokens, but none after `(` `[` `^` `/` or a newline, and
none before `)` `]` `^` `/` `.` `,` `:` `;` `?` `!` or a newline; decoding puts spaces back by this rule, so that
canonical text comes back exactly. A space where the rule has none becomes the token `▁` (`1 : x`, `3 / 4`), so these
come back too; a missing space (`2x`) does not: it reads as `2 x`.

Integers from -99 to 199 are one token, a glued minus sign included (`x - 3` is a subtraction, `-3` a number). Longer
numbers are split, their further digits being tokens of their own (`1234` is `123`, `@@4`): they come back exactly, but
cost more. A word that is not in the vocabulary is `<unk>`.

Names of special tokens in ordinary text are ordinary text: only `encode_prompt`, for prompts that the project itself
builds, gives them their meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import tokenizers
from tokenizers import AddedToken, Regex, decoders, models, normalizers, pre_tokenizers

from maxproof.problems import InputError

SPECIAL = ("<pad>", "<unk>", "<end>", "<sep>", "<prove>", "<verify>", "<patch>", "<rewrite>", "<summarise>", "<rank>")
NEWLINE = "<nl>"
"""Another way to write a newline in a prompt."""
_WRITTEN_NEWLINE = re.compile(f" ?{NEWLINE} ?")
SMALLEST, LARGEST = -99, 199

_SPACE = "▁"
_GLUED_BEFORE = r"[)\]^/.,:;?!\n]"
_GLUED_AFTER = r"[(\[^/\n]"
_CONTINUED = "@@"
_SYMBOLS = (
    "\n",
    _SPACE,
    *(f"{_SPACE}{symbol}" for symbol in (":", ";", "/", ".", "...")),
    *("+", "-", "*", "/", "^", "=", "<", ">", "<=", ">=", "!=", "(", ")", "[", "]", "-(", "|"),
    *(".", ",", ":", ";", "?", "!", "...", "#", "##", "###", "**", "%", "'", '"'),
)
_LETTERS = tuple("abcdefghijklmnopqrstuvwxyz")
_NEGATED = tuple(f"-{letter}" for letter in "abkmnxy")
_WORD = r"[A-Za-z_]+(?:['-][A-Za-z_]+)*"
_PIECE = "|".join(
    (
        r"\n",
        rf"{_SPACE}(?:\.\.\.|[:;/.])",
        _SPACE,
        r"(?<![\w)\]])-(?:\d+|[a-z](?![a-z])|\()",
        r"\d+",
        _WORD,
        r"[<>!]=",
        r"\.\.\.",
        r"#+",
        r"\*\*",
        r"[^\s]",
    )
)


class Tokenizer:
    """Text to token ids and back.

    Attributes:
        pad, unknown, end, separator: ids of the special tokens.
    """

    def __init__(self, backend: tokenizers.Tokenizer) -> None:
        """`backend` as `build_tokenizer` makes it. Raises InputError if it has other special tokens."""
        self._marked = tokenizers.Tokenizer.from_str(backend.to_str())
        self._plain = tokenizers.Tokenizer.from_str(backend.to_str())
        self._plain.encode_special_tokens = True
        if [backend.id_to_token(index) for index in range(len(SPECIAL))] != list(SPECIAL):
            raise InputError(f"not a tokenizer of maxproof; expected its first tokens to be {' '.join(SPECIAL)}")
        self.pad, self.unknown, self.end, self.separator = range(4)

    def __len__(self) -> int:
        """The size of the vocabulary."""
        return int(self._plain.get_vocab_size())

    def encode(self, text: str) -> list[int]:
        """Ids of ordinary text: nothing in it becomes a special token."""
        return list(self._plain.encode(text, add_special_tokens=False).ids)

    def encode_prompt(self, text: str) -> list[int]:
        """Ids of a text in which `<prove>`, `<sep>`, `<end>`, `<nl>` and so on stand for the special tokens."""
        return list(self._marked.encode(_WRITTEN_NEWLINE.sub("\n", text), add_special_tokens=False).ids)

    def encode_batch(self, texts: Sequence[str], *, prompts: bool = False) -> list[list[int]]:
        """`encode`, or `encode_prompt`, of many texts; several times as fast."""
        if prompts:
            texts = [_WRITTEN_NEWLINE.sub("\n", text) for text in texts]
        backend = self._marked if prompts else self._plain
        return [list(encoding.ids) for encoding in backend.encode_batch_fast(list(texts), add_special_tokens=False)]

    def decode(self, ids: Sequence[int], *, special: bool = False) -> str:
        """The text of ids; special tokens are left out unless `special`, except `<unk>`, which says that something
        stood there. Ids outside the vocabulary are left out."""
        kept = ids if special else [index for index in ids if index >= len(SPECIAL) or index == self.unknown]
        return str(self._plain.decode(list(kept), skip_special_tokens=False))

    def token(self, index: int) -> str | None:
        """The token of an id as the vocabulary has it, None if there is none."""
        token: str | None = self._plain.id_to_token(index)
        return token

    def to_json(self) -> str:
        """The content of tokenizer.json."""
        return str(self._plain.to_str(pretty=True))

    @classmethod
    def from_file(cls, path: Path) -> Tokenizer:
        """Reads tokenizer.json. Raises InputError naming the file if it can't be read or isn't of this kind."""
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"can't be read: {error}", file=path) from error
        try:
            return cls(tokenizers.Tokenizer.from_str(text))
        except InputError as error:
            raise InputError(error.message, file=path) from error
        except Exception as error:  # the library raises bare Exception for every kind of bad content
            raise InputError(f"not a tokenizer.json: {error}", file=path) from error


def build_tokenizer(texts: Iterable[str], limit: int = 4000) -> Tokenizer:
    """A tokenizer of the fixed symbols and numbers and the words of `texts`: the same texts give the same tokenizer.

    Names of special tokens in the texts are skipped. `limit`: words at most, the most frequent (then alphabetic) kept.
    """
    counts: dict[str, int] = {}
    special = re.compile("|".join(map(re.escape, (*SPECIAL, NEWLINE))))
    word = re.compile(_WORD)
    for text in texts:
        for found in word.findall(special.sub(" ", text)):
            counts[found] = counts.get(found, 0) + 1
    numbers = [str(number) for number in range(SMALLEST, LARGEST + 1)]
    fixed = [*SPECIAL, *_SYMBOLS, *numbers, *(f"{_CONTINUED}{digit}" for digit in range(10)), *_LETTERS, *_NEGATED]
    kept = sorted(counts.keys() - set(fixed), key=lambda name: (-counts[name], name))[:limit]
    vocabulary = {name: index for index, name in enumerate(dict.fromkeys([*fixed, *sorted(kept)]))}

    backend = tokenizers.Tokenizer(
        models.WordPiece(
            vocabulary, unk_token="<unk>", max_input_chars_per_word=40, continuing_subword_prefix=_CONTINUED
        )
    )
    backend.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(Regex(r"\r\n?|\t"), " "),
            normalizers.Replace(Regex(f" (?={_GLUED_BEFORE})|(?<={_GLUED_AFTER}) | (?= )|(?<= ) "), _SPACE),
        ]
    )
    backend.pre_tokenizer = pre_tokenizers.Split(Regex(_PIECE), behavior="removed", invert=True)
    backend.decoder = decoders.Sequence(
        [
            decoders.WordPiece(prefix=_CONTINUED, cleanup=False),
            decoders.Fuse(),
            decoders.Replace(Regex(f" (?={_SPACE}|{_GLUED_BEFORE})|(?<={_SPACE}|{_GLUED_AFTER}|-\\() "), ""),
            decoders.Replace(_SPACE, " "),
        ]
    )
    backend.add_special_tokens([AddedToken(name, special=True, normalized=False) for name in SPECIAL])
    return Tokenizer(backend)
