"""Changes of solutions that no check can notice, since they change nothing: (exercise, change): the reason.

`make mutate` prints the changes that pass and are not here.
"""

COUNTS = "network = 768 * 3072 + 3072 + 3072 * 768 + 768"
HEADS = "attention = 4 * (768 * 768 + 768)"
SHARE = "return [network, attention, network / (network + attention), 2048]"
NO_CARRY = "the two numbers have no binary digit in common, so this adds them too"
ROUNDED = "the share moves in the fourth digit only, and a share rounded to two digits is a right answer"

EQUIVALENT: dict[tuple[str, str], str] = {
    ("5.3", f"{COUNTS}  →  {COUNTS[::-1].replace('+', '|', 1)[::-1]}"): NO_CARRY,
    ("5.3", f"{COUNTS}  →  {COUNTS[::-1].replace('+', '^', 1)[::-1]}"): NO_CARRY,
    ("5.3", f"{HEADS}  →  {HEADS.replace('+', '|')}"): NO_CARRY,
    ("5.3", f"{HEADS}  →  {HEADS.replace('+', '^')}"): NO_CARRY,
    ("5.3", f"{SHARE}  →  {SHARE.replace('+', '|')}"): ROUNDED,
    ("5.3", f"{SHARE}  →  {SHARE.replace('+', '^')}"): ROUNDED,
}
