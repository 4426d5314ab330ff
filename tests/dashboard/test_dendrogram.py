"""The tree of near testimonies: what is drawn of it, and what is said."""

from __future__ import annotations

import numpy as np
import panel as pn
import pytest
from bokeh.models import Label, MultiLine, Span

from bottomup.dashboard.dendrogram import MOST_NAMED, dendrogram, describe_clusters, describe_cut
from bottomup.dashboard.palette import BASELINE, ENSEMBLE
from bottomup.dashboard.views.dendrogram import DendrogramView
from bottomup.data.merge_tree import MergeTree


def chain(*heights, linkage="average"):
    """Each testimony joins all before it, at these distances."""
    n = len(heights) + 1
    one = [0, *range(n, n + len(heights) - 1)]
    merges = np.column_stack([one, np.arange(1, n), heights, np.arange(2, n + 1)])
    return MergeTree(np.arange(n), merges.astype(float), linkage)


def lines_of(plot):
    """Number of brackets in each colour."""
    found = {}
    for renderer in plot.renderers:
        assert isinstance(renderer.glyph, MultiLine)
        found[renderer.glyph.line_color] = len(renderer.data_source.data["xs"])
    return found


@pytest.mark.parametrize(("n_clusters", "cut"), [(1, 8.4), (2, 6.5), (3, 3.5), (4, 1.0)])
def test_the_line_cuts_what_is_joined_from_what_is_not(n_clusters, cut):
    plot = dendrogram(chain(2, 5, 8), n_clusters)
    (line,) = plot.select(Span)
    assert line.location == pytest.approx(cut)
    assert plot.y_range.start == 0
    assert plot.y_range.end > max(cut, 8)
    assert lines_of(plot) == {BASELINE: n_clusters - 1, ENSEMBLE: 4 - n_clusters}
    (label,) = plot.select(Label)
    assert label.text == ("1 cluster" if n_clusters == 1 else f"{n_clusters} clusters")


def test_leaves_have_names_while_there_is_room():
    tree = chain(1, 2, 3)
    plot = dendrogram(tree, 2, ["a", "b", "c", "a very long name 12"])
    named = plot.xaxis[0].major_label_overrides
    assert [named[place] for place in range(4)] == ["a", "b", "c", "…g name 12"]
    assert plot.xaxis[0].axis_label is None
    many = chain(*range(1, MOST_NAMED + 1))
    plot = dendrogram(many, 2, [f"t{n}" for n in range(MOST_NAMED + 1)])
    assert not plot.xaxis[0].major_label_overrides
    assert plot.xaxis[0].axis_label == f"{MOST_NAMED + 1} testimonies"
    assert dendrogram(tree, 2).xaxis[0].axis_label == "4 testimonies"


def test_copies_alone_can_be_drawn():
    plot = dendrogram(chain(0, 0), 1)
    assert plot.y_range.end > 0


@pytest.mark.parametrize(
    ("heights", "n_clusters", "said"),
    [
        (
            (2, 5.25, 8),
            2,
            "2 clusters of 4 testimonies, joined up to 5.25 steps apart; the next are 8 apart.",
        ),
        ((2, 5, 8), 1, "1 cluster of 4 testimonies, joined up to 8 steps apart."),
        ((2, 5, 8), 4, "4 clusters of 4 testimonies, none joined; the next are 2 apart."),
        (
            (0, 5),
            2,
            "2 clusters of 3 testimonies, joined where their units are the same; the next are 5 apart.",
        ),
        (
            (3, 3),
            2,
            "2 clusters of 3 testimonies, joined up to 3 steps apart; others just as near stay apart so that "
            "the number is met.",
        ),
    ],
)
def test_the_cut_in_words(heights, n_clusters, said):
    assert describe_cut(chain(*heights), n_clusters) == said


def test_what_the_figure_shows_in_words():
    assert describe_clusters(chain(2, 5, 8), 2) == (
        "A tree of 4 testimonies, which are all joined at 8 steps apart. Testimonies in each cluster, the "
        "largest first: 3, 1."
    )


@pytest.mark.parametrize(
    ("linkage", "words"),
    [("average", "the mean over pairs"), ("complete", "two farthest"), ("single", "two nearest")],
)
def test_the_view_says_what_it_draws(linkage, words):
    """Words first, for those who cannot see the figure; the browser's copy can be made."""
    panel = DendrogramView(chain(2, 5, 8, linkage=linkage), 2).__panel__()
    said = next(iter(panel.select(pn.pane.HTML))).object
    for part in ("2 clusters of 4 testimonies", words, f"({linkage} linkage)", "the largest first: 3, 1"):
        assert part in said
    assert len(list(panel.select(pn.pane.Bokeh))) == 1
    panel.get_root()
