"""The published protocol as settings (miniF2F-Dafny, arXiv 2512.10187, section 4).

N = 4 attempts at a problem, each with E = 3 corrections in one conversation, sampled at temperature 0.5 with at most
8,192 tokens an answer. Unlike there, the relevant lemmas of the library are shown in place of all of it.
"""

from __future__ import annotations

from typing import Final

from maxproof.formal.settings import FormalSettings
from maxproof.models.settings import RoleSettings
from maxproof.search.settings import RunSettings

ATTEMPTS: Final = 4
CORRECTIONS: Final = 3
TEMPERATURE: Final = 0.5
MAX_TOKENS: Final = 8192


def paper_protocol(formal: FormalSettings, settings: RunSettings) -> tuple[FormalSettings, RunSettings]:
    """Both settings with what the protocol fixes; endpoints, models, checker and limits stay as they are."""
    guided = formal.guided.model_copy(update={"corrections": CORRECTIONS, "mode": "conversation"})
    sampled = {
        role: settings.roles.get(role, RoleSettings()).model_copy(
            update={"temperature": TEMPERATURE, "max_tokens": MAX_TOKENS}
        )
        for role in ("generator", "refiner")
    }
    return (
        formal.model_copy(update={"repeats": ATTEMPTS, "guided": guided}),
        settings.model_copy(update={"roles": {**settings.roles, **sampled}}),
    )
