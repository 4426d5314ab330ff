"""The tables of clusters and of testimonies: their columns, and the numbers in them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bottomup.dashboard.fates import Fates
from bottomup.dashboard.fates_now import Spread
from bottomup.dashboard.views.rows_table import RowsTable
from bottomup.data.testimonies import Clusters, Testimonies

__all__ = ["ClustersTable", "FatesTable", "TestimoniesTable"]

_HINTS = {
    "name": "Sorts by name.",
    "kept": "How often it is kept whole, in percent of the plans.",
    "baseline": "The same where testimony is ignored.",
    "change": "The first less the second, in points.",
    "districts": "Over how many districts it is spread, on average.",
    "best": "Share of its units in the district that has most of them, on average.",
    "shown": "Whether the plan on the map keeps it whole.",
    "enacted": "Whether the enacted plan keeps it whole.",
}
_TITLES = {
    "kept": ("Whole, %", "percent"),
    "baseline": ("Base\u00adline, %", "percent"),
    "change": ("Change", "change"),
    "districts": ("Dis\u00adtricts", "mean"),
    "best": ("In best, %", "percent"),
}
_OF_PLANS = {"shown": "This plan", "enacted": "Enact\u00aded"}
_MARK = "▼ sacrificed"


class FatesTable(RowsTable):
    """A table of communities with their fates.

    Parameters
    ----------
    when_pointed : callable
        See `RowsTable`.
    kind : str
        Of the columns on the shown and the enacted plan.
    title : str
        Of the column of names.
    names, notes : sequence of str
    more
        Further arguments of `RowsTable`.
    """

    def __init__(
        self,
        when_pointed: Callable[[int], object],
        kind: str,
        title: str,
        names: Sequence[str],
        notes: Sequence[str],
        **more: Any,
    ) -> None:
        self._filled: dict[str, list[float | None]] = {}
        titles = {
            "name": (title, "name"),
            **_TITLES,
            **{field: (own, kind) for field, own in _OF_PLANS.items()},
        }
        super().__init__(
            when_pointed,
            columns=[
                {"field": field, "title": own, "kind": own_kind, "hint": _HINTS[field]}
                for field, (own, own_kind) in titles.items()
            ],
            names=list(names),
            notes=list(notes),
            in_sight=list(range(len(names))),
            mark=_MARK,
            sorted_by=["change", False],
            sizing_mode="stretch_both",
            margin=0,
            min_height=120,
            **more,
        )

    def _fill(self, fates: Fates | None, spread: Spread, of_plans: dict[str, list[float | None]]) -> None:
        found = dict(of_plans)
        if fates is not None:
            found["kept"], found["baseline"] = _points(fates.kept), _points(fates.baseline)
            found["change"] = _points(fates.change)
            found["mark"] = [float(own) for own in fates.is_sacrificed]
        found["districts"], found["best"] = _rounded(spread[0]), _points(spread[1])
        if found != self._filled:
            self._filled = self.numbers = found


class TestimoniesTable(FatesTable):
    """A row for each testimony.

    Parameters
    ----------
    testimonies : Testimonies
    when_pointed : callable
    """

    __test__ = False

    def __init__(self, testimonies: Testimonies, when_pointed: Callable[[int], object]) -> None:
        clusters = testimonies.clusters
        notes = []
        for place, name in enumerate(testimonies.ids):
            cluster = -1 if clusters is None else int(clusters.of_testimony[place])
            group = "" if clusters is None or cluster < 0 else clusters.names[cluster]
            notes.append(" · ".join(words for words in (group, testimonies.texts.get(name, "")) if words))
        super().__init__(
            when_pointed, "whole", "Testi\u00admony", testimonies.ids, notes, label="Testimonies"
        )
        self._on_map = testimonies.sizes > 0

    def fill(
        self, fates: Fates | None, spread: Spread, shown: NDArray[np.bool_], enacted: NDArray[np.bool_]
    ) -> None:
        """Show fates, and which testimonies two plans keep whole."""
        plans = {"shown": shown, "enacted": enacted}
        self._fill(
            fates,
            spread,
            {
                name: [float(whole) if here else None for whole, here in zip(own, self._on_map, strict=True)]
                for name, own in plans.items()
            },
        )


class ClustersTable(FatesTable):
    """A row for each cluster.

    Parameters
    ----------
    clusters : Clusters
    when_pointed : callable
    """

    def __init__(self, clusters: Clusters, when_pointed: Callable[[int], object]) -> None:
        self._of_testimony = clusters.of_testimony
        self._sizes = np.array([len(clusters.members(c)) for c in range(len(clusters.names))])
        super().__init__(when_pointed, "count", "Cluster", clusters.names, (), label="Clusters")

    def fill(
        self, fates: Fates | None, spread: Spread, shown: NDArray[np.bool_], enacted: NDArray[np.bool_]
    ) -> None:
        """Show fates, and how many testimonies of each cluster two plans keep whole."""
        inside = self._of_testimony >= 0
        columns = {
            name: np.bincount(
                self._of_testimony[inside], own[inside].astype(float), minlength=len(self._sizes)
            ).tolist()
            for name, own in {"shown": shown, "enacted": enacted}.items()
        }
        self._fill(fates, spread, {**columns, "of": self._sizes.astype(float).tolist()})


def _points(shares: NDArray[np.float64]) -> list[float | None]:
    return _rounded(100 * shares)


def _rounded(values: NDArray[np.float64]) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in np.round(values, 1)]
