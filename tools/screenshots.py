"""Pictures of the built book for people to look at: every page, light and dark, wide and narrow.

    python tools/screenshots.py [FOLDER]       all pages into FOLDER (_build/screenshots)
    python tools/screenshots.py --preview      the README's picture, book/assets/preview.png

The book must be built (`make book`) and Chromium installed.
"""

import argparse
import io
import sys
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "site"))
import built_book  # noqa: E402
import chromium  # noqa: E402

PREVIEW = ROOT / "book" / "assets" / "preview.png"
PREVIEW_PAGE, PREVIEW_WORD = "book/02_self_attention", "because"
PREVIEW_SIZE = (1200, 860)  # pixels
PREVIEW_BYTES = 200_000
PIECE = 3000  # pixels; a long page becomes several pictures


def parts(visit: chromium.Visit, theme: str, width: int) -> list[bytes]:
    """The page from its title to its end, in pieces, as PNG."""
    page = visit.show(theme, width)
    page.set_viewport_size({"width": width, "height": PIECE})
    height = page.evaluate("() => document.documentElement.scrollHeight")
    pieces = []
    for y in range(0, height, PIECE):
        page.evaluate("y => scrollTo({top: y, behavior: 'instant'})", y)
        pieces.append(page.screenshot())
    return pieces


def all_pages(browser, address: str, folder: Path) -> int:
    """Write the pictures of each page, in both themes and widths, into the folder; returns how many."""
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for name in built_book.pages():
        visit = chromium.Visit(browser, f"{address}/{name}.html")
        for theme in chromium.THEMES:
            for width in (chromium.WIDE, chromium.NARROW):
                for number, piece in enumerate(parts(visit, theme, width), 1):
                    file = f"{name.replace('/', '-')}-{width}-{theme}-{number:02}.png"
                    (folder / file).write_bytes(piece)
                    count += 1
        visit.close()
        print(f"{name}: {count} pictures so far", flush=True)
    return count


def preview(browser, address: str) -> bytes:
    """Chapter 2 at a head of a published model, its map above and one word pointed at below."""
    visit = chromium.Visit(browser, f"{address}/{PREVIEW_PAGE}.html")
    page = visit.show("light", PREVIEW_SIZE[0])
    page.set_viewport_size({"width": PREVIEW_SIZE[0], "height": PREVIEW_SIZE[1]})
    view = page.locator("main .attention-view").first
    view.evaluate("view => view.scrollIntoView({block: 'end', behavior: 'instant'})")
    page.evaluate("() => scrollBy({top: 40, behavior: 'instant'})")
    view.locator(f".row[aria-label^='{PREVIEW_WORD} ']").locator("text").first.hover()
    shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    visit.close()
    out = io.BytesIO()
    shot.save(out, "PNG", optimize=True)
    if out.tell() > PREVIEW_BYTES:
        raise SystemExit(f"The picture takes {out.tell():,} bytes, more than {PREVIEW_BYTES:,}: show less.")
    return out.getvalue()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "_build" / "screenshots")
    parser.add_argument("--preview", action="store_true", help="only refresh the README's picture")
    options = parser.parse_args()
    if not built_book.pages():
        raise SystemExit(built_book.NOT_BUILT)
    try:
        chromium.browser_path()
    except FileNotFoundError as error:
        raise SystemExit(str(error)) from None
    with chromium.started() as browser, chromium.served(built_book.HTML) as address:
        if options.preview:
            PREVIEW.parent.mkdir(parents=True, exist_ok=True)
            PREVIEW.write_bytes(preview(browser, address))
            print(f"{PREVIEW.relative_to(ROOT)}: {PREVIEW.stat().st_size:,} bytes")
        else:
            count = all_pages(browser, address, options.folder)
            print(f"{count} pictures in {options.folder}")


if __name__ == "__main__":
    main()
