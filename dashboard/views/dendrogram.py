"""How were the clusters made? The tree of near testimonies, and where it is cut."""

from collections.abc import Sequence

import panel as pn

from bottomup.dashboard.dendrogram import dendrogram, describe_clusters, describe_cut, describe_linkage
from bottomup.dashboard.views.style import TEXT_STYLE
from bottomup.data.merge_tree import MergeTree

__all__ = ["DendrogramView"]

_UNSEEN = "position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);"


class DendrogramView(pn.viewable.Viewer):
    """The tree with its cut, what it says in words, and for screen readers what only the figure shows.

    Parameters
    ----------
    tree : MergeTree
        Of clusters that are of near testimonies, see `bottomup.data.testimonies.Clusters.tree`.
    n_clusters : int
        The clusters that it is cut into.
    names : sequence of str, length n_members, optional
        What the tree's members are called.
    """

    def __init__(self, tree: MergeTree, n_clusters: int, names: Sequence[str] = ()) -> None:
        super().__init__()
        said = pn.pane.HTML(
            f"<p>{describe_cut(tree, n_clusters)}</p>"
            f'<p class="quiet">{describe_linkage(tree.linkage)}</p>'
            f'<p style="{_UNSEEN}">{describe_clusters(tree, n_clusters)}</p>',
            **TEXT_STYLE,
            sizing_mode="stretch_width",
        )
        plot = pn.pane.Bokeh(dendrogram(tree, n_clusters, names), sizing_mode="stretch_both", margin=0)
        self._layout = pn.Column(
            said,
            pn.Column(plot, sizing_mode="stretch_both", margin=0, styles={"min-height": "11rem"}),
            sizing_mode="stretch_both",
            margin=0,
        )

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout
