"""What all figures share: a plain frame, labels that stand on the paper, and an axis of ε."""

from collections.abc import Sequence
from typing import Any

from bokeh.models import Label, Node
from bokeh.plotting import figure

from bottomup.dashboard.palette import INK, MUTED, PAPER, RULE, SCALE
from bottomup.dashboard.scaling import scale_with_page
from bottomup.dashboard.state import odds_factor

__all__ = ["FONT", "TOOLTIP", "base_figure", "early_label", "factor_or_off", "line_label", "name_epsilons"]

FONT = "Roboto, 'Liberation Sans', Arial, sans-serif"
TOOLTIP = f'<span style="font: 0.9375rem {FONT}">@words</span>'
"""What a pointer that rests shows: the column ``words`` of what lies under it."""
_NAMED_EPSILONS = (0.0, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)


def base_figure(x_title: str, y_title: str, **options: Any) -> figure:
    """A frame without tools, whose words grow with those of the page."""
    given: dict[str, Any] = {"tools": "", **options}
    plot = figure(
        **given,
        toolbar_location=None,
        sizing_mode="stretch_both",
        x_axis_label=x_title or None,
        y_axis_label=y_title or None,
        min_border_right=14,
        outline_line_color=None,
        background_fill_color=None,
        border_fill_color=None,
        # The dark look is a matter of the browser alone.
        styles={"filter": "var(--of-charts, none)"},
        html_attributes={"role": "img", "aria-label": _name(x_title, y_title, options.get("title"))},
    )
    plot.axis.axis_label_text_font = FONT
    plot.axis.axis_label_text_font_size = "15px"
    plot.axis.axis_label_text_font_style = "normal"
    plot.axis.axis_label_text_color = INK
    plot.axis.major_label_text_font = FONT
    plot.axis.major_label_text_font_size = "14px"
    plot.axis.major_label_text_color = INK
    plot.axis.axis_line_color = SCALE
    plot.axis.major_tick_line_color = SCALE
    plot.axis.minor_tick_line_color = None
    plot.grid.grid_line_color = RULE
    scale_with_page(plot)
    return plot


def _name(*titles: str | None) -> str:
    """What a chart is called for those who cannot see it."""
    named = [title for title in titles if title]
    return f"Chart: {', '.join(named)}" if named else "Chart"


def line_label(color: str, *, bold: bool = False) -> Label:
    """Words at the top of a frame, to stand beside an upright line; unseen until they are placed."""
    return Label(
        x=0,
        y=Node.frame.top,
        text="",
        text_color=color,
        text_font=FONT,
        text_font_size="15px",
        text_font_style="bold" if bold else "normal",
        text_baseline="top",
        background_fill_color=PAPER,
        background_fill_alpha=0.9,
        visible=False,
    )


def early_label(*, at_left: bool = False) -> Label:
    """Words in an upper corner on why a chart is to be read with care; unseen until they are needed."""
    return Label(
        x=Node.frame.left if at_left else Node.frame.right,
        y=Node.frame.top,
        x_offset=6 if at_left else 0,
        y_offset=-4,
        text="",
        text_align="left" if at_left else "right",
        text_baseline="top",
        text_color=MUTED,
        text_font=FONT,
        text_font_size="14px",
        text_font_style="italic",
        background_fill_color=PAPER,
        background_fill_alpha=0.85,
        visible=False,
    )


def factor_or_off(epsilon: float) -> str:
    """By how much any one testimony can change the odds of a plan, as it stands at an axis."""
    return f"×{odds_factor(epsilon)}" if epsilon else "off"


def name_epsilons(plot: figure, epsilons: Sequence[float], *, with_odds: bool = False) -> None:
    """Label the lower axis with some of the slider's positions, which are evenly spread.

    Below each ε stands, if asked for, by how much any one testimony can change the odds of a plan.
    """
    named = {place: f"{epsilon:g}" for place, epsilon in enumerate(epsilons) if epsilon in _NAMED_EPSILONS}
    if with_odds:
        # There is no room for the words of neighbours.
        named = {
            place: f"{name}\n{factor_or_off(epsilons[place])}"
            for place, name in named.items()
            if place - 1 not in named
        }
    plot.xaxis.ticker = list(named)
    plot.xaxis.major_label_overrides = named
    plot.xgrid.grid_line_color = None
