"""What calls cost."""

from __future__ import annotations

from collections.abc import Mapping

from maxproof.models.schemes import is_embedded
from maxproof.models.settings import EndpointSettings, Prices
from maxproof.models.types import Usage
from maxproof.problems import InputError


def cost_of(usage: Usage, prices: Prices) -> float:
    """Money for one call. Prices are per million tokens; cached prompt tokens have their own price if one is set."""
    cached_price = prices.input if prices.cached_input is None else prices.cached_input
    cached = min(usage.cached_tokens, usage.prompt_tokens)
    total = (usage.prompt_tokens - cached) * prices.input + cached * cached_price
    return (total + usage.completion_tokens * prices.output) / 1e6


def prices_of(settings: EndpointSettings) -> Prices | None:
    """The endpoint's prices; an embedded model is free unless the user says otherwise."""
    if settings.prices is None and is_embedded(settings.base_url):
        return Prices()
    return settings.prices


def check_priced(endpoints: Mapping[str, EndpointSettings]) -> None:
    """Raises InputError unless a `max_cost` can trip: every endpoint has prices and one of them is above zero."""
    for name, settings in endpoints.items():
        if prices_of(settings) is None:
            raise InputError(
                "max_cost is set but this endpoint has no prices: that budget would never trip",
                field=f"endpoints.{name}.prices",
                hint="set input and output prices per million tokens, or use max_tokens",
            )
    if not any(prices.input or prices.output for prices in map(prices_of, endpoints.values()) if prices):
        raise InputError(
            "max_cost is set but every endpoint is free: that budget would never trip",
            field="budget.max_cost",
            hint="use max_tokens or max_calls",
        )
