"""Roles and judges find their endpoint, model and sampling."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxproof.models.bindings import resolve_bindings
from maxproof.models.call_key import call_seed, public_url, sampler_digest
from maxproof.models.settings import ROLES, EndpointSettings, RoleSettings
from maxproof.models.types import CallAddress, Sampling
from maxproof.problems import InputError


@dataclass(frozen=True)
class Judge:
    name: str
    endpoint: str | None = None
    model: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None


ENDPOINTS = {
    "default": EndpointSettings(base_url="http://a/v1", model="small"),
    "big": EndpointSettings(base_url="http://b/v1", model="large"),
}


def test_one_endpoint_serves_all_by_default() -> None:
    bindings = resolve_bindings({"default": ENDPOINTS["default"]}, {})
    assert list(bindings) == list(ROLES)
    assert {(binding.endpoint, binding.model) for binding in bindings.values()} == {("default", "small")}
    assert bindings["generator"].sampling == Sampling(1.0, 0.95, 32768)


def test_a_role_may_have_its_own() -> None:
    roles = {"refiner": RoleSettings(endpoint="big", model="huge", temperature=0.3, max_tokens=9)}
    bindings = resolve_bindings(ENDPOINTS, roles)
    refiner = bindings["refiner"]
    assert (refiner.endpoint, refiner.model, refiner.sampling) == ("big", "huge", Sampling(0.3, 0.95, 9))
    assert bindings["generator"].endpoint == "default"
    assert set(bindings.endpoints) == {"default", "big"}


def test_a_judge_takes_from_its_role_what_it_does_not_set() -> None:
    roles = {"judge": RoleSettings(endpoint="big", model="huge", temperature=0.2)}
    judges = [
        Judge(name="same"),
        Judge(name="hot", temperature=0.9),
        Judge(name="elsewhere", endpoint="default"),
        Judge(name="own", endpoint="default", model="other"),
    ]
    bindings = resolve_bindings(ENDPOINTS, roles, judges)
    found = {name: (b.endpoint, b.model, b.sampling.temperature) for name, b in bindings.items() if ":" in name}
    assert found == {
        "judge:same": ("big", "huge", 0.2),
        "judge:hot": ("big", "huge", 0.9),
        "judge:elsewhere": ("default", "small", 0.2),
        "judge:own": ("default", "other", 0.2),
    }
    assert bindings[CallAddress("judge", "verify", 0, judge="hot").binding].sampling.temperature == 0.9
    assert bindings["judge:never-configured"] == bindings["judge"]


def test_a_zero_temperature_is_a_setting() -> None:
    bindings = resolve_bindings(ENDPOINTS, {}, [Judge(name="cold", temperature=0.0)])
    assert bindings["judge:cold"].sampling.temperature == 0.0


def test_mistakes_are_named() -> None:
    with pytest.raises(InputError, match=r"roles\.judge\.endpoint: unknown endpoint 'bog', did you mean 'big'"):
        resolve_bindings(ENDPOINTS, {"judge": RoleSettings(endpoint="bog")})
    with pytest.raises(InputError, match=r"verifier\.judges\.free\.endpoint.*known: default, big"):
        resolve_bindings(ENDPOINTS, {}, [Judge(name="free", endpoint="zzz")])
    with pytest.raises(InputError, match="unknown role 'refinr', did you mean 'refiner'"):
        resolve_bindings(ENDPOINTS, {"refinr": RoleSettings()})
    with pytest.raises(InputError, match="no endpoint"):
        resolve_bindings({}, {})
    with pytest.raises(KeyError):
        resolve_bindings(ENDPOINTS, {})["unknown"]


def test_a_stored_address_holds_no_secret() -> None:
    assert public_url("https://user:pa@ss@host:8000/v1/?key=abc#x") == "https://host:8000/v1"
    assert public_url("local:smollm2") == "local:smollm2"
    assert public_url("local:/models/a.gguf") == "local:/models/a.gguf"


def test_prices_and_limits_are_no_part_of_the_sampler() -> None:
    one, other = (
        resolve_bindings({"default": EndpointSettings(base_url=url, model="m", timeout_s=timeout)}, {})["judge"]
        for url, timeout in (("http://a/v1", 5.0), ("http://u:p@a/v1/", 9.0))
    )
    assert sampler_digest(one, 0) == sampler_digest(other, 0)
    assert sampler_digest(one, 0) != sampler_digest(one, 1)
    queries = {
        sampler_digest(resolve_bindings({"default": EndpointSettings(base_url=f"http://a/v1?x={x}")}, {})["judge"], 0)
        for x in range(3)
    }
    assert len(queries) == 3


@given(st.integers(0, 5), st.integers(0, 200), st.integers(0, 8))
def test_seeds_fit_31_bits_and_differ(seed: int, candidate: int, sample: int) -> None:
    address = CallAddress("judge", "verify", candidate, sample, "free")
    found = call_seed(seed, address)
    assert 0 <= found < 2**31
    assert found == call_seed(seed, address)
    assert found != call_seed(seed + 1, address)
    following = CallAddress("judge", "verify", candidate, sample + 1, "free")
    assert (found + 1) % 2**31 == call_seed(seed, following)  # as the samples of one request with `n` count
    assert found != call_seed(seed, CallAddress("judge", "verify", candidate + 1, sample, "free"))
