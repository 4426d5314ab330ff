"""Report: all that a session shows as one file to give away, or one chart of it; each is a release."""

import asyncio
import html
from collections.abc import Awaitable
from typing import Any

import panel as pn
import panel_material_ui as pmui

from bottomup.dashboard.chart import Chart, table_csv
from bottomup.dashboard.ledger_words import added_sentence, adding_sentence, plans_sentence, sum_words
from bottomup.dashboard.releases import Books, hold, read_books, release_of, was_released
from bottomup.dashboard.report import PARTS, draw_charts, shows_plan, shows_plans, write_report
from bottomup.dashboard.report_charts import chart_titles, lets_out, make_chart
from bottomup.dashboard.report_material import Material, gather, release_behind, take
from bottomup.dashboard.saving import file_stem
from bottomup.dashboard.session import Session, ShownPlan
from bottomup.dashboard.views.deeds import Act, Deeds, hand_over, hidden_download
from bottomup.dashboard.views.following import follow
from bottomup.dashboard.views.style import TEXT_STYLE, THEME, say, segments
from bottomup.sampler.accounting import Release

__all__ = ["ReportView"]

_SHORT = {
    "plans": "Plans side by side",
    "communities": "Communities",
    "comparison": "What is possible",
    "epsilons": "What ε buys",
    "spread": "Who ends up where",
    "influence": "Influence",
    "table": "Every community",
    "reliability": "Reliability",
    "provenance": "Sources",
}
_FORMS = {"PNG": "png", "SVG": "svg", "Numbers (CSV)": "csv"}
_LONGEST_TITLE, _LONGEST_NOTE = 200, 4000


class ReportView(pn.viewable.Viewer):
    """A report in one file, and each chart by itself.

    Parameters
    ----------
    session : Session
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._message = pn.pane.HTML(**_WORDS, margin=(0, 0, 6, 0), visible=False)
        self._deeds = Deeds(self._message, self.refresh, "Nothing was saved.")
        self._parts = pmui.CheckBoxGroup(
            label="What it holds",
            options={_SHORT[part]: part for part in PARTS},
            value=list(PARTS),
            inline=True,
            theme_config=THEME,
            sizing_mode="stretch_width",
            margin=0,
            sx=_SMALL_BOXES,
        )
        self._title = pmui.TextInput(
            label="Title", placeholder="Optional", max_length=_LONGEST_TITLE, size="small", **_FIELD
        )
        self._note = pmui.TextAreaInput(
            label="Note of the presenter",
            placeholder="Optional",
            max_length=_LONGEST_NOTE,
            rows=1,
            max_rows=8,
            auto_grow=True,
            size="small",
            **_FIELD,
        )
        self._adds = pn.pane.HTML(**_WORDS, margin=(2, 0, 0, 0))
        titles = chart_titles(session.prepared)
        self._chart = pmui.Select(
            label="Chart",
            options={title: key for key, title in titles.items()},
            value=next(iter(titles)),
            size="small",
            variant="outlined",
            **_FIELD,
        )
        self._form = segments("Form of the file", _FORMS, "png", margin=(4, 0, 4, 0))
        self._chart_adds = pn.pane.HTML(**_WORDS, margin=(2, 0, 0, 0))
        self._file = hidden_download("report.html")
        self._layout = pn.Column(
            self._message,
            pn.Column(
                self._parts,
                self._title,
                self._note,
                self._adds,
                self._button("Save the report", "description", "contained", self._save_report),
                pn.pane.HTML("<h2>Each chart</h2>", **_WORDS, margin=(14, 0, 4, 0)),
                self._chart,
                self._form,
                self._chart_adds,
                self._button("Save the chart", "download", "outlined", self._save_chart),
                self._file,
                sizing_mode="stretch_both",
                margin=0,
                styles={"overflow-y": "auto", "overflow-x": "hidden"},
            ),
            sizing_mode="stretch_both",
            margin=0,
        )
        follow(self._parts, ["value"], self.refresh)
        follow(self._chart, ["value"], self.refresh)
        follow(session.shown, ["kind", "chosen"], self.refresh)
        self.refresh()

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def _button(self, label: str, icon: str, variant: str, act: Act) -> pmui.Button:
        button = pmui.Button(
            label=label,
            icon=icon,
            variant=variant,
            color="primary",
            size="small",
            margin=(6, 0, 0, 0),
            theme_config=THEME,
            styles={"width": "15rem", "flex": "none"},
        )
        button.on_click(self._deeds.when_clicked(act))
        return button

    def _hold(self, is_shown: bool) -> ShownPlan | None:
        """The plan on the map, which stays there, or None where it is not to be told of."""
        if not is_shown:
            return None
        shown = self._session.shown_plan()
        hold(self._session, shown)
        return shown

    def _save_report(self) -> Awaitable[str]:
        parts = [part for part in PARTS if part in self._parts.value]
        if not parts:
            raise ValueError("Choose at least one part of the report.")
        shown = self._hold(shows_plan(parts))
        material = take(self._session, shown)
        self._deeds.say('<p role="status">Making the report …</p>')
        return self._make_report(material, shown, parts, self._title.value or "", self._note.value or "")

    async def _make_report(
        self, material: Material, shown: ShownPlan | None, parts: list[str], title: str, note: str
    ) -> str:
        session, how = self._session, "report as HTML"
        material = await asyncio.to_thread(gather, session, material)
        drawn = await asyncio.to_thread(draw_charts, material, parts)
        of_plan = None if shown is None else release_of(session, shown, how)
        of_charts = None
        if shows_plans(parts):
            of_charts = _behind(session, material, how, of_every_epsilon="epsilons" in parts)
        releases = [release for release in (of_plan, of_charts) if release is not None]

        def put_together() -> str:
            return write_report(
                material,
                drawn,
                parts,
                read_books(session),
                title=title,
                note=note,
                releases=releases,
            )

        # Once without its own lines: nothing is written down of a report that cannot be made.
        await asyncio.to_thread(put_together)
        said = await self._write(releases)
        text = await asyncio.to_thread(put_together)
        return self._hand_over(material, "report", "html", text.encode("utf-8"), said)

    def _save_chart(self) -> Awaitable[str]:
        key = self._chart.value
        shown = self._hold(lets_out(key) == "the plan")
        material = take(self._session, shown)
        self._deeds.say('<p role="status">Making the chart …</p>')
        return self._make_chart(material, shown, key, self._form.value)

    async def _make_chart(self, material: Material, shown: ShownPlan | None, key: str, form: str) -> str:
        session, how = self._session, f"{key} as {form.upper()}"
        out = lets_out(key)
        if out in ("the charts", "every ε"):
            material = await asyncio.to_thread(gather, session, material)
        chart = await asyncio.to_thread(make_chart, material, key)
        if chart is None:
            return "There are no plans on record yet. Let the walks go on for a moment."
        contents = await asyncio.to_thread(_contents, chart, form)
        of_plan = None if shown is None else release_of(session, shown, how)
        of_charts = None
        if out in ("the charts", "every ε"):
            of_charts = _behind(session, material, how, of_every_epsilon=out == "every ε")
        said = await self._write([release for release in (of_plan, of_charts) if release is not None])
        return self._hand_over(material, chart.key, form, contents, said)

    async def _write(self, releases: list[Release]) -> str:
        """Write releases in the ledger; they may happen once this returns."""
        words = []
        for release in releases:
            entry = await asyncio.to_thread(self._session.ledger.write, release)
            was_released(self._session, release)
            words.append(added_sentence(entry))
        return " ".join(words) or "It is no release: nothing was written down."

    def _hand_over(self, material: Material, what: str, form: str, contents: bytes, said: str) -> str:
        run = material.run or material.time.partition(" ")[0]
        stem = file_stem(self._session, what, f"eps {material.epsilon:.3g}", material.design.score, run)
        name = f"{stem}.{form}"
        hand_over(self._file, name, contents)
        return f"<b>Saved</b> {html.escape(name)}. {said}"

    def refresh(self) -> None:
        """Say what the report, and the chart, would add to the ledger."""
        session = self._session
        books, shown = read_books(session), session.shown_plan()
        parts = self._parts.value
        so_far = (
            f'<p class="error" role="alert">{html.escape(books.error)}</p>'
            if books.error
            else sum_words(books.total)
        )
        words = self._adding(
            books,
            shown if shows_plan(parts) else None,
            of_charts=shows_plans(parts),
            of_every_epsilon="epsilons" in parts,
        )
        say(self._adds, f"{so_far}{words}")
        out = lets_out(self._chart.value)
        words = self._adding(
            books,
            shown if out == "the plan" else None,
            of_charts=out in ("the charts", "every ε"),
            of_every_epsilon=out == "every ε",
        )
        say(self._chart_adds, words)

    def _adding(
        self, books: Books, shown: ShownPlan | None, *, of_charts: bool, of_every_epsilon: bool
    ) -> str:
        """What giving it away would add, as HTML."""
        session = self._session
        words = []
        if shown is not None:
            sentence = adding_sentence(release_of(session, shown, ""), books)
            if shown.kind == "current" and shown.draw is not None and session.settings.running:
                sentence += " The plan of the moment of your click is taken, and held on the map."
            words.append(f"<b>{html.escape(shown.title)}</b>: {sentence}")
        if of_charts:
            standing = session.worker.progress.standing
            recorded = None if standing is None else standing.recorded
            release = release_behind(
                session, recorded, session.sample(), "", of_every_epsilon=of_every_epsilon
            )
            of_what = "<b>Plans behind the charts</b>"
            if of_every_epsilon:
                of_what += ", of every ε"
            words.append(f"{of_what}: {plans_sentence(release, books)}")
        if not words:
            return '<p class="quiet">It shows no plan of the walks, and adds nothing.</p>'
        return "".join(f'<p class="quiet">{each}</p>' for each in words)


def _behind(session: Session, material: Material, how: str, *, of_every_epsilon: bool) -> Release | None:
    return release_behind(session, material.recorded, material.sample, how, of_every_epsilon=of_every_epsilon)


def _contents(chart: Chart, form: str) -> bytes:
    """A chart as a file. Numbers begin with a mark by which spreadsheets know the letters."""
    if form == "csv":
        return table_csv(chart.table).encode("utf-8-sig")
    return chart.picture("png" if form == "png" else "svg")


_CSS = ".done { background: var(--good-ground); border-left: 5px solid var(--good); padding: 6px 12px; }"
_WORDS: dict[str, Any] = {"stylesheets": [*TEXT_STYLE["stylesheets"], _CSS], "sizing_mode": "stretch_width"}
_SMALL_BOXES = {
    "& .MuiFormControlLabel-label": {"fontSize": "0.9375rem"},
    "& .MuiCheckbox-root": {"padding": "0.125rem 0.375rem 0.125rem 0.625rem"},
    "& .MuiFormLabel-root": {"fontSize": "0.9375rem"},
}
_FIELD: dict[str, Any] = {"sizing_mode": "stretch_width", "margin": (6, 8, 2, 0), "theme_config": THEME}
