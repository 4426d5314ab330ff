"""What all charts for paper share: title, line of sources, axes, and how they become files."""

import io
import textwrap
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from bottomup.dashboard.palette import INK, MUTED, PAPER, RULE, SCALE

__all__ = [
    "DOTS_PER_INCH",
    "Form",
    "add_key",
    "house_style",
    "label_line",
    "new_sheet",
    "percent_axis",
    "picture",
    "plain_axes",
    "say_empty",
    "shorten",
]

Form = Literal["png", "svg"]
DOTS_PER_INCH = 200
"""Of pictures in pixels."""
WIDTH = 7.2
"""Inches, of a page with margins."""
_LETTERS_PER_INCH = 10.4
_SMALL_LETTERS_PER_INCH = 16.5
# Width of a letter beside a line, as a share of the axes.
_ROOM_PER_LETTER = 0.013
# Matplotlib's settings are shared by all threads of a server.
_LOCK = threading.Lock()


@contextmanager
def house_style(*, text_as_text: bool = False) -> Iterator[None]:
    """Within it figures are made and written in the house's letters, the same figure as the same file.

    Parameters
    ----------
    text_as_text : bool
        Whether words in an SVG stay words, which can be searched and read aloud, in place of outlines.
    """
    settings: dict[Any, Any] = {
        "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "sans-serif"],
        "svg.hashsalt": "bottomup",
        "svg.fonttype": "none" if text_as_text else "path",
        # Names come from users' files: a dollar in them begins no formula.
        "text.parse_math": False,
        "hatch.linewidth": 0.8,
    }
    with _LOCK, mpl.rc_context(settings):
        yield


def new_sheet(title: str, source: str, height: float = 4.0, width: float = WIDTH) -> tuple[Figure, Axes]:
    """A figure with its title above, its sources below, and plain axes between.

    Parameters
    ----------
    title, source : str
    height, width : float
        Inches.
    """
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    words = textwrap.fill(title, max(12, int(_LETTERS_PER_INCH * width)))
    figure.suptitle(words, color=INK, fontsize=12, fontweight="bold", x=0.01, ha="left")
    if source:
        words = textwrap.fill(source, max(12, int(_SMALL_LETTERS_PER_INCH * width)))
        figure.supxlabel(words, color=MUTED, fontsize=7, x=0.01, ha="left")
    axes = figure.subplots()
    plain_axes(axes)
    return figure, axes


def plain_axes(axes: Axes) -> None:
    """Take from axes what tells nothing."""
    axes.tick_params(colors=INK, length=3, color=SCALE, labelsize=9)
    axes.xaxis.label.set_color(INK)
    axes.yaxis.label.set_color(INK)
    axes.grid(axis="y", color=RULE, linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("bottom", "left"):
        axes.spines[side].set_color(SCALE)


def percent_axis(axes: Axes, which: Literal["x", "y"]) -> None:
    """Write shares between 0 and 1 as percent."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    low, high = axes.get_xlim() if which == "x" else axes.get_ylim()
    axis.set_major_formatter(PercentFormatter(1.0, decimals=None if high - low > 0.05 else 1))


def add_key(axes: Axes, columns: int = 4, handles: Sequence[Artist] | None = None) -> None:
    """Say above the axes what the marks mean: all that have names, or those that are given."""
    handles = axes.get_legend_handles_labels()[0] if handles is None else handles
    if handles:
        axes.legend(
            handles=handles,
            loc="lower left",
            bbox_to_anchor=(0.0, 1.0),
            ncols=columns,
            frameon=False,
            fontsize=8,
            labelcolor=INK,
            borderaxespad=0.2,
            handlelength=1.8,
            columnspacing=1.4,
        )


def label_line(
    axes: Axes, at: float, words: str, color: str, *, row: int, to_left: bool, bold: bool = False
) -> None:
    """Name an upright line at its upper end, on one side where there is room; rows go downwards."""
    low, high = axes.get_xlim()
    room = (at - low) / (high - low) if to_left else (high - at) / (high - low)
    is_left = to_left == (room >= _ROOM_PER_LETTER * len(words))
    axes.annotate(
        words,
        (at, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(-4 if is_left else 4, -3 - 12 * row),
        textcoords="offset points",
        ha="right" if is_left else "left",
        va="top",
        color=color,
        fontsize=9,
        fontweight="bold" if bold else "normal",
        bbox={"facecolor": PAPER, "edgecolor": "none", "alpha": 0.85, "pad": 0.8},
    )


def say_empty(axes: Axes, words: str = "No plans yet") -> None:
    """Say in place of marks that there are none."""
    axes.text(0.5, 0.5, words, transform=axes.transAxes, ha="center", va="center", color=MUTED, fontsize=11)


def shorten(words: str, most: int = 34) -> str:
    """A name that leaves room for the chart."""
    return textwrap.shorten(words, most, placeholder=" …") if " " in words[:most] else _cut(words, most)


def _cut(words: str, most: int) -> str:
    return words if len(words) <= most else f"{words[: most - 1]}…"


def picture(figure: Figure, form: Form, title: str) -> bytes:
    """The figure as a file, with its title in it; to be called within `house_style`."""
    out = io.BytesIO()
    if form == "png":
        figure.savefig(
            out, format="png", dpi=DOTS_PER_INCH, metadata={"Title": _latin(title), "Software": None}
        )
    else:
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(out, format="svg", dpi=DOTS_PER_INCH, metadata={"Title": title, **nothing})
    return out.getvalue()


def _latin(words: str) -> str:
    """What a PNG's own words can hold."""
    return words.encode("latin-1", "replace").decode("latin-1")
