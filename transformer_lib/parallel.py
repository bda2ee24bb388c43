r"""Training on several devices or machines, started by `torchrun` (chapter 11).

Every process reads its share of the rows of each batch. With $n_r$ words to predict in process r, of
$N = \sum_r n_r$ in all, the loss of the whole batch is

$$L = \sum_r \frac{n_r}{N} L_r ,$$

so a run of several processes has the losses of one that reads the batch alone, up to rounding. Each holds
the whole model and they average their gradients (DDP), or each holds a share of every weight and collects
a block's weights when it is the block's turn (FSDP2), for models that do not fit one device.

Sources: Li et al. 2020 (DDP), arXiv 2006.15704; Zhao et al. 2023 (FSDP), arXiv 2304.11277; Rajbhandari et
al. 2020 (sharing weights, gradients and the optimiser's state), arXiv 1910.02054.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn


@dataclass(frozen=True)
class Team:
    """The processes that train one model together, seen from one of them.

    Args:
        rank: this process, from 0.
        size: processes in all.
        device: this process's own.
    """

    rank: int
    size: int
    device: torch.device

    @property
    def leads(self) -> bool:
        """Whether this is the one process that prints and writes."""
        return self.rank == 0

    def share(self, batch: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """This process's rows of a batch: every `size`-th. Too few: row 0, which will not count."""
        rows = slice(self.rank, None, self.size) if self.rank < len(batch[0]) else slice(0, 1)
        return tuple(part[rows] for part in batch)

    def loss_of_share(
        self, loss_of: Callable[[nn.Module, Any], Tensor], words: Callable[[Any], int] | None
    ) -> Callable[[nn.Module, Any], Tensor]:
        """The loss of this process's rows of a batch, weighted by its words.

        Averaged over the processes it is the loss of the whole batch, and so are the gradients.

        Raises:
            ValueError: words, which counts what the loss of a batch is the mean of, is missing.
        """
        if words is None:
            raise ValueError("a team must be told how many words the loss of a batch is the mean of")

        def loss(model: nn.Module, batch: tuple[Tensor, ...]) -> Tensor:
            own = self.share(batch)
            count = words(own) if self.rank < len(batch[0]) else 0
            total = torch.tensor(float(count), device=self.device)
            dist.all_reduce(total)
            return loss_of(model, own) * (count * self.size / total.item())

        return loss

    def mean(self, x: Tensor) -> Tensor:
        """The average over the processes, on each of them."""
        x = x.detach().clone()
        dist.all_reduce(x)
        return x / self.size


@contextmanager
def joined() -> Iterator[Team | None]:
    """The team that `torchrun` has started this process in; None where it was started alone.

    Raises:
        RuntimeError: the others cannot be reached.
    """
    if int(os.environ.get("WORLD_SIZE", 1)) == 1:
        yield None
        return
    cuda, local = torch.cuda.is_available(), int(os.environ.get("LOCAL_RANK", 0))
    device = torch.device("cuda", local) if cuda else torch.device("cpu")
    if cuda:
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if cuda else "gloo")
    try:
        yield Team(dist.get_rank(), dist.get_world_size(), device)
    finally:
        dist.destroy_process_group()


def spread(model: nn.Module, team: Team, *, shard: bool = False) -> nn.Module:
    """The model, ready to be trained by the team: a copy on each process, or a share of it where `shard`.

    Every process must begin with the same weights (the same seed). Blocks are found as the members of the
    model's module lists.
    """
    model = model.to(team.device)
    if not shard:
        return nn.parallel.DistributedDataParallel(model)
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    mesh = init_device_mesh(team.device.type, (team.size,))
    for part in model.modules():
        if isinstance(part, nn.ModuleList):
            for block in part:
                fully_shard(block, mesh=mesh)
    return fully_shard(model, mesh=mesh)


def whole_weights(model: nn.Module) -> dict[str, Tensor]:
    """The weights of a model that was spread, whole and on the CPU, by the names of the model before that.

    Every process must call it; the leading one gets them, the others an empty dict.
    """
    from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict

    return get_model_state_dict(model, options=StateDictOptions(full_state_dict=True, cpu_offload=True))


def save(
    folder: Path, model: nn.Module, optimizer: torch.optim.Optimizer, rest: dict[str, Any], team: Team
) -> None:
    """Write a checkpoint of all processes: the old folder stays until the new one is whole.

    Args:
        rest: what else this process needs to go on; each process keeps its own.
    """
    import torch.distributed.checkpoint as dcp
    from torch.distributed.checkpoint.state_dict import get_state_dict

    part, old = folder.with_name(f"{folder.name}.part"), folder.with_name(f"{folder.name}.old")
    if team.leads:
        for left in (part, old):
            shutil.rmtree(left, ignore_errors=True)
        part.mkdir(parents=True)
    dist.barrier()
    weights, moments = get_state_dict(model, optimizer)
    dcp.save({"model": weights, "optimizer": moments}, checkpoint_id=part)
    torch.save(rest, part / f"rest-{team.rank}.pt")
    dist.barrier()
    if team.leads:
        if folder.exists():
            folder.rename(old)
        part.rename(folder)
        shutil.rmtree(old, ignore_errors=True)
    dist.barrier()


def load(
    folder: Path, model: nn.Module, optimizer: torch.optim.Optimizer, team: Team
) -> dict[str, Any] | None:
    """Read a checkpoint into model and optimiser; returns what this process had saved besides.

    None where there is no checkpoint. A folder that was being exchanged when the power failed is found.

    Raises:
        ValueError: it was written by another number of processes.
    """
    import torch.distributed.checkpoint as dcp
    from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict

    old = folder.with_name(f"{folder.name}.old")
    if team.leads and not folder.exists() and old.exists():
        old.rename(folder)
    dist.barrier()
    if not folder.exists():
        return None
    written_by = len(list(folder.glob("rest-*.pt")))
    if written_by != team.size:
        raise ValueError(f"{folder} was written by {written_by} processes; these are {team.size}")
    weights, moments = get_state_dict(model, optimizer)
    state = {"model": weights, "optimizer": moments}
    dcp.load(state, checkpoint_id=folder)
    set_state_dict(model, optimizer, model_state_dict=state["model"], optim_state_dict=state["optimizer"])
    return torch.load(folder / f"rest-{team.rank}.pt", map_location="cpu", weights_only=True)
