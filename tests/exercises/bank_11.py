"""Right and wrong answers to the exercises of chapter 11, in many spellings. `test_bank.py` runs them."""

import math

import numpy as np
import torch
import torch.nn.functional as F

INF = float("inf")


def says(*answer):
    """An answer on paper."""
    return lambda: list(answer)


TRUTH = [False, False, False, True, False, False, True]


def but(*numbers):
    """The right predictions with these turned round."""
    return says(*(answer ^ (n in numbers) for n, answer in enumerate(TRUTH, 1)))


# ------------------------------------------------------------------ 11.2 temperature


def shares(*temperatures):
    z = torch.tensor([math.log(16), math.log(4), 0.0])
    return [torch.softmax(z / t, 0) for t in temperatures]


def temperatures_by_torch():
    two, half, cold = shares(2, 0.5, 1e-3)
    return torch.stack([two.max(), half.max(), cold[2]])


# ------------------------------------------------------------------ 11.3 loss


def loss_in_numpy():
    p = np.array([1 / 2, 1 / 4, 1 / 8, 1 / 4])
    loss = -np.log(p).mean()
    return np.array([loss, np.exp(loss), -np.log2(p).sum() / 10])


def loss_by_product():
    together = 1 / 2 * 1 / 4 * 1 / 8 * 1 / 4
    return -math.log(together) / 4, together ** (-1 / 4), math.log2(1 / together) / 10


NATS = 2 * math.log(2)


# ------------------------------------------------------------------ 11.4 schedule


def rates_vectorised(peak, warmup, steps):
    s = torch.arange(1, steps + 1)
    fall = peak / 2 * (1 + torch.cos(math.pi * (s - warmup) / (steps - warmup)))
    return torch.where(s <= warmup, peak * s / max(warmup, 1), fall)


def rates_joined(peak, warmup, steps):
    rise = [peak * (s + 1) / warmup for s in range(warmup)]
    t = torch.arange(1, steps - warmup + 1, dtype=torch.float64) / (steps - warmup)
    return torch.cat([torch.tensor(rise, dtype=torch.float64), peak * torch.cos(math.pi * t / 2) ** 2])


def rates_by_library(peak, warmup, steps):
    from transformer_lib import cosine_schedule

    return torch.tensor([cosine_schedule(s, peak, warmup, steps) for s in range(1, steps + 1)])


def rates_numpy(peak, warmup, steps):
    s = np.arange(1, steps + 1)
    with np.errstate(all="ignore"):
        rates = np.where(
            s <= warmup, peak * s / warmup, peak / 2 * (1 + np.cos(np.pi * (s - warmup) / (steps - warmup)))
        )
    return torch.from_numpy(rates)


def rates_zeros(peak, warmup, steps):
    rates = torch.zeros(steps)
    for i in range(steps):
        step = i + 1
        if step <= warmup:
            rates[i] = step / warmup
        else:
            rates[i] = 0.5 + 0.5 * math.cos((step - warmup) * math.pi / (steps - warmup))
    return rates * peak


def rates(
    rise=lambda s, w, n: s / w, fall=lambda s, w, n: (1 + math.cos(math.pi * (s - w) / (n - w))) / 2, first=1
):
    def learning_rates(peak, warmup, steps):
        all = range(first, steps + first)
        return torch.tensor(
            [
                peak * (rise(s, warmup, steps) if s <= warmup and warmup else fall(s, warmup, steps))
                for s in all
            ]
        )

    return learning_rates


def rates_vectorised_dividing_by_zero(peak, warmup, steps):
    s = torch.arange(1, steps + 1)
    rising = peak * s / warmup
    fall = peak / 2 * (1 + torch.cos(torch.pi * (s - warmup) / (steps - warmup)))
    return torch.minimum(rising, fall) if not warmup else torch.where(s <= warmup, rising, fall)


def rates_dividing_always(peak, warmup, steps):
    out = []
    for s in range(1, steps + 1):
        rising = peak * s / warmup
        out.append(
            rising if s <= warmup else peak / 2 * (1 + math.cos(math.pi * (s - warmup) / (steps - warmup)))
        )
    return torch.tensor(out)


def rates_nan_without_warmup(peak, warmup, steps):
    result = rates_vectorised(peak, warmup, steps)
    return result if warmup else result * math.nan


def rates_capped_warmup(peak, warmup, steps):
    return rates_vectorised(peak, max(warmup, 1), steps)


# ------------------------------------------------------------------ 11.5 clipping


def clip_by_torch(gradients, longest):
    flat = torch.cat([g.reshape(-1) for g in gradients])
    length = torch.linalg.vector_norm(flat)
    return [g * (longest / length) if length > longest else g.clone() for g in gradients]


def clip_by_norms_of_norms(gradients, longest):
    length = torch.stack([g.norm() for g in gradients]).norm()
    return tuple(g * torch.clamp(longest / (length + 1e-12), max=1.0) for g in gradients)


def clip_in_place_on_copies(gradients, longest):
    copies = [g.clone() for g in gradients]
    square = 0.0
    for g in copies:
        square += (g**2).sum().item()
    if square > longest**2:
        for g in copies:
            g *= longest / square**0.5
    return copies


def clip_in_double(gradients, longest):
    wide = [g.double() for g in gradients]
    length = sum((g * g).sum() for g in wide).sqrt()
    return tuple(g / max(1.0, (length / longest).item()) for g in wide)


def clip_with_epsilon(gradients, longest):
    length = torch.cat([g.flatten() for g in gradients]).norm()
    factor = min(1.0, longest / (length.item() + 1e-6))
    return tuple(g * factor for g in gradients)


def length_of(gradients, p=2):
    return torch.cat([g.flatten() for g in gradients]).norm(p).item()


def clip_each(gradients, longest):
    return [g * min(1, longest / (g.norm().item() + 1e-12)) for g in gradients]


def clip_each_always(gradients, longest):
    return tuple(longest * g / g.norm() if g.any() else g for g in gradients)


def clip_with(length, limit=lambda length, longest: min(1.0, longest / (length + 1e-12))):
    return lambda gradients, longest: tuple(g * limit(length(gradients), longest) for g in gradients)


def clip_changing(gradients, longest):
    length = length_of(gradients)
    if length > longest:
        for g in gradients:
            g.mul_(longest / length)
    return tuple(gradients)


def clip_zero_divided(gradients, longest):
    return tuple(
        g
        * min(torch.tensor(1.0), longest / torch.tensor(length_of(gradients)))
        * (0 / torch.tensor(length_of(gradients)) + 1)
        for g in gradients
    )


def clip_python_division(gradients, longest):
    factor = longest / length_of(gradients)
    return tuple(g * min(1.0, factor) for g in gradients)


def clip_last_only(gradients, longest):
    for g in gradients:
        length = g.norm()
    return tuple(g * min(1.0, longest / (length.item() + 1e-9)) for g in gradients)


# ------------------------------------------------------------------ 11.6 top-k


def top_k_where(logits, k):
    bar = torch.sort(logits, dim=1, descending=True)[0][:, k - 1].unsqueeze(1)
    return F.softmax(torch.where(logits >= bar, logits, -INF), dim=1)


def top_k_shares(logits, k):
    p = logits.softmax(-1)
    kept = p * (logits >= logits.topk(k).values.amin(-1, keepdim=True))
    return kept / kept.sum(-1, keepdim=True)


def top_k_loop(logits, k):
    out = torch.zeros_like(logits)
    for b, row in enumerate(logits.tolist()):
        bar = sorted(row)[-k]
        e = [math.exp(z) if z >= bar else 0.0 for z in row]
        out[b] = torch.tensor([x / sum(e) for x in e])
    return out


def top_k_by_library(logits, k):
    from transformer_lib import filter_logits

    return filter_logits(logits, top_k=k).softmax(-1)


def top_k_in_place(logits, k):
    z = logits.double().clone()
    z[z < z.kthvalue(z.shape[1] - k + 1, dim=1, keepdim=True).values] = -1e30
    return torch.softmax(z, 1)


def top_k_scatter(logits, k):
    values, places = logits.topk(k, dim=-1)
    return torch.zeros_like(logits).scatter(-1, places, values.softmax(-1))


def kept_by(bar, finish=lambda z, kept: z.masked_fill(~kept, -INF).softmax(-1)):
    return lambda logits, k: finish(logits, bar(logits, k))


def right_k(logits, k):
    return logits >= logits.topk(k).values[:, -1:]


def one_more_k(logits, k):
    places = logits.topk(min(k + 1, logits.shape[-1])).indices
    return torch.zeros_like(logits, dtype=torch.bool).scatter(-1, places, True)


def one_less_by_sort(logits, k):
    return logits > logits.sort(descending=True).values[:, k - 1 : k]


# ------------------------------------------------------------------ 11.7 top-p


def top_p_loop(p, share):
    out = torch.zeros_like(p)
    for b in range(len(p)):
        total = 0.0
        for v in p[b].argsort(descending=True).tolist():
            if total >= share:
                break
            out[b, v] = p[b, v]
            total += p[b, v].item()
    return out / out.sum(-1, keepdim=True)


def top_p_by_library(p, share):
    from transformer_lib import filter_logits

    return filter_logits(p.log(), top_p=share).softmax(-1)


def top_p_shifted(p, share):
    values, order = torch.sort(p, dim=-1, descending=True)
    remove = values.cumsum(-1) > share
    remove[:, 1:] = remove[:, :-1].clone()
    remove[:, 0] = False
    kept = p.masked_fill(torch.zeros_like(remove).scatter(1, order, remove), 0)
    return kept / kept.sum(1, keepdim=True)


def top_p_inverse(p, share):
    values, order = p.double().sort(-1, descending=True)
    values = values * (values.cumsum(-1) - values < share)
    kept = values.gather(-1, order.argsort(-1))
    return kept / kept.sum(-1, keepdim=True)


def top_p_by_rivals(p, share):
    before = ((p[:, None] > p[:, :, None]) * p[:, None]).sum(-1)  # what the likelier words have
    kept = torch.where(before < share, p, 0.0)
    return F.normalize(kept, p=1, dim=-1)


def nucleus(rule, finish=lambda kept: kept / kept.sum(-1, keepdim=True)):
    def top_p(p, share):
        values, order = p.sort(-1, descending=True)
        kept = torch.zeros_like(p, dtype=torch.bool).scatter(
            -1, order, rule(values, values.cumsum(-1), share)
        )
        return finish(p * kept)

    return top_p


def right_p(values, total, share):
    return total - values < share


def unsorted_p(p, share):
    kept = p * (p.cumsum(-1) - p < share)
    return kept / kept.sum(-1, keepdim=True)


def ascending_p(p, share):
    values, order = p.sort(-1)
    kept = p * torch.zeros_like(p, dtype=torch.bool).scatter(-1, order, values.cumsum(-1) - values < share)
    return kept / kept.sum(-1, keepdim=True)


def not_put_back(p, share):
    values, _ = p.sort(-1, descending=True)
    kept = p * (values.cumsum(-1) - values < share)
    return kept / kept.sum(-1, keepdim=True)


def sorted_order(p, share):
    values, _ = p.sort(-1, descending=True)
    kept = values * (values.cumsum(-1) - values < share)
    return kept / kept.sum(-1, keepdim=True)


# ------------------------------------------------------------------ 11.8 the checkpoint


def run(saved=("weights", "moment", "step", "generator"), until=lambda stop, steps: steps):
    """The run of the exercise, stopped, and continued from these parts."""

    def stop_and_resume(rows, stop, steps):
        def begin():
            zeros = torch.zeros(rows.shape[1])
            return {
                "weights": zeros,
                "moment": zeros,
                "step": 0,
                "generator": torch.Generator().manual_seed(0),
            }

        def go_on(state, until):
            while state["step"] < until:
                row = rows[state["step"] % len(rows)]
                noise = torch.rand(row.shape, generator=state["generator"])
                state["moment"] = 0.8 * state["moment"] + (state["weights"] - row) * noise
                state["weights"] = state["weights"] - 0.1 * state["moment"]
                state["step"] += 1

        state = begin()
        go_on(state, stop)
        new = begin() | {name: state[name] for name in saved}
        go_on(new, until(stop, steps))
        return new["weights"]

    return stop_and_resume


def never_stopped(rows, stop, steps):
    return run()(rows, steps, steps)


def random_numbers_drawn_again(rows, stop, steps):
    """Reads all up to the stop without learning: then its place and random state are right, slowly."""
    w, m = torch.zeros(2, rows.shape[1])
    generator = torch.Generator().manual_seed(0)
    for step in range(steps):
        if step == stop:
            kept = w.clone(), m.clone()
            generator = torch.Generator().manual_seed(0)
            for _ in range(stop):
                torch.rand(rows.shape[1], generator=generator)
            w, m = kept
        m = 0.8 * m + (w - rows[step % len(rows)]) * torch.rand(rows.shape[1], generator=generator)
        w = w - 0.1 * m
    return w


def in_double(rows, stop, steps):
    w = torch.zeros(rows.shape[1], dtype=torch.float64)
    m, generator = w.clone(), torch.Generator().manual_seed(0)
    for step in range(steps):
        noise = torch.rand(rows.shape[1], generator=generator).double()
        m.mul_(0.8).add_((w - rows[step % len(rows)].double()) * noise)
        w.sub_(0.1 * m)
    return w


RIGHT = {
    "11.1": [
        says(*TRUTH),
        lambda: (0, 0, 0, 1, 0, 0, 1),
        lambda: torch.tensor(TRUTH),
        lambda: np.array(TRUTH),
    ],
    "11.2": [
        says(0.57, 0.94, 0),
        says(4 / 7, 256 / 273, 0.0),
        temperatures_by_torch,
        lambda: np.array([0.571, 0.938, 0]),
    ],
    "11.3": [says(1.39, 4, 0.8), loss_in_numpy, loss_by_product, lambda: torch.tensor([1.386, 4.0, 0.8])],
    "11.4": [rates_vectorised, rates_joined, rates_by_library, rates_zeros, rates()],
    "11.5": [
        clip_by_torch,
        clip_by_norms_of_norms,
        clip_in_place_on_copies,
        clip_in_double,
        clip_with_epsilon,
    ],
    "11.6": [top_k_where, top_k_shares, top_k_loop, top_k_by_library, top_k_in_place],
    "11.7": [top_p_loop, top_p_by_library, top_p_shifted, top_p_inverse, top_p_by_rivals],
    "11.8": [run(), never_stopped, random_numbers_drawn_again, in_double],
}

WRONG = {
    "11.1": [
        (but(1), "losses-of-different-units"),
        (but(2), "learning-by-heart-is-learning"),
        (but(3, 6), "likeliest-is-best"),
        (but(4), "temperature-reorders"),
        (but(5), "clipping-stretches"),
        (lambda: np.array([0, 0, 0, 1, 0, 1, 1]), "weights-are-all"),
        (but(7), "halves-differ-from-the-whole"),
        (says(True, False), "wrong-shape"),
    ],
    "11.2": [
        (says(256 / 273, 4 / 7, 0), "temperature-upside-down"),
        (lambda: torch.tensor([0.938, 0.571, 1.0]), "temperature-upside-down"),
        (says(8 / 21, 32 / 21, 0), "probabilities-divided"),
        (says(16 / 21, 16 / 21, 0), "probabilities-divided"),
        (says(4, 256, 0), "exponentials-returned"),
        (says(2 / 3, 2 / 3, 0), "no-exponential"),
        (says(2 / 7, 16 / 273, 0), "another-letter"),
        (says(4 / 7, 256 / 273, 1 / 3), "cold-is-even"),
        (says(0.57, 0.94, 1), "third-takes-all"),
        (says(0.57, 0.94, 1 / 21), "third-as-at-one"),
        (says(0.57, 1.94, 0), "no-probabilities"),
        (says(0.6, 0.9, 0), "wrong-values"),
    ],
    "11.3": [
        (says(-math.log(9 / 32), 32 / 9, 0.8), "probabilities-averaged"),
        (says(8 * math.log(2), 256, 0.8), "sum-for-mean"),
        (says(-NATS, 0.25, 0.8), "sign-missing"),
        (says(2, 4, 0.8), "in-bits"),
        (says(2 * math.log10(2), 4, 0.8), "base-ten"),
        (says(NATS, math.exp(2), 0.8), "exponential-of-bits"),
        (says(NATS, 2**NATS, 0.8), "two-to-the-nats"),
        (says(NATS, 4.5, 0.8), "inverses-averaged"),
        (says(1.39, 4, 5), "characters-multiplied"),
        (says(1.386, 4, 0.5545), "nats-per-character"),
        (says(1.39, 4, 2), "still-per-token"),
        (says(1.39, 4, 0.2), "mean-over-the-wrong-count"),
        (says(1.39, 4, 0.9), "wrong-values"),
    ],
    "11.4": [
        (rates_dividing_always, "warmup-zero"),
        (rates_nan_without_warmup, "warmup-zero"),
        (rates_capped_warmup, "warmup-zero"),
        (rates(first=0), "steps-from-zero"),
        (rates(rise=lambda s, w, n: 1.0), "no-warmup"),
        (
            rates(
                lambda s, w, n: (1 + math.cos(math.pi * s / n)) / 2,
                lambda s, w, n: (1 + math.cos(math.pi * s / n)) / 2,
            ),
            "no-warmup",
        ),
        (rates(fall=lambda s, w, n: (1 + math.cos(math.pi * s / n)) / 2), "fall-counted-from-the-start"),
        (rates(fall=lambda s, w, n: (1 + math.cos(math.pi * (s - w) / n)) / 2), "fall-too-slow"),
        (rates(fall=lambda s, w, n: (1 + math.cos(2 * math.pi * (s - w) / (n - w))) / 2), "whole-cosine"),
        (rates(fall=lambda s, w, n: math.cos(math.pi * (s - w) / (n - w))), "below-zero"),
        (rates(fall=lambda s, w, n: math.cos(math.pi * (s - w) / (n - w) / 2)), "quarter-cosine"),
        (rates(fall=lambda s, w, n: 1 + math.cos(math.pi * (s - w) / (n - w))), "half-forgotten"),
        (rates(fall=lambda s, w, n: (1 - math.cos(math.pi * (s - w) / (n - w))) / 2), "fall-upside-down"),
        (rates(fall=lambda s, w, n: (1 + math.cos(180 * (s - w) / (n - w))) / 2), "degrees-for-radians"),
        (rates(fall=lambda s, w, n: (1 + math.cos((s - w) / (n - w))) / 2), "degrees-for-radians"),
        (rates(fall=lambda s, w, n: 1 - (s - w) / (n - w)), "straight-fall"),
        (rates(fall=lambda s, w, n: 1.0), "constant-after-the-rise"),
        (lambda peak, warmup, steps: rates_vectorised(1.0, warmup, steps), "peak-forgotten"),
        (rates(rise=lambda s, w, n: s / n), "rise-over-all-steps"),
        (rates(fall=lambda s, w, n: math.sqrt(max(w, 1) / s)), "root-of-the-paper"),
        (lambda peak, warmup, steps: rates_vectorised(peak, warmup, steps).tolist(), "wrong-type"),
        (lambda peak, warmup, steps: rates_vectorised(peak, warmup, steps)[:-1], "wrong-shape"),
        (lambda peak, warmup, steps: 1.1 * rates_vectorised(peak, warmup, steps), "wrong-values"),
    ],
    "11.5": [
        (clip_each, "clipped-one-by-one"),
        (clip_each_always, "clipped-one-by-one"),
        (lambda gs, longest: tuple(g.clip(-longest, longest) for g in gs), "clipped-by-value"),
        (lambda gs, longest: [torch.clamp(g, min=-longest, max=longest) for g in gs], "clipped-by-value"),
        (
            clip_with(length_of, lambda length, longest: longest / length if length else 1),
            "short-ones-stretched",
        ),
        (clip_with(length_of, lambda length, longest: longest / (length + 1e-6)), "short-ones-stretched"),
        (
            clip_with(length_of, lambda length, longest: 1 if not length else max(1.0, longest / length)),
            "upside-down",
        ),
        (clip_with(lambda gs: sum(g.square().sum().item() for g in gs)), "root-forgotten"),
        (clip_with(lambda gs: sum(g.norm().item() for g in gs)), "lengths-added"),
        (clip_with(lambda gs: sum(g.abs().sum().item() for g in gs)), "absolute-values-added"),
        (clip_with(lambda gs: max(g.abs().max().item() for g in gs)), "largest-number"),
        (
            clip_with(lambda gs: torch.cat([g.flatten() for g in gs]).square().mean().sqrt().item()),
            "mean-for-sum",
        ),
        (
            clip_with(length_of, lambda length, longest: 1 / length if length > longest else 1),
            "longest-forgotten",
        ),
        (clip_last_only, "last-length-only"),
        (clip_with(lambda gs: gs[0].norm().item()), "last-length-only"),
        (
            lambda gs, longest: [g if length_of(gs) <= longest else torch.zeros_like(g) for g in gs],
            "thrown-away",
        ),
        (lambda gs, longest: [g.clone() for g in gs], "nothing-changed"),
        (clip_python_division, "zero-divided"),
        (clip_zero_divided, "zero-divided"),
        (clip_changing, "argument-changed"),
        (lambda gs, longest: torch.cat([g.flatten() for g in gs]), "wrong-shape"),
    ],
    "11.6": [
        (kept_by(lambda z, k: ~right_k(z, k)), "complement-kept"),
        (lambda z, k: z.masked_fill(right_k(z, k), -INF).softmax(-1), "complement-kept"),
        (lambda z, k: z.masked_fill(z > z.sort().values[:, k - 1 : k], -INF).softmax(-1), "lowest-kept"),
        (kept_by(one_more_k), "one-too-many"),
        (kept_by(one_less_by_sort), "one-too-few"),
        (kept_by(right_k, lambda z, kept: z.softmax(-1) * kept), "not-renormalised"),
        (kept_by(right_k, lambda z, kept: (z * kept).softmax(-1)), "zero-for-minus-infinity"),
        (lambda z, k: torch.where(right_k(z, k), z, 0).softmax(-1), "zero-for-minus-infinity"),
        (lambda z, k: top_k_where(z.softmax(-1), k), "softmax-twice"),
        (kept_by(right_k, lambda z, kept: z * kept / (z * kept).sum(-1, True)), "divided-by-logits"),
        (kept_by(right_k, lambda z, kept: F.normalize(kept.float(), p=1)), "equal-shares"),
        (kept_by(lambda z, k: z >= z.flatten().topk(k).values.min()), "whole-batch"),
        (lambda z, k: z.masked_fill(~right_k(z, k), -INF), "logits-returned"),
        (lambda z, k: z.softmax(-1), "nothing-forgotten"),
        (kept_by(right_k, lambda z, kept: z.masked_fill(~kept, -INF).softmax(0)), "softmax-over-the-batch"),
        (top_k_scatter, "ties-broken"),
        (lambda z, k: z.topk(k).values.softmax(-1), "wrong-shape"),
    ],
    "11.7": [
        (nucleus(lambda values, total, share: total <= share), "crossing-word-left-out"),
        (nucleus(lambda values, total, share: total < share, lambda kept: kept), "crossing-word-left-out"),
        (
            nucleus(lambda v, t, s: F.pad((t - v < s)[:, :-1], (1, 0), value=True)),
            "one-word-too-many",
        ),
        (nucleus(lambda values, total, share: total - values >= share), "complement-kept"),
        (ascending_p, "least-likely-first"),
        (nucleus(right_p, lambda kept: kept), "not-renormalised"),
        (lambda p, share: nucleus(right_p, lambda kept: kept / share)(p, share), "divided-by-share"),
        (nucleus(right_p, lambda kept: kept.softmax(-1)), "softmax-again"),
        (nucleus(right_p, lambda kept: kept.masked_fill(kept == 0, -INF).softmax(-1)), "softmax-again"),
        (sorted_order, "left-in-sorted-order"),
        (not_put_back, "mask-not-put-back"),
        (unsorted_p, "not-sorted"),
        (lambda p, s: (p * (p >= s)) / (p * (p >= s)).sum(-1, True), "share-as-a-bar"),
        (lambda p, share: p.clone(), "nothing-forgotten"),
        (lambda p, share: p[:, :2], "wrong-shape"),
        (nucleus(right_p, lambda kept: 2 * kept), "wrong-values"),
    ],
    "11.8": [
        (run(("moment", "generator")), "weights-lost"),
        (run(("moment", "step", "generator")), "weights-lost"),
        (run(("weights",)), "only-the-weights"),
        (run(("weights", "step", "generator")), "moment-forgotten"),
        (run(("weights", "step")), "moment-forgotten"),
        (run(("weights", "moment", "generator")), "place-forgotten"),
        (run(("weights", "moment")), "place-forgotten"),
        (run(("weights", "moment", "step")), "random-state-forgotten"),
        (run(until=lambda stop, steps: stop + steps), "too-many-steps"),
        (run(until=lambda stop, steps: stop), "not-continued"),
        (lambda rows, stop, steps: 2 * run()(rows, stop, steps), "wrong-values"),
    ],
}
