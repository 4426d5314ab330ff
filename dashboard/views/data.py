"""The data screen: a visitor's own files, what there is to say about them, and the page made of them."""

import argparse
import base64
import html
import logging
from collections.abc import Callable
from functools import wraps
from typing import Any

import panel as pn
import panel_material_ui as pmui
import param
from panel.custom import JSComponent

from bottomup.dashboard.background import Background
from bottomup.dashboard.offers import in_words_of_page
from bottomup.dashboard.opened import OPENED, OpenedMaps
from bottomup.dashboard.own_files import Checked, Stopped, check_files, prepare_own
from bottomup.dashboard.prepared import Prepared
from bottomup.dashboard.uploads import Uploads
from bottomup.dashboard.views.data_link import MAP
from bottomup.dashboard.views.file_fields import FileFields
from bottomup.dashboard.views.findings import findings_pane, findings_table
from bottomup.dashboard.views.look import LookSwitch
from bottomup.dashboard.views.offered import OfferedRepairs
from bottomup.dashboard.views.page import failure
from bottomup.dashboard.views.style import TEXT_STYLE, THEME, say
from bottomup.data.errors import DataError, count
from bottomup.data.repairs import Repair, repairs_text

__all__ = ["DATA_TICK_MILLISECONDS", "DataView"]

logger = logging.getLogger(__name__)

DATA_TICK_MILLISECONDS = 200
LOG_FILE = "repairs.csv"
_BUTTON: dict[str, Any] = {"theme_config": THEME, "color": "primary", "margin": (4, 8, 4, 0)}
_HEADER = """<h1>Your own data</h1>
<p class="quiet" style="margin: 2px 0 0 0; max-width: 60rem">Files that you send stay on this server while
this screen is open, and nobody else sees the page made of them. <a href="?" style="color: var(--accent)">Back
to the page</a></p>"""
_EMPTY = """<p class="quiet">What there is to say about the files stands here when they have been checked:
what is wrong, which units it concerns, and what to do.</p>"""


class Journey(JSComponent):
    """Takes the browser to another address."""

    address = param.String(doc="Where to; empty for staying.")

    _esm = """
    export function render({ model, el }) {
      el.style.display = "none"
      model.on("address", () => { if (model.address) window.location.assign(model.address) })
    }
    """


def _shown(act: Callable[["DataView"], None]) -> Callable[..., None]:
    """Let a callback show what goes wrong in it."""

    @wraps(act)
    def call(self: "DataView", *_: object) -> None:
        try:
            act(self)
        except Exception as error:
            self.show_failure(error)

    return call


class DataView(pn.viewable.Viewer):
    """Fields for files beside the report about them.

    Parameters
    ----------
    ledger : str
        Where the page writes releases.
    may_name_paths : bool
        Whether files may be named by their paths on the server's machine.
    opened : OpenedMaps
        Keeps what is opened.
    """

    def __init__(self, ledger: str, *, may_name_paths: bool = False, opened: OpenedMaps = OPENED) -> None:
        super().__init__()
        self._ledger = ledger
        self._opened = opened
        self._uploads = Uploads()
        self._checking: Background[Checked] = Background()
        self._opening: Background[Prepared] = Background()
        self._seen: list[object] = [self._checking.outcome, self._opening.outcome]
        self._step = ""
        self._asked: argparse.Namespace | None = None
        self._checked: Checked | None = None
        self._repairs: tuple[Repair, ...] = ()
        self._units = ""
        self._journey = Journey(width=0, height=0, margin=0)
        self._message = pn.pane.HTML(**TEXT_STYLE, sizing_mode="stretch_width", visible=False)
        self._state = pn.pane.HTML(**TEXT_STYLE, sizing_mode="stretch_width")
        self._before = pn.Column(sizing_mode="stretch_width", margin=0)
        self._report = findings_pane(_EMPTY)
        self._rest = findings_pane("")
        self._offered = OfferedRepairs(self._show_buttons)
        self._log = pn.pane.HTML(**TEXT_STYLE, sizing_mode="stretch_width", visible=False)
        self._check = _button("Check", "search", self._start_check)
        self._stop = _button("Stop", "stop", self._stop_all, variant="outlined")
        self._repair = _button("Repair and check again", "build", self._start_repair)
        self._undo = _button("Take the repairs back", "undo", self._take_back, variant="outlined")
        self._open = _button("Open the page", "arrow_forward", self._start_opening)
        self._fields = FileFields(
            self._uploads, may_name_paths=may_name_paths, when_changed=self._when_changed
        )
        self._layout = self._arrange()
        self._show_buttons()

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def _arrange(self) -> pn.Column:
        fields = pn.Column(
            self._fields,
            pn.Row(self._check, self._stop, margin=(8, 0, 4, 0)),
            margin=0,
            styles={"flex": "1 1 24rem", "max-width": "36rem", "min-width": "min(24rem, 100%)"},
        )
        found = pn.Column(
            self._message,
            self._state,
            self._before,
            self._report,
            self._offered,
            self._log,
            pn.FlexBox(self._repair, self._undo, self._open, margin=(4, 0, 12, 0)),
            self._rest,
            margin=0,
            styles={"flex": "2 1 30rem", "min-width": "min(30rem, 100%)"},
        )
        return pn.Column(
            pn.Row(
                pn.pane.HTML(_HEADER, **TEXT_STYLE, sizing_mode="stretch_width"),
                LookSwitch(align="start"),
                sizing_mode="stretch_width",
                margin=0,
            ),
            pn.FlexBox(
                fields,
                found,
                flex_wrap="wrap",
                align_items="flex-start",
                sizing_mode="stretch_width",
                margin=0,
                gap="12px 40px",
            ),
            self._journey,
            sizing_mode="stretch_width",
            margin=0,
            styles={"padding": "12px 20px 32px 20px", "box-sizing": "border-box", "max-width": "110rem"},
        )

    def begin_with(self, report: pn.viewable.Viewable, known: Checked | None) -> None:
        """Show why there is no page of the files that the server was started with.

        Parameters
        ----------
        report : Viewable
            All there is to say about them.
        known : Checked or None
            The same for going on with these files, where the visitor may.
        """
        if known is None:
            self._before.objects = [report]
            self._report.visible = False
        else:
            self._fields.fill(known.options)
            self._units = self._fields.path("units")
            self._say_failure("These files cannot be used as they are.")
            self._receive(known, "")
        self._show_buttons()

    def _options(self) -> argparse.Namespace:
        return self._fields.options(self._ledger, self._repairs)

    def _when_changed(self) -> None:
        """Let go of a report that is about other files."""
        if self._units != self._fields.path("units"):
            self._units = self._fields.path("units")
            # Repairs name units of the file before.
            self._repairs = ()
            self._offered.show(())
        self._show_buttons()

    @property
    def _is_current(self) -> bool:
        if self._checked is None or self._asked is None or not self._fields.path("units"):
            return False
        try:
            return vars(self._asked) == vars(self._options())
        except DataError:
            return False

    @_shown
    def _start_check(self) -> None:
        self._say_failure("")
        self._asked = asked = self._options()
        self._checked = None
        self._offered.show(())
        self._before.objects = []
        self._report.visible = True
        self._step = "Reading …"

        def look(is_stopped: Callable[[], bool]) -> Checked | None:
            try:
                return check_files(asked, self._tell, is_stopped)
            except Stopped:
                return None

        self._checking.start(look)
        self._follow_work()

    @_shown
    def _start_repair(self) -> None:
        chosen = self._offered.chosen()
        if self._offered.repairs_plan:
            self._fields.allow_plan_repair()
        self._repairs = (*self._repairs, *(repair for repair in chosen if repair not in self._repairs))
        self._start_check()

    @_shown
    def _take_back(self) -> None:
        self._repairs = ()
        self._start_check()

    @_shown
    def _stop_all(self) -> None:
        self._checking.stop()
        self._opening.stop()
        self._follow_work()

    @_shown
    def _start_opening(self) -> None:
        checked = self._checked
        if checked is None or not self._is_current:
            return
        self._say_failure("")
        self._step = "Preparing the page …"
        self._opening.start(lambda _: prepare_own(checked))
        self._follow_work()

    def _tell(self, words: str) -> None:
        # Called in the thread that works; shown by the next tick.
        self._step = words

    async def tick(self) -> None:
        """Show how the work in hand stands. Under server threads only an asynchronous callback is sent."""
        # What is sent before the browser says that it has loaded is thrown away.
        if not pn.state.loaded:
            return
        try:
            self._fields.tick()
            self._follow_work()
        except Exception as error:
            self.show_failure(error)

    def _follow_work(self) -> None:
        checking, opening = self._checking.outcome, self._opening.outcome
        is_busy = checking.is_running or opening.is_running
        words = self._step if is_busy else self._words_at_rest()
        say(self._state, f'<div role="status">{html.escape(words)}</div>')
        if self._seen == [checking, opening]:
            return
        was_checking, was_opening = self._seen
        self._seen = [checking, opening]
        if checking is not was_checking and not checking.is_running:
            self._receive(checking.result, checking.error)
        if opening is not was_opening and not opening.is_running:
            self._enter(opening.result, opening.error)
        self._show_buttons()

    def _words_at_rest(self) -> str:
        if self._asked is not None and self._checked is not None and not self._is_current:
            return "Something was changed since these files were checked: check again."
        return ""

    def _receive(self, checked: Checked | None, error: str) -> None:
        if error:
            self._say_failure(in_words_of_page(error))
        if checked is None:
            say(self._report, _EMPTY)
            say(self._rest, "")
            return
        self._checked = checked
        self._show_report(checked)
        self._offered.show(checked.offers)

    def _show_report(self, checked: Checked) -> None:
        inspection = checked.inspection
        geography = inspection.geography
        size = (
            ""
            if geography is None
            else f" {html.escape(geography.name)}: {count(geography.n_units, 'unit')}."
        )
        fit = checked.is_fit and inspection.status
        more = " The page can be opened all the same: it says so where it matters." if fit else ""
        missing = [
            words
            for words, name in (("an enacted plan", "plan"), ("testimonies", "testimonies"))
            if getattr(checked.options, name) is None
        ]
        needs = f" The page needs {' and '.join(missing)} as well." if missing else ""
        verdict = f"<p class='said'><b>{html.escape(inspection.verdict())}</b>{size}{more}{needs}</p>"
        found = inspection.findings
        say(self._report, verdict + findings_table(finding for finding in found if finding.stops))
        say(self._rest, findings_table(finding for finding in found if not finding.stops))
        self._show_log(checked.repairs)

    def _show_log(self, repairs: tuple[Repair, ...]) -> None:
        self._log.visible = bool(repairs)
        if repairs:
            data = base64.b64encode(repairs_text(repairs).encode()).decode()
            link = (
                f'<a download="{LOG_FILE}" href="data:text/csv;base64,{data}" style="color: var(--accent)">'
            )
            words = f"Save the log of {count(len(repairs), 'repair')}"
            use = "for this screen or <code>--repairs</code> of the commands"
            say(self._log, f"<p>{link}{words}</a>, {use}.</p>")

    def _enter(self, prepared: Prepared | None, error: str) -> None:
        if error:
            self._say_failure(in_words_of_page(error))
        if prepared is None:
            return
        address = f"?{MAP}={self._opened.add(prepared)}"
        # The link stays, for who comes back or whose browser does not follow.
        say(self._report, f'<p class="said"><a href="{address}">Go to the page</a></p>{self._report.object}')
        self._journey.address = address

    def _show_buttons(self) -> None:
        checked, is_busy = (
            self._checked,
            self._checking.outcome.is_running or self._opening.outcome.is_running,
        )
        is_current = self._is_current
        self._check.disabled = is_busy or self._fields.is_reading or not self._fields.path("units")
        self._stop.visible = is_busy
        self._repair.visible = self._offered.has_offers
        self._repair.disabled = is_busy or not self._offered.has_choice
        self._undo.visible = bool(is_current and self._repairs)
        self._undo.disabled = is_busy
        self._open.visible = bool(is_current and checked and checked.is_fit)
        self._open.disabled = is_busy

    def show_failure(self, error: Exception) -> None:
        """Show what went wrong, and log it."""
        logger.error("The data screen met an error.", exc_info=error)
        self._say_failure(in_words_of_page(str(error) or type(error).__name__))

    def _say_failure(self, words: str) -> None:
        self._message.param.update(
            object=f'<div role="alert">{failure(words)}</div>' if words else "", visible=bool(words)
        )

    def close(self) -> None:
        """Stop what is in hand and throw the files away."""
        self._checking.stop()
        self._opening.stop()
        self._fields.close()
        self._uploads.close()


def _button(label: str, icon: str, act: Callable[..., None], **more: Any) -> pmui.Button:
    button = pmui.Button(label=label, icon=icon, **_BUTTON | more)
    button.on_click(act)
    return button
