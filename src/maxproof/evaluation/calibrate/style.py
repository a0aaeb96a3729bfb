"""How a proof is dressed, by plain rules: what layer 2 would take off it, and how it opens."""

from __future__ import annotations

from maxproof.verifier.normalise import stripped

STYLES = ("opening", "step_header", "heading", "bold", "closing_section", "rule_line", "quote_mark", "emoji")
"""The rules of layer 2 that take packaging off (all but white space); see `maxproof.verifier.normalise`."""


def styles_of(text: str) -> frozenset[str]:
    """The names of the rules in STYLES that find something to take off `text`, whatever the content guard says."""
    return frozenset(stripped(text)[1]) & frozenset(STYLES)
