"""Run every test: library, exercises, notebooks, the book's build, the built book in a browser; then count.

`python tools/run_tests.py [STEP …]` runs the steps named (library, mutants, exercises,
notebooks, book, browser).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from commands import ROOT, StopError, reported, say

REPORTS = ROOT / "_build" / "reports"
APART = ("exercises", "notebooks", "site")
TESTS = {
    "library": ["tests", *(f"--ignore=tests/{name}" for name in (*APART, "test_mutations.py"))],
    "mutants": ["tests/test_mutations.py", "-n", "2"],  # each module in a process of its own
    "exercises": ["tests/exercises"],
    "notebooks": ["tests/notebooks"],
    "browser": ["tests/site"],
}
TITLES = {
    "library": "the library: tests by hand, against torch, of properties",
    "mutants": "the library broken on purpose: each change must turn a test red",
    "exercises": "the exercises: right answers pass, each mistake is named",
    "notebooks": "the notebooks: each runs untouched to its end, no cell left out",
    "book": "the book: built with warnings as errors",
    "browser": "the built book in a real browser",
}
NO_BROWSER = (
    "No browser was found for the tests of the built book: install Chromium (Debian or Ubuntu: "
    "`sudo apt-get update && sudo apt-get install -y chromium`) and run `make test` again."
)
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@dataclass
class Result:
    """What became of a step: its counts, its seconds, and a remark where the counts do not tell all."""

    step: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    remark: str = ""

    @property
    def wrong(self) -> bool:
        return bool(self.failed or self.remark)

    def line(self) -> str:
        counts = f"{self.passed:5} passed, {self.failed:3} failed, {self.skipped:3} skipped"
        remark = f"  {self.remark}" if self.remark else ""
        return f"  {self.step:10} {counts} {self.seconds:6.0f} s{remark}"


def counts(report: Path, step: str) -> Result:
    """The counts of a pytest report; an expected failure (nbval's word for cells never run) is a failure."""
    result = Result(step)
    if not report.is_file():
        return Result(step, remark="ended without a report")
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        skipped = case.find("skipped")
        never_run = skipped is not None and "xfail" in skipped.get("type", "")
        if never_run or case.find("failure") is not None or case.find("error") is not None:
            result.failed += 1
        elif skipped is not None:
            result.skipped += 1
        else:
            result.passed += 1
    return result


def tested(step: str) -> Result:
    """Run the tests of a step; a browser test that is skipped, or a step without tests, is wrong too."""
    report = REPORTS / f"{step}.xml"
    report.unlink(missing_ok=True)
    # xunit1: the notebooks' times are properties of their tests, which the newer form does not have
    form = ["-o", "junit_family=xunit1", f"--junitxml={report}"]
    command = [sys.executable, "-m", "pytest", "-q", *form, *TESTS[step]]
    code = subprocess.run(command, cwd=ROOT, check=False).returncode
    result = counts(report, step)
    if step == "browser" and result.skipped:
        result.remark = "no browser test may be skipped"
    elif not result.passed and not result.failed:
        result.remark = result.remark or "no test was run"
    elif code and not result.failed:
        result.remark = f"pytest ended with exit status {code}"
    return result


def built() -> Result:
    code = subprocess.run([sys.executable, ROOT / "tools/build_book.py"], check=False).returncode
    return Result("book", passed=not code, failed=bool(code))


def has_browser() -> bool:
    return any(shutil.which(name) for name in BROWSERS)


def one(step: str, number: str) -> Result:
    say(f"\n[{number}] {step}: {TITLES[step]}")
    start = time.monotonic()
    if step == "browser" and not has_browser():
        result = Result(step, failed=1, remark="no browser")
    else:
        result = built() if step == "book" else tested(step)
    result.seconds = time.monotonic() - start
    return result


def main(wanted: list[str]) -> None:
    unknown = [name for name in wanted if name not in TITLES]
    if unknown:
        raise StopError(f"There is no step {', '.join(unknown)}: the steps are {', '.join(TITLES)}.")
    steps = [step for step in TITLES if step in wanted or not wanted]
    if "browser" in steps and not has_browser():
        say(NO_BROWSER)  # at once, and not after the minutes that the other steps take
    REPORTS.mkdir(parents=True, exist_ok=True)
    results = [one(step, f"{number}/{len(steps)}") for number, step in enumerate(steps, 1)]
    say("\nAll tests:")
    say("\n".join(result.line() for result in results))
    passed, failed, skipped = (
        sum(getattr(result, name) for result in results) for name in ("passed", "failed", "skipped")
    )
    total = f"{passed} passed, {failed} failed, {skipped} skipped"
    if any(result.wrong for result in results):
        raise StopError(total)
    say(total)


if __name__ == "__main__":
    sys.exit(reported(lambda: main(sys.argv[1:])))
