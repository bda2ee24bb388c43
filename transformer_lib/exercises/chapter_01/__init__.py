"""Exercises of chapter 1, the limits of recurrence: who waits for whom, and what arrives from far back.

The mistakes are recognised by what the learner's function computes, whatever way it is written.
"""

from transformer_lib.exercises.chapter_01.by_hand import WORK_OUT
from transformer_lib.exercises.chapter_01.jacobian_back import JACOBIAN
from transformer_lib.exercises.chapter_01.look_back import LOOK_BACK
from transformer_lib.exercises.chapter_01.lstm_cell import FIND_THE_BUG
from transformer_lib.exercises.chapter_01.predictions import PREDICT
from transformer_lib.exercises.chapter_01.read_sentences import READ

EXERCISES = (PREDICT, LOOK_BACK, READ, WORK_OUT, FIND_THE_BUG, JACOBIAN)
