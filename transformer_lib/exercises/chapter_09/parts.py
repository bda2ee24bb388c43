"""The parts that the last exercise puts together, each by the name of the exercise's function: what it is
for, and the library's own, which stands in where the learner has none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F

from transformer_lib.attention import attention, attention_weights
from transformer_lib.masks import causal_mask, padding_mask_from_ids
from transformer_lib.positions import sinusoidal_table
from transformer_lib.train import word_loss


@dataclass(frozen=True)
class Part:
    chapter: int
    use: str
    library: Callable


def sinusoids(T, D):
    return sinusoidal_table(torch.arange(T), D)


def self_attention(x, w_query, w_key, w_value):
    return attention(x @ w_query.T, x @ w_key.T, x @ w_value.T)


def split_heads(x, n_heads):
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


def merge_heads(heads):
    return heads.transpose(1, 2).flatten(2)


def hide_future(T, S):
    return causal_mask(T, S)[0, 0]


def masked_attention(q, k, v, mask):
    return attention(q, k, v, mask)


def multi_head_attention(x, w_query, w_key, w_value, w_output, n_heads, mask):
    q, k, v = (split_heads(x @ w.T, n_heads) for w in (w_query, w_key, w_value))
    return merge_heads(attention(q, k, v, mask[:, None])) @ w_output.T


def layer_norm(x, scale, shift, eps):
    return F.layer_norm(x, x.shape[-1:], scale, shift, eps)


def feed_forward(x, w_1, b_1, w_2, b_2):
    return torch.relu(x @ w_1.T + b_1) @ w_2.T + b_2


def post_norm_block(x, attention, feed_forward, norm_1, norm_2):
    x = norm_1(x + attention(x))
    return norm_2(x + feed_forward(x))


def cross_attention(x, memory, w_query, w_key, w_value, real):
    return attention(x @ w_query.T, memory @ w_key.T, memory @ w_value.T, real[:, None, None])


def decoder_block(x, memory, past, real, attention, cross_attention, feed_forward, norms):
    x = norms[0](x + attention(x, past))
    x = norms[1](x + cross_attention(x, memory, real))
    return norms[2](x + feed_forward(x))


def shift_target(sentences, start_id, end_id, pad_id):
    longest = max(map(len, sentences))
    rows = [[start_id, *s, end_id, *[pad_id] * (longest - len(s))] for s in sentences]
    whole = torch.tensor(rows)
    return whole[:, :-1], whole[:, 1:]


def loss_without_pads(logits, wanted, pad_id):
    return word_loss(logits, wanted, pad_id=pad_id)


def greedy(next_logits, start_id, end_id, max_words):
    ids = [start_id]
    while len(ids) <= max_words:
        word = int(next_logits(ids).argmax())
        if word == end_id:
            break
        ids.append(word)
    return ids[1:]


PARTS = {
    "self_attention": Part(2, "each head of the encoder's first layer", self_attention),
    "head_weights": Part(3, "the weights of the encoder's second layer", attention_weights),
    "sinusoids": Part(4, "the positions of source and target", sinusoids),
    "feed_forward": Part(5, "the feed-forward network of every block", feed_forward),
    "hide_future": Part(6, "the decoder's mask against the future", hide_future),
    "hide_padding": Part(6, "the mask of the source's padding", padding_mask_from_ids),
    "masked_attention": Part(6, "the target reads itself, first layer", masked_attention),
    "split_heads": Part(7, "the heads of two layers", split_heads),
    "merge_heads": Part(7, "all heads put side by side", merge_heads),
    "multi_head_attention": Part(7, "the target reads itself, second layer", multi_head_attention),
    "layer_norm": Part(8, "every norm", layer_norm),
    "post_norm_block": Part(8, "the encoder's blocks", post_norm_block),
    "cross_attention": Part(9, "each head with which the target reads the source", cross_attention),
    "decoder_block": Part(9, "the decoder's blocks", decoder_block),
    "shift_target": Part(9, "the rows for the loss on three sentences", shift_target),
    "loss_without_pads": Part(9, "that loss", loss_without_pads),
    "greedy": Part(9, "writing word after word", greedy),
}
