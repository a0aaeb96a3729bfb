"""Decoding: the cache against the plain model, rows against each other, draws against the distribution."""

import pytest

torch = pytest.importorskip("torch", reason="needs the extra train")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from maxproof.problems import InputError  # noqa: E402
from maxproof.training.model import Decoder  # noqa: E402
from maxproof.training.sampling import draw, sample, uniforms  # noqa: E402
from maxproof.training.settings import ModelShape, SamplingSettings  # noqa: E402
from maxproof.training.tokenizer import build_tokenizer  # noqa: E402
from maxproof.training.types import Sampled  # noqa: E402

TOKENIZER = build_tokenizer(["Solve So"])
PROMPTS = ["<prove> Solve 3 x = 6 <sep>", "Solve", "<prove> So So So 1 2 3 4 5 6 7 <sep>", "Solve", "x = 3"]


def model_of(kv_heads: int = 2, tied: bool = True, context: int = 64) -> Decoder:
    shape = ModelShape(layers=2, width=32, heads=4, kv_heads=kv_heads, hidden=48, context=context, tied=tied)
    model = Decoder(shape, len(TOKENIZER), seed=3)
    generator = torch.Generator().manual_seed(7)
    for weights in model.parameters():
        torch.nn.init.normal_(weights, std=0.25, generator=generator)
    # Answers should end, and at different lengths: the first dimension is large in every stream, and `<end>` likes it.
    with torch.no_grad():
        model.model.norm.weight[0] = 1.0
        model.model.embed_tokens.weight[:, 0] = 1.0
        model.output_weight[:, 0] = 0.5
        model.output_weight[TOKENIZER.end, 0] = 2.0
    return model


def expected_logprobs(model: Decoder, prompt: str, answer: Sampled) -> list[float]:
    """By the plain model, without a cache."""
    ids = TOKENIZER.encode_prompt(prompt)
    with torch.no_grad():
        logprobs = torch.log_softmax(model(torch.tensor([[*ids, *answer.ids]]))[0], dim=-1)
    return [float(logprobs[len(ids) - 1 + offset, token]) for offset, token in enumerate(answer.ids)]


@pytest.mark.parametrize(("kv_heads", "tied"), [(1, True), (2, False), (4, True)])
@pytest.mark.parametrize("how", [{"temperature": 1.0}, {"temperature": 0.7, "top_p": 0.9}, {"temperature": 0.0}])
def test_the_cache_gives_what_the_plain_model_gives(kv_heads: int, tied: bool, how: dict[str, float]) -> None:
    model = model_of(kv_heads, tied)
    answers = sample(model, TOKENIZER, PROMPTS, SamplingSettings(max_new_tokens=20, **how), range(5))
    assert len({len(answer.ids) for answer in answers}) > 1 or how["temperature"] == 0
    for prompt, answer in zip(PROMPTS, answers, strict=True):
        assert answer.logprobs == pytest.approx(expected_logprobs(model, prompt, answer), abs=1e-4)
        assert answer.finished == (answer.ids[-1] == TOKENIZER.end)
        assert TOKENIZER.end not in answer.ids[:-1]


def test_a_row_does_not_depend_on_its_neighbours() -> None:
    model = model_of()
    how = SamplingSettings(max_new_tokens=24)
    together = sample(model, TOKENIZER, PROMPTS * 4, how, range(20))
    for index in (0, 1, 2, 7, 13, 19):
        (alone,) = sample(model, TOKENIZER, [(PROMPTS * 4)[index]], how, [index])
        assert alone.ids == together[index].ids
        assert alone.logprobs == pytest.approx(together[index].logprobs, abs=1e-4)
    in_threes = sample(model, TOKENIZER, PROMPTS * 4, how.model_copy(update={"batch": 3}), range(20))
    assert [answer.ids for answer in in_threes] == [answer.ids for answer in together]
    assert together[1].ids != together[3].ids, "same prompt, another seed"


def test_a_shorter_limit_gives_a_prefix() -> None:
    model = model_of()
    long = sample(model, TOKENIZER, PROMPTS, SamplingSettings(max_new_tokens=24), range(5))
    short = sample(model, TOKENIZER, PROMPTS, SamplingSettings(max_new_tokens=6), range(5))
    for one, other in zip(short, long, strict=True):
        assert one.ids == other.ids[:6]
        assert one.finished == (len(other.ids) <= 6 and other.finished)


def test_answers_end_with_the_context() -> None:
    model = model_of(context=20)
    answers = sample(model, TOKENIZER, PROMPTS, SamplingSettings(max_new_tokens=50), range(5))
    for prompt, answer in zip(PROMPTS, answers, strict=True):
        room = 20 - len(TOKENIZER.encode_prompt(prompt))
        assert len(answer.ids) <= room
        assert answer.finished or len(answer.ids) == room
        assert answer.logprobs == pytest.approx(expected_logprobs(model, prompt, answer), abs=1e-4)


def test_greedy_takes_the_most_probable_token() -> None:
    model = model_of()
    (answer,) = sample(model, TOKENIZER, PROMPTS[:1], SamplingSettings(temperature=0, max_new_tokens=8), [0])
    ids = TOKENIZER.encode_prompt(PROMPTS[0])
    for token in answer.ids:
        assert int(model(torch.tensor([ids]))[0, -1].argmax()) == token
        ids.append(token)


def test_what_cannot_be_sampled_is_refused() -> None:
    model, how = model_of(), SamplingSettings()
    assert sample(model, TOKENIZER, [], how, []) == []
    with pytest.raises(ValueError, match="2 seeds"):
        sample(model, TOKENIZER, ["So"], how, [1, 2])
    with pytest.raises(ValueError, match="empty prompt"):
        sample(model, TOKENIZER, [" "], how, [1])
    with pytest.raises(InputError, match="64"):
        sample(model, TOKENIZER, ["So " * 64], how, [1])


def test_uniforms_are_a_stream_of_their_seed() -> None:
    assert (uniforms([5, 6], 10)[:, :4] == uniforms([5, 6], 4)).all()
    assert (uniforms([5, 6], 10)[1] == uniforms([6], 10)[0]).all()
    assert abs(uniforms(range(500), 40).mean() - 0.5) < 0.01


@given(st.lists(st.floats(-4, 4, width=32), min_size=2, max_size=100), st.sampled_from([1.0, 0.5, 2.0]))
@settings(max_examples=30, deadline=None)
def test_draws_follow_the_distribution(logits: list[float], temperature: float) -> None:
    rows = torch.tensor([logits]).expand(2000, -1)
    even = (torch.arange(2000) + 0.5) / 2000
    tokens, logprobs = draw(rows, even, SamplingSettings(temperature=temperature))
    share = torch.bincount(tokens, minlength=len(logits)) / 2000
    assert torch.allclose(share, torch.softmax(rows[0] / temperature, dim=-1), atol=2e-3)
    assert torch.allclose(logprobs, torch.log_softmax(rows[0], dim=-1)[tokens])


@given(st.lists(st.floats(-4, 4, width=32), min_size=2, max_size=100), st.sampled_from([0.1, 0.5, 0.95]))
@settings(max_examples=30, deadline=None)
def test_top_p_keeps_the_fewest_tokens_that_hold_it(logits: list[float], top_p: float) -> None:
    rows = torch.tensor([logits]).expand(4000, -1)
    tokens, _ = draw(rows, (torch.arange(4000) + 0.5) / 4000, SamplingSettings(top_p=top_p))
    probabilities = torch.softmax(rows[0], dim=-1)
    drawn = tokens.unique()
    lowest = probabilities[drawn].min()
    assert probabilities[probabilities > lowest].sum() < top_p + 1e-3
    assert probabilities[probabilities >= lowest].sum() > top_p - 1e-3


@pytest.mark.parametrize("uniform", [0.0, 1 - 2**-24])
def test_impossible_tokens_are_never_drawn(uniform: float) -> None:
    logits = torch.tensor([[-torch.inf, 1.0, 2.0, -torch.inf]])
    token, _ = draw(logits, torch.tensor([uniform]), SamplingSettings())
    assert int(token) in (1, 2)
