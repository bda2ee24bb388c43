"""Self-attention and Transformers: one small, tested module per idea of the lecture.

The modules, in the lecture's order: `attention`, `masks`. Each begins with its equation and its source.
`transformer_lib.exercises` checks the book's exercises; `transformer_lib.display` draws its figures.
"""

from importlib.metadata import version

from transformer_lib.attention import SelfAttention, attend_fused, attend_one, attention, attention_weights
from transformer_lib.masks import causal_mask, padding_mask

__version__ = version("transformer_lib")

__all__ = [
    "SelfAttention",
    "attend_fused",
    "attend_one",
    "attention",
    "attention_weights",
    "causal_mask",
    "padding_mask",
]
