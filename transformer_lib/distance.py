r"""How far apart two words are in a model: for the gradient, and in steps that wait (lecture, section 1).

What a word says to another $k$ words later has passed through $k$ steps of a recurrent network, and its
gradient through as many products: $\lVert \partial o_T / \partial x_{T-k} \rVert$ shrinks or grows with $k$.
Attention reads every word in one step.

Sources: Pascanu et al. 2013, arXiv 1211.5063, Eq. 5 and section 2; Vaswani et al. 2017, arXiv 1706.03762,
Table 1 ("Sequential Operations").
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor


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
    `nn.LSTM` hides its loop in one kernel: use `rnn.LSTM`.

    >>> import torch
    >>> from transformer_lib.rnn import RNN
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
