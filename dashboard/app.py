"""The page: ``panel serve dashboard/app.py``, with ``--args --units …`` for files of one's own."""

import argparse
import logging
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import panel as pn

from bottomup.dashboard.frozen import SavedSession
from bottomup.dashboard.inspection import Inspection, inspect_inputs
from bottomup.dashboard.local_paths import may_name_paths
from bottomup.dashboard.opened import OPENED
from bottomup.dashboard.options import load_inputs, parse_page_options
from bottomup.dashboard.own_files import word_outcome
from bottomup.dashboard.prepared import Prepared, prepare
from bottomup.dashboard.saved_sessions import SessionFile, read_session
from bottomup.dashboard.server_log import set_up_log
from bottomup.dashboard.session import Session
from bottomup.dashboard.session_options import input_arguments, with_inputs_of, with_inputs_of_study
from bottomup.dashboard.stored_study import PageStudy, open_study
from bottomup.dashboard.views.crowded import crowded
from bottomup.dashboard.views.data import DATA_TICK_MILLISECONDS, DataView
from bottomup.dashboard.views.data_link import DATA, MAP, gone
from bottomup.dashboard.views.findings import report
from bottomup.dashboard.views.guide import GUIDE, guide
from bottomup.dashboard.views.look import remember_look
from bottomup.dashboard.views.page import TICK_MILLISECONDS, PageView, failure
from bottomup.dashboard.views.release import forget_when_left, release_when_destroyed, release_with_session
from bottomup.dashboard.views.style import PAGE_CSS, TEXT_STYLE
from bottomup.dashboard.visitors import VISITORS
from bottomup.data.errors import DataError
from bottomup.sampler.ledger import Ledger

TITLE = "Redistricting from the bottom up"

logger = logging.getLogger(__name__)


class Served(NamedTuple):
    """What the command line names, read once for all visitors."""

    prepared: Prepared
    saved: SavedSession | None
    arguments: list[str]
    """The options that name the inputs."""


def create_app(
    prepared: Prepared,
    ledger: Ledger | None = None,
    *,
    saved: SavedSession | None = None,
    arguments: Sequence[str] | None = None,
    asked: Mapping[str, str] | None = None,
) -> PageView:
    """Make the page of one visitor; two calls share nothing but what they are given and the ledger's file.

    Parameters
    ----------
    prepared : Prepared
    ledger : Ledger, optional
    saved : SavedSession, optional
        That is opened.
    arguments : sequence of str, optional
        Options of a command line that name the inputs.
    asked : mapping of str to str, optional
        Parameters of the address, see `bottomup.dashboard.page_state`.
    """
    session = Session(prepared, ledger=ledger, saved=saved, arguments=arguments)
    page = PageView(session)
    page.begin(asked or {})
    release_with_session(session)
    if pn.state.curdoc is not None:
        pn.state.add_periodic_callback(page.tick, period=TICK_MILLISECONDS)
    return page


def unusable(options: argparse.Namespace, error: Exception) -> pn.viewable.Viewable:
    """What stands in place of the page: why, and all there is to say about the files."""
    try:
        if options.units is not None:
            return report(_inspect(options), error)
    except (DataError, OSError):
        logger.exception("The inputs could not be looked at.")
    return pn.pane.HTML(failure(str(error)), **TEXT_STYLE, sizing_mode="stretch_width")


def _inspect(options: argparse.Namespace) -> Inspection:
    inspected: Inspection = pn.state.as_cached("inspection", lambda: inspect_inputs(options))
    return inspected


def read_once(options: argparse.Namespace) -> Served:
    """Read what options name, with a saved session or a study; it is kept for all visitors."""
    if options.study is not None:
        return _read_study(options)
    if options.session_file is None:
        return Served(prepare_once(options), None, input_arguments(options))
    file: SessionFile = pn.state.as_cached("saved session", lambda: read_session(options.session_file))
    options = with_inputs_of(options, file)
    prepared = prepare_once(options)
    saved: SavedSession = pn.state.as_cached("fitted session", lambda: file.fit(prepared))
    return Served(prepared, saved, input_arguments(options))


def _read_study(options: argparse.Namespace) -> Served:
    if options.session_file is not None:
        raise DataError(
            "options", "--study and --session were both given.", remedy="Open one of them at a time."
        )
    study: PageStudy = pn.state.as_cached("study", lambda: open_study(options.study))
    options = with_inputs_of_study(options, study)
    prepared = prepare_once(options)
    saved: SavedSession = pn.state.as_cached("plans of the study", lambda: study.fit(prepared))
    return Served(prepared, saved, input_arguments(options))


def prepare_once(options: argparse.Namespace) -> Prepared:
    """Look at the files and read them; what comes of it is kept for all visitors."""
    prepared: Prepared = pn.state.as_cached("prepared inputs", lambda: _prepare(options))
    return prepared


def _prepare(options: argparse.Namespace) -> Prepared:
    if options.units is None:
        return prepare(load_inputs(options))
    inspected = _inspect(options)
    known = inspected.known if inspected.map_is_fit else None
    return prepare(load_inputs(options, known=known), inspected.findings)


def open_page(options: argparse.Namespace) -> PageView | pn.viewable.Viewable:
    """Make the page for the inputs that options name, or what stands in its place when there can be none."""
    try:
        served = read_once(options)
    except (DataError, OSError) as error:
        logger.exception("The inputs could not be read.")
        return unusable(options, error)
    return create_app(
        served.prepared,
        Ledger(options.ledger),
        saved=served.saved,
        arguments=served.arguments,
        asked=_asked(),
    )


def _asked() -> dict[str, str]:
    """What the address asks for."""
    return {name: values[0].decode(errors="replace") for name, values in pn.state.session_args.items()}


def open_data(options: argparse.Namespace, in_place: pn.viewable.Viewable | None = None) -> DataView:
    """Make the data screen; ``in_place`` is what stands in place of a page that there cannot be."""
    context = None if pn.state.curdoc is None else pn.state.curdoc.session_context
    paths = context is not None and may_name_paths(context.request)
    view = DataView(options.ledger, may_name_paths=paths)
    release_when_destroyed(view.close)
    if in_place is not None:
        # Only who may name these files may go on with them.
        known = word_outcome(options, _inspect(options)) if paths and options.units is not None else None
        view.begin_with(in_place, known)
    if context is not None:
        pn.state.add_periodic_callback(view.tick, period=DATA_TICK_MILLISECONDS)
    return view


def open_map(token: str, options: argparse.Namespace) -> PageView | pn.viewable.Viewable:
    """Make the page of a map that a visitor opened, or say that it is kept no longer."""
    prepared = OPENED.enter(token)
    if prepared is None:
        return gone()
    release_when_destroyed(partial(OPENED.leave, token))
    return create_app(prepared, Ledger(options.ledger), asked=_asked())


def serve() -> None:
    """Show what the address asks for: a page, of the server or of a visitor, the data screen or the guide."""
    remember_look()
    forget_when_left()
    pn.extension(raw_css=[PAGE_CSS])
    try:
        _show(parse_page_options(sys.argv[1:]))
    except Exception as error:
        logger.exception("The page could not be made.")
        words = failure(str(error) or type(error).__name__)
        pn.pane.HTML(words, **TEXT_STYLE, sizing_mode="stretch_width").servable(title=TITLE)


def _show(options: argparse.Namespace) -> None:
    arguments = pn.state.session_args
    if GUIDE in arguments:
        guide().servable(title=f"{TITLE} – guide")
        return
    if DATA in arguments:
        _show_data(open_data(options))
        return
    if options.visitors is not None:
        VISITORS.most = options.visitors
    if not VISITORS.enter():
        crowded(VISITORS.most).servable(title=TITLE)
        return
    release_when_destroyed(VISITORS.leave)
    token = arguments.get(MAP, [b""])[0].decode("ascii", errors="replace")
    page = open_map(token, options) if MAP in arguments else open_page(options)
    if isinstance(page, PageView):
        pn.config.exception_handler = page.show_failure
        name = page.session.prepared.inputs.geography.name
        page.servable(title=f"{TITLE} – {name}")
    elif MAP in arguments:
        page.servable(title=TITLE)
    else:
        _show_data(open_data(options, page))


def _show_data(view: DataView) -> None:
    pn.config.exception_handler = view.show_failure
    view.servable(title=f"Your own data – {TITLE}")


if pn.state.served:
    set_up_log()
    serve()
