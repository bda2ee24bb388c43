"""train.py: the loss and the schedules by hand, and a run that is killed at random moments."""

import math
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from checking import raises
from torch import nn

from transformer_lib.train import (
    TrainConfig,
    cosine_schedule,
    save_atomically,
    train,
    word_loss,
)

B, T, V = 3, 5, 7


# The loss


def test_loss_word_by_word():
    logits = torch.randn(B, T, V, dtype=torch.float64)
    targets = torch.tensor([[3, 1, 0, 0, 0], [6, 5, 4, 2, 1], [2, 0, 0, 0, 0]])
    smoothing, total, words = 0.1, 0.0, 0
    for b in range(B):
        for t in range(T):
            if targets[b, t] == 0:
                continue
            log_p = [float(x) for x in logits[b, t]]
            norm = math.log(math.fsum(math.exp(x) for x in log_p))
            share = [smoothing / V + (1 - smoothing) * (c == targets[b, t]) for c in range(V)]
            total -= math.fsum(s * (x - norm) for s, x in zip(share, log_p, strict=True))
            words += 1
    assert word_loss(logits, targets, label_smoothing=smoothing).item() == pytest.approx(
        total / words, rel=1e-6
    )


def test_padding_changes_nothing_and_gets_no_gradient(device):
    logits = torch.randn(B, T, V, device=device, requires_grad=True)
    targets = torch.randint(1, V, (B, T), device=device)
    targets[1, 3:] = 0
    loss = word_loss(logits, targets)
    loss.backward()
    assert (logits.grad[1, 3:] == 0).all()
    assert (logits.grad[1, :3] != 0).all()
    longer = F.pad(logits.detach(), (0, 0, 0, 2), value=9.0), F.pad(targets, (0, 2))
    torch.testing.assert_close(word_loss(*longer), loss.detach())
    torch.testing.assert_close(
        word_loss(logits, targets + 1, pad_id=1), word_loss(logits.roll(-1, -1), targets)
    )


def test_the_loss_is_computed_in_float32():
    logits = torch.full((1, 1, 5000), 5.0, dtype=torch.bfloat16)
    assert word_loss(logits, torch.tensor([[3]])).item() == pytest.approx(math.log(5000), rel=1e-5)


# The loop


class Tiny(nn.Module):
    """Embedding, dropout and a map: small, but with every state that a run has."""

    def __init__(self):
        super().__init__()
        self.embedding, self.drop, self.out = nn.Embedding(V, 11), nn.Dropout(0.3), nn.Linear(11, V)

    def forward(self, ids):
        return self.out(self.drop(self.embedding(ids)))


ROWS = torch.arange(13 * T).reshape(13, T) % (V - 1) + 1


def batches(generator):
    for rows in torch.randperm(len(ROWS), generator=generator).split(4):
        yield ROWS[rows]


def next_word(model, ids):
    return word_loss(model(ids[:, :-1]), ids[:, 1:])


def run(config, checkpoint=None):
    torch.manual_seed(5)
    model = Tiny()
    return model, train(model, batches, next_word, config, checkpoint=checkpoint)


CONFIG = TrainConfig(steps=23, warmup=3, save_every=5, peak=0.05)


def same(a, b):
    return all(
        torch.equal(x, y) for x, y in zip(a.state_dict().values(), b.state_dict().values(), strict=True)
    )


def test_it_learns_and_keeps_its_history():
    model, history = run(TrainConfig(steps=150, warmup=10, peak=0.05))
    assert [entry["step"] for entry in history] == list(range(1, 151))
    assert history[0]["loss"] > 1.5
    with torch.no_grad():
        assert next_word(model.eval(), ROWS) < 0.1
    rates = [cosine_schedule(step, 0.05, 10, 150) for step in range(1, 151)]
    assert [entry["rate"] for entry in history] == rates
    assert {"step", "loss", "rate", "gradient"} == set(history[0])


def test_the_gradient_is_clipped():
    lengths = {}
    for clip in (None, 1e-4):
        torch.manual_seed(5)
        model = Tiny()
        config = TrainConfig(steps=1, warmup=0, clip=clip, weight_decay=0.0)
        [entry] = train(model, batches, lambda model, ids: 1000 * next_word(model, ids), config)
        assert entry["gradient"] > 10  # as it came, before clipping
        lengths[clip] = torch.cat([p.grad.flatten() for p in model.parameters()]).norm().item()
    assert lengths[1e-4] == pytest.approx(1e-4, rel=1e-3)
    assert lengths[None] > 10


def test_a_resumed_run_equals_one_that_never_stopped(tmp_path):
    whole, history = run(CONFIG)
    for stop in (5, 7, 13, 22):
        path = tmp_path / f"{stop}.pt"
        asked = 0

        def counted(model, ids, stop=stop):
            nonlocal asked
            asked += 1
            if asked > stop:
                raise InterruptedError
            return next_word(model, ids)

        torch.manual_seed(5)
        with pytest.raises(InterruptedError):
            train(Tiny(), batches, counted, CONFIG, checkpoint=path)
        torch.manual_seed(99)  # a new process begins anywhere
        resumed = Tiny()
        assert train(resumed, batches, next_word, CONFIG, checkpoint=path) == history
        assert same(resumed, whole)
    again = Tiny()
    assert train(again, batches, next_word, CONFIG, checkpoint=path) == history  # nothing left to do
    assert same(again, whole)


KILLED = """
import sys; sys.path.insert(0, sys.argv[2])
import test_train as t, time
slow = lambda model, ids: time.sleep(0.01) or t.next_word(model, ids)
t.torch.manual_seed(5)
model = t.Tiny()
print("ready", flush=True)
config = t.TrainConfig(steps=120, warmup=3, save_every=1, peak=0.05)
t.train(model, t.batches, slow, config, checkpoint=sys.argv[1])
t.torch.save(model.state_dict(), sys.argv[1] + ".end")
"""


def test_killed_at_random_moments(tmp_path):
    """SIGKILL lands anywhere, also while a checkpoint is being written."""
    path, chance = tmp_path / "run.pt", random.Random(3)
    kills = 0
    while not (tmp_path / "run.pt.end").exists():
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, path, Path(__file__).parent], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout.readline() == "ready\n"
        if kills < 3:
            time.sleep(chance.uniform(0.05, 0.6))
            process.send_signal(signal.SIGKILL)
            kills += 1
        process.communicate()
        assert process.returncode in (0, -signal.SIGKILL)
    assert kills >= 1
    torch.manual_seed(5)
    model = Tiny()
    train(model, batches, next_word, TrainConfig(steps=120, warmup=3, save_every=1, peak=0.05))
    end = torch.load(tmp_path / "run.pt.end")
    for name, weight in model.state_dict().items():
        assert torch.equal(end[name], weight), name


def test_a_checkpoint_is_the_old_one_or_the_new_one(tmp_path, monkeypatch):
    path = tmp_path / "deep" / "run.pt"
    save_atomically({"step": 1}, path)

    def half(state, file):
        file.write(b"half of it")
        raise OSError("No space left on device")

    monkeypatch.setattr(torch, "save", half)
    with pytest.raises(OSError, match="No space"):
        save_atomically({"step": 2}, path)
    assert torch.load(path) == {"step": 1}
    assert [p.name for p in path.parent.iterdir()] == ["run.pt"]


def test_bfloat16_trains_too():
    torch.manual_seed(5)
    model, dtypes = Tiny(), set()
    model.out.register_forward_hook(lambda module, given, out: dtypes.add(out.dtype))
    history = train(model, batches, next_word, TrainConfig(steps=60, warmup=5, peak=0.05, bfloat16=True))
    assert dtypes == {torch.bfloat16}
    assert history[-1]["loss"] < history[0]["loss"] - 0.5
    assert model.out.weight.dtype == torch.float32


def test_a_bar_can_be_shown(capsys):
    torch.manual_seed(5)
    train(Tiny(), batches, next_word, CONFIG, progress=True)
    assert "23/23" in capsys.readouterr().err
    train(Tiny(), batches, next_word, CONFIG)
    assert capsys.readouterr() == ("", "")


def test_wrong_input_is_named(tmp_path):
    logits, targets = torch.zeros(B, T, V), torch.ones(B, T, dtype=torch.long)
    with raises(ValueError, r"\(3, 5, 7\) and targets \(3, 4\)"):
        word_loss(logits, targets[:, :4])
    with raises(ValueError, "nothing to learn from"):
        word_loss(logits, 0 * targets)
    with raises(ValueError, "below 1; got 1.0"):
        word_loss(logits, targets, label_smoothing=1.0)
    for wrong in ({"steps": 0}, {"steps": 5, "warmup": 5}, {"steps": 5, "warmup": 1, "clip": 0.0}):
        with raises(ValueError, "got "):
            TrainConfig(**wrong)
    with raises(ValueError, "no batch"):
        train(Tiny(), lambda generator: iter(()), next_word, CONFIG)
    with raises(FloatingPointError, "loss of step 1 is nan"):
        train(Tiny(), batches, lambda model, ids: next_word(model, ids) * math.nan, CONFIG)
    run(CONFIG, tmp_path / "run.pt")
    with raises(ValueError, "was made with"):
        run(TrainConfig(steps=29, warmup=3), tmp_path / "run.pt")
