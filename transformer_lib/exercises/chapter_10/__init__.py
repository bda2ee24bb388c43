"""Exercises of chapter 10, the quadratic cost: what attention costs, and the ways out.

Most mistakes are recognised by what the learner's function does, so that every spelling of one is caught.
"""

from transformer_lib.exercises.chapter_10.absorb import ABSORB
from transformer_lib.exercises.chapter_10.attention_flops import FLOPS
from transformer_lib.exercises.chapter_10.blocks_bug import BUG
from transformer_lib.exercises.chapter_10.cache_sizes import CACHE
from transformer_lib.exercises.chapter_10.doubled import DOUBLED
from transformer_lib.exercises.chapter_10.grouped_attention import GROUPED
from transformer_lib.exercises.chapter_10.window_mask import WINDOW

EXERCISES = (DOUBLED, FLOPS, ABSORB, BUG, WINDOW, CACHE, GROUPED)
