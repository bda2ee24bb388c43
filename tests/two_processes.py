"""Train a tiny model, alone or as one of several processes; test_parallel.py starts this with torchrun."""

import argparse
import json
from pathlib import Path

import torch

from transformer_lib import parallel
from transformer_lib.models import LMConfig, TransformerLM
from transformer_lib.train import TrainConfig, train, word_loss

STEPS = 8


class StoppedError(Exception):
    """In the place of a lost connection."""


def batches(generator):
    """Two batches: 7 rows with padding, and a single row, of which one process has nothing to read."""
    ids = torch.randint(1, 50, (7, 9), generator=generator)
    ids[1, 5:] = ids[4, 3:] = 0
    yield (ids,)
    yield (ids[:1],)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--shard", action="store_true")
    parser.add_argument("--checkpoint", type=Path)
    parser.add_argument("--stop-after", type=int)
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    plain = model = TransformerLM(LMConfig(vocab_size=50, d_model=12, n_layers=2, n_heads=2, init_std=0.5))
    losses, begun = [], []

    def loss_of(model, batch):
        begun.append(1)
        if options.stop_after is not None and len(begun) > options.stop_after:
            raise StoppedError
        (ids,) = batch
        return word_loss_in_float64(model(ids[:, :-1]), ids[:, 1:])

    config = TrainConfig(steps=STEPS, warmup=2, peak=1e-2, save_every=2)
    with parallel.joined() as team:
        if team is not None:
            model = parallel.spread(model, team, shard=options.shard)
        history = []
        try:
            history = train(
                model, batches, loss_of, config, checkpoint=options.checkpoint, team=team,
                words=lambda batch: int((batch[0][:, 1:] != 0).sum()),
            )  # fmt: skip
        except StoppedError:
            losses = [0.0] * options.stop_after
        weights = plain.state_dict() if team is None else parallel.whole_weights(model)
        if team is None or team.leads:
            result = {
                "losses": losses or [entry["loss"] for entry in history],
                "gradients": [entry["gradient"] for entry in history],
                "weights": {name: weight.tolist() for name, weight in weights.items()},
                "resumed_at": STEPS - len(begun),
            }
            options.out.write_text(json.dumps(result))


def word_loss_in_float64(logits, targets):
    """As `word_loss`, which computes in float32."""
    assert word_loss(logits.float(), targets).isfinite()
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=0)


if __name__ == "__main__":
    main()
