"""How a proof is dressed, by plain rules: what layer 2 would take off it, and how it opens."""

from __future__ import annotations

from maxproof.verifier.normalise import normalise_text

STYLES = ("opening", "step_header", "heading", "bold", "closing_section", "rule_line", "quote_mark", "emoji")
"""The rules of layer 2 that take packaging off (all but white space); see `maxproof.verifier.normalise`."""


def styles_of(text: str) -> frozenset[str]:
    """The names of the rules in STYLES that would take something off `text`."""
    return frozenset(normalise_text(text)[1]) & frozenset(STYLES)
