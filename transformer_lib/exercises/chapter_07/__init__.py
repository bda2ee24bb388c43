"""Exercises of chapter 7, several heads: split, attend, merge, and what it costs.

Most mistakes are recognised by where the numbers of a sentence end up, or by comparing the learner's whole
attention with every combination of two known deviations, so that every spelling of one is caught.
"""

from transformer_lib.exercises.chapter_07.costs import COSTS
from transformer_lib.exercises.chapter_07.heads_class import HEADS_CLASS
from transformer_lib.exercises.chapter_07.merge_heads import MERGE
from transformer_lib.exercises.chapter_07.multi_head_attention import WHOLE
from transformer_lib.exercises.chapter_07.predictions import PREDICT
from transformer_lib.exercises.chapter_07.split_heads import SPLIT
from transformer_lib.exercises.chapter_07.two_bugs import TWO_BUGS

EXERCISES = (PREDICT, SPLIT, MERGE, COSTS, WHOLE, TWO_BUGS, HEADS_CLASS)
