"""The model: a decoder-only transformer in the shape of Llama, small enough to be trained on one core.

Each layer adds two things to the residual stream: attention over the tokens so far (rotary positions) and a gated
feed-forward part (SwiGLU); each reads the stream through an RMSNorm and nothing has a bias. Parameters are named as in
Hugging Face's `LlamaForCausalLM`, so that one safetensors file serves both.

Batches are padded on the right: a causal model never looks ahead, so padding can't reach a real token and no mask is
needed. Decoding with a key-value cache is in `sampling.py`, which reads the same weights in a fused form.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from maxproof.training.settings import ModelShape

NORM_EPSILON = 1e-6
ROTARY_BASE = 10000.0
_INITIAL_STD = 0.02


def use_threads(count: int) -> None:
    """Sets how many threads torch computes with, in the whole process.

    One is faster than two for a small model, and far faster when other processes share the cores: a waiting thread
    of a parallel region spins.
    """
    if count < 1:
        raise ValueError(f"{count} threads; at least 1 is needed")
    torch.set_num_threads(count)


class RmsNorm(nn.Module):
    """x / sqrt(mean(x^2) + epsilon) * weight, over the last dimension."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, self.weight.shape, self.weight, NORM_EPSILON)


class Attention(nn.Module):
    """Causal self-attention; `kv_heads` key-value heads are shared by groups of query heads."""

    def __init__(self, shape: ModelShape) -> None:
        super().__init__()
        self.heads, self.kv_heads, self.head_width = shape.heads, shape.kv_heads, shape.width // shape.heads
        self.q_proj = nn.Linear(shape.width, shape.width, bias=False)
        self.k_proj = nn.Linear(shape.width, self.kv_heads * self.head_width, bias=False)
        self.v_proj = nn.Linear(shape.width, self.kv_heads * self.head_width, bias=False)
        self.o_proj = nn.Linear(shape.width, shape.width, bias=False)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        rows, length, width = x.shape
        # One product instead of three: the calls are small enough for their overhead to count.
        qkv = F.linear(x, torch.cat((self.q_proj.weight, self.k_proj.weight, self.v_proj.weight)))
        qkv = qkv.view(rows, length, -1, self.head_width).transpose(1, 2)
        turned = rotate(qkv[:, : self.heads + self.kv_heads], cos, sin)
        query, key = turned[:, : self.heads], turned[:, self.heads :]
        value = qkv[:, self.heads + self.kv_heads :]
        mixed = F.scaled_dot_product_attention(
            query, key, value, is_causal=True, enable_gqa=self.kv_heads != self.heads
        )
        return self.o_proj(mixed.transpose(1, 2).reshape(rows, length, width))  # type: ignore[no-any-return]


class FeedForward(nn.Module):
    """down(silu(gate(x)) * up(x))."""

    def __init__(self, shape: ModelShape) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(shape.width, shape.hidden, bias=False)
        self.up_proj = nn.Linear(shape.width, shape.hidden, bias=False)
        self.down_proj = nn.Linear(shape.hidden, shape.width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))  # type: ignore[no-any-return]


class Layer(nn.Module):
    """One layer: attention, then the feed-forward part, each added to the stream."""

    def __init__(self, shape: ModelShape) -> None:
        super().__init__()
        self.self_attn = Attention(shape)
        self.mlp = FeedForward(shape)
        self.input_layernorm = RmsNorm(shape.width)
        self.post_attention_layernorm = RmsNorm(shape.width)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        x = x + self.self_attn(self.input_layernorm(x), cos, sin)
        return x + self.mlp(self.post_attention_layernorm(x))  # type: ignore[no-any-return]


class Backbone(nn.Module):
    """Embeddings, layers and the last norm: everything but the output matrix."""

    def __init__(self, shape: ModelShape, vocabulary: int) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(vocabulary, shape.width)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.norm = RmsNorm(shape.width)


class Decoder(nn.Module):
    """The language model.

    Args:
        shape: sizes; `width` must be a multiple of `heads`, `heads` of `kv_heads`, and a head's width even.
        vocabulary: number of tokens, the output matrix's rows.
        seed: of the initial weights; the same seed gives the same weights.

    Raises ValueError for a shape that doesn't work out.
    """

    def __init__(self, shape: ModelShape, vocabulary: int, seed: int = 0) -> None:
        super().__init__()
        if shape.width % (2 * shape.heads) or shape.heads % shape.kv_heads:
            raise ValueError(
                f"width {shape.width}, heads {shape.heads}, kv_heads {shape.kv_heads}: expected width a multiple of "
                "twice the heads, and heads a multiple of kv_heads"
            )
        self.shape, self.vocabulary = shape, vocabulary
        self.model = Backbone(shape, vocabulary)
        if not shape.tied:
            self.lm_head = nn.Linear(shape.width, vocabulary, bias=False)
        cos, sin = rotary(shape.context, shape.width // shape.heads)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)
        self.cos: Tensor
        self.sin: Tensor
        generator = torch.Generator().manual_seed(seed)
        for name, weights in self.named_parameters():
            if weights.dim() == 2:
                # What writes into the stream starts smaller, so that the stream doesn't grow with depth (as in GPT-2).
                writes = name.endswith(("o_proj.weight", "down_proj.weight"))
                std = _INITIAL_STD / math.sqrt(2 * shape.layers) if writes else _INITIAL_STD
                nn.init.normal_(weights, std=std, generator=generator)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.model.embed_tokens.weight.device

    @property
    def output_weight(self) -> Tensor:
        """The output matrix [vocabulary, width]; with tied embeddings the input matrix too."""
        return self.model.embed_tokens.weight if self.shape.tied else self.lm_head.weight

    def hidden(self, ids: Tensor) -> Tensor:
        """Token ids [rows, length] -> the stream after the last norm [rows, length, width].

        Rows are padded on the right with any id. Raises ValueError if length exceeds the context.
        """
        length = ids.shape[1]
        if length > self.shape.context:
            raise ValueError(f"{length} tokens do not fit a context of {self.shape.context}")
        x = self.model.embed_tokens(ids)
        cos, sin = self.cos[:length], self.sin[:length]
        for layer in self.model.layers:
            x = layer(x, cos, sin)
        return self.model.norm(x)  # type: ignore[no-any-return]

    def forward(self, ids: Tensor) -> Tensor:
        """Token ids [rows, length] -> logits of the next token [rows, length, vocabulary]."""
        return F.linear(self.hidden(ids), self.output_weight)


def rotary(length: int, head_width: int) -> tuple[Tensor, Tensor]:
    """Cosines and sines [length, head_width] of the angles position * base^(-2i/head_width), each half the same
    (RoFormer, arXiv 2104.09864, in the half-split form of Llama's Hugging Face weights)."""
    frequencies = ROTARY_BASE ** (-torch.arange(0, head_width, 2, dtype=torch.float64) / head_width)
    angles = torch.outer(torch.arange(length, dtype=torch.float64), frequencies).repeat(1, 2)
    return angles.cos().float(), angles.sin().float()


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Turns each pair (i, i + half) of the last dimension by its angle."""
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-second, first), dim=-1) * sin


def parameter_count(model: nn.Module) -> int:
    """Trainable numbers, a tied matrix counted once."""
    return sum(weights.numel() for weights in model.parameters())


def flops_per_token(shape: ModelShape, vocabulary: int, length: int) -> float:
    """Floating-point operations of a forward pass per token, when `length` tokens are attended to.

    Two (multiply, add) for each weight of every matrix the token goes through, the output matrix included and the
    input look-up not; and for attention 4 * width * length a layer: scores and mixing, two each. Training costs three
    times as much: the backward pass takes gradients of inputs and of weights.
    """
    shared = shape.width * shape.kv_heads // shape.heads
    layer = 2 * shape.width * shape.width + 2 * shape.width * shared + 3 * shape.width * shape.hidden
    return 2 * (shape.layers * layer + shape.width * vocabulary) + 4 * shape.layers * shape.width * length


@dataclass(frozen=True, slots=True)
class Batch:
    """Prompts with their answers.

    Attributes:
        ids: [rows, length], padded on the right.
        targets: [rows, length], the token that follows each position where it belongs to the answer, else -1.
    """

    ids: Tensor
    targets: Tensor

    @property
    def tokens(self) -> int:
        """Positions that are computed, padding included."""
        return self.ids.numel()


def collate(pairs: Sequence[tuple[Sequence[int], Sequence[int]]], device: torch.device | str = "cpu") -> Batch:
    """(prompt ids, answer ids) of each row -> a batch. The last answer token is only a target, never an input.

    Raises ValueError for an empty prompt or answer: there would be nothing to predict from, or to predict.
    """
    length = max(len(prompt) + len(answer) - 1 for prompt, answer in pairs)
    ids = torch.zeros(len(pairs), length, dtype=torch.long)
    targets = torch.full((len(pairs), length), -1, dtype=torch.long)
    for row, (prompt, answer) in enumerate(pairs):
        if not prompt or not answer:
            raise ValueError(f"row {row} has an empty {'answer' if prompt else 'prompt'}")
        whole = torch.tensor([*prompt, *answer])
        ids[row, : len(whole) - 1] = whole[:-1]
        targets[row, len(prompt) - 1 : len(whole) - 1] = whole[len(prompt) :]
    return Batch(ids.to(device), targets.to(device))


def answer_logprobs(model: Decoder, batch: Batch) -> Tensor:
    """Log-probabilities of all answer tokens [answer tokens], row after row, each row's in order.

    The output matrix is applied at these positions only: prompts and padding cost no softmax.
    """
    chosen = batch.targets >= 0
    logits = F.linear(model.hidden(batch.ids)[chosen], model.output_weight)
    return -F.cross_entropy(logits, batch.targets[chosen], reduction="none")
