"""What the chapters show: one style, figures, figures to explore, attention maps, the library's own source.

Everything returned here is HTML or Markdown that needs no script and no file beside it, so that it reads
alike in the book, in Colab and in Jupyter; a figure to explore needs the page's widget manager, but no
kernel. Matplotlib and ipywidgets are imported only by the functions that use them.
"""

from transformer_lib.display.attention_map import attention_map
from transformer_lib.display.attention_view import attention_view
from transformer_lib.display.explore import explore
from transformer_lib.display.figure import figure
from transformer_lib.display.heat_map import heat_map
from transformer_lib.display.html import Html
from transformer_lib.display.source import source
from transformer_lib.display.style import COLORMAP, PALETTE, set_up

__all__ = [
    "COLORMAP",
    "PALETTE",
    "Html",
    "attention_map",
    "attention_view",
    "explore",
    "figure",
    "heat_map",
    "set_up",
    "source",
]
