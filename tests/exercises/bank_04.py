"""Right and wrong answers to the exercises of chapter 4, in many spellings. `test_bank.py` runs them."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


def says(*answer):
    """An answer on paper."""
    return lambda: list(answer)


# ------------------------------------------------------------------ 4.1 predict

HOLDS = [True, True, False, False, True, False]


def flipped(*numbers):
    return says(*(answer != (n in numbers) for n, answer in enumerate(HOLDS, 1)))


def holds_by_experiment():
    generator = torch.Generator().manual_seed(0)
    W = torch.randn(2, 3, 5, 5, generator=generator)
    words = torch.randn(4, 5, generator=generator)
    p = torch.randn(5, generator=generator)

    def layer(x, n, mask):
        q, k, v = (x @ w.T for w in W[n])
        scores = (q @ k.T).masked_fill(~mask, -math.inf) if mask is not None else q @ k.T
        return scores.softmax(-1) @ v

    one, other = words[:3], words[:3].flip(0)
    causal = torch.ones(3, 3, dtype=torch.bool).tril()
    wide = torch.ones(4, 4, dtype=torch.bool).tril()
    swapped = words[[1, 0, 2, 3]]

    def deep(x, mask=None):
        return layer(layer(x, 0, mask).tanh(), 1, mask)

    def same(a, b):
        return torch.allclose(a, b, atol=1e-5)

    return [
        same(layer(one, 0, None).flip(0), layer(other, 0, None)),
        same(deep(one).mean(0), deep(other).mean(0)),
        not same(layer(one + p, 0, None).flip(0), layer(other + p, 0, None)),
        same(layer(one, 0, causal)[0], layer(other, 0, causal)[2]),
        same(layer(words, 0, wide)[3], layer(swapped, 0, wide)[3]),
        same(deep(words, wide)[3], deep(swapped, wide)[3]),
    ]


# ------------------------------------------------------------------ 4.2 work out


def waves_in_numpy():
    theta = 10000 ** (-np.arange(0, 8, 2) / 8)
    angle = np.arcsin(0.6) + np.arcsin(0.8)
    return np.array([2 * np.pi / theta[0], 2 * np.pi / theta[3], np.sin(angle), np.cos(angle)])


def waves_in_torch():
    waves = 2 * math.pi / 10000.0 ** (-torch.arange(4) * 2 / 8)
    turn = torch.tensor([[0.6, 0.8], [-0.8, 0.6]]) @ torch.tensor([0.6, 0.8])
    return torch.cat([waves[[0, 3]], turn])


FIRST, LAST = 2 * math.pi, 2000 * math.pi

# ------------------------------------------------------------------ 4.3 the table


def even_only(table):
    """The same with the test of the width."""

    def sinusoids(T, D):
        if D % 2 == 1:
            raise ValueError("D must be even")
        return table(T, D)

    return sinusoids


def table_tutorial(T, D):
    pe = torch.zeros(T, D)
    position = torch.arange(T).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, D, 2) * (-math.log(10000.0) / D))
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe


def table_loops(T, D):
    assert D % 2 == 0 or T < 0 or not (_ for _ in ()).throw(ValueError("odd width"))
    rows = []
    for pos in range(T):
        row = []
        for i in range(D // 2):
            angle = pos / 10000 ** (2 * i / D)
            row += [math.sin(angle), math.cos(angle)]
        rows.append(row)
    return torch.tensor(rows)


def table_numpy(T, D):
    columns = np.arange(D)
    angles = np.arange(T)[:, None] / np.power(10000, 2 * (columns // 2) / D)
    return torch.from_numpy(np.where(columns % 2 == 0, np.sin(angles), np.cos(angles)))


def table_phase(T, D):
    columns = torch.arange(D)
    theta = 10000.0 ** -(2 * (columns // 2) / D)
    return torch.sin(torch.outer(torch.arange(T).double(), theta.double()) + (columns % 2) * math.pi / 2)


def table_complex(T, D):
    theta = torch.pow(10000, -2 * torch.arange(D // 2) / D)
    z = torch.polar(torch.ones(T, D // 2), torch.outer(torch.arange(T), theta))
    return torch.view_as_real(z)[..., [1, 0]].reshape(T, D)


def table_turning(T, D):
    """Row after row, by turning the row before."""
    theta = 10000 ** (-torch.arange(0, D, 2, dtype=torch.float64) / D)
    sine, cosine = torch.zeros(D // 2).double(), torch.ones(D // 2).double()
    rows = []
    for _ in range(T):
        rows.append(torch.stack([sine, cosine], -1).flatten())
        sine, cosine = (
            sine * theta.cos() + cosine * theta.sin(),
            cosine * theta.cos() - sine * theta.sin(),
        )
    return torch.stack(rows)


def table_rows(T, D):
    def pair(pos, i):
        angle = pos / 10000 ** (2 * i / D)
        return torch.tensor([math.sin(angle), math.cos(angle)])

    return torch.stack([torch.cat([pair(pos, i) for i in range(D // 2)]) for pos in range(T)])


def table(divisor=lambda i, D: 10000 ** (2 * i / D), make=None, first=0):
    """From scratch with one thing changed; i counts pairs."""

    def paper(angles):
        out = torch.zeros(len(angles), 2 * angles.shape[1])
        out[:, 0::2], out[:, 1::2] = angles.sin(), angles.cos()
        return out

    def sinusoids(T, D):
        angles = torch.arange(first, first + T)[:, None] / divisor(torch.arange(D // 2), D)
        return (make or paper)(angles)

    return even_only(sinusoids)


@even_only
def table_of_integers(T, D):
    out = torch.zeros_like(torch.arange(T * D).reshape(T, D))
    angles = torch.arange(T)[:, None] / 10000 ** (torch.arange(0, D, 2) / D)
    out[:, 0::2], out[:, 1::2] = angles.sin(), angles.cos()
    return out


@even_only
def table_one_row(T, D):
    pe = torch.zeros(T, D)
    theta = 10000 ** (-torch.arange(0, D, 2) / D)
    pe[:, 0::2], pe[:, 1::2] = theta.sin(), theta.cos()
    return pe


@even_only
def table_last_position(T, D):
    pe = torch.zeros(T, D)
    for pos in range(T):  # the whole table at every step
        angles = pos * 10000 ** (-torch.arange(0, D, 2) / D)
        pe[:, 0::2], pe[:, 1::2] = angles.sin(), angles.cos()
    return pe


@even_only
def table_only_sines_written(T, D):
    pe = torch.zeros(T, D)
    pe[:, 0::2] = (torch.arange(T)[:, None] * 10000 ** (-torch.arange(0, D, 2) / D)).sin()
    return pe


@even_only
def table_by_columns(T, D):
    out = torch.zeros(T, D)
    for column in range(D):
        angles = torch.arange(T) / 10000 ** (column / D)
        out[:, column] = angles.sin() if column % 2 == 0 else angles.cos()
    return out


@even_only
def table_by_columns_doubled(T, D):
    out = torch.zeros(T, D)
    for pos in range(T):
        for i in range(0, D, 2):  # a well-known tutorial
            out[pos, i] = math.sin(pos / (10000 ** ((2 * i) / D)))
            out[pos, i + 1] = math.cos(pos / (10000 ** ((2 * (i + 1)) / D)))
    return out


@even_only
def table_integer_powers(T, D):
    angles = torch.arange(T)[:, None] * 10000 ** (-torch.arange(0, D, 2) // D)
    return torch.stack([angles.sin(), angles.cos()], -1).reshape(T, D)


def refusing_integer_powers(*args):
    """What older versions of PyTorch do."""
    raise RuntimeError("Integers to negative integer powers are not allowed.")


def table_refusing_by_assert(T, D):
    assert D % 2 == 0, "even widths only"
    return table_tutorial(T, D)


def table_odd_too(T, D):
    return table_tutorial(T, D + D % 2)[:, :D]


# ------------------------------------------------------------------ 4.4 the module


def module(add=None, keep="buffer", check=True):
    """A class with one thing changed: how rows are added, the table kept, the end tested."""

    def rows(self, x, start):
        return x + self.table[start : start + x.shape[1]]

    class AddPositions(nn.Module):
        def __init__(self, table):
            super().__init__()
            if keep == "buffer":
                self.register_buffer("table", table)
            elif keep == "parameter":
                self.table = nn.Parameter(table)
            elif keep == "frozen":
                self.table = nn.Parameter(table, requires_grad=False)
            else:
                self.table = table.clone()

        def forward(self, x, start=0):
            if check and start + x.size(1) > len(self.table):
                raise ValueError("the text is longer than the table")
            return (add or rows)(self, x, start)

    return AddPositions


class WithEmbedding(nn.Module):
    def __init__(self, table):
        super().__init__()
        self.positions = nn.Embedding.from_pretrained(table)

    def forward(self, x, start=0):
        T = x.shape[1]
        if start + T > self.positions.num_embeddings:
            raise ValueError(f"{start + T} positions, but only {self.positions.num_embeddings} rows")
        places = torch.arange(start, start + T, device=x.device)
        return x + self.positions(places)[None]


class WithLoops(nn.Module):
    def __init__(self, table: torch.Tensor):
        nn.Module.__init__(self)
        self.register_buffer("rows", table.clone(), persistent=True)

    def forward(self, x: torch.Tensor, start: int = 0) -> torch.Tensor:
        out = torch.empty_like(x)
        for t in range(x.shape[1]):
            if start + t >= self.rows.shape[0]:
                raise ValueError("past the end")
            for b in range(x.shape[0]):
                out[b, t] = x[b, t] + self.rows[start + t]
        return out


class MovedAtEveryCall(nn.Module):
    def __init__(self, table):
        super().__init__()
        self.table = table

    def forward(self, x, start=0):
        if start + x.shape[1] > self.table.shape[0]:
            raise ValueError("too long")
        return x + self.table[start : start + x.shape[1]].to(x.device)


class WithBatchAxis(nn.Module):
    def __init__(self, table):
        super().__init__()
        self.register_buffer("pe", table.unsqueeze(0))

    def forward(self, x, start=0):
        end = start + x.size(1)
        if end > self.pe.size(1):
            raise ValueError(f"{end} > {self.pe.size(1)}")
        return x + self.pe[:, start:end, :].expand(x.size(0), -1, -1)


class InFloat64(nn.Module):
    def __init__(self, table):
        super().__init__()
        self.register_buffer("table", table.double(), persistent=False)

    def forward(self, x, start=0):
        rows = self.table[start : start + x.shape[1]]
        if len(rows) < x.shape[1]:
            raise ValueError(f"only {len(rows)} rows are left for {x.shape[1]} words")
        return x + rows


class CountsAlong(nn.Module):
    """Remembers where the last text ended."""

    def __init__(self, table):
        super().__init__()
        self.register_buffer("table", table)
        self.seen = 0

    def forward(self, x, start=0):
        first = start or self.seen
        if first + x.shape[1] > len(self.table):
            raise ValueError("too long")
        self.seen += x.shape[1]
        return x + self.table[first : first + x.shape[1]]


class NoSuperAndAttribute(nn.Module):
    def __init__(self, table):
        self.table = table

    def forward(self, x, start=0):
        return x + self.table[start : start + x.shape[1]]


class WithLinear(nn.Module):
    def __init__(self, table):
        super().__init__()
        self.register_buffer("table", table)
        self.project = nn.Linear(table.shape[1], table.shape[1])
        nn.init.constant_(self.project.weight, 0.5)
        nn.init.zeros_(self.project.bias)

    def forward(self, x, start=0):
        return self.project(x + self.table[start : start + x.shape[1]])


class NoModule:
    def __init__(self, table):
        self.table = table

    def __call__(self, x, start=0):
        return x + self.table[start : start + x.shape[1]]


class NoSuper(nn.Module):
    def __init__(self, table):
        self.register_buffer("table", table)

    def forward(self, x, start=0):
        return x + self.table[start : start + x.shape[1]]


class NoSuperAndParameter(nn.Module):
    def __init__(self, table):
        self.table = nn.Parameter(table)

    def forward(self, x, start=0):
        return x + self.table[start : start + x.shape[1]]


class IndexTakenRound(nn.Module):
    def __init__(self, table):
        super().__init__()
        self.register_buffer("table", table)

    def forward(self, x, start=0):
        return x + self.table[torch.arange(start, start + x.shape[1]) % len(self.table)]


class CheckedTooEarly(nn.Module):
    def __init__(self, table):
        super().__init__()
        self.register_buffer("table", table)

    def forward(self, x, start=0):
        if start + x.shape[1] >= len(self.table):
            raise ValueError("too long")
        return x + self.table[start : start + x.shape[1]]


# ------------------------------------------------------------------ 4.5 and 4.6 rotations


def thetas(K):
    return 10000.0 ** (-torch.arange(0, K, 2) / K)


def rotate_complex(x, positions):
    z = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2).contiguous())
    turn = torch.polar(
        torch.ones(len(positions), x.shape[-1] // 2), torch.outer(positions, thetas(x.shape[-1]))
    )
    return torch.view_as_real(z * turn).flatten(-2)


def rotate_matrices(x, positions):
    angles = positions.double()[:, None] * thetas(x.shape[-1]).double()
    c, s = angles.cos(), angles.sin()
    R = torch.stack([torch.stack([c, -s], -1), torch.stack([s, c], -1)], -2)  # (T, K/2, 2, 2)
    return torch.einsum("tnij,bhtnj->bhtni", R, x.double().unflatten(-1, (-1, 2))).flatten(-2)


def rotate_loops(x, positions):
    out = x.clone()
    for t, m in enumerate(positions.tolist()):
        for i in range(x.shape[-1] // 2):
            a = m * 10000 ** (-2 * i / x.shape[-1])
            out[:, :, t, 2 * i] = x[:, :, t, 2 * i] * math.cos(a) - x[:, :, t, 2 * i + 1] * math.sin(a)
            out[:, :, t, 2 * i + 1] = x[:, :, t, 2 * i] * math.sin(a) + x[:, :, t, 2 * i + 1] * math.cos(a)
    return out


def rotate_repeated(x, positions):
    angles = torch.repeat_interleave(positions[:, None] * thetas(x.shape[-1]), 2, dim=-1)
    other = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).reshape(x.shape)
    return x * angles.cos() + other * angles.sin()


def rotate_in_place(x, positions):
    angles = (positions[:, None] / 10000 ** (torch.arange(0, x.shape[-1], 2) / x.shape[-1]))[None, None]
    out = torch.empty_like(x)
    out[..., ::2] = x[..., ::2] * angles.cos() - x[..., 1::2] * angles.sin()
    out[..., 1::2] = x[..., 1::2] * angles.cos() + x[..., ::2] * angles.sin()
    return out


def rotate_numpy(x, positions):
    x, K = x.numpy(), x.shape[-1]
    angles = positions.numpy()[:, None] / 10000 ** (np.arange(0, K, 2) / K)
    out = np.empty_like(x)
    out[..., ::2] = x[..., ::2] * np.cos(angles) - x[..., 1::2] * np.sin(angles)
    out[..., 1::2] = x[..., ::2] * np.sin(angles) + x[..., 1::2] * np.cos(angles)
    return torch.from_numpy(out)


def woven(one, other):
    return torch.stack([one, other], -1).flatten(-2)


def rotate_by(formula, theta=thetas, places=lambda positions, x: positions):
    """From scratch with one thing changed: formula(even, odd, cos, sin) gives the result."""

    def rotate(x, positions):
        angles = places(positions, x)[:, None] * theta(x.shape[-1])
        return formula(x[..., 0::2], x[..., 1::2], angles.cos(), angles.sin())

    return rotate


def right(e, o, c, s):
    return woven(e * c - o * s, e * s + o * c)


def half_turn(x, minus=-1):
    first, second = x.chunk(2, -1)
    return torch.cat([minus * second, first], -1)


def neighbour_turn(x):
    return woven(-x[..., 1::2], x[..., 0::2])


def with_full_angles(spread, other, back=1):
    """x cos + other sin with angles spread over all entries."""

    def rotate(x, positions):
        angles = spread(back * positions[:, None] * thetas(x.shape[-1]))
        return x * angles.cos() + other(x) * angles.sin()

    return rotate


def weave(angles):
    return angles.repeat_interleave(2, -1)


def split(angles):
    return torch.cat([angles, angles], -1)


def turned_along(axis):
    def rotate(x, positions):
        angles = positions[:, None] * thetas(x.shape[-1])
        shape = [1, 1, 1, x.shape[-1] // 2]
        shape[axis] = len(positions)
        angles = angles.reshape(shape)
        return right(x[..., 0::2], x[..., 1::2], angles.cos(), angles.sin())

    return rotate


def overwriting(x, positions):
    angles = positions[:, None] * thetas(x.shape[-1])
    out = x.clone()
    out[..., 0::2] = out[..., 0::2] * angles.cos() - out[..., 1::2] * angles.sin()
    out[..., 1::2] = out[..., 0::2] * angles.sin() + out[..., 1::2] * angles.cos()
    return out


def overwriting_the_argument(x, positions):
    x[..., :] = rotate_complex(x, positions)
    return x


def added(x, positions):
    angles = positions[:, None] * thetas(x.shape[-1])
    return x + woven(angles.sin(), angles.cos())


def halves_by_index(x, positions):
    order = [*range(0, x.shape[-1], 2), *range(1, x.shape[-1], 2)]
    woven_x = torch.empty_like(x)
    woven_x[..., order] = x
    return rotate_complex(woven_x, positions)[..., order]


def halves_by_parts(x, positions):
    angles = positions[:, None].double() * thetas(x.shape[-1]).double()
    first, second = x.double().chunk(2, -1)
    return torch.cat(
        [first * angles.cos() - second * angles.sin(), second * angles.cos() + first * angles.sin()], -1
    )


def halves_rolled(x, positions):
    half = x.shape[-1] // 2
    signs = torch.ones(2 * half)
    signs[:half] = -1
    angles = (positions[:, None] * thetas(2 * half)).tile(1, 2)
    return x * angles.cos() + x.roll(half, -1) * signs * angles.sin()


def halves_loops(x, positions):
    half, out = x.shape[-1] // 2, torch.zeros_like(x)
    for t, m in enumerate(positions.tolist()):
        for i in range(half):
            a = m * 10000 ** (-i / half)
            out[..., t, i] = x[..., t, i] * math.cos(a) - x[..., t, i + half] * math.sin(a)
            out[..., t, i + half] = x[..., t, i + half] * math.cos(a) + x[..., t, i] * math.sin(a)
    return out


def halves_complex(x, positions):
    z = torch.complex(*x.chunk(2, -1)) * torch.exp(1j * positions[:, None] * thetas(x.shape[-1]))
    return torch.cat([z.real, z.imag], -1)


def halves_sines_first(x, positions):
    angles = split(positions[:, None] * thetas(x.shape[-1]))
    return x * angles.sin() + half_turn(x) * angles.cos()


def halves_with(theta):
    def rotate(x, positions):
        angles = split(positions[:, None] * theta(x.shape[-1]))
        return x * angles.cos() + half_turn(x) * angles.sin()

    return rotate


RIGHT = {
    "4.1": [
        holds_by_experiment,
        lambda: (True, True, False, False, True, False),
        lambda: torch.tensor(HOLDS),
        says(1, 1, 0, 0, 1, 0),
    ],
    "4.2": [
        waves_in_numpy,
        waves_in_torch,
        says(6.28, 6283, 1, 0),
        lambda: (2 * math.pi, 2 * math.pi * 1e3, 1.0, 0.0),
        says(6.3, 6280, 1, 0),
        lambda: [torch.tensor(2 * math.pi), 2 * np.pi * 10000 ** (6 / 8), 0.36 + 0.64, 0.0],
    ],
    "4.3": [
        even_only(table_tutorial),
        table_loops,
        even_only(table_numpy),
        even_only(table_phase),
        even_only(table_complex),
        even_only(table_turning),
        table(),
        even_only(table_rows),
        even_only(lambda T, D: table_tutorial(T, D).double()),
    ],
    "4.4": [
        module(),
        module(keep="frozen"),
        WithEmbedding,
        WithLoops,
        MovedAtEveryCall,
        WithBatchAxis,
        module(lambda self, x, start: torch.stack([s + self.table[start : start + len(s)] for s in x])),
        module(lambda self, x, start: x + self.table.narrow(0, start, x.shape[-2])),
        module(lambda self, x, start: x + self.table.index_select(0, torch.arange(x.shape[1]) + start)),
        InFloat64,
    ],
    "4.5": [
        rotate_complex,
        rotate_matrices,
        rotate_loops,
        rotate_repeated,
        rotate_in_place,
        rotate_by(right),
        lambda x, positions: rotate_repeated(x.double(), positions.double()),
        rotate_numpy,
    ],
    "4.6": [
        lambda x, positions: halves_by_parts(x, positions).float(),
        halves_rolled,
        halves_by_index,
        halves_by_parts,
        halves_loops,
        halves_complex,
        with_full_angles(split, half_turn),
        with_full_angles(lambda a: a.repeat(1, 2), half_turn),
        with_full_angles(
            split, lambda x: torch.cat([-x[..., x.shape[-1] // 2 :], x[..., : x.shape[-1] // 2]], -1)
        ),
    ],
}

WRONG = {
    "4.1": [
        (flipped(1), "order-seen-by-attention"),
        (flipped(2), "order-seen-by-depth"),
        (flipped(3), "same-vector-tells-places"),
        (flipped(4), "mask-changes-nothing"),
        (flipped(5), "last-word-sees-order"),
        (flipped(6), "mask-and-depth-change-nothing"),
        (flipped(4, 6), "mask-changes-nothing"),
        (lambda: [True] * 6, "same-vector-tells-places"),
        (lambda: [False] * 6, "order-seen-by-attention"),
        (lambda: torch.tensor(flipped(5)()), "last-word-sees-order"),
        (says(True, True), "wrong-shape"),
    ],
    "4.2": [
        (says(360, 360000, 1, 0), "in-degrees"),
        (says(LAST, FIRST, 1, 0), "fast-and-slow-exchanged"),
        (says(8, LAST, 1, 0), "first-wavelength-wrong"),
        (says(FIRST, 1000, 1, 0), "last-wavelength-wrong"),
        (says(FIRST, LAST, 0.8, 0.6), "sine-wrong"),
        (says(FIRST, LAST, 1, 0.6), "cosine-wrong"),
        (lambda: np.array([FIRST, LAST, 0.3, 0.3]), "sine-wrong"),
        (says(10 * FIRST, 10 * LAST, 1, 0), "pairs-counted-from-one"),
        (says(FIRST, 62832, 1, 0), "last-wave-at-the-base"),
        (says(FIRST, 2 * math.pi * 10000 ** (12 / 8), 1, 0), "exponent-doubled"),
        (says(FIRST, 198.7, 1, 0), "exponent-halved"),
        (says(1, 1000, 1, 0), "two-pi-missing"),
        (says(1, 0.001, 1, 0), "speeds-instead-of-lengths"),
        (says(0.159, 0.000159, 1, 0), "speeds-instead-of-lengths"),
        (says(FIRST, LAST, -0.28, 0.96), "turned-backwards"),
        (says(FIRST, LAST, 1, 0.96), "sign-of-one-term"),
        (says(FIRST, LAST, -0.28, 0), "sign-of-one-term"),
        (says(FIRST, LAST, 1.4, 1.4), "numbers-added"),
        (says(FIRST, LAST, 0.48, 0.48), "numbers-multiplied"),
        (says(FIRST, LAST, 0, 1), "sine-cosine-swapped"),
        (says(FIRST, LAST, 0.5, 0.5), "sine-wrong"),
    ],
    "4.3": [
        (
            table(make=lambda a: torch.stack([a.sin(), a.cos()]).reshape(len(a), -1)),
            "reshaped-instead-of-woven",
        ),
        (table(make=lambda a: torch.cat([a.sin(), a.cos()]).view(len(a), -1)), "reshaped-instead-of-woven"),
        (table(make=lambda a: woven(-a.sin(), a.cos())), "sine-turned-over"),
        (
            table(make=lambda a: woven(torch.deg2rad(a).sin(), torch.deg2rad(a).cos())),
            "another-unit-of-angle",
        ),
        (
            table(make=lambda a: woven((2 * math.pi * a).sin(), (2 * math.pi * a).cos())),
            "another-unit-of-angle",
        ),
        (
            even_only(
                lambda T, D: woven(
                    *(
                        f(torch.arange(T)[:, None] / 10000 * (torch.arange(0, D, 2) / D))
                        for f in (torch.sin, torch.cos)
                    )
                )
            ),
            "multiplied-not-raised",
        ),
        (table(lambda i, D: 10000 ** (2 * (i + 1) / D)), "pairs-counted-from-one"),
        (table_integer_powers, "whole-number-powers"),
        (refusing_integer_powers, "whole-number-powers"),
        (table_of_integers, "integer-table"),
        (lambda T, D: table_tutorial(T, D).long(), "integer-table"),
        (even_only(lambda T, D: table_tutorial(T, D).T), "transposed"),
        (table(make=torch.sin), "half-width"),
        (table(make=lambda a: a), "half-width"),
        (table(make=lambda a: a.repeat_interleave(2, 1)), "angles-returned"),
        (table(make=lambda a: torch.cat([a, a], 1)), "angles-returned"),
        (table_one_row, "same-for-all-positions"),
        (table_last_position, "same-for-all-positions"),
        (table_only_sines_written, "columns-never-written"),
        (table(make=lambda a: torch.cat([a.sin(), a.cos()], 1)), "halves-layout"),
        (
            even_only(lambda T, D: table_tutorial(T, D)[:, [*range(0, D, 2), *range(1, D, 2)]]),
            "halves-layout",
        ),
        (table(make=lambda a: woven(a.cos(), a.sin())), "cosines-first"),
        (table(make=lambda a: torch.cat([a.cos(), a.sin()], -1)), "cosines-first"),
        (table(make=lambda a: woven(a.sin(), a.sin())), "one-function-only"),
        (table(make=lambda a: a.repeat_interleave(2, 1).cos()), "one-function-only"),
        (table(first=1), "positions-from-one"),
        (table(lambda i, D: 10000**2 * i / D), "power-before-division"),
        (table(lambda i, D: 10000.0 ** (2 * i) / D), "power-before-division"),
        (table(lambda i, D: 10000 ** (2 * (2 * i) / D)), "exponent-doubled"),
        (table(lambda i, D: torch.exp(4 * i * math.log(10000) / D)), "exponent-doubled"),
        (table(lambda i, D: 10000 ** (i / D)), "exponent-halved"),
        (table(lambda i, D: 10000 ** (2 * i // D)), "exponent-cut-to-zero"),
        (table(lambda i, D: 10000.0 ** (-2 * i / D)), "multiplied-instead-of-divided"),
        (table_by_columns, "cosine-has-its-own-wave"),
        (table_by_columns_doubled, "cosine-has-its-own-wave"),
        (table(lambda i, D: 10000 ** (i / (D / 2 - 1))), "last-wave-at-the-base"),
        (table(lambda i, D: 1000 ** (2 * i / D)), "other-base"),
        (table(lambda i, D: torch.exp(2 * i / D)), "other-base"),
        (table_tutorial, "odd-width-error"),
        (table_refusing_by_assert, "odd-width-error"),
        (table_odd_too, "odd-width-accepted"),
    ],
    "4.4": [
        (NoSuperAndAttribute, "super-not-called"),
        (module(lambda self, x, start: self.table[start : start + x.size(1)]), "rows-alone"),
        (
            module(
                lambda self, x, start: torch.cat([x, self.table[start : start + x.size(1)].expand_as(x)], -1)
            ),
            "joined-instead-of-added",
        ),
        (CountsAlong, "remembers-calls"),
        (WithLinear, "wrong-values"),
        (module(lambda self, x, start: None, check=False), "returned-none"),
        (NoModule, "not-a-module"),
        (NoSuper, "super-not-called"),
        (NoSuperAndParameter, "super-not-called"),
        (module(lambda self, x, start: x + self.table[: x.size(0), None]), "indexed-by-batch"),
        (module(lambda self, x, start: x + self.table[: x.size(0)]), "indexed-by-batch"),
        (module(lambda self, x, start: x + self.table[: len(x)].unsqueeze(1)), "indexed-by-batch"),
        (module(lambda self, x, start: x + self.table[: x.size(2)]), "counted-along-width"),
        (module(lambda self, x, start: x + self.table[start:]), "too-many-rows"),
        (module(lambda self, x, start: x + self.table), "too-many-rows"),
        (module(lambda self, x, start: x + self.table[start : x.size(1)]), "end-without-start"),
        (module(lambda self, x, start: x.add_(self.table[start : start + x.size(1)])), "argument-changed"),
        (module(lambda self, x, start: x + self.table[x.size(1)]), "one-vector-for-all"),
        (module(lambda self, x, start: x + self.table[start]), "one-vector-for-all"),
        (module(lambda self, x, start: self.table[start : start + x.size(1)].expand_as(x)), "words-lost"),
        (module(lambda self, x, start: x), "nothing-added"),
        (module(lambda self, x, start: x * self.table[start : start + x.size(1)]), "multiplied"),
        (module(lambda self, x, start: x - self.table[start : start + x.size(1)]), "taken-away"),
        (
            module(lambda self, x, start: x * x.size(-1) ** 0.5 + self.table[start : start + x.size(1)]),
            "words-scaled",
        ),
        (module(lambda self, x, start: x + self.table[: x.size(1)]), "restarts-at-zero"),
        (module(lambda self, x, start: x + self.table[torch.arange(x.size(1))]), "restarts-at-zero"),
        (module(lambda self, x, start: x + self.table[start + 1 :][: x.size(1)]), "counted-from-one"),
        (module(lambda self, x, start: x + self.table[-x.size(1) :]), "counted-from-the-end"),
        (CheckedTooEarly, "whole-table-refused"),
        (module(keep="parameter"), "table-trained"),
        (module(keep="attribute"), "table-left-behind"),
        (
            module(
                lambda self, x, start: F.pad(self.table, (0, 0, 0, 99))[start:][: x.size(1)] + x, check=False
            ),
            "end-not-noticed",
        ),
        (IndexTakenRound, "end-not-noticed"),
        (module(check=False), "end-not-noticed"),
        (
            module(
                lambda self, x, start: x + self.table[torch.arange(start, start + x.size(1))], check=False
            ),
            "end-not-explained",
        ),
    ],
    "4.5": [
        (rotate_by(lambda e, o, c, s: woven(e * s + o * c, e * c - o * s)), "results-exchanged"),
        (
            rotate_by(right, theta=lambda K: 10000 ** (-torch.arange(2, K + 2, 2) / K)),
            "pairs-counted-from-one",
        ),
        (
            rotate_by(right, places=lambda positions, x: torch.deg2rad(positions.float())),
            "another-unit-of-angle",
        ),
        (rotate_by(right, places=lambda positions, x: 2 * math.pi * positions), "another-unit-of-angle"),
        (rotate_by(right, places=lambda positions, x: 2 * positions), "another-unit-of-angle"),
        (rotate_by(right, theta=lambda K: 10000 ** -torch.arange(0, K, 2)), "whole-number-powers"),
        (refusing_integer_powers, "whole-number-powers"),
        (lambda x, positions: x.clone(), "nothing-turned"),
        (added, "added-instead-of-turned"),
        (turned_along(1), "counted-along-heads"),
        (turned_along(0), "counted-along-batch"),
        (rotate_by(right, places=lambda positions, x: torch.arange(x.shape[2])), "positions-restart-at-zero"),
        (
            lambda x, positions: rotate_complex(x, torch.arange(x.size(-2))),
            "positions-restart-at-zero",
        ),
        (rotate_by(right, places=lambda positions, x: torch.ones(1)), "same-turn-for-all"),
        (with_full_angles(weave, half_turn), "layouts-mixed"),
        (with_full_angles(split, neighbour_turn), "layouts-mixed"),
        (with_full_angles(split, half_turn), "halves-layout"),
        (lambda x, positions: halves_by_parts(x, positions), "halves-layout"),
        (rotate_by(lambda e, o, c, s: torch.cat([e * c - o * s, e * s + o * c], -1)), "results-not-woven"),
        (rotate_by(lambda e, o, c, s: woven(e * c + o * s, o * c - e * s)), "turned-backwards"),
        (with_full_angles(weave, neighbour_turn, back=-1), "turned-backwards"),
        (rotate_by(lambda e, o, c, s: woven(e * c + o * s, e * s + o * c)), "sign-wrong"),
        (rotate_by(lambda e, o, c, s: woven(e * c - o * s, o * c - e * s)), "sign-wrong"),
        (rotate_by(lambda e, o, c, s: woven(e * c, o * c)), "half-of-the-turn"),
        (overwriting, "overwritten-too-early"),
        (rotate_by(right, theta=lambda K: 10000 ** (-2 * torch.arange(0, K, 2) / K)), "exponent-doubled"),
        (rotate_by(right, theta=lambda K: 10000 ** (-torch.arange(K // 2) / K)), "exponent-halved"),
        (rotate_by(right, theta=lambda K: 10000 ** (torch.arange(0, K, 2) / K)), "exponent-not-negative"),
        (rotate_by(right, theta=lambda K: 10000.0 ** -(torch.arange(0, K, 2) // K)), "exponent-cut-to-zero"),
        (rotate_by(right, places=lambda positions, x: positions + 1), "places-from-one"),
        (rotate_by(right, theta=lambda K: 500000 ** (-torch.arange(0, K, 2) / K)), "other-base"),
        (rotate_by(right, theta=lambda K: torch.exp(-torch.arange(0, K, 2) / K)), "other-base"),
        (lambda x, positions: 2 * rotate_complex(x, positions), "length-changes"),
        (overwriting_the_argument, "argument-changed"),
    ],
    "4.6": [
        (halves_sines_first, "sine-and-cosine-exchanged"),
        (halves_with(lambda K: 10000 ** (-2 * torch.arange(0, K, 2) / K)), "speeds-changed"),
        (halves_with(lambda K: 10000 ** (torch.arange(0, K, 2) / K)), "speeds-changed"),
        (with_full_angles(weave, lambda x: half_turn(x, 1)), "both-bugs-left"),
        (with_full_angles(weave, half_turn), "angles-of-the-other-layout"),
        (with_full_angles(weave, lambda x: -half_turn(x)), "angles-of-the-other-layout"),
        (with_full_angles(split, lambda x: half_turn(x, 1)), "minus-missing"),
        (with_full_angles(split, lambda x: -half_turn(x)), "turned-backwards"),
        (with_full_angles(split, half_turn, back=-1), "turned-backwards"),
        (with_full_angles(weave, neighbour_turn), "neighbours-paired"),
        (rotate_complex, "neighbours-paired"),
        (with_full_angles(split, neighbour_turn), "mixed-the-other-way"),
        (
            with_full_angles(split, lambda x: torch.cat([-x.chunk(2, -1)[0], x.chunk(2, -1)[1]], -1)),
            "halves-not-swapped",
        ),
        (with_full_angles(split, lambda x: x), "halves-not-swapped"),
        (lambda x, positions: 0.5 * halves_by_parts(x, positions), "length-changes"),
    ],
}
