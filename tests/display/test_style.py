"""The colours stand out, also for colour-blind readers; set_up picks the device, silent outside Colab."""

import itertools
import subprocess
import sys
import types

import matplotlib
import numpy as np
import pytest
import torch

from transformer_lib.display import COLORMAP, PALETTE, set_up
from transformer_lib.display.colors import cell_color, contrast, text_color
from transformer_lib.display.style import matplotlib_style

# Machado, Oliveira and Fernandes 2009, tables for severity 1.0, on linear RGB.
BLINDNESS = {
    "none": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900],
    ],
}  # fmt: skip


def lab(color: str, blindness: str) -> np.ndarray:
    """A colour as it is seen, in CIELAB."""
    rgb = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.array(BLINDNESS[blindness]) @ linear, 0, 1)
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ seen
    f = np.cbrt(np.maximum(xyz / [0.9505, 1.0, 1.089], 0.008856))
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_contrast_is_that_of_the_standard():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("page", ["#ffffff", "#14181e"])
@pytest.mark.parametrize("name", PALETTE)
def test_each_colour_stands_out_from_the_light_and_the_dark_page(name, page):
    assert contrast(PALETTE[name], page) >= 3


@pytest.mark.parametrize("blindness", BLINDNESS)
def test_the_colours_are_told_apart(blindness):
    """By three times and more of what is just noticeable (2.3)."""
    for one, other in itertools.combinations(PALETTE, 2):
        distance = np.linalg.norm(lab(PALETTE[one], blindness) - lab(PALETTE[other], blindness))
        assert distance >= 8, f"{one} and {other} look alike: {distance:.1f}"


def test_lines_differ_by_more_than_their_colour():
    cycle = list(matplotlib_style()["axes.prop_cycle"])
    assert len({str(look["linestyle"]) for look in cycle}) == len(cycle) == len(PALETTE)


def test_cells_have_matplotlibs_colours():
    exact = matplotlib.colormaps[COLORMAP]
    for share in np.linspace(0, 1, 101):
        ours = [int(cell_color(share)[i : i + 2], 16) for i in (1, 3, 5)]
        np.testing.assert_allclose(ours, np.array(exact(share)[:3]) * 255, atol=10)


def test_numbers_are_legible_on_every_cell():
    for share in np.linspace(0, 1, 101):
        ink = {"#000": "#000000", "#fff": "#ffffff"}[text_color(cell_color(share))]
        assert contrast(ink, cell_color(share)) >= 4.5


def test_set_up_gives_the_style_and_says_nothing(capsys):
    matplotlib.rcParams["font.size"] = 3
    device = set_up()
    assert device.type == ("cuda" if torch.cuda.is_available() else "cpu")
    assert matplotlib.rcParams["font.size"] == matplotlib_style()["font.size"] != 3
    assert capsys.readouterr() == ("", "")


def test_set_up_says_one_line_in_colab(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "google.colab", types.ModuleType("google.colab"))
    set_up()
    said = capsys.readouterr().out
    assert said.count("\n") == 1
    assert torch.__version__ in said
    assert "transformer_lib" in said


def test_set_up_picks_cuda_where_there_is_one(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert set_up() == torch.device("cuda")


def test_importing_display_imports_neither_matplotlib_nor_widgets():
    heavy = ["matplotlib", "ipywidgets", "IPython"]
    code = f"import sys, transformer_lib.display; print([name for name in {heavy} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"
