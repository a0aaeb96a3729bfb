"""The forecast's numbers."""

from __future__ import annotations

import json

import pytest

from maxproof.models.settings import EndpointSettings, Prices, RoleSettings
from maxproof.problems import Problem
from maxproof.search.forecast import TEMPLATE_TOKENS, forecast
from maxproof.search.settings import RunSettings, SearchSettings
from maxproof.verifier.settings import JudgeSettings, NormaliserSettings, VerifierSettings

PROBLEM = Problem("p", "x" * 400)
FREE = EndpointSettings(base_url="http://localhost/v1")
PRICED = FREE.model_copy(update={"prices": Prices(input=1.0, output=2.0)})
ONE_JUDGE = VerifierSettings(judges=(JudgeSettings(name="free"),))


def run_settings(endpoint=FREE, **more):
    return RunSettings(endpoints={"default": endpoint}, **{"verifier": ONE_JUDGE, **more})


def calls(scenario):
    return {role.role: role.calls for role in scenario.roles}


def test_published_counts():
    found = forecast(PROBLEM, run_settings())
    assert found.full.candidates == 112
    assert found.full.verifications == 448
    assert found.full.calls == 681
    assert calls(found.full) == {
        "generator": 32,
        "judge:free": 448,
        "summariser": 112,
        "refiner": 80,
        "ranker": 9,
    }
    assert calls(found.first_round) == {
        "generator": 32,
        "judge:free": 128,
        "summariser": 32,
        "refiner": 0,
        "ranker": 9,
    }


def test_small_searches_and_more_judges():
    verifier = VerifierSettings(
        judges=(JudgeSettings(name="a"), JudgeSettings(name="b")), normaliser=NormaliserSettings(method="model")
    )
    search = SearchSettings(candidates=2, parents=1, rounds=1, verifications=3, finalists=4, votes=1)
    found = forecast(PROBLEM, run_settings(verifier=verifier, search=search))
    assert calls(found.full) == {
        "generator": 2,
        "judge:a": 12,
        "judge:b": 12,
        "summariser": 4,
        "refiner": 2,
        "ranker": 3,
        "normaliser": 4,
    }
    assert calls(found.first_round)["ranker"] == 1


def test_money_by_hand():
    search = SearchSettings(candidates=1, parents=1, rounds=0, verifications=1, finalists=1)
    roles = {"generator": RoleSettings(max_tokens=1000)}
    found = forecast(PROBLEM, run_settings(PRICED, search=search, roles=roles))
    (generator,) = [role for role in found.full.roles if role.role == "generator"]
    assert generator.prompt_tokens == 100 + TEMPLATE_TOKENS
    assert (generator.completion_tokens, generator.worst_completion_tokens) == (250, 1000)
    assert generator.worst_cost == pytest.approx((100 + TEMPLATE_TOKENS + 2 * 1000) / 1e6)
    assert found.full.cost < found.full.worst_cost
    assert found.full == found.first_round


def test_no_prices_no_money_and_the_embedded_model_is_free():
    assert forecast(PROBLEM, run_settings()).full.cost is None
    local = EndpointSettings(base_url="local:smollm2")
    assert forecast(PROBLEM, run_settings(local)).full.worst_cost == 0


def test_worst_is_never_below_typical_and_json_says_the_same():
    found = forecast(PROBLEM, run_settings(PRICED))
    for scenario in (found.full, found.first_round):
        for role in scenario.roles:
            assert role.prompt_tokens <= role.worst_prompt_tokens
            assert role.completion_tokens <= role.worst_completion_tokens
    written = json.loads(json.dumps(found.to_json()))
    assert written["full"]["calls"] == 681
    assert written["first_round"]["worst_cost"] == found.first_round.worst_cost
