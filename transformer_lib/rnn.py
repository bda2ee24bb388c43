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
from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer_lib.checks import check_ids, check_words

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


def gradient_reach(f: Callable[[Tensor], Tensor], x: Float[Tensor, "B T D"]) -> Float[Tensor, " T"]:
    r"""How much the last output depends on the word k back: $\lVert\partial o_T/\partial x_{T-k}\rVert$.

    The Frobenius norm of the Jacobian, averaged over the sentences of the batch; entry k is k steps back.

    f maps (B, T, D) to (B, T, any width), each sentence by itself: an `RNN`, an `LSTM`, attention. Raises
    ValueError where it gives another shape, or an output that does not depend on x.

    >>> import torch
    >>> gradient_reach(lambda x: x.cumsum(1), torch.zeros(1, 3, 1))  # a sum forgets nothing
    tensor([1., 1., 1.])

    Source: Pascanu et al. 2013, Eq. 5, whose size section 2 bounds.
    """
    x = x.detach().requires_grad_()
    out = f(x)
    if out.dim() != 3 or out.shape[:2] != x.shape[:2] or not out.requires_grad:
        raise ValueError(
            f"f must give outputs (B, T, width) that depend on x {tuple(x.shape)}; got {tuple(out.shape)}"
        )
    entries = out[:, -1].sum(0)  # sentences are independent: one gradient holds those of all
    rows = [torch.autograd.grad(entry, x, retain_graph=True)[0] for entry in entries]
    return torch.stack(rows).square().sum((0, -1)).sqrt().mean(0).flip(0)


def sequential_steps(f: Callable[[Tensor], Tensor], x: Float[Tensor, "B T D"]) -> int:
    """How many steps must wait for one another: T for a recurrent network, 1 for attention.

    Counted in the graph of f(x): the longest chain of matrix products that each need the one before, against
    that for a sentence of one word; so a layer of attention adds nothing, and one more recurrent layer T − 1.
    `nn.LSTM` hides its loop in one kernel: use this `LSTM`.

    >>> import torch
    >>> sequential_steps(RNN(3, 4), torch.randn(1, 7, 3))
    7
    >>> sequential_steps(lambda x: torch.softmax(x @ x.mT, -1) @ x, torch.randn(1, 7, 3))
    1

    Source: Vaswani et al. 2017, arXiv 1706.03762, Table 1 ("Sequential Operations").
    """
    x = x.detach().requires_grad_()
    return 1 + _longest_chain(f(x).grad_fn) - _longest_chain(f(x[:, :1]).grad_fn)


def _longest_chain(root: torch.autograd.graph.Node) -> int:
    """The most matrix products on any path of the graph; without recursion, as the paths are long."""
    products = ("Mm", "Addmm", "Bmm", "Baddbmm", "Mv", "Dot", "Linear", "ScaledDotProduct")
    length, stack = {None: 0}, [root]  # None: where the graph ends
    while stack:
        node = stack[-1]
        before = [n for n, _ in node.next_functions]
        waiting = [n for n in before if n not in length]
        if not waiting:
            longest = max((length[n] for n in before), default=0)
            length[stack.pop()] = longest + node.name().startswith(products)
        stack += waiting
    return length[root]


def _weights(d_in: int, d_hidden: int, gates: int) -> tuple[nn.Parameter, nn.Parameter, nn.Parameter]:
    if d_in < 1 or d_hidden < 1:
        raise ValueError(f"widths must be at least 1; got {d_in} and {d_hidden}")
    shapes = (gates * d_hidden, d_in), (gates * d_hidden, d_hidden), (gates * d_hidden,)
    bound = 1 / math.sqrt(d_hidden)
    return tuple(nn.Parameter(torch.empty(shape).uniform_(-bound, bound)) for shape in shapes)
