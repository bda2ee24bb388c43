"""Exercises of chapter 2, self-attention: queries, keys and values, for one word and for the sentence.

The mistakes are kinds, not spellings: most are recognised by what the learner's attention does
(`attention_probes.py`).
"""

from transformer_lib.exercises.chapter_02.by_hand import WORK_OUT
from transformer_lib.exercises.chapter_02.one_head import FIND_THE_BUG
from transformer_lib.exercises.chapter_02.predictions import PREDICT
from transformer_lib.exercises.chapter_02.previous_word_head import BUILD_A_HEAD
from transformer_lib.exercises.chapter_02.read_one_word import ONE_WORD
from transformer_lib.exercises.chapter_02.self_attention import WHOLE_SENTENCE

EXERCISES = (PREDICT, WORK_OUT, ONE_WORD, FIND_THE_BUG, WHOLE_SENTENCE, BUILD_A_HEAD)
