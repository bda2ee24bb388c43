"""checks.py: what is let through, and what is named. Each module's own tests go through it as well."""

import pytest
import torch
from checking import compiled, raises, unchecked

from transformer_lib.checks import check_attention, check_ids, check_words, first_outside, fit_bias, fit_mask

B, H, T, S, K = 2, 3, 5, 7, 11


def test_ids_of_the_vocabulary_pass_and_others_are_named(device):
    table = torch.zeros(50, 3, device=device)
    for dtype in (torch.int64, torch.int32):
        check_ids(torch.tensor([[0, 49], [3, 3]], dtype=dtype, device=device), table)
    for wrong in (-1, 50, 1 << 40):
        with raises(ValueError, f"ids must lie between 0 and 49, for a vocabulary of 50; got {wrong}$"):
            check_ids(torch.tensor([[3, wrong, 7]], device=device), table)
    with raises(ValueError, "segments must lie.*got -3"):  # the smallest, where both ends are wrong
        check_ids(torch.tensor([[70, -3, 7]], device=device), table, "segments")


@pytest.mark.parametrize(
    ("ids", "kind", "message"),
    [
        ([[1, 2]], TypeError, "ids must be a tensor of whole numbers.*got list"),
        (torch.ones(1, 2), TypeError, "got torch.float32"),
        (torch.ones(1, 2).bool(), TypeError, "got torch.bool"),
        (torch.ones(2).long(), ValueError, r"shape \(B, T\).*got \(2,\)"),
        (torch.ones(2, 0).long(), ValueError, r"at least one word each; got \(2, 0\)"),
        (torch.ones(0, 2).long(), ValueError, r"got \(0, 2\)"),
        (torch.ones(1, 2, device="meta").long(), ValueError, "ids are on meta, the weights on cpu"),
    ],
)
def test_wrong_ids_are_named(ids, kind, message):
    with raises(kind, message):
        check_ids(ids, torch.zeros(50, 3))


def test_numbers_are_not_looked_at_on_the_meta_device_nor_when_compiled():
    rows = torch.tensor([[3, 99]])
    assert first_outside(rows, 50) == 99
    assert first_outside(rows, 100) is None
    assert first_outside(rows.to("meta"), 50) is None
    with unchecked():
        assert compiled(lambda x: (x + 1, first_outside(x, 50)))(rows)[1] is None


def test_words_of_the_right_width_pass_and_others_are_named():
    weight = torch.zeros(6, 4)
    for shape in [(5, 4), (2, 5, 4), (2, 3, 5, 4)]:
        check_words(torch.zeros(shape), weight)
    check_words(torch.zeros(5, 4, dtype=torch.bfloat16), weight)  # autocast hands over other dtypes
    for x, kind, message in [
        (torch.zeros(2, 5, 6), ValueError, r"x holds vectors of width 6, but d_model is 4.*\(2, 5, 6\)"),
        (torch.zeros(4), ValueError, r"a row per word.*got \(4,\)"),
        (torch.zeros(2, 0, 4), ValueError, r"at least one word; got \(2, 0, 4\)"),
        (torch.zeros(5, 4, device="meta"), ValueError, "x is on meta, the weights on cpu"),
        (torch.zeros(5, 4).long(), TypeError, "x must be.*floating-point numbers; got torch.int64"),
        (None, TypeError, "x must be.*got NoneType"),
    ]:
        with raises(kind, message):
            check_words(x, weight)


def test_queries_keys_and_values_in_every_rank():
    for lead in [(), (B,), (B, H)]:
        q, k, v = torch.zeros(*lead, T, K), torch.zeros(*lead, S, K), torch.zeros(*lead, S, 13)
        check_attention(q=q, k=k)
        check_attention(q=q, k=k, v=v)
        with raises(ValueError, "keys must be as wide as queries"):
            check_attention(q=q, k=v, v=v)
    with raises(ValueError, "same rank"):
        check_attention(q=torch.zeros(1, 1, 1, T, K), k=torch.zeros(1, 1, 1, S, K))


# The fit of masks and biases

SCORES = {4: (B, H, T, S), 3: (B, T, S), 2: (T, S)}
CPU = torch.device("cpu")


def fits(shape: tuple[int, ...], scores: tuple[int, ...]) -> bool:
    """Written the other way round: by listing what each axis may be."""
    if len(shape) == 4 and len(scores) == 3:
        shape = shape[:1] + shape[2:] if shape[1] == 1 else ()
    elif len(shape) == 4 and len(scores) == 2:
        shape = shape[2:] if shape[:2] == (1, 1) else ()
    return len(shape) == len(scores) and all(m in {1, n} for m, n in zip(shape, scores, strict=True))


@pytest.mark.parametrize("rank", SCORES)
def test_every_shape_of_mask_fits_or_is_named(rank):
    sizes, scores, let_through = (1, B, H, T, S), SCORES[rank], 0
    shapes = [()]
    for _ in range(4):
        shapes += [(*shape, n) for shape in shapes for n in sizes if len(shape) < 4]
    for shape in set(shapes):
        mask = torch.ones(shape, dtype=torch.bool)
        if fits(shape, scores):
            let_through += 1
            fitted = fit_mask(mask, scores, CPU)
            assert fitted.dim() == rank
            assert torch.broadcast_to(fitted, scores).shape == scores
            assert fit_bias(mask.double(), scores, torch.zeros(1)).dtype == torch.float32
        else:
            with raises(ValueError, "mask of shape .* does not fit scores of shape"):
                fit_mask(mask, scores, CPU)
    assert let_through == {4: 16, 3: 16, 2: 8}[rank]


@pytest.mark.parametrize(("fit", "last"), [(fit_mask, CPU), (fit_bias, torch.zeros(1))])
def test_masks_and_biases_of_the_wrong_kind_or_elsewhere_are_named(fit, last):
    right, wrong = (torch.bool, torch.float32) if fit is fit_mask else (torch.float32, torch.bool)
    for dtype in (wrong, torch.int64, torch.uint8):
        with raises(TypeError, f"got {dtype}"):
            fit(torch.ones(T, S, dtype=dtype), (T, S), last)
    with raises(TypeError, "got list"):
        fit([[1]], (T, S), last)
    with raises(ValueError, "is on meta, the scores on cpu"):
        fit(torch.ones(T, S, dtype=right, device="meta"), (T, S), last)
