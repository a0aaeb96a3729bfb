"""Supervised training: it learns, goes on exactly where it stopped, and stops loudly when something breaks."""

from collections.abc import Iterator
from itertools import count, islice, pairwise
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs the extra train")

from maxproof.problems import InputError  # noqa: E402
from maxproof.training import sft  # noqa: E402
from maxproof.training.checkpoint import Checkpoint, digest, load_checkpoint, new_checkpoint  # noqa: E402
from maxproof.training.sampling import sample  # noqa: E402
from maxproof.training.settings import ModelShape, SamplingSettings, SftSettings  # noqa: E402
from maxproof.training.sft import learning_rate, train_sft  # noqa: E402
from maxproof.training.tokenizer import build_tokenizer  # noqa: E402
from maxproof.training.types import Example  # noqa: E402

TOKENIZER = build_tokenizer(["Solve So is"])
SHAPE = ModelShape(layers=1, width=32, heads=2, kv_heads=1, hidden=48, context=32)
SETTINGS = SftSettings(steps=6, batch=4, learning_rate=1e-2, warmup=2, save_every=3)


def start(seed: int = 0) -> Checkpoint:
    return new_checkpoint(SHAPE, TOKENIZER, seed)


def counting() -> Iterator[Example]:
    """What comes after n: one, two or three numbers."""
    for number in count():
        answer = " ".join(str((number + step) % 9) for step in range(1, 2 + number % 3))
        yield Example(f"<prove> {number % 9} <sep>", answer)


class Interrupted(Exception):
    pass


def interrupt_at(last: int) -> sft.Progress:
    def progress(step: int, *_: float) -> None:
        if step == last:
            raise Interrupted

    return progress


def test_it_learns_answers_and_where_they_end(tmp_path: Path) -> None:
    losses: list[float] = []
    settings = SETTINGS.model_copy(update={"steps": 150, "batch": 16, "save_every": 100})
    learnt = train_sft(
        start(), counting(), settings, tmp_path, 1, progress=lambda step, steps, loss, speed, eta: losses.append(loss)
    )
    assert len(losses) == 150
    assert losses[-1] < 0.1 < losses[0]
    prompts = [example.prompt for example in islice(counting(), 9)]
    answers = sample(learnt.model, TOKENIZER, prompts, SamplingSettings(temperature=0, max_new_tokens=8), [0] * 9)
    right = [example.answer for example in islice(counting(), 9)]
    assert [TOKENIZER.decode(got.ids) for got in answers] == right
    assert learnt.meta.trained_by == "sft"
    assert learnt.meta.step == 150
    assert learnt.meta.parent == digest(start())
    assert digest(load_checkpoint(tmp_path)) == digest(learnt)


@pytest.mark.parametrize("last", [1, 3, 4])
def test_an_interrupted_run_ends_bit_for_bit_alike(tmp_path: Path, last: int) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        straight = train_sft(start(), counting(), SETTINGS, tmp_path / "one", 1)
        with pytest.raises(Interrupted):
            train_sft(start(), counting(), SETTINGS, tmp_path / "two", 1, progress=interrupt_at(last))
        steps: list[int] = []
        resumed = train_sft(
            start(), counting(), SETTINGS, tmp_path / "two", 1, progress=lambda step, *_: steps.append(step)
        )
    finally:
        torch.set_num_threads(before)
    assert steps == list(range(1 + last // 3 * 3, 7))
    assert digest(resumed) == digest(straight)
    assert train_sft(start(), counting(), SETTINGS, tmp_path / "two", 1).meta == resumed.meta, "nothing left to do"


def test_resuming_reaches_into_later_pools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sft, "_POOL", 2)
    straight = train_sft(start(), counting(), SETTINGS, tmp_path / "one", 1)
    with pytest.raises(Interrupted):
        train_sft(start(), counting(), SETTINGS, tmp_path / "two", 1, progress=interrupt_at(5))
    assert digest(train_sft(start(), counting(), SETTINGS, tmp_path / "two", 1)) == digest(straight)


def test_the_seed_decides(tmp_path: Path) -> None:
    examples = list(islice(counting(), 10))
    ends = [digest(train_sft(start(), examples, SETTINGS, tmp_path / str(n), seed)) for n, seed in enumerate((1, 1, 2))]
    assert ends[0] == ends[1] != ends[2]


def test_the_start_is_left_as_it_is(tmp_path: Path) -> None:
    checkpoint = start()
    train_sft(checkpoint, counting(), SETTINGS, tmp_path, 1)
    assert digest(checkpoint) == digest(start())


@pytest.mark.parametrize("which", ["loss", "gradient"])
def test_nan_stops_loudly_and_keeps_the_last_good_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, which: str
) -> None:
    real, calls = sft.answer_logprobs, count(1)

    def poisoned(*args: object) -> torch.Tensor:
        found = real(*args)
        if next(calls) < 5:
            return found
        if which == "loss":
            return found * torch.nan
        found.register_hook(lambda gradient: gradient * torch.nan)
        return found

    monkeypatch.setattr(sft, "answer_logprobs", poisoned)
    with pytest.raises(InputError, match=f"checkpoint: the {which} is nan at step 5; .* the last good") as caught:
        train_sft(start(), counting(), SETTINGS, tmp_path, 1)
    assert "\n" not in str(caught.value)
    assert load_checkpoint(tmp_path).meta.step == 3


def test_the_start_is_saved_before_the_first_step(tmp_path: Path) -> None:
    with pytest.raises(Interrupted):
        train_sft(start(), counting(), SETTINGS, tmp_path, 1, progress=interrupt_at(1))
    assert load_checkpoint(tmp_path).meta.step == 0


def test_another_run_is_not_continued(tmp_path: Path) -> None:
    train_sft(start(), counting(), SETTINGS, tmp_path, 1)
    with pytest.raises(InputError, match="another seed: seed 1, now 2"):
        train_sft(start(), counting(), SETTINGS, tmp_path, 2)
    with pytest.raises(InputError, match="another start"):
        train_sft(start(5), counting(), SETTINGS, tmp_path, 1)
    with pytest.raises(InputError, match=r"another settings: batch 4, now 8"):
        train_sft(start(), counting(), SETTINGS.model_copy(update={"batch": 8}), tmp_path, 1)
    (tmp_path / "checkpoint" / "state.json").unlink()
    with pytest.raises(InputError, match="no training can be resumed"):
        train_sft(start(), counting(), SETTINGS, tmp_path, 1)


def test_examples_that_end_too_soon(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="ended after 9"):
        train_sft(start(), islice(counting(), 9), SETTINGS, tmp_path / "one", 1)
    with pytest.raises(InputError, match="ended after 0"):
        train_sft(start(), [], SETTINGS, tmp_path / "two", 1)


def test_examples_that_do_not_fit_are_counted_or_refused(tmp_path: Path) -> None:
    long = Example("So " * 32, "is")
    short = list(islice(counting(), 3))
    learnt = train_sft(start(), [long, *short], SETTINGS, tmp_path / "one", 1)
    assert learnt.meta.notes["too_long"] > 0
    with pytest.raises(InputError, match="do not fit a context of 32"):
        train_sft(start(), [long, long, short[0]], SETTINGS, tmp_path / "two", 1)


def test_an_end_token_in_the_answer_is_forgiven(tmp_path: Path) -> None:
    plain = [Example("So <sep>", "is 3")] * 4
    ended = [Example("So <sep>", "is 3 <end>")] * 4
    ends = [train_sft(start(), examples, SETTINGS, tmp_path / str(n), 1) for n, examples in enumerate((plain, ended))]
    assert digest(ends[0]) == digest(ends[1])


def test_the_learning_rate_rises_then_falls_to_a_tenth() -> None:
    settings = SftSettings(steps=100, warmup=10, learning_rate=1.0)
    rates = [learning_rate(step, settings) for step in range(101)]
    assert rates[0] == pytest.approx(0.1)
    assert rates[9] == rates[10] == pytest.approx(1.0)
    assert rates[100] == pytest.approx(0.1)
    assert all(one > other for one, other in pairwise(rates[10:]))
