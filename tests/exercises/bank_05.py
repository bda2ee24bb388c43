"""Right and wrong answers to the exercises of chapter 5, in many spellings. `test_bank.py` runs them."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import einsum, nn

from transformer_lib.feed_forward import FeedForward


def says(*answer):
    """An answer on paper."""
    return lambda: list(answer)


# ------------------------------------------------------------------ 5.1 predict

TRUTH = [True, False, False, False, False, True, False]


def but(number):
    """The right predictions, one of them turned."""
    turned = [answer != (n == number) for n, answer in enumerate(TRUTH, 1)]
    return lambda: turned


# ------------------------------------------------------------------ 5.2 XOR


def xor_solved():
    h = torch.tensor([[0.0, 1, 2], [0, 0, 1]])
    u, w = torch.linalg.solve(h[:, 1:].T, torch.tensor([1.0, 0.0]))
    return torch.stack([h[0, 2], h[1, 2], h[1, 0], u, w])


# ------------------------------------------------------------------ 5.3 count


def counted_by_torch():
    count = lambda *layers: sum(p.numel() for layer in layers for p in layer.parameters())  # noqa: E731
    network = count(nn.Linear(768, 3072), nn.Linear(3072, 768))
    attention = count(nn.MultiheadAttention(768, 12))
    return network, attention, network / (network + attention), 2 * 3072 / 3


NETWORK, ATTENTION = 4_722_432, 2_362_368
SHARE = NETWORK / (NETWORK + ATTENTION)

# ------------------------------------------------------------------ 5.4 the network


def network_torch(x, w1, b1, w2, b2):
    return F.linear(F.relu(F.linear(x, w1, b1)), w2, b2)


def network_einsum(x, w1, b1, w2, b2):
    hidden = (einsum("btd,fd->btf", x, w1) + b1).clamp(min=0)
    return einsum("btf,df->btd", hidden, w2) + b2


def network_loops(x, w1, b1, w2, b2):
    rows = [[w2 @ torch.maximum(w1 @ word + b1, torch.zeros(())) + b2 for word in s] for s in x]
    return torch.stack([torch.stack(row) for row in rows])


def network_in_place(x, w1, b1, w2, b2):
    hidden = x.matmul(w1.mT)
    hidden += b1
    hidden[hidden < 0] = 0
    return hidden @ w2.mT + b2


def network_modules(x, w1, b1, w2, b2):
    widen, narrow = nn.Linear(*w1.T.shape), nn.Linear(*w2.T.shape)
    widen.load_state_dict({"weight": w1, "bias": b1})
    narrow.load_state_dict({"weight": w2, "bias": b2})
    return nn.Sequential(widen, nn.ReLU(), narrow)(x)


def network_double(x, w1, b1, w2, b2):
    x, w1, b1, w2, b2 = (t.double() for t in (x, w1, b1, w2, b2))
    z = x @ w1.T + b1
    return torch.where(z > 0, z, 0) @ w2.T + b2


def network_columns(x, w1, b1, w2, b2):
    hidden = torch.relu(w1 @ x.mT + b1[:, None])
    return (w2 @ hidden + b2[:, None]).mT


def network_unit_by_unit(x, w1, b1, w2, b2):
    return b2 + sum(F.relu(x @ w1[n] + b1[n])[..., None] * w2[:, n] for n in range(len(b1)))


def network_numpy(x, w1, b1, w2, b2):
    x, w1, b1, w2, b2 = (t.numpy() for t in (x, w1, b1, w2, b2))
    return torch.from_numpy(np.maximum(x @ w1.T + b1, 0) @ w2.T + b2)


def network_with(between=torch.relu, before=lambda x: x, after=lambda y: y):
    return lambda x, w1, b1, w2, b2: after(between(before(x) @ w1.T + b1) @ w2.T + b2)


def leaky(z):
    return torch.where(z > 0, z, 0.01 * z)


# ------------------------------------------------------------------ 5.5 merge


def merge_by_probing(w1, b1, w2, b2):
    def both(x):
        return F.linear(F.linear(x, w1, b1), w2, b2)

    bias = both(torch.zeros(w1.shape[1]))
    return (both(torch.eye(w1.shape[1])) - bias).T, bias


def merge_joined(w1, b1, w2, b2):
    joined = w2 @ torch.cat([w1, b1[:, None]], dim=1)
    return joined[:, :-1], joined[:, -1] + b2


def merge_einsum(w1, b1, w2, b2):
    return [einsum("ef,fd->ed", w2, w1), einsum("ef,f->e", w2, b1) + b2]


def merge_double(w1, b1, w2, b2):
    return w2.double() @ w1.double(), b2.double() + (b1.double() @ w2.double().T)


def merge_from_the_right(w1, b1, w2, b2):
    return (w1.T @ w2.T).T, torch.addmv(b2, w2, b1)


def merge_loops(w1, b1, w2, b2):
    E, F_, D = *w2.shape, w1.shape[1]
    w = [[sum(w2[e, f] * w1[f, d] for f in range(F_)) for d in range(D)] for e in range(E)]
    return torch.tensor(w), torch.stack([w2[e].dot(b1) + b2[e] for e in range(E)])


def merge_in_place(w1, b1, w2, b2):
    b2 += w2 @ b1
    return w2 @ w1, b2


# ------------------------------------------------------------------ 5.6 the convolution


def convolution(into=lambda x: x.mT, back=lambda h: h.mT, between=torch.relu, after=lambda h: h):
    def network(x, w1, b1, w2, b2):
        h = between(F.conv1d(into(x), w1[..., None], b1))
        return back(after(F.conv1d(h, w2[..., None], b2)))

    return network


def cut(x):
    return x.reshape(x.shape[0], x.shape[2], x.shape[1])


def unmended(x, w1, b1, w2, b2):
    B, T, D = x.shape
    h = x.reshape(B, D, T)
    h = F.conv1d(h, w1.unsqueeze(-1), b1)
    h = F.conv1d(h, w2.unsqueeze(-1), b2)
    h = torch.relu(h)
    return h.reshape(B, T, D)


def same(h):
    return h


# ------------------------------------------------------------------ 5.7 the layer


def layer(
    forward=None, width=lambda D, F: 4 * D if F is None else F, biases=(True, True), keep=nn.ModuleList
):
    """A class with these properties; forward(self, x) has self.a and self.b as its layers."""

    class FeedForward(nn.Module):
        def __init__(self, d_model, d_ff=None, dropout=0.0):
            super().__init__()
            hidden = width(d_model, d_ff)
            self.layers = keep(
                [nn.Linear(d_model, hidden, bias=biases[0]), nn.Linear(hidden, d_model, bias=biases[1])]
            )
            self.p, self.drop = dropout, nn.Dropout(dropout)

        a = property(lambda self: self.layers[0])
        b = property(lambda self: self.layers[1])

        def forward(self, x):
            if forward is None:
                return self.b(self.drop(F.gelu(self.a(x))))
            return forward(self, x)

    return FeedForward


class Sequence(nn.Sequential):
    def __init__(self, d_model, d_ff=None, dropout=0.0):
        d_ff = d_ff or 4 * d_model
        super().__init__(
            nn.Linear(d_model, d_ff), nn.GELU("tanh"), nn.Linear(d_ff, d_model), nn.Dropout(dropout)
        )


class OwnParameters(nn.Module):
    def __init__(self, d_model, d_ff=None, dropout=0.0):
        super().__init__()
        d_ff = 4 * d_model if d_ff is None else d_ff
        self.b2 = nn.Parameter(torch.zeros(d_model))
        self.w2 = nn.Parameter(torch.randn(d_ff, d_model) / math.sqrt(d_ff))
        self.w1 = nn.Parameter(torch.randn(d_model, d_ff) / math.sqrt(d_model))
        self.b1 = nn.Parameter(torch.zeros(d_ff))
        self.dropout = dropout

    def forward(self, x):
        z = x @ self.w1 + self.b1
        hidden = z * 0.5 * (1 + torch.erf(z / math.sqrt(2)))
        return F.dropout(hidden, self.dropout, self.training) @ self.w2 + self.b2


class Convolutions(nn.Module):
    def __init__(self, d_model, d_ff=None, dropout=0.0):
        super().__init__()
        d_ff = 4 * d_model if d_ff is None else d_ff
        self.narrow, self.widen = nn.Conv1d(d_ff, d_model, 1), nn.Conv1d(d_model, d_ff, 1)
        self.drop = nn.Dropout(p=dropout)

    def forward(self, x):
        return self.drop(self.narrow(nn.functional.gelu(self.widen(x.mT)))).mT


class Gated(nn.Module):
    def __init__(self, d_model, d_ff=None, dropout=0.0):
        super().__init__()
        d_ff = 4 * d_model if d_ff is None else d_ff
        self.gate = nn.Linear(d_model, d_ff, bias=False)
        self.up = nn.Linear(d_model, d_ff, bias=False)
        self.down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class GatedWithBiases(Gated):
    def __init__(self, d_model, d_ff=None, dropout=0.0):
        super().__init__(d_model, d_ff)
        d_ff = 4 * d_model if d_ff is None else d_ff
        self.gate, self.up = nn.Linear(d_model, d_ff), nn.Linear(d_model, d_ff)
        self.down = nn.Linear(d_ff, d_model)


class DropsAlways(layer()):
    def __init__(self, d_model, d_ff=None, dropout=1.0):
        super().__init__(d_model, d_ff, dropout)


class Tied(nn.Module):
    def __init__(self, d_model, d_ff=None, dropout=0.0):
        super().__init__()
        d_ff = 4 * d_model if d_ff is None else d_ff
        self.widen, self.bias = nn.Linear(d_model, d_ff), nn.Parameter(torch.zeros(d_model))
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        return self.drop(F.gelu(self.widen(x)) @ self.widen.weight + self.bias)


class Normed(layer()):
    def __init__(self, d_model, d_ff=None, dropout=0.0):
        super().__init__(d_model, d_ff, dropout)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x):
        return super().forward(self.norm(x))


class ThirdLayer(Sequence):
    def __init__(self, d_model, d_ff=None, dropout=0.0):
        super().__init__(d_model, d_ff, dropout)
        self.append(nn.Linear(d_model, d_model))


class Lazy(layer()):
    def __init__(self, d_model, d_ff=None, dropout=0.0):
        super().__init__(d_model, d_ff, dropout)
        self.layers[0] = nn.LazyLinear(4 * d_model if d_ff is None else d_ff)


class Stacked(nn.Module):
    def __init__(self, d_model, d_ff=None, dropout=0.0):
        super().__init__()
        d_ff = 4 * d_model if d_ff is None else d_ff
        self.weights = nn.Parameter(torch.randn(2, d_model, d_ff) / math.sqrt(d_ff))
        self.b1, self.b2 = nn.Parameter(torch.zeros(1, d_ff)), nn.Parameter(torch.zeros(1, 1, d_model))
        self.drop = nn.Dropout1d(dropout)

    def forward(self, x):
        return self.drop(F.gelu(x @ self.weights[0] + self.b1) @ self.weights[1].T + self.b2)


class OfTheLibrary(nn.Module):
    def __init__(self, d_model, d_ff=None, dropout=0.0):
        super().__init__()
        self.network, self.drop = FeedForward(d_model, d_ff), nn.Dropout(dropout)

    def forward(self, x):
        return self.drop(self.network(x))


class InDouble(nn.Module):
    def __init__(self, d_model, d_ff=None, dropout=0.0):
        super().__init__()
        self.net = Sequence(d_model, d_ff, dropout).double()

    def forward(self, x):
        return self.net(x.double())


class WithoutSuper(nn.Module):
    def __init__(self, d_model, d_ff=None, dropout=0.0):
        self.widen = nn.Linear(d_model, d_ff or 4 * d_model)


class ForwardMisspelled(nn.Module):
    def __init__(self, d_model, d_ff=None, dropout=0.0):
        super().__init__()
        self.net = Sequence(d_model, d_ff, dropout)

    def foward(self, x):
        return self.net(x)


class NoModule:
    def __init__(self, d_model, d_ff=None, dropout=0.0):
        self.net = Sequence(d_model, d_ff, dropout)

    def __call__(self, x):
        return self.net(x)


class GeluWithoutParentheses(nn.Sequential):
    def __init__(self, d_model, d_ff=None, dropout=0.0):
        super().__init__(nn.Linear(d_model, 4 * d_model), nn.GELU, nn.Linear(4 * d_model, d_model))


class TiedButTwo(layer()):
    def forward(self, x):
        return self.drop(F.linear(F.gelu(self.a(x)), self.a.weight.T, self.b.bias))


class Frozen(layer()):
    def __init__(self, d_model, d_ff=None, dropout=0.0):
        super().__init__(d_model, d_ff, dropout)
        self.requires_grad_(False)


class WithoutGradient(layer()):
    @torch.no_grad()
    def forward(self, x):
        return super().forward(x)


def dropout_unscaled(self, x):
    out = self.b(F.gelu(self.a(x)))
    return out * (torch.rand_like(out) >= self.p) if self.training else out


def dropout_by_hand(self, x):
    out = self.b(F.gelu(self.a(x)))
    return out * (torch.rand_like(out) >= self.p) / (1 - self.p) if self.training else out


class Tensors(nn.Module):
    def __init__(self, d_model, d_ff=None, dropout=0.0):
        super().__init__()
        d_ff = 4 * d_model if d_ff is None else d_ff
        self.w1, self.w2 = torch.randn(d_model, d_ff), torch.randn(d_ff, d_model)

    def forward(self, x):
        return F.gelu(x @ self.w1) @ self.w2


def plainly(f):
    """A layer whose forward is b(f(a(x))), with dropout at the end."""
    return layer(lambda self, x: self.drop(self.b(f(self.a(x)))))


RIGHT = {
    "5.1": [
        lambda: TRUTH,
        lambda: tuple(TRUTH),
        lambda: np.array(TRUTH),
        lambda: torch.tensor(TRUTH),
        lambda: [1, 0, 0, 0, 0, 1, 0],
        lambda: [np.bool_(answer) for answer in TRUTH],
    ],
    "5.2": [
        says(2, 1, 0, 1, -2),
        lambda: (2.0, 1.0, 0.0, 1.0, -2.0),
        lambda: np.array([2, 1, 0, 1, -2]),
        xor_solved,
        lambda: [F.relu(torch.tensor(2.0)), torch.tensor(1.0), F.relu(torch.tensor(-1.0)), 1, -2],
    ],
    "5.3": [
        counted_by_torch,
        says(NETWORK, ATTENTION, 0.667, 2048),
        says(NETWORK, ATTENTION, 0.67, 2048),
        lambda: torch.tensor([NETWORK, ATTENTION, SHARE, 2048]),
        says(4722432, 2362368, 2 / 3, 2048.0),
        lambda: (2 * 768 * 3072 + 3840, 4 * 768 * 769, SHARE, 3072 * 2 // 3),
    ],
    "5.4": [
        network_torch,
        network_einsum,
        network_loops,
        network_in_place,
        network_modules,
        network_double,
        network_columns,
        network_with(lambda z: (z + z.abs()) / 2),
        network_unit_by_unit,
        lambda x, *rest: network_torch(x.reshape(-1, x.shape[-1]), *rest).reshape(x.shape),
        network_numpy,
    ],
    "5.5": [merge_by_probing, merge_joined, merge_einsum, merge_double, merge_from_the_right, merge_loops],
    "5.6": [
        convolution(),
        convolution(lambda x: x.permute(0, 2, 1), lambda h: torch.einsum("bdt->btd", h)),
        convolution(lambda x: torch.swapaxes(x, -1, -2).contiguous(), lambda h: h.movedim(1, 2)),
        network_torch,
        network_loops,
        lambda x, w1, b1, w2, b2: (
            F.conv2d(F.conv2d(x.mT[..., None], w1[..., None, None], b1).relu(), w2[..., None, None], b2)[
                ..., 0
            ].mT
        ),
    ],
    "5.7": [
        layer(),
        Sequence,
        OwnParameters,
        Convolutions,
        plainly(lambda z: F.gelu(z, approximate="tanh")),
        layer(lambda self, x: self.drop(self.b(self.drop(F.gelu(self.a(x)))))),
        layer(lambda self, x: torch.stack([self.drop(self.b(F.gelu(self.a(word)))) for word in x])),
        layer(keep=lambda layers: nn.Sequential(*layers)),
        layer(dropout_by_hand),
        Lazy,
        Stacked,
        OfTheLibrary,
        InDouble,
    ],
}

WRONG = {
    "5.1": [
        (but(1), "not-linear-in-the-values"),
        (but(2), "attention-taken-for-linear"),
        (but(3), "averages-can-grow"),
        (but(4), "two-linear-layers-are-more"),
        (but(5), "network-mixes-words"),
        (but(6), "dead-unit-learns"),
        (but(7), "linear-score-solves-parity"),
        (lambda: [True] * 7, "attention-taken-for-linear"),
        (lambda: (1, 1, 0, 0, 0, 1, 0), "attention-taken-for-linear"),
        (lambda: TRUTH[:6], "wrong-shape"),
    ],
    "5.2": [
        (says(2, 1, -1, 1, -2), "relu-forgotten"),
        (lambda: torch.tensor([2.0, 1, -1, 1, -2]), "relu-forgotten"),
        (says(2, 2, 0, 1, -1), "minus-one-forgotten"),
        (says(1, 2, 0, 1, -2), "units-swapped"),
        (says(1, 1, 0, 1, -1), "one-for-true"),
        (says(1, 0, 0, 1, -2), "one-for-true"),
        (says(2, 1, 1, 1, -2), "unit-wrong"),
        (says(0, 0, 0, 1, -2), "unit-wrong"),
        (says(2, 1, 0, 1, -3), "too-much-taken-away"),
        (says(2, 1, 0, 1), "wrong-shape"),
        (says(2, 1, 0, 1, -1), "or-for-xor"),
        (says(2, 1, 0, 0, 1), "and-for-xor"),
        (says(2, 1, 0, 1, 0), "sum-for-xor"),
        (says(2, 1, 0, 1, 2), "sign-of-the-second-weight"),
        (says(2, 1, 0, -2, 1), "weights-swapped"),
        (says(2, 1, 0, -1, 2), "signs-turned"),
        (says(2, 1, 0, 0, 0), "always-zero"),
        (says(2, 1, 0, 0.5, -1), "too-much-or-too-little"),
        (lambda: np.array([2, 1, 0, 2, -4]), "too-much-or-too-little"),
        (says(2, 1, 0, 3, 5), "wrong-values"),
        (says(2, 1), "wrong-shape"),
    ],
    "5.3": [
        (says(4_718_592, ATTENTION, SHARE, 2048), "biases-forgotten"),
        (says(NETWORK, 4 * 768 * 768, SHARE, 2048), "biases-forgotten"),
        (says(768 * 3072 + 3072, ATTENTION, 0.5, 2048), "one-matrix-only"),
        (says(768 * 3072, ATTENTION, 0.5, 2048), "one-matrix-only"),
        (says(2 * (768 * 3072 + 3072), ATTENTION, SHARE, 2048), "biases-of-one-size"),
        (says(2 * 768 * 3072 + 3072, ATTENTION, SHARE, 2048), "one-bias-only"),
        (says(2 * 768 * 3072 + 768, ATTENTION, SHARE, 2048), "one-bias-only"),
        (says(NETWORK, 4 * 768 * 768 + 768, SHARE, 2048), "one-bias-for-all"),
        (says(NETWORK, 768 * 768 + 768, SHARE, 2048), "one-part-of-attention"),
        (says(NETWORK, 4 * (768 * 64 + 64), SHARE, 2048), "one-part-of-attention"),
        (says(4_700_000, 2_360_000, 0.67, 2048), "rounded"),
        (says(2 * (768 * 768 + 768), ATTENTION, 1 / 3, 2048), "hidden-width-as-d-model"),
        (says(NETWORK, 3 * (768 * 768 + 768), SHARE, 2048), "output-matrix-forgotten"),
        (says(NETWORK, 12 * ATTENTION, 0.14, 2048), "times-the-heads"),
        (says(NETWORK, ATTENTION, 1.999, 2048), "ratio-for-share"),
        (says(NETWORK, ATTENTION, 1 / 3, 2048), "share-of-attention"),
        (says(NETWORK, ATTENTION, 0.5, 2048), "share-of-attention"),
        (says(NETWORK, ATTENTION, 66.66, 2048), "share-in-percent"),
        (says(NETWORK, ATTENTION, SHARE, 3072), "gated-width-unchanged"),
        (says(NETWORK, ATTENTION, SHARE, 4608), "gated-width-upside-down"),
        (says(NETWORK, ATTENTION, SHARE, 1024), "gated-width-divided-by-three"),
        (says(NETWORK, ATTENTION, SHARE, 1536), "gated-width-halved"),
        (says(NETWORK, ATTENTION, SHARE, 8 / 3), "gated-factor-for-width"),
        (lambda: (NETWORK, ATTENTION, SHARE, 2.67), "gated-factor-for-width"),
        (says(NETWORK, ATTENTION, SHARE, 2000), "wrong-values"),
    ],
    "5.4": [
        (lambda x, w1, b1, w2, b2: F.relu(F.linear(x, w1, b1)), "hidden-returned"),
        (network_with(lambda z: z.softmax(1)), "words-mix"),
        (network_with(before=lambda x: x - x.mean(1, keepdim=True)), "words-mix"),
        (network_with(before=lambda x: F.layer_norm(x, x.shape[1:])), "words-mix"),
        (network_with(before=lambda x: cut(x).mT), "words-mix"),
        (network_with(before=lambda x: x.roll(1, 0)), "words-mix"),
        (lambda x, w1, b1, w2, b2: x @ w1.T + b1, "hidden-returned"),
        (lambda x, w1, b1, w2, b2: torch.max(x @ w1.T + b1, 0) @ w2.T + b2, "max-along-an-axis"),
        (lambda x, w1, b1, w2, b2: max(x @ w1.T + b1, 0) @ w2.T + b2, "error"),
        (network_with(same), "no-non-linearity"),
        (lambda x, w1, b1, w2, b2: F.linear(F.linear(x, w1, b1), w2, b2), "no-non-linearity"),
        (lambda x, w1, b1, w2, b2: F.linear(x @ w1.T, w2, b2), "no-non-linearity"),
        (lambda x, w1, b1, w2, b2: x @ w1.T @ w2.T, "no-non-linearity"),
        (
            lambda x, w1, b1, w2, b2: F.relu(F.linear(F.linear(x, w1, b1), w2)) + b2,
            "activation-after-second-layer",
        ),
        (lambda x, w1, b1, w2, b2: F.relu(x @ w2 + b1) @ w1 + b2, "first-layer-with-second-matrix"),
        (lambda x, w1, b1, w2, b2: F.relu(x @ w1.view(w1.mT.shape) + b1) @ w2.T + b2, "matrix-reshaped"),
        (
            lambda x, w1, b1, w2, b2: F.relu(x @ w1.view(w1.mT.shape) + b1) @ w2.view(w2.mT.shape) + b2,
            "matrix-reshaped",
        ),
        (network_with(before=lambda x: F.layer_norm(x, x.shape[-1:])), "norm-included"),
        (network_with(after=lambda y: F.layer_norm(y, y.shape[-1:])), "norm-included"),
        (network_with(lambda z: F.dropout(F.relu(z), 0.5)), "random-result"),
        (network_with(lambda z: F.leaky_relu(z, 0.3)), "another-activation"),
        (network_with(lambda z: z * torch.sigmoid(1.702 * z)), "another-activation"),
        (network_with(lambda z: F.gelu(z).relu()), "another-activation"),
        (lambda x, w1, b1, w2, b2: x @ (w2 @ w1).T + w2 @ b1 + b2, "no-non-linearity"),
        (network_with(same, after=torch.relu), "activation-after-second-layer"),
        (network_with(same, after=lambda y: y.clamp_min(0)), "activation-after-second-layer"),
        (network_with(after=torch.relu), "activation-twice"),
        (network_with(same, before=torch.relu), "activation-before-first-layer"),
        (network_with(before=torch.relu), "activation-before-first-layer"),
        (lambda x, w1, b1, w2, b2: (torch.relu(x @ w1.T) + b1) @ w2.T + b2, "bias-after-activation"),
        (lambda x, w1, b1, w2, b2: torch.relu(x @ w1.T) @ w2.T + b2, "first-bias-missing"),
        (lambda x, w1, b1, w2, b2: F.linear(F.relu(F.linear(x, w1, b1)), w2), "second-bias-missing"),
        (lambda x, w1, b1, w2, b2: F.relu(x @ w1.T) @ w2.T, "both-biases-missing"),
        (lambda x, w1, b1, w2, b2: network_torch(x, w1, -b1, w2, b2), "bias-subtracted"),
        (network_with(F.gelu), "gelu-for-relu"),
        (network_with(lambda z: F.gelu(z, approximate="tanh")), "gelu-for-relu"),
        (network_with(lambda z: z.clamp(max=0)), "relu-upside-down"),
        (network_with(lambda z: torch.minimum(z, torch.tensor(0.0))), "relu-upside-down"),
        (network_with(torch.sigmoid), "another-activation"),
        (network_with(leaky), "another-activation"),
        (network_with(lambda z: z / (1 + torch.exp(-z))), "another-activation"),
        (network_with(lambda z: z.softmax(-1)), "another-activation"),
        (lambda x, *rest: x + network_torch(x, *rest), "residual-added"),
        (lambda x, w1, b1, w2, b2: torch.relu(x @ w1 + b1) @ w2 + b2, "shapes-do-not-fit"),
        (lambda x, w1, b1, w2, b2: w2 @ torch.relu(w1 @ x + b1) + b2, "shapes-do-not-fit"),
        (lambda *args: 1.5 * network_torch(*args), "wrong-values"),
    ],
    "5.5": [
        (lambda *args: merge_einsum(*args)[::-1], "pair-swapped"),
        (lambda w1, b1, w2, b2: (b2, w2 @ w1), "pair-swapped"),
        (lambda w1, b1, w2, b2: w2 @ w1, "matrix-only"),
        (lambda w1, b1, w2, b2: (torch.relu(w2 @ w1), torch.relu(w2 @ b1 + b2)), "activation-inside"),
        (lambda w1, b1, w2, b2: (w2 @ w1, b1.mean() + b2), "bias-not-through-the-matrix"),
        (lambda w1, b1, w2, b2: (w2 @ w1, w2 @ (b1 + b2)), "shapes-do-not-fit"),
        (lambda w1, b1, w2, b2: (w2 @ w1, (w2 @ b1 + b2)[:, None]), "wrong-shape"),
        (lambda w1, b1, w2, b2: (w1.T @ w2.T, w2 @ b1 + b2), "matrix-transposed"),
        (lambda w1, b1, w2, b2: (w1 @ w2, w1 @ b2 + b1), "shapes-do-not-fit"),
        (lambda w1, b1, w2, b2: (w2 @ w1, b1 + b2), "shapes-do-not-fit"),
        (lambda w1, b1, w2, b2: (w2 @ w1, b2), "first-bias-lost"),
        (lambda w1, b1, w2, b2: (w2 @ w1, w2 @ b1), "second-bias-lost"),
        (lambda w1, b1, w2, b2: (w2 @ w1, torch.zeros(len(b2))), "no-bias"),
        (lambda w1, b1, w2, b2: (w2 @ w1, b1.sum() + b2), "bias-not-through-the-matrix"),
        (lambda w1, b1, w2, b2: (w2 @ w1, w2 @ b1 - b2), "bias-subtracted"),
        (lambda w1, b1, w2, b2: (w2 @ w1, b2 - w2 @ b1), "bias-subtracted"),
        (lambda w1, b1, w2, b2: (w2 @ w1, w2 @ b1 + w2.sum(1) * b2), "second-bias-through-the-matrix"),
        (lambda w1, b1, w2, b2: (w2 @ torch.relu(w1), w2 @ torch.relu(b1) + b2), "activation-inside"),
        (lambda w1, b1, w2, b2: (w2 @ w1, w2 @ b1.clamp_min(0) + b2), "activation-inside"),
        (merge_in_place, "argument-changed"),
        (lambda w1, b1, w2, b2: (2 * w2 @ w1, w2 @ b1 + b2), "wrong-values"),
    ],
    "5.6": [
        (unmended, "all-bugs-left"),
        (convolution(cut, cut, same, F.relu), "all-bugs-left"),
        (convolution(back=same), "not-swapped-back"),
        (convolution(back=same, between=same, after=torch.relu), "not-swapped-back"),
        (convolution(same, same), "not-swapped-on-the-way-in"),
        (convolution(lambda x: x.transpose(0, 2)), "not-swapped-on-the-way-in"),
        (convolution(cut), "reshaped-on-the-way-in"),
        (convolution(lambda x: x.contiguous().view(len(x), x.shape[2], -1)), "reshaped-on-the-way-in"),
        (convolution(cut, between=same, after=torch.relu), "reshaped-on-the-way-in"),
        (convolution(back=cut), "reshaped-on-the-way-back"),
        (convolution(back=cut, between=same, after=torch.relu), "reshaped-on-the-way-back"),
        (convolution(cut, cut), "words-mix"),
        (convolution(cut, cut, same), "words-mix"),
        (convolution(between=lambda h: h.softmax(-1)), "words-mix"),
        (convolution(between=same), "no-non-linearity"),
        (convolution(between=same, after=torch.relu), "activation-after-second-layer"),
        (convolution(after=torch.relu), "activation-twice"),
        (convolution(lambda x: torch.relu(x.mT), between=same), "activation-before-first-layer"),
        (convolution(between=F.gelu), "wrong-values"),
    ],
    "5.7": [
        (layer(keep=list), "parameters-hidden"),
        (Tensors, "parameters-hidden"),
        (Tied, "weights-shared"),
        (Gated, "gated"),
        (GatedWithBiases, "gated"),
        (Normed, "norm-included"),
        (ThirdLayer, "extra-parameters"),
        (WithoutSuper, "super-forgotten"),
        (ForwardMisspelled, "forward-missing"),
        (GeluWithoutParentheses, "class-for-a-layer"),
        (NoModule, "not-a-module"),
        (layer(width=lambda D, F: D), "another-width"),
        (layer(width=lambda D, F: 8 * D), "another-width"),
        (layer(lambda self, x: F.gelu(self.a(x))), "hidden-returned"),
        (layer(lambda self, x: (self.drop(self.b(F.gelu(self.a(x)))), None)), "wrong-type"),
        (layer(lambda self, x: None), "returned-none"),
        (layer(lambda self, x: nn.Dropout(self.p)(self.b(F.gelu(self.a(x))))), "dropout-at-evaluation"),
        (layer(lambda self, x: self.b(F.gelu(self.a(self.drop(x))))), "dropout-in-another-place"),
        (layer(lambda self, x: self.b(F.gelu(self.drop(self.a(x))))), "dropout-in-another-place"),
        (layer(dropout_unscaled), "dropout-in-another-place"),
        (TiedButTwo, "nothing-learns"),
        (Frozen, "nothing-learns"),
        (WithoutGradient, "nothing-learns"),
        (layer(lambda self, x: self.drop(self.b(F.gelu(self.a(x)).detach()))), "nothing-learns"),
        (
            layer(lambda self, x: F.layer_norm(self.drop(self.b(F.gelu(self.a(x)))), x.shape[-1:])),
            "norm-included",
        ),
        (layer(biases=(False, False)), "bias-missing"),
        (layer(biases=(False, True)), "bias-missing"),
        (layer(biases=(True, False)), "bias-missing"),
        (layer(width=lambda D, F: 4 * D), "width-ignored"),
        (layer(width=lambda D, F: F or D), "default-width"),
        (layer(width=lambda D, F: F or 2 * D), "default-width"),
        (layer(lambda self, x: self.b(F.dropout(F.gelu(self.a(x)), self.p))), "dropout-at-evaluation"),
        (layer(lambda self, x: F.dropout(self.b(F.gelu(self.a(x))), self.p, True)), "dropout-at-evaluation"),
        (plainly(lambda z: F.gelu(z).softmax(1)), "words-mix"),
        (plainly(lambda z: F.gelu(z - z.mean((0, 1)))), "words-mix"),
        (plainly(same), "no-non-linearity"),
        (layer(lambda self, x: self.drop(F.gelu(self.b(self.a(x))))), "activation-after-second-layer"),
        (layer(lambda self, x: self.drop(F.gelu(self.b(F.gelu(self.a(x)))))), "activation-twice"),
        (layer(lambda self, x: self.drop(self.b(self.a(F.gelu(x))))), "activation-before-first-layer"),
        (
            layer(lambda self, x: self.b(self.drop(F.gelu(self.a(F.gelu(x)))))),
            "activation-before-first-layer",
        ),
        (plainly(torch.relu), "relu-for-gelu"),
        (plainly(lambda z: z * torch.sigmoid(1.702 * z)), "rough-gelu"),
        (plainly(F.silu), "another-activation"),
        (plainly(torch.distributions.Normal(0, 1).cdf), "another-activation"),
        (layer(lambda self, x: x + self.drop(self.b(F.gelu(self.a(x))))), "residual-added"),
        (
            layer(
                lambda self, x: (
                    self.drop(self.b(F.gelu(self.a(x)))) if self.training else 0.5 * self.b(F.gelu(self.a(x)))
                )
            ),
            "scaled-at-evaluation",
        ),
        (layer(lambda self, x: self.b(F.gelu(self.a(x)))), "no-dropout"),
        (layer(lambda self, x: self.b(F.dropout(F.gelu(self.a(x)), 0.1, self.training))), "default-dropout"),
        (DropsAlways, "default-dropout"),
        (layer(lambda self, x: self.a(x)), "hidden-returned"),
        (layer(lambda self, x: self.b(F.gelu(self.a(x))).mean(-1)), "wrong-shape"),
    ],
}
