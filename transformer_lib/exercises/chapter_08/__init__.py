"""Exercises of chapter 8, the block: layer norm, residual connections, norm order, stacks."""

from transformer_lib.exercises.chapter_08.by_hand import WORK_OUT
from transformer_lib.exercises.chapter_08.layer_norm import LAYER_NORM
from transformer_lib.exercises.chapter_08.post_norm_block import POST_NORM
from transformer_lib.exercises.chapter_08.pre_norm_stack import FIND_THE_BUG
from transformer_lib.exercises.chapter_08.predictions import PREDICT
from transformer_lib.exercises.chapter_08.stack import STACK

EXERCISES = (PREDICT, WORK_OUT, LAYER_NORM, POST_NORM, FIND_THE_BUG, STACK)
