"""The search for weights, mergekit's YAML, and the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from maxproof.cli.merge import merge as merge_command
from maxproof.problems import InputError
from maxproof.training.merge.mergekit import to_mergekit
from maxproof.training.merge.settings import MergeSettings, Method
from maxproof.training.merge.weights import choose_weights

METHODS: tuple[Method, ...] = ("linear", "task_arithmetic", "ties", "dare_linear", "dare_ties")


class Evaluation:
    """A score with its peak at (0.5, 1.0); records what it was asked."""

    def __init__(self, unscored: tuple[tuple[float, ...], ...] = ()) -> None:
        self.asked: list[tuple[float, ...]] = []
        self._unscored = unscored

    async def __call__(self, weights: tuple[float, ...]) -> float | None:
        self.asked.append(weights)
        return None if weights in self._unscored else -abs(weights[0] - 0.5) - abs(weights[1] - 1.0)


async def test_all_candidates_are_tried_in_order_and_the_best_wins() -> None:
    grid = [(a, b) for a in (0.0, 0.5, 1.0) for b in (0.0, 0.5, 1.0)]
    evaluate = Evaluation()
    choice = await choose_weights(grid, evaluate)
    assert evaluate.asked == grid == [attempt.candidate for attempt in choice.tries]
    assert choice.best.candidate == (0.5, 1.0)
    assert choice.best in choice.tries


async def test_of_equal_scores_the_earlier_wins() -> None:
    async def flat(weights: tuple[float, ...]) -> float:
        return 1.0

    assert (await choose_weights([(2.0,), (1.0,)], flat)).best.candidate == (2.0,)


async def test_not_scored_is_not_zero_and_never_wins() -> None:
    choice = await choose_weights([(0.5, 1.0), (1.0, 1.0)], Evaluation(unscored=((0.5, 1.0),)))
    assert choice.best.candidate == (1.0, 1.0)
    assert choice.tries[0].score is None
    with pytest.raises(InputError, match="none of the 1 candidates"):
        await choose_weights([(0.5, 1.0)], Evaluation(unscored=((0.5, 1.0),)))


async def test_nan_is_a_bug_of_the_evaluation() -> None:
    async def broken(weights: tuple[float, ...]) -> float:
        return float("nan")

    with pytest.raises(ValueError, match="NaN"):
        await choose_weights([(1.0,)], broken)


@pytest.mark.parametrize("method", METHODS)
def test_the_yaml_says_what_the_settings_say(method: Method) -> None:
    yaml = pytest.importorskip("yaml")
    scale = 1.0 if method == "linear" else 0.8
    settings = MergeSettings(method=method, weights=(1.0, 0.25), density=0.4, scale=scale)
    experts = ['a "quoted": path', "b"]
    value = yaml.safe_load(to_mergekit("base # model", experts, settings, out_dtype="bfloat16"))
    assert value["merge_method"] == method
    assert [model["model"] for model in value["models"]] == experts
    assert [model["parameters"]["weight"] for model in value["models"]] == [1.0, 0.25]
    assert value["parameters"]["normalize"] is (method in ("linear", "ties", "dare_ties"))
    assert value["out_dtype"] == "bfloat16"
    if method == "linear":
        assert "base_model" not in value
    else:
        assert value["base_model"] == "base # model"
        assert value["parameters"]["lambda"] == 0.8
        assert value["parameters"]["rescale"] is method.startswith("dare")
    densities = [model["parameters"].get("density") for model in value["models"]]
    assert densities == ([0.4, 0.4] if settings.uses_density else [None, None])


@pytest.mark.parametrize("method", ["linear", "task_arithmetic", "ties"])
def test_mergekit_itself_merges_the_same(method: Method, tmp_path: Path) -> None:
    mergekit_config = pytest.importorskip("mergekit.config", reason="mergekit is LGPL and no dependency")
    torch = pytest.importorskip("torch", reason="needs the extra train")
    yaml = pytest.importorskip("yaml")
    from mergekit.merge import MergeOptions, run_merge
    from safetensors.torch import load_file
    from transformers import LlamaConfig, LlamaForCausalLM

    from maxproof.training.merge.run import merge

    shape = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2}
    folders = [tmp_path / name for name in ("base", "a", "b")]
    for i, folder in enumerate(folders):
        torch.manual_seed(i)
        LlamaForCausalLM(LlamaConfig(**shape, vocab_size=12, num_key_value_heads=2)).save_pretrained(folder)
        (folder / "tokenizer.json").write_text('{"model": {"vocab": {"a": 0}}}')
    settings = MergeSettings(method=method, weights=(1.0, 0.5), density=0.5)
    text = to_mergekit(str(folders[0]), [str(folder) for folder in folders[1:]], settings)
    config = mergekit_config.MergeConfiguration.model_validate(yaml.safe_load(text))
    run_merge(config, str(tmp_path / "theirs"), options=MergeOptions(copy_tokenizer=False))
    merge(folders[0], folders[1:], tmp_path / "ours", settings)
    ours = load_file(tmp_path / "ours" / "model.safetensors")
    theirs = {
        name: value for path in (tmp_path / "theirs").glob("*.safetensors") for name, value in load_file(path).items()
    }
    assert ours.keys() == theirs.keys()
    for name, value in ours.items():
        torch.testing.assert_close(value, theirs[name], rtol=1e-5, atol=1e-6)


app = typer.Typer()
app.command()(merge_command)


def invoke(*arguments: object):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def family(tmp_path: Path) -> list[Path]:
    torch = pytest.importorskip("torch", reason="needs the extra train")
    save_file = pytest.importorskip("safetensors.torch").save_file
    folders = [tmp_path / name for name in ("base", "prover", "fixer")]
    for i, folder in enumerate(folders):
        folder.mkdir()
        (folder / "config.json").write_text('{"model_type": "llama", "tie_word_embeddings": true}')
        (folder / "tokenizer.json").write_text('{"model": {"vocab": {"a": 0}}}')
        save_file({"w": torch.full((4,), float(i))}, folder / "model.safetensors")
    return folders


def test_the_command_merges_and_tells_it_as_json(family: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = invoke("--base", *family, "--method", "task_arithmetic", "--weights", "1,0.5", "--out", out, "--json")
    assert result.exit_code == 0, result.output
    value = json.loads(result.stdout)
    assert value["tensors"] == 1
    assert value["weights"] == [1.0, 0.5]
    assert value["smoke"].startswith("not tried")
    from safetensors.torch import load_file

    assert load_file(out / "model.safetensors")["w"].tolist() == [2.0] * 4


def test_the_command_writes_the_yaml_alone(family: list[Path], tmp_path: Path) -> None:
    result = invoke("--base", *family, "--mergekit", tmp_path / "merge.yml")
    assert result.exit_code == 0, result.output
    assert "merge_method: ties" in (tmp_path / "merge.yml").read_text()
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--weights", "1,x", "--out", "o"], "--weights: expected numbers"),
        (["--weights", "1", "--out", "o"], "--weights: 1 weights for 2 experts"),
        (["--weights", "1,-1", "--out", "o"], "at least 0"),
        (["--density", "0", "--out", "o"], "--density"),
        (["--method", "magic", "--out", "o"], "--method"),
        ([], "nothing to write"),
    ],
)
def test_bad_options_are_one_line(tmp_path: Path, options: list[str], message: str) -> None:
    result = invoke("--base", tmp_path / "a", tmp_path / "b", tmp_path / "c", *options)
    assert result.exit_code == 2
    assert message in result.output
    assert len(result.output.strip().splitlines()) == 1
