"""Right and wrong answers to the exercises of chapter 8, in many spellings. `test_bank.py` runs them."""

import copy

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

# ------------------------------------------------------------------ 8.1 predict
TRUTH = (True, False, True, False, True, False)


def flipped(*numbers):
    """The right answers with these statements answered the other way."""
    answers = [answer != (n + 1 in numbers) for n, answer in enumerate(TRUTH)]
    return lambda: answers


# ------------------------------------------------------------------ 8.2 work out


def says(*numbers):
    return lambda: list(numbers)


PLAIN, UP, DOWN, GATE = 0.5**20, 1.1**20, 0.9**20, 0.95**20


def by_products():
    factors = []
    for slope in (0.5, 1 + 0.1, 1 - 0.1, 0.95):
        product = 1.0
        for _ in range(20):
            product *= slope
        factors.append(product)
    return factors


def by_autograd():
    layers = (lambda h: 0.5 * h, lambda h: h + 0.1 * h, lambda h: h - 0.1 * h, lambda h: 0.95 * h + 0.3)
    factors = []
    for layer in layers:
        x = torch.tensor(1.0, requires_grad=True)
        h = x
        for _ in range(20):
            h = layer(h)
        h.backward()
        factors.append(x.grad)
    return torch.stack(factors)


# ------------------------------------------------------------------ 8.3 layer norm


def norm_of_torch(x, scale, shift, eps):
    return F.layer_norm(x, x.shape[-1:], scale, shift, eps)


def norm_by_var(x, scale, shift, eps):
    variance, mean = torch.var_mean(x, dim=2, correction=0, keepdim=True)
    return (x - mean) * torch.rsqrt(variance + eps) * scale + shift


def norm_by_std(x, scale, shift, eps):
    std = x.std(-1, keepdim=True, unbiased=False)
    return torch.addcmul(shift, scale, (x - x.mean(-1, keepdim=True)) / (std**2 + eps) ** 0.5)


def norm_by_loops(x, scale, shift, eps):
    out = torch.zeros_like(x)
    for b in range(x.shape[0]):
        for t in range(x.shape[1]):
            word = x[b, t]
            mean = sum(word) / len(word)
            variance = sum((n - mean) ** 2 for n in word) / len(word)
            out[b, t] = scale * (word - mean) / (variance + eps) ** 0.5 + shift
    return out


def norm_einsum(x, scale, shift, eps):
    D = x.size(-1)
    y = x - torch.einsum("btd->bt", x)[..., None] / D
    variance = torch.einsum("btd,btd->bt", y, y) / D
    return torch.einsum("btd,bt,d->btd", y, (variance + eps) ** -0.5, scale) + shift


def norm_in_place(x, scale, shift, eps):
    y = x.clone().double()
    y -= y.mean(-1, keepdim=True)
    y /= (y.pow(2).mean(-1, keepdim=True) + eps).sqrt_()
    y *= scale
    y += shift
    return y


def norm_mean_of_squares(x, scale, shift, eps):
    mean = x.mean(-1, keepdim=True)
    variance = (x**2).mean(-1, keepdim=True) - mean**2
    return (x - mean) / torch.sqrt(variance + eps) * scale + shift


def norm_by_a_matrix(x, scale, shift, eps):
    D = x.shape[-1]
    y = x @ (torch.eye(D) - torch.ones(D, D) / D)
    return scale * y / torch.sqrt(y.norm(dim=-1, keepdim=True) ** 2 / D + eps) + shift


def norm(
    axes=-1,
    correction=0,
    centre=True,
    divisor=lambda variance, eps: (variance + eps) ** 0.5,
    combine=lambda n, scale, shift: n * scale + shift,
):
    """A layer norm with one of its steps replaced."""

    def layer_norm(x, scale, shift, eps):
        variance = x.var(axes, keepdim=True, correction=correction)
        centred = x - x.mean(axes, keepdim=True) if centre else x
        return combine(centred / divisor(variance, eps), scale, shift)

    return layer_norm


def norm_of_annotated_transformer(x, scale, shift, eps):
    mean = x.mean(-1, keepdim=True)
    std = x.std(-1, keepdim=True)
    return scale * (x - mean) / (std + eps) + shift


def norm_by_batch_norm(x, scale, shift, eps):
    return F.batch_norm(x.mT, None, None, scale, shift, training=True, eps=eps).mT


def norm_by_instance_norm(x, scale, shift, eps):
    return F.instance_norm(x.mT, eps=eps).mT * scale + shift


def norm_overwriting(x, scale, shift, eps):
    x -= x.mean(-1, keepdim=True)
    return scale * x / torch.sqrt(x.square().mean(-1, keepdim=True) + eps) + shift


def norm_in_numpy_spirit(x, scale, shift, eps):
    centred = x - np.mean(x.numpy(), axis=-1, keepdims=True)
    return scale * centred / np.sqrt(np.var(x.numpy(), axis=-1, keepdims=True) + eps) + shift


# ------------------------------------------------------------------ 8.4 post-norm


def post_in_one_line(x, a, f, m, n):
    return n(m(x + a(x)) + f(m(x + a(x))))


def post_named(x, attention, feed_forward, norm_1, norm_2):
    read = attention(x)
    after_attention = norm_1(read + x)
    worked = feed_forward(after_attention)
    return norm_2(worked + after_attention)


def post_in_a_loop(x, attention, feed_forward, norm_1, norm_2):
    for sublayer, norm_of in ((attention, norm_1), (feed_forward, norm_2)):
        x = norm_of(torch.add(x, sublayer(x)))
    return x


def post_in_place(x, attention, feed_forward, norm_1, norm_2):
    y = attention(x)
    y += x
    y = norm_1(y)
    z = feed_forward(y)
    z += y
    return norm_2(z)


def post_by_forward(x, attention, feed_forward, norm_1, norm_2):
    x = norm_1.forward(x + attention.forward(x))
    return F.layer_norm(x + feed_forward.forward(x), x.shape[-1:], norm_2.scale, norm_2.shift)


def post_by_sentence(x, attention, feed_forward, norm_1, norm_2):
    out = [post_named(sentence[None], attention, feed_forward, norm_1, norm_2) for sentence in x]
    return torch.cat(out)


def post_overwriting(x, attention, feed_forward, norm_1, norm_2):
    x += attention(x)
    x = norm_1(x)
    return norm_2(x + feed_forward(x))


def block_of(first, second):
    """A block of two steps, each a function of (x, sub-layer, its norm)."""

    def post_norm_block(x, a, f, m, n):
        return second(first(x, a, m), f, n)

    return post_norm_block


def post(x, f, n):
    return n(x + f(x))


def pre(x, f, n):
    return x + f(n(x))


def norm_inside(x, f, n):
    return x + n(f(x))


def no_residual(x, f, n):
    return n(f(x))


def second_from_the_entrance(x, a, f, m, n):
    residual = x
    x = m(a(x) + residual)
    x = f(x)
    return n(x + residual)


def attention_overwritten(x, a, f, m, n):
    read = m(x + a(x))
    del read
    return n(x + f(x))


# ------------------------------------------------------------------ 8.5 pre-norm stack


def stack_of(first=pre, second=pre, end=lambda x, final: final(x), each=lambda x, final: x):
    def pre_norm_stack(x, blocks, final_norm):
        for attention, feed_forward, norm_1, norm_2 in blocks:
            x = first(x, attention, norm_1)
            x = second(x, feed_forward, norm_2)
            x = each(x, final_norm)
        return end(x, final_norm)

    return pre_norm_stack


def stack_recursive(x, blocks, final_norm):
    if not blocks:
        return final_norm(x)
    (attention, feed_forward, norm_1, norm_2), *rest = blocks
    x = x + attention(norm_1(x))
    return stack_recursive(x + feed_forward(norm_2(x)), rest, final_norm)


def stack_named(x, blocks, final_norm):
    for n in range(len(blocks)):
        normed = blocks[n][2](x)
        x = blocks[n][0](normed) + x
        normed = blocks[n][3](x)
        x = torch.add(x, blocks[n][1](normed))
    return final_norm(x)


def stack_on_a_copy(x, blocks, final_norm):
    stream = x.clone()
    for attention, feed_forward, norm_1, norm_2 in blocks:
        stream += attention(norm_1(stream))
        stream += feed_forward(norm_2(stream))
    return final_norm(stream)


def stack_flat(x, blocks, final_norm):
    for a, f, m, n in blocks:
        for sublayer, norm_of in ((a, m), (f, n)):
            x = x + sublayer(norm_of(x))
    return F.layer_norm(x, x.shape[-1:], final_norm.scale, final_norm.shift)


def adds_the_normed(x, f, n):
    x = n(x)
    return x + f(x)


def as_found(x, blocks, final_norm):
    for attention, feed_forward, norm_1, norm_2 in blocks:
        x = norm_1(x)
        x = x + attention(x)
        x = x + norm_2(feed_forward(x))
    return x


def first_block_only(x, blocks, final_norm):
    for attention, feed_forward, norm_1, norm_2 in blocks:
        x = x + attention(norm_1(x))
        x = x + feed_forward(norm_2(x))
        return final_norm(x)
    return x


def every_block_from_the_entrance(x, blocks, final_norm):
    for attention, feed_forward, norm_1, norm_2 in blocks:
        y = x + attention(norm_1(x))
        y = y + feed_forward(norm_2(y))
    return final_norm(y)


def attention_not_passed_on(x, blocks, final_norm):
    for attention, feed_forward, norm_1, norm_2 in blocks:
        y = x + attention(norm_1(x))
        x = x + feed_forward(norm_2(y))
    return final_norm(x)


# ------------------------------------------------------------------ 8.6 a stack of blocks


def ran(self, x):
    for block in self.blocks:
        x = block(x)
    return self.final_norm(x)


def stack_class(blocks, forward=ran, norm_of=lambda final_norm: final_norm):
    """A class whose blocks are made by blocks(make_block, n_layers)."""

    class Stack(nn.Module):
        def __init__(self, make_block, n_layers, final_norm):
            super().__init__()
            self.blocks = blocks(make_block, n_layers)
            self.final_norm = norm_of(final_norm)

    Stack.forward = forward
    return Stack


def fresh(make_block, n_layers):
    return nn.ModuleList([make_block() for _ in range(n_layers)])


class StackOfNames(nn.Module):
    def __init__(self, make_block, n_layers, final_norm):
        super().__init__()
        self.n_layers = n_layers
        for n in range(n_layers):
            setattr(self, f"block_{n}", make_block())
        self.add_module("norm", final_norm)

    def forward(self, x):
        for n in range(self.n_layers):
            x = getattr(self, f"block_{n}")(x)
        return self.norm(x)


class StackBySequential(nn.Sequential):
    def __init__(self, make_block, n_layers, final_norm):
        super().__init__(*(make_block() for _ in range(n_layers)), final_norm)


class StackOfDict(nn.Module):
    def __init__(self, make_block, n_layers, final_norm):
        super().__init__()
        self.layers = nn.ModuleDict({str(n): make_block() for n in range(n_layers)})
        self.final_norm = final_norm

    def forward(self, x):
        for layer in self.layers.values():
            x = layer(x)
        return self.final_norm(x)


class StackAppended(nn.Module):
    def __init__(self, make_block, n_layers, final_norm):
        super().__init__()
        self.blocks, self.final_norm = nn.ModuleList(), final_norm
        while len(self.blocks) < n_layers:
            self.blocks.append(make_block())

    def forward(self, x):
        return self._from(0, x)

    def _from(self, n, x):
        return self.final_norm(x) if n == len(self.blocks) else self._from(n + 1, self.blocks[n](x))


class StackOfOne(nn.Module):
    def __init__(self, make_block, n_layers, final_norm):
        super().__init__()
        self.block, self.n_layers, self.final_norm = make_block(), n_layers, final_norm

    def forward(self, x):
        for _ in range(self.n_layers):
            x = self.block(x)
        return self.final_norm(x)


class StackMadeLate(nn.Module):
    def __init__(self, make_block, n_layers, final_norm):
        super().__init__()
        self.make_block, self.n_layers, self.final_norm = make_block, n_layers, final_norm

    def forward(self, x):
        for _ in range(self.n_layers):
            x = self.make_block()(x)
        return self.final_norm(x)


class StackWithoutSuper(nn.Module):
    def __init__(self, make_block, n_layers, final_norm):
        self.blocks = nn.ModuleList(make_block() for _ in range(n_layers))
        self.final_norm = final_norm

    forward = ran


class StackLosingItsNorm(nn.Module):
    def __init__(self, make_block, n_layers, final_norm):
        super().__init__()
        self.blocks = fresh(make_block, n_layers)
        self.norms = [final_norm]

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.norms[0](x)


def no_end(self, x):
    for block in self.blocks:
        x = block(x)
    return x


def norm_each(self, x):
    for block in self.blocks:
        x = self.final_norm(block(x))
    return x


def norm_first(self, x):
    x = self.final_norm(x)
    for block in self.blocks:
        x = block(x)
    return x


def from_the_entrance(self, x):
    for block in self.blocks:
        y = block(x)
    return self.final_norm(y)


def too_early(self, x):
    for block in self.blocks:
        x = block(x)
        return self.final_norm(x)
    return x


def with_a_residual(self, x):
    for block in self.blocks:
        x = x + block(x)
    return self.final_norm(x)


def summed(self, x):
    return self.final_norm(sum(block(x) for block in self.blocks))


def backwards(self, x):
    for block in reversed(self.blocks):
        x = block(x)
    return self.final_norm(x)


def nothing_returned(self, x):
    for block in self.blocks:
        x = block(x)
    self.final_norm(x)


RIGHT = {
    "8.1": [
        lambda: list(TRUTH),
        lambda: TRUTH,
        lambda: [1, 0, 1, 0, 1, 0],
        lambda: torch.tensor(TRUTH),
        lambda: np.array(TRUTH),
    ],
    "8.2": [
        by_products,
        by_autograd,
        says(9.54e-7, 6.73, 0.122, 0.358),
        says(9.5e-7, 6.7, 0.12, 0.36),
        lambda: (PLAIN, UP, DOWN, GATE),
        lambda: np.array([0.5, 1.1, 0.9, 0.95]) ** 20,
    ],
    "8.3": [
        norm_of_torch,
        norm_by_var,
        norm_by_std,
        norm_by_loops,
        norm_einsum,
        norm_in_place,
        norm_mean_of_squares,
        norm_by_a_matrix,
        norm_in_numpy_spirit,
        norm(),
    ],
    "8.4": [
        post_in_one_line,
        post_named,
        post_in_a_loop,
        post_in_place,
        post_by_forward,
        post_by_sentence,
        block_of(post, post),
    ],
    "8.5": [stack_of(), stack_recursive, stack_named, stack_on_a_copy, stack_flat],
    "8.6": [
        stack_class(fresh),
        StackOfNames,
        StackBySequential,
        StackOfDict,
        StackAppended,
        stack_class(lambda make_block, n: nn.Sequential(*(make_block() for _ in range(n)))),
    ],
}

WRONG = {
    "8.1": [
        (flipped(1), "post-norm-drifts"),
        (flipped(2), "pre-norm-is-normal"),
        (lambda: [True] * 6, "pre-norm-is-normal"),
        (flipped(3), "stream-is-interrupted"),
        (lambda: (1, 0, 0, 0, 1, 0), "stream-is-interrupted"),
        (flipped(4), "norm-over-the-sentence"),
        (flipped(5), "norm-keeps-the-size"),
        (lambda: torch.tensor(flipped(6)()), "one-block-counted-often"),
        (flipped(6), "one-block-counted-often"),
        (lambda: [False] * 6, "post-norm-drifts"),
        (lambda: [True, False, True], "wrong-shape"),
    ],
    "8.2": [
        (says(0.5, 1.1, 0.9, 0.95), "one-layer-only"),
        (says(0.5**19, 1.1**19, 0.9**19, 0.95**19), "nineteen-or-twenty-one"),
        (lambda: torch.tensor([0.5, 1.1, 0.9, 0.95]) ** 21, "nineteen-or-twenty-one"),
        (says(10, 22, 18, 19), "added-instead-of-multiplied"),
        (says(PLAIN, 3, -1, GATE), "added-instead-of-multiplied"),
        (says(1.5**20, UP, DOWN, GATE), "plain-with-a-one"),
        (says(PLAIN, 0.1**20, 0.1**20, GATE), "residual-without-the-one"),
        (lambda: np.array([0.5, 0.1, -0.1, 0.95]) ** 20, "residual-without-the-one"),
        (says(PLAIN, 1 + 0.1**20, 1 + 0.1**20, GATE), "one-way-round-the-whole-stack"),
        (says(PLAIN, DOWN, UP, GATE), "two-and-three-swapped"),
        (says(PLAIN, UP, UP, GATE), "sign-lost"),
        (says(PLAIN, UP, 6.73, 0.358), "sign-lost"),
        (says(PLAIN, UP, -DOWN, GATE), "sign-kept-too-long"),
        (says(PLAIN, UP, DOWN, 1.95**20), "gate-and-a-one"),
        (says(PLAIN, UP, DOWN, 1.25**20), "constant-has-a-slope"),
        (says(PLAIN, UP, DOWN, GATE + 0.3), "constant-has-a-slope"),
        (says(PLAIN, UP, DOWN, 1), "gate-does-not-count"),
        (says(PLAIN, UP, DOWN, 0.7), "wrong-values"),
        (says(0, UP, DOWN, GATE), "wrong-values"),
        (says(PLAIN, UP, DOWN), "wrong-shape"),
    ],
    "8.3": [
        (norm(axes=1), "over-the-sequence"),
        (norm(axes=1, correction=1), "over-the-sequence"),
        (norm(axes=-2, divisor=lambda v, eps: v**0.5 + eps), "over-the-sequence"),
        (norm_by_instance_norm, "over-the-sequence"),
        (norm(axes=0), "over-the-batch"),
        (norm_by_batch_norm, "over-the-batch"),
        (norm(axes=(1, 2)), "over-words-and-numbers"),
        (norm(axes=(0, 1, 2)), "over-words-and-numbers"),
        (lambda x, w, b, eps: (x - x.mean()) / x.std() * w + b, "over-words-and-numbers"),
        (lambda x, w, b, eps: F.layer_norm(x, x.shape[1:], eps=eps) * w + b, "over-words-and-numbers"),
        (lambda x, w, b, eps: F.rms_norm(x, x.shape[-1:], w, eps) + b, "mean-left-in"),
        (norm(centre=False), "mean-left-in"),
        (norm(centre=False, correction=1), "mean-left-in"),
        (
            lambda x, w, b, eps: w * (x - x.mean(-1, True)) / ((x**2).mean(-1, True) + eps).sqrt() + b,
            "spread-around-zero",
        ),
        (norm(divisor=lambda v, eps: 1.0), "mean-alone"),
        (norm(divisor=lambda v, eps: v + eps), "divided-by-the-variance"),
        (norm(correction=1, divisor=lambda v, eps: v + eps), "divided-by-the-variance"),
        (norm(divisor=lambda v, eps: (v + eps) ** -0.5), "multiplied"),
        (lambda x, w, b, eps: w * F.normalize(x - x.mean(-1, True), dim=-1) + b, "length-one"),
        (
            lambda x, w, b, eps: (
                w * (x - x.mean(-1, True)) / ((x - x.mean(-1, True)).square().sum(-1, True) + eps).sqrt() + b
            ),
            "length-one",
        ),
        (norm(correction=1), "unbiased-std"),
        (norm_of_annotated_transformer, "unbiased-std"),
        (
            lambda x, w, b, eps: (x - x.mean(2, True)) / torch.sqrt(x.var(2, keepdim=True) + eps) * w + b,
            "unbiased-std",
        ),
        (norm(correction=1, divisor=lambda v, eps: v**0.5), "unbiased-std"),
        (
            lambda x, w, b, eps: (
                w * (x - x.mean(-1, True)) / ((x - x.mean(-1, True)).abs().mean(-1, True) + eps) + b
            ),
            "absolute-deviation",
        ),
        (lambda x, w, b, eps: w * x.softmax(-1) + b, "softmax-or-range"),
        (norm(divisor=lambda v, eps: v**0.5 + eps), "eps-outside-the-root"),
        (
            lambda x, w, b, eps: w * (x - x.mean(-1, True)) / (x.std(-1, False, keepdim=True) + eps) + b,
            "eps-outside-the-root",
        ),
        (norm(divisor=lambda v, eps: v**0.5), "eps-missing"),
        (lambda x, w, b, eps: F.layer_norm(x, x.shape[-1:], w, b, 0.0), "eps-missing"),
        (lambda x, w, b, eps: F.layer_norm(x, x.shape[-1:], w, b), "eps-missing"),
        (norm(divisor=lambda v, eps: (v + 0.1) ** 0.5), "eps-fixed"),
        (norm(divisor=lambda v, eps: (v + eps**2) ** 0.5), "eps-squared"),
        (norm(divisor=lambda v, eps: (v + eps) ** 0.5 + eps), "eps-added-twice"),
        (norm(combine=lambda n, scale, shift: n), "scale-and-shift-missing"),
        (lambda x, w, b, eps: F.layer_norm(x, x.shape[-1:], eps=eps), "scale-and-shift-missing"),
        (norm(combine=lambda n, scale, shift: n + shift), "scale-missing"),
        (norm(combine=lambda n, scale, shift: n * scale), "shift-missing"),
        (lambda x, w, b, eps: F.layer_norm(x, x.shape[-1:], w, None, eps), "shift-missing"),
        (norm(combine=lambda n, scale, shift: n * shift + scale), "scale-and-shift-swapped"),
        (lambda x, w, b, eps: norm_of_torch(x, b, w, eps), "scale-and-shift-swapped"),
        (norm(combine=lambda n, scale, shift: (n + shift) * scale), "shift-before-scale"),
        (norm(combine=lambda n, scale, shift: n / scale + shift), "divided-by-the-scale"),
        (norm(combine=lambda n, scale, shift: n * scale - shift), "shift-subtracted"),
        (norm(combine=lambda n, scale, shift: n * (1 + scale) + shift), "one-plus-scale"),
        (norm_overwriting, "argument-changed"),
        (lambda x, w, b, eps: w * (x - x.mean(-1)) / x.std(-1) + b, "error"),
        (lambda x, w, b, eps: 2 * norm_of_torch(x, w, b, eps), "wrong-values"),
    ],
    "8.4": [
        (block_of(pre, pre), "pre-norm"),
        (
            lambda x, a, f, m, n: (lambda y: y + f(n(y)))(torch.add(x, a(m(x)))),
            "pre-norm",
        ),
        (block_of(pre, post), "norm-orders-mixed"),
        (block_of(post, pre), "norm-orders-mixed"),
        (block_of(norm_inside, norm_inside), "norm-of-the-sublayer"),
        (block_of(norm_inside, post), "norm-of-the-sublayer"),
        (block_of(post, norm_inside), "norm-of-the-sublayer"),
        (block_of(no_residual, no_residual), "no-residuals"),
        (block_of(no_residual, post), "attention-not-added"),
        (block_of(post, no_residual), "feed-forward-not-added"),
        (second_from_the_entrance, "second-sum-from-the-entrance"),
        (lambda x, a, f, m, n: n(f(m(a(x) + x)) + x), "second-sum-from-the-entrance"),
        (lambda x, a, f, m, n: (lambda y: n(y + f(m(y))))(x + a(x)), "second-sum-before-the-norm"),
        (attention_overwritten, "attention-by-passed"),
        (block_of(lambda x, f, n: n(x + x), post), "attention-by-passed"),
        (block_of(lambda x, f, n: n(f(x) + f(x)), post), "attention-not-added"),
        (block_of(post, lambda x, f, n: n(2 * f(x))), "feed-forward-not-added"),
        (lambda x, a, f, m, n: n(m(x + a(x)) + f(x)), "feed-forward-reads-the-entrance"),
        (lambda x, a, f, m, n: n(m(x + a(x) + f(x))), "feed-forward-reads-the-entrance"),
        (lambda x, a, f, m, n: post_named(x, a, f, n, m), "norms-swapped"),
        (lambda x, a, f, m, n: post_named(x, a, f, m, m), "one-norm-twice"),
        (lambda x, a, f, m, n: post_named(x, a, f, n, n), "one-norm-twice"),
        (lambda x, a, f, m, n: post_named(x, f, a, m, n), "sublayers-swapped"),
        (lambda x, a, f, m, n: post_named(x, f, a, n, m), "sublayers-swapped"),
        (block_of(lambda x, f, n: x + f(x), lambda x, f, n: x + f(x)), "no-norms"),
        (block_of(lambda x, f, n: x + f(x), post), "a-norm-missing"),
        (block_of(post, lambda x, f, n: x + f(x)), "a-norm-missing"),
        (block_of(lambda x, f, n: n(x + f(n(x))), lambda x, f, n: n(x + f(n(x)))), "norm-before-and-after"),
        (block_of(post, lambda x, f, n: x), "feed-forward-missing"),
        (post_overwriting, "argument-changed"),
        (lambda x, a, f, m, n: None, "returned-none"),
        (block_of(post, lambda x, f, n: post(post(x, f, n), f, n)), "wrong-values"),
    ],
    "8.5": [
        (as_found, "nothing-mended"),
        (stack_of(adds_the_normed, norm_inside, end=lambda x, final: x), "nothing-mended"),
        (stack_of(post, post), "post-norm"),
        (stack_of(post, post, end=lambda x, final: x), "post-norm"),
        (stack_of(pre, post), "post-norm"),
        (stack_of(adds_the_normed), "residual-adds-the-normed"),
        (stack_of(adds_the_normed, adds_the_normed), "residual-adds-the-normed"),
        (stack_of(lambda x, f, n: n(x) + f(n(x)), end=lambda x, final: x), "residual-adds-the-normed"),
        (stack_of(adds_the_normed, norm_inside), "residual-adds-the-normed"),
        (stack_of(lambda x, f, n: f(n(x))), "residual-missing"),
        (stack_of(pre, norm_inside), "norm-of-the-sublayer"),
        (stack_of(pre, norm_inside, end=lambda x, final: x), "norm-of-the-sublayer"),
        (stack_of(norm_inside, norm_inside), "norm-of-the-sublayer"),
        (stack_of(pre, lambda x, f, n: x + n(f(n(x)))), "norm-on-both-sides"),
        (stack_of(pre, lambda x, f, n: x + f(x)), "norm-missing"),
        (stack_of(end=lambda x, final: x), "no-final-norm"),
        (
            lambda x, blocks, final: [x := x + f(n(x)) for b in blocks for f, n in (b[::2], b[1::2])][-1],
            "no-final-norm",
        ),
        (stack_of(end=lambda x, final: x, each=lambda x, final: final(x)), "final-norm-in-every-block"),
        (first_block_only, "one-block-only"),
        (every_block_from_the_entrance, "one-block-only"),
        (attention_not_passed_on, "second-sum-from-the-entrance"),
        (
            lambda x, blocks, final: stack_named(x, [(a, f, m, m) for a, f, m, n in blocks], final),
            "norms-mixed-up",
        ),
        (
            lambda x, blocks, final: stack_named(x, [(a, f, n, m) for a, f, m, n in blocks], final),
            "norms-mixed-up",
        ),
        (lambda x, blocks, final: stack_named(x, blocks[::-1], final), "wrong-values"),
    ],
    "8.6": [
        (StackWithoutSuper, "super-init-missing"),
        (stack_class(lambda make, n: nn.ModuleList([make()] * n)), "one-block-repeated"),
        (stack_class(lambda make, n: nn.Sequential(*[make()] * n)), "one-block-repeated"),
        (StackOfOne, "one-block-repeated"),
        (stack_class(lambda make, n: [make() for _ in range(n)]), "blocks-in-a-python-list"),
        (stack_class(lambda make, n: tuple(make() for _ in range(n))), "blocks-in-a-python-list"),
        (stack_class(lambda make, n: [make()] * n), "blocks-in-a-python-list"),
        (StackMadeLate, "blocks-in-a-python-list"),
        (
            stack_class(lambda make, n: [make() for _ in range(n)], norm_of=lambda f: [f]),
            "blocks-in-a-python-list",
        ),
        (StackLosingItsNorm, "final-norm-not-registered"),
        (
            stack_class(lambda make, n: nn.ModuleList(make() for _ in range(n - 1))),
            "one-block-too-many-or-few",
        ),
        (
            stack_class(lambda make, n: nn.ModuleList(make() for _ in range(n + 1))),
            "one-block-too-many-or-few",
        ),
        (stack_class(lambda make, n: nn.ModuleList(make() for _ in range(2 * n))), "wrong-count"),
        (
            stack_class(
                lambda make, n: (lambda b: nn.ModuleList(copy.deepcopy(b) for _ in range(n)))(make())
            ),
            "copies-of-one-block",
        ),
        (stack_class(fresh, no_end), "no-final-norm"),
        (stack_class(fresh, norm_each), "norm-after-every-block"),
        (stack_class(fresh, norm_first), "norm-first"),
        (stack_class(fresh, from_the_entrance), "all-read-the-entrance"),
        (stack_class(fresh, too_early), "returned-too-early"),
        (stack_class(fresh, with_a_residual), "outputs-added-up"),
        (stack_class(fresh, summed), "outputs-added-up"),
        (stack_class(fresh, backwards), "last-block-first"),
        (stack_class(fresh, nothing_returned), "returned-none"),
        (stack_class(fresh)(lambda: nn.Identity(), 2, nn.Identity()), "not-a-class"),
    ],
}
