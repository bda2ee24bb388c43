"""Exercise 11.8: What the checkpoint forgot."""

from __future__ import annotations

import itertools

import torch

from transformer_lib.exercises.chapter_11.shared import result_is
from transformer_lib.exercises.exercise import Exercise, Mistake


def stop_and_resume(rows, stop, steps):
    def begin():
        width = rows.shape[1]
        return {
            "weights": torch.zeros(width),
            "moment": torch.zeros(width),
            "step": 0,
            "generator": torch.Generator().manual_seed(0),
        }

    def go_on(run, until):
        while run["step"] < until:
            row = rows[run["step"] % len(rows)]
            noise = torch.rand(row.shape, generator=run["generator"])
            gradient = (run["weights"] - row) * noise
            run["moment"] = 0.8 * run["moment"] + gradient
            run["weights"] = run["weights"] - 0.1 * run["moment"]
            run["step"] += 1

    run = begin()
    go_on(run, stop)
    checkpoint = {
        "weights": run["weights"],
        "moment": run["moment"],
        "step": run["step"],
        "random": run["generator"].get_state(),
    }

    run = begin()  # a new process, which knows the checkpoint only
    run["weights"] = checkpoint["weights"]
    run["moment"] = checkpoint["moment"]
    run["step"] = checkpoint["step"]
    run["generator"].set_state(checkpoint["random"])
    go_on(run, steps)
    return run["weights"]


def _forgetting(forgotten: frozenset[str], more: bool = False):
    """The run with these parts begun anew; `more` makes `steps` updates more, not up to `steps`."""

    def run(rows, stop, steps):
        w, m = torch.zeros(rows.shape[1]), torch.zeros(rows.shape[1])
        generator, place, made = torch.Generator().manual_seed(0), 0, 0
        last = stop + steps if more else steps
        while made < last:
            if made == stop:
                w = torch.zeros_like(w) if "weights" in forgotten else w
                m = torch.zeros_like(m) if "moment" in forgotten else m
                place = 0 if "place" in forgotten else place
                if "random" in forgotten:
                    generator = torch.Generator().manual_seed(0)
            row = rows[place % len(rows)]
            m = 0.8 * m + (w - row) * torch.rand(row.shape, generator=generator)
            w = w - 0.1 * m
            place, made = place + 1, made + 1
        return w

    return run


def _subsets(*parts: str) -> list[frozenset[str]]:
    return [frozenset(c) for n in range(len(parts) + 1) for c in itertools.combinations(parts, n)]


def _runs(always: str, *others: str):
    """Every way to forget this part and any of the others, with either count of steps."""
    ways = [{always, *rest} for rest in _subsets(*others)]
    return result_is(*(_forgetting(frozenset(way), more) for way in ways for more in (False, True)))


def _cases(generator: torch.Generator) -> list[tuple]:
    return [
        (2 * torch.randn(n, width, generator=generator), stop, steps)
        for n, width, stop, steps in ((3, 2, 2, 7), (5, 3, 7, 13), (7, 5, 11, 17))
    ]


FIND_THE_BUG = Exercise(
    id="11.8",
    title="What the checkpoint forgot",
    kind="find the bug",
    difficulty="medium",
    minutes=12,
    statement=r"""
A small run: `rows` of shape `(N, D)` are the data, read one row after the other, over and over. Each step
takes a gradient with some random noise (as dropout would make), keeps an average of the gradients (the
*moment* that an optimiser remembers), and moves the weights. After step `stop` the run is stopped. What is in
the checkpoint is kept, a new process begins and goes on up to step `steps`.

The function should return the same weights as a run that was never stopped. **The checkpoint forgets
something**, more than one thing. Take out the `raise` line, find what is missing, and mend both places:
where the checkpoint is written, and where it is read. `begin` and `go_on` are right.
""",
    stub='''import torch


def stop_and_resume(rows, stop, steps):
    """The weights (D,) after `steps` steps over rows (N, D), with a stop after step `stop`."""
    raise NotImplementedError("take this line out, then mend what is below")

    def begin():
        width = rows.shape[1]
        return {
            "weights": torch.zeros(width),
            "moment": torch.zeros(width),
            "step": 0,
            "generator": torch.Generator().manual_seed(0),
        }

    def go_on(run, until):
        while run["step"] < until:
            row = rows[run["step"] % len(rows)]
            noise = torch.rand(row.shape, generator=run["generator"])
            gradient = (run["weights"] - row) * noise
            run["moment"] = 0.8 * run["moment"] + gradient
            run["weights"] = run["weights"] - 0.1 * run["moment"]
            run["step"] += 1

    run = begin()
    go_on(run, stop)
    checkpoint = {"weights": run["weights"]}

    run = begin()  # a new process, which knows the checkpoint only
    run["weights"] = checkpoint["weights"]
    go_on(run, steps)
    return run["weights"]
''',
    reference=stop_and_resume,
    cases=_cases,
    hints=(
        "List all that `go_on` reads and changes. Which of it does the new process begin afresh?",
        "There are four entries in `run`. One of them is an object that draws random numbers, with a state.",
        "A generator's state is read by `get_state()` and put back by `set_state(…)`.",
    ),
    mistakes=(
        Mistake(
            name="weights-lost",
            message="The new process begins with weights of 0: what was learned before the stop is gone.",
            probe=_runs("weights", "moment", "place", "random"),
        ),
        Mistake(
            name="only-the-weights",
            message="This is what the checkpoint with nothing but the weights gives. What else does "
            "`go_on` read from `run`?",
            probe=result_is(
                *(_forgetting(frozenset({"moment", "place", "random"}), m) for m in (False, True))
            ),
        ),
        Mistake(
            name="moment-forgotten",
            message="The optimiser's moment begins at 0 again after the stop: the first steps of the new "
            "process are too short.",
            probe=_runs("moment", "place", "random"),
        ),
        Mistake(
            name="place-forgotten",
            message="The new process begins with the first row again, and counts its steps from 0. Where "
            "was the run in its data when it stopped?",
            probe=_runs("place", "random"),
        ),
        Mistake(
            name="random-state-forgotten",
            message="The random numbers begin anew after the stop: the run sees the noise of its first "
            "steps a second time. The same *seed* is not the same *state*.",
            probe=_runs("random"),
        ),
        Mistake(
            name="too-many-steps",
            message="All is saved, but the new process makes `steps` further steps instead of going on up "
            "to step `steps`.",
            probe=result_is(_forgetting(frozenset(), more=True)),
        ),
        Mistake(
            name="not-continued",
            message="These are the weights at the stop: the run did not go on.",
            probe=result_is(lambda rows, stop, steps: _forgetting(frozenset())(rows, stop, stop)),
        ),
    ),
)
