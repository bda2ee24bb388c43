"""Train a tiny model in several ways, alone or as one of two processes: what test_parallel.py starts.

One start does all, since starting takes most of the time. The leading process writes down what came.
"""

import json
import sys
from pathlib import Path

import torch
import torch.nn.functional as F

from transformer_lib import parallel
from transformer_lib.models import LMConfig, TransformerLM
from transformer_lib.train import TrainConfig, train

CONFIG = TrainConfig(steps=8, warmup=2, peak=1e-2, save_every=2)


class StoppedError(Exception):
    """In the place of a lost connection."""


def batches(generator):
    """Two batches: 7 rows with padding, and a single row, of which one process has nothing to read."""
    ids = torch.randint(1, 50, (7, 9), generator=generator)
    ids[1, 5:] = ids[4, 3:] = 0
    yield (ids,)
    yield (ids[:1],)


def run(team, shard=False, checkpoint=None, stop_after=None):
    """Losses, gradients and weights of a run, and how many steps it made."""
    torch.manual_seed(0)
    plain = model = TransformerLM(LMConfig(vocab_size=50, d_model=12, n_layers=2, n_heads=2, init_std=0.5))
    if team is not None:
        model = parallel.spread(model, team, shard=shard)
    made, history, error = [], [], None

    def loss_of(model, batch):
        if len(made) == stop_after:
            raise StoppedError
        made.append(batch)
        (ids,) = batch
        return F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten(), ignore_index=0)

    try:
        words = lambda batch: int((batch[0][:, 1:] != 0).sum())  # noqa: E731
        history = train(model, batches, loss_of, CONFIG, checkpoint=checkpoint, team=team, words=words)
    except StoppedError:
        pass
    except ValueError as came:
        error = str(came)
    weights = plain.state_dict() if team is None else parallel.whole_weights(model)
    return {
        "losses": [entry["loss"] for entry in history],
        "gradients": [entry["gradient"] for entry in history],
        "weights": {name: weight.tolist() for name, weight in weights.items()},
        "made": len(made),
        "error": error,
    }


def wait(team):
    if team is not None:
        torch.distributed.barrier()


def all_ways(team, folder, shard):
    """The run as a whole; stopped and continued; found in a folder that was being exchanged; refused."""
    found = {"whole": run(team, shard)}
    if team is None:
        return found
    path = folder / f"checkpoint-{shard}"
    found["stopped"] = run(team, shard, path, stop_after=5)
    found["continued"] = run(team, shard, path)
    found["files"] = sorted(one.name for one in folder.iterdir())
    wait(team)
    path = folder / f"exchanged-{shard}"
    run(team, shard, path, stop_after=5)
    if team.leads:
        path.rename(folder / f"{path.name}.old")
        (folder / f"{path.name}.part").mkdir()
    wait(team)
    found["exchanged"] = run(team, shard, path)
    wait(team)
    if team.leads:
        (path / "rest-1.pt").unlink()
    wait(team)
    found["refused"] = run(team, shard, path)
    return found


def main(out):
    torch.set_default_dtype(torch.float64)
    folder = out.parent / "checkpoints"
    folder.mkdir(exist_ok=True)
    with parallel.joined() as team:
        found = {name: all_ways(team, folder, name == "shards") for name in ("copies", "shards")}
        if team is None or team.leads:
            out.write_text(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
