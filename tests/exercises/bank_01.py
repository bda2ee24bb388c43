"""Right and wrong answers to the exercises of chapter 1, in many spellings. `test_bank.py` runs them."""

import itertools
import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import einsum

# ------------------------------------------------------------------ 1.1 predict, 1.4 work out


def says(*answers):
    return lambda: list(answers)


def steps_with(**changed):
    """The right steps with some answers changed: _3=39 changes the third."""
    right = {"_1": 50, "_2": 1, "_3": 40, "_4": 1, "_5": 50, "_6": 50}
    return lambda: list((right | changed).values())


SLOPES = [1 - h * h for h in (-0.4, 0.8, 0.5)]


def chain(*factors, fourth=0.9**30):
    a, b, c = factors
    return says(a, a * b, a * b * c, fourth)


def gradients_by_autograd():
    """Three steps whose inputs are chosen so that the states come out as in the exercise."""
    states = [0.3, 0.5, 0.8, -0.4]
    inputs = [math.atanh(new) - 1.5 * old for old, new in itertools.pairwise(states)]
    answers = []
    for start in (2, 1, 0):
        h = first = torch.tensor(states[start], requires_grad=True, dtype=torch.float64)
        for x in inputs[start:]:
            h = torch.tanh(1.5 * h + x)
        answers.append(torch.autograd.grad(h, first)[0])
    h = first = torch.zeros((), requires_grad=True)
    for _ in range(30):
        h = torch.tanh(0.9 * h)
    return torch.stack([*answers, torch.autograd.grad(h, first)[0]])


# ------------------------------------------------------------------ 1.2 the decoder looks back


def back_loops(s, states):
    out = []
    for query, words in zip(s, states, strict=True):
        e = [math.exp(float(query @ word)) for word in words]
        out.append(sum(a / sum(e) * word for a, word in zip(e, words, strict=True)))
    return torch.stack(out)


def back_bmm(s, states):
    weights = torch.bmm(states, s.unsqueeze(2)).squeeze(2).softmax(-1)
    return torch.bmm(weights.unsqueeze(1), states).squeeze(1)


def back_fused(s, states):
    return F.scaled_dot_product_attention(s[:, None], states, states, scale=1.0)[:, 0]


def back_sums(s, states):
    weights = F.softmax((s[:, None, :] * states).sum(-1), dim=1)
    return (weights[:, :, None] * states).sum(dim=1)


def back_float64(s, states):
    return back_bmm(s.double(), states.double())


def back_in_place(s, states):
    e = einsum("bh,bth->bt", s, states)
    e -= e.amax(1, keepdim=True)
    e.exp_()
    e /= e.sum(1, keepdim=True)
    return einsum("bt,bth->bh", e, states)


def back_vmap(s, states):
    return torch.vmap(lambda query, words: torch.softmax(words @ query, 0) @ words)(s, states)


def back_log(s, states):
    weights = einsum("bh,bth->bt", s, states).log_softmax(-1).exp()
    return torch.matmul(weights.unsqueeze(-2), states).squeeze(-2)


def back_numpy(s, states):
    s, states = s.numpy().astype("float64"), states.numpy().astype("float64")
    e = np.exp(np.einsum("bh,bth->bt", s, states))
    return torch.from_numpy(np.einsum("bt,bth->bh", e / e.sum(1, keepdims=True), states))


def back(weights=lambda e: e.softmax(1), finish=lambda a, s, h: einsum("bt,bth->bh", a, h)):
    """A wrong answer: other weights of the scores, or another last step."""
    return lambda s, states: finish(weights(einsum("bh,bth->bt", s, states)), s, states)


def back_weights(s, states):
    return einsum("bh,bth->bt", s, states).softmax(1)


def back_columns_of_one(s, states):
    return (torch.softmax(states @ s[:, :, None], dim=-1) * states).sum(1)


def back_loops_over_words_alone(s, states):
    out = torch.zeros_like(s)
    for t in range(states.shape[1]):
        out = out + torch.softmax((s * states[:, t]).sum(-1, keepdim=True), -1) * states[:, t]
    return out


def back_argmax(s, states):
    best = torch.einsum("bh,bth->bt", s, states).argmax(1)
    return states[torch.arange(len(s)), best]


def back_viewed(s, states):
    keys = states.reshape(states.shape[0], states.shape[2], states.shape[1])
    return (torch.softmax(s[:, None] @ keys, -1) @ states)[:, 0]


def back_viewed_values(s, states):
    values = states.reshape(states.shape[0], states.shape[2], states.shape[1])
    a = (states @ s[..., None]).softmax(1)
    return (values @ a)[..., 0]


def back_first_sentence(s, states):
    """All decoder states read from the first sentence."""
    return (s @ states[0].T).softmax(-1) @ states[0]


def back_neighbour(s, states):
    return back_bmm(s, states.roll(1, 0))


# ------------------------------------------------------------------ 1.3 word after word


def loop_einsum(x, w_x, w_h, b):
    h, states = torch.zeros(x.shape[0], w_h.shape[0]), []
    for x_t in x.unbind(1):
        h = torch.tanh(einsum("bd,hd->bh", x_t, w_x) + einsum("bk,hk->bh", h, w_h) + b)
        states.append(h)
    return torch.stack(states, 1)


def loop_ahead(x, w_x, w_h, b):
    """The words' part for all words at once, before the loop; states written into an empty tensor."""
    words = F.linear(x, w_x, b)
    states = torch.empty_like(words)
    h = torch.zeros_like(words[:, 0])
    for t in range(x.shape[1]):
        h = (words[:, t] + F.linear(h, w_h)).tanh()
        states[:, t] = h
    return states


def loop_sentences(x, w_x, w_h, b):
    out = []
    for sentence in x:
        h, states = torch.zeros(len(w_h)), []
        for word in sentence:
            h = torch.tanh(w_x @ word + w_h @ h + b)
            states.append(h)
        out.append(torch.stack(states))
    return torch.stack(out)


def loop_joined(x, w_x, w_h, b):
    """One matrix for word and state side by side."""
    w, h, states = torch.cat([w_x, w_h], 1), x.new_zeros(len(x), len(w_h)), []
    for t in range(x.shape[1]):
        h = torch.tanh(torch.cat([x[:, t], h], 1) @ w.T + b)
        states += [h]
    return torch.stack(states).transpose(0, 1)


def loop_torch(x, w_x, w_h, b):
    rnn = torch.nn.RNN(w_x.shape[1], len(w_h), batch_first=True)
    with torch.no_grad():
        rnn.weight_ih_l0.copy_(w_x)
        rnn.weight_hh_l0.copy_(w_h)
        rnn.bias_ih_l0.copy_(b)
        rnn.bias_hh_l0.zero_()
    return rnn(x)[0]


def loop_float64(x, w_x, w_h, b):
    return loop_ahead(x.double(), w_x.double(), w_h.double(), b.double())


def loop_in_place_cloned(x, w_x, w_h, b):
    h, states = torch.zeros(len(x), len(w_h)), []
    for t in range(x.shape[1]):
        h[:] = torch.tanh(x[:, t] @ w_x.T + h @ w_h.T + b)
        states.append(h.clone())
    return torch.stack(states, 1)


def loop_rnn_cell(x, w_x, w_h, b):
    cell = torch.nn.RNNCell(w_x.shape[1], len(w_h))
    with torch.no_grad():
        cell.weight_ih.copy_(w_x)
        cell.weight_hh.copy_(w_h)
        cell.bias_ih.copy_(b)
        cell.bias_hh.zero_()
    h, states = None, []
    for x_t in x.transpose(0, 1):
        h = cell(x_t, h)
        states.append(h)
    return torch.stack(states).transpose(0, 1)


def loop_columns(x, w_x, w_h, b):
    """One sentence per column, as the formula has it."""
    h, states = torch.zeros(len(w_h), len(x)), []
    for t in range(x.shape[1]):
        h = torch.tanh(w_x @ x[:, t].T + w_h @ h + b[:, None])
        states.append(h)
    return torch.stack(states, -1).permute(1, 2, 0)


def loop_recursive(x, w_x, w_h, b):
    if x.shape[1] == 0:
        return x.new_zeros(len(x), 0, len(w_h))
    before = loop_recursive(x[:, :-1], w_x, w_h, b)
    h = before[:, -1] if x.shape[1] > 1 else x.new_zeros(len(x), len(w_h))
    a = x[:, -1] @ w_x.mT + h @ w_h.mT + b
    return torch.cat([before, ((a.exp() - (-a).exp()) / (a.exp() + (-a).exp()))[:, None]], 1)


def loop(
    new=lambda x_t, h, w_x, w_h, b: torch.tanh(x_t @ w_x.T + h @ w_h.T + b),
    axis=1,
    finish=lambda states: torch.stack(states, 1),
    start=torch.zeros,
    carry=True,
):
    """The loop with one of its parts replaced."""

    def read(x, w_x, w_h, b):
        x = x if axis == 1 else x.transpose(0, 1)
        first = start(x.shape[0], len(w_h))
        h, states = first, []
        for x_t in x.unbind(1):
            h = new(x_t, h if carry else first, w_x, w_h, b)
            states.append(h)
        return finish(states)

    return read


def loop_over_first_axis(x, w_x, w_h, b):
    h, states = torch.zeros(x.shape[1], len(w_h)), []
    for x_t in x:
        h = torch.tanh(x_t @ w_x.T + h @ w_h.T + b)
        states.append(h)
    return torch.stack(states)


def loop_overwritten(x, w_x, w_h, b):
    h, states = torch.zeros(len(x), len(w_h)), []
    for t in range(x.shape[1]):
        h[:] = torch.tanh(x[:, t] @ w_x.T + h @ w_h.T + b)
        states.append(h)
    return torch.stack(states, 1)


def loop_late(x, w_x, w_h, b):
    h, states = torch.zeros(len(x), len(w_h)), []
    for x_t in x.unbind(1):
        states.append(h)
        h = torch.tanh(x_t @ w_x.T + h @ w_h.T + b)
    return torch.stack(states, 1)


def loop_backwards(x, w_x, w_h, b):
    h, states = torch.zeros(len(x), len(w_h)), {}
    for t in reversed(range(x.shape[1])):
        h = states[t] = torch.tanh(x[:, t] @ w_x.T + h @ w_h.T + b)
    return torch.stack([states[t] for t in range(x.shape[1])], 1)


def loop_pushed(x, w_x, w_h, b):
    h, states = torch.zeros(len(x), len(w_h)), []
    for x_t in x.unbind(1):
        h = torch.tanh(x_t @ w_x.T + h @ w_h.T + b)
        states.insert(0, h)
    return torch.stack(states, 1)


def loop_runs_on(x, w_x, w_h, b):
    """The state is made empty once, before the loop over the sentences."""
    h, out = torch.zeros(len(w_h)), []
    for sentence in x:
        states = []
        for word in sentence:
            h = torch.tanh(w_x @ word + w_h @ h + b)
            states.append(h)
        out.append(torch.stack(states))
    return torch.stack(out)


def with_both_biases(x, w_x, w_h, b):
    rnn = torch.nn.RNN(w_x.shape[1], len(w_h), batch_first=True)
    with torch.no_grad():
        rnn.weight_ih_l0.copy_(w_x)
        rnn.weight_hh_l0.copy_(w_h)
        rnn.bias_ih_l0.copy_(b)
        rnn.bias_hh_l0.copy_(b)
    return rnn(x)[0]


def loop_first_word(x, w_x, w_h, b):
    return loop_ahead(x[:, :1].expand(-1, x.shape[1], -1), w_x, w_h, b)


# ------------------------------------------------------------------ 1.5 the cell


def cell_linear(x, h, c, w_x, w_h, b):
    z = F.linear(x, w_x) + F.linear(h, w_h, b)
    H = h.shape[1]
    i, f, o = (torch.sigmoid(z[:, n * H : (n + 1) * H]) for n in (0, 1, 3))
    c = f * c + i * torch.tanh(z[:, 2 * H : 3 * H])
    return o * torch.tanh(c), c


def cell_torch(x, h, c, w_x, w_h, b):
    cell = torch.nn.LSTMCell(x.shape[1], h.shape[1])
    with torch.no_grad():
        cell.weight_ih.copy_(w_x)
        cell.weight_hh.copy_(w_h)
        cell.bias_ih.copy_(b)
        cell.bias_hh.zero_()
    return cell(x, (h, c))


def cell_renamed(x, h, c, w_x, w_h, b):
    """The names of two gates exchanged, and the stub's line left as it was: right."""
    f, i, g, o = (x @ w_x.T + h @ w_h.T + b).chunk(4, dim=-1)
    c = i.sigmoid() * c + f.sigmoid() * g.tanh()
    return [o.sigmoid() * c.tanh(), c]


def cell_tanh_by_sigmoid(x, h, c, w_x, w_h, b):
    """tanh(a) = 2σ(2a) − 1."""
    i, f, g, o = (x @ w_x.T + h @ w_h.T + b).chunk(4, dim=-1)
    c = f.sigmoid() * c + i.sigmoid() * (2 * (2 * g).sigmoid() - 1)
    return o.sigmoid() * c.tanh(), c


def cell_float64(*args):
    return cell_linear(*(a.double() for a in args))


def cell_viewed(x, h, c, w_x, w_h, b):
    z = (einsum("bd,gd->bg", x, w_x) + einsum("bk,gk->bg", h, w_h) + b).view(len(x), 4, -1)
    i, f, g, o = z.unbind(1)
    c = torch.addcmul(f.sigmoid() * c, i.sigmoid(), g.tanh())
    return o.sigmoid() * c.tanh(), c


def sg(a):
    return a.sigmoid()


def cell(
    new=lambda i, f, g, c, h: sg(f) * c + sg(i) * g.tanh(),
    out=lambda o, c, old: sg(o) * c.tanh(),
    order=(0, 1, 2, 3),
    give=lambda h, c: (h, c),
):
    """The cell with one of its parts replaced; order says which rows are i, f, g, o."""

    def lstm_cell(x, h, c, w_x, w_h, b):
        parts = torch.split(x @ w_x.T + h @ w_h.T + b, h.shape[-1], dim=-1)
        i, f, g, o = (parts[n] for n in order)
        made = new(i, f, g, c, h)
        return give(out(o, made, c), made)

    return lstm_cell


def cell_unmended(x, h, c, w_x, w_h, b):
    i, f, g, o = (x @ w_x.T + h @ w_h.T + b).chunk(4, dim=-1)
    c = i.sigmoid() * c + f.sigmoid() * g.sigmoid()
    h = o.sigmoid() * c.tanh()
    return h, c


# ------------------------------------------------------------------ 1.6 the product of Jacobians


def jacobian_diag(states, w_h, k):
    out = torch.eye(len(w_h))
    for n in range(1, k + 1):  # from the last step back
        out = out @ torch.diag(1 - states[-n] ** 2) @ w_h
    return out


def jacobian_einsum(states, w_h, k):
    factors = einsum("th,hj->thj", 1 - states[-k:].square(), w_h)
    out = factors[0]
    for factor in factors[1:]:
        out = einsum("ij,jk->ik", factor, out)
    return out


def jacobian_multi_dot(states, w_h, k):
    factors = [(1 - h * h).unsqueeze(1) * w_h for h in states.flip(0)[:k]]
    return factors[0] if k == 1 else torch.linalg.multi_dot(factors)


def jacobian_autograd(states, w_h, k):
    """Through steps whose words are chosen so that the states come out as given."""
    inputs = [torch.atanh(states[t]) - w_h @ states[t - 1] for t in range(len(states) - k, len(states))]

    def run(h):
        for x in inputs:
            h = torch.tanh(w_h @ h + x)
        return h

    return torch.autograd.functional.jacobian(run, states[-k - 1])


def jacobian_columns(states, w_h, k):
    columns = []
    for e in torch.eye(len(w_h)):
        for h in states[len(states) - k :]:
            e = (1 - h**2) * (w_h @ e)
        columns.append(e)
    return torch.stack(columns, 1)


def jacobian_float64(states, w_h, k):
    return jacobian_multi_dot(states.double(), w_h.double(), k)


def jacobian_recursive(states, w_h, k):
    last = (1 - states[-1] ** 2)[:, None] * w_h
    return last if k == 1 else last @ jacobian_recursive(states[:-1], w_h, k - 1)


def jacobian_in_place(states, w_h, k):
    out = torch.eye(len(w_h))
    for h in states[-k:]:
        out = w_h @ out
        out *= ((1 + h) * (1 - h))[:, None]
    return out


def jacobian_by_rows(states, w_h, k):
    """From the end back: row vectors, times the slopes, times the matrix."""
    rows = torch.eye(len(w_h))
    for n in range(1, k + 1):
        rows = (rows * (1 - states[-n] ** 2)) @ w_h
    return rows


def factors(states, w_h, k, step=lambda h, w: torch.diag(1 - h**2) @ w):
    return [step(h, w_h) for h in states[len(states) - k :]]


def product(chosen=None, step=lambda h, w: torch.diag(1 - h**2) @ w, join=lambda old, new: new @ old):
    """The product over other states, of other matrices, or joined in another way."""

    def jacobian(states, w_h, k):
        out = None
        for h in states[-k:] if chosen is None else chosen(states, k):
            out = step(h, w_h) if out is None else join(out, step(h, w_h))
        return torch.eye(len(w_h)) if out is None else out

    return jacobian


RIGHT = {
    "1.1": [
        says(50, 1, 40, 1, 50, 50),
        lambda: (50.0, 1, 40, 1.0, 50, 50),
        lambda: torch.tensor([50, 1, 40, 1, 50, 50]),
        lambda: np.array([50, 1, 50 - 10, 1, 50, 50]),
    ],
    "1.2": [
        back_loops,
        back_bmm,
        back_fused,
        back_sums,
        back_float64,
        back_in_place,
        back(),
        back_vmap,
        back_log,
        back_numpy,
    ],
    "1.3": [
        loop_einsum,
        loop_ahead,
        loop_sentences,
        loop_joined,
        loop_torch,
        loop_float64,
        loop_in_place_cloned,
        loop(),
        loop_rnn_cell,
        loop_columns,
        loop_recursive,
    ],
    "1.4": [
        says(1.26, 0.6804, 0.76545, 0.0424),
        lambda: (1.26, 0.680, 0.765, 0.042),
        lambda: np.array([1.26, 0.68, 0.765, 0.0424]),
        gradients_by_autograd,
        chain(*(1.5 * s for s in SLOPES)),
    ],
    "1.5": [
        cell_linear,
        cell_torch,
        cell_renamed,
        cell_tanh_by_sigmoid,
        cell_float64,
        cell(),
        cell_viewed,
        lambda *args: torch.stack(cell_linear(*args)),
    ],
    "1.6": [
        jacobian_diag,
        jacobian_einsum,
        jacobian_multi_dot,
        jacobian_autograd,
        jacobian_columns,
        jacobian_float64,
        product(),
        jacobian_recursive,
        jacobian_in_place,
        jacobian_by_rows,
    ],
}

WRONG = {
    "1.1": [
        (steps_with(_1=51), "recurrent-steps-wrong"),
        (steps_with(_2=0), "attention-steps-wrong"),
        (steps_with(_3=10), "recurrent-distance-wrong"),
        (steps_with(_4=0), "attention-distance-wrong"),
        (steps_with(_6=82), "batch-steps-wrong"),
        (lambda: np.array([50, 1, 40, 1, 50, 82]), "batch-steps-wrong"),
        (says(1, 50, 40, 1, 1, 1), "networks-confused"),
        (steps_with(_1=1, _2=1), "recurrent-steps-in-parallel"),
        (steps_with(_1=49), "steps-between-the-words"),
        (steps_with(_2=2500), "words-against-words"),
        (steps_with(_2=1225), "words-against-words"),
        (steps_with(_2=50), "attention-word-by-word"),
        (steps_with(_3=39), "distance-off-by-one"),
        (steps_with(_3=41.0), "distance-off-by-one"),
        (steps_with(_3=50), "distance-of-the-whole-sentence"),
        (steps_with(_3=1), "recurrent-short-cut"),
        (steps_with(_4=40), "attention-passes-on"),
        (lambda: torch.tensor([50, 1, 40, 41, 50, 50]), "attention-passes-on"),
        (steps_with(_5=100), "wider-means-other-steps"),
        (steps_with(_5=25), "wider-means-other-steps"),
        (steps_with(_6=1600), "sentences-queue"),
        (steps_with(_6=50 / 32), "batch-removes-the-waiting"),
        (steps_with(_6=1), "batch-removes-the-waiting"),
        (steps_with(_4=7), "attention-distance-wrong"),
        (says(50, 1, 40, 1), "wrong-shape"),
    ],
    "1.2": [
        (lambda s, h: (s @ h.mT).softmax(-1) @ h, "every-pair-of-sentences"),
        (lambda s, h: ((s @ h.mT).softmax(-1) @ h)[0], "reads-other-sentences"),
        (lambda s, h: ((s @ h.mT).softmax(-1) @ h).mean(0), "reads-other-sentences"),
        (lambda s, h: ((s @ h.mT).softmax(-1) @ h).mean(1), "asks-for-other-sentences"),
        (lambda s, h: back_bmm(s.roll(1, 0), h), "asks-for-other-sentences"),
        (lambda s, h: (back_bmm(s, h),), "wrong-type"),
        (lambda s, h: back_bmm(s, h).T, "wrong-shape"),
        (lambda s, h: back_bmm(s.half(), h.half()), "wrong-dtype"),
        (lambda s, h: ((s[:, None] * h).softmax(1) * h).sum(1), "softmax-before-the-sum"),
        (lambda s, h: ((s[:, None] * h).softmax(-1) * h).sum(1), "softmax-before-the-sum"),
        (back(lambda e: e.softmax(1).softmax(1)), "softmax-twice"),
        (back(lambda e: e.log_softmax(1)), "log-softmax"),
        (lambda s, h: back(lambda e: (e / s.shape[1]).softmax(1))(s, h), "scaled"),
        (back(lambda e: (3 * e).softmax(1)), "scaled"),
        (back(lambda e: 2**e / (2**e).sum(1, keepdim=True)), "scaled"),
        (lambda s, h: back_bmm(s, h) / math.sqrt(s.shape[1]), "shares-shrunk"),
        (lambda s, h: (back_weights(s, h)[..., None] * h).mean(1), "shares-shrunk"),
        (lambda s, h: torch.cat([s, back_bmm(s, h)], -1), "decoder-state-added"),
        (lambda s, h: h[:, -1], "last-state-only"),
        (back(torch.sigmoid), "shares-of-no-whole"),
        (back(torch.relu), "shares-of-no-whole"),
        (back(lambda e: F.dropout(e.softmax(1))), "random-result"),
        (back(finish=lambda a, s, h: a), "weights-returned"),
        (lambda s, states: (states @ s[..., None]).softmax(1)[..., 0], "weights-returned"),
        (lambda s, states: einsum("bh,bth->bt", s, states), "scores-returned"),
        (
            lambda s, h: (s @ h.reshape(-1, h.shape[-1]).T).softmax(1) @ h.reshape(-1, h.shape[-1]),
            "all-sentences-as-one",
        ),
        (back(lambda e: e.softmax(0)), "softmax-over-the-batch"),
        (back(lambda e: e.exp() / e.exp().sum(0)), "softmax-over-the-batch"),
        (back_columns_of_one, "softmax-of-single-numbers"),
        (back_loops_over_words_alone, "softmax-of-single-numbers"),
        (lambda s, states: states.sum(1), "softmax-of-single-numbers"),
        (back(lambda e: e / e.sum(1, keepdim=True)), "no-exponential"),
        (back(torch.exp), "not-normalised"),
        (back(lambda e: e), "no-softmax"),
        (lambda s, h: (s[:, None] @ h.mT @ h)[:, 0], "no-softmax"),
        (lambda s, states: states.mean(1), "plain-average"),
        (back_argmax, "best-match-only"),
        (back(lambda e: (e * 1e6).softmax(1)), "best-match-only"),
        (
            lambda s, h: F.scaled_dot_product_attention(s[:, None], h, h)[:, 0],
            "scaled",
        ),
        (lambda s, h: back_bmm(s / math.sqrt(s.shape[1]), h), "scaled"),
        (back(lambda e: (-e).softmax(1)), "signs-turned"),
        (back(lambda e: F.softmin(e, 1)), "signs-turned"),
        (lambda s, h: s + back_sums(s, h), "decoder-state-added"),
        (back_viewed, "words-and-features-mixed"),
        (back_viewed_values, "words-and-features-mixed"),
        (back_first_sentence, "reads-other-sentences"),
        (back_neighbour, "reads-other-sentences"),
        (lambda s, h: back_bmm(s, h)[:, None], "wrong-shape"),
    ],
    "1.3": [
        (
            lambda *args: loop_torch(*args).transpose(0, 1).reshape(loop_torch(*args).shape),
            "reshaped-instead-of-transposed",
        ),
        (loop(finish=lambda o: torch.cat(o).view(len(o[0]), len(o), -1)), "reshaped-instead-of-transposed"),
        (
            lambda x, *w: loop_ahead(x.reshape(x.shape[1], x.shape[0], -1).transpose(0, 1), *w),
            "reshaped-instead-of-transposed",
        ),
        (
            lambda x, *w: loop_over_first_axis(x.view(x.shape[1], x.shape[0], -1), *w).view(
                len(x), x.shape[1], -1
            ),
            "reshaped-instead-of-transposed",
        ),
        (loop(finish=lambda o: torch.stack([0 * o[0], *o], 1)), "empty-state-included"),
        (loop(finish=lambda o: torch.stack(o[:-1], 1)), "one-state-missing"),
        (lambda x, *w: loop_ahead(x[:, :-1], *w), "one-state-missing"),
        (loop(finish=lambda o: torch.cat(o, 1)), "states-joined-end-to-end"),
        (loop(finish=torch.cat), "states-joined-end-to-end"),
        (loop_runs_on, "runs-on-into-the-next-sentence"),
        (with_both_biases, "bias-twice"),
        (loop(lambda x, h, u, w, b: torch.tanh(h @ w.T + b)), "words-never-read"),
        (loop(lambda x, h, u, w, b: torch.tanh(x @ u.T + h + b)), "state-without-matrix"),
        (loop(lambda x, h, u, w, b: torch.tanh((x @ u.T) * (h @ w.T) + b)), "multiplied-instead-of-added"),
        (loop(lambda x, h, u, w, b: torch.tanh(h + x @ u.T + h @ w.T + b)), "old-state-added"),
        (loop(lambda x, h, u, w, b: F.gelu(x @ u.T + h @ w.T + b)), "another-function"),
        (loop(lambda x, h, u, w, b: F.leaky_relu(x @ u.T + h @ w.T + b)), "another-function"),
        (loop(lambda x, h, u, w, b: torch.softmax(x @ u.T + h @ w.T + b, -1)), "another-function"),
        (loop(lambda x, h, u, w, b: torch.tanh(torch.tanh(x @ u.T + h @ w.T + b))), "another-function"),
        (lambda *args: loop_torch(*args).round(decimals=2), "wrong-values"),
        (lambda x, w_x, w_h, b: loop_einsum(x, w_h, w_x, b), "matrices-swapped"),
        (loop(lambda x, h, u, w, b: torch.tanh(x @ w.T + h @ u.T + b)), "matrices-swapped"),
        (loop(lambda x, h, u, w, b: torch.tanh(x @ u.T + h @ w + b)), "matrix-not-transposed"),
        (loop(lambda x, h, u, w, b: torch.tanh(x @ u + h @ w + b)), "matrix-not-transposed"),
        (loop(lambda x, h, u, w, b: torch.tanh(x @ u + h @ w.T + b)), "matrix-not-transposed"),
        (loop(finish=lambda states: states[-1]), "last-state-only"),
        (lambda *args: loop_torch(*args)[:, -1:], "last-state-only"),
        (loop(finish=torch.stack), "words-first"),
        (loop_over_first_axis, "batch-and-time-mixed"),
        (loop(axis=0, finish=torch.stack), "batch-and-time-mixed"),
        (loop(carry=False), "state-reset-each-step"),
        (lambda x, w_x, w_h, b: torch.tanh(x @ w_x.T + b), "state-reset-each-step"),
        (loop_backwards, "read-backwards"),
        (lambda x, *w: loop_ahead(x.flip(1), *w), "read-backwards"),
        (loop_pushed, "states-in-reverse"),
        (loop_overwritten, "one-tensor-overwritten"),
        (loop_late, "state-before-the-word"),
        (loop_first_word, "same-word-each-step"),
        (lambda x, *w: loop_ahead(x[:, -1:].expand_as(x), *w), "same-word-each-step"),
        (loop(lambda x, h, u, w, b: x @ u.T + h @ w.T + b), "no-tanh"),
        (loop(lambda x, h, u, w, b: torch.tanh(x @ u.T + h @ w.T)), "no-bias"),
        (lambda x, w_x, w_h, b: loop_torch(x, w_x, w_h, torch.zeros_like(b)), "no-bias"),
        (loop(lambda x, h, u, w, b: torch.tanh(x @ u.T) + h @ w.T + b), "tanh-before-the-sum"),
        (loop(lambda x, h, u, w, b: torch.tanh(x @ u.T + h @ w.T) + b), "tanh-before-the-sum"),
        (loop(lambda x, h, u, w, b: torch.tanh(x @ u.T + b) + h @ w.T), "tanh-before-the-sum"),
        (loop(lambda x, h, u, w, b: torch.sigmoid(x @ u.T + h @ w.T + b)), "another-function"),
        (loop(lambda x, h, u, w, b: F.relu(F.linear(x, u, b) + F.linear(h, w))), "another-function"),
        (loop(lambda x, h, u, w, b: h + torch.tanh(x @ u.T + h @ w.T + b)), "old-state-added"),
        (loop(start=torch.ones), "not-from-zeros"),
        (loop(start=lambda *shape: torch.full(shape, 0.3)), "not-from-zeros"),
        (lambda *args: loop_ahead(*args) * 1.1, "wrong-values"),
        (lambda *args: (loop_ahead(*args), loop_ahead(*args)[:, -1]), "wrong-type"),
    ],
    "1.4": [
        (says(1.3, 0.7, 0.8, 0.04), "rounded-too-far"),
        (says(1.26, 0.68, 0.77, 0.04), "rounded-too-far"),
        (says(1.125, 0.6075, 0.76545, 0.0424), "wrong-end"),
        (says(0.84, 0.6804, 0.76545, 0.0424), "one-step-wrong"),
        (says(1.26, 0.54, 0.76545, 0.0424), "two-steps-wrong"),
        (says(1.26, 0.6804, 1.125, 0.0424), "three-steps-wrong"),
        (chain(*(1.5 * s for s in SLOPES), fourth=0.9**3), "thirty-steps-wrong"),
        (lambda: np.array([1.26, 0.6804, 0.76545, 0.9**15]), "thirty-steps-wrong"),
        (chain(*SLOPES), "weight-left-out"),
        (chain(1.5, 1.5, 1.5), "slope-left-out"),
        (chain(*(1.5 * (1 - h) for h in (-0.4, 0.8, 0.5))), "not-squared"),
        (chain(*(1.5 * h * h for h in (-0.4, 0.8, 0.5))), "square-of-the-state-alone"),
        (chain(*(1.5 * (1 - math.tanh(h) ** 2) for h in (-0.4, 0.8, 0.5))), "tanh-taken-twice"),
        (chain(*(1.5 * (1 - math.tanh(1.5 * h) ** 2) for h in (0.8, 0.5, 0))), "tanh-of-the-weighted-state"),
        (says(0.54, 0.6075, 0.6, 0.042), "state-before"),
        (says(1.26, 0.4536, 0.3402, 0.042), "weight-only-once"),
        (says(1.26, 1.89, 2.835, 0.042), "slope-only-once"),
        (says(1.26, 1.8, 2.925, 0.042), "added-up"),
        (says(1.26, 0.54, 1.125, 0.042), "single-steps"),
        (lambda: gradients_by_autograd()[[2, 1, 0, 3]], "order-turned"),
        (says(1.26, 0.6804, 0.6804, 0.042), "first-step-forgotten"),
        (chain(*(1.5 * s for s in SLOPES), fourth=27), "multiplied-by-the-steps"),
        (chain(*(1.5 * s for s in SLOPES), fourth=0.9**29), "one-step-off"),
        (chain(*(1.5 * s for s in SLOPES), fourth=0.9**31), "one-step-off"),
        (chain(*(1.5 * s for s in SLOPES), fourth=1), "does-not-fade"),
        (chain(*(1.5 * s for s in SLOPES), fourth=0.9), "a-single-step"),
        (chain(*(1.5 * s for s in SLOPES), fourth=0.0), "zero-states-zero-slope"),
        (says(1.26, 0.6, 0.76545, 0.0424), "two-steps-wrong"),
    ],
    "1.5": [
        (cell(give=lambda h, c: (h, h)), "same-tensor-twice"),
        (cell(give=lambda h, c: torch.cat([h, c], -1)), "one-tensor-instead-of-two"),
        (
            cell(lambda i, f, g, c, h: sg(f) * c + sg(i) * sg(g), give=lambda h, c: h),
            "one-tensor-instead-of-two",
        ),
        (cell(out=lambda o, c, old: o * c.tanh()), "state-not-right"),
        (cell(out=lambda o, c, old: (sg(o) * c).tanh()), "state-not-right"),
        (cell(lambda i, f, g, c, h: sg(i) * c + sg(f) * g), "does-not-keep"),
        (cell(lambda i, f, g, c, h: sg(f) * c.tanh() + sg(i) * g.tanh()), "does-not-keep"),
        (cell(lambda i, f, g, c, h: (sg(f) * c + sg(i) * g.tanh()).tanh()), "does-not-keep"),
        (cell(lambda i, f, g, c, h: (sg(f) + 1) * c / 2 + sg(i) * g.tanh()), "does-not-let-go"),
        (cell(lambda i, f, g, c, h: sg(f) * c + sg(i) * torch.relu(g)), "takes-in-something-else"),
        (cell(lambda i, f, g, c, h: sg(f) * c - sg(i) * g.tanh()), "takes-in-something-else"),
        (cell(lambda i, f, g, c, h: sg(f) * c + sg(i) * sg(g).tanh()), "takes-in-something-else"),
        (cell_unmended, "both-bugs-left"),
        (cell(lambda i, f, g, c, h: c * sg(i) + sg(g) * sg(f)), "both-bugs-left"),
        (cell(lambda i, f, g, c, h: sg(i) * c + sg(f) * g.tanh()), "gates-swapped"),
        (cell(order=(1, 0, 2, 3)), "gates-swapped"),
        (cell(lambda i, f, g, c, h: sg(f) * c + sg(i) * sg(g)), "candidate-never-negative"),
        (cell(lambda i, f, g, c, h: sg(f) * c + sg(i) * g), "candidate-not-squeezed"),
        (cell(lambda i, f, g, c, h: f.tanh() * c + i.tanh() * g.tanh()), "gates-by-tanh"),
        (cell(lambda i, f, g, c, h: sg(f) * c + i.tanh() * sg(g)), "gates-by-tanh"),
        (cell(out=lambda o, c, old: o.tanh() * c.tanh()), "gates-by-tanh"),
        (cell(lambda i, f, g, c, h: c + sg(i) * g.tanh()), "forget-gate-missing"),
        (cell(lambda i, f, g, c, h: sg(f) * c + g.tanh()), "input-gate-missing"),
        (cell(lambda i, f, g, c, h: torch.lerp(g.tanh(), c, sg(f))), "one-gate-for-both"),
        (cell(lambda i, f, g, c, h: sg(f) * (c + g.tanh())), "one-gate-for-both"),
        (cell(lambda i, f, g, c, h: sg(-f) * c + sg(i) * g.tanh()), "forget-gate-upside-down"),
        (cell(lambda i, f, g, c, h: sg(i) * g.tanh()), "old-cell-lost"),
        (cell(lambda i, f, g, c, h: sg(f) * h + sg(i) * g.tanh()), "state-kept-instead-of-cell"),
        (cell(order=(0, 1, 3, 2)), "rows-in-another-order"),
        (cell(order=(3, 1, 2, 0)), "rows-in-another-order"),
        (cell(out=lambda o, c, old: sg(o) * old.tanh()), "output-from-the-old-cell"),
        (cell(out=lambda o, c, old: sg(o) * c), "output-not-squeezed"),
        (cell(out=lambda o, c, old: sg(o) * sg(c)), "output-by-sigmoid"),
        (cell(out=lambda o, c, old: c.tanh()), "output-gate-missing"),
        (cell(give=lambda h, c: (c, h)), "pair-swapped"),
        (cell(give=lambda h, c: h), "cell-not-returned"),
        (cell(give=lambda h, c: c), "one-tensor-instead-of-two"),
        (cell(give=lambda h, c: (h, 2 * c)), "does-not-keep"),
    ],
    "1.6": [
        (product(lambda states, k: states[1 : k + 1]), "first-states-instead-of-last"),
        (
            product(lambda states, k: states[-k - 1 : -1], lambda h, w: w @ torch.diag(1 - h**2)),
            "slopes-on-the-columns",
        ),
        (product(step=lambda h, w: (1 - h**2) * w.T), "factors-transposed"),
        (product(lambda states, k: [states[-1]] * k), "same-slopes-in-every-step"),
        (product(lambda states, k: [states[-k]] * k), "same-slopes-in-every-step"),
        (
            lambda states, w, k: torch.linalg.matrix_power(torch.diag(1 - states[-1] ** 2) @ w, k),
            "same-slopes-in-every-step",
        ),
        (product(lambda states, k: states[k:]), "steps-before-instead-of-k"),
        (product(lambda states, k: states[:-k]), "steps-before-instead-of-k"),
        (product(step=lambda h, w: torch.diag(h) @ w), "state-instead-of-slope"),
        (product(step=lambda h, w: torch.diag(h**2) @ w), "state-instead-of-slope"),
        (lambda states, w, k: torch.diag((1 - states[-k:] ** 2).prod(0)) @ w, "matrix-only-once"),
        (lambda states, w, k: torch.linalg.matrix_power(w, k), "slopes-left-out"),
        (product(step=lambda h, w: w), "slopes-left-out"),
        (product(step=lambda h, w: torch.diag(1 - h**2)), "matrix-left-out"),
        (lambda states, w, k: torch.diag((1 - states[-k:] ** 2).prod(0)), "matrix-left-out"),
        (product(lambda states, k: states[-k - 1 :]), "one-step-too-many"),
        (product(lambda states, k: states[-k:-1]), "one-step-too-few"),
        (product(lambda states, k: states[len(states) - k + 1 :]), "one-step-too-few"),
        (product(lambda states, k: states[-k - 1 : -1]), "states-late-by-one"),
        (product(lambda states, k: states[:k]), "first-states-instead-of-last"),
        (product(lambda states, k: states), "whole-sentence"),
        (product(lambda states, k: states[1:]), "whole-sentence"),
        (lambda states, w, k: jacobian_diag(states, w, 1), "last-step-only"),
        (product(join=lambda old, new: old @ new), "product-in-the-wrong-order"),
        (
            lambda states, w, k: torch.linalg.multi_dot([*factors(states, w, k), torch.eye(len(w))]),
            "product-in-the-wrong-order",
        ),
        (product(step=lambda h, w: w @ torch.diag(1 - h**2)), "slopes-on-the-columns"),
        (product(step=lambda h, w: w * (1 - h.square())), "slopes-on-the-columns"),
        (lambda *args: jacobian_einsum(*args).mT, "transposed"),
        (lambda states, w, k: jacobian_einsum(states, w.T, k), "matrix-transposed"),
        (product(join=lambda old, new: old * new), "entry-by-entry"),
        (lambda states, w, k: torch.stack(factors(states, w, k)).prod(0), "entry-by-entry"),
        (product(step=lambda h, w: (1 - h)[:, None] * w), "not-squared"),
        (product(step=lambda h, w: (1 - h.tanh().square())[:, None] * w), "tanh-taken-twice"),
        (
            lambda states, w, k: torch.diag((1 - states[-k:] ** 2).prod(0)) @ torch.linalg.matrix_power(w, k),
            "slopes-gathered-first",
        ),
        (lambda states, w, k: sum(factors(states, w, k)), "added-up"),
        (lambda *args: -jacobian_einsum(*args), "wrong-values"),
        (lambda states, w, k: jacobian_einsum(states, w, k)[0], "wrong-shape"),
    ],
}
