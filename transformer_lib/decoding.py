"""Reading a prompt once and then word after word: caches, padding and positions (lecture, sections 6 and 9).

The keys and values of words once read do not change, for no word reads its future: they are kept in caches,
and each step reads one word only. Prompts of different lengths stand together in one batch:

| model | where the padding is | what hides it |
|---|---|---|
| `TransformerLM` | left of the prompts: all go on in the same column | a mask; each row counts for itself |
| `EncoderDecoder` | right of the sources: all translations begin in column 0 | a mask on the memory |

Both classes give logits of the next word for new ids (B, T), `repeat` every row for beam search, and
`select` the rows that go on. Without padding there is no mask, for it would take time.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from transformer_lib.masks import padding_mask
from transformer_lib.models import EncoderDecoder, TransformerLM
from transformer_lib.unrolled import Unrolled, can_unroll

Model = TransformerLM | EncoderDecoder
Prompts = Tensor | Sequence[Tensor] | Sequence[Sequence[int]]


class Continuation:
    """A language model going on from prompts. `ids` are the first words to read."""

    def __init__(self, model: TransformerLM, prompts: list[Tensor], max_words: int):
        self.model = model
        lengths = torch.tensor([len(prompt) for prompt in prompts], device=prompts[0].device)
        self.ids = pad_sequence(prompts, batch_first=True, padding_side="left")  # (B, T)
        T = self.ids.shape[1]
        check_length(model, T + max_words - 1)  # the last word is not read
        self.caches = model.new_caches(len(prompts), T + max_words)
        self.padding = T - lengths  # (B,)
        self.mask = None
        if self.padding.any():
            places = torch.arange(T + max_words, device=lengths.device)
            self.mask = (places >= self.padding[:, None])[:, None, None]  # (B, 1, 1, T + max_words)
        self.step = Unrolled(model, self.caches) if can_unroll(model) else None

    def logits(self, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B V"]:
        positions = mask = None
        if self.mask is not None:
            past = self.caches[0].length
            end = past + ids.shape[1]
            places = torch.arange(past, end, device=ids.device)
            positions, mask = (places - self.padding[:, None]).clamp(min=0), self.mask[..., :end]
        if self.step is not None and ids.shape[1] == 1:
            return self.step(ids, positions, mask)
        return self.model(ids, mask=mask, positions=positions, caches=self.caches, last_only=True)[:, -1]

    def repeat(self, times: int) -> None:
        """Every row so many times, one below the other."""
        rows = torch.arange(len(self.padding), device=self.ids.device).repeat_interleave(times)
        self.select(rows)
        self.padding = self.padding[rows]
        self.mask = None if self.mask is None else self.mask[rows]

    def select(self, rows: Int[Tensor, " rows"]) -> None:
        """Go on from the words of these rows, each the same prompt's as before."""
        for cache in self.caches:
            cache.select(rows)


class Translation:
    """An encoder-decoder writing from sources, which it reads once. `ids` are the first words to read."""

    def __init__(self, model: EncoderDecoder, sources: list[Tensor], max_words: int, start_id: int):
        self.model = model
        lengths = torch.tensor([len(source) for source in sources], device=sources[0].device)
        S = int(lengths.max())
        check_length(model, max(S, max_words))
        self.memory_mask = None if (lengths == S).all() else padding_mask(lengths, S)
        memory = model.encode(pad_sequence(sources, batch_first=True), mask=self.memory_mask)
        self.memories = model.memories(memory)
        self.caches = model.new_caches(len(sources), max_words)
        self.ids = lengths.new_full((len(sources), 1), start_id)

    def logits(self, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B V"]:
        return self.model.decode(
            ids, self.memories, memory_mask=self.memory_mask, caches=self.caches, last_only=True
        )[:, -1]

    def repeat(self, times: int) -> None:
        """Every row so many times, one below the other."""
        rows = torch.arange(len(self.ids), device=self.ids.device).repeat_interleave(times)
        self.select(rows)
        self.memories = [(k[rows], v[rows]) for k, v in self.memories]
        self.memory_mask = None if self.memory_mask is None else self.memory_mask[rows]

    def select(self, rows: Int[Tensor, " rows"]) -> None:
        """Go on from the words of these rows, each the same source's as before."""
        for cache in self.caches:
            cache.select(rows)


def begin(model: Model, prompts: Prompts, max_words: int, start_id: int | None) -> Continuation | Translation:
    """The prompts, checked and read up to their last word.

    Raises:
        TypeError: another kind of model, or prompts that are no ids.
        ValueError: empty prompts, ids outside the vocabulary, more words than the model has learned positions
            for, a model in training mode with dropout, a missing or superfluous start_id.
    """
    if not isinstance(model, TransformerLM | EncoderDecoder):
        raise TypeError(f"the model must be a TransformerLM or an EncoderDecoder; got {type(model).__name__}")
    if model.training and model.config.dropout:
        raise ValueError("the model is in training mode, where dropout changes its words: call model.eval()")
    if max_words < 1:
        raise ValueError(f"max_words must be at least 1; got {max_words}")
    if isinstance(model, TransformerLM) != (start_id is None):
        raise ValueError(f"an EncoderDecoder needs a start_id, a TransformerLM takes none; got {start_id}")
    if isinstance(prompts, str) or len(prompts) == 0:
        raise ValueError(f"prompts must be a list of lists of ids, at least one; got {prompts!r}")
    rows = [check_ids(model, "a prompt", prompt) for prompt in prompts]
    if min(len(row) for row in rows) == 0:
        raise ValueError(
            f"every prompt must have at least one word; got lengths {[len(row) for row in rows]}"
        )
    if isinstance(model, TransformerLM):
        return Continuation(model, rows, max_words)
    check_ids(model, "start_id", [start_id])
    return Translation(model, rows, max_words, start_id)


def check_ids(model: Model, name: str, ids: Tensor | Sequence[int]) -> Int[Tensor, " T"]:
    """The ids as a tensor on the model's device; raises unless they are whole numbers of the vocabulary."""
    ids = torch.as_tensor(ids, device=model.embedding.words.weight.device)
    ids = ids.long() if ids.numel() == 0 else ids
    if ids.is_floating_point() or ids.is_complex() or ids.dtype == torch.bool or ids.dim() != 1:
        raise TypeError(f"{name} must be a list of ids; got {ids.dtype} of shape {tuple(ids.shape)}")
    V = model.config.vocab_size
    if ids.numel() and not 0 <= int(ids.min()) <= int(ids.max()) < V:
        raise ValueError(f"{name} must hold ids from 0 to {V - 1}; got {ids.tolist()}")
    return ids.long()


def check_length(model: Model, words: int) -> None:
    """Raise where the model has no learned position for so many words."""
    config = model.config
    if config.positions == "learned" and words > config.max_length:
        raise ValueError(
            f"the model has learned {config.max_length} positions; the prompts with what is to be written "
            f"take {words}"
        )
