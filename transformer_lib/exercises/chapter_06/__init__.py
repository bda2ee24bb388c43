"""Exercises of chapter 6, masks: the future, the padding, and what is trained behind them.

Most mistakes are recognised by which words an answer lets through, so that every spelling of one is caught.
"""

from transformer_lib.exercises.chapter_06.by_hand import WORK_OUT
from transformer_lib.exercises.chapter_06.hide_future import FUTURE
from transformer_lib.exercises.chapter_06.hide_padding import PADDING
from transformer_lib.exercises.chapter_06.masked_attention import ATTENTION
from transformer_lib.exercises.chapter_06.next_word_loss import LOSS
from transformer_lib.exercises.chapter_06.predictions import PREDICT
from transformer_lib.exercises.chapter_06.translator_masks import FIND_THE_BUG

EXERCISES = (PREDICT, WORK_OUT, FUTURE, PADDING, ATTENTION, FIND_THE_BUG, LOSS)
