"""Exercises of chapter 11: how training is measured, steered and resumed, and how the next word is chosen.

Most mistakes are recognised by what the learner's function gives, so that every spelling of one is caught.
"""

from transformer_lib.exercises.chapter_11.clip_by_length import CLIP
from transformer_lib.exercises.chapter_11.learning_rates import SCHEDULE
from transformer_lib.exercises.chapter_11.loss_by_hand import WORK_OUT
from transformer_lib.exercises.chapter_11.predictions import PREDICT
from transformer_lib.exercises.chapter_11.stop_and_resume import FIND_THE_BUG
from transformer_lib.exercises.chapter_11.temperatures import TEMPERATURE
from transformer_lib.exercises.chapter_11.top_k import TOP_K
from transformer_lib.exercises.chapter_11.top_p import TOP_P

EXERCISES = (PREDICT, TEMPERATURE, WORK_OUT, SCHEDULE, CLIP, TOP_K, TOP_P, FIND_THE_BUG)
