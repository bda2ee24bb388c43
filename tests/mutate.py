"""Break the library on purpose, one change at a time, and see that its tests turn red.

`python tests/mutate.py attention` tries every change listed in `tests/mutants/attention.py` against
`tests/test_attention.py` and names those that no test noticed. torch is imported once; each
broken copy is tested in a process forked from there.
"""

import importlib
import os
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
UNBROKEN = "nothing changed, and the tests fail"
MODULES = sorted(path.stem for path in (ROOT / "tests" / "mutants").glob("*.py"))


def mutants(module: str) -> list[tuple[str, str, str]]:
    """What each change does, the source, which must stand there exactly once, and what it becomes."""
    return importlib.import_module(f"mutants.{module}").MUTANTS


def mutate(module: str, old: str, new: str, folder: Path) -> None:
    """A copy of the library and its tests in `folder`, with one change in one module."""
    shutil.copytree(ROOT / "transformer_lib", folder / "transformer_lib")
    (folder / "tests").mkdir()
    for name in ("conftest.py", "checking.py", "published.py", f"test_{module}.py"):
        shutil.copy(ROOT / "tests" / name, folder / "tests")
    shutil.copy(ROOT / "pyproject.toml", folder)
    path = folder / "transformer_lib" / f"{module}.py"
    source = path.read_text(encoding="utf-8")
    if source.count(old) != 1:
        raise SystemExit(f"{module}.py holds {old!r} {source.count(old)} times; a mutant needs exactly one")
    path.write_text(source.replace(old, new), encoding="utf-8")


def run_tests(module: str, folder: Path) -> int:
    """Exit code of pytest on the broken copy, in a forked process, its output in `folder`/log."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    log = os.open(folder / "log", os.O_CREAT | os.O_WRONLY)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    import pytest

    code = 98  # pytest itself broke down, which notices nothing
    try:
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # some plugins are imported already, and complain
        code = pytest.main(["-xq", "-p", "no:cacheprovider", f"tests/test_{module}.py"])
        import transformer_lib

        if Path(transformer_lib.__file__).parents[1] != folder.resolve():
            code = 99  # the tests must have read the broken copy
    finally:
        os._exit(int(code))


def survivors(module: str) -> list[str]:
    """The changes to the module that no test noticed, and those whose test run broke down."""
    found = []
    source = (ROOT / "transformer_lib" / f"{module}.py").read_text(encoding="utf-8")
    for what, old, new in [(UNBROKEN, source, source), *mutants(module)]:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name).resolve()
            mutate(module, old, new, folder)
            code = run_tests(module, folder)
            # pytest: 0 all passed, 1 some failed, else the run itself went wrong
            if code != (0 if what == UNBROKEN else 1):
                log = (folder / "log").read_text(encoding="utf-8")
                found.append(f"{what} (exit {code})" + (log[-2000:] if code else ""))
    return found


if __name__ == "__main__":
    import pytest  # noqa: F401  imported here so that each fork has them ready
    import torch  # noqa: F401

    if "published" in (ROOT / "tests" / f"test_{sys.argv[1]}.py").read_text(encoding="utf-8"):
        import transformers  # noqa: F401

    left = survivors(sys.argv[1])
    total = len(mutants(sys.argv[1]))
    print(f"{total - len(left)} of {total} changes noticed")
    sys.exit("\n".join(["not noticed:", *left]) if left else 0)
