r"""Recurrent networks, and why the lecture leaves them: word after word, far words far apart (section 1).

The Elman network keeps one state and updates it with every word,

$$h_t = \tanh(W_x x_t + W_h h_{t-1} + b),$$

so $h_t$ cannot be computed before $h_{t-1}$, and what a word says to another $k$ words later has passed
through $k$ products with $W_h$: its gradient shrinks or grows with the $k$-th power. The LSTM adds a cell
$c_t$ on which a gate, not a matrix, stands between one step and the next:

$$c_t = f_t \odot c_{t-1} + i_t \odot g_t, \qquad h_t = o_t \odot \tanh(c_t), \qquad
  i_t, f_t, o_t = \sigma(W_x x_t + W_h h_{t-1} + b), \qquad g_t = \tanh(W_x x_t + W_h h_{t-1} + b),$$

each gate with rows of $W_x$, $W_h$ and $b$ of its own.

Sources: Elman 1990, Cognitive Science 14; Pascanu et al. 2013 (powers of $W_h$), arXiv 1211.5063, section 2;
Hochreiter & Schmidhuber 1997, Neural Computation 9; Gers et al. 2000 (the gate $f_t$), Neural Computation 12.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer_lib.checks import check_ids, check_words
from transformer_lib.distance import gradient_reach, sequential_steps  # noqa: F401  also found here

State = tuple[Tensor, ...]  # (h,) or (h, c), each of shape (B, H)


def rnn_step(
    x: Float[Tensor, "B D"],
    h: Float[Tensor, "B H"],
    w_x: Float[Tensor, "H D"],
    w_h: Float[Tensor, "H H"],
    b: Float[Tensor, " H"],
) -> Float[Tensor, "B H"]:
    r"""One word read: $h_t = \tanh(W_x x_t + W_h h_{t-1} + b)$.

    >>> import torch
    >>> one, zero = torch.ones(1, 1), torch.zeros(1, 1)
    >>> rnn_step(one, zero, w_x=one, w_h=one, b=zero[0])
    tensor([[0.7616]])

    Source: Pascanu et al. 2013, Eq. 2, with tanh outside (the same model, as their footnote says).
    """
    return torch.tanh(x @ w_x.T + h @ w_h.T + b)


def lstm_step(
    x: Float[Tensor, "B D"],
    h: Float[Tensor, "B H"],
    c: Float[Tensor, "B H"],
    w_x: Float[Tensor, "4*H D"],
    w_h: Float[Tensor, "4*H H"],
    b: Float[Tensor, " 4*H"],
) -> tuple[Tensor, Tensor]:
    """One word read by an LSTM: the new $h_t$ and $c_t$, (B, H) each.

    The rows of the weights belong to the gates i, f, g, o, in this order, as in `nn.LSTM`.

    >>> import torch
    >>> zero = torch.zeros(1, 1)
    >>> lstm_step(zero, zero, torch.ones(1, 1), torch.zeros(4, 1), torch.zeros(4, 1), torch.zeros(4))[1]
    tensor([[0.5000]])

    Source: Gers et al. 2000, "Learning to forget" (an LSTM with forget gates, without peepholes).
    """
    i, f, g, o = (x @ w_x.T + h @ w_h.T + b).chunk(4, dim=-1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


class RNN(nn.Module):
    r"""An Elman network, for words of width d_in (D) and a state of width d_hidden (H), at least 1 each.

    Weights start uniform between $\pm 1/\sqrt{H}$, as torch's do.

    >>> import torch
    >>> RNN(3, 4)(torch.randn(2, 5, 3)).shape
    torch.Size([2, 5, 4])
    """

    n_states = 1

    def __init__(self, d_in: int, d_hidden: int):
        super().__init__()
        self.w_x, self.w_h, self.b = _weights(d_in, d_hidden, gates=1)

    def forward(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "B T H"]:
        """The state after every word of x; `read` also takes and gives a state to go on from."""
        return read(self, x)[0]

    def step(self, x: Float[Tensor, "B D"], state: State) -> State:
        return (rnn_step(x, *state, self.w_x, self.w_h, self.b),)


class LSTM(nn.Module):
    r"""A long short-term memory; widths as `RNN`.

    Where `forget_bias` is not 0, the forget gate's biases start there: each step keeps about $\sigma(b)$ of
    the cell, and of the gradient: 0.5 at 0, 0.95 at 3.

    >>> import torch
    >>> LSTM(3, 4)(torch.randn(2, 5, 3)).shape
    torch.Size([2, 5, 4])
    """

    n_states = 2

    def __init__(self, d_in: int, d_hidden: int, *, forget_bias: float = 0.0):
        super().__init__()
        self.w_x, self.w_h, self.b = _weights(d_in, d_hidden, gates=4)
        if forget_bias:
            nn.init.constant_(self.b[d_hidden : 2 * d_hidden], forget_bias)

    def forward(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "B T H"]:
        """The state h after every word of x."""
        return read(self, x)[0]

    def step(self, x: Float[Tensor, "B D"], state: State) -> State:
        return lstm_step(x, *state, self.w_x, self.w_h, self.b)


def read(
    layer: RNN | LSTM, x: Float[Tensor, "B T D"], state: State | None = None
) -> tuple[Float[Tensor, "B T H"], State]:
    """The state h after every word of x, and the last state to go on from: the loop of the lecture.

    Raises ValueError where x or the state has the wrong shape.

    >>> import torch
    >>> layer, x = RNN(3, 4), torch.randn(2, 5, 3)
    >>> first, state = read(layer, x[:, :3])
    >>> torch.equal(torch.cat([first, read(layer, x[:, 3:], state)[0]], dim=1), layer(x))
    True
    """
    check_words(x, layer.w_x)
    if x.dim() != 3:
        raise ValueError(f"x must have shape (B, T, {layer.w_x.shape[1]}); got {tuple(x.shape)}")
    n, shape = layer.n_states, (x.shape[0], layer.w_h.shape[1])
    state = (x.new_zeros(shape),) * n if state is None else state
    if [h.shape for h in state] != [shape] * n:
        raise ValueError(f"the state must be {n} of shape {shape}; got {[tuple(h.shape) for h in state]}")
    states = []
    for x_t in x.unbind(1):  # h_t waits for h_{t-1}
        state = layer.step(x_t, state)
        states.append(state[0])
    return torch.stack(states, dim=1), state


class RecurrentLM(nn.Module):
    """A language model before Transformers: embeddings, recurrent layers, logits of the next word.

    It knows vocab_size words (V), with vectors and states of width d_model (D); kind is "rnn" or "lstm".
    Raises ValueError for a size below 1, an unknown kind, ids of another shape or past the vocabulary.

    >>> import torch
    >>> RecurrentLM(50, 8, kind="lstm")(torch.tensor([[4, 9, 7]])).shape
    torch.Size([1, 3, 50])

    Source: Mikolov et al. 2010, "Recurrent neural network based language model", Interspeech.
    """

    def __init__(self, vocab_size: int, d_model: int, *, kind: str = "rnn", n_layers: int = 1):
        super().__init__()
        kinds = {"rnn": RNN, "lstm": LSTM}
        if kind not in kinds:
            raise ValueError(f"kind must be one of {sorted(kinds)}; got {kind!r}")
        if vocab_size < 1 or n_layers < 1:
            raise ValueError(f"vocab_size and n_layers must be at least 1; got {vocab_size} and {n_layers}")
        self.layers = nn.ModuleList(kinds[kind](d_model, d_model) for _ in range(n_layers))
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.logits = nn.Linear(d_model, vocab_size)

    def forward(self, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B T V"]:
        """Logits of the next word, after every word."""
        return self.read(ids)[0]

    def read(
        self, ids: Int[Tensor, "B T"], states: Sequence[State | None] | None = None
    ) -> tuple[Tensor, list[State]]:
        """Logits after every word, and each layer's state, to write on from at the same cost per word."""
        check_ids(ids, self.embedding.weight)
        x, last = self.embedding(ids), []
        for layer, state in zip(self.layers, states or [None] * len(self.layers), strict=True):
            x, state = read(layer, x, state)
            last.append(state)
        return self.logits(x), last


def _weights(d_in: int, d_hidden: int, gates: int) -> tuple[nn.Parameter, nn.Parameter, nn.Parameter]:
    if d_in < 1 or d_hidden < 1:
        raise ValueError(f"widths must be at least 1; got {d_in} and {d_hidden}")
    shapes = (gates * d_hidden, d_in), (gates * d_hidden, d_hidden), (gates * d_hidden,)
    bound = 1 / math.sqrt(d_hidden)
    return tuple(nn.Parameter(torch.empty(shape).uniform_(-bound, bound)) for shape in shapes)
