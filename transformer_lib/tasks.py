"""The book's models trained from the command line: `python -m transformer_lib.train --help` (chapter 11).

One process, or with `torchrun` several on one machine or on many; the losses are the same.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from transformer_lib import data, parallel
from transformer_lib.data import END, PAD, START
from transformer_lib.generate import Sampler, generate
from transformer_lib.models import EncoderDecoder, EncoderDecoderConfig, LMConfig, TransformerLM
from transformer_lib.train import TrainConfig, train, word_loss

SIZES = ("small", "large")  # for two cores, for a GPU


@dataclass(frozen=True, kw_only=True)
class Task:
    """What is trained, on what, and how it shows what it has learned.

    Args:
        model: makes the untrained model.
        batches: one pass over what is learned from; a batch is a tuple of tensors of ids.
        loss_of: mean loss of the model on a batch, in nats per word.
        words: how many words that is the mean of.
        steps, peak, warmup: of `TrainConfig`, unless told otherwise.
        report: from the trained model, what to print.
    """

    model: Callable[[], nn.Module]
    batches: Callable[[torch.Generator], Iterator[tuple[Tensor, ...]]]
    loss_of: Callable[[nn.Module, Any], Tensor]
    words: Callable[[Any], int]
    steps: int
    peak: float
    warmup: int
    report: Callable[[nn.Module], list[str]]


def translation(pairs: Sequence[tuple[str, str]], size: str, batch_size: int, pieces: int) -> Task:
    """An encoder–decoder that learns the pairs but for 1000 of them (a tenth, where they are few)."""
    order = torch.randperm(len(pairs), generator=torch.Generator().manual_seed(0)).tolist()
    held_out = min(1000, len(pairs) // 10)
    unseen, seen = [pairs[n] for n in order[:held_out]], [pairs[n] for n in order[held_out:]]
    texts = [text for source, target in seen for text in (source, " " + target)]
    tokenizer = data.BPETokenizer(texts, pieces)
    rows = [(tokenizer.encode(a), [START, *tokenizer.encode(" " + b), END]) for a, b in seen]
    width, layers = {"small": (64, 1), "large": (256, 3)}[size]

    def model() -> nn.Module:
        std = 0.1 if size == "small" else 0.02
        return EncoderDecoder(
            EncoderDecoderConfig(
                vocab_size=tokenizer.vocab_size, d_model=width, n_layers=layers, n_heads=4, init_std=std
            )
        )

    def loss_of(model: nn.Module, batch: tuple[Tensor, ...]) -> Tensor:
        source, target = _on_device_of(model, batch)
        real = (source != PAD)[:, None, None]
        return word_loss(model(source, target[:, :-1], source_mask=real), target[:, 1:])

    def report(model: nn.Module) -> list[str]:
        sources = [tokenizer.encode(source) for source, _ in unseen]
        longest = max(len(row[1]) for row in rows) + 1
        written = generate(model, sources, longest, start_id=START, end_id=END)
        texts = [tokenizer.decode(ids).strip() for ids in written]
        right = sum(text == target for text, (_, target) in zip(texts, unseen, strict=True))
        shown = [f"  {source}  →  {text}" for text, (source, _) in zip(texts[:5], unseen, strict=False)]
        return [f"{right / len(unseen):.1%} of {len(unseen)} unseen texts exactly right", *shown]

    return Task(
        model=model,
        batches=lambda generator: data.batches_by_length(rows, batch_size, generator),
        loss_of=loss_of,
        words=lambda batch: int((batch[1][:, 1:] != PAD).sum()),
        steps={"small": 500, "large": 4000}[size],
        peak={"small": 3e-3, "large": 5e-4}[size],
        warmup={"small": 50, "large": 400}[size],
        report=report,
    )


def language_model(text: str, size: str, batch_size: int) -> Task:
    """A decoder-only model of the text's characters, tested on its last twentieth."""
    if batch_size < 1:
        raise ValueError(f"batch_size must be at least 1; got {batch_size}")
    tokenizer = data.CharTokenizer([text])
    ids = torch.tensor(tokenizer.encode(text))
    cut = len(ids) - len(ids) // 20
    length, width, layers = {"small": (64, 128, 2), "large": (256, 384, 6)}[size]

    def model() -> nn.Module:
        return TransformerLM(
            LMConfig(
                vocab_size=tokenizer.vocab_size,
                d_model=width,
                n_layers=layers,
                n_heads=4,
                max_length=length,
            )
        )

    def batches(generator: torch.Generator) -> Iterator[tuple[Tensor, ...]]:
        start = torch.randint(length, (1,), generator=generator).item()
        windows = ids[start:cut].unfold(0, length + 1, length)
        order = torch.randperm(len(windows), generator=generator)
        for rows in order.split(batch_size):
            yield (windows[rows],)

    def loss_of(model: nn.Module, batch: tuple[Tensor, ...]) -> Tensor:
        (ids,) = _on_device_of(model, batch)
        return word_loss(model(ids[:, :-1]), ids[:, 1:], pad_id=-1)  # no padding: all windows are full

    def report(model: nn.Module) -> list[str]:
        windows = ids[cut:].unfold(0, length + 1, length)[:64]
        with torch.inference_mode():
            loss = loss_of(model, (windows,)).item()
        device = next(model.parameters()).device
        sampler = Sampler(temperature=0.8, generator=torch.Generator(device).manual_seed(0))
        start = tokenizer.encode("The ")  # and no further than the places it was trained at
        (written,) = generate(model, [start], length - len(start), sampler=sampler)
        return [
            f"loss on text it has not seen: {loss:.3f} nats per character",
            f"The {tokenizer.decode(written)}",
        ]

    return Task(
        model=model,
        batches=batches,
        loss_of=loss_of,
        words=lambda batch: batch[0][:, 1:].numel(),
        steps={"small": 400, "large": 5000}[size],
        peak={"small": 2e-3, "large": 1e-3}[size],
        warmup={"small": 50, "large": 200}[size],
        report=report,
    )


TASKS: dict[str, tuple[str, Callable[[str, int], Task]]] = {
    "numbers": (
        "German number words to English (chapter 9)",
        lambda size, batch_size: translation(data.number_pairs(), size, batch_size, pieces=368),
    ),
    "dates": (
        "German dates to English (chapter 9)",
        lambda size, batch_size: translation(data.date_pairs(), size, batch_size, pieces=420),
    ),
    "prose": (
        "a language model of English prose, character by character (chapter 11)",
        lambda size, batch_size: language_model(data.english_prose(), size, batch_size),
    ),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Train as the command line says; returns the exit status."""
    options = _options(arguments)
    with parallel.joined() as team:
        try:
            _run(options, team)
        except (ValueError, FloatingPointError, OSError) as error:
            if team is None or team.leads:
                print(f"Stopped: {error}", file=sys.stderr)
            return 1
    return 0


def _run(options: argparse.Namespace, team: parallel.Team | None) -> None:
    leads = team is None or team.leads

    def say(text: str) -> None:
        if leads:
            print(text, flush=True)

    if options.shard and team is None:
        raise ValueError("--shard shares the weights out over several processes: start them with torchrun")
    for file in filter(None, (options.weights, options.history)):  # not after hours of training
        file.parent.mkdir(parents=True, exist_ok=True)
    task = TASKS[options.task][1](options.size, options.batch_size)
    config = TrainConfig(
        steps=task.steps if options.steps is None else options.steps,
        peak=task.peak if options.peak is None else options.peak,
        warmup=min(task.warmup, (options.steps or task.steps) - 1)
        if options.warmup is None
        else options.warmup,
        clip=options.clip or None,
        bfloat16=options.bfloat16,
        save_every=options.save_every,
        seed=options.seed,
        data=f"{options.task} {options.size}, batches of {options.batch_size}",
    )
    torch.manual_seed(options.seed)
    model = plain = task.model()
    if team is None:
        model.to("cuda" if torch.cuda.is_available() else "cpu")
    else:
        model = parallel.spread(model, team, shard=options.shard)
        torch.manual_seed(options.seed + team.rank)  # dropout differs from process to process
    device = next(model.parameters()).device.type
    count = sum(p.numel() for p in plain.parameters())
    processes = 1 if team is None else team.size
    say(f"{options.task}: {count:,} weights, {processes} × {device}, {config.steps} steps")
    history = train(
        model, task.batches, task.loss_of, config,
        checkpoint=options.checkpoint, progress=leads and not options.quiet, team=team, words=task.words,
    )  # fmt: skip
    say(f"loss of the last step: {history[-1]['loss']:.6f} nats per word")
    weights = plain.state_dict() if team is None else parallel.whole_weights(model)
    if not leads:
        return
    if options.history is not None:
        options.history.write_text(json.dumps(history), encoding="utf-8")
    if options.weights is not None:
        torch.save({name: weight.cpu() for name, weight in weights.items()}, options.weights)
    trained = plain if team is None else task.model().to(team.device)
    trained.load_state_dict(weights)
    say("\n".join(task.report(trained.eval())))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    known = "\n".join(f"  {name:<9} {what}" for name, (what, _) in TASKS.items())
    parser = argparse.ArgumentParser(
        prog="python -m transformer_lib.train",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description=f"Train a model of the book.\n\ntasks:\n{known}",
        epilog="Several devices of one machine:\n"
        "  torchrun --standalone --nproc-per-node 2 -m transformer_lib.train numbers\n"
        "Several machines (the same on each):\n"
        "  torchrun --nnodes 2 --nproc-per-node 8 --rdzv-backend c10d --rdzv-endpoint HOST:29500 "
        "-m transformer_lib.train prose --size large",
    )
    parser.add_argument("task", choices=TASKS, metavar="TASK", help=", ".join(TASKS))
    parser.add_argument("--size", choices=SIZES, default="small", help="small: two cores; large: a GPU")
    parser.add_argument("--batch-size", type=int, default=64, help="rows in a batch, over all processes")
    parser.add_argument("--steps", type=int, help="updates of the weights")
    parser.add_argument("--peak", type=float, help="highest learning rate")
    parser.add_argument("--warmup", type=int, help="steps until it is reached")
    parser.add_argument("--clip", type=float, default=1.0, help="largest length of the gradient; 0: no limit")
    parser.add_argument("--bfloat16", action="store_true", help="matrix products in bfloat16")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--checkpoint", type=Path, metavar="PATH",
        help="save here and, where it exists, go on from here (a folder where several processes train)",
    )  # fmt: skip
    parser.add_argument("--save-every", type=int, default=100, help="steps between two checkpoints")
    parser.add_argument(
        "--shard", action="store_true", help="share the weights out over the processes (FSDP2)"
    )
    parser.add_argument("--weights", type=Path, metavar="FILE", help="write the trained weights here")
    parser.add_argument("--history", type=Path, metavar="FILE", help="write each step's loss here, as JSON")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    return parser.parse_args(arguments)


def _on_device_of(model: nn.Module, batch: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    device = next(model.parameters()).device
    return tuple(part.to(device) for part in batch)
