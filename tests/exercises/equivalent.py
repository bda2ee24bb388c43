"""Changes of solutions that no check can notice, since they change nothing: (exercise, change): the reason.

`make mutate` prints the changes that pass and are not here.
"""

EQUIVALENT: dict[tuple[str, str], str] = {}
