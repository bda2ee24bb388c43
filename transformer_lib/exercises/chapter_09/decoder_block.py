"""Exercise 9.3: A decoder block gone wrong."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from transformer_lib.exercises.attention_probes import near
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


def decoder_block(x, memory, past, real, attention, cross_attention, feed_forward, norms):
    x = norms[0](x + attention(x, past))
    x = norms[1](x + cross_attention(x, memory, real))
    return norms[2](x + feed_forward(x))


def _read(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~mask, float("-inf"))
    return torch.softmax(scores, -1) @ v


def _block(B: int, T: int, S: int, D: int, generator: torch.Generator) -> tuple:
    """Arguments: three sub-layers and three norms with random numbers inside."""
    maps = 0.8 * torch.randn(6, D, D, generator=generator)
    wide, narrow = torch.randn(2 * D, D, generator=generator), torch.randn(D, 2 * D, generator=generator)
    scales = 1 + 0.3 * torch.randn(3, D, generator=generator)

    def attention(x, mask):
        return _read(x @ maps[0], x @ maps[1], x @ maps[2], mask)

    def cross_attention(x, memory, mask):
        return _read(x @ maps[3], memory @ maps[4], memory @ maps[5], mask)

    def feed_forward(x):
        return torch.relu(x @ wide.T) @ narrow.T / 2

    def norm(n):
        return lambda x: scales[n] * torch.nn.functional.layer_norm(x, (D,))

    lengths = torch.tensor([S - b % 3 for b in range(B)])
    return (
        torch.randn(B, T, D, generator=generator),
        torch.randn(B, S, D, generator=generator),
        torch.ones(T, T, dtype=torch.bool).tril(),
        (torch.arange(S) < lengths[:, None])[:, None, :],
        attention,
        cross_attention,
        feed_forward,
        [norm(0), norm(1), norm(2)],
    )


def _blocks(generator: torch.Generator) -> list[tuple]:
    # as many words in the target as in the source: mixed-up masks raise no error
    return [_block(B, T, T, D, generator) for B, T, D in ((2, 3, 5), (3, 5, 7), (5, 7, 11))]


def _same_as(compute: Callable) -> Callable[[Attempt], bool]:
    """A probe: on every case the result is this one."""
    return lambda attempt: all(near(case.got, compute(*case.args)) for case in attempt.cases)


def _calls(attempt: Attempt) -> tuple[list[str], dict[str, list]]:
    """Which of the six functions are called, in order, and with what."""
    x, memory, past, real, attention, cross, feed, norms = _block(
        2, 5, 5, 7, torch.Generator().manual_seed(3)
    )
    order, given = [], {}

    def noted(name, function):
        def call(*args):
            order.append(name)
            given.setdefault(name, []).append(args)
            return function(*args)

        return call

    wrapped = [noted(f"norm {n}", norm) for n, norm in enumerate(norms)]
    parts = noted("attention", attention), noted("cross", cross), noted("feed", feed)
    attempt.call(x, memory, past, real, *parts, wrapped)
    given |= {"x": x, "memory": memory, "past": past, "real": real}
    return order, given


def _mask_is(name: str, wanted: str) -> Callable[[Attempt], bool]:
    def probe(attempt: Attempt) -> bool:
        _, given = _calls(attempt)
        mask = given[name][0][-1]
        return mask.shape == given[wanted].shape and bool((mask == given[wanted]).all())

    return probe


def _masks_joined(attempt: Attempt) -> bool:
    """The target's self-attention hides the places of the source's padding too."""
    _, given = _calls(attempt)
    mask = given["attention"][0][-1]
    return torch.equal(mask.expand(2, 5, 5), (given["past"] & given["real"]).expand(2, 5, 5))


def _memory_asks(attempt: Attempt) -> bool:
    _, given = _calls(attempt)
    x, memory, _ = given["cross"][0]
    return near(x, given["memory"]) and not near(memory, given["memory"])


def _cross_reads_target(attempt: Attempt) -> bool:
    _, given = _calls(attempt)
    x, memory, _ = given["cross"][0]
    return not near(memory, given["memory"]) and not near(x, given["memory"])


def _order_is(*wanted: str) -> Callable[[Attempt], bool]:
    return lambda attempt: [n for n in _calls(attempt)[0] if not n.startswith("norm")] == list(wanted)


def _one_norm_for_all(attempt: Attempt) -> bool:
    norms = [name for name in _calls(attempt)[0] if name.startswith("norm")]
    return len(norms) == 3 and sorted(norms) != ["norm 0", "norm 1", "norm 2"]


def _norms_in_other_order(attempt: Attempt) -> bool:
    norms = [name for name in _calls(attempt)[0] if name.startswith("norm")]
    return len(norms) == 3 and norms != sorted(norms)


def _missing(name: str) -> Callable[[Attempt], bool]:
    return lambda attempt: name not in _calls(attempt)[0]


def _fewer_norms(attempt: Attempt) -> bool:
    return sum(name.startswith("norm") for name in _calls(attempt)[0]) < 3


def _wired(residuals=(True, True, True), mask: str = "past", inside=False, first=False, pre=False):
    """The block with other residuals, another mask, the norm of the sub-layer, or the norm in front."""

    def block(x, memory, past, real, attention, cross_attention, feed_forward, norms):
        start = x
        layers = (
            lambda x: attention(x, {"past": past, "real": real}[mask]),
            lambda x: cross_attention(x, memory, real),
            feed_forward,
        )
        for layer, norm, added in zip(layers, norms, residuals, strict=True):
            if pre:
                x = x + layer(norm(x))
                continue
            base = start if first else x
            out = layer(x)
            out = norm(out) if inside else out
            x = out + base if added else out
            x = x if inside else norm(x)
        return x

    return block


def _memory_added(x, memory, past, real, attention, cross_attention, feed_forward, norms):
    x = norms[0](x + attention(x, past))
    x = norms[1](memory + cross_attention(x, memory, real))
    return norms[2](x + feed_forward(x))


def _only_some_added(attempt: Attempt) -> bool:
    flags = [(a, b, c) for a in (True, False) for b in (True, False) for c in (True, False)]
    return any(_same_as(_wired(residuals=flag))(attempt) for flag in flags if not all(flag))


DECODER_BLOCK = Exercise(
    id="9.3",
    title="A decoder block gone wrong",
    kind="find the bug",
    difficulty="medium",
    minutes=10,
    statement=r"""
A decoder block, post-norm as the lecture draws it: masked self-attention, cross-attention, feed-forward
network, each added to its input and then normalised. You are given the parts as functions:

- `attention(x, mask)`, `cross_attention(x, memory, mask)`, `feed_forward(x)`: the three sub-layers,
- `norms`: a list of three layer norms, `norms[0](x)` for the first sub-layer and so on,
- `x` `(B, T, D)` is the target so far, `memory` `(B, S, D)` the encoder's output,
- `past` `(T, T)`: `True` where a word of the target may read a word of the target,
- `real` `(B, 1, S)`: `True` where a word of the source is no padding.

The block returns `(B, T, D)`. This one runs whenever target and source are equally long, and has **two
bugs**: one lets words read their future, and one cuts off the way of the target's own words through the
block.
Take out the `raise` line, find them and mend them.
""",
    stub='''def decoder_block(x, memory, past, real, attention, cross_attention, feed_forward, norms):
    """Post-norm decoder block: x (B, T, D), memory (B, S, D), returns (B, T, D)."""
    raise NotImplementedError("take this line out, then mend what is below")
    x = norms[0](x + attention(x, real))
    x = norms[1](cross_attention(x, memory, real))
    x = norms[2](x + feed_forward(x))
    return x
''',
    reference=decoder_block,
    cases=_blocks,
    hints=(
        "Two masks, two sentences: which mask belongs to which?",
        "Each line has the form `x = norm(x + sub-layer of x)`. Compare the three lines.",
        "Self-attention reads the target, so its mask is about the target: `past`.",
    ),
    mistakes=(
        Mistake(
            name="both-bugs-left",
            message="Both bugs are still there: words of the target read their future, and what the target "
            "itself says is lost in the middle.",
            probe=_same_as(_wired(residuals=(True, False, True), mask="real")),
        ),
        Mistake(
            name="source-padding-for-the-target",
            message="The self-attention of the target gets the padding mask of the *source*. It hides the "
            "wrong words and none of the future. No error: the mask fits whenever both are equally long.",
            probe=_mask_is("attention", "real"),
        ),
        Mistake(
            name="both-masks-for-the-target",
            message="The self-attention gets both masks together. The places where the *source* has padding "
            "mean nothing in the target: words are hidden that should be read.",
            probe=_masks_joined,
        ),
        Mistake(
            name="source-masked-causally",
            message="Cross-attention gets the mask against the future. Nothing of the source is future; its "
            "padding must be hidden instead.",
            probe=_mask_is("cross", "past"),
        ),
        Mistake(
            name="memory-asks",
            message="In cross-attention the memory asks and the target is read. It is the target that asks.",
            probe=_memory_asks,
        ),
        Mistake(
            name="memory-not-read",
            message="Cross-attention is given the target twice: nothing of the source enters the block.",
            probe=_cross_reads_target,
        ),
        Mistake(
            name="cross-attention-missing",
            message="Cross-attention is never called: the decoder does not know what it translates.",
            probe=_missing("cross"),
        ),
        Mistake(
            name="feed-forward-missing",
            message="The feed-forward network is never called.",
            probe=_missing("feed"),
        ),
        Mistake(
            name="cross-attention-first",
            message="The order is another one: first the target reads itself, then the source, then comes "
            "the "
            "feed-forward network.",
            probe=lambda attempt: (
                _order_is("cross", "attention", "feed")(attempt)
                or _order_is("attention", "feed", "cross")(attempt)
            ),
        ),
        Mistake(
            name="residual-adds-the-memory",
            message="What cross-attention reads is added to the *memory*. It belongs to `x`, which asked; "
            "with "
            "sentences of different lengths this raises an error.",
            variant=_memory_added,
        ),
        Mistake(
            name="residual-missing",
            message="At least one sub-layer's input is not added to its output. The words' own vectors do "
            "not "
            "get past it.",
            probe=_only_some_added,
        ),
        Mistake(
            name="first-input-added",
            message="The block's very first input is added each time. Each sub-layer is added to what went "
            "into *it*.",
            probe=_same_as(_wired(first=True)),
        ),
        Mistake(
            name="norm-of-the-sublayer",
            message="The norm is taken of the sub-layer alone, and then the input is added. Post-norm "
            "takes it "
            "of the sum.",
            probe=_same_as(_wired(inside=True)),
        ),
        Mistake(
            name="pre-norm",
            message="That is a pre-norm block: x + sub-layer(norm(x)). A good block, but another one: "
            "weights "
            "trained for the one do not fit the other. Asked for is post-norm.",
            probe=_same_as(_wired(pre=True)),
        ),
        Mistake(
            name="norms-mixed-up",
            message="The norms are not used in order, one for each sub-layer. Each has learned its own "
            "numbers.",
            probe=lambda attempt: _one_norm_for_all(attempt) or _norms_in_other_order(attempt),
        ),
        Mistake(
            name="norm-missing",
            message="A norm is missing: post-norm has one after each of the three sums.",
            probe=_fewer_norms,
        ),
    ),
)
