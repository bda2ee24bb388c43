"""Time greedy writing at batch 1: this library against `transformers` on the same weights (`make bench`).

Each time is the best of several runs, in milliseconds for one word, the two taking turns, on the device that
is named. At GPT-2's size reading the weights is the floor: their bytes over the measured speed of memory.
"""

from __future__ import annotations

import sys
import tempfile
import time

import torch
import transformers

from transformer_lib.generate import generate
from transformer_lib.pretrained import load_folder

SIZES = {  # layers, width, heads, words in the vocabulary, words written
    "the book's": (4, 128, 4, 1000, 100),
    "GPT-2's": (12, 768, 12, 50257, 10),
}
PROMPTS = (16, 256)  # words
RUNS = 4


def pair(layers: int, d_model: int, heads: int, vocab: int, device: torch.device):
    """A GPT-2 with random weights, and ours with the same."""
    config = transformers.GPT2Config(
        vocab_size=vocab, n_embd=d_model, n_layer=layers, n_head=heads, bos_token_id=0, eos_token_id=0
    )
    published = transformers.GPT2LMHeadModel(config).eval()
    with tempfile.TemporaryDirectory() as folder:
        published.save_pretrained(folder)
        return published.to(device), load_folder(folder).to(device)


def best_seconds(*runs) -> list[float]:
    """The best time of each, taking turns, so that a slow moment of the machine meets them all."""
    best = [float("inf")] * len(runs)
    for turn in range(RUNS + 1):
        for i, run in enumerate(runs):
            start = time.perf_counter()
            run()
            if turn:  # the first warms up
                best[i] = min(best[i], time.perf_counter() - start)
    return best


def main() -> None:
    transformers.utils.logging.disable_progress_bar()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    name = (
        torch.cuda.get_device_name() if device.type == "cuda" else f"CPU, {torch.get_num_threads()} threads"
    )
    print(f"Greedy, batch 1, float32, on {name}; best time in ms per word\n")
    print(f"{'size':12}{'prompt':>8}{'transformers':>14}{'here':>8}{'ratio':>8}{'weights read':>14}")
    torch.manual_seed(0)
    chosen = {size: SIZES[size] for size in SIZES if not sys.argv[1:] or size in sys.argv[1:]}
    for size, (layers, d_model, heads, vocab, words) in chosen.items():
        published, ours = pair(layers, d_model, heads, vocab, device)
        weights = torch.cat([p.detach().flatten() for p in ours.parameters()])
        [floor] = best_seconds(lambda weights=weights: weights.sum().item())
        for length in PROMPTS:
            prompt = torch.randint(1, vocab, (1, length), device=device)
            real = torch.ones_like(prompt)

            def theirs(prompt=prompt, real=real, model=published, words=words):
                options = {"max_new_tokens": words, "min_new_tokens": words, "do_sample": False}
                return model.generate(input_ids=prompt, attention_mask=real, pad_token_id=0, **options)

            def mine(prompt=prompt, model=ours, words=words):
                return generate(model, prompt, words, never=[0])  # as min_new_tokens does for them

            assert theirs()[0, length:].tolist() == mine()[0]
            times = [1000 * seconds / words for seconds in best_seconds(theirs, mine)]
            print(
                f"{size:12}{length:>8}{times[0]:>14.3f}{times[1]:>8.3f}{times[0] / times[1]:>8.2f}"
                f"{1000 * floor:>14.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
