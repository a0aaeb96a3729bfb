"""The optimiser's step of RL: a mean over groups, in pieces that add up, and good answers likelier after it."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="needs the extra train")

from rl_fakes import SETTINGS, small_model  # noqa: E402

from maxproof.training.checkpoint import Checkpoint  # noqa: E402
from maxproof.training.policy_update import Answered, NotFinite, adamw, update_policy  # noqa: E402


@pytest.fixture
def start() -> Checkpoint:
    return small_model()


def groups(count: int) -> list[tuple[Answered, ...]]:
    prompt = (4, 60, 3)
    return [(Answered(prompt, (40 + n, 41, 2), 1.0), Answered(prompt, (50 + n, 2), -1.0)) for n in range(count)]


def test_pieces_of_a_minibatch_add_up(start: Checkpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    from maxproof.training import policy_update
    from maxproof.training.checkpoint import copy_model

    whole, pieces = copy_model(start.model), copy_model(start.model)
    one = update_policy(whole, adamw(whole, SETTINGS), groups(6), SETTINGS)
    monkeypatch.setattr(policy_update, "MAX_TOKENS", 12)
    other = update_policy(pieces, adamw(pieces, SETTINGS), groups(6), SETTINGS)
    assert other.loss == pytest.approx(one.loss, abs=1e-5)
    assert other.gradient_norm == pytest.approx(one.gradient_norm, rel=1e-4)
    assert other.weights.tokens == one.weights.tokens == 30
    assert one.updates == 2


def test_the_gradient_is_a_mean_over_groups(start: Checkpoint) -> None:
    from maxproof.training.checkpoint import copy_model

    settings = SETTINGS.model_copy(update={"minibatches": 1})
    one, thrice = copy_model(start.model), copy_model(start.model)
    single = update_policy(one, adamw(one, settings), groups(1), settings)
    same = update_policy(thrice, adamw(thrice, settings), groups(1) * 3, settings)
    assert same.gradient_norm == pytest.approx(single.gradient_norm, rel=1e-4)
    assert same.loss == pytest.approx(single.loss, abs=1e-6)


def test_fewer_groups_than_minibatches(start: Checkpoint) -> None:
    from maxproof.training.checkpoint import copy_model

    model = copy_model(start.model)
    report = update_policy(model, adamw(model, SETTINGS), groups(1), SETTINGS.model_copy(update={"minibatches": 4}))
    assert report.updates == 1
    assert report.weights.all_one


def test_the_update_makes_good_answers_likelier(start: Checkpoint) -> None:
    from maxproof.training.checkpoint import copy_model
    from maxproof.training.model import answer_logprobs, collate

    model = copy_model(start.model)
    good, bad = groups(1)[0]

    def gap() -> float:
        with torch.no_grad():
            return float(
                answer_logprobs(model, collate([(good.prompt, good.answer)])).mean()
                - answer_logprobs(model, collate([(bad.prompt, bad.answer)])).mean()
            )

    before = gap()
    optimizer = adamw(model, SETTINGS)
    for _ in range(5):
        update_policy(model, optimizer, groups(1), SETTINGS)
    assert gap() > before + 0.1


def test_weights_that_are_no_numbers_are_told(start: Checkpoint) -> None:
    from maxproof.training.checkpoint import copy_model

    model = copy_model(start.model)
    with torch.no_grad():
        model.model.norm.weight.fill_(torch.nan)
    with pytest.raises(NotFinite):
        update_policy(model, adamw(model, SETTINGS), groups(2), SETTINGS)
