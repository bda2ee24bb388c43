"""Exercises of chapter 3, the scale: how scores grow, how sharp a softmax is, and what its slope is.

Most mistakes are recognised by what the learner's function does, so that every spelling of one is caught.
"""

from transformer_lib.exercises.chapter_03.entropy import ENTROPY
from transformer_lib.exercises.chapter_03.fold_scale import FOLD
from transformer_lib.exercises.chapter_03.growth_factors import PREDICT
from transformer_lib.exercises.chapter_03.head_weights import FIND_THE_BUG
from transformer_lib.exercises.chapter_03.largest_weights import WORK_OUT
from transformer_lib.exercises.chapter_03.slopes import SLOPE
from transformer_lib.exercises.chapter_03.softmax_jacobian import JACOBIAN

EXERCISES = (PREDICT, WORK_OUT, ENTROPY, SLOPE, JACOBIAN, FIND_THE_BUG, FOLD)
