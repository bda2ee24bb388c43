r"""What a Transformer costs: parameters, FLOPs and bytes, counted by term (lecture, section 10).

A product of an (m, n) and an (n, p) matrix takes $2mnp$ floating-point operations (FLOPs). For a layer with T
words of width D, a feed-forward network of width F and as many heads of keys as of queries,

$$\underbrace{8TD^2}_{\text{projections}} + \underbrace{2T^2D}_{\text{scores}} +
  \underbrace{2T^2D}_{\text{weighted sum}} + \underbrace{4TDF}_{\text{feed-forward}},$$

so that the part that grows with $T^2$ overtakes the rest at T = 6 D (with F = 4 D). The backward pass takes
two products for each one of the forward pass. Only matrix products count, as in torch's `FlopCounterMode`,
with the hidden half of causal scores; a kernel that skips that half, or computes scores twice, differs.

Sources: Vaswani et al. 2017, arXiv 1706.03762, Table 1; Kaplan et al. 2020, arXiv 2001.08361, Table 1.
"""

from __future__ import annotations

import torch

from transformer_lib.configs import Config, EncoderConfig, EncoderDecoderConfig
from transformer_lib.feed_forward import FeedForward, GatedFeedForward
from transformer_lib.measuring import Measurement, fitted_exponent, measure  # noqa: F401  also found here


def parameters(config: Config) -> dict[str, int]:
    """How many numbers a model of this shape learns, by term; their sum is that of `p.numel()`.

    A table of embeddings that is also the last map counts once, as "embeddings".

    >>> from transformer_lib.configs import LMConfig
    >>> parameters(LMConfig(vocab_size=100, d_model=8, n_layers=1, n_heads=2, max_length=10))
    {'embeddings': 800, 'positions': 80, 'projections': 288, 'feed-forward': 552, 'norms': 48, 'logits': 0}
    """
    D, L, kv, F = _sizes(config)
    both = isinstance(config, EncoderDecoderConfig)  # in each pair of layers: 3 attentions, 2 networks
    bias = int(config.bias)
    norms = (5 if both else 2) * L + config.pre_norm * (1 + both) + getattr(config, "embedding_norm", False)
    logits = config.vocab_size * D if not getattr(config, "tie_embeddings", True) else 0
    return {
        "embeddings": (config.vocab_size + getattr(config, "n_segments", 0)) * D,
        "positions": config.max_length * D if config.positions == "learned" else 0,
        "projections": (3 if both else 1) * L * (2 * D * (D + kv) + bias * 2 * (D + kv)),
        "feed-forward": (1 + both) * L * ((2 + config.gated) * D * F + bias * ((1 + config.gated) * F + D)),
        "norms": norms * D * (2 if config.norm == "layer" else 1),
        "logits": logits + getattr(config, "output_bias", False) * config.vocab_size,
    }


def flops(
    config: Config, T: int, *, source: int | None = None, batch: int = 1, training: bool = False
) -> dict[str, int]:
    """FLOPs of the matrix products of one call, by term, or of one call and its backward pass.

    Args:
        config: of the model.
        T: words of each sentence; for an encoder-decoder, of the target.
        source: words of the source, for an encoder-decoder only.
        batch: sentences.
        training: forward and backward, three times the forward.

    Raises:
        ValueError: a length or batch below 1, or a source given or lacking.

    >>> from transformer_lib.configs import LMConfig
    >>> flops(LMConfig(vocab_size=100, d_model=8, n_layers=1, n_heads=2), 10)
    {'projections': 5120, 'scores': 1600, 'weighted sum': 1600, 'feed-forward': 10240, 'logits': 16000}

    Source: Kaplan et al. 2020, Table 1.
    """
    _check(config, T, source, batch)
    S = source or 0
    reads = [(T, T, T), (S, S, S), (T, S, S)] if source else [(T, T, T)]
    words = 0 if isinstance(config, EncoderConfig) else T
    return _products(config, reads, T + S, words, batch * (3 if training else 1))


def decoding_flops(config: Config, past: int, *, source: int | None = None, batch: int = 1) -> dict[str, int]:
    """FLOPs of writing one more word after `past` words whose keys and values are in the cache.

    For an encoder-decoder the source has been read, and its keys and values computed, before.

    >>> from transformer_lib.configs import LMConfig
    >>> decoding_flops(LMConfig(vocab_size=100, d_model=8, n_layers=1, n_heads=2), 9)["scores"]
    160
    """
    _check(config, past + 1, source, batch)
    reads = [(1, 1, past + 1)] + ([(1, 0, source)] if source else [])
    return _products(config, reads, 1, 1, batch)


def kv_cache_bytes(
    config: Config, length: int, *, source: int | None = None, batch: int = 1, dtype=torch.float32
) -> int:
    """Bytes of the keys and values of `length` words (and of the source) in all layers.

    >>> from transformer_lib.configs import LMConfig
    >>> kv_cache_bytes(LMConfig(vocab_size=100, d_model=8, n_layers=3, n_heads=2), 10)
    1920
    """
    _check(config, length, source, batch)
    _, L, kv, _ = _sizes(config)
    return 2 * L * batch * (length + (source or 0)) * kv * dtype.itemsize


def decoding_bytes(
    config: Config, past: int, *, source: int | None = None, batch: int = 1, dtype=torch.float32
) -> dict[str, int]:
    """Bytes that must be read to write one more word for each sentence: the floor of its time.

    The weights are read once for the whole batch, of the tables one row for each sentence; the caches are
    each sentence's own. For an encoder-decoder as in `decoding_flops`.

    >>> from transformer_lib.configs import LMConfig
    >>> decoding_bytes(LMConfig(vocab_size=100, d_model=8, n_layers=1, n_heads=2), 9)["cache"]
    576
    """
    _check(config, past + 1, source, batch)
    D, L, kv, _ = _sizes(config)
    read = parameters(config)
    if source:  # the encoder rests, and cross-attention has its keys and values: 3 norms of 5, plus the last
        read["projections"] -= L * 2 * (D + kv) * (D + config.bias) + L * 2 * kv * (D + config.bias)
        read["feed-forward"] //= 2
        read["norms"] = read["norms"] // (5 * L + 2 * config.pre_norm) * (3 * L + config.pre_norm)
    if getattr(config, "tie_embeddings", True):
        read["logits"] += config.vocab_size * D
    read["embeddings"], read["positions"] = batch * D, min(read["positions"], D)
    terms = {term: n * dtype.itemsize for term, n in read.items()}
    words = past + (source or 0)
    return terms | {"cache": 2 * L * batch * words * kv * dtype.itemsize}


def training_bytes(
    config: Config,
    T: int,
    *,
    source: int | None = None,
    batch: int = 1,
    explicit: bool = False,
    dtype=torch.float32,
) -> dict[str, int]:
    """Bytes held when the backward pass of one step begins, by term.

    Weights, their gradients and Adam's two averages; then what each term keeps of every word ("kept: …"),
    with cross-entropy, without dropout, rotation and masks, RMSNorm as on a CPU (a fused kernel keeps D − 1
    numbers fewer for each word). explicit: attention keeps its (T, S) weights, as `attention` does, where the
    fused kernel keeps one number for each query.

    >>> from transformer_lib.configs import LMConfig
    >>> config = LMConfig(vocab_size=100, d_model=8, n_layers=1, n_heads=2)
    >>> [training_bytes(config, n, explicit=True)["kept: attention"] for n in (10, 20, 40)]
    [2080, 5760, 17920]
    """
    _check(config, T, source, batch)
    D, L, kv, F = _sizes(config)
    n_weights = sum(parameters(config).values()) * dtype.itemsize
    terms = {"weights": n_weights, "gradients": n_weights, "Adam's averages": 2 * n_weights}
    reads = [(T, T), (source, source), (T, source)] if source else [(T, T)]
    words, norms = T + (source or 0), 2 * (T + (source or 0)) + (T if source else 0)
    ends = words * config.pre_norm + words * getattr(config, "embedding_norm", False)
    wide = {"relu": 1 + 2 * config.gated}.get(config.activation, 2 + 2 * config.gated)
    attention = sum(2 * (q + k) * D + config.n_heads * q * (k if explicit else 1) for q, k in reads)
    attention += 2 * words * kv * (kv < D)  # shared keys and values, which are repeated for the heads
    to_logits = 0 if isinstance(config, EncoderConfig) else T
    for_norm = D + 2 if config.norm == "layer" else 2 * D + 1  # x, mean, deviation; or x, x / r, 1 / r
    kept = {
        "norms": (L * norms + ends) * for_norm,
        "projections": L * sum(q for q, _ in reads) * D + (source or 0) * D,
        "attention": L * attention,
        "feed-forward": L * words * (D + wide * F),
        "logits": to_logits * (D + config.vocab_size),
    }
    return terms | {f"kept: {term}": batch * n * dtype.itemsize for term, n in kept.items()}


def _sizes(config: Config) -> tuple[int, int, int, int]:
    """D, layers, width of all heads of keys, F."""
    D = config.d_model
    with torch.device("meta"):  # the networks know their usual widths
        network = (GatedFeedForward if config.gated else FeedForward)(D, config.d_ff)
    kv = D // config.n_heads * (config.n_kv_heads or config.n_heads)
    return D, config.n_layers, kv, network.narrow.in_features


def _products(config: Config, reads, words: int, predictions: int, times: int) -> dict[str, int]:
    """FLOPs of attentions with (queries, words whose keys are made, keys) each, and of the rest."""
    D, L, kv, F = _sizes(config)
    terms = {
        "projections": L * sum(2 * q * 2 * D * D + 2 * new * D * 2 * kv for q, new, _ in reads),
        "scores": L * sum(2 * q * k * D for q, _, k in reads),
        "weighted sum": L * sum(2 * q * k * D for q, _, k in reads),
        "feed-forward": L * words * (2 + config.gated) * 2 * D * F,
        "logits": 2 * predictions * D * config.vocab_size,
    }
    return {term: n * times for term, n in terms.items()}


def _check(config: Config, length: int, source: int | None, batch: int) -> None:
    if min(length, batch, 1 if source is None else source) < 1:
        raise ValueError(f"lengths and batch must be at least 1; got {length}, {source} and {batch}")
    if isinstance(config, EncoderDecoderConfig) == (source is None):
        needs = "needs a" if source is None else "has no"
        raise ValueError(f"{type(config).__name__} {needs} source; got source={source}")
