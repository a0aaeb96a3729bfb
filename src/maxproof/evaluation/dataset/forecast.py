"""What an evaluation may ask at most, told before its first call. Ceilings, as in `maxproof.search.forecast`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from maxproof.evaluation.dataset.folder import GIVEN, Asked
from maxproof.problems import Problem
from maxproof.search.forecast import forecast
from maxproof.verifier import judge_calls


@dataclass(frozen=True, slots=True)
class EvalForecast:
    """For so many runs: the method's and the oracle's calls at most, retries and re-asks not counted.

    `search_tokens` is the typical amount of the search (see `maxproof.search.forecast`). None: no estimate is made for
    the method.
    """

    runs: int
    search_calls: int | None
    search_tokens: int | None
    oracle_calls: int | None


def eval_forecast(
    asked: Asked, problems: Sequence[Problem], proofs: Mapping[str, Sequence[str]] | None = None
) -> EvalForecast:
    """Of each problem with each seed. `proofs`: the given ones. Raises InputError for a role without an endpoint."""
    calls: int | None = 0
    tokens: int | None = 0
    wanted: int | None = 0
    for problem in problems:
        one_calls, one_tokens, one_proofs = _one(asked, problem, len((proofs or {}).get(problem.id, ())))
        calls = None if calls is None or one_calls is None else calls + one_calls
        tokens = None if tokens is None or one_tokens is None else tokens + one_tokens
        graded = min(1, one_proofs or 1) if asked.grade == "picked" else one_proofs
        wanted = None if wanted is None or graded is None else wanted + graded
    samples = asked.oracle_settings.samples if asked.oracle == "judge" and asked.oracle_settings else 0
    seeds = len(asked.seeds)
    return EvalForecast(
        seeds * len(problems),
        None if calls is None else seeds * calls,
        None if tokens is None else seeds * tokens,
        None if wanted is None else seeds * samples * wanted,
    )


def _one(asked: Asked, problem: Problem, given: int) -> tuple[int | None, int | None, int | None]:
    """Calls, typical tokens and proofs of one run."""
    settings = asked.settings
    search = settings.search
    match asked.method:
        case "search":
            full = forecast(problem, settings).full
            return full.calls, full.tokens, full.candidates
        case "best_of":
            flat = settings.model_copy(update={"search": search.model_copy(update={"rounds": 0, "summaries": False})})
            full = forecast(problem, flat).full
            roles = [role for role in full.roles if role.role not in ("summariser", "refiner")]
            tokens = sum(role.prompt_tokens + role.completion_tokens for role in roles)
            return sum(role.calls for role in roles), tokens, full.candidates
        case "one_shot":
            return 1, None, 1
        case method if method == GIVEN:
            verify = search.verifications * judge_calls(settings.verifier, problem) if asked.verify else 0
            return given * verify, None, given
        case _:
            return None, None, None
