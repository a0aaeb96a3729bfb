"""Drawing answers: batched decoding with a key-value cache, one seed a row.

The weights are read in a fused form (`_Weights`): the gains of norms are multiplied into the matrices that follow,
queries, keys and values are one product, gate and up another; a step of a small model costs more in calls than in
arithmetic otherwise. The head's dimensions are reordered so that a rotary pair is adjacent, and the rotation is one
product of complex numbers; queries and keys being reordered alike, their products stay the same.

Prompts are sorted by length and decoded in batches; equal prompts of a batch are read once. Rows stand flush right, so
that all of them write the same column of the cache; positions are counted from the left edge, which changes nothing,
since rotary attention sees only differences. Rows that have ended leave the batch.

Each row has its own counter-based generator, and takes one uniform number a token: what it draws depends on its prompt
and its seed, not on the other rows, up to float noise.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from maxproof.problems import InputError
from maxproof.training.model import NORM_EPSILON, ROTARY_BASE, Decoder, Layer
from maxproof.training.settings import SamplingSettings
from maxproof.training.tokenizer import Tokenizer
from maxproof.training.types import Sampled

_COMPACT_BELOW = 0.85  # share of rows still running at which the others' cache is dropped: a copy costs several steps
_NUCLEUS = 64  # tokens that are sorted for top-p, unless they hold too little probability


def sample(
    model: Decoder, tokenizer: Tokenizer, prompts: Sequence[str], settings: SamplingSettings, seeds: Sequence[int]
) -> list[Sampled]:
    """One answer a prompt, in order.

    Args:
        prompts: with special tokens by name (`encode_prompt`).
        seeds: one non-negative integer a prompt.

    The answer's length is limited by `max_new_tokens` and by what the context leaves after the prompt. The returned
    log-probabilities are those of the model itself, before temperature and top-p.

    Raises ValueError if the numbers of prompts and seeds differ or a prompt is empty; InputError if a prompt leaves no
    room in the context for an answer.
    """
    if len(prompts) != len(seeds):
        raise ValueError(f"{len(prompts)} prompts, {len(seeds)} seeds")
    encoded = tokenizer.encode_batch(prompts, prompts=True)
    for ids in encoded:
        if not ids:
            raise ValueError("an empty prompt")
        if len(ids) >= model.shape.context:
            raise InputError(f"a prompt of {len(ids)} tokens leaves no room in a context of {model.shape.context}")
    order = sorted(range(len(encoded)), key=lambda index: (len(encoded[index]), encoded[index], index))
    answers: list[Sampled | None] = [None] * len(encoded)
    with torch.inference_mode():
        weights = _Weights(model)
        for start in range(0, len(order), settings.batch):
            chosen = order[start : start + settings.batch]
            drawn = _decode(
                weights, [encoded[index] for index in chosen], [seeds[index] for index in chosen], settings, tokenizer
            )
            for index, answer in zip(chosen, drawn, strict=True):
                answers[index] = answer
    return [answer for answer in answers if answer is not None]


def uniforms(seeds: Sequence[int], count: int) -> np.ndarray:
    """Numbers in [0, 1) [seeds, count]: the first ones of each seed's stream, whatever `count` is."""
    rows = [np.random.Generator(np.random.Philox(key=seed % 2**128)).random(count) for seed in seeds]
    return np.stack(rows)


def draw(logits: Tensor, uniform: Tensor, settings: SamplingSettings) -> tuple[Tensor, Tensor]:
    """The next token of each row, by inverting the cumulative distribution.

    Args:
        logits: [rows, vocabulary].
        uniform: [rows], in [0, 1); unused when greedy.
    Returns:
        tokens [rows], and their log-probabilities [rows] at temperature 1 and without top-p.
    """
    logprobs = torch.log_softmax(logits, dim=-1)
    if settings.temperature == 0:
        token = logprobs.argmax(dim=-1, keepdim=True)
        return token.squeeze(1), logprobs.gather(1, token).squeeze(1)
    if settings.temperature == 1:
        probabilities = logprobs.exp()
    else:
        probabilities = torch.softmax(logits / settings.temperature, dim=-1)
    ranked: Tensor | None = None
    if settings.top_p < 1:
        probabilities, ranked = _nucleus(probabilities, settings.top_p)
    cumulative = probabilities.cumsum(dim=-1)
    threshold = uniform.unsqueeze(1) * cumulative[:, -1:]
    token = torch.searchsorted(cumulative, threshold, right=True).clamp_(max=cumulative.shape[1] - 1)
    if ranked is not None:
        token = ranked.gather(1, token)
    return token.squeeze(1), logprobs.gather(1, token).squeeze(1)


def _nucleus(probabilities: Tensor, top_p: float) -> tuple[Tensor, Tensor]:
    """The most probable tokens that together hold `top_p` keep their probability, the others get 0; ranked, with ids.

    The token that crosses the bound is kept (arXiv 1904.09751).
    """
    ranked, ids = probabilities.topk(min(_NUCLEUS, probabilities.shape[1]), dim=-1)
    if bool((ranked.sum(dim=-1) < top_p).any()):
        ranked, ids = probabilities.sort(dim=-1, descending=True)
    before = ranked.cumsum(dim=-1) - ranked
    return ranked.masked_fill(before >= top_p, 0.0), ids


class _Weights:
    """A decoder's weights, fused for decoding; as they were when it was made."""

    def __init__(self, model: Decoder) -> None:
        shape = model.shape
        self.heads, self.kv_heads, self.head_width = shape.heads, shape.kv_heads, shape.width // shape.heads
        self.context, self.width, self.device = shape.context, shape.width, model.device
        half = self.head_width // 2
        pairs = torch.arange(self.head_width).view(2, half).t().reshape(-1)
        frequencies = ROTARY_BASE ** (-torch.arange(half, dtype=torch.float64) / half)
        angles = torch.outer(torch.arange(2 * shape.context, dtype=torch.float64), frequencies)
        self.turns = torch.polar(torch.ones_like(angles), angles).to(torch.complex64).to(self.device)

        def paired(weight: Tensor) -> Tensor:
            return weight.view(-1, self.head_width, shape.width)[:, pairs].reshape(-1, shape.width)

        self.embedding = model.model.embed_tokens.weight
        self.layers: list[tuple[Tensor, Tensor, Tensor, Tensor]] = []
        for layer in model.model.layers:
            assert isinstance(layer, Layer)
            attention, mlp = layer.self_attn, layer.mlp
            qkv = torch.cat((paired(attention.q_proj.weight), paired(attention.k_proj.weight), attention.v_proj.weight))
            gate_up = torch.cat((mlp.gate_proj.weight, mlp.up_proj.weight))
            self.layers.append(
                (
                    (qkv * layer.input_layernorm.weight).t().contiguous(),
                    attention.o_proj.weight.t().contiguous(),
                    (gate_up * layer.post_attention_layernorm.weight).t().contiguous(),
                    mlp.down_proj.weight.t().contiguous(),
                )
            )
        self.output = (model.output_weight * model.model.norm.weight).t().contiguous()


class _Cache:
    """Keys and values of each layer, [rows, kv_heads, columns, head_width], filled up to `length` columns."""

    def __init__(self, weights: _Weights, rows: int, columns: int, pads: Tensor) -> None:
        size = (rows, weights.kv_heads, columns, weights.head_width)
        self.keys = [torch.empty(size, device=weights.device) for _ in weights.layers]
        self.values = [torch.empty(size, device=weights.device) for _ in weights.layers]
        self.length = 0
        self.pads = pads
        self._hide_padding()

    def _hide_padding(self) -> None:
        self.mask: Tensor | None = None
        if bool(self.pads.any()):
            columns = torch.arange(self.keys[0].shape[2], device=self.pads.device)
            hidden = columns < self.pads.unsqueeze(1)
            self.mask = torch.zeros(hidden.shape, device=hidden.device).masked_fill_(hidden, -torch.inf)[:, None, None]

    def take(self, rows: Tensor) -> None:
        """Keeps these rows, in this order; a row may be taken several times."""
        for stored in (self.keys, self.values):
            for index, old in enumerate(stored):
                new = torch.empty((len(rows), *old.shape[1:]), device=old.device)
                new[:, :, : self.length] = old[:, :, : self.length].index_select(0, rows)
                stored[index] = new
        self.pads = self.pads.index_select(0, rows)
        self._hide_padding()


def _forward(weights: _Weights, cache: _Cache, ids: Tensor) -> Tensor:
    """Reads the next tokens of each row, [rows, new], into the cache; logits [rows, vocabulary] after the last one.

    Several tokens at once are only for an empty cache.
    """
    rows, new = ids.shape
    start, end = cache.length, cache.length + ids.shape[1]
    turned = weights.heads + weights.kv_heads
    turns = weights.turns[start:end].view(1, new, 1, -1)
    mask = None if cache.mask is None else cache.mask[..., :end]
    if new > 1 and mask is not None:
        # A padding column sees itself, or its softmax would be 0/0.
        diagonal = torch.eye(new, dtype=torch.bool, device=ids.device)
        causal = torch.ones(new, new, dtype=torch.bool, device=ids.device).tril()
        mask = (causal & (mask == 0)) | diagonal
    x = F.embedding(ids, weights.embedding).view(rows * new, -1)
    for layer, (qkv_weight, o_weight, gate_up_weight, down_weight) in enumerate(weights.layers):
        qkv = _normed(x).mm(qkv_weight).view(rows, new, -1, weights.head_width)
        pairs = torch.view_as_complex(qkv[:, :, :turned].view(rows, new, turned, -1, 2))
        pairs.mul_(turns)
        keys, values = cache.keys[layer], cache.values[layer]
        keys[:, :, start:end] = qkv[:, :, weights.heads : turned].transpose(1, 2)
        values[:, :, start:end] = qkv[:, :, turned:].transpose(1, 2)
        if new == 1:
            # The query heads that share keys stand in the place of positions: keys are read once for all of them.
            query = qkv[:, 0, : weights.heads].view(rows, weights.kv_heads, -1, weights.head_width)
            mixed = F.scaled_dot_product_attention(query, keys[:, :, :end], values[:, :, :end], attn_mask=mask)
            mixed = mixed.reshape(rows, -1)
        else:
            mixed = F.scaled_dot_product_attention(
                qkv[:, :, : weights.heads].transpose(1, 2),
                keys[:, :, :end],
                values[:, :, :end],
                attn_mask=mask,
                is_causal=mask is None,
                enable_gqa=weights.kv_heads != weights.heads,
            )
            mixed = mixed.transpose(1, 2).reshape(rows * new, -1)
        x.addmm_(mixed, o_weight)
        gate, up = _normed(x).mm(gate_up_weight).chunk(2, dim=1)
        x.addmm_(F.silu(gate).mul_(up), down_weight)
    cache.length = end
    return _normed(x.view(rows, new, -1)[:, -1]).mm(weights.output)


def _normed(x: Tensor) -> Tensor:
    return F.rms_norm(x, x.shape[-1:], None, NORM_EPSILON)


def _decode(
    weights: _Weights,
    prompts: Sequence[list[int]],
    seeds: Sequence[int],
    settings: SamplingSettings,
    tokenizer: Tokenizer,
) -> list[Sampled]:
    rows, width = len(prompts), max(map(len, prompts))
    limits = [min(settings.max_new_tokens, weights.context - len(prompt)) for prompt in prompts]
    steps = max(limits)
    device = weights.device

    distinct = list(dict.fromkeys(map(tuple, prompts)))
    place = {prompt: index for index, prompt in enumerate(distinct)}
    ids = torch.tensor([[tokenizer.pad] * (width - len(prompt)) + list(prompt) for prompt in distinct], device=device)
    pads = torch.tensor([width - len(prompt) for prompt in distinct], device=device)
    cache = _Cache(weights, len(distinct), width + steps - 1, pads)
    logits = _forward(weights, cache, ids)
    if len(distinct) < rows:
        again = torch.tensor([place[tuple(prompt)] for prompt in prompts], device=device)
        cache.take(again)
        logits = logits.index_select(0, again)

    uniform = torch.from_numpy(uniforms(seeds, steps)).float().clamp_(max=1 - 2**-24).t().contiguous().to(device)
    tokens = torch.zeros(steps, rows, dtype=torch.long, device=device)
    logprobs = torch.zeros(steps, rows, device=device)
    lengths = torch.tensor(limits, device=device)
    limit = lengths.clone()
    finished = torch.zeros(rows, dtype=torch.bool, device=device)
    live = torch.arange(rows, device=device)  # the row that each line of the cache belongs to
    for step in range(steps):
        token, logprob = draw(logits, uniform[step].index_select(0, live), settings)
        tokens[step, live], logprobs[step, live] = token, logprob
        ended = token == tokenizer.end
        stopped = ended | (limit.index_select(0, live) <= step + 1) | finished.index_select(0, live)
        if bool(stopped.any()):
            new = ended & ~finished.index_select(0, live)
            lengths[live[new]] = step + 1
            finished[live[new]] = True
            kept = (~stopped).nonzero().squeeze(1)
            if not len(kept):
                break
            if len(kept) <= _COMPACT_BELOW * len(live):
                cache.take(kept)
                live, token = live[kept], token[kept]
        logits = _forward(weights, cache, token.unsqueeze(1))
    columns = zip(tokens.t().tolist(), logprobs.t().tolist(), lengths.tolist(), finished.tolist(), strict=True)
    return [Sampled(tuple(ids[:length]), tuple(logs[:length]), done) for ids, logs, length, done in columns]
