"""configs.py: every size and name is checked when a config is made; what is built has the sizes asked for."""

import dataclasses

import pytest
import torch
from checking import raises

from transformer_lib import EncoderConfig, EncoderDecoderConfig, LMConfig
from transformer_lib.blocks import LayerNorm, RMSNorm
from transformer_lib.configs import (
    NORMS,
    POSITIONS,
    Config,
    Embedding,
    decoder_block,
    encoder_block,
    score_bias,
)
from transformer_lib.feed_forward import GatedFeedForward
from transformer_lib.positions import alibi_bias, rotate_halves, sinusoidal_table

SMALL = {"vocab_size": 50, "d_model": 30, "n_heads": 3, "n_layers": 2}
KINDS = pytest.mark.parametrize("kind", [Config, EncoderConfig, EncoderDecoderConfig, LMConfig])


@KINDS
def test_a_config_is_frozen_named_and_rebuilt_from_its_fields(kind):
    config = kind(**SMALL)
    assert kind(**dataclasses.asdict(config)) == config
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.d_model = 7
    with pytest.raises(TypeError, match="positional"):
        kind(50)
    assert dataclasses.replace(config, n_heads=5).n_heads == 5
    with raises(ValueError, "d_model must be a multiple of n_heads"):
        dataclasses.replace(config, n_heads=4)


@KINDS
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"vocab_size": 0}, "vocab_size must be a whole number of at least 1; got 0"),
        ({"d_model": -30}, "d_model must.*got -30"),
        ({"d_model": 30.0}, r"d_model must.*got 30\.0"),
        ({"n_layers": 0}, "n_layers must.*got 0"),
        ({"n_heads": 0}, "n_heads must.*got 0"),
        ({"n_kv_heads": 0}, "n_kv_heads must.*got 0"),
        ({"d_ff": 0}, "d_ff must.*got 0"),
        ({"max_length": 0}, "max_length must.*got 0"),
        ({"n_heads": 4}, "got d_model=30, n_heads=4"),
        ({"n_kv_heads": 2}, "n_heads must be a multiple of n_kv_heads; got 3 and 2"),
        ({"positions": "sine"}, "positions must be one of .*'rotary'.*got 'sine'"),
        ({"norm": "batch"}, "norm must be one of .*got 'batch'"),
        ({"activation": "swish"}, "activation must be one of .*got 'swish'"),
        ({"d_model": 15, "positions": "sinusoidal"}, "must be even; got 15"),
        ({"d_model": 15, "positions": "sinusoidal-halves"}, "must be even; got 15"),
        ({"d_model": 15, "positions": "rotary"}, r"must be even; got 5 \(d_model=15, n_heads=3\)"),
        ({"rotary_base": 0.0}, "rotary_base must be above 0; got 0"),
        ({"init_std": float("nan")}, "init_std must be above 0; got nan"),
        ({"norm_eps": -1e-5}, "norm_eps must be at least 0; got -1e-05"),
        ({"dropout": 1.0}, "below 1; got 1.0"),
        ({"dropout": -0.1}, "at least 0.*got -0.1"),
    ],
)
def test_wrong_sizes_and_names_are_named(kind, change, message):
    with raises(ValueError, message):
        kind(**(SMALL | change))


def test_segments_are_counted_from_none():
    assert EncoderConfig(**SMALL, n_segments=0).n_segments == 0
    with raises(ValueError, "n_segments must be at least 0; got -1"):
        EncoderConfig(**SMALL, n_segments=-1)


def test_odd_widths_are_welcome_where_nothing_is_paired():
    for positions in ("learned", "alibi", "none"):
        Config(**(SMALL | {"d_model": 15}), positions=positions)


def test_the_variants_the_book_names():
    lecture = EncoderDecoderConfig(vocab_size=50)
    assert (lecture.pre_norm, lecture.positions, lecture.activation) == (False, "sinusoidal", "relu")
    bert = EncoderConfig(vocab_size=50)
    assert (bert.pre_norm, bert.positions, bert.activation) == (False, "learned", "gelu")
    gpt2 = LMConfig(vocab_size=50)
    assert (gpt2.pre_norm, gpt2.positions, gpt2.activation) == (True, "learned", "gelu")


def test_blocks_are_built_to_the_config():
    config = Config(
        **SMALL, n_kv_heads=1, d_ff=44, positions="rotary", rotary_base=500.0, norm="rms", norm_eps=0.125,
        pre_norm=False, activation="relu", gated=True, bias=False, dropout=0.25,
    )  # fmt: skip
    for block in (encoder_block(config), decoder_block(config)):
        assert block.pre_norm is False
        assert block.dropout.p == 0.25
        assert isinstance(block.feed_forward_norm, RMSNorm)
        assert block.attention_norm.eps == block.feed_forward_norm.eps == 0.125
        assert isinstance(block.feed_forward, GatedFeedForward)
        assert block.feed_forward.widen.weight.shape == (44, 30)
        assert block.feed_forward.activation is torch.nn.functional.relu
        assert not [name for name, _ in block.named_parameters() if "bias" in name or "shift" in name]
        x = torch.randn(1, 3, 4, 10)
        turned = block.attention.rotate(x, torch.arange(4))
        assert torch.equal(turned, rotate_halves(x, torch.arange(4), base=500.0))
        assert (block.attention.n_heads, block.attention.n_kv_heads) == (3, 1)
    cross = decoder_block(config).cross_attention
    assert (cross.n_heads, cross.n_kv_heads, cross.rotate) == (3, 1, None)
    assert decoder_block(config).cross_attention_norm.eps == 0.125
    plain = encoder_block(Config(**SMALL))
    assert plain.attention.rotate is None
    assert plain.feed_forward.widen.weight.shape == (120, 30)
    assert isinstance(plain.attention_norm, LayerNorm)
    assert set(NORMS) == {"layer", "rms"}


@pytest.mark.parametrize("positions", POSITIONS)
def test_the_embedding_adds_positions_of_its_kind(positions):
    embedding = Embedding(Config(**SMALL, positions=positions), scale=3.0)
    ids, places = torch.tensor([[4, 49, 0], [4, 4, 4]]), torch.tensor([[0, 1, 2], [7, 6, 5]])
    expected = embedding.words.weight[ids] * 3.0
    if positions == "learned":
        expected = expected + embedding.places.table.weight[places]
    elif positions.startswith("sinusoidal"):
        expected = expected + sinusoidal_table(places, 30, halves=positions.endswith("halves"))
    torch.testing.assert_close(embedding(ids, places), expected)
    with raises(ValueError, "between 0 and 49, for a vocabulary of 50; got 50"):
        embedding(torch.tensor([[50]]))


def test_what_is_added_to_the_scores():
    x = torch.zeros(1)
    assert torch.equal(score_bias(Config(**SMALL, positions="alibi"), 2, 5, x), alibi_bias(3, 2, 5))
    assert score_bias(Config(**SMALL), 2, 5, x) is None


def test_the_embedding_drops_in_training_only():
    embedding = Embedding(Config(**SMALL, positions="none", dropout=0.5))
    ids = torch.randint(50, (4, 50))
    kept = (embedding(ids) != 0).float().mean()
    assert 0.4 < kept < 0.6
    torch.testing.assert_close(embedding.eval()(ids), embedding.words.weight[ids])
