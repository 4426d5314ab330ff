"""The figure of an attack: a panel for each score, lines from epsilon to epsilon."""

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from bottomup.dashboard.attack_report import Outcome, ScoreOutcome
from bottomup.dashboard.palette import INK, MUTED
from bottomup.dashboard.prints.sheet import house_style
from bottomup.sampler.attack_findings import Finding, Point

__all__ = ["draw_figure", "save_figure"]

ADVERSARY, HONEST = "#d55e00", "#0072b2"
"""Told apart by colour-blind eyes, and in grey."""
BARS = 2.0
"""Standard errors that an error bar reaches to either side."""
FAINT = 0.35
PANEL, ROOM_FOR, PER_EPSILON = 5.6, 10, 0.3
"""Inches that a panel is wide, for how many epsilons that is enough, and what each further one takes."""
DODGE = 0.07
LABEL_HEIGHT = 5.5
"""Of the y axis, that a label takes."""


class Line(NamedTuple):
    """One group in one data set."""

    group: str
    is_attacked: bool
    label: str
    color: str
    marker: str
    style: str

    def point(self, finding: Finding) -> Point:
        """What the line shows of an epsilon."""
        return finding.attacked if self.is_attacked else finding.honest


def draw_figure(outcome: Outcome, words: str) -> Figure:
    """Draw it.

    Parameters
    ----------
    outcome : Outcome
    words : str
        What has been done to the testimonies.
    """
    panels = [found for found in outcome.scores if found.findings]
    widths = [PANEL + PER_EPSILON * max(0, len(found.findings) - ROOM_FOR) for found in panels]
    wide = sum(widths) / PANEL
    figure = Figure(figsize=(1.2 + sum(widths), 5.2), layout="constrained")
    FigureCanvasAgg(figure)
    title = "\n".join(textwrap.wrap(f"{words[0].upper()}{words[1:]}: what is kept whole?", int(66 * wide)))
    figure.suptitle(title, color=INK, fontsize=13, x=0.01, ha="left")
    all_axes = figure.subplots(1, len(panels), sharey=True, squeeze=False, width_ratios=widths)[0]
    for axes, found in zip(all_axes, panels, strict=True):
        _draw_panel(axes, outcome, found)
    all_axes[0].set_ylabel("kept whole, in 100 plans", color=INK)
    note = "Bars, and what the limit allows for: two standard errors. ε = 0: testimony counts for nothing."
    if any(not outcome.is_reliable(finding) for found in panels for finding in found.findings):
        note += " Faint points are not to be relied on yet."
    note = "\n".join(textwrap.wrap(note, int(92 * wide)))
    figure.supxlabel(note, color=MUTED, fontsize=9, x=0.01, ha="left")
    return figure


def save_figure(outcome: Outcome, words: str, *paths: Path) -> None:
    """Draw it into files, whose endings say in what form; the same figures give the same files."""
    with house_style():
        figure = draw_figure(outcome, words)
        for path in paths:
            metadata = {"Date": None} if path.suffix == ".svg" else None
            figure.savefig(path, dpi=150, metadata=metadata)


def _lines(outcome: Outcome) -> list[Line]:
    if outcome.is_flood:
        return [
            Line("adversary", True, "submitted often", ADVERSARY, "o", "-"),
            Line("adversary", False, "submitted once", ADVERSARY, "o", "--"),
        ]
    lines = [
        Line("adversary", True, "the attack's, submitted", ADVERSARY, "o", "-"),
        Line("adversary", False, "the attack's, left out", ADVERSARY, "o", "--"),
        Line("honest", False, "the replaced, submitted", HONEST, "s", "-"),
        Line("honest", True, "the replaced, taken out", HONEST, "s", "--"),
    ]
    return [line for line in lines if outcome.ids(line.group)]


def _draw_panel(axes: Axes, outcome: Outcome, found: ScoreOutcome) -> None:
    findings = found.findings
    places = list(range(len(findings)))
    labels: list[tuple[float, str, str]] = []
    limits = [finding.limits.get("kept_adversary") for finding in findings]
    if all(limit is not None for limit in limits):
        most = [100 * limit.with_error for limit in limits if limit is not None]
        axes.fill_between(places, most, 104, color="#eceff2", linewidth=0)
        axes.plot(places, most, color=MUTED, linewidth=0.8)
        labels.append((most[-1], "formal limit, the attack's", MUTED))
    lines = _lines(outcome)
    for number, line in enumerate(lines):
        # Side by side, so that bars of one epsilon do not cover each other.
        aside = DODGE * (number - (len(lines) - 1) / 2)
        estimates = [line.point(finding).estimates[f"kept_{line.group}"] for finding in findings]
        heights = [100 * estimate.mean for estimate in estimates]
        axes.plot(
            [place + aside for place in places],
            heights,
            color=line.color,
            linestyle=line.style,
            linewidth=1.6,
        )
        for place, finding, estimate, height in zip(places, findings, estimates, heights, strict=True):
            error = 100 * BARS * estimate.error
            axes.errorbar(
                place + aside,
                height,
                # Where the error is not known there is no bar.
                yerr=[[min(error, height)], [min(error, 100 - height)]] if error == error else None,
                color=line.color,
                marker=line.marker,
                markersize=5,
                markerfacecolor=line.color if line.style == "-" else "white",
                capsize=2,
                linewidth=1,
                alpha=1.0 if outcome.is_reliable(finding) else FAINT,
            )
        labels.append((heights[-1], line.label, line.color))
    _label(axes, places[-1], labels)
    axes.set_title(found.title, color=INK, fontsize=11, loc="left")
    axes.set_xticks(places, [f"{finding.epsilon:g}" for finding in findings])
    axes.set_xlim(-0.25, places[-1] + 0.55 * max(3.0, 0.65 * len(places)))
    axes.set_ylim(0, 104)
    axes.set_xlabel("ε: how much testimony counts", color=INK)
    axes.tick_params(colors=INK, length=3)
    axes.grid(axis="y", color="#e3e7eb", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_bounds(-0.25, places[-1])


def _label(axes: Axes, last: int, labels: Sequence[tuple[float, str, str]]) -> None:
    """Name each line at its right end, and keep the names apart."""
    heights = _spread([height for height, _, _ in labels])
    for (at, label, color), height in zip(labels, heights, strict=True):
        axes.annotate(
            label,
            (last, at),
            xytext=(last + 0.35, height),
            color=color,
            fontsize=9,
            va="center",
            arrowprops={"arrowstyle": "-", "color": color, "linewidth": 0.5, "alpha": 0.6},
        )


def _spread(heights: Sequence[float]) -> list[float]:
    """The same heights, moved apart where they are closer than a label is high, within the axis."""
    order = sorted(range(len(heights)), key=lambda i: heights[i])
    placed: list[float] = []
    for i in order:
        lowest = placed[-1] + LABEL_HEIGHT if placed else LABEL_HEIGHT / 2
        placed.append(max(heights[i], lowest))
    ceiling = 100.0
    for n in reversed(range(len(placed))):
        placed[n] = min(placed[n], ceiling)
        ceiling = placed[n] - LABEL_HEIGHT
    found = [0.0] * len(heights)
    for i, height in zip(order, placed, strict=True):
        found[i] = height
    return found
