"""masks.py: every pair of words looked at one by one."""

import pytest
import torch
from conftest import raises

from transformer_lib import causal_mask, padding_mask


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
    with raises(TypeError, "lengths must be a tensor of integers; got torch.float32"):
        padding_mask(torch.tensor([1.0]))
    with raises(ValueError, r"shape \(B,\).*\(1, 2\)"):
        padding_mask(torch.tensor([[1, 2]]))
    with raises(ValueError, r"between 0 and S=3; got \[4\]"):
        padding_mask(torch.tensor([4]), S=3)
    with raises(ValueError, r"between 0 and S=2; got \[-1, 2\]"):
        padding_mask(torch.tensor([-1, 2]))
