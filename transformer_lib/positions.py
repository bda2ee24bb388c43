r"""Where a word stands: sinusoidal, learned, rotary and relative positions (lecture, section 4).

Self-attention sees a set. The original Transformer adds to each embedding a vector that depends on the
position only:

$$PE_{(pos, 2i)} = \sin\left(pos / 10000^{2i/D}\right), \qquad
  PE_{(pos, 2i+1)} = \cos\left(pos / 10000^{2i/D}\right).$$

RoPE turns each pair of entries of a query or key by an angle that grows with the position, so that the
score $q_m^\top k_n$ depends on the offset $m - n$ only:

$$\begin{pmatrix} x'_{2i} \\ x'_{2i+1} \end{pmatrix} =
  \begin{pmatrix} \cos m\theta_i & -\sin m\theta_i \\ \sin m\theta_i & \cos m\theta_i \end{pmatrix}
  \begin{pmatrix} x_{2i} \\ x_{2i+1} \end{pmatrix}, \qquad \theta_i = 10000^{-2i/K}.$$

ALiBi adds to the score of head $h$ a penalty that grows with the distance: $-m_h\,|i - j|$.

Sources: Vaswani et al. 2017, arXiv 1706.03762, section 3.5; Su et al. 2021 (RoPE), arXiv 2104.09864,
Eq. 14 and 15; Press et al. 2022 (ALiBi), arXiv 2108.12409, section 3.
"""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer_lib.checks import check_words, first_outside


def inverse_wavelengths(
    width: int,
    base: float = 10000.0,
    *,
    device: torch.device | str | None = None,
    dtype: torch.dtype = torch.float32,
) -> Float[Tensor, " half"]:
    r"""$base^{-2i/width}$ for $i = 0, …, width/2 - 1$, in radians per word: how fast each pair turns.

    In float32 the angle of position p is exact to about $p \cdot 10^{-7}$ radians.

    Raises:
        ValueError: the width is odd or below 2, or base is not above 0.

    >>> inverse_wavelengths(4, base=100.0)
    tensor([1.0000, 0.1000])
    """
    if width < 2 or width % 2:
        raise ValueError(
            f"sines and cosines come in pairs: the width must be even and at least 2; got {width}"
        )
    if base <= 0:
        raise ValueError(f"base must be above 0; got {base}")
    return base ** -(torch.arange(0, width, 2, device=device, dtype=dtype) / width)


def sinusoidal_table(
    positions: Int[Tensor, "*places"],
    d_model: int,
    base: float = 10000.0,
    *,
    halves: bool = False,
    dtype: torch.dtype = torch.float32,
) -> Float[Tensor, "*places {d_model}"]:
    """The sinusoidal vector of each position: sines in the even columns, cosines in the odd ones.

    Args:
        positions: places in the sentence, in words, counted from 0; of any shape, (T,) or (B, T).
        d_model: width of the word vectors, even.
        base: the slowest wave is about 2π · base words long.
        halves: all sines first, then all cosines, as Marian's published weights expect.
        dtype: of the angles and of the table.

    >>> import torch
    >>> sinusoidal_table(torch.arange(2), 4)
    tensor([[0.0000, 1.0000, 0.0000, 1.0000],
            [0.8415, 0.5403, 0.0100, 0.9999]])

    Source: Vaswani et al. 2017, section 3.5.
    """
    angles = _angles(positions, d_model, base, dtype)  # (…, D/2)
    if halves:
        return torch.cat([angles.sin(), angles.cos()], dim=-1)  # (…, D)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)  # (…, D)


class SinusoidalPositions(nn.Module):
    """Adds the sinusoidal vector of its position to every word; any length. Arguments as the table's.

    >>> import torch
    >>> SinusoidalPositions(6)(torch.zeros(2, 5, 6)).shape
    torch.Size([2, 5, 6])
    """

    def __init__(self, d_model: int, *, base: float = 10000.0, halves: bool = False):
        super().__init__()
        inverse_wavelengths(d_model, base, device="meta")  # raises for a wrong width or base
        self.d_model, self.base, self.halves = d_model, base, halves

    def forward(
        self, x: Float[Tensor, "B T D"], positions: Int[Tensor, "*places"] | None = None
    ) -> Float[Tensor, "B T D"]:
        """x plus positions, which are 0, 1, … unless given, of shape (T,) or (B, T)."""
        if x.shape[-1] != self.d_model:
            raise ValueError(f"x holds vectors of width {x.shape[-1]}, but d_model is {self.d_model}")
        positions = fit_positions(positions, x)
        table = sinusoidal_table(positions, self.d_model, self.base, halves=self.halves, dtype=_exact(x))
        return x + table.to(x.dtype)


class LearnedPositions(nn.Module):
    """Adds a learned vector for each of the first `max_length` positions, as BERT and GPT-2 do.

    Raises:
        ValueError: on a position past the table, naming it.

    >>> import torch
    >>> LearnedPositions(6, max_length=8)(torch.zeros(2, 5, 6)).shape
    torch.Size([2, 5, 6])
    """

    def __init__(self, d_model: int, max_length: int):
        super().__init__()
        if d_model < 1 or max_length < 1:
            raise ValueError(f"d_model and max_length must be at least 1; got {d_model} and {max_length}")
        self.table = nn.Embedding(max_length, d_model)

    def forward(
        self, x: Float[Tensor, "B T D"], positions: Int[Tensor, "*places"] | None = None
    ) -> Float[Tensor, "B T D"]:
        """x plus positions, which are 0, 1, … unless given, of shape (T,) or (B, T)."""
        check_words(x, self.table.weight)
        size, T = self.table.num_embeddings, x.shape[-2]
        if positions is None:
            outside = T - 1 if size < T else None
        else:
            outside = first_outside(fit_positions(positions, x), size)
        if outside is not None:
            raise ValueError(
                f"position {outside} lies outside the learned table, which has positions 0 to {size - 1}: "
                "shorten the text, or use positions that are computed"
            )
        return x + self.table(fit_positions(positions, x))


def rotate_pairs(
    x: Float[Tensor, "*batch T K"], positions: Int[Tensor, "*places"], base: float = 10000.0
) -> Float[Tensor, "*batch T K"]:
    """RoPE as in the paper: entries 2i and 2i + 1 of each query or key are turned by position · θ_i.

    Args:
        x: queries or keys, their width even.
        positions: (T,), or (B, T) for x of shape (B, H, T, K).
        base: as in `inverse_wavelengths`.

    >>> import torch
    >>> rotate_pairs(torch.tensor([[1.0, 0.0]]), torch.tensor([1]))  # by one radian
    tensor([[0.5403, 0.8415]])

    Source: Su et al. 2021, Eq. 15 and 34.
    """
    cos, sin = _turn(x, positions, base)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)


def rotate_halves(
    x: Float[Tensor, "*batch T K"], positions: Int[Tensor, "*places"], base: float = 10000.0
) -> Float[Tensor, "*batch T K"]:
    """RoPE in the layout of Llama's weights on the Hugging Face hub: entry i goes with entry i + K/2.

    The same map as `rotate_pairs` up to the order of the entries; arguments as there.

    >>> import torch
    >>> rotate_halves(torch.tensor([[1.0, 0.0, 0.0, 0.0]]), torch.tensor([1]))  # entry 0 with entry 2
    tensor([[0.5403, 0.0000, 0.8415, 0.0000]])
    """
    cos, sin = _turn(x, positions, base)
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)


def alibi_bias(
    n_heads: int, T: int, S: int | None = None, *, device: torch.device | str | None = None
) -> Float[Tensor, "1 H T S"]:
    r"""ALiBi: a score is lowered by $m_h$ per word of distance, with $m_h = 2^{-8h/H}$, $h = 1, …, H$.

    The T queries are the last T of the S words, as in `causal_mask`.

    Raises:
        ValueError: fewer than 1 head, T below 1, or S below T.

    >>> alibi_bias(1, 2)[0, 0] * 2**8
    tensor([[-0., -1.],
            [-1., -0.]])

    Source: Press et al. 2022, section 3 (slopes for H a power of 2; used here for every H).
    """
    S = T if S is None else S
    if n_heads < 1 or T < 1 or S < T:
        raise ValueError(f"ALiBi needs n_heads >= 1 and 1 <= T <= S; got n_heads={n_heads}, T={T}, S={S}")
    slopes = 2.0 ** (-8 / n_heads * torch.arange(1, n_heads + 1, device=device, dtype=torch.float32))
    i = torch.arange(S - T, S, device=device)[:, None]
    j = torch.arange(S, device=device)
    return -(slopes[:, None, None] * (i - j).abs())[None]


def fit_positions(positions: Tensor | None, x: Tensor) -> Tensor:
    """Positions of the words of x (…, T, D): 0, 1, … by default, else as given, of shape (T,) or (B, T)."""
    T = x.shape[-2]
    if positions is None:
        return torch.arange(T, device=x.device)
    shapes = [(T,), (x.shape[0], T)] if x.dim() > 2 else [(T,)]
    if positions.dtype not in (torch.int64, torch.int32) or positions.shape not in shapes:
        raise ValueError(
            f"positions must be whole numbers of shape {' or '.join(map(str, shapes))}; "
            f"got {positions.dtype} of shape {tuple(positions.shape)}"
        )
    if positions.device != x.device:
        raise ValueError(f"positions are on {positions.device}, the words on {x.device}")
    return positions


def _angles(positions: Tensor, width: int, base: float, dtype: torch.dtype) -> Float[Tensor, "*places half"]:
    return positions[..., None] * inverse_wavelengths(width, base, device=positions.device, dtype=dtype)


def _turn(x: Tensor, positions: Tensor, base: float) -> tuple[Tensor, Tensor]:
    """Cosine and sine of each word's angles, in the dtype of x and broadcastable to it."""
    angles = _angles(fit_positions(positions, x), x.shape[-1], base, _exact(x))
    if positions.dim() == 2 and x.dim() == 4:  # (B, T, K/2): the same for all heads
        angles = angles[:, None]
    return angles.cos().to(x.dtype), angles.sin().to(x.dtype)


def _exact(x: Tensor) -> torch.dtype:
    """The dtype for angles: half precision could not tell position 2,049 from 2,048."""
    return torch.promote_types(x.dtype, torch.float32)
