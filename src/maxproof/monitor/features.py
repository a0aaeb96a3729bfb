"""What a rollout's text says of itself, as columns; polars expressions only.

`add_features` adds to a canonical frame:

    visible_chars, words      of the text; a Chinese character is a word, so is a run of other letters and digits
    thinking_chars, thinking_words, self_correction   of the thinking; null where that is unknown
    hand_waving               phrases of the list in the text
    template.NAME             whether that mark of structure is in the text; `templates`: how many kinds are
    opener                    the class of the text's beginning
"""

from __future__ import annotations

import polars as pl

from maxproof.monitor.phrases import Phrases, pattern, template_pattern

TEMPLATE = "template."
OPENER_WORDS = 3
_OPENER_CHARS = 60
_HEAD_CHARS = 400
_WORD = r"\p{Han}|[\w--\p{Han}]+"
_MATHS = r"(?s)\$\$.*?(?:\$\$|\z)|\$[^$]*(?:\$|\z)|\\\(.*?(?:\\\)|\z)|\\\[.*?(?:\\\]|\z)|\\[a-z]+(?:\{[^{}]*\})*"
_LETTER = r"(^|[^\p{L}<'’])[b-hj-z]($|[^\p{L}>'’])"
_OPENER_TOKEN = r"<m>|\p{Han}{1,2}|[\p{L}--\p{Han}]+(?:['’][\p{L}--\p{Han}]+)?"


def add_features(frame: pl.DataFrame, phrases: Phrases) -> pl.DataFrame:
    """`frame` (canonical) with the columns above, which `Stats.add` sums up."""
    text, thinking = pl.col("text"), pl.col("thinking")
    any_mark = "|".join(f"(?:{expression})" for _, expression in phrases.templates)
    counted = frame.with_columns(
        text.str.len_chars().alias("visible_chars"),
        text.str.count_matches(_WORD).alias("words"),
        thinking.str.len_chars().alias("thinking_chars"),
        thinking.str.count_matches(_WORD).alias("thinking_words"),
        thinking.str.to_lowercase().str.count_matches(pattern(phrases.self_correction)).alias("self_correction"),
        text.str.to_lowercase().str.count_matches(pattern(phrases.hand_waving)).alias("hand_waving"),
        opener(text).alias("opener"),
        # most texts have no mark at all, which one search tells
        pl.when(text.str.contains(template_pattern(any_mark))).then(text).alias("marked"),
    )
    marks = {
        TEMPLATE + name: pl.col("marked").str.contains(template_pattern(expression)).fill_null(False)
        for name, expression in phrases.templates
    }
    kinds = pl.sum_horizontal(pl.col(name).cast(pl.UInt32) for name in marks)
    return counted.with_columns(**marks).with_columns(templates=kinds).drop("marked")


def opener(text: pl.Expr) -> pl.Expr:
    r"""The class of a text's beginning: its first three words in lower case.

    Only the first 400 characters are looked at. Whatever is maths is `<m>`, once for a run of it: `$...$`, `\(...\)`,
    commands, numbers, single letters but `a` and `i`. Marks and punctuation count for nothing; two Chinese characters
    are a word. At most 60 characters; "" if there is no word.
    """
    head = text.str.head(_HEAD_CHARS).str.to_lowercase().str.replace_all("[<>]", " ")
    head = head.str.replace_all(_MATHS, " <m> ").str.replace_all(r"\d+", " <m> ")
    head = head.str.replace_all(_LETTER, "${1}<m>$2").str.replace_all(_LETTER, "${1}<m>$2")  # two may share a neighbour
    head = head.str.replace_all(r"<m>(?:[^\p{L}<]*<m>)+", "<m>")
    return head.str.extract_all(_OPENER_TOKEN).list.head(OPENER_WORDS).list.join(" ").str.head(_OPENER_CHARS)
