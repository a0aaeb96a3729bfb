"""Who the oracle is and how far it can be trusted, in words that a report begins with."""

from __future__ import annotations

from maxproof.evaluation.dataset.folder import GIVEN, Asked
from maxproof.evaluation.oracle.settings import ROLE
from maxproof.models.bindings import resolve_bindings
from maxproof.models.call_key import public_url


def oracle_lines(asked: Asked) -> list[str]:
    """One line: the kind of oracle, its model, its samples."""
    settings = asked.oracle_settings
    if asked.oracle == "judge" and settings is not None:
        model = settings.model or asked.served.get(ROLE, "") or "its server's first model"
        times = "once" if settings.samples == 1 else f"{settings.samples} times"
        counts = "" if settings.samples == 1 else f"; the {settings.statistic} counts"
        return [f"The oracle is {model} with a prompt of its own, asked {times} for each proof{counts}"]
    return [
        {
            "lab": "The oracle is the lab's exact one",
            "grades": f"Graded by people; of several grades the {asked.statistic} counts",
        }.get(asked.oracle, "Nothing is graded: no oracle was asked")
    ]


def same_model(asked: Asked) -> str:
    """A warning if the oracle is a model that the search uses too; "" if it is another."""
    settings = asked.oracle_settings
    if asked.oracle != "judge" or settings is None or (asked.method == GIVEN and not asked.verify):
        return ""
    bindings = resolve_bindings(
        asked.settings.endpoints, asked.settings.roles, asked.settings.verifier.judges
    ).with_models(asked.served)
    model = settings.model or asked.served.get(ROLE, "")
    for binding in bindings.values():
        same_server = public_url(binding.settings.base_url) == public_url(settings.base_url)
        same_name = binding.model.casefold() == model.casefold()
        if same_name and (model or same_server):
            return (
                "THE ORACLE IS NOT INDEPENDENT: it is the model of the search "
                f"({binding.name}); it is likely to share the search's errors, and its points flatter it"
            )
    return ""
