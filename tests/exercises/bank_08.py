"""Right and wrong answers to the exercises of chapter 8, in many spellings. `test_bank.py` runs them."""

import copy

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from transformer_lib import EncoderBlock

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


def norm_by_group_norm(x, scale, shift, eps):
    B, T, D = x.shape
    return F.group_norm(x.reshape(B * T, D), 1, scale, shift, eps).view(B, T, D)


def norm_by_vmap(x, scale, shift, eps):
    def of_a_word(word):
        return (word - word.mean()) / torch.sqrt(word.var(correction=0) + eps) * scale + shift

    return torch.vmap(torch.vmap(of_a_word))(x)


def norm_with_a_transpose(x, scale, shift, eps):
    y = x.transpose(0, 2)
    y = (y - y.mean(0)) / (y.var(0, correction=0) + eps).sqrt()
    return y.transpose(0, 2) * scale + shift


def norm_by_module(x, scale, shift, eps):
    made = nn.LayerNorm(x.shape[-1], eps=eps)
    made.weight, made.bias = nn.Parameter(scale), nn.Parameter(shift)
    return made(x)


def centred_over(x, axes):
    return x - x.mean(axes, keepdim=True)


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


def post_in_double(x, *parts):
    attention, feed_forward, norm_1, norm_2 = (copy.deepcopy(part).double() for part in parts)
    x = norm_1(attention(x.double()) + x)
    return norm_2(feed_forward(x) + x)


def post_word_by_word(x, attention, feed_forward, norm_1, norm_2):
    x = norm_1(x + attention(x))
    worked = [feed_forward(x[:, t : t + 1]) for t in range(x.shape[1])]
    return norm_2(x + torch.cat(worked, dim=1))


def post_by_library(x, attention, feed_forward, norm_1, norm_2):
    block = EncoderBlock(attention, feed_forward, pre_norm=False)
    block.attention_norm, block.feed_forward_norm = norm_1, norm_2
    return block(x)


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


def stack_in_double(x, blocks, final_norm):
    x = x.double()
    for block in blocks:
        attention, feed_forward, norm_1, norm_2 = (copy.deepcopy(part).double() for part in block)
        x = x + attention(norm_1(x))
        x = x + feed_forward(norm_2(x))
    return copy.deepcopy(final_norm).double()(x)


def stack_of_summands(x, blocks, final_norm):
    summands = [x]
    for attention, feed_forward, norm_1, norm_2 in blocks:
        summands.append(attention(norm_1(sum(summands))))
        summands.append(feed_forward(norm_2(sum(summands))))
    return final_norm(torch.stack(summands).sum(0))


def stack_by_library(x, blocks, final_norm):
    for attention, feed_forward, norm_1, norm_2 in blocks:
        block = EncoderBlock(attention, feed_forward, pre_norm=True)
        block.attention_norm, block.feed_forward_norm = norm_1, norm_2
        x = block(x)
    return final_norm(x)


def stack_overwriting(x, blocks, final_norm):
    for attention, feed_forward, norm_1, norm_2 in blocks:
        x += attention(norm_1(x))
        x += feed_forward(norm_2(x))
    return final_norm(x)


def both_read_one_norm(x, blocks, final_norm):
    for attention, feed_forward, norm_1, norm_2 in blocks:
        y = norm_1(x)
        x = x + attention(y)
        y = norm_2(y)
        x = x + feed_forward(y)
    return final_norm(x)


def in_parallel(x, blocks, final_norm):
    for attention, feed_forward, norm_1, norm_2 in blocks:
        x = x + attention(norm_1(x)) + feed_forward(norm_2(x))
    return final_norm(x)


def normed_once_for_both(x, blocks, final_norm):
    for attention, feed_forward, norm_1, _ in blocks:
        y = norm_1(x)
        x = x + attention(y)
        x = x + feed_forward(y)
    return final_norm(x)


def from_the_stacks_entrance(x, blocks, final_norm):
    entrance = x
    for attention, feed_forward, norm_1, norm_2 in blocks:
        x = entrance + attention(norm_1(x))
        x = x + feed_forward(norm_2(x))
    return final_norm(x)


def renamed(change):
    """A stack in which the parts of each block are taken for others."""
    return lambda x, blocks, final: stack_named(x, [change(*block) for block in blocks], final)


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


class StackAsOneNetwork(nn.Module):
    def __init__(self, make_block, n_layers, final_norm):
        super(StackAsOneNetwork, self).__init__()  # noqa: UP008
        self.network = nn.Sequential(*[make_block() for _ in range(n_layers)], final_norm)

    def forward(self, x):
        return self.network(x)


class StackOfParameters(nn.Module):
    def __init__(self, make_block, n_layers, final_norm):
        super().__init__()
        self.blocks = [make_block() for _ in range(n_layers)]
        self.found = nn.ParameterList(p for block in self.blocks for p in block.parameters())
        self.final_norm = final_norm

    def forward(self, x):
        return ran(self, x.clone())


class StackWithoutForward(nn.Module):
    def __init__(self, make_block, n_layers, final_norm):
        super().__init__()
        self.blocks, self.final_norm = fresh(make_block, n_layers), final_norm

    foward = ran


class StackWithoutModule:
    def __init__(self, make_block, n_layers, final_norm):
        self.blocks, self.final_norm = fresh(make_block, n_layers), final_norm

    forward = __call__ = ran


class StackThatLooksFirst(nn.Module):
    def __init__(self, make_block, n_layers, final_norm):
        super().__init__()
        self.d_model = make_block().attention.d_model
        self.blocks, self.final_norm = fresh(make_block, n_layers), final_norm

    forward = ran


def calls_the_list(self, x):
    return self.final_norm(self.blocks(x))


def norm_before_each(self, x):
    for block in self.blocks:
        x = block(self.final_norm(x))
    return x


def norm_each_and_at_the_end(self, x):
    return self.final_norm(norm_each(self, x))


def norm_of_each_sum(self, x):
    for block in self.blocks:
        x = self.final_norm(x + block(x))
    return x


def results_thrown_away(self, x):
    for block in self.blocks:
        block(x)
    return self.final_norm(x)


def last_not_run(self, x):
    for block in self.blocks[:-1]:
        x = block(x)
    return self.final_norm(x)


def first_not_run(self, x):
    for block in self.blocks[1:]:
        x = block(x)
    return self.final_norm(x)


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
        lambda: [torch.tensor(answer) for answer in TRUTH],
        [np.bool_(answer) for answer in TRUTH],
    ],
    "8.2": [
        by_products,
        by_autograd,
        says(9.54e-7, 6.73, 0.122, 0.358),
        says(9.5e-7, 6.7, 0.12, 0.36),
        lambda: (PLAIN, UP, DOWN, GATE),
        lambda: np.array([0.5, 1.1, 0.9, 0.95]) ** 20,
        says(9.5e-7, 6.7, 0.12, 0.35),
        [1e-6 * 0.95, 6.73, 0.122, 0.36],
        lambda: [torch.tensor(slope) ** 20 for slope in (0.5, 1.1, 0.9, 0.95)],
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
        norm_by_group_norm,
        norm_by_vmap,
        norm_with_a_transpose,
        norm_by_module,
        lambda x, w, b, eps: F.instance_norm(x, eps=eps) * w + b,
        lambda x, w, b, eps: F.layer_norm(x.double(), w.shape, w.double(), b.double(), eps),
    ],
    "8.4": [
        post_in_one_line,
        post_named,
        post_in_a_loop,
        post_in_place,
        post_by_forward,
        post_by_sentence,
        block_of(post, post),
        post_in_double,
        post_word_by_word,
        post_by_library,
    ],
    "8.5": [
        stack_of(),
        stack_recursive,
        stack_named,
        stack_on_a_copy,
        stack_flat,
        stack_in_double,
        stack_of_summands,
        stack_by_library,
    ],
    "8.6": [
        stack_class(fresh),
        StackOfNames,
        StackBySequential,
        StackOfDict,
        StackAppended,
        stack_class(lambda make_block, n: nn.Sequential(*(make_block() for _ in range(n)))),
        StackAsOneNetwork,
        StackOfParameters,
        lambda make_block, n, norm: nn.Sequential(*(make_block() for _ in range(n)), norm),
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
        (lambda: dict(enumerate(TRUTH, 1)), "wrong-type"),
        (lambda: "TFTFTF", "wrong-type"),
        (lambda: None, "returned-none"),
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
        (says(PLAIN, UP, DOWN, 0.7), "cell-wrong"),
        (says(0, UP, DOWN, GATE), "rounded-to-nothing"),
        (says(PLAIN, UP, DOWN), "wrong-shape"),
        (says(0.5, UP, DOWN, GATE), "slope-of-one-layer"),
        (says(PLAIN, UP, DOWN, 0.95), "slope-of-one-layer"),
        (says(*(100 * n for n in (PLAIN, UP, DOWN, GATE))), "in-percent"),
        (says(0.0, 6.73, 0.12, 0.36), "rounded-to-nothing"),
        (says(PLAIN, UP, DOWN, 0.65**20), "constant-has-a-slope"),
        (says(PLAIN, UP, DOWN, GATE + 0.3 * sum(0.95**k for k in range(20))), "value-instead-of-slope"),
        (says(PLAIN, UP, DOWN, 0.3 * sum(0.95**k for k in range(20))), "value-instead-of-slope"),
        (says(9.5e-6, UP, DOWN, GATE), "plain-layers-wrong"),
        (says(PLAIN, 67, DOWN, GATE), "residual-layers-wrong"),
        (says(PLAIN, 7.5, 0.15, GATE), "residual-layers-wrong"),
        (says(PLAIN, UP, DOWN, 0.05**20), "cell-wrong"),
        (says(1 / PLAIN, 1 / UP, 1 / DOWN, 1 / GATE), "wrong-values"),
        (lambda: PLAIN, "wrong-type"),
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
        (lambda x, w, b, eps: F.layer_norm(x, x.shape[-1:], w, b), "eps-fixed"),
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
        (
            lambda x, w, b, eps: (
                centred_over(x, 1) / (x.var(-1, keepdim=True, correction=0) + eps).sqrt() * w + b
            ),
            "other-words-read",
        ),
        (
            lambda x, w, b, eps: centred_over(x, -1) / (x.var(correction=0) + eps).sqrt() * w + b,
            "other-words-read",
        ),
        (
            lambda x, w, b, eps: (x - x.mean()) / (x.var(-1, True, keepdim=True) + eps).sqrt(),
            "other-words-read",
        ),
        (norm(divisor=lambda v, eps: (v**0.5 + eps) ** 0.5), "rooted-twice"),
        (
            lambda x, w, b, eps: (
                w * centred_over(x, -1) / (x.square().mean(-1, True) - x.mean(-1, True) + eps).sqrt() + b
            ),
            "square-of-the-mean",
        ),
        (
            lambda x, w, b, eps: (
                w * (x - x.sum(-1, True)) / (x.var(-1, False, keepdim=True) + eps).sqrt() + b
            ),
            "sum-for-the-mean",
        ),
        (
            lambda x, w, b, eps: (
                w * (x - x.mean(-1, True) / (x.var(-1, False, keepdim=True) + eps) ** 0.5) + b
            ),
            "brackets-missing",
        ),
        (lambda x, w, b, eps: x + norm_of_torch(x, w, b, eps), "input-added"),
        (
            lambda x, w, b, eps: w * centred_over(x, -1) / (x.amax(-1, True) - x.amin(-1, True)) + b,
            "divided-by-the-range",
        ),
        (
            lambda x, w, b, eps: (
                w * centred_over(x, -1) / centred_over(x, -1).abs().mean(-1, True).sqrt() + b
            ),
            "absolute-deviation",
        ),
        (norm(divisor=lambda v, eps: v.clamp_min(eps) ** 0.5), "eps-elsewhere"),
        (norm(divisor=lambda v, eps: (v - eps) ** 0.5), "eps-elsewhere"),
        (norm(divisor=lambda v, eps: v**0.5 + eps**0.5), "eps-elsewhere"),
        (
            lambda x, w, b, eps: (centred_over(x, -1) + eps) / x.std(-1, False, keepdim=True) * w + b,
            "eps-elsewhere",
        ),
        (lambda x, w, b, eps: nn.LayerNorm(x.shape[-1])(x), "eps-fixed"),
        (norm(combine=lambda n, scale, shift: n * scale * shift), "shift-multiplies"),
        (lambda x, w, b, eps: F.layer_norm(x * w + b, w.shape, eps=eps), "scaled-before-the-norm"),
        (lambda x, w, b, eps: F.layer_norm(x * w, w.shape, eps=eps) + b, "scaled-before-the-norm"),
        (lambda x, w, b, eps: F.dropout(norm_of_torch(x, w, b, eps), 0.1), "random-result"),
        (lambda x, w, b, eps: x.mean(-1), "wrong-shape"),
        (lambda x, w, b, eps: None, "returned-none"),
        (nn.LayerNorm, "class-instead-of-function"),
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
        (block_of(lambda x, f, n: n(x) + f(x), lambda x, f, n: n(x) + f(x)), "residual-adds-the-normed"),
        (
            block_of(lambda x, f, n: n(x) + f(n(x)), lambda x, f, n: n(x) + f(n(x))),
            "residual-adds-the-normed",
        ),
        (block_of(post, lambda x, f, n: n(x) + f(x)), "residual-adds-the-normed"),
        (lambda x, a, f, m, n: n(x + f(a(x))), "one-way-around-both"),
        (lambda x, a, f, m, n: n(x + f(m(a(x)))), "one-way-around-both"),
        (lambda x, a, f, m, n: post_named(x, a, a, m, n), "same-sublayer-twice"),
        (lambda x, a, f, m, n: post_named(x, f, f, m, n), "same-sublayer-twice"),
        (block_of(post, lambda x, f, n: x + n(x + f(x))), "added-again"),
        (block_of(lambda x, f, n: n(x * f(x)), lambda x, f, n: n(x * f(x))), "multiplied-or-subtracted"),
        (block_of(lambda x, f, n: n(x - f(x)), post), "multiplied-or-subtracted"),
        (block_of(lambda x, f, n: F.layer_norm(x + f(x), x.shape[-1:]), post), "norms-of-your-own"),
        (
            lambda x, a, f, m, n: (lambda own: block_of(post, post)(x, a, f, own, own))(
                nn.LayerNorm(x.shape[-1])
            ),
            "norms-of-your-own",
        ),
        (block_of(pre, lambda x, f, n: x + f(x)), "a-norm-missing"),
        (lambda x, a, f, m, n: n(x + a(x) + f(x + a(x))), "a-norm-missing"),
        (lambda x, a, f, m, n: n(x + a(x) + f(x)), "feed-forward-reads-the-entrance"),
        (block_of(lambda x, f, n: n(x + n(f(x))), post), "norm-before-and-after"),
        (block_of(lambda x, f, n: f(x), lambda x, f, n: f(x)), "no-residuals"),
        (lambda x, a, f, m, n: torch.cat([x, a(x)], dim=-1), "wrong-shape"),
        (block_of(post, lambda x, f, n: F.dropout(n(x + f(x)), 0.1)), "random-result"),
        (lambda x, a, f, m, n: n(x, a(x)), "error"),
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
        (lambda x, blocks, final: stack_named(x, blocks[::-1], final), "last-block-first"),
        (stack_overwriting, "argument-changed"),
        (both_read_one_norm, "feed-forward-reads-too-early"),
        (in_parallel, "feed-forward-reads-too-early"),
        (normed_once_for_both, "feed-forward-reads-too-early"),
        (from_the_stacks_entrance, "every-sum-from-the-entrance"),
        (lambda x, blocks, final: stack_of(end=lambda x, _: x)(final(x), blocks, final), "final-norm-first"),
        (stack_of(each=lambda x, final: final(x)), "final-norm-in-every-block"),
        (renamed(lambda a, f, m, n: (a, f, n, n)), "norms-mixed-up"),
        (lambda x, blocks, final: stack_named(x, blocks, blocks[-1][3]), "final-norm-mixed-up"),
        (
            lambda x, blocks, final: stack_named(x, [(a, f, final, final) for a, f, _, _ in blocks], final),
            "final-norm-mixed-up",
        ),
        (renamed(lambda a, f, m, n: (f, a, n, m)), "sublayers-swapped"),
        (renamed(lambda a, f, m, n: (f, a, m, n)), "sublayers-swapped"),
        (lambda x, blocks, final: stack_named(x, blocks[1:], final), "a-block-skipped"),
        (lambda x, blocks, final: stack_named(x, blocks[:-1], final), "a-block-skipped"),
        (stack_of(lambda x, f, n: x + f(x), lambda x, f, n: x + f(x)), "norm-missing"),
        (lambda x, blocks, final: [stack_named(x, blocks, final)], "wrong-type"),
        (stack_of(end=lambda x, final: final(final(x))), "wrong-values"),
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
        (StackWithoutForward, "forward-missing"),
        (StackWithoutModule, "no-module"),
        (StackThatLooksFirst, "make-block-called-too-often"),
        (stack_class(fresh, calls_the_list), "list-called"),
        (stack_class(lambda make, n: nn.ModuleList([make for _ in range(n)])), "make-block-not-called"),
        (stack_class(fresh, norm_of=lambda norm: nn.LayerNorm(len(norm.scale))), "another-norm"),
        (stack_class(fresh, norm_before_each), "norm-before-every-block"),
        (
            stack_class(fresh, lambda self, x: self.final_norm(norm_before_each(self, x))),
            "norm-before-every-block",
        ),
        (stack_class(fresh, norm_each_and_at_the_end), "norm-after-every-block"),
        (stack_class(fresh, norm_of_each_sum), "outputs-added-up"),
        (stack_class(fresh, results_thrown_away), "blocks-not-used"),
        (stack_class(fresh, last_not_run), "a-block-skipped"),
        (stack_class(fresh, first_not_run), "a-block-skipped"),
        (stack_class(fresh, lambda self, x: [block(x) for block in self.blocks]), "wrong-type"),
        (stack_class(lambda make, n: nn.Sequential([make() for _ in range(n)])), "error"),
    ],
}
