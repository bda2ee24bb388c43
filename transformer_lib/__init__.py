"""Self-attention and Transformers: one small, tested module per idea of the lecture.

The modules, in the lecture's order; each begins with its equation and its source:

| module | idea |
|---|---|
| `rnn`, `distance` | recurrent networks: word after word, far words far apart |
| `attention` | queries, keys and values; the scale |
| `positions` | sinusoidal, learned, rotary and relative positions |
| `feed_forward` | the non-linearity |
| `masks` | the future and padding hidden |
| `multi_head` | several heads at the cost of one; the cache |
| `blocks` | residual connections and norms |
| `configs`, `models` | encoder, decoder, both, language model |
| `cost`, `measuring` | parameters, FLOPs, bytes counted; time and memory measured |
| `efficient`, `linear` | attention in blocks, in a window; linear attention |
| `data`, `schedules`, `train` | texts, tokenizers, batches; learning rates; a loop that resumes bit for bit |
| `decoding`, `unrolled`, `sampling`, `generate` | reading a prompt once; writing: greedy, sampled, by beams |
| `hub`, `weights`, `families`, `pretrained` | published models in these same modules |

`checks` holds what they ask of their input. What chapters use stands in the package itself:
`from transformer_lib import MultiHeadAttention, TransformerLM`; there `attention`, `generate` and `train` are
the functions. `transformer_lib.exercises` checks the book's exercises; `transformer_lib.display` draws its
figures; neither is imported here.
"""

from importlib.metadata import version

from transformer_lib.attention import SelfAttention, attend_fused, attend_one, attention, attention_weights
from transformer_lib.blocks import DecoderBlock, EncoderBlock, LayerNorm, RMSNorm, layer_norm, rms_norm
from transformer_lib.configs import EncoderConfig, EncoderDecoderConfig, LMConfig
from transformer_lib.cost import (
    decoding_bytes,
    decoding_flops,
    flops,
    kv_cache_bytes,
    parameters,
    training_bytes,
)
from transformer_lib.data import (
    END,
    PAD,
    START,
    BPETokenizer,
    CharTokenizer,
    batches_by_length,
    date_pairs,
    english_prose,
    number_pairs,
    pad,
)
from transformer_lib.decoding import Continuation, Translation
from transformer_lib.distance import gradient_reach, sequential_steps
from transformer_lib.efficient import attend_blocks
from transformer_lib.feed_forward import FeedForward, GatedFeedForward
from transformer_lib.generate import beam_search, generate, stream
from transformer_lib.hub import hub_files
from transformer_lib.linear import attend_linear, linear_attention_weights
from transformer_lib.masks import (
    causal_mask,
    explain_mask,
    padding_mask,
    padding_mask_from_ids,
    sliding_window_mask,
)
from transformer_lib.measuring import fitted_exponent, measure
from transformer_lib.models import EncoderDecoder, TransformerEncoder, TransformerLM
from transformer_lib.multi_head import KVCache, MultiHeadAttention
from transformer_lib.positions import (
    LearnedPositions,
    SinusoidalPositions,
    alibi_bias,
    inverse_wavelengths,
    rotate_halves,
    rotate_pairs,
    sinusoidal_table,
)
from transformer_lib.pretrained import (
    embed_sentences,
    load_folder,
    load_tokenizer,
    mean_pool,
    minilm_files,
    special_ids,
)
from transformer_lib.rnn import (
    LSTM,
    RNN,
    RecurrentLM,
    lstm_step,
    rnn_step,
)
from transformer_lib.sampling import Sampler, filter_logits
from transformer_lib.schedules import cosine_schedule, paper_schedule
from transformer_lib.train import TrainConfig, train, word_loss

__version__ = version("transformer_lib")

__all__ = [
    "END",
    "LSTM",
    "PAD",
    "RNN",
    "START",
    "BPETokenizer",
    "CharTokenizer",
    "Continuation",
    "DecoderBlock",
    "EncoderBlock",
    "EncoderConfig",
    "EncoderDecoder",
    "EncoderDecoderConfig",
    "FeedForward",
    "GatedFeedForward",
    "KVCache",
    "LMConfig",
    "LayerNorm",
    "LearnedPositions",
    "MultiHeadAttention",
    "RMSNorm",
    "RecurrentLM",
    "Sampler",
    "SelfAttention",
    "SinusoidalPositions",
    "TrainConfig",
    "TransformerEncoder",
    "TransformerLM",
    "Translation",
    "alibi_bias",
    "attend_blocks",
    "attend_fused",
    "attend_linear",
    "attend_one",
    "attention",
    "attention_weights",
    "batches_by_length",
    "beam_search",
    "causal_mask",
    "cosine_schedule",
    "date_pairs",
    "decoding_bytes",
    "decoding_flops",
    "embed_sentences",
    "english_prose",
    "explain_mask",
    "filter_logits",
    "fitted_exponent",
    "flops",
    "generate",
    "gradient_reach",
    "hub_files",
    "inverse_wavelengths",
    "kv_cache_bytes",
    "layer_norm",
    "linear_attention_weights",
    "load_folder",
    "load_tokenizer",
    "lstm_step",
    "mean_pool",
    "measure",
    "minilm_files",
    "number_pairs",
    "pad",
    "padding_mask",
    "padding_mask_from_ids",
    "paper_schedule",
    "parameters",
    "rms_norm",
    "rnn_step",
    "rotate_halves",
    "rotate_pairs",
    "sequential_steps",
    "sinusoidal_table",
    "sliding_window_mask",
    "special_ids",
    "stream",
    "train",
    "training_bytes",
    "word_loss",
]
