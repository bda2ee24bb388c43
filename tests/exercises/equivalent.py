"""Changes of solutions that no check can notice, since they change nothing: (exercise, change): the reason.

`make mutate` prints the changes that pass and are not here.
"""

_SCORES = "scores = q @ k.transpose({}2, -1) / math.sqrt(q.shape[-1])"
_FROM_THE_FRONT = "of four axes, 2 from the front is -2 from the back"
_SELF_MASK = "self_mask = ~future {} (target != pad_id)[:, None, None]"

EQUIVALENT: dict[tuple[str, str], str] = {
    ("6.5", f"{_SCORES.format('-')}  →  {_SCORES.format('+')}"): _FROM_THE_FRONT,
    ("6.5", f"{_SCORES.format('-')}  →  {_SCORES.format('')}"): _FROM_THE_FRONT,
    ("6.6", f"{_SELF_MASK.format('&')}  →  {_SELF_MASK.format('*')}"): "the product of booleans is their &",
}
