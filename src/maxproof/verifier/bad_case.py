"""Layer 1: texts that no judge needs to read (MaxProof section 2.2).

Four families of rules, each rule a plain function, limits in `BadCaseSettings`. A hit means zero points and no judge
call, so every rule says what it saw. A rule must never fire on a real proof: where a proof could look alike (a long
case by case check repeats its template), the limit is set beyond what proofs do.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import zstandard

from maxproof.models.reply import split_thinking
from maxproof.models.types import AnswerState
from maxproof.verifier.content_guard import mathematics
from maxproof.verifier.settings import BadCaseSettings
from maxproof.verifier.types import BadCaseHit, Draft

_WORD = re.compile(r"\w+|[^\w\s]")
_NUMBER = re.compile(r"\d+")
_TAIL_CHARS = 4096
_ZSTD = zstandard.ZstdCompressor(level=1)
# Phrases are counted only where zstd shrinks the text, or its end, this much: counting takes 50 times longer. Real
# proofs shrink 3 times, four drafts of one proof in a row up to 8, loops that cover most of a text 6 and more.
_WHOLE_GATE, _TAIL_GATE = 6.0, 4.0


def check(draft: Draft, settings: BadCaseSettings) -> tuple[BadCaseHit, ...]:
    """All hits, in the order truncated, too_long, unclosed_think_tag, refusal, empty_text, refusal_text, then loops.

    `draft` is as `without_thinking` returns it. Pure; about 0.3 ms for 40 KB without a loop. A text over the length
    budget is not examined further.
    """
    hits = [hit for hit in (truncated(draft), too_long(draft, settings)) if hit is not None]
    if len(draft.text) > settings.max_chars:
        return tuple(hits)
    for hit in (
        unclosed_think_tag(draft),
        refusal(draft),
        empty_text(draft, settings),
        refusal_text(draft, settings),
    ):
        if hit is not None:
            hits.append(hit)
    data = draft.text.encode("utf-8", "surrogatepass")
    ratio = _compression(data)
    loop = compression_loop(data, ratio, settings)
    if loop is None and (ratio >= _WHOLE_GATE or _compression(data[-_TAIL_CHARS:]) >= _TAIL_GATE):
        loop = ngram_loop(draft, settings)
    return (*hits, loop) if loop is not None else tuple(hits)


# --- over_length ------------------------------------------------------------------------------------------------------


def truncated(draft: Draft) -> BadCaseHit | None:
    """The token limit cut the answer, be it in the proof or still in the thinking."""
    if draft.state is not AnswerState.TRUNCATED:
        return None
    if draft.text.strip():
        seen = f"the token limit cut the answer after {len(draft.text)} characters of the proof"
    else:
        seen = f"thinking used up the token limit ({len(draft.reasoning)} characters of it) before the proof began"
    return BadCaseHit("over_length", "truncated", f"{seen}; raise the role's max_tokens")


def too_long(draft: Draft, settings: BadCaseSettings) -> BadCaseHit | None:
    """More than `max_chars` characters."""
    if len(draft.text) <= settings.max_chars:
        return None
    return BadCaseHit("over_length", "too_long", f"{len(draft.text)} characters, the limit is {settings.max_chars}")


# --- unclosed_thinking ------------------------------------------------------------------------------------------------


def unclosed_think_tag(draft: Draft) -> BadCaseHit | None:
    """Thinking was opened and never closed, so nobody can say where the proof begins."""
    if draft.unclosed_thinking:
        return BadCaseHit("unclosed_thinking", "unclosed_think_tag", "a think tag was opened and never closed")
    return None


def without_thinking(draft: Draft) -> Draft:
    """The draft with think blocks in its text split off: a proof read from a file may still have them."""
    if "<t" not in draft.text and "<T" not in draft.text:  # a search for the tag takes 10 times longer
        return draft
    text, thinking, unclosed = split_thinking(draft.text, lone_close=False)
    if not thinking and not unclosed:
        return draft
    reasoning = "\n".join(part for part in (draft.reasoning, thinking) if part)
    return replace(draft, text=text, reasoning=reasoning, unclosed_thinking=draft.unclosed_thinking or unclosed)


# --- empty ------------------------------------------------------------------------------------------------------------


def refusal(draft: Draft) -> BadCaseHit | None:
    """The model, or a filter before it, declined."""
    if draft.state is not AnswerState.REFUSED:
        return None
    return BadCaseHit("empty", "refusal", "the model declined to answer")


def empty_text(draft: Draft, settings: BadCaseSettings) -> BadCaseHit | None:
    """Fewer than `min_chars` letters and digits. A truncated, unclosed or refused answer has its own rule."""
    if draft.state in (AnswerState.TRUNCATED, AnswerState.REFUSED) or draft.unclosed_thinking:
        return None
    seen = 0
    for character in draft.text:
        seen += character.isalnum()
        if seen >= settings.min_chars:
            return None
    return BadCaseHit("empty", "empty_text", f"{seen} letters and digits, a proof has at least {settings.min_chars}")


# How a refusal begins: an apology with an inability, or an inability to do what assistants do.
_CANNOT = r"(?:can['’]?t|cannot|can[ ]not|won['’]?t|will[ ]not|unable|not[ ]able)"
_REFUSAL = re.compile(
    rf"""[\s"“*>]{{0,8}}(?:
    (?:(?:i['’]m|i[ ]am)[ ](?:(?:very|so|really|truly)[ ])?(?:sorry|afraid)|sorry|i[ ]apologi[sz]e|my[ ]apologies
      |unfortunately|as[ ]an?[ ](?:ai|language[ ]model))\b[^\n]{{0,100}}?\b{_CANNOT}\b
    |i(?:[ ]am|['’]m)?[ ]{_CANNOT}[ ](?:to[ ])?(?:help|assist|comply|provide|fulfil|answer|discuss|engage|continue)
    |(?:很|非常|十分)?(?:抱歉|对不起|遗憾)[^\n]{{0,40}}?(?:无法|不能|不可以|没有办法|没办法)
    |(?:作为[^\n]{{0,20}}?[，,])?我(?:无法|不能)(?:提供|回答|帮助|帮您|帮你|协助|满足|完成|讨论|继续)
    )""",
    re.IGNORECASE | re.VERBOSE,
)


def refusal_text(draft: Draft, settings: BadCaseSettings) -> BadCaseHit | None:
    """A text of at most `max_refusal_chars` characters that begins like a refusal and holds no mathematics."""
    text = draft.text
    if draft.state is AnswerState.REFUSED or len(text) > settings.max_refusal_chars or not _REFUSAL.match(text):
        return None
    if any(item != "AI" for item in mathematics(text)):
        return None
    seen = " ".join(text.split())
    return BadCaseHit("empty", "refusal_text", f"the text declines and holds no mathematics: '{seen[:80]}'")


# --- loop -------------------------------------------------------------------------------------------------------------


def compression_loop(data: bytes, ratio: float, settings: BadCaseSettings) -> BadCaseHit | None:
    """zstd (level 1) shrinks the text, `data` in UTF-8, by a `ratio` over `max_compression`."""
    if len(data) < _TAIL_CHARS or ratio <= settings.max_compression:  # its overhead blurs the ratio of short texts
        return None
    return BadCaseHit("loop", "compression_loop", f"the text shrinks {ratio:.0f} times, real proofs about 3 times")


def ngram_loop(draft: Draft, settings: BadCaseSettings) -> BadCaseHit | None:
    """Most of the text, or most of its end, consists of phrases that are said again and again.

    A phrase is `loop_phrase_words` words in a row, in lower case. It counts as repeated when it occurs
    `loop_verbatim_repeats` times, or, with all numbers taken as equal, `loop_template_repeats` times. The rule fires
    when repeated phrases cover more than `loop_share` of the words.
    """
    words = _WORD.findall(draft.text.lower())
    for part in (words, words[-settings.loop_tail_words :]):
        for source, repeats in (
            (part, settings.loop_verbatim_repeats),
            ([_NUMBER.sub("0", word) for word in part], settings.loop_template_repeats),
        ):
            if len(source) < max(settings.loop_min_words, settings.loop_phrase_words):
                continue
            share, phrase, times = _repetition(source, settings.loop_phrase_words, repeats)
            if share > settings.loop_share:
                where = "of the text" if part is words else f"of the last {len(part)} words"
                seen = f"{share:.0%} {where} are repeated phrases, one of them {times} times: '{phrase[:80]}'"
                return BadCaseHit("loop", "ngram_loop", seen)
    return None


def _repetition(words: list[str], length: int, repeats: int) -> tuple[float, str, int]:
    """The share of words inside phrases that occur at least `repeats` times, the commonest phrase, its count."""
    numbers: dict[str, str] = {}
    coded = "".join(numbers.setdefault(word, chr(0x10000 + len(numbers))) for word in words)  # one character a word
    phrases = [coded[start : start + length] for start in range(len(words) - length + 1)]
    counts = Counter(phrases)
    covered = end = 0
    for start, phrase in enumerate(phrases):
        if counts[phrase] >= repeats:
            covered += start + length - max(start, end)
            end = start + length
    commonest, times = counts.most_common(1)[0]
    start = coded.index(commonest)
    return covered / len(words), " ".join(words[start : start + length]), times


def _compression(data: bytes) -> float:
    return len(data) / max(1, len(_ZSTD.compress(data)))
