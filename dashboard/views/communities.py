"""Which communities are kept together: by the plan on the map, by the enacted plan, and by the ensemble."""

import html
from collections.abc import Sequence

import numpy as np
import panel as pn
import panel_material_ui as pmui
from numpy.typing import NDArray

from bottomup.dashboard.concerned import concerned, find_words
from bottomup.dashboard.fates_now import FatesNow, FatesReader
from bottomup.dashboard.fates_words import counts_sentence, fate_sentence, plan_sentence
from bottomup.dashboard.plots import ClusterPlot, cluster_plot
from bottomup.dashboard.selection import Cluster, Pointed, Testimony
from bottomup.dashboard.session import Session
from bottomup.dashboard.views.fates_saving import FatesSaving
from bottomup.dashboard.views.fates_tables import ClustersTable, FatesTable, TestimoniesTable
from bottomup.dashboard.views.following import follow
from bottomup.dashboard.views.picked import picked_words
from bottomup.dashboard.views.style import TEXT_STYLE, THEME, key, room_for, say, segments
from bottomup.data.errors import count, list_some
from bottomup.data.plans import population_bounds

__all__ = ["CommunitiesView", "mean_by_cluster"]

_CHART, _CLUSTERS, _TESTIMONIES = "chart", "clusters", "testimonies"
# A Checkbox takes the colour of its words from no theme.
_LABEL = "label, label .MuiTypography-root { color: var(--ink) !important; font-size: 0.9375rem !important; }"
_LISTS = {"Chart": _CHART, "Clusters": _CLUSTERS, "Testimonies": _TESTIMONIES}


def mean_by_cluster(
    values: NDArray[np.floating], of_testimony: NDArray[np.int32], n_clusters: int
) -> NDArray[np.float64]:
    """Mean over the testimonies of each cluster, shape (C,); NaN for a cluster without any."""
    inside = of_testimony >= 0
    sums = np.bincount(of_testimony[inside], values[inside], n_clusters)
    counts = np.bincount(of_testimony[inside], minlength=n_clusters)
    return np.divide(sums, counts, out=np.full(n_clusters, np.nan), where=counts > 0)


class CommunitiesView(pn.viewable.Viewer):
    """Sentences, a chart of clusters, and tables of clusters and of testimonies to point at.

    Parameters
    ----------
    session : Session
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._testimonies = session.prepared.testimonies
        self._clusters = self._testimonies.clusters
        self._reader = FatesReader(session)
        self._never_whole = ""
        self._never_whole_at = 0.0
        self._intro = pn.pane.HTML(
            **TEXT_STYLE, sizing_mode="stretch_width", styles=room_for(3) | {"flex": "none"}
        )
        self._testimonies_table = TestimoniesTable(self._testimonies, self._point_at_testimony)
        self._tables: dict[str, FatesTable] = {_TESTIMONIES: self._testimonies_table}
        self._texts = {
            _TESTIMONIES: _joined(self._testimonies_table.names, self._testimonies_table.notes),
        }
        self._by = segments("What is listed", _LISTS, _CHART if self._clusters is not None else _TESTIMONIES)
        self._by.visible = self._clusters is not None
        self._panes: dict[str, pn.viewable.Viewable] = {}
        if self._clusters is not None:
            self._plot = cluster_plot(self._clusters.names)
            self._panes[_CHART] = _chart_pane(self._plot)
            self._clusters_table = ClustersTable(self._clusters, self._point_at_cluster)
            self._tables[_CLUSTERS] = self._clusters_table
            self._texts[_CLUSTERS] = list(self._clusters.names)
        self._search = pmui.TextInput(
            label="Search",
            placeholder="Id, cluster or words",
            size="small",
            margin=(2, 8, 2, 0),
            theme_config=THEME,
            sizing_mode="stretch_width",
            styles={"min-width": "8rem", "flex": "1 1 8rem"},
        )
        self._only = pmui.Checkbox(
            label="Sacrificed only",
            size="small",
            margin=(2, 8, 2, 0),
            theme_config=THEME,
            stylesheets=[_LABEL],
        )
        self._saving = FatesSaving(session, self._reader)
        self._tools = pn.FlexBox(
            self._search,
            self._only,
            self._saving.button,
            sizing_mode="stretch_width",
            align_items="center",
            margin=0,
            styles={"flex": "none"},
        )
        self._said = pn.pane.HTML(
            **TEXT_STYLE,
            sizing_mode="stretch_width",
            styles={"max-height": "6.9rem", "overflow-y": "auto", "flex": "1 1 auto", "min-width": "0"},
        )
        self._all = pmui.Button(
            label="Show all",
            color="primary",
            variant="outlined",
            size="small",
            margin=(0, 8, 4, 8),
            theme_config=THEME,
            visible=False,
            styles={"flex": "none"},
        )
        self._panes |= self._tables
        self._layout = pn.Column(
            self._intro,
            self._by,
            self._tools,
            self._saving,
            pn.Row(self._said, self._all, sizing_mode="stretch_width", margin=0, styles={"flex": "none"}),
            *self._panes.values(),
            sizing_mode="stretch_both",
            margin=0,
        )
        self._by.param.watch(lambda *_: self._switch(), "value")
        self._search.param.watch(lambda *_: self._filter(), "value_input")
        self._only.param.watch(lambda *_: self._filter(), "value")
        self._all.on_click(lambda *_: self._show_all())
        follow(session.selection, ["pointed"], self._follow_pointed)
        follow(session.selection, ["span"], self.refresh)
        follow(session.shown, ["kind", "chosen"], self.refresh)
        self._switch()

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    @property
    def shows_table(self) -> bool:
        """Whether a long table is in sight: it is worth fewer updates than a chart."""
        return bool(self._by.value != _CHART)

    def refresh(self) -> None:
        """Show the latest frequencies, and what the plan on the map keeps."""
        now = self._reader.read()
        self._say_plan(now)
        self._fill(now)
        self._filter(now)

    def _switch(self) -> None:
        for name, pane in self._panes.items():
            pane.visible = name == self._by.value
        self._tools.visible = self.shows_table
        if not self.shows_table:
            self._saving.put_away()
        self.refresh()

    def _follow_pointed(self) -> None:
        """Show what the thing pointed at is listed in."""
        pointed = self._session.selection.pointed
        if pointed is not None and not isinstance(pointed, Cluster):
            self._by.value = _TESTIMONIES
        self.refresh()

    def _point_at_testimony(self, place: int) -> None:
        self._point_at(Testimony(place))

    def _point_at_cluster(self, place: int) -> None:
        self._point_at(Cluster(place))

    def _point_at(self, target: Pointed) -> None:
        selection = self._session.selection
        selection.pointed = None if selection.pointed == target else target

    def _show_all(self) -> None:
        self._search.param.update(value="", value_input="")
        self._only.value = False
        self._session.selection.clear()
        self._filter()

    def _say_plan(self, now: FatesNow | None) -> None:
        session = self._session
        shown = session.shown_plan()
        words = plan_sentence(
            shown,
            session.numbers_of(shown).preserved,
            session.enacted_numbers.preserved,
            None if now is None else float(now.sample.plans.testimony.mean()),
        )
        if now is None:
            words += " Waiting for the first plans."
        else:
            words += f" {counts_sentence(now)}"
        say(self._intro, f"<p>{words}{self._never()}</p>")

    def _never(self) -> str:
        """Name the testimonies that no plan can keep whole, if there are any."""
        session = self._session
        tolerance = session.settings.tolerance
        if tolerance != self._never_whole_at:
            geography = session.prepared.inputs.geography
            _, upper = population_bounds(geography.total_population, session.n_districts, tolerance)
            named = self._testimonies.never_whole(geography.population, upper)
            self._never_whole_at, self._never_whole = tolerance, ""
            if named:
                self._never_whole = (
                    f" No plan can keep {len(named):,} of them whole, for they have no unit on the map or "
                    f"more people than a district may: {html.escape(list_some(named))}."
                )
        return self._never_whole

    def _fill(self, now: FatesNow | None) -> None:
        session = self._session
        enacted = session.enacted_numbers.preserved
        if self._by.value == _CHART:
            if now is not None and now.by_cluster is not None and self._clusters is not None:
                means = mean_by_cluster(
                    enacted.astype(float), self._clusters.of_testimony, len(self._clusters.names)
                )
                self._plot.fill(now.by_cluster.kept, now.by_cluster.baseline, means)
            return
        shown = session.numbers_of(session.shown_plan()).preserved
        spread, spread_of_clusters = self._reader.spread()
        if self._by.value == _CLUSTERS:
            self._clusters_table.fill(
                None if now is None else now.by_cluster, spread_of_clusters, shown, enacted
            )
        else:
            self._testimonies_table.fill(None if now is None else now.by_testimony, spread, shown, enacted)

    def _filter(self, now: FatesNow | None = None) -> None:
        """Leave in sight what is searched, sacrificed if asked, and what the thing pointed at concerns."""
        now = self._reader.read() if now is None else now
        session, pointed = self._session, self._session.selection.pointed
        said = [] if now is None or now.subset is None else [picked_words(now.sample, now.subset)]
        if isinstance(pointed, Testimony | Cluster):
            said.append(fate_sentence(now, self._testimonies, pointed))
        if not self.shows_table:
            self._say_which(said, is_filtered=False)
            return
        of_testimonies = self._by.value == _TESTIMONIES
        table, texts = self._tables[self._by.value], self._texts[self._by.value]
        in_sight = find_words(texts, self._search.value_input or "")
        fates = None if now is None else (now.by_testimony if of_testimonies else now.by_cluster)
        if self._only.value:
            in_sight &= False if fates is None else fates.is_sacrificed
        is_filtered = bool(self._search.value_input) or bool(self._only.value)
        concern = None
        if of_testimonies:
            shown = session.shown_plan()
            concern = concerned(
                pointed,
                self._testimonies,
                session.prepared.inputs.geography.ids,
                shown.assignment,
                shown.names,
            )
        if concern is not None:
            in_sight &= concern.rows
            said.insert(0, html.escape(concern.words))
        selected = -1
        if isinstance(pointed, Testimony if of_testimonies else Cluster):
            selected = pointed.place
        if is_filtered:
            what = ("testimony", "testimonies") if of_testimonies else ("cluster", "clusters")
            said.insert(0, f"{int(in_sight.sum()):,} of {count(len(texts), *what)} in the list.")
        places = np.flatnonzero(in_sight).tolist()
        if places != table.in_sight:
            table.in_sight = places
        if selected != table.selected:
            table.selected = selected
        self._say_which(said, is_filtered=is_filtered)

    def _say_which(self, said: Sequence[str], *, is_filtered: bool) -> None:
        say(self._said, f'<div role="status">{"".join(f"<p>{words}</p>" for words in said)}</div>')
        selection = self._session.selection
        is_part = is_filtered or selection.pointed is not None or selection.span is not None
        if self._all.visible != is_part:
            self._all.visible = is_part


def _chart_pane(plot: ClusterPlot) -> pn.Column:
    """The chart with its key, which is scrolled when there are many clusters."""
    return pn.Column(
        pn.pane.HTML(
            key(("bar", "this ensemble"), ("circle", "baseline"), ("tick", "enacted plan")), **TEXT_STYLE
        ),
        pn.Column(
            # A height in the style, not in the layout: the page must not grow with it.
            pn.Column(
                pn.pane.Bokeh(plot.figure, sizing_mode="stretch_both", margin=0),
                sizing_mode="stretch_both",
                margin=0,
                styles={"flex": "none", "min-height": f"{plot.height / 16}rem"},
            ),
            sizing_mode="stretch_both",
            margin=0,
            styles={"overflow-y": "auto", "overflow-x": "hidden"},
        ),
        sizing_mode="stretch_both",
        margin=0,
    )


def _joined(names: Sequence[str], notes: Sequence[str]) -> list[str]:
    return [f"{name} {note}" for name, note in zip(names, notes, strict=True)]
