"""Run every benchmark in turn and say which bounds are met: `make bench`, or
`python benchmarks/run.py [--quick] [NAME …]`, where --quick takes small sizes, to try the code out."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from measuring import device_name

OTHERS = ("measuring", "run")


def main(arguments: list[str]) -> None:
    names = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in OTHERS)
    quick, chosen = "--quick" in arguments, [name for name in arguments if name != "--quick"]
    if unknown := set(chosen) - set(names):
        sys.exit(f"There is no benchmark {', '.join(sorted(unknown))}: there are {', '.join(names)}.")
    results = []
    for name in chosen or names:
        benchmark = importlib.import_module(name)
        print(f"\n{benchmark.__doc__}\nOn {device_name()}, float32.\n", flush=True)
        results += benchmark.main(quick)
    if quick:
        print("\nAt these small sizes the bounds mean nothing.")
    print(f"\n{'what':78}{'ratio':>7}{'bound':>8}")
    print("\n".join(result.line() for result in results))


if __name__ == "__main__":
    main(sys.argv[1:])
