"""Families of published models: their settings and names in the words of this library (lecture, throughout).

A published model is a file of named numbers and a `config.json`. The same attention, the same blocks are
inside, under other names. For each family stands here: the model that its settings describe, and one table
of names, ours on the left. Scale and shift of a norm are always published as `weight` and `bias`.

Sources: Devlin et al. 2018 (BERT), arXiv 1810.04805; Radford et al. 2019 (GPT-2); Touvron et al. 2023
(Llama), arXiv 2302.13971; Junczys-Dowmunt et al. 2018 (Marian), arXiv 1804.00344.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import nn

from transformer_lib.configs import EncoderConfig, EncoderDecoderConfig, LMConfig
from transformer_lib.models import EncoderDecoder, TransformerEncoder, TransformerLM
from transformer_lib.weights import Family

ACTIVATION_NAMES = {"gelu": "gelu", "gelu_new": "gelu-tanh", "gelu_pytorch_tanh": "gelu-tanh"}
ACTIVATION_NAMES |= {"relu": "relu", "silu": "silu", "swish": "silu"}


def build(settings: Mapping) -> tuple[nn.Module, Family]:
    """The model that a `config.json` describes, without numbers (on the meta device), and its family.

    Raises:
        ValueError: an unknown family, a missing setting, or one that these modules do not have.

    >>> build({"model_type": "t5"})
    Traceback (most recent call last):
    ValueError: models of type 't5' cannot be read; known are ['bert', 'gpt2', 'llama', 'marian', 'mistral']
    """
    kind = settings.get("model_type")
    if kind not in FAMILIES:
        raise ValueError(f"models of type {kind!r} cannot be read; known are {sorted(FAMILIES)}")
    try:
        with torch.device("meta"):
            return FAMILIES[kind].build(settings), FAMILIES[kind]
    except KeyError as error:
        raise ValueError(f"the settings of a {kind} model lack {error}") from None


def _expect(settings: Mapping, **expected) -> None:
    for name, value in expected.items():
        if settings.get(name, value) != value:
            raise ValueError(f"models with {name}={settings[name]!r} cannot be read, only {value!r}")


def _activation(name: str) -> str:
    if name not in ACTIVATION_NAMES:
        raise ValueError(f"activation {name!r} cannot be read; known are {sorted(ACTIVATION_NAMES)}")
    return ACTIVATION_NAMES[name]


def _bert(s: Mapping) -> TransformerEncoder:
    _expect(s, position_embedding_type="absolute", is_decoder=False)
    return TransformerEncoder(
        EncoderConfig(
            vocab_size=s["vocab_size"],
            d_model=s["hidden_size"],
            n_layers=s["num_hidden_layers"],
            n_heads=s["num_attention_heads"],
            d_ff=s["intermediate_size"],
            max_length=s["max_position_embeddings"],
            norm_eps=s.get("layer_norm_eps", 1e-12),
            activation=_activation(s.get("hidden_act", "gelu")),
            dropout=s.get("hidden_dropout_prob", 0.1),
            n_segments=s.get("type_vocab_size", 2),
            embedding_norm=True,
        )
    )


def _gpt2(s: Mapping) -> TransformerLM:
    _expect(s, scale_attn_weights=True, scale_attn_by_inverse_layer_idx=False, add_cross_attention=False)
    return TransformerLM(
        LMConfig(
            vocab_size=s["vocab_size"],
            d_model=s["n_embd"],
            n_layers=s["n_layer"],
            n_heads=s["n_head"],
            d_ff=s.get("n_inner"),
            max_length=s["n_positions"],
            norm_eps=s.get("layer_norm_epsilon", 1e-5),
            activation=_activation(s.get("activation_function", "gelu_new")),
            dropout=s.get("resid_pdrop", 0.1),
            tie_embeddings=s.get("tie_word_embeddings", True),
        )
    )


def _llama(s: Mapping) -> TransformerLM:
    rope = s.get("rope_parameters") or s.get("rope_scaling") or {}
    if rope.get("rope_type", rope.get("type", "default")) != "default":
        raise ValueError(f"models whose rotary positions are scaled cannot be read; got {dict(rope)}")
    _expect(s, head_dim=s["hidden_size"] // s["num_attention_heads"], sliding_window=None)
    _expect(s, mlp_bias=s.get("attention_bias", False))
    return TransformerLM(
        LMConfig(
            vocab_size=s["vocab_size"],
            d_model=s["hidden_size"],
            n_layers=s["num_hidden_layers"],
            n_heads=s["num_attention_heads"],
            n_kv_heads=s.get("num_key_value_heads"),
            d_ff=s["intermediate_size"],
            positions="rotary",
            rotary_base=rope.get("rope_theta", s.get("rope_theta", 10000.0)),
            norm="rms",
            norm_eps=s.get("rms_norm_eps", 1e-6),
            activation=_activation(s.get("hidden_act", "silu")),
            gated=True,
            bias=s.get("attention_bias", False),
            tie_embeddings=s.get("tie_word_embeddings", False),
        )
    )


def _marian(s: Mapping) -> EncoderDecoder:
    _expect(s, decoder_layers=s["encoder_layers"], decoder_attention_heads=s["encoder_attention_heads"])
    _expect(s, decoder_ffn_dim=s["encoder_ffn_dim"], share_encoder_decoder_embeddings=True)
    _expect(s, normalize_before=False, normalize_embedding=False, add_final_layer_norm=False)
    return EncoderDecoder(
        EncoderDecoderConfig(
            vocab_size=s["vocab_size"],
            d_model=s["d_model"],
            n_layers=s["encoder_layers"],
            n_heads=s["encoder_attention_heads"],
            d_ff=s["encoder_ffn_dim"],
            positions="sinusoidal-halves",
            activation=_activation(s.get("activation_function", "gelu")),
            dropout=s.get("dropout", 0.1),
            scale_embeddings=s.get("scale_embedding", False),
            output_bias=True,
        )
    )


BERT = Family(
    build=_bert,
    names={
        "embedding.words": "embeddings.word_embeddings",
        "embedding.places.table": "embeddings.position_embeddings",
        "segments": "embeddings.token_type_embeddings",
        "embedding_norm": "embeddings.LayerNorm",
        "blocks.*.attention.qkv": "encoder.layer.*.attention.self.query "
        "encoder.layer.*.attention.self.key encoder.layer.*.attention.self.value",
        "blocks.*.attention.output": "encoder.layer.*.attention.output.dense",
        "blocks.*.attention_norm": "encoder.layer.*.attention.output.LayerNorm",
        "blocks.*.feed_forward.widen": "encoder.layer.*.intermediate.dense",
        "blocks.*.feed_forward.narrow": "encoder.layer.*.output.dense",
        "blocks.*.feed_forward_norm": "encoder.layer.*.output.LayerNorm",
    },
    prefix="bert.",
    ignored=("embeddings.position_ids", "pooler.*", "cls.*"),  # counters; heads for other tasks
)

GPT2 = Family(
    build=_gpt2,
    names={
        "embedding.words": "wte",
        "embedding.places.table": "wpe",
        "blocks.*.attention.qkv": "h.*.attn.c_attn",
        "blocks.*.attention.output": "h.*.attn.c_proj",
        "blocks.*.attention_norm": "h.*.ln_1",
        "blocks.*.feed_forward.widen": "h.*.mlp.c_fc",
        "blocks.*.feed_forward.narrow": "h.*.mlp.c_proj",
        "blocks.*.feed_forward_norm": "h.*.ln_2",
        "norm": "ln_f",
        "logits": "lm_head",
    },
    prefix="transformer.",
    transposed=("c_attn", "c_proj", "c_fc"),
    copies={"lm_head.weight": "wte.weight"},
    ignored=("h.*.attn.bias", "h.*.attn.masked_bias"),  # the causal mask
)

LLAMA = Family(
    build=_llama,
    names={
        "embedding.words": "embed_tokens",
        "blocks.*.attention.qkv": "layers.*.self_attn.q_proj layers.*.self_attn.k_proj "
        "layers.*.self_attn.v_proj",
        "blocks.*.attention.output": "layers.*.self_attn.o_proj",
        "blocks.*.attention_norm": "layers.*.input_layernorm",
        "blocks.*.feed_forward.gate": "layers.*.mlp.gate_proj",
        "blocks.*.feed_forward.widen": "layers.*.mlp.up_proj",
        "blocks.*.feed_forward.narrow": "layers.*.mlp.down_proj",
        "blocks.*.feed_forward_norm": "layers.*.post_attention_layernorm",
        "norm": "norm",
        "logits": "lm_head",
    },
    prefix="model.",
    copies={"lm_head.weight": "embed_tokens.weight"},
    ignored=("layers.*.self_attn.rotary_emb.inv_freq",),  # computed
)


def _marian_block(ours: str, theirs: str) -> dict[str, str]:
    attention = f"{theirs}.*.self_attn"
    return {
        f"{ours}.*.attention.qkv": f"{attention}.q_proj {attention}.k_proj {attention}.v_proj",
        f"{ours}.*.attention.output": f"{attention}.out_proj",
        f"{ours}.*.attention_norm": f"{attention}_layer_norm",
        f"{ours}.*.feed_forward.widen": f"{theirs}.*.fc1",
        f"{ours}.*.feed_forward.narrow": f"{theirs}.*.fc2",
        f"{ours}.*.feed_forward_norm": f"{theirs}.*.final_layer_norm",
    }


_CROSS = "decoder.layers.*.encoder_attn"
MARIAN = Family(
    build=_marian,
    names={
        "embedding.words": "shared",
        **_marian_block("encoder", "encoder.layers"),
        **_marian_block("decoder", "decoder.layers"),
        "decoder.*.cross_attention.qkv": f"{_CROSS}.q_proj {_CROSS}.k_proj {_CROSS}.v_proj",
        "decoder.*.cross_attention.output": f"{_CROSS}.out_proj",
        "decoder.*.cross_attention_norm": f"{_CROSS}_layer_norm",
        "logits.bias": "final_logits_bias",
    },
    prefix="model.",
    copies={
        "lm_head.weight": "shared.weight",
        "encoder.embed_tokens.weight": "shared.weight",
        "decoder.embed_tokens.weight": "shared.weight",
    },
    ignored=("encoder.embed_positions.weight", "decoder.embed_positions.weight"),  # computed
)

FAMILIES = {"bert": BERT, "gpt2": GPT2, "llama": LLAMA, "mistral": LLAMA, "marian": MARIAN}
