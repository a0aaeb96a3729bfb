"""Which model answers is known before the first call, kept, and looked for again; what is missing is told first."""

from __future__ import annotations

from pathlib import Path

import pytest
from caller_fakes import FakeEndpoint, bindings_of, call, caller_on

from maxproof.models.bindings import resolve_bindings
from maxproof.models.chat import ChatRequest
from maxproof.models.settings import EndpointSettings, RoleSettings
from maxproof.models.types import CallFailed, CallNotRun, FailureKind, StopKind
from maxproof.problems import InputError

UNNAMED = bindings_of(EndpointSettings(base_url="http://h/v1"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite"


async def test_the_first_model_is_asked_for_once_and_kept_before_the_first_call(path: Path) -> None:
    kept: dict[str, str] = {}

    async def is_kept(request: ChatRequest) -> None:
        assert kept == {"default": request.model} == {"default": "fake-1"}

    endpoint = FakeEndpoint(is_kept)
    with caller_on(path, endpoint, bindings=UNNAMED, keep_served=kept.__setitem__) as caller:
        await caller.ask(call(0))
        await caller.ask(call(1, role="refiner"))
    assert endpoint.listed == 1
    with caller_on(path, bindings=UNNAMED, served=kept, replay=True) as caller:
        assert (await caller.ask(call(0))).text == "answer 0"


async def test_a_server_that_comes_back_with_another_model_is_not_asked(path: Path) -> None:
    with caller_on(path, FakeEndpoint(), bindings=UNNAMED) as caller:
        await caller.ask(call(0))
    changed = FakeEndpoint()
    changed.names = ["fake-2"]
    with caller_on(path, changed, bindings=UNNAMED, served={"default": "fake-1"}) as caller:
        assert (await caller.ask(call(0))).text == "answer 0"
        assert changed.listed == 0  # nothing to ask, so the server need not even be up
        for _ in range(2):
            with pytest.raises(CallNotRun, match=r"does not serve 'fake-1'.*'fake-2'.*--set endpoints.default.model"):
                await caller.ask(call(1))
        assert caller.stop.kind is StopKind.ENDPOINT
    assert changed.requests == []


async def test_a_server_that_has_the_model_still_or_does_not_say_is_asked(path: Path) -> None:
    class Silent(FakeEndpoint):
        async def models(self) -> list[str]:
            raise CallFailed(FailureKind.PERMANENT, "HTTP 404")

    same = FakeEndpoint()
    same.names = ["new", "fake-1"]
    for candidate, endpoint in enumerate((same, Silent())):
        with caller_on(path, endpoint, bindings=UNNAMED, served={"default": "fake-1"}) as caller:
            await caller.ask(call(candidate))
        assert [request.model for request in endpoint.requests] == ["fake-1"]


async def test_a_server_that_does_not_say_what_it_has_stops_the_run(path: Path) -> None:
    class Down(FakeEndpoint):
        async def models(self) -> list[str]:
            raise CallFailed(FailureKind.CONNECTION, "GET /models: no connection")

    endpoint = Down()
    with caller_on(path, endpoint, bindings=UNNAMED) as caller:
        with pytest.raises(CallNotRun, match="can't be used: GET /models: no connection"):
            await caller.ask(call(0))
        stop = caller.stop
        assert stop.kind is StopKind.ENDPOINT
    assert endpoint.requests == []
    with caller_on(path, bindings=UNNAMED, replay=True) as caller:
        assert caller.stop == stop


async def test_a_named_key_that_is_not_set_is_told_before_anything_is_asked(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JUDGE_KEY", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    endpoints = {
        "default": EndpointSettings(base_url="http://h/v1", model="m"),
        "judges": EndpointSettings(base_url="http://j/v1", model="m", api_key_env="JUDGE_KEY"),
    }
    bindings = resolve_bindings(endpoints, {"judge": RoleSettings(endpoint="judges")})
    endpoint = FakeEndpoint()
    with caller_on(path, endpoint, bindings=bindings) as caller:
        with pytest.raises(InputError, match=r"endpoints.judges.api_key_env.*JUDGE_KEY is not set"):
            await caller.ask(call(0))
        assert endpoint.requests == []
        monkeypatch.setenv("JUDGE_KEY", "sk-judge")
        await caller.ask(call(0))
    monkeypatch.delenv("JUDGE_KEY")
    with caller_on(path, endpoint, bindings=bindings) as caller:
        await caller.ask(call(0))  # recorded: no key is needed


async def test_trouble_is_shown_in_the_progress(path: Path) -> None:
    endpoint = FakeEndpoint()
    with caller_on(path, endpoint) as caller:
        assert caller.progress().trouble == ""
        endpoint.trouble = "default: connection: no connection"
        assert caller.progress().trouble == endpoint.trouble
