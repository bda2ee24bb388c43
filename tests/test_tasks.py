"""tasks.py: the command line, its tasks, and what it says of wrong use."""

import json
import os
import subprocess
import sys

import pytest
import torch

from transformer_lib import tasks
from transformer_lib.tasks import TASKS, main


def test_every_task_learns_something_in_a_few_steps(capsys, tmp_path):
    for name in TASKS:
        history = tmp_path / f"{name}.json"
        few = ["--steps", "12", "--warmup", "2", "--batch-size", "16", "--quiet"]
        assert main([name, *few, "--history", str(history)]) == 0
        losses = [entry["loss"] for entry in json.loads(history.read_text())]
        assert len(losses) == 12
        assert losses[-1] < losses[0] - 0.2
        out = capsys.readouterr().out
        assert f"{name}: " in out
        assert f"loss of the last step: {losses[-1]:.6f}" in out
        assert "unseen texts exactly right" in out or "on text it has not seen" in out


def test_what_is_tested_on_is_not_learned_from():
    pairs = [(f"a{n}", f"b{n}") for n in range(200)]
    task = tasks.translation(pairs, "small", 16, pieces=300)
    learned = sum(len(batch[0]) for batch in task.batches(torch.Generator().manual_seed(0)))
    assert learned == 180
    text = "abcdefghij" * 400 + "xyz" * 60  # the end has letters that the beginning lacks
    task = tasks.language_model(text, "small", 8)
    seen = {int(id) for (batch,) in task.batches(torch.Generator().manual_seed(0)) for id in batch.unique()}
    assert len(seen) < len(set(text))


def test_words_count_what_the_loss_is_the_mean_of():
    for name in ("dates", "prose"):
        task = TASKS[name][1]("small", 5)
        batch = next(task.batches(torch.Generator().manual_seed(0)))
        model = task.model()
        alone = [tuple(part[n : n + 1] for part in batch) for n in range(len(batch[0]))]
        sums = sum(task.loss_of(model, row).item() * task.words(row) for row in alone)
        assert sums / task.words(batch) == pytest.approx(task.loss_of(model, batch).item(), rel=1e-5)
        assert sum(map(task.words, alone)) == task.words(batch)


def test_stopped_and_continued_from_the_command_line(tmp_path):
    def run(*options):
        history = tmp_path / "history.json"
        given = ["prose", "--steps", "6", "--warmup", "1", "--batch-size", "4", "--quiet"]
        assert main([*given, "--history", str(history), *map(str, options)]) == 0
        return json.loads(history.read_text())

    whole = run()
    checkpoint = ["--checkpoint", tmp_path / "run.pt", "--save-every", 2]
    run(*checkpoint)
    assert run(*checkpoint) == whole  # nothing left to do: the history of before


def test_weights_are_written_whole(tmp_path):
    file = tmp_path / "weights.pt"
    assert (
        main(
            ["prose", "--steps", "1", "--warmup", "0", "--batch-size", "2", "--quiet", "--weights", str(file)]
        )
        == 0
    )
    weights = torch.load(file, weights_only=True)
    tasks.TASKS["prose"][1]("small", 2).model().load_state_dict(weights)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["prose", "--steps", "0"], "steps and save_every must be at least 1"),
        (["prose", "--steps", "5", "--warmup", "9"], "warmup below steps"),
        (["prose", "--steps", "5", "--peak", "-1"], "peak and clip must be above 0"),
        (["dates", "--steps", "2", "--batch-size", "0"], "batch_size at least 1"),
        (["prose", "--steps", "2", "--batch-size", "0"], "batch_size must be at least 1; got 0"),
        (["prose", "--steps", "2", "--batch-size", "-3"], "batch_size must be at least 1; got -3"),
        (["prose", "--steps", "2", "--shard"], "start them with torchrun"),
        (
            ["prose", "--steps", "9", "--peak", "1e30", "--clip", "0", "--warmup", "0"],
            "lower the learning rate",
        ),
    ],
)
def test_wrong_use_is_said_in_a_sentence(arguments, words, capsys):
    assert main([*arguments, "--quiet"]) == 1
    assert words in capsys.readouterr().err


def test_help_names_every_task_and_how_to_use_several_devices():
    command = [sys.executable, "-m", "transformer_lib.train", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True, env=os.environ)
    assert not done.stderr  # no warning that the module had been imported
    for name in TASKS:
        assert f"  {name}" in done.stdout
    assert "torchrun --standalone --nproc-per-node 2 -m transformer_lib.train" in done.stdout


FEW = ["prose", "--steps", "2", "--warmup", "1", "--quiet"]


def test_a_checkpoint_of_other_data_is_refused(tmp_path, capsys):
    checkpoint = ["--checkpoint", str(tmp_path / "run.pt")]
    assert main([*FEW, "--batch-size", "4", *checkpoint]) == 0
    assert main([*FEW, "--batch-size", "5", *checkpoint]) == 1
    assert "prose small, batches of 4" in capsys.readouterr().err
    other = ["--size", "large", "--peak", "2e-3"]  # the same settings of training for another model
    assert main([*FEW, "--batch-size", "4", *other, *checkpoint]) == 1


def test_a_file_that_is_no_checkpoint_is_named(tmp_path, capsys):
    file = tmp_path / "notes.txt"
    file.write_text("my notes")
    assert main([*FEW, "--batch-size", "4", "--checkpoint", str(file)]) == 1
    assert "notes.txt is no checkpoint that can be read" in capsys.readouterr().err
    assert file.read_text() == "my notes"
    torch.save({"weight": torch.zeros(1)}, file)
    assert main([*FEW, "--batch-size", "4", "--checkpoint", str(file)]) == 1
    assert "something else than a checkpoint" in capsys.readouterr().err
    assert main([*FEW, "--batch-size", "4", "--checkpoint", str(tmp_path)]) == 1
    assert "Stopped: " in capsys.readouterr().err


def test_folders_of_results_are_made(tmp_path):
    files = [tmp_path / "new" / "weights.pt", tmp_path / "other" / "deep" / "history.json"]
    options = ["--weights", str(files[0]), "--history", str(files[1])]
    assert main([*FEW, "--batch-size", "2", *options]) == 0
    assert all(file.exists() for file in files)


def test_the_language_model_writes_only_at_places_it_was_trained_at(capsys):
    task = TASKS["prose"][1]("small", 2)
    (batch,) = next(task.batches(torch.Generator().manual_seed(0)))
    model = task.model().eval()
    trained_at = batch.shape[1] - 1
    assert model.config.max_length == trained_at  # further on it would have an untrained position
    assert len(task.report(model)[1]) <= trained_at
