"""A good page, and bodies of pages that are broken, each in its own way, with what must be said of it."""

import base64

import accessibility
import figures
import reading

PAGE = """<!doctype html><html lang="en"><head><title>T</title>
<meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,"><style>
html {{ background: #fff; color: #222; }} html[data-theme=dark] {{ background: #111; color: #eee; }}
a {{ color: inherit; }}</style></head><body>
<a href="#main">Skip to the text</a>
<button class="theme-switch-button" onclick="const d = document.documentElement.dataset;
  d.theme = d.mode = d.theme === 'light' ? 'dark' : 'light'">Theme</button>
<main id="main" tabindex="-1"><article>
<h1>Title</h1><p>Some text with <a href="#main">a link</a>.</p>{}</article></main>
</body></html>"""
SLIDER = """<div class="widget-subarea"><div class="jupyter-widgets">
<input type="range" aria-label="width" min="0" max="3" value="1" oninput="{}">
<svg id="seen" role="img" aria-label="a square of width 1" width="20" height="20"></svg></div></div>"""
ALIVE = SLIDER.format("document.getElementById('seen').ariaLabel = 'a square of width ' + this.value")
STUCK = SLIDER.format("document.getElementById('seen').ariaLabel = 'a square ' + performance.now()")
DRAWING = (
    '<svg role="img" aria-label="a box" width="200" height="40">{}<text x="9" y="25" {}>words</text></svg>'
)
# One black pixel, as a heat map's bitmap.
BLACK = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
        "0000000c4944415408d763606060000000040001f61738550000000049454e44ae426082"
    )
).decode()
BITMAP = f'<image width="200" height="40" preserveAspectRatio="none" href="data:image/png;base64,{BLACK}"/>'
GOOD = f"""<h2>Part</h2><h3>Smaller part</h3>{ALIVE}<pre>costs $5 and $6</pre>
<p style="font-size: 24px; color: #767676; background: #fff">large</p>
{DRAWING.format('<rect width="200" height="40" fill="#000"/>', 'fill="#fff"')}
{DRAWING.format(BITMAP, 'fill="#fff"')}
{DRAWING.format("", 'fill="currentColor"')}
<div style="overflow-x: auto; width: 100%" tabindex="0">
<p style="width: 3000px">wide, in a box of its own</p></div>"""

# What must be noted while the page loads.
LOADING = {
    "<script>console.error('broken')</script>": "console error: broken",
    "<script>nowhere.at.all</script>": "page error: nowhere is not defined",
    "<img alt='x' src='gone.png'>": "gone.png (404)",
    "<script src='https://example.org/x.js'></script>": "foreign request: https://example.org/x.js",
    "<script>fetch('http://localhost:9/x').catch(() => 0)</script>": "foreign request: http://localhost:9/x",
}

# Which check must report it, and how.
READING = {
    "<div style='width: 500px'>x</div>": (reading.overflow, "the page is"),
    "<div style='overflow: hidden'><p style='white-space: nowrap'>" + "cut " * 99 + "</p></div>": (
        reading.overflow,
        "cut off",
    ),
    "<p>costs $x^2$ much</p>": (reading.mathematics, "raw mathematics: costs $x^2$"),
    "<p>$$x$$</p>": (reading.mathematics, "raw mathematics"),
    r"<p>see \(x\)</p>": (reading.mathematics, "raw mathematics"),
    "<span class='math'>x</span>": (reading.mathematics, "mathematics not set: x"),
    "<p>none at all</p>": (reading.mathematics, "no formula"),
    "<mjx-merror data-mjx-error='Undefined control sequence'></mjx-merror>": (
        reading.mathematics,
        "Undefined control",
    ),
    "<img src='data:,'>": (reading.pictures, "without alternative text"),
    "<img alt=' ' src='data:,'>": (reading.pictures, "without alternative text"),
    "<img alt='_images/3f.png' src='data:,'>": (reading.pictures, "a file name"),
    "<img alt='d_k = {d_k}' src='data:,'>": (reading.pictures, "unfilled"),
    "<svg width='9' height='9'></svg>": (reading.pictures, "without alternative text"),
    "<svg aria-label='x' width='9' height='9'></svg>": (reading.pictures, 'without role="img"'),
    "<h3>x</h3>": (reading.structure, "H3 "),
    "<h1>x</h1>": (reading.structure, "2 first-level headings"),
    "<h2></h2>": (reading.structure, "an empty heading"),
    "<input id='a'><input onkeydown='document.getElementById(`a`).focus(); return false'>": (
        reading.keyboard,
        "caught at",
    ),
    "<div style='width: 50px' id='a' tabindex='0' onkeydown='return false'>x</div>": (
        reading.keyboard,
        "caught at",
    ),
    "<p>no figure</p>": (figures.explored, "0 figures to explore"),
    SLIDER.format(""): (figures.explored, "does not change its picture"),
    STUCK: (figures.explored, "does not bring its picture back"),
    ALIVE.replace('aria-label="width"', ""): (figures.explored, "no accessible name"),
    "<p style='color: #999'>pale</p>": (accessibility.contrast, '"pale"'),
    "<p style='opacity: 0.4'>faint</p>": (accessibility.contrast, '"faint"'),
    "<p style='background: linear-gradient(#fff, #333); color: #222'>half</p>": (
        accessibility.contrast,
        '"half"',
    ),
    "<div style='background: #222'><p>dark on dark</p></div>": (accessibility.contrast, '"dark on dark"'),
    DRAWING.format("", 'fill="#aaa"'): (accessibility.contrast, '"words"'),
    DRAWING.format('<rect width="200" height="40" fill="#333"/>', 'fill="#000"'): (
        accessibility.contrast,
        '"words"',
    ),
    DRAWING.format(BITMAP, 'fill="#222"'): (accessibility.contrast, '"words"'),
}

LINKS = {
    "<a href='gone.html'>x</a>": "a link to a file that is not there: gone.html",
    "<a href='#gone'>x</a>": "a link to an anchor that is not there: #gone",
    "<a href='page.html#gone'>x</a>": "a link to an anchor that is not there: page.html#gone",
    "<a href='../outside.html'>x</a>": "a link to a file that is not there: ../outside.html",
    "<a href='http://example.org'>x</a>": "a link that is not https: http://example.org",
    "<img src='gone.png'>": "a file that is not there: gone.png",
    "<link rel='preconnect' href='https://example.org'>": "fetched from another host: https://example.org",
}

VIEW = """<style>{}</style><svg class="attention-view" role="group" aria-label="ab" width="99" height="60">
<g tabindex="0" role="img" aria-label="a"><rect class="a" width="9" height="9"/><text y="20">a</text></g>
<g tabindex="0" role="img" aria-label="b"><rect x="9" width="9" height="9"/><text y="50">b</text></g></svg>"""
FOCUS, HOVER = "g { outline: none } g:focus rect { fill: red }", "g:hover rect { fill: red }"
BOTH = FOCUS + HOVER
VIEWS = {BOTH: [], FOCUS: ["word pointed at"], HOVER + "g { outline: none }": ["focused word"]}
