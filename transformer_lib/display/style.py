"""One look for every figure of the book, and the first line of every chapter: `device = set_up()`."""

from __future__ import annotations

import logging
import sys
from typing import Any

import torch

# From Okabe and Ito's colours for colour-blind readers: those that stand out from white and from a dark page.
PALETTE = {
    "blue": "#0072B2",
    "vermillion": "#D55E00",
    "green": "#009E73",
    "purple": "#CC79A7",
    "grey": "#808080",
}
COLORMAP = "cividis"  # perceptually uniform, and the same to colour-blind readers
INK = "#010203"  # stands for the page's own text colour until `figure` writes the SVG

DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))  # lines differ by more than their colour


def matplotlib_style() -> dict[str, Any]:
    """The settings (`rcParams`) of the book's figures, for matplotlib and so for seaborn."""
    from cycler import cycler

    ink = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color", "hatch.color")
    return {
        **dict.fromkeys(ink, INK),
        "axes.axisbelow": True,
        "axes.facecolor": "none",
        "axes.grid": True,
        "axes.prop_cycle": cycler(color=PALETTE.values()) + cycler(linestyle=DASHES),
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.titlesize": "medium",
        "figure.constrained_layout.use": True,
        "figure.facecolor": "none",
        "figure.figsize": (5.6, 3.4),
        "font.size": 11,
        "grid.color": PALETTE["grey"],
        "grid.alpha": 0.25,
        "image.cmap": COLORMAP,
        "image.interpolation": "none",  # a cell stays a cell, and the picture as small as the matrix
        "legend.frameon": False,
        "lines.linewidth": 2,
    }


def set_up() -> torch.device:
    """Give the figures the book's style and pick the device: CUDA when there is one, else one CPU thread.

    In Colab it says in one line what it found; elsewhere it prints nothing.
    """
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)  # "building the font cache"
    import matplotlib

    matplotlib.rcParams.update(matplotlib_style())
    torch.set_num_threads(1)  # tensors here are small: waiting for a second thread takes longer than it saves
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if "google.colab" in sys.modules:
        from transformer_lib import __version__

        name = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU only"
        print(f"Ready: {name} · torch {torch.__version__} · transformer_lib {__version__}")
    return device
