"""A small trained translator, and the same translator put together from the functions of the exercises."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from transformer_lib.configs import EncoderDecoderConfig
from transformer_lib.data import END, PAD, START, BPETokenizer, number_pairs, pad
from transformer_lib.exercises.chapter_09.parts import PARTS
from transformer_lib.models import EncoderDecoder
from transformer_lib.multi_head import MultiHeadAttention
from transformer_lib.train import TrainConfig, train, word_loss

LONGEST = 12


@dataclass(frozen=True)
class Translator:
    model: EncoderDecoder
    tokenizer: BPETokenizer

    def ids(self, text: str) -> list[int]:
        return self.tokenizer.encode(text)


@functools.cache
def small_translator() -> Translator:
    """German number words below 100 to English; two layers, two heads, post-norm, no biases in the linear
    maps. Trained in about two seconds, always from the same random numbers."""
    pairs = number_pairs(numbers=range(100))
    tokenizer = BPETokenizer([text for pair in pairs for text in pair], 340)
    sources = pad([tokenizer.encode(german) for german, _ in pairs])
    targets = pad([[START, *tokenizer.encode(english), END] for _, english in pairs])
    config = EncoderDecoderConfig(
        vocab_size=tokenizer.vocab_size, d_model=32, n_layers=2, n_heads=2, bias=False, init_std=0.15
    )

    def loss(model: EncoderDecoder, batch: tuple[Tensor, Tensor]) -> Tensor:
        source, target = batch
        real = (source != PAD)[:, None, None]
        return word_loss(model(source, target[:, :-1], source_mask=real), target[:, 1:])

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = EncoderDecoder(config)
        train(model, lambda _: iter([(sources, targets)]), loss, TrainConfig(steps=150, peak=5e-3, warmup=20))
    return Translator(model.eval(), tokenizer)


class Assembled:
    """The translator's weights, and for every formula a function by its name in `PARTS`."""

    def __init__(self, translator: Translator, own: Mapping[str, Callable]):
        self.model, self.tokenizer = copy.deepcopy(translator.model), translator.tokenizer
        self.parts = {name: _plain(own.get(name, part.library)) for name, part in PARTS.items()}

    def __getattr__(self, name: str) -> Callable:
        return self.parts[name]

    @torch.no_grad()
    def translate(self, text: str) -> str:
        source = torch.tensor([self.tokenizer.encode(text)])
        memory = self.encode(source)
        write = lambda ids: self.decode(torch.as_tensor(ids)[None], memory, source)[0, -1]  # noqa: E731
        ids = self.parts["greedy"](write, START, END, LONGEST)
        return self.tokenizer.decode([int(id) for id in ids]).strip()

    @torch.no_grad()
    def loss(self, pairs: list[tuple[str, str]]) -> float:
        """On a few pairs, each source by itself (there is no padding for the encoder to hide)."""
        given, wanted = self.shift_target([self.tokenizer.encode(b) for _, b in pairs], START, END, PAD)
        logits = []
        for (german, _), row in zip(pairs, given, strict=True):
            source = torch.tensor([self.tokenizer.encode(german)])
            logits.append(self.decode(row[None], self.encode(source), source))
        return float(self.loss_without_pads(torch.cat(logits), wanted, PAD))

    def encode(self, source: Tensor) -> Tensor:
        x = self._embed(source)
        reads = self._by_one_head_each, self._by_all_heads
        for block, read in zip(self.model.encoder, reads, strict=True):
            attend = functools.partial(read, block.attention)
            norms = self._norm(block.attention_norm), self._norm(block.feed_forward_norm)
            parts = _Layer(attend), _Layer(self._feed(block.feed_forward))
            x = self.post_norm_block(x, *parts, *norms)
        return x

    def decode(self, target: Tensor, memory: Tensor, source: Tensor) -> Tensor:
        x = self._embed(target)
        T = target.shape[1]
        past, real = self.hide_future(T, T), self.hide_padding(source, PAD)[:, 0]  # (T, T), (B, 1, S)
        reads = self._masked, self._multi_head
        for block, read in zip(self.model.decoder, reads, strict=True):
            attend = functools.partial(read, block.attention)
            cross = functools.partial(self._cross, block.cross_attention)
            norms = [block.attention_norm, block.cross_attention_norm, block.feed_forward_norm]
            norms = [self._norm(norm) for norm in norms]
            feed = self._feed(block.feed_forward)
            x = self.decoder_block(x, memory, past, real, attend, cross, feed, norms)
        return x @ self.model.logits.weight.T

    def _embed(self, ids: Tensor) -> Tensor:
        words = self.model.embedding.words.weight[ids] * self.model.embedding.scale
        return words + self.sinusoids(ids.shape[1], words.shape[-1])

    def _by_one_head_each(self, layer: MultiHeadAttention, x: Tensor) -> Tensor:
        heads = [self.self_attention(x, *maps) for maps in _maps_of_heads(layer)]
        return self.merge_heads(torch.stack(heads, 1)) @ layer.output.weight.T

    def _by_all_heads(self, layer: MultiHeadAttention, x: Tensor) -> Tensor:
        q, k, v = (self.split_heads(x @ w.T, layer.n_heads) for w in (layer.w_q, layer.w_k, layer.w_v))
        return self.merge_heads(self.head_weights(q, k) @ v) @ layer.output.weight.T

    def _masked(self, layer: MultiHeadAttention, x: Tensor, mask: Tensor) -> Tensor:
        q, k, v = (self.split_heads(x @ w.T, layer.n_heads) for w in (layer.w_q, layer.w_k, layer.w_v))
        mask = mask[None, None].expand(len(x), layer.n_heads, -1, -1)
        return self.merge_heads(self.masked_attention(q, k, v, mask)) @ layer.output.weight.T

    def _multi_head(self, layer: MultiHeadAttention, x: Tensor, mask: Tensor) -> Tensor:
        mask = mask.expand(len(x), -1, -1)
        maps = layer.w_q, layer.w_k, layer.w_v, layer.output.weight
        return self.multi_head_attention(x, *maps, layer.n_heads, mask)

    def _cross(self, layer: MultiHeadAttention, x: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
        heads = [self.cross_attention(x, memory, *maps, mask[:, 0]) for maps in _maps_of_heads(layer)]
        return self.merge_heads(torch.stack(heads, 1)) @ layer.output.weight.T

    def _norm(self, norm: nn.Module) -> Callable[[Tensor], Tensor]:
        layer = _Layer(lambda x: self.layer_norm(x, norm.scale, norm.shift, norm.eps))
        layer.scale, layer.shift, layer.eps = norm.scale, norm.shift, norm.eps
        return layer

    def _feed(self, network: nn.Module) -> Callable[[Tensor], Tensor]:
        wide, narrow = network.widen.weight, network.narrow.weight
        none = wide.new_zeros(len(wide)), narrow.new_zeros(len(narrow))
        return lambda x: self.feed_forward(x, wide, none[0], narrow, none[1])


class _Layer(nn.Module):
    """A function as a module, where an exercise promises modules."""

    def __init__(self, function: Callable[[Tensor], Tensor]):
        super().__init__()
        self.function = function

    def forward(self, x: Tensor) -> Tensor:
        return self.function(x)


def _maps_of_heads(layer: MultiHeadAttention) -> list[tuple[Tensor, Tensor, Tensor]]:
    maps = layer.w_q, layer.w_k, layer.w_v
    return list(zip(*(w.unflatten(0, (layer.n_heads, -1)).unbind() for w in maps), strict=True))


def _ordinary(result: Any) -> Any:
    """Tensors in float32 or int64: a learner's function may compute in float64 or return short integers."""
    if isinstance(result, tuple | list):
        return type(result)(map(_ordinary, result))
    if not isinstance(result, Tensor) or result.dtype == torch.bool:
        return result
    return result.float() if result.is_floating_point() else result.long()


def _plain(function: Callable) -> Callable:
    """The function with results in the usual dtypes."""

    def plain(*args: Any) -> Any:
        result = function(*args)
        return _ordinary(result)

    return plain
