"""What trainers write becomes canonical frames, each by its map."""

from __future__ import annotations

from pathlib import Path

import pytest

pl = pytest.importorskip("polars", reason="needs the extra monitor")

from monitor_files import GOOD, read, rows_of, written  # noqa: E402

from maxproof.monitor.fields import MAPS, detect_map, parse_map  # noqa: E402
from maxproof.monitor.read import read_batches, top_fields  # noqa: E402
from maxproof.problems import InputError  # noqa: E402


def test_verl(tmp_path: Path) -> None:
    rows = [
        {"input": "Prove it.", "output": "<think>hm</think>Done.", "gts": "4", "score": 1.0, "step": 12, "acc": True},
        {
            "input": "Prove it.",
            "output": "hm, wait</think>\nDone.",
            "gts": "4",
            "score": -1.0,
            "step": 12,
            "acc": False,
        },
    ]
    path = written(tmp_path / "12.jsonl", rows)
    fields = parse_map(["train_reward=score:-1..1"], detect_map(top_fields(path)))
    found = rows_of(list(read_batches([path], fields)))
    assert [(row["problem"], row["step"], row["text"], row["thinking"], row["train_reward"]) for row in found] == [
        ("Prove it.", 12, "Done.", "hm", 1.0),
        ("Prove it.", 12, "Done.", "hm, wait", 0.0),
    ]


def test_trl_with_texts_and_with_messages(tmp_path: Path) -> None:
    folder = tmp_path / "completions"
    folder.mkdir()
    pl.DataFrame(
        {
            "step": [10, 10],
            "prompt": ["p", "q"],
            "completion": ["Clearly.", "<think>no</think>Yes."],
            "maxproof": [1.0, float("nan")],
            "advantage": [0.1, 0.2],
        }
    ).write_parquet(folder / "completions_00010.parquet")
    message = [{"role": "assistant", "content": "Therefore.", "reasoning_content": "well"}]
    pl.DataFrame(
        {
            "step": [20],
            "prompt": [[{"role": "system", "content": "s"}, {"role": "user", "content": "p"}]],
            "completion": [message],
            "maxproof": [0],
            "advantage": [0.0],
        }
    ).write_parquet(folder / "completions_00020.parquet")
    fields = detect_map(top_fields(folder / "completions_00010.parquet"))
    assert fields.name == "trl"
    found = rows_of(list(read_batches([folder], fields)))
    picked = ("problem", "step", "text", "thinking", "train_reward")
    assert [tuple(row[name] for name in picked) for row in found] == [
        ("p", 10, "Clearly.", None, 1.0),
        ("q", 10, "Yes.", "no", None),
        ("p", 20, "Therefore.", "well", 0.0),
    ]


def test_slime(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    sample = {"group_index": 3, "index": 25, "prompt": "p", "response": "So.", "response_length": 2, "reward": 1.0}
    for number in (0, 1):
        torch.save({"rollout_id": number, "samples": [sample, sample]}, tmp_path / f"data_{number}.pt")
    torch.save({"rollout_id": 0, "samples": [sample]}, tmp_path / "eval_0.pt")
    fields = detect_map(top_fields(tmp_path / "data_0.pt"))
    found = rows_of(list(read_batches([tmp_path], fields)))
    assert [(row["step"], row["group"], row["sample"], row["text"]) for row in found] == [
        (0, 3, 25, "So."),
        (0, 3, 25, "So."),
        (1, 3, 25, "So."),
        (1, 3, 25, "So."),
    ]


def test_a_pickle_with_code_is_refused(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    torch.save({"samples": [{"prompt": Path("x")}]}, tmp_path / "data_0.pt")
    with pytest.raises(InputError, match="can't be loaded as plain data"):
        list(read_batches([tmp_path], MAPS["slime"]))


def test_prime_rl(tmp_path: Path) -> None:
    folder = tmp_path / "rollouts" / "step_7"
    folder.mkdir(parents=True)
    row = {
        "example_id": 4,
        "prompt": [{"role": "user", "content": "p"}],
        "completion": [
            {"role": "assistant", "content": "first", "tool_calls": []},
            {"role": "tool", "content": "42"},
            {"role": "assistant", "content": "last"},
        ],
        "reward": 1.0,
    }
    written(folder / "train_rollouts.jsonl", [row])
    fields = detect_map(top_fields(folder / "train_rollouts.jsonl"))
    (found,) = rows_of(list(read_batches([tmp_path], fields)))
    assert (found["problem"], found["step"], found["text"], found["train_reward"]) == ("4", 7, "last", 1.0)


def test_prime_rl_traces(tmp_path: Path) -> None:
    folder = tmp_path / "step_3"
    folder.mkdir()
    row = {
        "version": 1,
        "task": {"type": "Proof", "data": {"x": 1}, "key": "t1"},
        "nodes": [
            {"message": {"role": "user", "content": "p"}, "sampled": False, "token_ids": [1, 2]},
            {"message": {"role": "assistant", "content": "So.", "reasoning_content": "hm"}, "sampled": True},
        ],
        "rewards": {"proof": {"score": 0.5, "weight": 1.0}, "form": {"score": 1.0, "weight": 0.25}, "no": None},
    }
    path = written(folder / "traces.jsonl", [row, {**row, "rewards": {"proof": None}}])
    found = rows_of(list(read_batches([path], detect_map(top_fields(path)))))
    picked = ("problem", "step", "text", "thinking", "train_reward")
    assert [tuple(row[name] for name in picked) for row in found] == [
        ("t1", 3, "So.", "hm", 0.75),
        ("t1", 3, "So.", "hm", None),
    ]


def test_parquet_of_a_wrong_type_names_the_column(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pl.DataFrame({"problem": ["p"], "step": [1], "text": ["t"], "train_reward": ["high"]}).write_parquet(path)
    with pytest.raises(InputError, match=r"a\.parquet: train_reward: expected numbers, found String"):
        read(path)
    path.write_bytes(b"PAR1 not")
    with pytest.raises(InputError, match="not Parquet"):
        read(path)


def test_a_field_whose_name_has_dots_is_one_field(tmp_path: Path) -> None:
    rows = [{"problem": "p", "step": 1, "text": "t", "metrics.acc": 0.5, "metrics": {"acc": 0.1, "other": 0.2}}]
    path = written(tmp_path / "a.jsonl", rows)
    (whole,) = rows_of(read(path, "train_reward=metrics.acc", "oracle=metrics.other"))
    assert (whole["train_reward"], whole["oracle"]) == (0.5, 0.2)
    pl.DataFrame({"p.id": ["p"], "step": [1], "text": ["t"], "s.x": [3.5]}).write_parquet(tmp_path / "a.parquet")
    (flat,) = rows_of(read(tmp_path / "a.parquet", "problem=p.id", "oracle=s.x:0..7"))
    assert (flat["problem"], flat["oracle"]) == ("p", 0.5)


def test_a_check_that_passes_or_fails_is_a_score(tmp_path: Path) -> None:
    rows = [{**GOOD, "oracle": True, "judges": {"a": False}}, {**GOOD, "oracle": False, "judges": {"a": 0.5}}]
    rows += [{**GOOD, "oracle": None}, {**GOOD, "oracle": True}]
    expected = [1.0, 0.0, None, 1.0]
    path = written(tmp_path / "a.jsonl", rows)
    assert [row["oracle"] for row in rows_of(read(path))] == expected
    mixed = written(tmp_path / "b.jsonl", [*rows, {**GOOD, "oracle": 0.25}])
    found = rows_of(read(mixed))
    assert [row["oracle"] for row in found] == [*expected, 0.25]
    assert found[0]["judges"] == [{"judge": "a", "score": 0.0}]
    pl.DataFrame({"problem": "p", "step": 1, "text": "t", "oracle": [True, False, None]}).write_parquet(
        tmp_path / "a.parquet"
    )
    assert [row["oracle"] for row in rows_of(read(tmp_path / "a.parquet"))] == [1.0, 0.0, None]
