"""Exercises of chapter 5, the feed-forward network: what an average cannot do, and what bends.

Most mistakes are recognised by what the learner's function does, so that every spelling of one is caught.
"""

from transformer_lib.exercises.chapter_05.count_parameters import COUNT
from transformer_lib.exercises.chapter_05.feed_forward import NETWORK
from transformer_lib.exercises.chapter_05.layer import LAYER
from transformer_lib.exercises.chapter_05.merge import MERGE
from transformer_lib.exercises.chapter_05.network_as_convolution import FIND_THE_BUG
from transformer_lib.exercises.chapter_05.predictions import PREDICT
from transformer_lib.exercises.chapter_05.xor_by_hand import XOR

EXERCISES = (PREDICT, XOR, COUNT, NETWORK, MERGE, FIND_THE_BUG, LAYER)
