"""Texts of the functions that trainers call: rewards from the reward server, and group filters.

They run in the trainer's own environment, so they are files of their own that need aiohttp or the standard library
only (TRL's uses this package, too). All ask the server in one way:

    POST {url}/v1/rewards   {"items": [{"problem_id": "...", "answer": "..."}, ...]}
    ->                      {"rewards": [0.86, null, ...]}          0..1; null is "not scored", which is never a zero
    ->                      503 with Retry-After                    the queue is full: they ask again

The server is `maxproof reward serve` (training/serve); any other status ends the run with what it said.
"""

from __future__ import annotations

from maxproof.training.dialects.spec import CispoSpec, Launch

REWARD_PATH = "/v1/rewards"
REWARD_FILE = "maxproof_reward.py"
TRL_FILE, SLIME_FILE, SKYRL_FILE, SWIFT_FILE = (f"maxproof_{name}.py" for name in ("trl", "slime", "skyrl", "swift"))

_TIMEOUT_S = 3600  # an answer waits for the judges, and the judges for their turn


def _server(launch: Launch) -> str:
    return f'URL = os.environ.get("MAXPROOF_REWARD_URL", {launch.reward_url!r}).rstrip("/") + "{REWARD_PATH}"\n'


_ASK = f'''

async def ask(items):
    """One reward an item, 0..1; None where it could not be scored. Waits while the server's queue is full."""
    timeout = aiohttp.ClientTimeout(total={_TIMEOUT_S})
    async with aiohttp.ClientSession(timeout=timeout) as session:
        while True:
            async with session.post(URL, json={{"items": items}}) as response:
                wait = response.headers.get("Retry-After", "")
                if response.status != 503 or not wait.isdecimal():
                    if response.status != 200:
                        raise RuntimeError(f"the reward server: {{response.status}} {{await response.text()}}")
                    rewards = (await response.json())["rewards"]
                    break
            await asyncio.sleep(int(wait))
    if len(rewards) != len(items):
        raise RuntimeError(f"{{len(rewards)}} rewards for {{len(items)}} answers")
    return rewards
'''

_ONE = '''

def scored(reward):
    """This trainer can't mask an answer, and a zero would be a lie: what is not scored ends the run."""
    if reward is None:
        raise RuntimeError("the reward server could not score an answer: see its log")
    return float(reward)
'''


def verl_text(launch: Launch) -> str:
    """`compute_score` as verl's reward loop calls it, once an answer, all of them at once."""
    head = '"""Rewards for verl. Rows need extra_info.problem_id."""\n\nimport asyncio\nimport os\n\nimport aiohttp\n\n'
    return (
        head
        + _server(launch)
        + _ASK
        + _ONE
        + """

async def compute_score(data_source, solution_str, ground_truth, extra_info=None, **_):
    rewards = await ask([{"problem_id": str(extra_info["problem_id"]), "answer": solution_str}])
    return scored(rewards[0])
"""
    )


def slime_text(spec: CispoSpec, launch: Launch) -> str:
    """`reward` for --custom-rm-path and `has_spread` for --dynamic-sampling-filter-path."""
    head = '"""Rewards and the group filter for slime. Rows need metadata.problem_id."""\n\nimport asyncio\nimport os\n'
    return (
        head
        + "import statistics\n\nimport aiohttp\nfrom slime.rollout.filter_hub.base_types import DynamicFilterOutput\n\n"
        + _server(launch)
        + f"STD_THRESHOLD = {spec.std_threshold!r}  # of the population std of rewards 0..1; strict\n"
        + _ASK
        + """

async def reward(args, sample, **_):
    rewards = await ask([{"problem_id": str(sample.metadata["problem_id"]), "answer": sample.response}])
    return rewards[0]  # None is dropped with its group by has_spread


def has_spread(args, samples, **_):
    rewards = [(sample[0] if isinstance(sample, list) else sample).get_reward_value(args) for sample in samples]
    if len(rewards) < 2 or any(value is None for value in rewards):
        return DynamicFilterOutput(keep=False, reason="not_scored")
    keep = statistics.pstdev(rewards) > STD_THRESHOLD
    return DynamicFilterOutput(keep=keep, reason=None if keep else "no_spread")
"""
    )


def skyrl_text(launch: Launch) -> str:
    """An entry point that registers the environment `maxproof` in the workers and starts SkyRL's own trainer."""
    return (
        '"""SkyRL with rewards from the reward server. Rows need problem_id."""\n\n'
        "import json\nimport os\nimport sys\nimport time\nimport urllib.error\nimport urllib.request\n\n"
        "import ray\nfrom skyrl.train.config import SkyRLTrainConfig\n"
        "from skyrl.train.entrypoints.main_base import BasePPOExp\n"
        "from skyrl.train.utils import validate_cfg\n"
        "from skyrl.train.utils.utils import initialize_ray\n"
        "from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput\n"
        "from skyrl_gym.envs.registration import register\n\n"
        + _server(launch)
        + _ONE
        + f'''

class ProofEnv(BaseTextEnv):
    """One answer, one reward. SkyRL steps many of these at once, each in a thread (max_env_workers)."""

    def __init__(self, env_config=None, extras=None):
        super().__init__()
        self.problem_id = str(extras["problem_id"])

    def step(self, action):
        body = json.dumps({{"items": [{{"problem_id": self.problem_id, "answer": action}}]}}).encode()
        request = urllib.request.Request(URL, body, {{"Content-Type": "application/json"}})
        while True:
            try:
                with urllib.request.urlopen(request, timeout={_TIMEOUT_S}) as response:
                    rewards = json.load(response)["rewards"]
                break
            except urllib.error.HTTPError as error:
                wait = error.headers.get("Retry-After", "")
                if error.code != 503 or not wait.isdecimal():
                    raise RuntimeError(f"the reward server: {{error.code}} {{error.read().decode()}}") from None
            time.sleep(int(wait))  # its queue is full
        return BaseTextEnvStepOutput(observations=[], reward=scored(rewards[0]), done=True, metadata={{}})


@ray.remote(num_cpus=1)
def train(cfg):
    register(id="maxproof", entry_point=ProofEnv)
    BasePPOExp(cfg).run()


if __name__ == "__main__":
    cfg = SkyRLTrainConfig.from_cli_overrides(sys.argv[1:])
    validate_cfg(cfg)
    initialize_ray(cfg)
    ray.get(train.remote(cfg))
'''
    )


def swift_text(launch: Launch) -> str:
    """A plugin that registers the asynchronous reward `maxproof`."""
    head = '"""Rewards for ms-swift. Rows need a column problem_id."""\n\nimport asyncio\nimport os\n\nimport aiohttp\n'
    return (
        head
        + "from swift.rewards import AsyncORM, orms\n\n"
        + _server(launch)
        + _ASK
        + _ONE
        + """

class ProofReward(AsyncORM):
    async def __call__(self, completions, problem_id, **_):
        pairs = zip(problem_id, completions, strict=True)
        return [scored(value) for value in await ask([{"problem_id": str(p), "answer": c} for p, c in pairs])]


orms["maxproof"] = ProofReward
"""
    )


def trl_text(spec: CispoSpec, launch: Launch) -> str:
    """An asynchronous reward function with the group filter that TRL lacks; TRL masks a reward of None."""
    return (
        '"""Rewards for TRL. The data set needs a column problem_id."""\n\n'
        + "import asyncio\nimport os\n\nimport aiohttp\n\n"
        + "from maxproof.training.dialects.groups import drop_flat_groups\n\n"
        + _server(launch)
        + f"GROUP = {spec.group}\n"
        + f"STD_THRESHOLD = {spec.std_threshold!r}  # of the population std of rewards 0..1; strict\n"
        + _ASK
        + """

def text_of(completion):
    return completion if isinstance(completion, str) else completion[-1]["content"]


async def reward(completions, problem_id, **_):
    items = [{"problem_id": str(p), "answer": text_of(c)} for p, c in zip(problem_id, completions, strict=True)]
    return drop_flat_groups(await ask(items), GROUP, STD_THRESHOLD)
"""
    )
