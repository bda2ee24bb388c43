"""Set everything up: `python tools/set_up.py`. This file is plain enough for an old Python to read."""

import os
import sys

OLDEST, NEWEST = (3, 10), (3, 13)


def main():
    found = sys.version_info[:2]
    if not OLDEST <= found <= NEWEST:
        version = ".".join(str(part) for part in found)
        fault = "too old" if found < OLDEST else "too new"
        words = ["This is Python", version, "(" + sys.executable + "), which is", fault, "for the book:"]
        words += ["install Python 3.10, 3.11, 3.12 or 3.13, and run the same command again.\n"]
        sys.stderr.write(" ".join(words))
        return 1
    from commands import reported
    from environment import set_up

    return reported(lambda: set_up(explicit=bool(os.environ.get("PYTHON"))))


if __name__ == "__main__":
    sys.exit(main())
