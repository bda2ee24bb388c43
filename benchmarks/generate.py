"""Greedy writing at batch 1 against `transformers` on the same weights; best times in ms for one word. At
GPT-2's size reading the weights is the floor: their bytes over the measured speed of memory. Then the time of
a word after prompts of many lengths, less that of the attention kernels, which must stay the same."""

from __future__ import annotations

import tempfile

import torch
import torch.nn.functional as F
import transformers
from measuring import DEVICE, Result, best_seconds

from transformer_lib import Continuation, LMConfig, TransformerLM, generate, load_folder

SIZES = {  # layers, width, heads, words in the vocabulary, words written; transformers' time over ours
    "the book's size": (4, 128, 4, 1000, 100, 3.0),
    "GPT-2's size": (12, 768, 12, 50257, 10, 1.0),
}
PROMPTS = (16, 256)  # words
LONG, QUICK = (12, 768, 12, 1000), (1, 16, 2, 50)
LENGTHS = (16, 64, 256, 1024, 4096)  # of its prompts, in words
FLAT = 1.15


def pair(layers: int, d_model: int, heads: int, vocab: int):
    """A GPT-2 with random weights, and ours with the same."""
    config = transformers.GPT2Config(
        vocab_size=vocab, n_embd=d_model, n_layer=layers, n_head=heads, bos_token_id=0, eos_token_id=0
    )
    published = transformers.GPT2LMHeadModel(config).eval()
    with tempfile.TemporaryDirectory() as folder:
        published.save_pretrained(folder)
        return published.to(DEVICE), load_folder(folder).to(DEVICE)


def against_transformers(quick: bool) -> list[Result]:
    transformers.utils.logging.disable_progress_bar()
    print(f"{'':18}{'prompt':>8}{'transformers':>14}{'here':>8}{'weights read':>14}")
    results = []
    for name, (*shape, words, bound) in list(SIZES.items())[: 1 if quick else None]:
        published, ours = pair(*shape)
        weights = torch.cat([p.detach().flatten() for p in ours.parameters()])
        [floor] = best_seconds(lambda weights=weights: weights.sum().item(), seconds=0)
        for length in PROMPTS:
            prompt = torch.randint(1, shape[-1], (1, length), device=DEVICE)

            def theirs(prompt=prompt, model=published, words=words):
                options = {"max_new_tokens": words, "min_new_tokens": words, "do_sample": False}
                real = torch.ones_like(prompt)
                return model.generate(input_ids=prompt, attention_mask=real, pad_token_id=0, **options)

            def mine(prompt=prompt, model=ours, words=words):
                return generate(model, prompt, words, never=[0])  # as min_new_tokens does for them

            assert theirs()[0, length:].tolist() == mine()[0]
            seconds, turns = (0, 1) if quick else (8, 4)
            slow, fast = best_seconds(theirs, mine, seconds=seconds, turns=turns)
            ms = [1000 * seconds / words for seconds in (slow, fast)]
            print(f"{name:18}{length:>8}{ms[0]:>14.3f}{ms[1]:>8.3f}{1000 * floor:>14.3f}", flush=True)
            what = f"transformers' time of a word / ours, {name}, prompt of {length}"
            results.append(Result(what, slow / fast, bound, at_least=True))
    return results


@torch.inference_mode()
def by_length(quick: bool) -> list[Result]:
    """Time of one more word after each length of prompt, over that after the shortest; for weights that no
    cache of a processor holds, since keys and values would drive them out."""
    L, D, H, V = QUICK if quick else LONG
    lengths = LENGTHS[: 2 if quick else None]
    config = LMConfig(vocab_size=V, d_model=D, n_layers=L, n_heads=H, max_length=max(lengths) + 2)
    model = TransformerLM(config).to(DEVICE).eval()
    runs = []
    for length in lengths:
        reader = Continuation(model, list(torch.randint(V, (1, length), device=DEVICE)), max_words=2)
        new = reader.logits(reader.ids).argmax(-1, keepdim=True)

        def word(reader=reader, new=new, length=length):
            for cache in reader.caches:
                cache.length = length
            reader.logits(new)

        def kernels(reader=reader, length=length):
            for cache in reader.caches:
                k, v = cache.k[:, :, : length + 1], cache.v[:, :, : length + 1]
                F.scaled_dot_product_attention(k[:, :, :1], k, v)

        runs += [word, kernels]
    times = best_seconds(*runs, seconds=0.2 if quick else 15)
    words, attention = times[0::2], times[1::2]
    print(f"\n{'prompt':>8}{'a word, ms':>12}{'of it kernels':>15}")
    for length, word, kernel in zip(lengths, words, attention, strict=True):
        print(f"{length:>8}{1000 * word:>12.3f}{1000 * kernel:>15.3f}")
    rest = [word - kernel for word, kernel in zip(words, attention, strict=True)]
    what = f"time of a word after {lengths[-1]} words / after {lengths[0]}, without attention"
    return [Result(what, rest[-1] / rest[0], FLAT)]


def main(quick: bool = False) -> list[Result]:
    return against_transformers(quick) + by_length(quick)
