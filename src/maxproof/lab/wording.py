"""The words that dress a proof without proving anything. `language.py` cuts them off, `style.py` puts them on.

Every entry is a text in the controlled language. `CONNECTIVES` and `HAND_WAVES` go before a claim, the others are whole
sentences; none holds a digit or a symbol, so none can be mistaken for a claim.
"""

from __future__ import annotations

OPENERS: tuple[str, ...] = (
    "",
    "To solve this problem, we start.",
    "To solve this, we compute.",
    "To answer this, we compute.",
    "We are given this problem.",
    "We are given the following.",
    "We are asked to solve this.",
)
"""By number; 0 is none."""

CONNECTIVES: tuple[str, ...] = ("So", "Then", "Thus", "Hence", "Now", "Next,")

HAND_WAVES: tuple[str, ...] = (
    "After simplification,",
    "Clearly,",
    "Obviously,",
    "It can be shown that",
    "It is easy to see that",
)

FILLERS: tuple[str, ...] = ("This is the key step.", "We go on in the same way.", "The rest is routine.")

PREFIXES: tuple[str, ...] = (
    *CONNECTIVES,
    *HAND_WAVES,
    "Therefore",
    "Next",
    "First",
    "Finally",
    "Also",
    "And",
    "But",
    "Again",
    "Here",
    "We get",
    "This gives",
    "We have",
    "We see that",
    "We obtain",
    "We find that",
    "We find",
    "We know that",
    "We are given that",
    "We are given",
    "Note that",
    "Recall that",
    "This means that",
    "This shows that",
    "This implies that",
    "This implies",
    "It follows that",
    "That is",
    "In other words",
    "As a result",
    "Consequently",
    "After some algebra",
    "By a short calculation",
    "Evidently",
    "Of course",
    "As is well known",
    "One checks that",
)
"""Everything that is cut off before a claim, case and a following comma or colon aside."""

ACTIONS: tuple[str, ...] = (
    "add",
    "apply",
    "collect",
    "combine",
    "complete",
    "compute",
    "consider",
    "divide",
    "expand",
    "factor",
    "move",
    "multiply",
    "reduce",
    "simplify",
    "solve",
    "square",
    "substitute",
    "subtract",
    "use",
)
"""A sentence that begins with one of these (after "we" or not) and relates nothing says what is done: no claim."""

DENIALS: tuple[str, ...] = (
    "contradiction",
    "impossible",
    "no solution",
    "no solutions",
    "not",
    "false",
    "cannot",
    "never",
)
"""Words of a sentence that denies something: it is a claim, even without a formula."""
