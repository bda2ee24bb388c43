"""A matplotlib figure as inline SVG, drawn in the page's own text colour: legible in light and dark alike."""

from __future__ import annotations

import html
import io
import re
from typing import TYPE_CHECKING

from transformer_lib.display.html import Html, short_name
from transformer_lib.display.style import INK

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURE_DPI = 144  # of what is rasterised inside, such as a heat map of many cells
MAX_BYTES = 500_000


def figure(fig: Figure, alt: str) -> Html:
    """The figure to show as the last line of a cell; `alt` says in words what there is to see.

    Text, axes and everything black take the colour of the page's text, the background is the page's own, and
    heat maps are pictures inside the drawing. The figure is closed, so that it is not shown a second time.
    The same figure gives the same bytes.

    Args:
        fig: a matplotlib figure whose axes carry labels with their units.
        alt: one sentence or two for those who do not see the figure.

    Raises:
        TypeError: fig is not a matplotlib figure.
        ValueError: alt is empty, an axis has no label, or the SVG is larger than 500 kB.

    >>> import matplotlib.pyplot as plt
    >>> fig, ax = plt.subplots()
    >>> lines = ax.plot([1, 2, 3])
    >>> labels = ax.set(xlabel="training step", ylabel="loss (nats)")
    >>> figure(fig, alt="The loss grows by 1 nat a step.")
    Figure: The loss grows by 1 nat a step.
    """
    from matplotlib import pyplot as plt
    from matplotlib.figure import Figure

    if not isinstance(fig, Figure):
        raise TypeError(f"figure shows a matplotlib Figure; got {type(fig).__name__}")
    if not isinstance(alt, str) or not alt.strip():
        raise ValueError("alt must say what the figure shows, for those who do not see it")
    if missing := _missing_labels(fig):
        raise ValueError(f"every axis needs a label with its unit; missing: {', '.join(missing)}")
    svg = _inline(_draw(fig), " ".join(alt.split()))
    plt.close(fig)
    if len(svg) > MAX_BYTES:
        raise ValueError(
            f"this figure takes {len(svg):,} bytes, more than {MAX_BYTES:,}: draw fewer points, or rasterise "
            "what has many, with rasterized=True"
        )
    return Html(svg, f"Figure: {' '.join(alt.split())}")


def _missing_labels(fig: Figure) -> list[str]:
    """The axes without a label. One serves all that share the axis, fig.supxlabel serves the whole figure."""
    missing = []
    for number, ax in enumerate(fig.axes, start=1):
        if not ax.axison or not ax.get_visible():
            continue
        if ax.get_label() == "<colorbar>":
            if not (ax.get_xlabel() or ax.get_ylabel()):
                missing.append(f"the colour bar (axes {number})")
            continue
        for letter, axis, of_all in (
            ("x", ax.xaxis, fig.get_supxlabel()),
            ("y", ax.yaxis, fig.get_supylabel()),
        ):
            sharing = getattr(ax, f"get_shared_{letter}_axes")().get_siblings(ax)
            labelled = of_all or any(getattr(other, f"get_{letter}label")().strip() for other in sharing)
            if axis.get_visible() and not labelled:
                missing.append(f"{letter} of axes {number}")
    return missing


def _draw(fig: Figure) -> str:
    """The figure as SVG: words as text (small, and can be copied), formulas as paths, no background."""
    import matplotlib as mpl
    from matplotlib.backends.backend_mixed import MixedModeRenderer
    from matplotlib.backends.backend_svg import FigureCanvasSVG, RendererSVG
    from matplotlib.collections import QuadMesh
    from matplotlib.legend import Legend

    class Renderer(RendererSVG):
        def draw_text(self, gc, x, y, s, prop, angle, ismath=False, mtext=None):
            with mpl.rc_context({"svg.fonttype": "path" if ismath else "none"}):
                super().draw_text(gc, x, y, s, prop, angle, ismath=ismath, mtext=mtext)

    fig.patch.set_visible(False)
    for ax in fig.axes:
        ax.patch.set_visible(False)
    for legend in fig.findobj(Legend):
        legend.get_frame().set_facecolor("none")
    for mesh in fig.findobj(QuadMesh):
        mesh.set_rasterized(True)
    width, height = fig.get_size_inches()
    out = io.StringIO()
    no_metadata = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with mpl.rc_context({"svg.hashsalt": "one salt: the same ids for the same figure"}):
        FigureCanvasSVG(fig)  # becomes the figure's canvas
        dpi, fig.dpi = fig.dpi, 72  # SVG counts in points
        renderer = Renderer(width * 72, height * 72, out, image_dpi=PICTURE_DPI, metadata=no_metadata)
        mixed = MixedModeRenderer(fig, width, height, PICTURE_DPI, renderer)
        fig.draw(mixed)
        mixed.finalize()
        fig.dpi = dpi
    return out.getvalue()


def _inline(svg: str, alt: str) -> str:
    """Matplotlib's SVG file as a part of a page: in its ink and letters, with ids of its own, and small."""
    width, height = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg).groups()
    svg = svg[svg.index(">", svg.index("<svg")) + 1 : svg.rindex("</svg>")]
    # Its style sheet would apply to the whole page; the root below says the same for this drawing.
    svg = re.sub(r"<style.*?</style>|<metadata>.*?</metadata>|<!--.*?-->", "", svg, flags=re.S)
    svg = re.sub(r"#000000|" + INK, "currentColor", svg)
    svg = re.sub(r"font-family: [^;\"]*(; )?", "", svg)
    svg = re.sub(r' transform="rotate\(-0 [^)]*\)"', "", svg)
    svg = svg.replace("xlink:href=", "href=").replace("base64, ", "base64,")
    svg = re.sub(r'(?<= )(?:d|x|y|width|height|points|style)="[^"]*"|translate\([^)]*\)', _shorter, svg)
    svg = re.sub(r">\s+<", "><", svg).replace("<defs></defs>", "").strip()
    svg = _own_ids(svg, short_name(alt, svg))
    return (
        f'<svg class="figure" role="img" aria-label="{html.escape(alt)}" viewBox="0 0 {width} {height}" '
        f'style="width:{float(width) / 12:.4g}em;max-width:100%;height:auto;display:block;margin:0 auto;'
        'overflow:visible;color:inherit;fill:currentColor;font-family:inherit;stroke-linejoin:round">'
        f"{_without_bare_groups(svg)}</svg>"
    )


def _shorter(match: re.Match) -> str:
    """Coordinates to a hundredth of a point, and no spaces around the letters of a path or a style."""
    text = re.sub(r"(\d+\.\d\d)\d+", r"\1", match[0])
    text = re.sub(r"\.(\d*?)0+(?!\d)", lambda m: f".{m[1]}" if m[1] else "", text)
    return re.sub(r"\s*([MLCQzZ;:]|(?=\"$))\s*", r"\1", text) if text.startswith(("d=", "style=")) else text


def _own_ids(svg: str, scope: str) -> str:
    """Keep the ids that something refers to, and name them after this drawing."""
    used = re.findall(r'(?:href="#|url\(#)([^")]+)', svg)
    short = {name: f"{scope}-{number}" for number, name in enumerate(dict.fromkeys(used))}
    svg = re.sub(r' id="([^"]+)"', lambda m: f' id="{short[m[1]]}"' if m[1] in short else "", svg)
    return re.sub(r'(href="#|url\(#)([^")]+)', lambda m: m[1] + short[m[2]], svg)


def _without_bare_groups(svg: str) -> str:
    """Without the groups that set nothing, of which matplotlib writes one around every line."""
    out, bare = [], []
    for part in re.split(r"(<g\b[^>]*>|</g>)", svg):
        if part.startswith("<g") and part.endswith(">") and not part.endswith("/>") and part[2] in " >":
            bare.append(part == "<g>")
            part = "" if bare[-1] else part
        elif part == "</g>":
            part = "" if bare.pop() else part
        out.append(part)
    return "".join(out)
