"""What a page demands of its readers' eyes: contrast, and the rules of axe-core."""

from pathlib import Path

from playwright.sync_api import Page

_SCRIPT = (Path(__file__).parent / "contrast.js").read_text(encoding="utf-8")
CONTRAST = _SCRIPT[_SCRIPT.index("async root =>") :]  # without the comment that stands before the function
# Rules of axe-core that are let through: (rule, part of the element's HTML) and the reason.
EXCEPTIONS: dict[tuple[str, str], str] = {}

# A page with widgets has an AMD loader, which axe-core would register with instead of the window.
INJECT = """script => {
    if (window.axe) return;
    const define = window.define;
    window.define = undefined;
    try { (0, eval)(script); } finally { window.define = define; }
}"""
# In dark mode: boxes of the text's column that stay bright, and are larger than a word.
BRIGHT = """() => [...document.querySelectorAll('main *')].flatMap(node => {
    const {width, height} = node.getBoundingClientRect();
    const ground = getComputedStyle(node).backgroundColor.match(/[\\d.]+/g).map(Number);
    const bright = (ground[3] ?? 1) > 0.5 && Math.min(...ground.slice(0, 3)) > 150;
    return bright && width * height > 10000 && node.checkVisibility({visibilityProperty: true})
        ? [`bright in dark mode: ${node.outerHTML.slice(0, 100)}`] : [];
})"""
CHECK = """async () => {
    const {violations} = await axe.run(document, {resultTypes: ['violations']});
    const grave = violations.filter(rule => ['serious', 'critical'].includes(rule.impact));
    return grave.flatMap(({id, impact, nodes}) => nodes.map(
        node => ({rule: id, impact, html: node.html, why: node.failureSummary || ''})));
}"""


def contrast(page: Page, root: str = "main") -> list[str]:
    """Each visible text below `root` whose contrast is under 4.5 (3 where it is large)."""
    return page.evaluate(CONTRAST, root)


def glare(page: Page) -> list[str]:
    """Bright boxes on a page in dark mode."""
    return page.evaluate(BRIGHT)


def axe(page: Page, script: Path) -> list[str]:
    """Serious and critical violations of axe-core's rules, without the exceptions above."""
    page.evaluate(INJECT, script.read_text(encoding="utf-8"))
    found = page.evaluate(CHECK)
    return [
        f"{node['impact']} {node['rule']}: {node['html'][:160]} ({' '.join(node['why'].split())[:200]})"
        for node in found
        if not any(node["rule"] == rule and part in node["html"] for rule, part in EXCEPTIONS)
    ]
