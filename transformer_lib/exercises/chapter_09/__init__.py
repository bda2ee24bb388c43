"""Exercises of chapter 9, encoder and decoder: cross-attention, the decoder's block, what it is given and
what it should write, the loss, writing by itself; and the learner's own Transformer."""

from transformer_lib.exercises.chapter_09.cross_attention import CROSS_ATTENTION
from transformer_lib.exercises.chapter_09.decoder_block import DECODER_BLOCK
from transformer_lib.exercises.chapter_09.greedy import GREEDY
from transformer_lib.exercises.chapter_09.greedy_with_cache import WITH_CACHE
from transformer_lib.exercises.chapter_09.loss_without_pads import LOSS
from transformer_lib.exercises.chapter_09.own_transformer import OWN_TRANSFORMER
from transformer_lib.exercises.chapter_09.shift_target import SHIFT_TARGET
from transformer_lib.exercises.chapter_09.who_changes import PREDICT

EXERCISES = (
    PREDICT,
    CROSS_ATTENTION,
    DECODER_BLOCK,
    SHIFT_TARGET,
    LOSS,
    GREEDY,
    WITH_CACHE,
    OWN_TRANSFORMER,
)
