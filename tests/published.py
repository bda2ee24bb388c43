"""Small published models with random weights, made by `transformers`: what the tests compare with."""

import os

import torch

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import transformers

transformers.utils.logging.disable_progress_bar()
transformers.utils.logging.set_verbosity_error()

V = 53  # words
SMALL = {
    "bert": lambda **other: transformers.BertModel(
        transformers.BertConfig(
            vocab_size=V,
            hidden_size=12,
            num_hidden_layers=3,
            num_attention_heads=2,
            intermediate_size=19,
            max_position_embeddings=31,
            **other,
        )
    ),
    "gpt2": lambda **other: transformers.GPT2LMHeadModel(
        transformers.GPT2Config(
            vocab_size=V,
            n_positions=64,
            n_embd=12,
            n_layer=3,
            n_head=2,
            **{"bos_token_id": 5, "eos_token_id": 7, **other},
        )
    ),
    "llama": lambda **other: transformers.LlamaForCausalLM(
        transformers.LlamaConfig(
            vocab_size=V,
            hidden_size=24,
            intermediate_size=29,
            num_hidden_layers=3,
            num_attention_heads=6,
            **{"num_key_value_heads": 2, "bos_token_id": 5, "eos_token_id": 7, **other},
        )
    ),
    "mistral": lambda **other: transformers.MistralForCausalLM(
        transformers.MistralConfig(
            vocab_size=V,
            hidden_size=24,
            intermediate_size=29,
            num_hidden_layers=3,
            num_attention_heads=6,
            **{
                "num_key_value_heads": 3,
                "sliding_window": None,
                "bos_token_id": 5,
                "eos_token_id": 7,
                **other,
            },
        )
    ),
    "marian": lambda **other: transformers.MarianMTModel(
        transformers.MarianConfig(
            vocab_size=V,
            d_model=12,
            encoder_layers=3,
            decoder_layers=3,
            encoder_attention_heads=2,
            decoder_attention_heads=2,
            encoder_ffn_dim=19,
            decoder_ffn_dim=19,
            max_position_embeddings=64,
            **{
                "pad_token_id": V - 1,
                "decoder_start_token_id": V - 1,
                "eos_token_id": 0,
                "forced_eos_token_id": None,
                "scale_embedding": True,
                "activation_function": "swish",
                **other,
            },
        )
    ),
}


def small(family: str, folder=None, std: float = 0.5, **settings):
    """A small model of the family with large random weights, saved to the folder if one is given."""
    model = SMALL[family](**settings).eval()
    for name, parameter in [*model.named_parameters(), *model.named_buffers()]:
        if parameter.is_floating_point() and "inv_freq" not in name and "embed_positions" not in name:
            torch.nn.init.normal_(parameter, std=std)
    if folder is not None:
        model.save_pretrained(folder)
    return model
