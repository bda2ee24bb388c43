r"""The block: residual connections and layer normalisation around the two sub-layers (lecture, section 8).

As the lecture draws it and as in the original paper, *post-norm*:

$$x \leftarrow \operatorname{LayerNorm}\bigl(x + \operatorname{Sublayer}(x)\bigr).$$

As in most models since, *pre-norm*, which needs one more norm after the last block:

$$x \leftarrow x + \operatorname{Sublayer}\bigl(\operatorname{LayerNorm}(x)\bigr).$$

Layer normalisation looks at one word at a time, over its D entries:

$$\operatorname{LayerNorm}(x) = \gamma \odot \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}} + \beta, \qquad
  \operatorname{RMSNorm}(x) = \gamma \odot \frac{x}{\sqrt{\tfrac1D \sum_i x_i^2 + \varepsilon}}.$$

Sources: Vaswani et al. 2017, arXiv 1706.03762, section 3.1; Ba et al. 2016, arXiv 1607.06450, Eq. 3 and 4;
Xiong et al. 2020 (pre- and post-norm), arXiv 2002.04745; Zhang & Sennrich 2019 (RMSNorm), arXiv 1910.07467.
"""

from __future__ import annotations

from functools import partial

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from transformer_lib.checks import check_words
from transformer_lib.multi_head import KVCache, MultiHeadAttention


def layer_norm(
    x: Float[Tensor, "*batch D"], scale: Float[Tensor, " D"], shift: Float[Tensor, " D"], eps: float = 1e-5
) -> Float[Tensor, "*batch D"]:
    """Every word's vector brought to mean 0 and variance 1 over its entries, then scaled and shifted.

    The variance is the mean square, divided by D and not by D − 1.

    >>> import torch
    >>> layer_norm(torch.tensor([[1.0, 3.0]]), torch.ones(2), torch.zeros(2), eps=0.0)
    tensor([[-1.,  1.]])

    Source: Ba et al. 2016, Eq. 3 and 4.
    """
    mean = x.mean(-1, keepdim=True)
    variance = (x - mean).square().mean(-1, keepdim=True)
    return scale * (x - mean) / torch.sqrt(variance + eps) + shift


def rms_norm(
    x: Float[Tensor, "*batch D"], scale: Float[Tensor, " D"], eps: float = 1e-6
) -> Float[Tensor, "*batch D"]:
    """Every word's vector divided by its root mean square, then scaled.

    >>> import torch
    >>> rms_norm(torch.tensor([[3.0, 4.0]]), torch.ones(2), eps=0.0) * 12.5**0.5
    tensor([[3., 4.]])

    Source: Zhang & Sennrich 2019, "Root Mean Square Layer Normalization".
    """
    return scale * x / torch.sqrt(x.square().mean(-1, keepdim=True) + eps)


class LayerNorm(nn.Module):
    """`layer_norm` with a learned scale and shift, by torch's fused kernel.

    Raises ValueError for a width below 1, eps below 0, or words of another width.

    >>> import torch
    >>> LayerNorm(6)(torch.randn(2, 5, 6)).shape
    torch.Size([2, 5, 6])
    """

    def __init__(self, d_model: int, *, eps: float = 1e-5):
        super().__init__()
        if d_model < 1 or eps < 0:
            raise ValueError(f"d_model must be at least 1 and eps at least 0; got {d_model} and {eps}")
        self.scale, self.shift = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def forward(self, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch D"]:
        check_words(x, self.scale[None])
        return F.layer_norm(x, self.scale.shape, self.scale, self.shift, self.eps)


class RMSNorm(nn.Module):
    """`rms_norm` with a learned scale, by torch's fused kernel. Errors as `LayerNorm`.

    >>> import torch
    >>> RMSNorm(6)(torch.randn(2, 5, 6)).shape
    torch.Size([2, 5, 6])
    """

    def __init__(self, d_model: int, *, eps: float = 1e-6):
        super().__init__()
        if d_model < 1 or eps < 0:
            raise ValueError(f"d_model must be at least 1 and eps at least 0; got {d_model} and {eps}")
        self.scale = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch D"]:
        check_words(x, self.scale[None])
        return F.rms_norm(x, self.scale.shape, self.scale, self.eps)


class EncoderBlock(nn.Module):
    """Self-attention and the feed-forward network, each with its residual connection and its norm.

    Also the block of a decoder-only model: call it with causal=True.

    Args:
        attention: the sub-layer in which words read from each other.
        feed_forward: the sub-layer for each word by itself, a module from (B, T, D) to (B, T, D).
        pre_norm: x + Sublayer(Norm(x)) if True, Norm(x + Sublayer(x)) as the lecture draws it if False.
        norm: the kind of norm, `LayerNorm` or `RMSNorm`.
        eps: what the norm adds to the variance.
        dropout: share of each sub-layer's output set to 0 in training.

    >>> import torch
    >>> from transformer_lib.feed_forward import FeedForward
    >>> block = EncoderBlock(MultiHeadAttention(12, 3), FeedForward(12), pre_norm=False)
    >>> block(torch.randn(2, 5, 12)).shape
    torch.Size([2, 5, 12])

    Source: Vaswani et al. 2017, section 3.1 (post-norm); Xiong et al. 2020, Fig. 1 (both).
    """

    def __init__(
        self,
        attention: MultiHeadAttention,
        feed_forward: nn.Module,
        *,
        pre_norm: bool = True,
        norm: type[nn.Module] = LayerNorm,
        eps: float = 1e-5,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.attention, self.feed_forward, self.pre_norm = attention, feed_forward, pre_norm
        self.attention_norm = norm(attention.d_model, eps=eps)
        self.feed_forward_norm = norm(attention.d_model, eps=eps)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        *,
        mask: Bool[Tensor, "*mask"] | None = None,
        causal: bool = False,
        bias: Float[Tensor, "*bias"] | None = None,
        positions: Int[Tensor, "*places"] | None = None,
        cache: KVCache | None = None,
    ) -> Float[Tensor, "B T D"]:
        """Arguments as `MultiHeadAttention.forward`."""
        options = {"mask": mask, "causal": causal, "bias": bias, "positions": positions, "cache": cache}
        attend = partial(self.attention, **options)
        if self.pre_norm:
            x = x + self.dropout(attend(self.attention_norm(x)))
            x = x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))
        else:
            x = self.attention_norm(x + self.dropout(attend(x)))
            x = self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))
        return x


class DecoderBlock(nn.Module):
    """Masked self-attention, cross-attention to the encoder's output, and the feed-forward network.

    Args:
        attention: words of the target read from the target's past.
        cross_attention: words of the target read from the memory, the encoder's output.
        feed_forward, pre_norm, norm, eps, dropout: as `EncoderBlock`.

    >>> import torch
    >>> from transformer_lib.feed_forward import FeedForward
    >>> block = DecoderBlock(MultiHeadAttention(12, 3), MultiHeadAttention(12, 3), FeedForward(12))
    >>> block(torch.randn(2, 5, 12), torch.randn(2, 7, 12)).shape
    torch.Size([2, 5, 12])

    Source: Vaswani et al. 2017, section 3.1, Fig. 1 (right).
    """

    def __init__(
        self,
        attention: MultiHeadAttention,
        cross_attention: MultiHeadAttention,
        feed_forward: nn.Module,
        *,
        pre_norm: bool = True,
        norm: type[nn.Module] = LayerNorm,
        eps: float = 1e-5,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.attention, self.cross_attention = attention, cross_attention
        self.feed_forward, self.pre_norm = feed_forward, pre_norm
        self.attention_norm = norm(attention.d_model, eps=eps)
        self.cross_attention_norm = norm(attention.d_model, eps=eps)
        self.feed_forward_norm = norm(attention.d_model, eps=eps)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        memory: Float[Tensor, "B S D"] | tuple[Tensor, Tensor],
        *,
        mask: Bool[Tensor, "*mask"] | None = None,
        memory_mask: Bool[Tensor, "*memory_mask"] | None = None,
        bias: Float[Tensor, "*bias"] | None = None,
        positions: Int[Tensor, "*places"] | None = None,
        cache: KVCache | None = None,
    ) -> Float[Tensor, "B T D"]:
        """The future of x is always hidden; mask hides more of x, memory_mask words of the memory."""
        options = {"mask": mask, "causal": True, "bias": bias, "positions": positions, "cache": cache}
        attend = partial(self.attention, **options)
        cross = partial(self.cross_attention, memory=memory, mask=memory_mask)
        if self.pre_norm:
            x = x + self.dropout(attend(self.attention_norm(x)))
            x = x + self.dropout(cross(self.cross_attention_norm(x)))
            x = x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))
        else:
            x = self.attention_norm(x + self.dropout(attend(x)))
            x = self.cross_attention_norm(x + self.dropout(cross(x)))
            x = self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))
        return x
