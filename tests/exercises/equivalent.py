"""Changes of solutions that no check can notice, since they change nothing: (exercise, change): the reason.

`make mutate` prints the changes that pass and are not here.
"""

_SCORES = "scores = q @ k.transpose({}2, -1) / math.sqrt(K){}"
_HEADS = "  # (B, H, T, T)"
_FROM_THE_FRONT = "of four axes, 2 from the front is -2 from the back"

EQUIVALENT: dict[tuple[str, str], str] = {
    (id, f"{_SCORES.format('-', end)}  →  {_SCORES.format(sign, end)}"): _FROM_THE_FRONT
    for id, end in (("7.5", _HEADS), ("7.6", ""))
    for sign in ("+", "")
}
