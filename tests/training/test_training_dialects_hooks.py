"""The reward and filter functions written for trainers, run against a server, with stand-ins for the trainers."""

from __future__ import annotations

import asyncio
import sys
import types
from collections.abc import Callable

import pytest

from maxproof.training.dialects.groups import drop_flat_groups
from maxproof.training.dialects.spec import DialectConfig, Launch, spec_of
from maxproof.training.dialects.trainers import TRAINERS
from maxproof.training.settings import CispoSettings


def emitted(trainer: str, **values: object) -> DialectConfig:
    return TRAINERS[trainer](spec_of(CispoSettings(**values)), Launch("model", "data", gpus=2))


class Sample:
    def __init__(self, reward: float | None, response: str = "") -> None:
        self.reward, self.response, self.metadata = reward, response, {"problem_id": "p"}

    def get_reward_value(self, args: object) -> float | None:
        return self.reward


def load(config: DialectConfig, name: str, monkeypatch: pytest.MonkeyPatch, **modules: dict) -> dict:
    """The functions of an emitted file, with stand-ins for the trainer's modules."""
    for module, content in modules.items():
        dotted = module.replace("__", ".")
        for i in range(1, dotted.count(".") + 2):
            part = ".".join(dotted.split(".")[:i])
            monkeypatch.setitem(sys.modules, part, sys.modules.get(part) or types.ModuleType(part))
        vars(sys.modules[dotted]).update(content)
    names: dict = {"__name__": "emitted"}
    exec(compile(config.files[name], name, "exec"), names)
    return names


class Output:
    def __init__(self, keep: bool, reason: str | None) -> None:
        self.keep, self.reason = keep, reason


def test_slime_filters_by_the_population_std_strictly(monkeypatch: pytest.MonkeyPatch) -> None:
    slime = {"slime__rollout__filter_hub__base_types": {"DynamicFilterOutput": Output}}
    names = load(emitted("slime", std_threshold=0.25), "maxproof_slime.py", monkeypatch, **slime)

    def kept(*rewards: float | None) -> bool:
        return names["has_spread"](None, [Sample(reward) for reward in rewards]).keep

    assert not kept(0.0, 0.5)  # population std 0.25 is not above 0.25; the sample's, 0.35, would be
    assert kept(0.0, 0.6)
    assert not kept(1.0, 1.0, 1.0)
    assert not kept(0.0, None, 1.0)
    assert not kept(1.0)


def test_flat_groups_become_not_scored() -> None:
    rewards = [0.0, 0.5, 1.0, 1.0, None, 0.3, 0.0, 1.0]
    assert drop_flat_groups(rewards, 2, 0.25) == [None, None, None, None, None, None, 0.0, 1.0]
    with pytest.raises(ValueError, match="split over processes"):
        drop_flat_groups([1.0, 0.0, 1.0], 2, 0.0)


async def answers(
    monkeypatch: pytest.MonkeyPatch, config: DialectConfig, name: str, reply: list, full: int = 0, **modules: dict
):
    """Loads an emitted file against a real server that answers `reply`, after saying `full` times that it is full;
    gives its names and what was asked."""
    from aiohttp import web

    asked: list = []
    left = full

    async def handle(request: web.Request) -> web.Response:
        nonlocal left
        body = await request.json()
        if left:
            left -= 1
            return web.json_response({}, status=503, headers={"Retry-After": "0"})
        if not reply:
            return web.json_response({"error": "the judges are gone"}, status=503)
        asked.extend(body["items"])
        return web.json_response({"rewards": reply[: len(body["items"])]})

    app = web.Application()
    app.router.add_post("/v1/rewards", handle)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    monkeypatch.setenv("MAXPROOF_REWARD_URL", f"http://127.0.0.1:{port}/")
    return load(config, name, monkeypatch, **modules), asked, runner


async def test_the_reward_of_trl_asks_the_server_and_filters(monkeypatch: pytest.MonkeyPatch) -> None:
    config = emitted("trl", prompts=4, group=2, std_threshold=0.1)
    names, asked, runner = await answers(monkeypatch, config, "maxproof_trl.py", [0.5, 0.5, 0.0, 1.0])
    try:
        texts = ["a", "b", [{"role": "assistant", "content": "c"}], "d"]
        rewards = await names["reward"](
            completions=texts, problem_id=["p", "p", "q", "q"], prompts=[], trainer_state=None
        )
    finally:
        await runner.cleanup()
    assert rewards == [None, None, 0.0, 1.0]
    assert [(item["problem_id"], item["answer"]) for item in asked] == [("p", "a"), ("p", "b"), ("q", "c"), ("q", "d")]


async def test_the_reward_of_verl_is_never_a_zero_for_not_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    for reply, expected in ([0.25], 0.25), ([None], None):
        names, _, runner = await answers(monkeypatch, emitted("verl"), "maxproof_reward.py", reply)
        call = names["compute_score"]("source", "text", "", extra_info={"problem_id": "p"}, reward_router_address=None)
        try:
            if expected is None:
                with pytest.raises(RuntimeError, match="could not score"):
                    await call
            else:
                assert await call == expected
        finally:
            await runner.cleanup()


async def test_the_rewards_of_slime_and_swift(monkeypatch: pytest.MonkeyPatch) -> None:
    slime = {"slime__rollout__filter_hub__base_types": {"DynamicFilterOutput": Output}}
    names, asked, runner = await answers(monkeypatch, emitted("slime"), "maxproof_slime.py", [None], **slime)
    try:
        assert await names["reward"](None, Sample(None, "text")) is None
    finally:
        await runner.cleanup()
    assert asked == [{"problem_id": "p", "answer": "text"}]

    orms: dict = {}
    swift = {"swift__rewards": {"AsyncORM": object, "orms": orms}}
    names, asked, runner = await answers(monkeypatch, emitted("ms-swift"), "maxproof_swift.py", [1.0, 0.5], **swift)
    try:
        assert await orms["maxproof"]()(["a", "b"], problem_id=[1, 2], solution=None) == [1.0, 0.5]
    finally:
        await runner.cleanup()


async def test_the_environment_of_skyrl(monkeypatch: pytest.MonkeyPatch) -> None:
    def remote(**_: object) -> Callable:
        return lambda function: function

    modules = {
        "ray": {"remote": remote},
        "skyrl__train__config": {"SkyRLTrainConfig": object},
        "skyrl__train__entrypoints__main_base": {"BasePPOExp": object},
        "skyrl__train__utils": {"validate_cfg": None},
        "skyrl__train__utils__utils": {"initialize_ray": None},
        "skyrl_gym__envs__base_text_env": {"BaseTextEnv": object, "BaseTextEnvStepOutput": dict},
        "skyrl_gym__envs__registration": {"register": None},
    }
    names, asked, runner = await answers(monkeypatch, emitted("skyrl"), "maxproof_skyrl.py", [0.75], **modules)
    try:
        env = names["ProofEnv"](extras={"problem_id": 7})
        output = await asyncio.to_thread(env.step, "text")
    finally:
        await runner.cleanup()
    assert (output["reward"], output["done"]) == (0.75, True)
    assert asked == [{"problem_id": "7", "answer": "text"}]


@pytest.mark.parametrize("trainer", ["trl", "verl", "slime", "skyrl", "ms-swift"])
async def test_every_hook_waits_for_a_full_queue_and_tells_what_else_is_wrong(
    trainer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    orms: dict = {}
    modules = {
        "slime__rollout__filter_hub__base_types": {"DynamicFilterOutput": Output},
        "swift__rewards": {"AsyncORM": object, "orms": orms},
        "ray": {"remote": lambda **_: lambda function: function},
        "skyrl__train__config": {"SkyRLTrainConfig": object},
        "skyrl__train__entrypoints__main_base": {"BasePPOExp": object},
        "skyrl__train__utils": {"validate_cfg": None},
        "skyrl__train__utils__utils": {"initialize_ray": None},
        "skyrl_gym__envs__base_text_env": {"BaseTextEnv": object, "BaseTextEnvStepOutput": dict},
        "skyrl_gym__envs__registration": {"register": None},
    }
    config = emitted(trainer)
    (file,) = (name for name in config.files if name.endswith(".py"))

    async def ask(names: dict) -> object:
        if trainer == "skyrl":
            return await asyncio.to_thread(names["ProofEnv"](extras={"problem_id": "p"}).step, "text")
        return await names["ask"]([{"problem_id": "p", "answer": "text"}])

    names, asked, runner = await answers(monkeypatch, config, file, [0.5], full=2, **modules)
    try:
        found = await ask(names)
    finally:
        await runner.cleanup()
    assert found["reward"] == 0.5 if trainer == "skyrl" else found == [0.5]
    assert len(asked) == 1

    names, _, runner = await answers(monkeypatch, config, file, [], **modules)
    try:
        with pytest.raises(RuntimeError, match=r"503 .*the judges are gone"):
            await ask(names)
    finally:
        await runner.cleanup()
