"""The fields of the data screen: which files, which columns, what to call the map."""

import argparse
import html
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import panel as pn
import panel_material_ui as pmui

from bottomup.dashboard.background import Background
from bottomup.dashboard.offers import in_words_of_page
from bottomup.dashboard.own_files import Columns, needs_edges, page_options, read_columns
from bottomup.dashboard.uploads import Uploads
from bottomup.dashboard.views.style import TEXT_STYLE, THEME, say, segments
from bottomup.dashboard.views.upload import UploadField
from bottomup.data.errors import DataError
from bottomup.data.repairs import Repair

__all__ = ["FileFields"]

# Slot: label, formats, suffixes for the browser's dialog.
_FILES = {
    "units": (
        "Units",
        "GeoJSON, GeoPackage, shapefile (zipped, or all its parts), GeoParquet; a CSV of units; a dual graph "
        "in JSON",
        ".geojson,.json,.gpkg,.zip,.shp,.shx,.dbf,.prj,.cpg,.parquet,.geoparquet,.csv,.tsv,.txt",
    ),
    "edges": ("Neighbours", "CSV of pairs of units, or a dual graph in JSON", ".csv,.tsv,.txt,.json"),
    "shapes": (
        "Outlines",
        "of the units of a CSV or a graph: any of the GIS formats above",
        ".geojson,.json,.gpkg,.zip,.shp,.shx,.dbf,.prj,.cpg,.parquet,.geoparquet",
    ),
    "plan": (
        "Enacted plan",
        "CSV of unit or Census block and district, or a GIS file of districts",
        ".csv,.tsv,.txt,.geojson,.json,.gpkg,.zip,.shp,.shx,.dbf,.prj,.cpg,.parquet,.geoparquet",
    ),
    "testimonies": ("Testimonies", "one file, several, or a zip archive of a folder", ""),
    "crosswalk": (
        "Crosswalk",
        "CSV for testimonies in units of another map",
        ".csv,.tsv,.txt",
    ),
    "repairs": ("Log of repairs", "as this screen and the command bottomup check write it", ".csv,.tsv,.txt"),
}
_NONE = "Not chosen"
_WAYS = {"Send files": "send", "Name paths": "path"}
_PLACES = {"A column of the units": "column", "A file": "file"}
_ACCORDION = {
    "& .MuiTypography-root": {"fontSize": "1rem", "fontWeight": 700},
    "& .MuiAccordionSummary-root": {"minHeight": "2.5rem"},
}
_FIELD: dict[str, Any] = {
    "theme_config": THEME,
    "size": "small",
    "sizing_mode": "stretch_width",
    "margin": (4, 0, 8, 0),
}


class FileFields(pn.viewable.Viewer):
    """All that a visitor says about files.

    Parameters
    ----------
    uploads : Uploads
    may_name_paths : bool
        Whether files may be named by their paths on the server's machine.
    when_changed : callable
        Called without arguments when anything is said otherwise.
    """

    def __init__(self, uploads: Uploads, *, may_name_paths: bool, when_changed: Callable[[], None]) -> None:
        super().__init__()
        self._when_changed = when_changed
        self._may_name_paths = may_name_paths
        self._columns = Columns()
        self._reading: Background[Columns] = Background()
        self._read = ""
        self._shown: object = None
        self._way = segments("Files", _WAYS, "send", visible=may_name_paths)
        self._sent = {slot: self._upload(uploads, slot) for slot in _FILES}
        self._paths = {
            slot: pmui.TextInput(label=f"{label}: path on this machine", description=hint, **_FIELD)
            for slot, (label, hint, _) in _FILES.items()
            if may_name_paths
        }
        self._state = pn.pane.HTML(**TEXT_STYLE, sizing_mode="stretch_width", visible=False)
        self._id = _column("Unit ids")
        self._population = _column("People")
        self._place = segments("Where the enacted plan is", _PLACES, "column")
        self._plan = _column("Enacted plan: column of the units")
        self._plan_column = pmui.TextInput(
            label="Column of districts in that file (may be left out)", **_FIELD
        )
        self._repair_plan = pmui.Checkbox(
            label="Where the plan cannot be a start, start from the nearest one that can",
            theme_config=THEME,
            margin=(0, 0, 4, -6),
        )
        self._name = pmui.TextInput(label="Name of the map (the file's name otherwise)", **_FIELD)
        self._for_tables = self._files("edges", "shapes")
        self._plan_file = pn.Column(
            self._files("plan"), self._plan_column, sizing_mode="stretch_width", margin=0, visible=False
        )
        more = pmui.Accordion(
            ("Crosswalk, log of repairs", self._files("crosswalk", "repairs")),
            theme_config=THEME,
            sizing_mode="stretch_width",
            margin=(4, 0, 8, 0),
            sx=_ACCORDION,
        )
        self._layout = pn.Column(
            self._way,
            _part("Map"),
            self._files("units"),
            self._for_tables,
            self._state,
            pn.Row(self._id, self._population, sizing_mode="stretch_width", margin=0, styles={"gap": "12px"}),
            self._name,
            _part("Enacted plan"),
            self._place,
            self._plan,
            self._plan_file,
            self._repair_plan,
            self._files("testimonies"),
            more,
            sizing_mode="stretch_width",
            margin=0,
        )
        for widget in (self._way, self._place, self._id, self._population, self._plan, self._plan_column):
            widget.param.watch(lambda *_: self._follow(), "value")
        for widget in (self._repair_plan, self._name, *self._paths.values()):
            widget.param.watch(lambda *_: self._follow(), "value")
        self._arrange()

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def _upload(self, uploads: Uploads, slot: str) -> UploadField:
        label, hint, accept = _FILES[slot]
        return UploadField(
            uploads,
            slot,
            self._follow,
            takes_folder=slot == "testimonies",
            label=label,
            hint=hint,
            accept=accept,
        )

    def _files(self, *slots: str) -> pn.Column:
        fields = (self._sent, self._paths)
        parts = [part[slot] for slot in slots for part in fields if slot in part]
        return pn.Column(*parts, sizing_mode="stretch_width", margin=0)

    @property
    def is_reading(self) -> bool:
        """Whether the columns of the units are not known yet."""
        return self._reading.outcome.is_running

    def path(self, slot: str) -> str:
        """The file in use for a slot; empty for none."""
        # What a browser says of itself does not count: it may say anything.
        if self._may_name_paths and self._way.value == "path":
            return str(self._paths[slot].value_input or self._paths[slot].value or "").strip()
        return self._sent[slot].path

    def options(self, ledger: str, chosen: Sequence[Repair]) -> argparse.Namespace:
        """What has been said, as options of a page.

        Raises
        ------
        DataError
            When a file is missing without which nothing can be looked at.
        """
        units = self.path("units")
        if not units:
            raise DataError(
                "options", "There are no units yet.", remedy="Choose the file with the map first."
            )
        in_column = self._place.value == "column"
        with_tables = {slot: self.path(slot) for slot in ("edges", "shapes")} if needs_edges(units) else {}
        return page_options(
            ledger=ledger,
            chosen=chosen,
            repair_plan=bool(self._repair_plan.value),
            units=units,
            id=self._id.value,
            population=self._population.value,
            plan=self._plan_of_units() if in_column else self.path("plan"),
            plan_column="" if in_column or not self.path("plan") else self._plan_column.value.strip(),
            testimonies=self.path("testimonies"),
            crosswalk=self.path("crosswalk") if self.path("testimonies") else "",
            repairs=self.path("repairs"),
            name=self._name.value.strip() or Path(units).name.split(".")[0],
            **with_tables,
        )

    def _plan_of_units(self) -> str:
        """The column of the plan, which must not be taken for the name of a file."""
        name = str(self._plan.value or "")
        if name and (name not in self._columns.names or Path(name).exists()):
            raise DataError(
                "options",
                f"{name!r} cannot be the column of the plan.",
                remedy="Rename it, or choose another.",
            )
        return name

    def allow_plan_repair(self) -> None:
        """Let walks start from the nearest plan that can be a start."""
        self._repair_plan.value = True

    def fill(self, options: argparse.Namespace) -> None:
        """Show options of the command line, whose files are on this machine."""
        self._way.value = "path"
        for slot, field in self._paths.items():
            field.value = getattr(options, slot) or ""
        self._columns = Columns(
            id=options.id or "", population=options.population or "", plan=options.plan or ""
        )
        is_file = options.plan is not None and Path(options.plan).exists()
        self._place.value = "file" if is_file else "column"
        if not is_file:
            self._paths["plan"].value = ""
        self._plan_column.value = options.plan_column or ""
        self._repair_plan.value = options.repair_plan
        self._name.value = options.name or ""

    def _follow(self) -> None:
        self._arrange()
        self._when_changed()

    def _arrange(self) -> None:
        """Show the fields that matter, and read the columns of other units."""
        by_path = self._may_name_paths and self._way.value == "path"
        units = self.path("units")
        for slot in _FILES:
            self._sent[slot].visible = not by_path
        for field in self._paths.values():
            field.visible = by_path
        self._for_tables.visible = bool(units) and needs_edges(units)
        self._plan.visible = self._place.value == "column"
        self._plan_file.visible = not self._plan.visible
        if units != self._read:
            self._read = units
            if units:
                self._reading.start(lambda _: read_columns(units))
            else:
                self._reading.stop()

    def tick(self) -> None:
        """Let files come once the browser can be answered, and show the columns when they have been read."""
        for field in self._sent.values():
            if not field.is_ready:
                field.is_ready = True
        outcome = self._reading.outcome
        if outcome is self._shown:
            return
        self._shown = outcome
        if outcome.is_running:
            words = "Reading the columns …"
        elif outcome.result is not None:
            words = ""
            self._show(outcome.result)
        else:
            # What is wrong the check says better, and all of it.
            words = in_words_of_page(outcome.error)
            self._show(Columns())
        say(self._state, f'<p class="quiet" role="status">{html.escape(words)}</p>' if words else "")
        self._state.visible = bool(words)
        self._when_changed()

    def _show(self, columns: Columns) -> None:
        """Offer columns; what was chosen stays where there is such a column."""
        for field, guess, before in (
            (self._id, columns.id, self._columns.id),
            (self._population, columns.population, self._columns.population),
            (self._plan, columns.plan, self._columns.plan),
        ):
            chosen = next((name for name in (field.value, before) if name and name in columns.names), guess)
            field.param.update(options=_options(columns.names), value=chosen)
        self._columns = columns

    def close(self) -> None:
        """Wait for nothing any more."""
        self._reading.stop()


def _options(names: Sequence[str]) -> dict[str, str]:
    return {_NONE: "", **{name: name for name in names}}


def _column(label: str) -> pmui.Select:
    return pmui.Select(label=label, options=_options(()), value="", **_FIELD)


def _part(title: str) -> pn.pane.HTML:
    return pn.pane.HTML(f"<h2>{title}</h2>", stylesheets=TEXT_STYLE["stylesheets"], margin=(10, 0, 2, 0))
