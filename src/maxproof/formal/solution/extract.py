"""The Dafny text in what a model or a person wrote: all of it, or what stands in a Markdown fence.

Everything else is blanked, so that lines and columns stay those of the submission.
"""

from __future__ import annotations

import re
from typing import Final

_FENCE: Final = re.compile(r"(?P<indent>[ \t]{0,3})(?P<mark>`{3,}|~{3,})(?P<info>[^`\n]*)")


def dafny_text(text: str, lemma: str) -> str:
    """`text` with all but the Dafny in it blanked.

    Without a fence that is `text` itself. Of several fenced blocks, the last one that declares `lemma` is taken; if
    none does, the last one. A fence that nothing closes reaches to the end.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    blocks: list[tuple[int, int]] = []
    start = -1
    mark = ""
    for number, line in enumerate(lines):
        fence = _FENCE.fullmatch(line.rstrip())
        if fence is None:
            continue
        if start < 0:
            start, mark = number + 1, fence["mark"]
        elif fence["mark"].startswith(mark) and not fence["info"].strip():
            blocks.append((start, number))
            start = -1
    if start >= 0:
        blocks.append((start, len(lines)))
    if not blocks:
        return "\n".join(lines)
    heading = re.compile(rf"\blemma\b[^\n]*\b{re.escape(lemma)}\b")
    declaring = [block for block in blocks if heading.search("\n".join(lines[slice(*block)]))]
    first, last = (declaring or blocks)[-1]
    return "\n".join(line if first <= number < last else "" for number, line in enumerate(lines))
