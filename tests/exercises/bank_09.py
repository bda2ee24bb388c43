"""Right and wrong answers to the exercises of chapter 9, encoder and decoder."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import einsum

from transformer_lib.exercises.chapter_09.shared import START

WHO = [5, 7, 7, 5, 3, 0]


def instead(**wrong):
    """The right six answers with some replaced, n1 to n6."""
    return [wrong.get(f"n{i}", right) for i, right in enumerate(WHO, 1)]


# 9.2 ------------------------------------------------------------------------------------------------


def cross_einsum(x, memory, w_query, w_key, w_value, real):
    q, k = einsum("btd,kd->btk", x, w_query), einsum("bsd,kd->bsk", memory, w_key)
    scores = einsum("btk,bsk->bts", q, k) * q.shape[-1] ** -0.5
    scores = torch.where(real[:, None], scores, torch.finfo(scores.dtype).min)
    return einsum("bts,bsv->btv", scores.softmax(-1), einsum("bsd,vd->bsv", memory, w_value))


def cross_fused(x, memory, w_query, w_key, w_value, real):
    return F.scaled_dot_product_attention(
        F.linear(x, w_query), F.linear(memory, w_key), F.linear(memory, w_value), attn_mask=real[:, None]
    )


def cross_by_loops(x, memory, w_query, w_key, w_value, real):
    rows = []
    for b in range(len(x)):
        words = memory[b][real[b]]  # only the real ones
        k, v = words @ w_key.T, words @ w_value.T
        rows.append(
            torch.stack([torch.softmax(k @ (w_query @ one) / math.sqrt(k.shape[1]), 0) @ v for one in x[b]])
        )
    return torch.stack(rows)


def cross_exp(x, memory, w_query, w_key, w_value, real):
    x, memory, w_query, w_key, w_value = (t.double() for t in (x, memory, w_query, w_key, w_value))
    scores = (x @ w_query.T / w_query.shape[0] ** 0.5) @ (memory @ w_key.T).mT
    shares = scores.exp() * real[:, None]
    return shares / shares.sum(-1, keepdim=True) @ (memory @ w_value.T)


def cross(q_of="x", k_of="m", v_of="m", scale=None, mask=True, softmax=-1, out=None, w=(0, 1, 2)):
    """Cross-attention with parts exchanged."""

    def f(x, memory, w_query, w_key, w_value, real):
        of, maps = {"x": x, "m": memory}, (w_query, w_key, w_value)
        q, k, v = of[q_of] @ maps[w[0]].T, of[k_of] @ maps[w[1]].T, of[v_of] @ maps[w[2]].T
        scores = q @ k.mT * (q.shape[-1] ** -0.5 if scale is None else scale(q, x, memory))
        if mask:
            scores = mask(scores, real) if callable(mask) else scores.masked_fill(~real[:, None], -math.inf)
        weights = scores.softmax(softmax)
        return out(weights, memory, k) if out else weights @ v

    return f


def mask_after(x, memory, w_query, w_key, w_value, real):
    weights = ((x @ w_query.T) @ (memory @ w_key.T).mT / w_query.shape[0] ** 0.5).softmax(-1)
    return (weights * real[:, None]) @ (memory @ w_value.T)


def mask_after_by_fill(x, memory, w_query, w_key, w_value, real):
    q, k = einsum("btd,kd->btk", x, w_query), einsum("bsd,kd->bsk", memory, w_key)
    weights = F.softmax(einsum("btk,bsk->bts", q, k) / math.sqrt(q.shape[-1]), dim=2)
    return weights.masked_fill(real.logical_not()[:, None, :], 0) @ (memory @ w_value.T)


def values_zeroed(x, memory, w_query, w_key, w_value, real):
    weights = ((x @ w_query.T) @ (memory @ w_key.T).mT / w_query.shape[0] ** 0.5).softmax(-1)
    return weights @ ((memory @ w_value.T) * real[..., None])


def scale_afterwards(x, memory, w_query, w_key, w_value, real):
    return (
        cross(scale=lambda q, x, m: 1.0)(x, memory, w_query, w_key, w_value, real) / w_query.shape[0] ** 0.5
    )


def hidden_future(scores, real):
    T, S = scores.shape[-2:]
    past = torch.ones(T, S, dtype=torch.bool).tril()
    return scores.masked_fill(~past, -math.inf)


def rows_hidden(scores, real):
    return scores.masked_fill(~real[:, :, None], -math.inf)


# 9.3 ------------------------------------------------------------------------------------------------


def block_by_steps(x, memory, past, real, attention, cross_attention, feed_forward, norms):
    read = attention(x, past)
    x = norms[0](read + x)
    read = cross_attention(x, memory, real)
    x = norms[1](torch.add(x, read))
    return norms[2](x + feed_forward(x))


def block_by_loop(x, memory, past, real, attention, cross_attention, feed_forward, norms):
    layers = (lambda x: attention(x, past)), (lambda x: cross_attention(x, memory, real)), feed_forward
    for layer, norm in zip(layers, norms, strict=True):
        x = norm(x + layer(x))
    return x


def block_in_place(x, memory, past, real, attention, cross_attention, feed_forward, norms):
    first, second, third = norms
    y = attention(x, past).clone()
    y += x
    y = first(y)
    z = cross_attention(y, memory=memory, mask=real) + y
    z = second(z)
    return third(z + feed_forward(z))


def block(lines):
    """A block of these lines of source, with a, c, f, n for the parts."""

    def f(x, memory, past, real, attention, cross_attention, feed_forward, norms):
        names = {"x": x, "start": x, "m": memory, "past": past, "real": real}
        names |= {"a": attention, "c": cross_attention, "f": feed_forward, "n": norms}
        for line in lines.split(";"):
            names["x"] = eval(line, names)
        return names["x"]

    return f


# 9.4 ------------------------------------------------------------------------------------------------


def shift_whole(sentences, start_id, end_id, pad_id):
    rows = [[start_id, *s, end_id] for s in sentences]
    longest = max(map(len, rows))
    whole = torch.tensor([row + [pad_id] * (longest - len(row)) for row in rows])
    return whole[:, :-1], whole[:, 1:]  # a short row's end stays in what is given


def shift_filled(sentences, start_id, end_id, pad_id):
    shape = len(sentences), max(map(len, sentences)) + 1
    given, wanted = torch.full(shape, pad_id), torch.full(shape, pad_id)
    for n, s in enumerate(sentences):
        given[n, 0], wanted[n, len(s)] = start_id, end_id
        given[n, 1 : len(s) + 1] = wanted[n, : len(s)] = torch.tensor(s)
    return [given, wanted]


def shift_by_torch(sentences, start_id, end_id, pad_id):
    def padded(rows):
        return torch.nn.utils.rnn.pad_sequence([torch.tensor(r) for r in rows], True, pad_id).int()

    return padded([[start_id, *s] for s in sentences]), padded([[*s, end_id] for s in sentences])


def shift(given, wanted, pad_left=False, fill=None):
    """Rows by two functions of (sentence, start, end), then padding."""

    def f(sentences, start_id, end_id, pad_id):
        out = []
        for make in (given, wanted):
            rows = [make(s, start_id, end_id) for s in sentences]
            longest = max(map(len, rows))
            pads = [[pad_id if fill is None else fill] * (longest - len(row)) for row in rows]
            joined = [p + r if pad_left else r + p for r, p in zip(rows, pads, strict=True)]
            out.append(torch.tensor(joined))
        return tuple(out)

    return f


def end_last(sentences, start_id, end_id, pad_id):
    longest = max(map(len, sentences))
    padded = [s + [pad_id] * (longest - len(s)) for s in sentences]
    whole = torch.tensor([[start_id, *row, end_id] for row in padded])
    return whole[:, :-1], whole[:, 1:]


def end_cut_off(sentences, start_id, end_id, pad_id):
    longest = max(map(len, sentences))
    whole = torch.tensor([[*s, end_id, *[pad_id] * (longest - len(s))] for s in sentences])[:, :-1]
    start = torch.full((len(sentences), 1), start_id)
    return torch.cat([start, whole[:, :-1]], 1), whole


# 9.5 ------------------------------------------------------------------------------------------------


def loss_by_torch(logits, wanted, pad_id):
    return F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=pad_id)


def loss_transposed(logits, wanted, pad_id):
    losses = F.cross_entropy(logits.transpose(1, 2), wanted, reduction="none")
    mask = (wanted != pad_id).float()
    return (losses * mask).sum() / mask.sum()


def loss_by_loops(logits, wanted, pad_id):
    losses = []
    for b in range(len(wanted)):
        for t in range(wanted.shape[1]):
            if wanted[b, t] != pad_id:
                p = logits[b, t].double().exp()
                losses.append(-math.log(p[wanted[b, t]] / p.sum()))
    return sum(losses) / len(losses)


def loss_one_hot(logits, wanted, pad_id):
    p = logits.softmax(-1)
    chosen = (p * F.one_hot(wanted, p.shape[-1])).sum(-1)
    return -chosen[wanted != pad_id].log().mean()


def loss_with(change=lambda logits: logits, **options):
    def f(logits, wanted, pad_id):
        return F.cross_entropy(change(logits).flatten(0, 1), wanted.flatten(), **options)

    return f


# 9.6 and 9.7 ----------------------------------------------------------------------------------------


def greedy_for(next_logits, start_id, end_id, max_words):
    ids = [start_id]
    for _ in range(max_words):
        logits = next_logits(ids)
        best = max(range(len(logits)), key=lambda word: float(logits[word]))
        if best == end_id:
            return ids[1:]
        ids = [*ids, best]
    return ids[1:]


def greedy_tensor(next_logits, start_id, end_id, max_words):
    ids = torch.tensor([start_id])
    while len(ids) - 1 < max_words and (word := next_logits(ids).softmax(-1).topk(1).indices) != end_id:
        ids = torch.cat([ids, word])
    return ids[1:]


def greedy_recursive(next_logits, start_id, end_id, max_words):
    def rest(ids, left):
        word = next_logits(ids).argmax().item()
        return [] if left == 0 or word == end_id else [word, *rest([*ids, word], left - 1)]

    return rest([start_id], max_words) if max_words else []


def greedy_cut(next_logits, start_id, end_id, max_words):
    """Writes everything, then cuts at the end: slower, and right."""
    ids = [start_id]
    for _ in range(max_words):
        ids.append(int(np.argmax(next_logits(ids).numpy())))
    written = ids[1:]
    return written[: written.index(end_id)] if end_id in written else written


def writer(
    read=lambda ids: ids,
    choose=lambda z: int(z.argmax()),
    stop=True,
    extra=0,
    grow=True,
    out=lambda i, e: i[1:],
):
    def f(next_logits, start_id, end_id, max_words):
        ids, ended = [start_id], False
        fed = [start_id]
        for _ in range(max_words + extra):
            word = choose(next_logits(read(fed)))
            if word == end_id and stop:
                ended = True
                break
            ids.append(word)
            if grow:
                fed.append(word)
        return out(ids, [end_id] if ended else [])

    return f


def cached_while(read, start_id, end_id, max_words):
    written, place = [], 0
    logits, cache = read(start_id, place, ())
    while len(written) < max_words and (word := int(logits.argmax())) != end_id:
        written.append(word)
        place += 1
        logits, cache = read(word, place, cache)
    return written


def cached_len(read, start_id, end_id, max_words):
    ids, cache = [start_id], ()
    while len(ids) <= max_words:
        logits, cache = read(ids[-1], len(cache), cache)
        word = logits.argmax()
        if word.item() == end_id:
            break
        ids.append(word)
    return ids[1:]


def cached_again(read, start_id, end_id, max_words):
    """Reads everything again, into a new cache: no gain, and right."""
    ids = [start_id]
    while len(ids) <= max_words:
        cache = ()
        for place, word in enumerate(ids):
            logits, cache = read(word, place, cache)
        if int(logits.argmax()) == end_id:
            break
        ids.append(int(logits.argmax()))
    return ids[1:]


def cached(place=lambda n, word: n, keep=True, feed=True, again=False, out=lambda ids, end: ids):
    def f(read, start_id, end_id, max_words):
        word, cache, written, ended = start_id, (), [], []
        for n in range(max_words):
            if again:
                for p, w in enumerate([start_id, *written]):
                    logits, cache = read(w, p, cache)
            else:
                logits, new = read(word, place(n, word), cache)
                cache = new if keep else cache
            best = int(logits.argmax())
            if best == end_id:
                ended = [end_id]
                break
            written.append(best)
            word = best if feed else start_id
        return out(written, ended)

    return f


# 9.8 ------------------------------------------------------------------------------------------------


def own(**functions):
    return lambda: functions


def only_small_ids(logits, wanted, pad_id):
    """Right in its own exercise, which has few words; not with many."""
    return loss_by_torch(logits[..., :200], wanted.clamp(max=199), pad_id)


def eight_words(next_logits, start_id, end_id, max_words):
    ids = greedy_for(next_logits, start_id, end_id, max_words)
    return ids[:2] if max_words == 12 else ids


RIGHT = {
    "9.1": [lambda: WHO, lambda: tuple(map(float, WHO)), lambda: torch.tensor(WHO), lambda: np.array(WHO)],
    "9.2": [cross_einsum, cross_fused, cross_by_loops, cross_exp, cross()],
    "9.3": [block_by_steps, block_by_loop, block_in_place],
    "9.4": [shift_whole, shift_filled, shift_by_torch],
    "9.5": [loss_by_torch, loss_transposed, loss_by_loops, loss_one_hot],
    "9.6": [greedy_for, greedy_tensor, greedy_recursive, greedy_cut],
    "9.7": [cached_while, cached_len, cached_again],
    "9.8": [
        own(greedy=greedy_tensor),
        own(cross_attention=cross_exp, decoder_block=block_by_loop),  # float64, and a loop
        own(cross_attention=cross_by_loops, shift_target=shift_whole, loss_without_pads=loss_by_loops),
        own(shift_target=shift_by_torch, loss_without_pads=loss_transposed, greedy=greedy_cut),
    ],
}

A, C, FF = "n[0](x + a(x, past))", "n[1](x + c(x, m, real))", "n[2](x + f(x))"

WRONG = {
    "9.1": [
        (lambda: instead(n1=7, n2=5), "map-transposed"),
        (lambda: instead(n1=5, n2=5), "map-square"),
        (lambda: instead(n1=7, n2=7), "map-square"),
        (lambda: instead(n1=12, n2=12), "map-square"),
        (lambda: instead(n3=1), "encoder-masked"),
        (lambda: instead(n3=6), "word-itself-forgotten"),
        (lambda: instead(n3=0), "encoder-deaf"),
        (lambda: instead(n4=1), "cross-attention-masked"),
        (lambda: instead(n4=0), "decoder-deaf"),
        (lambda: instead(n5=5), "decoder-not-masked"),
        (lambda: instead(n5=2), "word-itself-hidden"),
        (lambda: instead(n5=1), "later-words-deaf"),
        (lambda: instead(n6=7), "encoder-reads-the-target"),
        (lambda: instead(n6=3), "wrong-values"),
        (lambda: WHO[:5], "wrong-shape"),
    ],
    "9.2": [
        (cross(q_of="m", mask=False), "source-reads-itself"),
        (cross(q_of="m"), "source-reads-itself"),
        (cross(q_of="m", k_of="x", v_of="x", mask=False), "queries-from-the-encoder"),
        (cross(q_of="m", k_of="x", v_of="x"), "queries-from-the-encoder"),
        (lambda x, m, q, k, v, real: cross_einsum(m, x, q, k, v, real), "queries-from-the-encoder"),
        (cross(k_of="x", v_of="x", mask=False), "target-reads-itself"),
        (cross(k_of="x", v_of="x"), "target-reads-itself"),
        (
            lambda x, m, q, k, v, real: cross_fused(x, x, q, k, v, torch.ones(x.shape[:2]).bool()),
            "target-reads-itself",
        ),
        (cross(v_of="x"), "values-from-the-decoder"),
        (cross(k_of="x"), "keys-from-the-decoder"),
        (cross(k_of="x", mask=False), "keys-from-the-decoder"),
        (cross(out=lambda w, m, k: w), "weights-returned"),
        (cross(out=lambda w, m, k: w @ m), "memory-averaged"),
        (cross(out=lambda w, m, k: w @ k), "keys-averaged"),
        (cross(softmax=-2, mask=False), "softmax-over-queries"),
        (cross(softmax=1, mask=lambda s, r: s.masked_fill(~r[:, None], -1e9)), "softmax-over-queries"),
        (cross(mask=lambda s, r: s.masked_fill(r[:, None], -math.inf)), "mask-upside-down"),
        (cross(mask=lambda s, r: torch.where(r[:, None], torch.finfo(s.dtype).min, s)), "mask-upside-down"),
        (mask_after, "mask-after-softmax"),
        (mask_after_by_fill, "mask-after-softmax"),
        (values_zeroed, "mask-after-softmax"),
        (cross(mask=lambda s, r: s + r[:, None]), "mask-as-numbers"),
        (cross(mask=lambda s, r: s * r[:, None]), "mask-as-numbers"),
        (cross(mask=lambda s, r: s.masked_fill(~r[:, None], 0)), "mask-as-numbers"),
        (cross(mask=rows_hidden), "mask-on-queries"),
        (cross(mask=lambda s, r: s.masked_fill(~r[..., None], torch.finfo(s.dtype).min)), "mask-on-queries"),
        (cross(mask=hidden_future), "causal-mask"),
        (cross(w=(1, 0, 2)), "matrices-swapped"),
        (cross(w=(0, 0, 2)), "keys-matrix-unused"),
        (cross(w=(1, 1, 2)), "queries-matrix-unused"),
        (scale_afterwards, "scale-after-softmax"),
        (cross(scale=lambda q, x, m: 1.0), "no-scale"),
        (cross(scale=lambda q, x, m: x.shape[-1] ** -0.5), "scale-by-d-model"),
        (cross(scale=lambda q, x, m: 1 / q.shape[-1]), "scale-without-root"),
        (cross(mask=False), "padding-read"),
        (lambda x, m, q, k, v, real: cross_einsum(x, m, q, k, v, torch.ones_like(real)), "padding-read"),
        (cross(scale=lambda q, x, m: 1e6), "best-match-only"),
        (cross(scale=lambda q, x, m: 3 * q.shape[-1] ** -0.5), "other-scale"),
        (lambda *args: cross_fused(*args).mT, "wrong-shape"),
    ],
    "9.3": [
        (block("n[0](x + a(x, real));n[1](c(x, m, real));" + FF), "both-bugs-left"),
        (block(f"n[0](x + a(x, real));{C};{FF}"), "source-padding-for-the-target"),
        (block(f"n[0](a(x, real) + x);{C};{FF}"), "source-padding-for-the-target"),
        (block(f"n[0](x + a(x, past & real));{C};{FF}"), "both-masks-for-the-target"),
        (block(f"{A};n[1](x + c(x, m, past));{FF}"), "source-masked-causally"),
        (block(f"{A};n[1](x + c(m, x, real));{FF}"), "memory-asks"),
        (block(f"{A};n[1](x + c(x, x, real));{FF}"), "memory-not-read"),
        (block(f"{A};{FF}"), "cross-attention-missing"),
        (block(f"{A};{C}"), "feed-forward-missing"),
        (block(f"n[0](x + c(x, m, real));n[1](x + a(x, past));{FF}"), "cross-attention-first"),
        (block(f"{A};n[1](x + f(x));n[2](x + c(x, m, real))"), "cross-attention-first"),
        (block(f"{A};n[1](m + c(x, m, real));{FF}"), "residual-adds-the-memory"),
        (block(f"{A};n[1](c(x, m, real));{FF}"), "residual-missing"),
        (block(f"n[0](a(x, past));{C};{FF}"), "residual-missing"),
        (block(f"{A};{C};n[2](f(x))"), "residual-missing"),
        (block(f"{A};n[1](start + c(x, m, real));n[2](start + f(x))"), "first-input-added"),
        (block("x + n[0](a(x, past));x + n[1](c(x, m, real));x + n[2](f(x))"), "norm-of-the-sublayer"),
        (block("x + a(n[0](x), past);x + c(n[1](x), m, real);x + f(n[2](x))"), "pre-norm"),
        (block(f"{A};n[0](x + c(x, m, real));n[0](x + f(x))"), "norms-mixed-up"),
        (block("n[2](x + a(x, past));n[1](x + c(x, m, real));n[0](x + f(x))"), "norms-mixed-up"),
        (block(f"{A};x + c(x, m, real);{FF}"), "norm-missing"),
    ],
    "9.4": [
        (shift(lambda s, a, e: [a, *s], lambda s, a, e: [a, *s]), "not-shifted"),
        (shift(lambda s, a, e: [*s, e], lambda s, a, e: [*s, e]), "not-shifted"),
        (shift(lambda s, a, e: [a, *s, e], lambda s, a, e: [a, *s, e]), "not-shifted"),
        (lambda *args: shift_whole(*args)[::-1], "shifted-backwards"),
        (shift(lambda s, a, e: [*s, e], lambda s, a, e: [a, *s]), "shifted-backwards"),
        (shift(lambda s, a, e: [a, *s][: len(s)], lambda s, a, e: [*s[1:], e]), "shifted-by-two"),
        (end_last, "end-after-the-padding"),
        (shift(lambda s, a, e: [a, *s], lambda s, a, e: [*s, e], pad_left=True), "padded-on-the-left"),
        (shift(lambda s, a, e: [a, a, *s], lambda s, a, e: [a, *s, e]), "start-is-wanted"),
        (shift(lambda s, a, e: s, lambda s, a, e: [*s[1:], e]), "start-missing"),
        (end_cut_off, "last-word-lost"),
        (shift(lambda s, a, e: [a, *s[:-1]], lambda s, a, e: s), "end-missing"),
        (shift(lambda s, a, e: [a, *s], lambda s, a, e: [*s, e], fill=0), "padded-with-zeros"),
        (lambda *args: shift_whole(*args)[0], "wrong-shape"),
    ],
    "9.5": [
        (loss_with(), "padding-counted"),
        (lambda z, y, pad: F.nll_loss(z.log_softmax(-1).flatten(0, 1), y.flatten()), "padding-counted"),
        (
            lambda z, y, pad: (F.cross_entropy(z.mT, y, reduction="none") * (y != pad)).mean(),
            "divided-by-all-places",
        ),
        (
            lambda z, y, pad: F.cross_entropy(z.mT, y, ignore_index=pad, reduction="sum"),
            "summed-not-averaged",
        ),
        (
            lambda z, y, pad: F.cross_entropy(z.mT, y, ignore_index=pad, reduction="none").sum(1).mean(),
            "summed-over-the-words",
        ),
        (lambda z, y, pad: F.cross_entropy(z[y == pad], y[y == pad]), "only-padding-counted"),
        (lambda z, y, pad: F.cross_entropy(z[y != 0], y[y != 0]), "zero-taken-for-padding"),
        (
            lambda z, y, pad: torch.stack(
                [F.cross_entropy(a, b, ignore_index=pad) for a, b in zip(z, y, strict=True)]
            ).mean(),
            "mean-of-sentences",
        ),
        (
            lambda z, y, pad: F.cross_entropy(z.softmax(-1).mT, y, ignore_index=pad),
            "softmax-before-cross-entropy",
        ),
        (
            lambda z, y, pad: (
                -(z.softmax(-1).log_softmax(-1).gather(2, y[..., None])[..., 0][y != pad]).mean()
            ),
            "softmax-before-cross-entropy",
        ),
        (lambda z, y, pad: F.nll_loss(z.flatten(0, 1), y.flatten(), ignore_index=pad), "no-softmax"),
        (
            lambda z, y, pad: F.nll_loss(z.softmax(-1).flatten(0, 1), y.flatten(), ignore_index=pad),
            "no-logarithm",
        ),
        (
            lambda z, y, pad: 1 - z.softmax(-1)[y != pad].gather(1, y[y != pad][:, None]).mean(),
            "no-logarithm",
        ),
        (
            lambda z, y, pad: -z.softmax(-1)[y != pad].gather(1, y[y != pad][:, None]).mean().log(),
            "logarithm-of-the-mean",
        ),
        (lambda z, y, pad: -loss_by_torch(z, y, pad), "sign-forgotten"),
        (lambda z, y, pad: -z.softmax(-1).amax(-1)[y != pad].log().mean(), "best-word-rewarded"),
        (
            lambda z, y, pad: F.nll_loss(z.log_softmax(1).flatten(0, 1), y.flatten(), ignore_index=pad),
            "softmax-over-places",
        ),
        (
            lambda z, y, pad: F.nll_loss(z.softmax(0).log().flatten(0, 1), y.flatten(), ignore_index=pad),
            "softmax-over-the-batch",
        ),
        (
            lambda z, y, pad: F.cross_entropy(
                z.view(z.shape[0], z.shape[2], z.shape[1]), y, ignore_index=pad
            ),
            "axes-reshaped",
        ),
        (lambda z, y, pad: loss_by_torch(z, y, pad) / math.log(2), "in-bits"),
        (
            lambda z, y, pad: F.cross_entropy(z.mT, y, ignore_index=pad, reduction="none"),
            "one-loss-per-word",
        ),
        (lambda z, y, pad: F.cross_entropy(z[y != pad], y[y != pad], reduction="none"), "one-loss-per-word"),
        (lambda z, y, pad: loss_by_torch(z, y, pad) * 2, "wrong-values"),
    ],
    "9.6": [
        (writer(out=lambda ids, end: ids + end), "start-and-end-returned"),
        (writer(out=lambda ids, end: ids), "start-returned"),
        (writer(out=lambda ids, end: ids[1:] + end), "end-returned"),
        (writer(out=lambda ids, end: ids[1:-1]), "last-word-lost"),
        (writer(grow=False), "one-word-repeated"),
        (writer(read=lambda ids: ids[:1]), "one-word-repeated"),
        (writer(read=lambda ids: ids[-1:]), "only-the-last-word-read"),
        (writer(read=lambda ids: torch.tensor(ids)[-1:]), "only-the-last-word-read"),
        (writer(read=lambda ids: ids[1:] or [0]), "start-not-read"),
        (writer(choose=lambda z: int(z.argmin())), "least-likely-word"),
        (writer(choose=lambda z: int(z.sort().indices[0])), "least-likely-word"),
        (writer(choose=lambda z: int(z.argsort(descending=True)[1])), "second-best-word"),
        (writer(stop=False), "never-stops"),
        (writer(extra=1), "one-word-too-many"),
        (writer(extra=-1), "one-word-too-few"),
        (lambda f, start, end, most: f([start]), "wrong-shape"),
    ],
    "9.7": [
        (cached(place=lambda n, w: 0, keep=False), "both-bugs-left"),
        (cached(place=lambda n, w: 0), "position-restarts"),
        (cached(place=lambda n, w: 5), "position-restarts"),
        (cached(keep=False), "cache-thrown-away"),
        (cached(again=True), "read-again-into-the-cache"),
        (cached(feed=False), "start-read-over-and-over"),
        (cached(place=lambda n, w: n + 1), "place-one-too-far"),
        (cached(place=lambda n, w: max(n - 1, 0)), "place-one-behind"),
        (cached(place=lambda n, w: w), "place-is-the-word"),
        (cached(out=lambda ids, end: ids + end), "end-returned"),
        (cached(out=lambda ids, end: [START, *ids]), "start-returned"),
    ],
    "9.8": [
        (own(), "no-part-of-yours"),
        (own(greedy=writer(extra=-1)), "part-fails-its-check"),
        (own(greedy=greedy_for, cross_attention=cross(scale=lambda q, x, m: 1.0)), "part-fails-its-check"),
        (own(shift_target=end_last), "part-fails-its-check"),
        (own(decoder_block=3), "part-fails-its-check"),
        (own(greedy=greedy_for, ffn=len), "unknown-part"),
        (own(loss_without_pads=only_small_ids), "part-changes-the-translation"),
        (own(greedy=eight_words, decoder_block=block_by_steps), "part-changes-the-translation"),
        (lambda: [greedy_for], "no-dictionary"),
        (lambda: greedy_for, "no-dictionary"),
        (lambda: None, "returned-none"),
        ({"greedy": greedy_for}, "not-a-function"),
    ],
}
