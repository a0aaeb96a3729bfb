"""Maps from trainers' names."""

from __future__ import annotations

import pytest

from maxproof.monitor.fields import MAPS, detect_map, parse_map, ready_map, resolve
from maxproof.problems import InputError

SEEN = {
    "maxproof": ("problem", "step", "group", "sample", "prompt", "text", "thinking", "train_reward", "oracle"),
    "trl": ("step", "prompt", "completion", "maxproof", "advantage"),
    "verl": ("input", "output", "gts", "score", "step", "acc"),
    "slime": ("group_index", "index", "prompt", "response", "response_length", "label", "reward", "status", "metadata"),
    "prime-rl": ("example_id", "prompt", "completion", "answer", "task", "info", "reward", "metrics"),
    "prime-rl-trace": ("version", "id", "task", "agent", "nodes", "calls", "rewards", "metrics"),
}


@pytest.mark.parametrize("name", MAPS)
def test_each_ready_map_is_known_by_its_fields(name: str) -> None:
    assert detect_map(SEEN[name]).name == name


def test_what_fits_no_map_is_an_error_that_lists_the_fields() -> None:
    with pytest.raises(InputError, match="fit no ready map: answer, question"):
        detect_map(["question", "answer"])


def test_what_fits_two_maps_has_to_be_named() -> None:
    with pytest.raises(InputError, match=r"several ready maps .*verl.*--map maxproof"):
        detect_map({*SEEN["verl"], "problem", "text"})


def test_entries_go_on_top_of_the_base() -> None:
    fields = parse_map(["verl", "train_reward=reward.final:-1..1", "oracle=acc", "judges.strict=a:0..7", "thinking="])
    assert fields.name == "verl"
    assert fields.columns["text"].path == "output"
    reward = fields.columns["train_reward"]
    assert (reward.parts, reward.low, reward.high) == (("reward", "final"), -1.0, 1.0)
    assert fields.columns["judges.strict"].high == 7
    assert fields.asked == {"train_reward", "oracle", "judges.strict"}


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("train_rewrd=x", "did you mean train_reward"),
        ("verll", "did you mean verl"),
        ("text=x:0..7", "only a score has a range"),
        ("oracle=x:1..1", "empty range"),
        ("oracle=x:1.2.3..4", "not a range"),
        ("judges.=x", "unknown column"),
    ],
)
def test_a_bad_entry_is_refused(entry: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_map([entry])


def test_a_missing_field_names_the_nearest() -> None:
    fields = parse_map(["text=respnse", "problem=prompt"])
    with pytest.raises(InputError, match=r"no field 'respnse'.*did you mean response"):
        resolve(fields, {"prompt": False, "response": False, "step": True})


def test_an_asked_for_optional_field_must_be_there_but_others_need_not() -> None:
    present = {"problem": False, "step": True, "text": False, "accuracy": True}
    resolve(ready_map("maxproof"), present)
    with pytest.raises(InputError, match=r"no field 'accurcy'.*did you mean accuracy"):
        resolve(parse_map(["oracle=accurcy"]), present)


def test_the_only_other_number_of_trl_is_its_reward() -> None:
    present = {"step": True, "prompt": False, "completion": False, "advantage": True, "maxproof": True, "tag": False}
    assert resolve(ready_map("trl"), present).columns["train_reward"].path == "maxproof"
    with pytest.raises(InputError, match=r"which of the fields accuracy, maxproof"):
        resolve(ready_map("trl"), {**present, "accuracy": True})
    alone = {name: number for name, number in present.items() if name != "maxproof"}
    assert "train_reward" not in resolve(ready_map("trl"), alone).columns
