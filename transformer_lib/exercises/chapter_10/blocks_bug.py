"""Exercise 10.4: Right in one block, wrong in two."""

from __future__ import annotations

import math

import torch

from transformer_lib.exercises.chapter_10.shared import on_inputs
from transformer_lib.exercises.exercise import Exercise, Mistake


def attention_in_blocks(q, k, v, block):
    T, K = q.shape
    S = len(k)
    m = torch.full((T, 1), -math.inf)
    total = torch.zeros(T, 1)
    o = torch.zeros(T, v.shape[1])
    for j in range(0, S, block):
        scores = q @ k[j : j + block].T / math.sqrt(K)
        m_new = torch.maximum(m, scores.amax(dim=-1, keepdim=True))
        p = torch.exp(scores - m_new)
        shrink = torch.exp(m - m_new)
        total = total * shrink + p.sum(dim=-1, keepdim=True)
        o = o * shrink + p @ v[j : j + block]
        m = m_new
    return o / total


def _cases(generator: torch.Generator) -> list[tuple]:
    cases = []
    for T, S, K, V, block in (
        (2, 4, 3, 2, 2),
        (3, 3, 5, 2, 7),
        (3, 7, 5, 2, 3),
        (5, 11, 7, 3, 2),
        (2, 13, 3, 5, 1),
    ):
        draw = lambda *shape: 1.5 * torch.randn(*shape, generator=generator)  # noqa: E731
        cases.append((draw(T, K), draw(S, K), draw(S, V), block))
    return cases


def _inputs(S: int) -> tuple:
    generator = torch.Generator().manual_seed(4)
    q, k, v = (1.5 * torch.randn(n, w, generator=generator) for n, w in ((5, 7), (S, 7), (S, 3)))
    return q, k, v, 3


def _runs(*, sum_shrinks=True, out_shrinks=True, all_blocks=True, scale=True, top="running", divide="end"):
    """The loop with single steps left out or replaced."""

    def formula(q, k, v, block):
        m = torch.full((len(q), 1), -math.inf)
        total, o = torch.zeros(len(q), 1), torch.zeros(len(q), v.shape[1])
        for j in range(0, len(k) if all_blocks else len(k) - block + 1, block):
            scores = q @ k[j : j + block].T / (math.sqrt(q.shape[1]) if scale else 1)
            best = scores.amax(-1, keepdim=True)
            new = (
                best
                if top == "block"
                else torch.zeros_like(best)
                if top == "none"
                else torch.maximum(m, best)
            )
            p, shrink = (scores - new).exp(), (m - new).exp()
            old_total = total
            total = total * (shrink if sum_shrinks else 1) + p.sum(-1, keepdim=True)
            o = o * (shrink if out_shrinks else 1) + p @ v[j : j + block]
            if divide == "each":
                o = o / total
            elif divide == "last":
                old_total = p.sum(-1, keepdim=True)
            m = new
        return o / {"end": total, "last": old_total}.get(divide, torch.ones_like(total))

    return formula


def _does(*formulas):
    """On whole blocks and on a last one that is not full, it is one of these."""

    def probe(attempt):
        return any(all(on_inputs(_inputs(S), formula)(attempt) for S in (9, 11)) for formula in formulas)

    return probe


BUG = Exercise(
    id="10.4",
    title="Right in one block, wrong in two",
    kind="find the bug",
    difficulty="medium",
    minutes=10,
    statement=r"""
This function should compute $\operatorname{softmax}(QK^\top/\sqrt{d_k})\,V$ in blocks of `block` keys:
`q` is `(T, K)`, `k` is `(S, K)`, `v` is `(S, Dv)`, the result is `(T, Dv)`. No mask. It runs, and a first
test with a single full block passed. But someone has measured two things:

- **with two blocks or more the outputs are no longer averages**: some lie outside of all values;
- **when S is no multiple of `block`, the last words of the text have no influence at all.**

Find the two bugs and mend them. (Take out the `raise` line first. The order of the work should stay:
block by block.)
""",
    stub="""import math

import torch


def attention_in_blocks(q, k, v, block):
    raise NotImplementedError("take this line out, then mend what is below")
    T, K = q.shape
    S = len(k)
    m = torch.full((T, 1), -math.inf)
    total = torch.zeros(T, 1)
    o = torch.zeros(T, v.shape[1])
    for j in range(0, S - block + 1, block):
        scores = q @ k[j : j + block].T / math.sqrt(K)
        m_new = torch.maximum(m, scores.amax(dim=-1, keepdim=True))
        p = torch.exp(scores - m_new)
        shrink = torch.exp(m - m_new)
        total = total * shrink + p.sum(dim=-1, keepdim=True)
        o = o + p @ v[j : j + block]
        m = m_new
    return o / total
""",
    reference=attention_in_blocks,
    cases=_cases,
    hints=(
        "Print `j` for S = 7 and block = 3. Which keys are never read?",
        "Three things are carried along: m, total and o. Which of them know that the largest score has "
        "changed?",
        "A slice such as `k[6:9]` of 7 rows is shorter, and no error.",
    ),
    mistakes=(
        Mistake(
            name="both-bugs-left",
            message="Both symptoms are still there: outputs outside of the values, and last words "
            "without influence.",
            probe=_does(_runs(out_shrinks=False, all_blocks=False)),
        ),
        Mistake(
            name="last-block-dropped",
            message="With full blocks it is right now. A last block that is not full is still left out: "
            "where does the loop end?",
            probe=_does(_runs(all_blocks=False)),
        ),
        Mistake(
            name="output-not-rescaled",
            message="All keys are read now. But the old `o` was made with the old largest score, and is "
            "added to what is made with the new one.",
            probe=_does(_runs(out_shrinks=False)),
        ),
        Mistake(
            name="sum-not-rescaled",
            message="Now `o` is rescaled and `total` is not. Both hold sums of exp(s − m).",
            probe=_does(_runs(sum_shrinks=False), _runs(sum_shrinks=False, all_blocks=False)),
        ),
        Mistake(
            name="nothing-rescaled",
            message="Now neither `o` nor `total` is rescaled. They fit each other, but earlier blocks "
            "weigh too much or too little against later ones.",
            probe=_does(
                _runs(sum_shrinks=False, out_shrinks=False),
                _runs(sum_shrinks=False, out_shrinks=False, all_blocks=False),
                _runs(sum_shrinks=False, out_shrinks=False, top="block"),
            ),
        ),
        Mistake(
            name="divided-in-the-loop",
            message="The division by `total` happens in every round. It comes once, after the last block.",
            probe=_does(_runs(divide="each"), _runs(divide="each", out_shrinks=False)),
        ),
        Mistake(
            name="divided-by-the-last-block",
            message="`o` is divided by the sum of the last block alone. `total` holds that of all blocks.",
            probe=_does(_runs(divide="last"), _runs(divide="last", out_shrinks=False)),
        ),
        Mistake(
            name="not-divided",
            message="The division by `total` got lost: the outputs are sums, no averages.",
            probe=_does(_runs(divide="never"), _runs(divide="never", out_shrinks=False)),
        ),
        Mistake(
            name="no-scale",
            message="The scale got lost: 1/√K was right.",
            probe=_does(_runs(scale=False), _runs(scale=False, out_shrinks=False)),
        ),
    ),
)
