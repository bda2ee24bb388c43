#!/bin/sh
# Runs a script of tools/ with $PYTHON or, if that is not set, with the first suitable Python that is found.
suitable='import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))'
if [ -n "${PYTHON:-}" ]; then
    if ! command -v "$PYTHON" >/dev/null 2>&1; then
        echo "There is no $PYTHON here: leave PYTHON out, or name a Python 3.10 to 3.13 that is installed." >&2
        exit 1
    fi
    exec "$PYTHON" "$@"
fi
for name in python3 python3.13 python3.12 python3.11 python3.10 .venv/bin/python; do
    if "$name" -c "$suitable" >/dev/null 2>&1; then
        exec "$name" "$@"
    fi
done
# None is suitable: the script itself says so, and which version it found.
for name in python3 python; do
    if "$name" -c "" >/dev/null 2>&1; then
        exec "$name" "$@"
    fi
done
echo "There is no Python here: install Python 3.10, 3.11, 3.12 or 3.13, and run the same command again." >&2
exit 1
