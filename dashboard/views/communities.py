"""Which communities? How often each cluster and each testimony is kept whole."""

import html

import numpy as np
import pandas as pd
import panel as pn
from numpy.typing import NDArray

from bottomup.dashboard.plots import cluster_plot
from bottomup.dashboard.session import Session
from bottomup.dashboard.views.style import TEXT_STYLE, key, room_for, segments
from bottomup.data.errors import list_some
from bottomup.data.plans import population_bounds

__all__ = ["CommunitiesView", "mean_by_cluster"]


def mean_by_cluster(
    values: NDArray[np.floating], of_testimony: NDArray[np.int32], n_clusters: int
) -> NDArray[np.float64]:
    """Mean over the testimonies of each cluster, shape (C,); NaN for a cluster without any."""
    inside = of_testimony >= 0
    sums = np.bincount(of_testimony[inside], values[inside], n_clusters)
    counts = np.bincount(of_testimony[inside], minlength=n_clusters)
    return np.divide(sums, counts, out=np.full(n_clusters, np.nan), where=counts > 0)


class CommunitiesView(pn.viewable.Viewer):
    """Bars by cluster and a sortable table by testimony.

    Parameters
    ----------
    session : Session
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        testimonies = session.prepared.testimonies
        self._clusters = testimonies.clusters
        self._intro = pn.pane.HTML(**TEXT_STYLE, sizing_mode="stretch_width", styles=room_for(2))
        self._table = pn.widgets.Tabulator(
            self._frame(
                np.full(testimonies.n_testimonies, np.nan), np.full(testimonies.n_testimonies, np.nan)
            ),
            show_index=False,
            disabled=True,
            selectable=False,
            layout="fit_columns",
            sizing_mode="stretch_both",
            theme="simple",
            text_align={"kept": "right", "baseline": "right", "change": "right"},
            titles={
                "testimony": "Testi\u00admony",
                "cluster": "Cluster",
                "kept": "Whole, %",
                "baseline": "Base\u00adline, %",
                "change": "Change",
                "enacted": "Enacted",
            },
            configuration={
                "columns": [
                    {"field": field, "widthGrow": share, "minWidth": least}
                    for field, (share, least) in _columns(self._clusters is not None).items()
                ]
            },
            stylesheets=[_TABLE],
            margin=0,
        )
        self._table_pane = pn.Column(self._table, sizing_mode="stretch_both", margin=0)
        views: list[pn.viewable.Viewable] = [self._intro]
        if self._clusters is not None:
            self._plot = cluster_plot(self._clusters.names)
            self._cluster_pane = pn.Column(
                pn.pane.HTML(
                    key(("bar", "this ensemble"), ("circle", "baseline"), ("tick", "enacted plan")),
                    **TEXT_STYLE,
                ),
                pn.Column(
                    # A height in the style, not in the layout: the page must not grow with it.
                    pn.Column(
                        pn.pane.Bokeh(self._plot.figure, sizing_mode="stretch_both", margin=0),
                        sizing_mode="stretch_both",
                        margin=0,
                        styles={"flex": "none", "min-height": f"{self._plot.height / 16}rem"},
                    ),
                    sizing_mode="stretch_both",
                    margin=0,
                    styles={"overflow-y": "auto", "overflow-x": "hidden"},
                ),
                sizing_mode="stretch_both",
                margin=0,
            )
            self._by = segments("List by", {"By cluster": "cluster", "By testimony": "testimony"}, "cluster")
            self._by.param.watch(lambda *_: self._switch(), "value")
            views += [self._by, self._cluster_pane]
        views.append(self._table_pane)
        self._switch()
        self._layout = pn.Column(*views, sizing_mode="stretch_both", margin=0)

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    @property
    def shows_table(self) -> bool:
        """Whether the long table is in sight: it is worth fewer updates than a chart."""
        return self._clusters is None or self._by.value == "testimony"

    def _switch(self) -> None:
        if self._clusters is not None:
            self._cluster_pane.visible = not self.shows_table
        self._table_pane.visible = self.shows_table
        self.refresh()

    def _frame(self, kept: NDArray[np.float64], baseline: NDArray[np.float64]) -> pd.DataFrame:
        testimonies = self._session.prepared.testimonies
        enacted = self._session.enacted_numbers.preserved
        columns = {"testimony": list(testimonies.ids)}
        if self._clusters is not None:
            columns["cluster"] = [
                self._clusters.names[cluster] if cluster >= 0 else "none"
                for cluster in self._clusters.of_testimony
            ]
        return pd.DataFrame(
            {
                **columns,
                "kept": np.round(100 * kept, 1),
                "baseline": np.round(100 * baseline, 1),
                "change": np.round(100 * (kept - baseline), 1),
                "enacted": np.where(
                    testimonies.sizes == 0, "not on map", np.where(enacted, "whole", "split")
                ),
            }
        )

    def _never_whole(self) -> str:
        """Name the testimonies that no plan can keep whole, if there are any."""
        geography, settings = self._session.prepared.inputs.geography, self._session.settings
        _, upper = population_bounds(
            geography.total_population, self._session.n_districts, settings.tolerance
        )
        named = self._session.prepared.testimonies.never_whole(geography.population, upper)
        if not named:
            return ""
        return (
            f" No plan can keep {len(named):,} of them whole, for they have no unit on the map or more "
            f"people than a district may: {html.escape(list_some(named))}."
        )

    def refresh(self) -> None:
        """Draw the latest frequencies."""
        sample, ignoring = self._session.sample(), self._session.baseline()
        if sample is None or ignoring is None:
            self._intro.object = "<p>Waiting for the first plans.</p>"
            return
        n = self._session.prepared.testimonies.n_testimonies
        kept, baseline = sample.kept(n), ignoring.kept(n)
        lost = int(np.sum(kept < baseline - 0.1))
        gained = int(np.sum(kept > baseline + 0.1))
        self._intro.object = (
            f"<p><b>{gained:,}</b> of {n:,} testimonies are kept whole clearly more often than in the "
            f"baseline, <b>{lost:,}</b> clearly less often (by more than 10 points). "
            f"From {sample.n_plans:,} plans.{self._never_whole()}</p>"
        )
        if self._clusters is not None and not self.shows_table:
            of_testimony, n_clusters = self._clusters.of_testimony, len(self._clusters.names)
            enacted = self._session.enacted_numbers.preserved.astype(float)
            self._plot.fill(
                *(mean_by_cluster(values, of_testimony, n_clusters) for values in (kept, baseline, enacted))
            )
        else:
            self._table.value = self._frame(kept, baseline)


# Share of the table's width, which grows with the words, and the least width in pixels.
_COLUMNS = {
    "testimony": (11, 64),
    "cluster": (39, 100),
    "kept": (11.5, 66),
    "baseline": (12, 68),
    "change": (13, 76),
    "enacted": (13.5, 78),
}


def _columns(has_clusters: bool) -> dict[str, tuple[float, int]]:
    """Widths of the columns; without clusters their room is for ids, which may be long names of files."""
    return _COLUMNS if has_clusters else {**_COLUMNS, "testimony": _COLUMNS["cluster"]}


# The theme's own rules come later, hence the emphasis.
_TABLE = """
.tabulator { font: 0.9375rem Roboto, 'Liberation Sans', Arial, sans-serif !important; border: 0; }
.tabulator .tabulator-col .tabulator-col-content { padding: 4px 6px !important; }
.tabulator .tabulator-col .tabulator-col-title { font-size: 0.9375rem; white-space: normal !important;
  overflow: visible !important; padding-right: 12px !important; hyphens: manual; }
.tabulator .tabulator-col .tabulator-col-sorter { right: 1px !important; }
.tabulator .tabulator-row .tabulator-cell { padding: 7px 6px !important; }
.tabulator .tabulator-row .tabulator-cell[tabulator-field="cluster"] { white-space: normal; }
.tabulator .tabulator-row .tabulator-cell[tabulator-field="testimony"] { white-space: normal;
  overflow-wrap: anywhere; }
"""
