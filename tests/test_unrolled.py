"""unrolled.py: the same numbers as the model, for every shape of model, at every split point."""

import pytest
import torch
from torch import nn

from transformer_lib.configs import EncoderDecoderConfig, LMConfig
from transformer_lib.models import EncoderDecoder, TransformerLM
from transformer_lib.unrolled import Unrolled, can_unroll

B, T, V = 3, 7, 23
SHAPES = [
    {},
    {"pre_norm": False, "activation": "relu"},
    {"positions": "rotary", "norm": "rms", "gated": True, "activation": "silu", "bias": False},
    {"positions": "rotary", "n_kv_heads": 2, "rotary_base": 77.0, "tie_embeddings": False},
    {"positions": "sinusoidal", "n_kv_heads": 1, "norm": "rms", "norm_eps": 0.1},
    {"positions": "sinusoidal-halves", "gated": True, "activation": "gelu-tanh"},
    {"positions": "none", "pre_norm": False, "norm_eps": 0.1},
]


def model_of(device="cpu", dtype=torch.float64, **shape):
    model = TransformerLM(LMConfig(vocab_size=V, d_model=24, n_layers=3, n_heads=6, max_length=17, **shape))
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.5)
    return model.to(device, dtype).eval()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@torch.no_grad()
def test_equals_the_model_at_every_split_point(shape, device):
    model = model_of(device, **shape)
    model.embedding.scale = 1.5
    assert can_unroll(model)
    ids = torch.randint(0, V, (B, T), device=device)
    expected = model(ids)
    for split in range(1, T):
        caches = model.new_caches(B, T)
        model(ids[:, :split], caches=caches)
        step = Unrolled(model, caches)
        for t in range(split, T):
            torch.testing.assert_close(step(ids[:, t : t + 1]), expected[:, t], atol=1e-10, rtol=0)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@torch.no_grad()
def test_equals_the_model_with_padding_and_positions_of_its_own(shape, device):
    model = model_of(device, **shape)
    ids = torch.randint(0, V, (B, T), device=device)
    padding = torch.tensor([0, 3, 1], device=device)[:, None]
    mask = (torch.arange(T, device=device) >= padding)[:, None, None]
    positions = (torch.arange(T, device=device) - padding).clamp(min=0)
    expected = model(ids, mask=mask, positions=positions)
    caches = model.new_caches(B, T)
    model(ids[:, :4], mask=mask[..., :4], positions=positions[:, :4], caches=caches)
    step = Unrolled(model, caches)
    for t in range(4, T):
        new = slice(t, t + 1)
        logits = step(ids[:, new], positions[:, new], mask[..., : t + 1])
        torch.testing.assert_close(logits, expected[:, t], atol=1e-10, rtol=0)


def test_what_it_does_not_know_is_left_to_the_model():
    class Other(nn.Linear):
        pass

    assert not can_unroll(model_of(positions="alibi"))
    assert not can_unroll(EncoderDecoder(EncoderDecoderConfig(vocab_size=V, d_model=12, n_heads=2)))
    model = model_of()
    model.blocks[1].feed_forward.widen = Other(24, 96)
    assert not can_unroll(model)
    for register in ("register_forward_hook", "register_forward_pre_hook"):
        model = model_of()
        hook = getattr(model.blocks[1].attention, register)(lambda *_: None)
        assert not can_unroll(model)
        hook.remove()
        assert can_unroll(model)
