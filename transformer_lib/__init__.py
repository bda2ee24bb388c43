"""Self-attention and Transformers: one small, tested module per idea of the lecture.

The modules, in the lecture's order: `attention`, `positions`, `feed_forward`, `masks`, `multi_head`,
`blocks`, `configs` and `models`. Each begins with its equation and its source. `checks` holds what they ask
of their input. `transformer_lib.exercises` checks the book's exercises; `transformer_lib.display` draws its
figures.
"""

from importlib.metadata import version

from transformer_lib.attention import SelfAttention, attend_fused, attend_one, attention, attention_weights
from transformer_lib.blocks import DecoderBlock, EncoderBlock, LayerNorm, RMSNorm, layer_norm, rms_norm
from transformer_lib.configs import EncoderConfig, EncoderDecoderConfig, LMConfig
from transformer_lib.feed_forward import FeedForward, GatedFeedForward
from transformer_lib.masks import (
    causal_mask,
    explain_mask,
    padding_mask,
    padding_mask_from_ids,
    sliding_window_mask,
)
from transformer_lib.models import EncoderDecoder, TransformerEncoder, TransformerLM
from transformer_lib.multi_head import KVCache, MultiHeadAttention
from transformer_lib.positions import (
    LearnedPositions,
    SinusoidalPositions,
    alibi_bias,
    rotate_halves,
    rotate_pairs,
    sinusoidal_table,
)

__version__ = version("transformer_lib")

__all__ = [
    "DecoderBlock",
    "EncoderBlock",
    "EncoderConfig",
    "EncoderDecoder",
    "EncoderDecoderConfig",
    "FeedForward",
    "GatedFeedForward",
    "KVCache",
    "LMConfig",
    "LayerNorm",
    "LearnedPositions",
    "MultiHeadAttention",
    "RMSNorm",
    "SelfAttention",
    "SinusoidalPositions",
    "TransformerEncoder",
    "TransformerLM",
    "alibi_bias",
    "attend_fused",
    "attend_one",
    "attention",
    "attention_weights",
    "causal_mask",
    "explain_mask",
    "layer_norm",
    "padding_mask",
    "padding_mask_from_ids",
    "rms_norm",
    "rotate_halves",
    "rotate_pairs",
    "sinusoidal_table",
    "sliding_window_mask",
]
