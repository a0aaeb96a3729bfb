"""The decoder against Hugging Face's Llama, its padding, and its accounting."""

import pytest

torch = pytest.importorskip("torch", reason="needs the extra train")

from maxproof.training.model import (  # noqa: E402
    Decoder,
    answer_logprobs,
    collate,
    flops_per_token,
    parameter_count,
    use_threads,
)
from maxproof.training.settings import ModelShape  # noqa: E402

SMALL = ModelShape(layers=2, width=32, heads=4, kv_heads=2, hidden=48, context=64, tied=True)


def test_padding_on_the_right_changes_nothing() -> None:
    model = Decoder(SMALL, 50, seed=1)
    rows = [[3, 7, 9], [4, 8, 2, 11, 30, 6], [5]]
    padded = torch.zeros(3, 6, dtype=torch.long)
    for index, row in enumerate(rows):
        padded[index, : len(row)] = torch.tensor(row)
    together = model(padded)
    for index, row in enumerate(rows):
        alone = model(torch.tensor([row]))[0]
        assert torch.allclose(together[index, : len(row)], alone, atol=1e-5)


def test_no_position_sees_what_follows_it() -> None:
    model = Decoder(SMALL, 50, seed=1)
    before = model(torch.tensor([[3, 7, 9, 12]]))[0, :3]
    after = model(torch.tensor([[3, 7, 9, 40]]))[0, :3]
    assert torch.allclose(before, after, atol=1e-6)


def test_order_matters() -> None:
    model = Decoder(SMALL, 50, seed=1)
    assert not torch.allclose(model(torch.tensor([[3, 7, 9]]))[0, -1], model(torch.tensor([[7, 3, 9]]))[0, -1])


def test_same_seed_same_weights() -> None:
    first, second, other = (Decoder(SMALL, 50, seed=seed).state_dict() for seed in (4, 4, 5))
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not torch.equal(first["model.embed_tokens.weight"], other["model.embed_tokens.weight"])


@pytest.mark.parametrize("change", [{"heads": 3}, {"width": 36}, {"heads": 4, "kv_heads": 3}])
def test_a_shape_that_does_not_work_out_is_refused(change: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="multiple"):
        Decoder(SMALL.model_copy(update=change), 50)


def test_more_tokens_than_the_context_are_refused() -> None:
    with pytest.raises(ValueError, match="context of 64"):
        Decoder(SMALL, 50)(torch.zeros(1, 65, dtype=torch.long))


def test_flops_count_every_matrix_twice() -> None:
    for tied in (True, False):
        shape = SMALL.model_copy(update={"tied": tied})
        model = Decoder(shape, 50)
        matrices = sum(weights.numel() for weights in model.parameters() if weights.dim() == 2)
        used = matrices if tied else matrices - 50 * 32
        assert flops_per_token(shape, 50, 0) == 2 * used
        assert flops_per_token(shape, 50, 10) - flops_per_token(shape, 50, 0) == 4 * 2 * 32 * 10
        assert parameter_count(model) == matrices + 5 * 32


def test_threads() -> None:
    before = torch.get_num_threads()
    use_threads(1)
    assert torch.get_num_threads() == 1
    use_threads(before)
    with pytest.raises(ValueError, match="at least 1"):
        use_threads(0)


def test_answer_logprobs_are_those_of_the_answers() -> None:
    model = Decoder(SMALL, 50, seed=2)
    pairs = [([3, 4, 5], [6, 7]), ([8], [9, 10, 11])]
    got = answer_logprobs(model, collate(pairs))
    expected = []
    for prompt, answer in pairs:
        logprobs = torch.log_softmax(model(torch.tensor([[*prompt, *answer]]))[0], dim=-1)
        expected += [logprobs[len(prompt) - 1 + offset, token] for offset, token in enumerate(answer)]
    assert torch.allclose(got, torch.stack(expected), atol=1e-5)


@pytest.mark.parametrize("pair", [([], [1]), ([1], [])])
def test_empty_prompts_and_answers_are_refused(pair: tuple[list[int], list[int]]) -> None:
    with pytest.raises(ValueError, match="row 0 has an empty"):
        collate([pair])


@pytest.mark.parametrize(("tied", "kv_heads"), [(True, 1), (False, 2), (True, 4)])
def test_transformers_computes_the_same_logits(tied: bool, kv_heads: int) -> None:
    transformers = pytest.importorskip("transformers", reason="needs the extra hf")
    from maxproof.training.checkpoint import config_of
    from maxproof.training.tokenizer import build_tokenizer

    tokenizer = build_tokenizer(["Solve"])
    model = Decoder(SMALL.model_copy(update={"tied": tied, "kv_heads": kv_heads}), len(tokenizer), seed=3)
    for weights in model.parameters():
        torch.nn.init.normal_(weights, std=0.3)
    theirs = transformers.LlamaForCausalLM(transformers.LlamaConfig(**config_of(model, tokenizer, "float32")))
    missing, unexpected = theirs.load_state_dict(model.state_dict(), strict=False)
    assert unexpected == []
    assert missing == (["lm_head.weight"] if tied else [])
    theirs.tie_weights()
    ids = torch.randint(0, len(tokenizer), (3, 40), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        assert torch.allclose(model(ids), theirs(ids).logits, atol=1e-4, rtol=1e-4)
