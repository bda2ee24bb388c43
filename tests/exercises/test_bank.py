"""Every exercise of the catalogue against the banks of right and wrong answers, `bank_NN.py`."""

import importlib.util
import inspect
from pathlib import Path

import pytest
import torch

from transformer_lib.exercises import catalogue, check

EXERCISES = {exercise.id: exercise for exercise in catalogue()}
FEWEST_RIGHT, FEWEST_WRONG = 3, 6


def load_banks():
    """RIGHT and WRONG of all banks, joined."""
    right, wrong = {}, {}
    for path in sorted(Path(__file__).parent.glob("bank_[0-9][0-9].py")):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        bank = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(bank)
        for id in (*bank.RIGHT, *bank.WRONG):
            assert id in EXERCISES, f"{path.name} has answers to {id!r}, which is no exercise"
            assert id.split(".")[0] == str(int(path.stem[-2:])), f"{id} does not belong into {path.name}"
        right |= bank.RIGHT
        wrong |= bank.WRONG
    return right, wrong


RIGHT, WRONG = load_banks()


def numbered(answers):
    """One parameter per answer: "2.3-4" is the fourth for exercise 2.3."""
    return [pytest.param(id, a, id=f"{id}-{n}") for id in answers for n, a in enumerate(answers[id], 1)]


def as_function(id, source):
    """What a notebook's cell with this source defines."""
    namespace = {"__name__": "__main__"}
    exec(compile(source, "<cell>", "exec"), namespace)
    return namespace[EXERCISES[id].name]


@pytest.mark.parametrize("id", EXERCISES)
def test_exercise_has_enough_answers_in_the_bank(id):
    assert len(RIGHT.get(id, ())) >= FEWEST_RIGHT
    assert len(WRONG.get(id, ())) >= FEWEST_WRONG


@pytest.mark.parametrize("id", EXERCISES)
def test_solution_passes_as_it_is_shown(id):
    result = check(id, as_function(id, EXERCISES[id].solution))
    assert result.passed, result


@pytest.mark.parametrize("id", EXERCISES)
def test_stub_reads_not_attempted(id):
    result = check(id, as_function(id, EXERCISES[id].stub))
    assert (result.status, result.mistake) == ("not attempted", "not-attempted"), result


@pytest.mark.parametrize("id", EXERCISES)
def test_exercise_is_complete(id):
    exercise = EXERCISES[id]
    assert exercise.hints, "no hints"
    assert exercise.mistakes, "no known mistakes"
    assert exercise.name in exercise.stub


@pytest.mark.parametrize(
    ("id", "mistake"),
    [
        pytest.param(id, mistake, id=f"{id}-{mistake.name}")
        for id, exercise in EXERCISES.items()
        for mistake in exercise.mistakes
        if mistake.variant is not None
    ],
)
def test_variant_is_caught_under_its_own_name(id, mistake):
    assert check(id, mistake.variant).mistake == mistake.name


@pytest.mark.parametrize("id", EXERCISES)
def test_every_mistake_is_made_somewhere(id):
    """A mistake with a probe alone is never tried out unless the bank makes it."""
    made = {name for _, name in WRONG.get(id, ())}
    made |= {mistake.name for mistake in EXERCISES[id].mistakes if mistake.variant is not None}
    assert {mistake.name for mistake in EXERCISES[id].mistakes} <= made


FUNCTIONS = [id for id, exercise in EXERCISES.items() if not exercise.asks_for_answer]
LOOKED_AT = {"wrong-type", "wrong-shape", "wrong-dtype", "contains-nan", "argument-changed", "wrong-values"}


def returning(reference, instead):
    """The reference, but each result is replaced by `instead` of it; of a class, that of each method.

    Where the reference refuses its arguments, this one does so too.
    """
    if not isinstance(reference, type):
        return lambda *args, **named: instead(reference(*args, **named))

    def method(original):
        return lambda self, *args, **named: instead(original(self, *args, **named))

    functions = {name: f for name, f in vars(reference).items() if inspect.isfunction(f)}
    methods = {name: method(f) for name, f in functions.items() if not name.startswith("_")}
    return type(reference.__name__, (reference,), methods)


def noise(right, generator=None):
    """Numbers drawn at random, as many and in the same shapes as these."""
    generator = generator or torch.Generator().manual_seed(1)
    if isinstance(right, list | tuple):
        drawn = [noise(part, generator) for part in right]
        return tuple(drawn) if isinstance(right, tuple) else drawn
    if isinstance(right, dict):
        return {key: noise(part, generator) for key, part in right.items()}
    if isinstance(right, torch.Tensor):
        kind = right.dtype if right.is_floating_point() else torch.float32
        drawn = torch.randn(right.shape, generator=generator, dtype=torch.float64).to(kind)
        return drawn + 0 * right if right.requires_grad else drawn  # still a function of what it was
    return torch.randn((), generator=generator).item()


@pytest.mark.parametrize("id", FUNCTIONS)
@pytest.mark.parametrize("nothing", [torch.zeros(1), torch.ones(17, 17), torch.zeros(0), torch.tensor(0.5)])
def test_nonsense_gets_no_name_of_a_known_mistake(id, nothing):
    # One tensor for two matrices has a name of its own; what an object gives may be of no use to the check.
    attempt = returning(EXERCISES[id].reference, lambda right: nothing)
    assert check(id, attempt).mistake in {*LOOKED_AT, "misshapen-matrices", "error"}


@pytest.mark.parametrize("id", FUNCTIONS)
def test_noise_of_the_right_shape_gets_no_name_of_a_known_mistake(id):
    # Of noise it is true that no word reads another.
    assert check(id, returning(EXERCISES[id].reference, noise)).mistake in {*LOOKED_AT, "words-do-not-meet"}


@pytest.mark.parametrize(("id", "answer"), numbered(RIGHT))
def test_right_answer_passes(id, answer):
    result = check(id, answer)
    assert result.passed, result


@pytest.mark.parametrize(("id", "answer"), numbered(WRONG))
def test_wrong_answer_is_caught_under_its_name(id, answer):
    candidate, name = answer
    result = check(id, candidate)
    assert result.mistake == name, result
    assert "?" not in filled(result), f"a field of the message has no value: {result.message}"


def filled(result):
    """The message's fields as they were filled in; a question mark stands for an unknown one."""
    template = next((m.message for m in result.exercise.mistakes if m.name == result.mistake), "")
    asked = template.count("?")
    return "?" if template and result.message.count("?") > asked else ""
