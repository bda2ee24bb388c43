"""Exercises of chapter 4, positions: sinusoids, tables that move with the module, and rotations.

Rotations are linear, so the learner's function is asked for its matrix (`shared.py`): every spelling of a
mistake has the same one.
"""

from transformer_lib.exercises.chapter_04.add_positions import ADD_POSITIONS
from transformer_lib.exercises.chapter_04.rotate import ROTATE
from transformer_lib.exercises.chapter_04.rotate_halves import FIND_THE_BUG
from transformer_lib.exercises.chapter_04.sinusoids import SINUSOIDS
from transformer_lib.exercises.chapter_04.waves_by_hand import BY_HAND
from transformer_lib.exercises.chapter_04.what_holds import PREDICT

EXERCISES = (PREDICT, BY_HAND, SINUSOIDS, ADD_POSITIONS, ROTATE, FIND_THE_BUG)
