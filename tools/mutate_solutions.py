"""Break every exercise's solution in all the ways that Cosmic Ray knows: does the check notice each?

`python tools/mutate_solutions.py [ID …]` (or `make mutate`) prints the changes that still pass. Those that
change nothing that can be seen are listed, with the reason, in tests/exercises/equivalent.txt.
"""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from commands import ROOT, StopError, reported, say

SECONDS = 2.0  # that a broken solution may run


def operators() -> list:
    """Cosmic Ray's operators that need no arguments."""
    provider = importlib.import_module("cosmic_ray.operators.provider").OperatorProvider()
    return [provider[name]() for name in provider if not provider[name].arguments()]


def mutants(source: str) -> Iterator[str]:
    """Each text that one change of the source gives, once, where it is still Python."""
    mutate = importlib.import_module("cosmic_ray.mutating").mutate_code
    seen = {source}
    for operator in operators():
        occurrence = 0
        while (changed := mutate(source, operator, occurrence)) is not None:
            occurrence += 1
            if changed not in seen:
                seen.add(changed)
                yield changed


def equivalent(text: str) -> dict[tuple[str, str], str]:
    """The changes that are listed as changing nothing, (exercise, change), with their reasons."""
    pairs = re.findall(r"^(\d+\.\d+): (.+)\n    (.+)$", text, flags=re.MULTILINE)
    return {(id, change): reason for id, change, reason in pairs}


def change(source: str, mutant: str) -> str:
    """The lines that differ, as "before  →  after"."""
    pairs = zip(source.splitlines(), mutant.splitlines(), strict=False)
    return "; ".join(f"{a.strip()}  →  {b.strip()}" for a, b in pairs if a != b)


def survives(exercise, mutant: str) -> bool:
    """Whether the check takes the changed solution for a right one."""
    from transformer_lib.exercises import check

    namespace: dict = {"__name__": "__main__"}
    try:
        exec(compile(mutant, "<mutant>", "exec"), namespace)
    except Exception:
        return False
    return check(exercise.id, namespace[exercise.name], seconds=SECONDS).passed


def main(wanted: list[str]) -> None:
    from transformer_lib.exercises import catalogue

    known = equivalent((ROOT / "tests" / "exercises" / "equivalent.txt").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        say("Installing Cosmic Ray into a folder of its own.")
        install = [sys.executable, "-m", "pip", "install", "-q", "--target", folder, "cosmic-ray"]
        subprocess.run(install, check=True, stderr=subprocess.DEVNULL)
        sys.path.append(folder)
        tried, unlisted, met = 0, [], set()
        for exercise in catalogue():
            if wanted and exercise.id not in wanted:
                continue
            found = list(mutants(exercise.solution))
            passing = [change(exercise.solution, one) for one in found if survives(exercise, one)]
            tried += len(found)
            met |= {(exercise.id, one) for one in passing}
            unlisted += [(exercise.id, one) for one in passing if (exercise.id, one) not in known]
            say(f"  {exercise.id:>5}  {len(found):3} changes, {len(passing):2} pass")
    say("\n".join(f"  {id}: {one}" for id, one in unlisted))
    gone = [key for key in known if key not in met and (not wanted or key[0] in wanted)]
    say("\n".join(f"  listed, but noticed or no longer made: {id}: {one}" for id, one in gone))
    total = f"{tried} changes, {len(met)} pass, of which {len(met) - len(unlisted)} are listed as equivalent"
    if unlisted:
        raise StopError(
            f"{total}: each of the others needs a check, or a reason in tests/exercises/equivalent.txt."
        )
    say(total)


if __name__ == "__main__":
    sys.exit(reported(lambda: main(sys.argv[1:])))
