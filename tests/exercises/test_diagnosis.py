"""Which name an attempt gets, and what the message says."""

import dataclasses
import re
import sys

import pytest
import torch
from samples import SHARES, over_rows, shares, without_transpose

from transformer_lib.exercises.diagnose import judge
from transformer_lib.exercises.errors import family, in_plain_words, same_error
from transformer_lib.exercises.exercise import Mistake
from transformer_lib.exercises.facts import GENERIC
from transformer_lib.exercises.places import Place


def name(candidate, exercise=SHARES):
    return judge(exercise, candidate, 10).mistake


def with_mistakes(*mistakes):
    return dataclasses.replace(SHARES, mistakes=mistakes)


def test_other_spelling_of_a_variant_gets_its_name():
    assert name(lambda s: s.exp() / s.exp().sum(0)) == "softmax-over-rows"
    assert name(lambda s: s.double().softmax(0)) == "softmax-over-rows"


def test_message_has_the_learners_own_shapes_and_values():
    message = judge(SHARES, over_rows, 10).message
    got = over_rows(SHARES.cases(torch.Generator().manual_seed(0))[0][0])
    assert f"Rows sum to {got[0].sum():.3g}, {got[1].sum():.3g}, columns to 1, 1, 1." in message
    assert "Shape (2, 3)" in message
    assert f"at [0, 0]: {got[0, 0]:.3g} for" in message
    assert "6 of 6" in message
    assert "?" not in message


def test_prepared_candidate_is_judged_in_place_of_the_given_one():
    def prepare(candidate, seconds):
        return candidate[0], (("first of", f"{len(candidate(0))} in {seconds:g} s"),)

    class Several:
        def __call__(self, scores):
            return [shares, over_rows]

        def __getitem__(self, number):
            return self(0)[number]

    exercise = dataclasses.replace(SHARES, prepare=prepare)
    result = judge(exercise, Several(), 7)
    assert result.passed
    assert result.notes == (("first of", "2 in 7 s"),)
    assert judge(SHARES, shares, 7).notes == ()


def test_probe_catches_every_spelling():
    result = judge(SHARES, lambda s: 2 * s.softmax(-1), 10)
    assert (result.mistake, result.message) == ("twice", "Twice too much: 2.")


def test_error_of_a_known_kind_gets_the_variants_name():
    result = judge(SHARES, without_transpose, 10)
    assert result.mistake == "unfitting-shapes"
    assert "cannot be multiplied" in result.message
    assert name(lambda s: torch.einsum("ts,tt->ts", s, s)) == "unfitting-shapes"


@pytest.mark.parametrize(
    "candidate",
    [
        lambda s: s.softmax(s.shape),
        lambda s: torch.ones(2, requires_grad=True).add_(1),
        lambda s: s.nothing,
        lambda s: nothing,
    ],
)
def test_another_error_does_not(candidate):
    assert name(candidate) == "error"


def test_mistakes_are_tried_in_order():
    first = Mistake(name="first", message="1", probe=lambda attempt: True)
    second = Mistake(name="second", message="2", variant=over_rows)
    assert name(over_rows, with_mistakes(first, second)) == "first"
    assert name(over_rows, with_mistakes(second, first)) == "second"
    assert name(shares, with_mistakes(first)) is None  # a right answer is not probed


def test_variant_must_agree_on_every_case_and_err_on_one():
    def only_small(s):
        return s.softmax(0) if len(s) < 3 else s * 0

    assert name(only_small) == "wrong-values"
    harmless = Mistake(name="harmless", message="", variant=shares)

    def changes(s):
        result = shares(s)
        s += 1
        return result

    assert name(changes, with_mistakes(harmless)) == "argument-changed"


def test_variant_with_nan_is_recognised():
    def nan(s):
        return s.softmax(-1) + torch.tensor(float("nan"))

    assert (
        name(lambda s: s * float("nan"), with_mistakes(Mistake(name="nan", message="", variant=nan))) == "nan"
    )


def test_probe_that_raises_does_not_hold():
    broken = Mistake(name="broken", message="", probe=lambda attempt: attempt.cases[0].got.nothing)
    assert name(lambda s: s, with_mistakes(broken)) == "wrong-values"


def test_probe_sees_arguments_results_and_errors():
    seen = []

    def probe(attempt):
        seen.extend(attempt.cases)
        return False

    def candidate(s):
        if len(s) == 2:
            raise ValueError("two")
        return torch.nn.Parameter(s * 2)

    name(candidate, with_mistakes(Mistake(name="x", message="", probe=probe)))
    assert [type(case.error) for case in seen] == [ValueError, type(None), type(None)]
    assert seen[0].got is None
    assert type(seen[1].got) is torch.Tensor
    assert torch.equal(seen[1].got, seen[1].args[0] * 2)
    assert torch.allclose(seen[2].expected, shares(seen[2].args[0]))


def test_probe_may_differentiate():
    def probe(attempt):
        x = torch.ones(2, 3, requires_grad=True)
        attempt.call(x).sum().backward()
        return bool((x.grad == 3).all())

    threefold = Mistake(name="threefold", message="", probe=probe)
    assert name(lambda s: 3 * s, with_mistakes(threefold)) == "threefold"
    assert name(lambda s: 2 * s, with_mistakes(threefold)) == "wrong-values"


def test_probe_cannot_be_harmed_by_changes():
    x = torch.ones(2, 3)

    def probe(attempt):
        attempt.call(x)
        return False

    name(lambda s: s.zero_(), with_mistakes(Mistake(name="x", message="", probe=probe)))
    assert bool((x == 1).all())


def test_most_basic_difference_on_the_smallest_input():
    def candidate(s):
        return s.softmax(-1)[:-1] if len(s) == 5 else s.softmax(-1) * 3

    result = judge(SHARES, candidate, 10)
    assert result.mistake == "wrong-shape"
    assert result.case.args[0].shape == (5, 7)
    assert "(4, 7)" in result.message
    assert "(5, 7)" in result.message


def test_error_comes_before_differences():
    def candidate(s):
        return s.softmax(-1) if len(s) < 6 else s.softmax(7)

    result = judge(SHARES, candidate, 10)
    assert (result.status, result.mistake) == ("error", "error")
    assert result.place.source == "return s.softmax(-1) if len(s) < 6 else s.softmax(7)"
    assert "of test_diagnosis.py" in result.message
    assert result.error.startswith("IndexError: Dimension out of range")


def test_error_shows_the_line_of_the_innermost_own_function():
    def helper(s):
        return s @ s.T @ s.T @ s.T

    result = judge(SHARES, lambda s: helper(s), 10)
    assert result.place.source == "return s @ s.T @ s.T @ s.T"
    assert "exercises/" not in repr(result)  # no frame of the engine


PROPERTIES = [
    (lambda s: s.softmax(-1) * 0.7, "should sum to 1"),
    (lambda s: s.exp(), "should sum to 1"),
    (lambda s: s.softmax(-1).flip(0), "of 6 entries differ, the first at [0, 0]"),
    (lambda s: torch.full(s.shape, 1 / s.shape[1]), "All entries are 0.333"),
    (lambda s: torch.cat([s[:1].softmax(-1), s[1:].softmax(-1).flip(-1)]), "0 is right and the rest is not"),
    (lambda s: s.softmax(-1).T.clone(), "stand in another order"),
    (lambda s: s.softmax(-1)[None], "Only axes of size 1"),
    (lambda s: s.softmax(-1).reshape(-1), "arranged in other axes"),
    (lambda s: s.softmax(-1).amax(0), "An axis has been lost"),
    (lambda s: s.softmax(-1)[:, 1:], "Look at axis 1"),
    (lambda s: print(s), "Printing it"),
    (lambda s: (s.softmax(-1),), "comma"),
    (lambda s: s.softmax(-1).numpy(), "NumPy"),
    (lambda s: s.softmax(-1) / 0 * 0, "6 of 6 entries are NaN"),
]


@pytest.mark.parametrize(("candidate", "words"), PROPERTIES, ids=[words for _, words in PROPERTIES])
def test_unknown_mistake_gets_the_most_basic_property(candidate, words):
    assert words in judge(with_mistakes(), candidate, 10).message


def test_argument_that_the_reference_changes_may_be_changed():
    def shift(scores):
        scores += 1
        return scores.sum()

    exercise = dataclasses.replace(
        with_mistakes(), reference=shift, stub=SHARES.stub.replace("shares", "shift"), kind="find the bug"
    )
    assert name(lambda s: s.add_(1).sum(), exercise) is None


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("<ipython-input-12-0123456789ab>", "your cell In[12]"),
        ("/tmp/ipykernel_77/123.py", "your cell"),
        ("/home/me/answers.py", "answers.py"),
    ],
)
def test_name_of_a_cell(file, words, monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython", None)
    assert Place(file, 3).where == f"line 3 of {words}"


def test_result_that_the_rest_of_the_call_cannot_use():
    exercise = dataclasses.replace(with_mistakes(), run=lambda f, scores: f(scores).sum(-1))
    assert name(lambda s: None, exercise) == "returned-none"
    assert name(lambda s: [1, 2], exercise) == "wrong-type"
    assert name(lambda s: s.softmax(-1), exercise) is None


ERRORS = [
    (lambda x: x @ x, "shapes"),
    (lambda x: x + torch.ones(7), "shapes"),
    (lambda x: torch.bmm(x[None], x[None]), "shapes"),
    (lambda x: torch.einsum("ij,jk->ik", x, x), "shapes"),
    (lambda x: torch.cat([x, torch.ones(2, 2)]), "shapes"),
    (lambda x: torch.stack([x, x.T]), "shapes"),
    (lambda x: x.expand(5, 3), "shapes"),
    (lambda x: x.view(4, 4), "view"),
    (lambda x: x.T.view(-1), "stride"),
    (lambda x: x.softmax(5), "axis"),
    (lambda x: x.permute(0, 1, 2), "axis"),
    (lambda x: x[5], "index"),
    (lambda x: [1][5], "index"),
    (lambda x: x @ x.T.double(), "dtype"),
    (lambda x: x.long().softmax(0), "integers"),
    (lambda x: x.long().mean(), "integers"),
    (lambda x: x.masked_fill(x, 0), "mask"),
    (lambda x: x.softmax(), "call"),
    (lambda x: torch.cat(x), "call"),
    (lambda x: x.requires_grad_().add_(1), "leaf"),
    (lambda x: x.sum().backward(), "grad"),
    (lambda x: x.requires_grad_().numpy(), "grad"),
    (lambda x: 1 if x > 0 else 0, "truth"),
    (lambda x: x.item(), "scalar"),
    (lambda x: None + x, "none"),
    (lambda x: None.shape, "none"),
    (lambda x: x.shapes, "AttributeError"),
    (lambda x: 1 / 0, "ZeroDivisionError"),
]


@pytest.mark.parametrize(("code", "kind"), ERRORS)
def test_errors_in_plain_words(code, kind):
    with pytest.raises(Exception) as caught:  # noqa: PT011
        code(torch.ones(2, 3))
    assert family(caught.value) == kind
    assert in_plain_words(caught.value)
    assert same_error(caught.value, caught.value)
    assert not same_error(caught.value, KeyError("a"))


def test_random_result_is_called_so_however_it_is_drawn():
    import random

    import numpy as np

    for noise in (
        lambda s: torch.nn.functional.dropout(shares(s), 0.5),
        lambda s: torch.nn.functional.dropout(s, 0.5).softmax(-1),
        lambda s: shares(s) * random.random(),
        lambda s: shares(s) + float(np.random.rand()),
    ):
        assert name(noise) == "random-result"
    assert name(lambda s: shares(s) + 0.3) == "wrong-values"


def test_numbers_that_read_the_same_are_told_with_more_digits():
    def slightly_off(s):
        return shares(s) * (1 + 3e-4 * (torch.arange(s.shape[-1]) == 0))

    message = judge(SHARES, slightly_off, 10).message
    came, expected = re.search(r": (\S+) came, (\S+) was expected", message).groups()
    assert came != expected
    assert f"{float(came):.3g}" == f"{float(expected):.3g}"


def test_wrong_numpy_answer_is_not_called_random():
    import numpy as np

    from transformer_lib.exercises import check

    assert check("3.1", lambda: np.array([17.0, 18.0, 19.0, 20.0])).mistake != "random-result"
    assert check("3.1", lambda: np.random.rand(4)).mistake == "random-result"


@pytest.mark.parametrize(
    "answer", [["3", 2.0], [2.0, True], {"a": 1, "b": 2}, ["2", "4", "1", "0.5"], [[2], 4, 1, 0.5]]
)
def test_answer_of_another_kind_gets_no_name_of_a_known_mistake(answer):
    from transformer_lib.exercises import check

    for id in ("1.1", "1.4", "3.1", "3.2", "3.4", "2.2"):
        result = check(id, lambda: answer)
        assert result.mistake in GENERIC, (id, result)


def test_entry_of_another_kind_is_told_from_the_whole_answer():
    from transformer_lib.exercises import check

    result = check("3.1", lambda: [2.0, "4", 1, 0.5])
    assert result.message.startswith("One entry is a text; a number was expected. (at [1] of the result)")
    assert "4" not in check("3.1", lambda: [2.0, 17, 1, 0.5]).message
