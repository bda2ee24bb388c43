"""Changes of solutions that no check can notice, since they change nothing: (exercise, change): the reason.

`make mutate` prints the changes that pass and are not here.
"""

<<<<<<< HEAD
_FROM_ZEROS = "h = x.new_zeros(x.shape[0], w_h.shape[0])  →  h = x.new_zeros(x.shape[0], w_h.shape[ {}])"
_SQUARE = "w_h is a square matrix"
_SLOPES = (
    "slopes = [w * (1 - h**2) for h in (-0.4, 0.8, 0.5)]  # of the last step, the one before, the first  →  "
    "slopes = [w * (1 - h**2) for h in ({})]  # of the last step, the one before, the first"
)
_EVEN = "the states are squared"
_GATES = (
    "i, f, g, o = (x @ w_x.T + h @ w_h.T + b).chunk(4, dim=-1)  →  "
    "i, f, g, o = (x @ w_x.T + h @ w_h.T + b).chunk(4, dim={})"
)
_LAST_OF_TWO = "axis 1 is the last one"

EQUIVALENT: dict[tuple[str, str], str] = {
    ("1.3", _FROM_ZEROS.format("1")): _SQUARE,
    ("1.3", _FROM_ZEROS.format("-1")): _SQUARE,
    ("1.4", _SLOPES.format("+0.4, 0.8, 0.5")): _EVEN,
    ("1.4", _SLOPES.format("0.4, 0.8, 0.5")): _EVEN,
    ("1.4", _SLOPES.format("-0.4, 0.8, -0.5")): _EVEN,
    ("1.5", _GATES.format("+1")): _LAST_OF_TWO,
    ("1.5", _GATES.format("1")): _LAST_OF_TWO,
=======
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
>>>>>>> chapter-05
}
