r"""Training: the loss, and a loop that can be stopped at any moment (chapter 11).

The loss is the cross-entropy of the right next word, averaged over real words, padding left out. With
label smoothing ε a share ε of the target is spread over the whole vocabulary:

$$L = -\frac{1}{N} \sum_t \sum_w \left((1 - ε)\,[w = w_t] + \frac{ε}{V}\right) \log p_t(w).$$

A run that was stopped and resumed ends with the same weights, bit for bit, as one that never stopped: a
checkpoint holds the weights, the optimiser, every random state, and the place in the data.

Sources: Vaswani et al. 2017, arXiv 1706.03762, section 5.4; Pascanu et al. 2013 (clipping), arXiv 1211.5063.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer_lib import parallel
from transformer_lib.parallel import Team
from transformer_lib.schedules import cosine_schedule, paper_schedule  # noqa: F401  also found here

Batches = Callable[[torch.Generator], Iterator[Any]]  # one pass over the data, in an order it draws


def word_loss(
    logits: Float[Tensor, "B T V"],
    targets: Int[Tensor, "B T"],
    *,
    pad_id: int = 0,
    label_smoothing: float = 0.0,
) -> Float[Tensor, ""]:
    """Mean cross-entropy of the targets in nats per word, over the words that are not padding.

    Raises:
        ValueError: shapes differ, label_smoothing lies outside [0, 1), or all targets are padding.

    >>> import torch
    >>> word_loss(torch.zeros(1, 2, 4), torch.tensor([[3, 0]])).item()  # log 4: all four words alike
    1.386...

    Source: Vaswani et al. 2017, section 5.4; Szegedy et al. 2015 (smoothing), arXiv 1512.00567, section 7.
    """
    if logits.shape[:2] != targets.shape:
        raise ValueError(f"logits {tuple(logits.shape)} and targets {tuple(targets.shape)} differ in B or T")
    if not 0 <= label_smoothing < 1:
        raise ValueError(f"label_smoothing must be at least 0 and below 1; got {label_smoothing}")
    if not targets.is_meta and not (targets != pad_id).any():
        raise ValueError(f"every target is padding ({pad_id}): there is nothing to learn from")
    return F.cross_entropy(
        logits.flatten(0, 1).float(), targets.flatten(), ignore_index=pad_id, label_smoothing=label_smoothing
    )


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """How to train.

    Args:
        steps: updates of the weights in all.
        peak: highest learning rate, after `warmup` steps; a cosine brings it down to 0.
        clip: largest length of the gradient; longer ones are shortened to it. None: no clipping.
        bfloat16: matrix products in bfloat16; faster on GPUs that have it, slower on most CPUs.
        save_every: steps between checkpoints.
        seed: of the order of the data; dropout draws from torch's own generator.
        data: what is read, in words, batches included; a checkpoint made with other data is refused.

    Raises:
        ValueError: a number out of its range.
    """

    steps: int
    peak: float = 1e-3
    warmup: int = 100
    weight_decay: float = 0.01
    clip: float | None = 1.0
    bfloat16: bool = False
    save_every: int = 100
    seed: int = 0
    data: str = ""

    def __post_init__(self):
        if self.steps < 1 or self.save_every < 1 or not 0 <= self.warmup < self.steps:
            raise ValueError(
                f"steps and save_every must be at least 1, and warmup below steps; got steps={self.steps}, "
                f"save_every={self.save_every}, warmup={self.warmup}"
            )
        if self.peak <= 0 or self.weight_decay < 0 or (self.clip is not None and self.clip <= 0):
            raise ValueError(
                f"peak and clip must be above 0, weight_decay at least 0; got peak={self.peak}, "
                f"clip={self.clip}, weight_decay={self.weight_decay}"
            )


def train(
    model: nn.Module,
    batches: Batches,
    loss_of: Callable[[nn.Module, Any], Tensor],
    config: TrainConfig,
    *,
    checkpoint: Path | str | None = None,
    progress: bool = False,
    team: Team | None = None,
    words: Callable[[Any], int] | None = None,
) -> list[dict[str, int | float]]:
    """Train the model in place; returns the history, an entry per step.

    Args:
        model: on the device on which it is to be trained.
        batches: one pass over the data in the order that the generator draws; called again and again.
        loss_of: the loss of the model on a batch, a scalar.
        checkpoint: a file; saved to every `save_every` steps, and continued from where it exists.
        progress: show a bar (tqdm).
        team: where several processes train the model, which `parallel.spread` has made ready: each reads its
            rows of every batch, a tuple of tensors; the checkpoint is a folder.
        words: how many words the loss of a batch is the mean of; a team needs it.

    Returns:
        for each step its number, the loss (nats per word), the learning rate and the gradient's length.

    Raises:
        ValueError: the checkpoint cannot be read or was made with another config, the data has no batch, or a
            team no words.
        FloatingPointError: the loss is not finite; the last checkpoint stays as it was.

    >>> def batches(generator):
    ...     yield torch.randn(8, 1, generator=generator)
    >>> def loss_of(model, x):
    ...     return (model(x) - 3 * x).square().mean()
    >>> history = train(nn.Linear(1, 1), batches, loss_of, TrainConfig(steps=99, warmup=9, peak=0.3))
    >>> history[-1]["loss"] < 0.1 < history[0]["loss"]
    True
    """
    optimizer = torch.optim.AdamW(model.parameters(), lr=config.peak, weight_decay=config.weight_decay)
    if team is not None:
        loss_of = team.loss_of_share(loss_of, words)
    run = _Run(model, optimizer, config, batches, team)
    if checkpoint is not None:
        run.load(Path(checkpoint))
    device = next(model.parameters()).device
    model.train()
    for _ in _bar(range(run.step, config.steps), progress, config.steps):
        batch = run.next_batch()
        rate = cosine_schedule(run.step + 1, config.peak, config.warmup, config.steps)
        for group in optimizer.param_groups:
            group["lr"] = rate
        with torch.autocast(device.type, torch.bfloat16, enabled=config.bfloat16):
            loss = loss_of(model, batch)
        mean = loss.item() if team is None else team.mean(loss).item()
        if not math.isfinite(mean):
            raise FloatingPointError(f"the loss of step {run.step + 1} is {mean}: lower the learning rate")
        optimizer.zero_grad()
        loss.backward()
        length = nn.utils.clip_grad_norm_(model.parameters(), config.clip or math.inf)
        length = length.full_tensor() if hasattr(length, "full_tensor") else length  # of shares: of the whole
        optimizer.step()
        run.step += 1
        run.history.append({"step": run.step, "loss": mean, "rate": rate, "gradient": length.item()})
        if checkpoint is not None and (run.step % config.save_every == 0 or run.step == config.steps):
            run.save(Path(checkpoint))
    return run.history


def save_atomically(state: dict, path: Path) -> None:
    """Write a file that is either the old one or the whole new one, whenever the power fails."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            torch.save(state, file)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


class _Run:
    """All that a run is: what a checkpoint saves and loads."""

    def __init__(self, model: nn.Module, optimizer, config: TrainConfig, batches: Batches, team: Team | None):
        self.model, self.optimizer, self.config, self.batches = model, optimizer, config, batches
        self.team = team
        self.step, self.taken, self.history = 0, 0, []
        self.generator = torch.Generator().manual_seed(config.seed)
        self._begin()

    def _begin(self) -> None:
        """Begin a pass over the data."""
        self.order, self.taken = self.generator.get_state(), 0
        self.iterator = iter(self.batches(self.generator))

    def next_batch(self) -> Any:
        for _ in range(2):
            batch = next(self.iterator, None)
            if batch is not None:
                self.taken += 1
                return batch
            self._begin()
        raise ValueError("the data has no batch")

    def save(self, path: Path) -> None:
        rest = {
            "config": asdict(self.config),
            "step": self.step,
            "history": self.history,
            "order": self.order,  # from which this pass drew its order …
            "taken": self.taken,  # … and how many of its batches were used
            "random": torch.get_rng_state(),
            "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
        }
        if self.team is not None:
            parallel.save(path, self.model, self.optimizer, rest, self.team)
            return
        weights = {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}
        save_atomically({**weights, **rest}, path)

    def load(self, path: Path) -> None:
        """Go on from a checkpoint, where there is one."""
        if self.team is not None:
            state = parallel.load(path, self.model, self.optimizer, self.team)
        else:
            state = _read(path) if path.exists() else None
        if state is None:
            return
        if state["config"] != asdict(self.config):
            raise ValueError(f"{path} was made with {state['config']}, not with {asdict(self.config)}")
        if self.team is None:
            self.model.load_state_dict(state["model"])
            self.optimizer.load_state_dict(state["optimizer"])
        self.step, self.history = state["step"], state["history"]
        self.generator.set_state(state["order"])
        self._begin()
        for _ in range(state["taken"]):
            self.next_batch()
        torch.set_rng_state(state["random"])
        if state["cuda"] and len(state["cuda"]) == torch.cuda.device_count():
            torch.cuda.set_rng_state_all(state["cuda"])


def _read(path: Path) -> dict:
    """What a checkpoint holds."""
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except OSError:
        raise
    except Exception as error:  # unpickling broken files raises errors of every kind
        raise ValueError(f"{path} is no checkpoint that can be read: {error}") from error
    if not isinstance(state, dict) or "config" not in state:
        raise ValueError(f"{path} holds something else than a checkpoint of a run")
    return state


def _bar(steps: range, progress: bool, total: int):
    if not progress:
        return steps
    from tqdm.auto import tqdm

    return tqdm(steps, initial=steps.start, total=total, unit="step")


if __name__ == "__main__":
    from transformer_lib.tasks import main

    sys.exit(main())
