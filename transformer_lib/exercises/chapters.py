"""The book's chapters: number, title and notebook, for whatever lists exercises by chapter."""

from __future__ import annotations

from transformer_lib.exercises.exercise import Exercise

# number: (title, notebook in book/ without suffix)
CHAPTERS = {
    1: ("The limits of recurrence", "01_rnn_limits"),
    2: ("Self-attention", "02_self_attention"),
    3: ("Scaling by √d_k", "03_scaling"),
    4: ("Positional encodings", "04_positional_encodings"),
    5: ("The feed-forward network", "05_feed_forward"),
    6: ("Masking", "06_masking"),
    7: ("Multi-head attention", "07_multi_head"),
    8: ("The Transformer block", "08_transformer_block"),
    9: ("Encoder and decoder", "09_encoder_decoder"),
    10: ("The quadratic cost", "10_quadratic_cost"),
    11: ("Train your own", "11_train_your_own"),
    12: ("Real models", "12_real_models"),
}


def by_chapter(exercises: tuple[Exercise, ...]) -> dict[int, list[Exercise]]:
    """The exercises of each chapter that has any, in order."""
    found: dict[int, list[Exercise]] = {}
    for exercise in exercises:
        found.setdefault(exercise.key[0], []).append(exercise)
    return found
