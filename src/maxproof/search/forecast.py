"""What a search will cost, told before its first call.

Calls follow from the settings (MaxProof section 5). With N candidates, R rounds, M parents, K verifications by J
judges, F finalists and V votes a full run has C = N + 2MR candidates and

    N generator, 2MR refiner, C summariser, JKC judge and V(F - 1) ranker calls

which is 32 + 80 + 112 + 448 + 9 = 681 by default with one judge; a stop at round 0 is the same with R = 0. These are
ceilings: lazy verification runs fewer. Without summaries the C summariser calls fall away. Retries and re-asks of
unreadable replies come on top.

Tokens are estimates; prompts are counted at `CHARS_PER_TOKEN`. *Typical*: an answer takes `TYPICAL_SHARE` of its token
limit, thinking included, a proof has `PROOF_TOKENS`, a critique `CRITIQUE_TOKENS`. *Worst*: every answer takes its
whole limit, and all of it is visible text that later prompts quote.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from maxproof.models.bindings import Binding, Bindings, resolve_bindings
from maxproof.models.prices import cost_of, prices_of
from maxproof.models.template import MAX_BLOCK_CHARS
from maxproof.models.types import Usage
from maxproof.problems import Problem
from maxproof.search.refinement import KINDS, SIBLINGS_CHARS
from maxproof.search.replies import MAX_SUMMARY_CHARS
from maxproof.search.settings import RunSettings
from maxproof.verifier import applicable_judges

CHARS_PER_TOKEN = 4
TEMPLATE_TOKENS = 700
TYPICAL_SHARE = 0.25
PROOF_TOKENS = 2_000
CRITIQUE_TOKENS = 500


@dataclass(frozen=True, slots=True)
class RoleForecast:
    """One role's calls, with typical and worst tokens and money; money is None without prices."""

    role: str
    calls: int
    prompt_tokens: int
    completion_tokens: int
    worst_prompt_tokens: int
    worst_completion_tokens: int
    cost: float | None
    worst_cost: float | None


@dataclass(frozen=True, slots=True)
class Scenario:
    """One way the search can go."""

    candidates: int
    verifications: int
    roles: tuple[RoleForecast, ...]

    @property
    def calls(self) -> int:
        return sum(role.calls for role in self.roles)

    @property
    def tokens(self) -> int:
        return sum(role.prompt_tokens + role.completion_tokens for role in self.roles)

    @property
    def worst_tokens(self) -> int:
        return sum(role.worst_prompt_tokens + role.worst_completion_tokens for role in self.roles)

    @property
    def cost(self) -> float | None:
        """None unless every role that is asked has prices."""
        return _total([role.cost for role in self.roles])

    @property
    def worst_cost(self) -> float | None:
        return _total([role.worst_cost for role in self.roles])


@dataclass(frozen=True, slots=True)
class Forecast:
    """`full`: all rounds. `first_round`: enough perfect candidates in round 0."""

    full: Scenario
    first_round: Scenario

    def to_json(self) -> dict[str, object]:
        return {
            name: {
                **asdict(scenario),
                "calls": scenario.calls,
                "tokens": scenario.tokens,
                "worst_tokens": scenario.worst_tokens,
                "cost": scenario.cost,
                "worst_cost": scenario.worst_cost,
            }
            for name, scenario in (("full", self.full), ("first_round", self.first_round))
        }


def forecast(problem: Problem, settings: RunSettings) -> Forecast:
    """Raises InputError when a role names an endpoint that is not configured."""
    bindings = resolve_bindings(settings.endpoints, settings.roles, settings.verifier.judges)
    return Forecast(
        full=_scenario(problem, settings, bindings, settings.search.rounds),
        first_round=_scenario(problem, settings, bindings, 0),
    )


@dataclass(frozen=True, slots=True)
class _Size:
    """Tokens of the texts that prompts quote, for one way of estimating."""

    share: float
    proof: int
    critique: int


def _scenario(problem: Problem, settings: RunSettings, bindings: Bindings, rounds: int) -> Scenario:
    search = settings.search
    offspring = 2 * search.parents * rounds
    candidates = search.candidates + offspring
    verifications = search.verifications * candidates
    votes = search.votes * (min(search.finalists, candidates) - 1)
    block = MAX_BLOCK_CHARS // CHARS_PER_TOKEN
    judges = applicable_judges(settings.verifier, problem)
    writers = [bindings[role].sampling.max_tokens for role in ("generator", "refiner")]
    longest_critique = max(bindings[f"judge:{judge.name}"].sampling.max_tokens for judge in judges)
    sizes = (
        _Size(TYPICAL_SHARE, min(PROOF_TOKENS, *writers), min(CRITIQUE_TOKENS, longest_critique)),
        _Size(1.0, min(block, max(writers)), min(block, longest_critique)),
    )
    statement = _tokens(problem.statement) + TEMPLATE_TOKENS
    graded = statement + _tokens(problem.rubric) + _tokens(problem.reference)
    siblings = min(SIBLINGS_CHARS, MAX_SUMMARY_CHARS * candidates) // CHARS_PER_TOKEN if search.summaries else 0
    patches = sum(kind == "patch" for kind in KINDS[search.offspring])

    def row(name: str, calls: int, prompts: Sequence[int]) -> RoleForecast:
        return _role(name, calls, prompts, bindings[name], sizes)

    roles = [
        row("generator", search.candidates, [statement for _ in sizes]),
        *(row(f"judge:{judge.name}", verifications, [graded + size.proof for size in sizes]) for judge in judges),
        row(
            "summariser",
            candidates if search.summaries else 0,
            [statement + size.proof + size.critique for size in sizes],
        ),
        # Of the two offspring of a parent only a PATCH quotes a critique.
        row("refiner", offspring, [statement + size.proof + patches * size.critique // 2 + siblings for size in sizes]),
        row("ranker", votes, [statement + 2 * size.proof for size in sizes]),
    ]
    if settings.verifier.normaliser.method == "model":
        roles.append(row("normaliser", candidates, [TEMPLATE_TOKENS + size.proof for size in sizes]))
    return Scenario(candidates, verifications, tuple(roles))


def _role(name: str, calls: int, prompts: Sequence[int], binding: Binding, sizes: Sequence[_Size]) -> RoleForecast:
    prices = prices_of(binding.settings)
    usages = [
        Usage(calls * prompt, round(calls * binding.sampling.max_tokens * size.share))
        for prompt, size in zip(prompts, sizes, strict=True)
    ]
    typical, worst = usages
    cost, worst_cost = (cost_of(usage, prices) if prices is not None else None if calls else 0.0 for usage in usages)
    return RoleForecast(
        name,
        calls,
        typical.prompt_tokens,
        typical.completion_tokens,
        worst.prompt_tokens,
        worst.completion_tokens,
        cost,
        worst_cost,
    )


def _tokens(text: str | None) -> int:
    return len(text or "") // CHARS_PER_TOKEN


def _total(costs: Sequence[float | None]) -> float | None:
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None
