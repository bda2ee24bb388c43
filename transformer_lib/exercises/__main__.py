"""`python -m transformer_lib.exercises`: list the exercises, show progress, grade submitted notebooks."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from transformer_lib.exercises import catalogue, progress


def grade(options: argparse.Namespace) -> int:
    """Grade a folder and write two files; returns the exit status."""
    try:
        from transformer_lib.exercises.grading import report, supervise
    except ModuleNotFoundError as error:
        print(f"Grading needs the package {error.name}: pip install {error.name}", file=sys.stderr)
        return 2
    exercises, done = {exercise.id: exercise for exercise in catalogue()}, []
    out = options.out or options.folder
    try:
        out.mkdir(parents=True, exist_ok=True)
        for submission in supervise.run_all(options.folder, options.seconds, options.memory):
            done.append(submission)
            points, of = report.total(submission, exercises)
            remarks = f"  ({'; '.join(submission.remarks)})" if submission.remarks else ""
            print(f"{submission.path.as_posix()}: {points} of {of} points{remarks}", flush=True)
        report.write_csv(out / "grades.csv", done, exercises)
        report.write_html(out / "grades.html", done, exercises)
    except (OSError, ValueError) as error:
        print(f"Nothing could be graded: {error}", file=sys.stderr)
        return 2
    print(f"{len(done)} notebooks graded: {out / 'grades.csv'}, {out / 'grades.html'}")
    return 0


def list_all(options: argparse.Namespace) -> int:
    for e in catalogue():
        print(f"{e.id:>5}  {e.title:<45} {e.kind:<12} {e.difficulty:<6} {e.minutes:>3} minutes")
    return 0


def show_progress(options: argparse.Namespace) -> int:
    print(progress())
    return 0


def positive(text: str) -> float:
    number = float(text)
    if not number > 0:
        raise argparse.ArgumentTypeError(f"must be more than 0, got {text}")
    return number


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m transformer_lib.exercises", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    commands.add_parser("list", help="every exercise, by chapter").set_defaults(run=list_all)
    commands.add_parser("progress", help="what you have passed").set_defaults(run=show_progress)
    grading = commands.add_parser(
        "grade",
        help="run the notebooks of a folder and write grades.csv and grades.html",
        description="Run every notebook below FOLDER in a process of its own and write its grades. "
        "The notebooks' code runs as you: grade only people whom you would let use your account.",
    )
    grading.add_argument("folder", type=Path, metavar="FOLDER")
    grading.add_argument("--out", type=Path, help="where to write (default: FOLDER)")
    grading.add_argument("--seconds", type=positive, default=600, help="limit of a notebook (default 600)")
    grading.add_argument("--memory", type=positive, default=4, help="limit of a notebook in GB (default 4)")
    grading.set_defaults(run=grade)
    options = parser.parse_args(arguments)
    return options.run(options)


if __name__ == "__main__":
    sys.exit(main())
