"""parallel.py: two processes on the CPU train like one that reads the whole batch, copies or shards."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from transformer_lib.parallel import Team, joined

SCRIPT = Path(__file__).with_name("two_processes.py")
TORCHRUN = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]


def results_of(launcher, folder):
    """What two_processes.py found, started by this launcher."""
    out = folder / "out.json"
    done = subprocess.run(
        [sys.executable, *launcher, str(SCRIPT), str(out)],
        env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(out.read_text())


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    return results_of([], tmp_path_factory.mktemp("alone"))["copies"]["whole"]


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    return results_of(TORCHRUN, tmp_path_factory.mktemp("two"))


@pytest.fixture(params=["copies", "shards"])
def way(request, two):
    """What two processes found that hold a copy of the weights each, or a share."""
    return two[request.param]


def test_two_processes_have_the_losses_and_weights_of_one(alone, way):
    """Batches of 7 rows of unequal length and of 1: the two shares differ in rows and in words."""
    whole = way["whole"]
    assert len(alone["losses"]) == 8
    assert whole["losses"] == pytest.approx(alone["losses"], abs=1e-10)  # float64; sums in another order
    assert whole["gradients"] == pytest.approx(alone["gradients"], abs=1e-10)
    assert whole["weights"].keys() == alone["weights"].keys()
    for name, weight in alone["weights"].items():
        ours = torch.tensor(whole["weights"][name], dtype=torch.float64)
        torch.testing.assert_close(ours, torch.tensor(weight, dtype=torch.float64), rtol=1e-6, atol=1e-8)


def test_a_team_that_was_stopped_goes_on_bit_for_bit(way):
    assert way["stopped"]["made"] == 5
    continued = way["continued"]
    assert continued["made"] == 4  # saved after step 4
    assert continued["losses"] == way["whole"]["losses"]  # the history is part of the checkpoint
    assert continued["weights"] == way["whole"]["weights"]


def test_a_checkpoint_leaves_nothing_beside_it(two):
    assert two["copies"]["files"] == ["checkpoint-False"]


def test_a_folder_that_was_being_exchanged_when_the_power_failed_is_found(way):
    assert way["exchanged"]["made"] == 4
    assert way["exchanged"]["losses"] == way["whole"]["losses"]


def test_another_number_of_processes_is_refused(way):
    assert "was written by 1 processes; these are 2" in way["refused"]["error"]


def test_shares_cut_a_batch_into_its_rows():
    x, y = torch.arange(14).view(7, 2), torch.arange(7)
    shares = [Team(rank, 3, torch.device("cpu")).share((x, y)) for rank in range(3)]
    assert [len(share[0]) for share in shares] == [3, 2, 2]
    assert torch.cat([share[1] for share in shares]).sort().values.tolist() == list(range(7))
    for part_x, part_y in shares:
        assert (part_x[:, 0] == 2 * part_y).all()  # rows stay together
    few = Team(2, 3, torch.device("cpu")).share((x[:2], y[:2]))
    assert few[1].tolist() == [0]  # one row, which will not count


def test_a_team_needs_a_count_of_words():
    with pytest.raises(ValueError, match="how many words"):
        Team(0, 2, torch.device("cpu")).loss_of_share(lambda model, batch: nn.Parameter(), None)


def test_alone_there_is_no_team(monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    with joined() as team:
        assert team is None
