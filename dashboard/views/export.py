"""Save a plan: the shown plan, or all behind the charts, as files; each is a release that is written down."""

import asyncio
import html
from collections.abc import Awaitable
from typing import Any

import panel as pn
import panel_material_ui as pmui

from bottomup.dashboard.ensemble_files import ensemble_file, gather_plans
from bottomup.dashboard.ledger_words import (
    added_sentence,
    adding_sentence,
    others_sentence,
    plans_sentence,
    rows_table,
    sum_words,
)
from bottomup.dashboard.pool import RecordedLadders
from bottomup.dashboard.releases import (
    Books,
    draw_by_lot,
    hold,
    read_books,
    release_of,
    release_of_charts,
    release_of_plans,
    was_released,
)
from bottomup.dashboard.saving import FORMS, TABLE, Kind, ensemble_stem, file_bytes, file_name
from bottomup.dashboard.session import Session, ShownPlan
from bottomup.dashboard.views.deeds import Deeds, hand_over, hidden_download
from bottomup.dashboard.views.hearing import HearingView
from bottomup.dashboard.views.style import TEXT_STYLE, THEME, say, segments
from bottomup.sampler.accounting import ONLY_NOTED, Entry, Release

__all__ = ["ExportView"]

_ALL = "all"
_KINDS = {"Districts": "districts", "Units": "units", "Two columns": TABLE, "All plans": _ALL}
_CONTENTS = {
    "districts": "An outline for each district, with its figures.",
    "units": "Every unit with its district.",
    TABLE: "A CSV of unit id and district, for redistricting programs.",
    _ALL: "Every plan on record behind the charts, and the baseline's: Parquet in a .zip, for "
    "<code>bottomup export</code>.",
}
_AS = {"districts": "districts", "units": "units", TABLE: "two columns"}
_FORM_NAMES = {form: name.partition(" (")[0] for name, form in FORMS.items()} | {"csv": "CSV"}
_TABLE = """
table { border-collapse: collapse; width: 100%; font-size: 0.9375rem; }
th { text-align: left; color: var(--quiet); font-weight: 400; border-bottom: 1px solid var(--line); }
td { border-bottom: 1px solid var(--faint); vertical-align: top; }
th, td { padding: 3px 10px 3px 0; }
th:nth-child(n+3), td:nth-child(n+3) { text-align: right; white-space: nowrap; }
.path { overflow-wrap: anywhere; }
.done { background: var(--good-ground); border-left: 5px solid var(--good); padding: 6px 12px; }
"""
_WORDS: dict[str, Any] = {"stylesheets": [*TEXT_STYLE["stylesheets"], _TABLE], "sizing_mode": "stretch_width"}


class ExportView(pn.viewable.Viewer):
    """Downloads of the shown plan and of all, what they add to the ledger, and the ledger's last lines.

    Parameters
    ----------
    session : Session
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._message = pn.pane.HTML(**_WORDS, margin=(6, 0, 8, 0), visible=False)
        self._deeds = Deeds(self._message, self.refresh, "Nothing was released.")
        self._sum = pn.pane.HTML(**_WORDS, margin=0)
        has_outlines = session.prepared.scene is not None
        kinds = {name: kind for name, kind in _KINDS.items() if has_outlines or kind in (TABLE, _ALL)}
        self._kind = segments("What to save", kinds, next(iter(kinds.values())), margin=(6, 0, 0, 0))
        self._form = segments("Form of the file", FORMS, next(iter(FORMS.values())), margin=(6, 0, 0, 0))
        self._what = pn.pane.HTML(**_WORDS, margin=0)
        self._contents = pn.pane.HTML(**_WORDS, margin=(0, 0, 0, 10), align="center")
        self._rows = pn.pane.HTML(**_WORDS, margin=(14, 0, 8, 0))
        self._hearing = HearingView(session, self._deeds.when_clicked, self.write)
        self._file = hidden_download("plan.csv")
        self._layout = pn.Column(
            self._message,
            pn.Column(
                self._sum,
                self._kind,
                self._form,
                self._what,
                *self._buttons(),
                self._hearing,
                self._rows,
                self._file,
                sizing_mode="stretch_both",
                margin=0,
                styles={"overflow-y": "auto", "overflow-x": "hidden"},
            ),
            sizing_mode="stretch_both",
            margin=0,
        )
        session.shown.param.watch(lambda *_: self._follow(), ["kind", "chosen"])
        self._kind.param.watch(lambda *_: self.refresh(), "value")
        self.refresh()

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def _buttons(self) -> list[pn.viewable.Viewable]:
        save = pmui.Button(label="Save", color="primary", icon="download", **_BUTTON)
        save.on_click(self._deeds.when_clicked(self._save))
        lot = pmui.Button(
            label="Draw a plan by lot", color="primary", variant="outlined", icon="casino", **_BUTTON
        )
        lot.on_click(self._deeds.when_clicked(self._draw))
        words = pn.pane.HTML(
            f'<p class="quiet" style="margin: 0">{_LOT}</p>', **_WORDS, margin=(0, 0, 0, 10), align="center"
        )
        rows: list[pn.viewable.Viewable] = [_beside(save, self._contents), _beside(lot, words)]
        if self._session.prepared.scene is None:
            note = "<p>The units came without outlines, so there are no districts or units to save.</p>"
            rows.insert(1, pn.pane.HTML(note, **TEXT_STYLE))
        return rows

    def _draw(self) -> str:
        if not draw_by_lot(self._session):
            return "There is no plan to draw from yet. Let the walks go on for a moment."
        return "Drawn by lot: the plan is on the map. It is released when you save it or show it in public."

    def _save(self) -> str | Awaitable[str]:
        session = self._session
        if self._kind.value == _ALL:
            standing = session.worker.progress.standing
            if standing is None:
                return "There are no plans on record yet. Let the walks go on for a moment."
            return self._save_all(standing.recorded, session.settings.epsilon)
        shown = session.shown_plan()
        # The walk goes on: what is saved stays on the map, and saved in another form it is the same plan.
        hold(session, shown)
        return self._save_plan(shown, self._kind.value, self._form_of_file())

    def _form_of_file(self) -> str:
        return "csv" if self._kind.value == TABLE else str(self._form.value)

    async def _save_plan(self, shown: ShownPlan, kind: Kind, form: str) -> str:
        session = self._session
        contents = await asyncio.to_thread(file_bytes, session, shown, kind, form)
        release = release_of(session, shown, f"{_AS[kind]} as {_FORM_NAMES[form]}")
        said = "The enacted plan is no release: nothing was written down."
        if release is not None:
            said = added_sentence(await self.write(release))
        name = file_name(session, shown, kind, form)
        self._hand_over(name, contents)
        return f"<b>Saved</b> {html.escape(name)}. {said}"

    async def _save_all(self, recorded: RecordedLadders, epsilon: float) -> str:
        session = self._session
        plans = await asyncio.to_thread(gather_plans, recorded, epsilon)
        if plans is None:
            return "There are no plans on record yet. Let the walks go on for a moment."
        release = release_of_plans(session, plans, "saved as Parquet")
        stem = ensemble_stem(session, epsilon, release.score, release.run)
        contents = await asyncio.to_thread(ensemble_file, session, plans, release.run, stem)
        said = added_sentence(await self.write(release))
        self._hand_over(f"{stem}.zip", contents)
        return f"<b>Saved</b> {html.escape(stem)}.zip: {plans.words()}. {said}"

    async def write(self, release: Release, *, counts: bool = True) -> Entry:
        """Write a release in the ledger; it may happen once this returns."""
        entry = await asyncio.to_thread(self._session.ledger.write, release, counts=counts)
        if entry.status != ONLY_NOTED:
            was_released(self._session, release)
        return entry

    def _hand_over(self, name: str, contents: bytes) -> None:
        hand_over(self._file, name, contents)

    def _follow(self) -> None:
        if not self._deeds.is_busy:
            self._deeds.say("")
        self.refresh()

    def refresh(self) -> None:
        """Say what has been released, what would be saved, and what that would add."""
        session = self._session
        books, shown = read_books(session), session.shown_plan()
        if books.error:
            say(self._sum, f'<p class="error" role="alert">{html.escape(books.error)}</p>')
        else:
            say(self._sum, sum_words(books.total))
        has_forms = self._kind.value not in (TABLE, _ALL)
        if self._form.visible != has_forms:
            self._form.visible = has_forms
        say(self._contents, f'<p class="quiet" style="margin: 0">{_CONTENTS[self._kind.value]}</p>')
        title, adding = self._adding_words(books, shown)
        say(self._what, f'<h2 style="margin-top: 8px">{html.escape(title)}</h2><p>{adding}</p>')
        self._hearing.refresh(books, shown)
        say(self._rows, self._ledger_words(books))

    def _adding_words(self, books: Books, shown: ShownPlan) -> tuple[str, str]:
        """What is about to be saved, and what that would add."""
        session = self._session
        if self._kind.value == _ALL:
            release = release_of_charts(session)
            adding = plans_sentence(release, books)
            if release is not None and session.settings.running:
                adding += " Those of the moment of your click are saved; newer ones make another release."
            title = f"All plans behind the charts, at ε = {session.settings.epsilon:.3g}"
            return title, f"{adding} The scores are left out: they are figures of the testimonies."
        release = release_of(session, shown, "")
        adding = adding_sentence(release, books)
        if shown.kind == "current" and release is not None and session.settings.running:
            adding += " The plan of the moment of your click is saved, and held on the map."
        return shown.title, adding

    def _ledger_words(self, books: Books) -> str:
        table = rows_table(books.entries) if books.entries else ""
        path = html.escape(str(self._session.ledger.path.absolute()))
        return (
            f"<h2>The ledger</h2>{table}"
            f'<p class="quiet path" style="margin-top: 6px">{others_sentence(books.n_others)} '
            f"Every release is a line of {path}, written before it happens.</p>"
        )


def _beside(button: pmui.Button, words: pn.pane.HTML) -> pn.Row:
    """A button and what it does."""
    return pn.Row(button, words, sizing_mode="stretch_width", margin=(6, 0, 0, 0))


_LOT = "A plan that nobody picks. Take the first: those passed over count too."
_BUTTON: dict[str, Any] = {
    "margin": 0,
    "theme_config": THEME,
    "size": "small",
    "styles": {"width": "15rem", "flex": "none"},
}
