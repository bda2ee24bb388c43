"""masks.py: every pair of words looked at one by one."""

import pytest
import torch
from checking import compiled, raises, unchecked

from transformer_lib import (
    causal_mask,
    explain_mask,
    padding_mask,
    padding_mask_from_ids,
    sliding_window_mask,
)


@pytest.mark.parametrize(("T", "S"), [(1, 1), (5, 5), (1, 7), (3, 7), (7, 7)])
def test_causal_mask_pair_by_pair(T, S, device):
    mask = causal_mask(T, S, device=device)
    assert mask.shape == (1, 1, T, S)
    assert mask.dtype == torch.bool
    assert mask.device.type == device.type
    for i in range(T):
        for j in range(S):
            place = S - T + i  # the queries are the last T words
            assert mask[0, 0, i, j] == (j <= place)
    assert torch.equal(causal_mask(S)[:, :, S - T :], causal_mask(T, S))


def test_padding_mask_pair_by_pair(device):
    lengths = [3, 0, 5]
    mask = padding_mask(torch.tensor(lengths, device=device), S=7)
    assert mask.shape == (3, 1, 1, 7)
    assert mask.dtype == torch.bool
    assert mask.device.type == device.type
    for b, n in enumerate(lengths):
        for j in range(7):
            assert mask[b, 0, 0, j] == (j < n)
    assert torch.equal(padding_mask(torch.tensor(lengths)), padding_mask(torch.tensor(lengths), S=5))


def test_padding_from_ids_pair_by_pair(device):
    ids = torch.tensor([[7, 5, 0, 0], [0, 0, 9, 7], [0, 4, 0, 4]], device=device)
    for pad in (0, 7, 99):
        mask = padding_mask_from_ids(ids, pad_id=pad)
        assert mask.shape == (3, 1, 1, 4)
        assert mask.dtype == torch.bool
        assert mask.device.type == device.type
        for b in range(3):
            assert mask[b, 0, 0].tolist() == [i != pad for i in ids[b].tolist()]


@pytest.mark.parametrize("window", [1, 2, 3, 7, 99])
@pytest.mark.parametrize(("T", "S"), [(1, 1), (7, 7), (3, 7), (1, 7)])
def test_sliding_window_pair_by_pair(T, S, window, device):
    mask = sliding_window_mask(T, window, S, device=device)
    assert mask.shape == (1, 1, T, S)
    assert mask.device.type == device.type
    for i in range(T):
        place = S - T + i
        assert mask[0, 0, i].tolist() == [place - window < j <= place for j in range(S)]
    if window >= S:
        assert torch.equal(mask, causal_mask(T, S, device=device))
    assert torch.equal(sliding_window_mask(S, window, device=device)[:, :, S - T :], mask)


def test_masks_in_words():
    assert (
        explain_mask(causal_mask(3, 5))
        == "mask (1, 1, 3, 5): 12 of 15 pairs may be read; the future is hidden"
    )
    free = torch.ones(1, 1, 3, 3, dtype=torch.bool)
    assert explain_mask(free).endswith("9 of 9 pairs may be read; the future may be read")
    free[..., 0, 1:] = False  # (1, 2) alone is left of the future
    assert explain_mask(free).endswith("7 of 9 pairs may be read; the future may be read")
    padded = padding_mask(torch.tensor([0, 2]), S=4)
    assert explain_mask(padded) == (
        "mask (2, 1, 1, 4): 2 of 8 pairs may be read; columns hidden from every word: 6; "
        "rows with nothing to read: 1"
    )


def test_works_on_the_meta_device_and_compiled():
    lengths = torch.tensor([2, 3])
    with torch.device("meta"):
        assert causal_mask(3, 5).device.type == sliding_window_mask(3, 2).device.type == "meta"
    assert padding_mask(lengths.to("meta"), S=4).shape == (2, 1, 1, 4)
    assert padding_mask_from_ids(torch.ones(2, 3).long().to("meta"), 0).shape == (2, 1, 1, 3)
    with unchecked():
        for f, inputs in [
            (causal_mask, (3, 5)),
            (sliding_window_mask, (3, 2)),
            (padding_mask_from_ids, (lengths[None], 3)),
        ]:
            assert torch.equal(compiled(f)(*inputs), f(*inputs))


def test_masks_combine():
    mask = causal_mask(5) & padding_mask(torch.tensor([2, 5]))
    assert mask.shape == (2, 1, 5, 5)
    for b, n in enumerate([2, 5]):
        for i in range(5):
            assert mask[b, 0, i].tolist() == [j <= i and j < n for j in range(5)]


def test_wrong_input_is_named():
    with raises(ValueError, "got T=0, S=0"):
        causal_mask(0)
    with raises(ValueError, "got T=5, S=3"):
        causal_mask(5, 3)
    for wrong in (3.7, True):
        with raises(ValueError, f"whole numbers.*got T={wrong}"):
            causal_mask(wrong)
    for wrong in ([1, 2], 3, None):
        with raises(TypeError, f"tensor of integers.*got {type(wrong).__name__}"):
            padding_mask(wrong)
    assert padding_mask(torch.tensor([3], dtype=torch.int8), S=300).shape == (1, 1, 1, 300)
    with raises(TypeError, "lengths must be a tensor of integers.*torch.float32"):
        padding_mask(torch.tensor([1.0]))
    with raises(ValueError, r"shape \(B,\).*\(1, 2\)"):
        padding_mask(torch.tensor([[1, 2]]))
    with raises(ValueError, r"between 0 and S=3; got \[4\]"):
        padding_mask(torch.tensor([4]), S=3)
    with raises(ValueError, r"between 0 and S=2; got \[-1, 2\]"):
        padding_mask(torch.tensor([-1, 2]))
    with raises(ValueError, r"shape \(B,\).*\(0,\)"):
        padding_mask(torch.tensor([], dtype=torch.int64))
    for wrong, came in [
        ([1, 2], "list"),
        (torch.tensor([True]), "torch.bool"),
        (torch.tensor([1j]), "complex64"),
    ]:
        with raises(TypeError, f"a tensor of integers; got .*{came}"):
            padding_mask(wrong)
        with raises(TypeError, f"a tensor of integers; got .*{came}"):
            padding_mask_from_ids(wrong, 0)
    with raises(ValueError, r"shape \(B, S\).*got \(2,\)"):
        padding_mask_from_ids(torch.tensor([1, 2]), 0)
    with raises(ValueError, "at least 1 word, the word itself; got 0"):
        sliding_window_mask(3, 0)
    with raises(ValueError, "got T=3, S=2"):
        sliding_window_mask(3, 2, 2)
    with raises(TypeError, "boolean tensor.*got torch.float32"):
        explain_mask(torch.ones(1, 1, 2, 2))
