"""Whatever a learner's code returns or raises, the check goes on and gives it the right name."""

import sys
import warnings

import numpy as np
import pytest
import torch
from html_check import check_html
from samples import ANSWER, CLASS, SHARES, Scale, printing, softmax

from transformer_lib.exercises.card import html_card
from transformer_lib.exercises.card_text import text_card
from transformer_lib.exercises.diagnose import judge


class Odd(torch.Tensor):
    """A subclass that does nothing but object to everything."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        raise RuntimeError("not with me")


class Hostile(BaseException):
    def __str__(self):
        raise KeyboardInterrupt

    __repr__ = __str__


def raises(error):
    def function(scores):
        raise error

    return function


def changing(scores):
    result = softmax(scores)
    scores += 1
    return result


def generating(scores):
    yield softmax(scores)


async def waiting(scores):
    return softmax(scores)


def recursive(scores):
    return recursive(scores)


def self_containing(scores):
    parts = []
    parts.append(parts)
    return parts


def too_many(scores, dim, keep):
    return softmax(scores)


def hostile_object(scores):
    class Thing:
        def __repr__(self):
            raise Hostile

        __eq__ = __str__ = __repr__
        __hash__ = None

    return Thing()


def closing(scores):
    sys.stdout.close()
    sys.exit()


def asking(scores):
    return float(input("how much? "))


def reading(scores):
    return softmax(scores) if sys.stdin.read() == "" else None


def warning(scores):
    warnings.warn("watch <out>", stacklevel=1)
    return softmax(scores)


SURVIVED = [
    (None, "not-a-function"),
    (7, "not-a-function"),
    (torch.ones(2), "not-a-function"),
    (Scale, "class-instead-of-function"),
    (lambda: 1, "wrong-arguments"),
    (too_many, "wrong-arguments"),
    (torch.nn.ReLU, "class-instead-of-function"),
    (lambda scores: None, "returned-none"),
    (lambda scores: print(softmax(scores)), "returned-none"),
    (lambda scores: [1, 2], "wrong-type"),
    (lambda scores: "text", "wrong-type"),
    (lambda scores: 3, "wrong-type"),
    (lambda scores: softmax(scores).numpy(), "wrong-type"),
    (lambda scores: (softmax(scores),), "wrong-type"),
    (lambda scores: {"a": scores}, "wrong-type"),
    (lambda scores: softmax(scores).to_sparse(), "wrong-type"),
    (lambda scores: torch.nested.as_nested_tensor([scores]), "wrong-type"),
    (lambda scores: softmax, "wrong-type"),
    (lambda scores: torch.quantize_per_tensor(scores, 0.1, 0, torch.quint8), "wrong-dtype"),
    (self_containing, "wrong-type"),
    (hostile_object, "wrong-type"),
    (generating, "wrong-type"),
    (waiting, "wrong-type"),
    (lambda scores: softmax(scores).amax(-1), "wrong-shape"),
    (lambda scores: softmax(scores)[:, :0], "wrong-shape"),
    (lambda scores: softmax(scores).T, "wrong-shape"),
    (lambda scores: softmax(scores).long(), "wrong-dtype"),
    (lambda scores: softmax(scores).half(), "wrong-dtype"),
    (lambda scores: softmax(scores) > 0.5, "wrong-dtype"),
    (lambda scores: softmax(scores).to(torch.complex64), "wrong-dtype"),
    (lambda scores: softmax(scores).to("meta"), "wrong-device"),
    (lambda scores: softmax(scores) * float("nan"), "contains-nan"),
    (lambda scores: softmax(scores) / 0, "contains-nan"),
    (changing, "argument-changed"),
    (lambda scores: softmax(scores.zero_() + scores), "argument-changed"),
    (lambda scores: softmax(scores) * 0.7, "wrong-values"),
    (raises(ValueError("no")), "error"),
    (raises(Hostile()), "error"),
    (raises(KeyboardInterrupt()), "error"),
    (raises(SystemExit(3)), "error"),
    (raises(GeneratorExit()), "error"),
    (raises(StopIteration()), "error"),
    (closing, "error"),
    (asking, "error"),
    (recursive, "error"),
    (lambda scores: exec("(") or 1, "error"),
    (lambda scores: scores @ scores, "unfitting-shapes"),
    (lambda scores: scores.view(4, 5), "error"),
    (lambda scores: torch.empty(10**15), "error"),
    (lambda scores: torch.softmax(scores.long(), -1), "error"),  # torch's own NotImplementedError
    (lambda scores: missing, "error"),
    (lambda scores: softmax(scores).as_subclass(Odd), None),
    (warning, None),
    (reading, None),
    (printing, None),
]


@pytest.mark.parametrize(
    ("candidate", "name"), [pytest.param(*s, id=f"{n}-{s[1]}") for n, s in enumerate(SURVIVED)]
)
def test_survives_and_names(candidate, name, capsys):
    result = judge(SHARES, candidate, 10)
    assert result.mistake == name, result
    assert result.passed == (name is None)
    assert result.id in text_card(result)
    check_html(html_card(result))
    assert capsys.readouterr() == ("", "")  # nothing is printed


def test_class_exercise():
    assert judge(CLASS, Scale, 10).passed
    assert judge(CLASS, lambda width: Scale(width), 10).passed  # a factory will do
    assert judge(CLASS, Scale(3), 10).mistake == "not-a-class"
    assert judge(CLASS, torch.nn.Identity, 10).mistake == "factor-one"

    class Bare(torch.nn.Module):
        def __init__(self):
            super().__init__()

    assert judge(CLASS, Bare, 10).mistake == "wrong-arguments"

    class Later(Scale):
        def forward(self, x):
            raise NotImplementedError

    assert judge(CLASS, Later, 10).status == "not attempted"

    class NoForward(torch.nn.Module):
        def __init__(self, width):
            super().__init__()

    assert judge(CLASS, NoForward, 10).mistake == "error"  # torch's NotImplementedError, not the stub's


@pytest.mark.parametrize(
    "answer",
    [
        lambda: [0.5, "B"],
        lambda: (0.5, " b"),
        lambda: [torch.tensor(0.5), "B"],
        lambda: (np.float32(0.5), "B"),
        [0.5, "B"],
        (torch.tensor([0.5]), "b"),
    ],
)
def test_answers_in_many_forms(answer):
    assert judge(ANSWER, answer, 10).passed


def test_wrong_answers_are_named_and_the_right_one_not_shown():
    assert judge(ANSWER, [1 / 3, "B"], 10).mistake == "a-third"
    assert judge(ANSWER, lambda: [0.5], 10).mistake == "wrong-shape"
    result = judge(ANSWER, lambda: [0.25, "B"], 10)
    assert result.mistake == "wrong-values"
    assert "0.5" not in repr(result)
    assert "0.5" not in result._repr_html_().split("<details")[0]
