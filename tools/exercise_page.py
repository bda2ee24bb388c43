"""The page that lists every exercise, book/exercises.md, written from the catalogue.

`python tools/exercise_page.py fix` writes it; `… check` says whether it is as it should be.
"""

from __future__ import annotations

import sys

from commands import ROOT

PAGE = ROOT / "book" / "exercises.md"
HEAD = """# All exercises

{count} exercises, about {hours} hours in all. In a chapter each one is a statement, a cell to fill in and a
check. The check takes any right answer, however it is written; of a wrong one it names the mistake. The last
column says how many mistakes it knows by name; any other still gets the most basic property that it breaks.

| kind | what you do |
|---|---|
| predict | say what will come out before you run anything |
| work out | calculate with pencil and paper |
| write | write the function |
| find the bug | mend code that runs, and is wrong |

In a notebook, `progress()` shows what you have passed. It is kept in a small file on your own machine (in
Colab on your Drive, when that is mounted) and sent nowhere:

```python
from transformer_lib.exercises import progress

progress()
```
"""
TABLE = """
## {number} · {title}

| exercise | | kind | difficulty | minutes | mistakes |
|---|---|---|---|---:|---:|
"""


def text() -> str:
    """The page."""
    from transformer_lib.exercises import catalogue
    from transformer_lib.exercises.chapters import CHAPTERS, by_chapter

    exercises = catalogue()
    parts = [HEAD.format(count=len(exercises), hours=round(sum(e.minutes for e in exercises) / 60))]
    for number, own in by_chapter(exercises).items():
        title, notebook = CHAPTERS[number]
        parts.append(TABLE.format(number=number, title=title))
        for e in own:
            link = f'<a href="{notebook}.html#exercise-{e.id.replace(".", "-")}">{e.id}</a>'
            parts.append(
                f"| {link} | {e.title} | {e.kind} | {e.difficulty} | {e.minutes} | {len(e.mistakes)} |\n"
            )
    return "".join(parts)


def main(command: str) -> int:
    now = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    wanted = text()
    if now == wanted:
        return 0
    if command == "fix":
        PAGE.write_text(wanted, encoding="utf-8")
        print(f"{PAGE.relative_to(ROOT)}: rewritten")
        return 0
    print(f"{PAGE.relative_to(ROOT)} differs from the catalogue. Mend it with: make notebooks")
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
