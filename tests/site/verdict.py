"""The one way in which the tests of the built book fail: the faults, one a line."""

import pytest


def none(faults: list[str]) -> None:
    """Fail unless the list is empty."""
    if faults:
        different = list(dict.fromkeys(faults))
        pytest.fail(f"{len(different)} faults:\n  " + "\n  ".join(different[:40]), pytrace=False)
