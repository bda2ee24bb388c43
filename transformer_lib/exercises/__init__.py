"""Exercises that check themselves and name the mistake."""
