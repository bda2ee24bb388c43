"""A training step of TransformerLM (forward, loss, backward, AdamW) against transformers' GPT-2 of the same
size and torch's own encoder layers, with a causal mask; best times in ms. All with GPT-2's activation, GELU
by tanh, which transformers computes in its own way."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import torch
import torch.nn.functional as F
import transformers
from measuring import DEVICE, Result, best_seconds
from torch import nn

from transformer_lib import LMConfig, TransformerLM


class Size(NamedTuple):
    layers: int
    d_model: int
    heads: int
    vocab: int
    batch: int
    words: int


SIZES = {
    "4 layers of 128": Size(4, 128, 4, 1000, 16, 128),
    "6 layers of 384": Size(6, 384, 6, 5000, 4, 256),
}
QUICK = {"1 layer of 16": Size(1, 16, 2, 50, 2, 8)}


class TorchLM(nn.Module):
    """The same model of torch's own encoder layers."""

    def __init__(self, size: Size):
        super().__init__()
        self.words = nn.Embedding(size.vocab, size.d_model)
        self.places = nn.Embedding(size.words, size.d_model)
        gelu = partial(F.gelu, approximate="tanh")
        options = {"dropout": 0.0, "activation": gelu, "batch_first": True, "norm_first": True}
        layer = nn.TransformerEncoderLayer(size.d_model, size.heads, 4 * size.d_model, **options)
        norm = nn.LayerNorm(size.d_model)
        self.layers = nn.TransformerEncoder(layer, size.layers, norm, enable_nested_tensor=False)
        self.logits = nn.Linear(size.d_model, size.vocab, bias=False)
        self.logits.weight = self.words.weight
        self.register_buffer("future", nn.Transformer.generate_square_subsequent_mask(size.words))

    def forward(self, ids):
        x = self.words(ids) + self.places.weight
        return self.logits(self.layers(x, mask=self.future, is_causal=True))


def models(size: Size) -> dict[str, nn.Module]:
    ours = LMConfig(
        vocab_size=size.vocab,
        d_model=size.d_model,
        n_layers=size.layers,
        n_heads=size.heads,
        max_length=size.words,
        activation="gelu-tanh",
    )
    theirs = transformers.GPT2Config(
        vocab_size=size.vocab,
        n_embd=size.d_model,
        n_layer=size.layers,
        n_head=size.heads,
        n_positions=size.words,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=0,
        eos_token_id=0,
    )
    made = {
        "here": TransformerLM(ours),
        "transformers' GPT-2": transformers.GPT2LMHeadModel(theirs),
        "torch's encoder layers": TorchLM(size),
    }
    assert len({sum(p.numel() for p in model.parameters()) for model in made.values()}) == 1
    return {name: model.to(DEVICE).train() for name, model in made.items()}


def step_of(model: nn.Module, size: Size):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    ids = torch.randint(size.vocab, (size.batch, size.words + 1), device=DEVICE)

    def step():
        logits = model(ids[:, :-1])
        logits = getattr(logits, "logits", logits)
        loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


def main(quick: bool = False) -> list[Result]:
    results = []
    for name, size in (QUICK if quick else SIZES).items():
        made = models(size)
        times = best_seconds(*(step_of(m, size) for m in made.values()), seconds=0.2 if quick else 30)
        ms = ", ".join(f"{who} {1000 * seconds:.1f}" for who, seconds in zip(made, times, strict=True))
        print(f"{name}, {size.batch} × {size.words} words: {ms}", flush=True)
        bounds = (0.85, 1.0)
        for who, other, bound in zip(list(made)[1:], times[1:], bounds, strict=True):
            results.append(Result(f"time of a training step / {who}, {name}", times[0] / other, bound))
    return results
