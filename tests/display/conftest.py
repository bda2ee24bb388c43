"""The book's style for every figure drawn here, and matplotlib as it was before, afterwards."""

import matplotlib
import pytest

matplotlib.use("agg")

from matplotlib import pyplot as plt

from transformer_lib.display.style import matplotlib_style


@pytest.fixture(autouse=True)
def _book_style():
    with matplotlib.rc_context(matplotlib_style()):
        yield
    plt.close("all")


@pytest.fixture
def line():
    """Draws a labelled figure: a line through the given heights."""

    def draw(*heights, xlabel="training step", ylabel="loss (nats)", **look):
        fig, ax = plt.subplots()
        ax.plot(range(len(heights)), heights, **look)
        ax.set(xlabel=xlabel, ylabel=ylabel)
        return fig

    return draw
