"""Right answers in many spellings pass: a false alarm is worse than a missed mistake."""

import functools
import math

import pytest
import torch
import torch.nn.functional as F
from samples import SHARES, shares

from transformer_lib.exercises.compare import difference
from transformer_lib.exercises.diagnose import judge


def in_place_on_own(scores):
    own = scores.clone()
    own -= own.amax(-1, keepdim=True)
    own.exp_()
    own /= own.sum(-1, keepdim=True)
    return own


def by_loops(scores):
    result = torch.zeros(scores.shape)
    for i in range(scores.shape[0]):
        total = sum(math.exp(s) for s in scores[i].tolist())
        for j in range(scores.shape[1]):
            result[i, j] = math.exp(scores[i, j]) / total
    return result


def with_numpy_inside(scores):
    import numpy as np

    e = np.exp(scores.numpy())
    return torch.from_numpy(e / e.sum(-1, keepdims=True))


def with_gradient(scores):
    return torch.softmax(scores.requires_grad_(), -1)


def without_gradient(scores):
    with torch.no_grad():
        return F.softmax(scores, dim=-1)


def in_inference_mode(scores):
    with torch.inference_mode():
        return F.softmax(scores, dim=-1)


def of_a_parameter(scores):
    return torch.nn.Parameter(torch.softmax(scores, -1))


def as_a_view(scores):
    wide = torch.zeros(scores.shape[0], scores.shape[1] + 2)
    wide[:, 1:-1] = torch.softmax(scores, -1)
    return wide[:, 1:-1]


def not_contiguous(scores):
    return torch.softmax(scores.T, 0).T


def in_float64(scores):
    return torch.softmax(scores.double(), -1)


def with_einsum(scores):
    e = scores.exp()
    return torch.einsum("ts,t->ts", e, 1 / torch.einsum("ts->t", e))


def with_defaults(scores, dim=-1, *, keep=True, **rest):
    return scores.softmax(dim)


def of_any_arguments(*args, **kwargs):
    return torch.softmax(*args, dim=-1)


def printing(scores):
    print(scores)
    return torch.softmax(scores, -1)


def undone(scores):
    scores += 1
    result = torch.softmax(scores, -1)
    scores -= 1
    return result


def with_an_inner_function(scores):
    def row(s):
        return torch.softmax(s, 0)

    return torch.stack([row(s) for s in scores])


class Softmax:
    def __call__(self, scores):
        return torch.softmax(scores, -1)

    def method(self, scores):
        return torch.softmax(scores, -1)

    @staticmethod
    def static(scores):
        return torch.softmax(scores, -1)


@functools.lru_cache
def cached(scores):
    return torch.softmax(scores, -1)


@torch.no_grad()
def decorated(scores):
    return torch.softmax(scores, -1)


def backend_that_fails(graph, inputs):
    raise RuntimeError("compiling takes minutes where there is no compiler at hand")


SPELLINGS = [
    torch.compile(shares, backend=backend_that_fails),
    in_place_on_own,
    by_loops,
    with_numpy_inside,
    with_gradient,
    without_gradient,
    in_inference_mode,
    of_a_parameter,
    as_a_view,
    not_contiguous,
    in_float64,
    with_einsum,
    with_defaults,
    of_any_arguments,
    printing,
    with_an_inner_function,
    Softmax(),
    Softmax().method,
    Softmax.static,
    cached,
    decorated,
    shares,
    lambda scores: F.softmax(scores, -1),
    functools.partial(torch.softmax, dim=-1),
    torch.nn.Softmax(dim=-1),
    torch.vmap(functools.partial(torch.softmax, dim=-1)),
    torch.jit.script_if_tracing(in_place_on_own),
    torch.compile(shares, backend="eager"),
    torch.compile(torch.nn.Softmax(dim=-1), backend="eager"),
]


@pytest.mark.parametrize("spelling", SPELLINGS, ids=lambda s: getattr(s, "__name__", type(s).__name__))
def test_right_answer_passes(spelling):
    result = judge(SHARES, spelling, 10)
    assert result.passed, result


def test_argument_changed_and_put_back_up_to_rounding_is_no_mistake_of_values():
    assert judge(SHARES, undone, 10).mistake in (None, "argument-changed")


EQUAL = [
    (1, 1.0),
    (1.0, torch.tensor(1)),
    (2.5, torch.tensor([2.5])),
    (True, torch.tensor(True)),
    ([1, 2], (1, 2)),
    ([0.5, 0.25], torch.tensor([0.5, 0.25])),
    ((torch.ones(2), torch.zeros(3)), [torch.ones(2), torch.zeros(3)]),
    ([torch.ones(2), torch.zeros(2)], torch.tensor([[1.0, 1], [0, 0]])),
    (torch.tensor(2.0), 2.0),
    (torch.tensor(3), 3),
    (torch.tensor([1, 2]), torch.tensor([1, 2], dtype=torch.int32)),
    (torch.ones(2), torch.ones(2, dtype=torch.float64)),
    (torch.tensor([math.nan, 1]), torch.tensor([math.nan, 1])),
    (torch.tensor([math.inf, -math.inf]), torch.tensor([math.inf, -math.inf])),
    (math.nan, math.nan),
    ("B", " b"),
    ("the dog", "the dog "),
    ({"a": [1], 2: "x"}, {2: "x", "a": (1,)}),
    (torch.Size([2, 3]), (2, 3)),
    (None, None),
    (torch.empty(0, 3), torch.empty(0, 3)),
]


@pytest.mark.parametrize(("expected", "got"), EQUAL)
def test_equal(expected, got):
    assert difference(expected, got) is None


DIFFERENT = [
    (1, 2, "wrong-values"),
    (1000000, 1000050, "wrong-values"),
    (1, True, "wrong-type"),
    (True, 1, "wrong-type"),
    (True, False, "wrong-values"),
    (1.0, math.nan, "contains-nan"),
    (1.0, "1.0", "wrong-type"),
    (1.0, torch.tensor([1.0, 1.0]), "wrong-shape"),
    ("B", "C", "wrong-values"),
    ("the dog", "The dog", "wrong-values"),
    ([1, 2], [2, 1], "wrong-values"),
    ([1, 2], [1, 2, 3], "wrong-shape"),
    ([1, 2], 1, "wrong-type"),
    ({"a": 1}, {"b": 1}, "wrong-shape"),
    (None, 1, "wrong-type"),
    (1, None, "returned-none"),
    ([1, 2], [1, None], "returned-none"),
    (torch.ones(2), [1.0, 1.0], "wrong-type"),
    (torch.ones(2), torch.ones(1, 2), "wrong-shape"),
    (torch.tensor(1.0), torch.tensor([1.0]), "wrong-shape"),
    (torch.ones(2), torch.ones(2, dtype=torch.int64), "wrong-dtype"),
    (torch.tensor([True]), torch.tensor([1]), "wrong-dtype"),
    (torch.ones(2, dtype=torch.bfloat16), torch.ones(2), "wrong-dtype"),
    (torch.ones(2), torch.ones(2, device="meta"), "wrong-device"),
    (torch.ones(2), torch.tensor([1.0, math.inf]), "contains-nan"),
    (torch.tensor([math.nan]), torch.ones(1), "wrong-values"),
    (torch.ones(2), torch.tensor([1.0, 1.001]), "wrong-values"),
    (torch.tensor([10**9]), torch.tensor([10**9 + 1]), "wrong-values"),
]


@pytest.mark.parametrize(("expected", "got", "name"), DIFFERENT)
def test_different(expected, got, name):
    assert difference(expected, got).name == name


def test_path_of_a_nested_difference():
    found = difference({"a": [1, (2, torch.ones(2))]}, {"a": [1, (2, torch.zeros(2))]})
    assert found.path == "['a'][1][1]"
