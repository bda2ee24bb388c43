"""Exercises of chapter 12, real models: sentence vectors, search, names of tensors, sizes from a config."""

from transformer_lib.exercises.chapter_12.cache_bytes import CACHE
from transformer_lib.exercises.chapter_12.count_parameters import COUNT
from transformer_lib.exercises.chapter_12.nearest import NEAREST
from transformer_lib.exercises.chapter_12.pooling import POOL
from transformer_lib.exercises.chapter_12.predictions import PREDICT
from transformer_lib.exercises.chapter_12.split_packed import SPLIT
from transformer_lib.exercises.chapter_12.stack_qkv import STACK

EXERCISES = (PREDICT, COUNT, STACK, SPLIT, POOL, NEAREST, CACHE)
