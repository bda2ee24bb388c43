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


def torchrun(folder, *options, processes=2):
    """What every step of two_processes.py gave, as the leading process wrote it down."""
    out = folder / "out.json"
    out.unlink(missing_ok=True)
    launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"]
    start = [sys.executable, *(launcher if processes > 1 else []), str(SCRIPT), str(out)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [*start, *map(str, options)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(out.read_text())


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    return torchrun(tmp_path_factory.mktemp("alone"), processes=1)


@pytest.mark.parametrize("shard", [[], ["--shard"]])
def test_two_processes_have_the_losses_and_weights_of_one(tmp_path, alone, shard):
    """Batches of 7 rows of unequal length: the two shares differ in rows and in words."""
    two = torchrun(tmp_path, *shard)
    assert len(alone["losses"]) == 8
    assert two["losses"] == pytest.approx(alone["losses"], abs=1e-10)  # float64; sums in another order
    assert two["gradients"] == pytest.approx(alone["gradients"], abs=1e-10)
    assert two["weights"].keys() == alone["weights"].keys()
    for name, weight in alone["weights"].items():
        torch.testing.assert_close(torch.tensor(two["weights"][name]), torch.tensor(weight))


@pytest.mark.parametrize("shard", [[], ["--shard"]])
def test_a_team_that_was_stopped_goes_on_bit_for_bit(tmp_path, shard):
    whole = torchrun(tmp_path, *shard)
    folder = tmp_path / "checkpoint"
    first = torchrun(tmp_path, *shard, "--checkpoint", folder, "--stop-after", 5)
    assert len(first["losses"]) == 5
    second = torchrun(tmp_path, *shard, "--checkpoint", folder)
    assert second["losses"] == whole["losses"]  # the history is part of the checkpoint
    assert second["weights"] == whole["weights"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint", "out.json"]


def test_a_folder_that_was_being_exchanged_when_the_power_failed_is_found(tmp_path):
    folder = tmp_path / "checkpoint"
    torchrun(tmp_path, "--checkpoint", folder, "--stop-after", 5)
    folder.rename(tmp_path / "checkpoint.old")
    (tmp_path / "checkpoint.part").mkdir()
    assert torchrun(tmp_path, "--checkpoint", folder)["resumed_at"] == 4  # saved every second step


def test_another_number_of_processes_is_refused(tmp_path):
    folder = tmp_path / "checkpoint"
    torchrun(tmp_path, "--checkpoint", folder, "--stop-after", 5)
    (folder / "rest-1.pt").rename(folder / "not-the-rest")
    with pytest.raises(AssertionError, match="was written by 1 processes; these are 2"):
        torchrun(tmp_path, "--checkpoint", folder)


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
