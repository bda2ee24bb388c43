r"""Writing: word after word, from a trained model (lecture, sections 6 and 9).

A model gives the logits of the next word, a sampler chooses it, and the model reads it in turn. Beam search
keeps several beginnings and looks for the likeliest whole,

$$\max \sum_t \log p(w_t \mid w_{<t}) \,/\, T^{\alpha}.$$

`decoding.py` does the reading, `sampling.py` the choosing.

Source: Wu et al. 2016 (beams and the length), arXiv 1609.08144, section 7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor

from transformer_lib.decoding import Continuation, Model, Prompts, Translation, begin, check_ids
from transformer_lib.sampling import Sampler, filter_logits  # noqa: F401  also found here

GREEDY = Sampler()


def stream(
    model: Model,
    prompts: Prompts,
    max_words: int,
    *,
    sampler: Callable[[Tensor], Tensor] = GREEDY,
    start_id: int | None = None,
    end_id: int | Sequence[int] | None = None,
    never: Sequence[int] = (),
) -> Iterator[Int[Tensor, " B"]]:
    """The next word of every prompt, then the next, and so on: ids (B,), each as soon as it is chosen.

    Args:
        model: a `TransformerLM`, which continues the prompts, or an `EncoderDecoder`, which translates them.
        prompts: a list of lists of ids, of any lengths, or a tensor (B, T).
        max_words: how many to write at most.
        sampler: from logits (B, V) to ids (B,).
        start_id: the word with which an `EncoderDecoder` begins.
        end_id: the word, or words, that end a text: its row repeats it until all have ended.
        never: words that are not written.

    Raises:
        TypeError, ValueError: as `decoding.begin`, or an end_id or a word of never outside the vocabulary.

    >>> from transformer_lib.models import LMConfig, TransformerLM
    >>> model = TransformerLM(LMConfig(vocab_size=50, d_model=12, n_heads=3)).eval()
    >>> [ids.shape for ids in stream(model, [[4, 9, 7], [3]], max_words=2)]
    [torch.Size([2]), torch.Size([2])]
    """
    ends, never = check_ids(model, "end_id", _several(end_id)), check_ids(model, "never", never)
    with torch.inference_mode():
        reader = begin(model, prompts, max_words, start_id)
    return _steps(reader, max_words, sampler, ends, never)


def _steps(
    reader: Continuation | Translation, max_words: int, sampler: Callable, ends: Tensor, never: Tensor
) -> Iterator[Tensor]:
    ids, ended = reader.ids, None
    for _ in range(max_words):
        with torch.inference_mode():
            logits = reader.logits(ids)
            if len(never):
                logits[:, never] = float("-inf")
            new = sampler(logits)
            if ended is not None:
                new = torch.where(ended, ids[:, -1], new)
            ids = new[:, None]
            if len(ends):
                ended = (ids == ends).any(-1)
        yield new.clone()  # made outside of inference mode: it can be trained with
        if ended is not None and ended.all():
            return


def generate(model: Model, prompts: Prompts, max_words: int, **options) -> list[list[int]]:
    """What `stream` writes, with its arguments, as one list of ids for each prompt, up to the end word.

    >>> from transformer_lib.models import LMConfig, TransformerLM
    >>> model = TransformerLM(LMConfig(vocab_size=50, d_model=12, n_heads=3)).eval()
    >>> [len(ids) for ids in generate(model, [[4, 9, 7], [3]], max_words=5)]
    [5, 5]
    """
    rows = torch.stack(list(stream(model, prompts, max_words, **options)), dim=1).tolist()
    ends = set(_several(options.get("end_id")))
    lengths = [next((t for t, word in enumerate(row, 1) if word in ends), len(row)) for row in rows]
    return [row[:length] for row, length in zip(rows, lengths, strict=True)]


class Hypothesis(NamedTuple):
    """A text that beam search has finished, and its log-probability divided by its length^α."""

    ids: list[int]
    score: float


@torch.inference_mode()
def beam_search(
    model: Model,
    prompts: Prompts,
    max_words: int,
    *,
    beams: int = 4,
    length_penalty: float = 1.0,
    start_id: int | None = None,
    end_id: int | Sequence[int] | None = None,
    never: Sequence[int] = (),
) -> list[list[Hypothesis]]:
    """For each prompt the best texts found, the best first, at most `beams` of them.

    Each step keeps the `beams` likeliest beginnings. A sentence is done when it has `beams` finished texts
    and its best beginning scores no better than the worst of them. Arguments and errors as `stream`, and:

    Args:
        beams: beginnings kept, at least 1; 1 is greedy.
        length_penalty: α; 0 prefers short texts, above 1 long ones.

    >>> from transformer_lib.models import LMConfig, TransformerLM
    >>> model = TransformerLM(LMConfig(vocab_size=50, d_model=12, n_heads=3)).eval()
    >>> [len(found) for found in beam_search(model, [[4, 9, 7], [3]], max_words=5)]
    [4, 4]

    Source: Wu et al. 2016, section 7, with the length^α of common implementations.
    """
    ends, never = check_ids(model, "end_id", _several(end_id)), check_ids(model, "never", never)
    last, V = set(ends.tolist()), model.config.vocab_size
    each = 1 + max(1, len(last))  # candidates for each beam: some go on, even if the best words all end
    most = (V - len(never)) // each
    if not 1 <= beams <= most:
        raise ValueError(f"beams must be at least 1 and at most {most} for {V} words; got {beams}")
    reader = begin(model, prompts, max_words, start_id)
    ids, B = reader.ids, len(reader.ids)
    texts: list[list[list[int]]] = [[[]] for _ in range(B)]  # one beginning each, the empty one
    finished: list[list[Hypothesis]] = [[] for _ in range(B)]
    done, scores = [False] * B, torch.zeros(B, 1, device=ends.device)
    for length in range(1, max_words + 1):
        logits = reader.logits(ids)
        if length == 1:
            reader.repeat(beams)
        log_p = logits.float().log_softmax(-1)
        log_p[:, never] = float("-inf")
        totals = (scores[..., None] + log_p.unflatten(0, (B, -1))).flatten(1)  # (B, beginnings · V)
        best, where = (x.tolist() for x in totals.topk(each * beams))
        going_on = []
        for b in range(B):
            kept = []
            for rank, (score, place) in enumerate(zip(best[b], where[b], strict=True)):
                beam, word = divmod(place, V)
                text = [*texts[b][beam], word]
                if word not in last and length < max_words:
                    kept.append((score, beam, text))
                elif rank < beams and not done[b]:
                    finished[b].append(Hypothesis(text, score / length**length_penalty))
            going_on.append(kept[:beams])
            finished[b] = sorted(finished[b], key=lambda found: -found.score)[:beams]
            if len(finished[b]) == beams and kept:
                done[b] |= kept[0][0] / length**length_penalty <= finished[b][-1].score
        if all(done) or length == max_words:
            break
        scores = torch.tensor([[score for score, _, _ in kept] for kept in going_on], device=ends.device)
        rows = [b * beams + beam for b, kept in enumerate(going_on) for _, beam, _ in kept]
        reader.select(torch.tensor(rows, device=ends.device))
        texts = [[text for _, _, text in kept] for kept in going_on]
        ids = torch.tensor([[text[-1]] for kept in texts for text in kept], device=ends.device)
    return finished


def _several(ids: int | Sequence[int] | None) -> Sequence[int]:
    return () if ids is None else (ids,) if isinstance(ids, int) else ids
