"""The page: ``panel serve dashboard/app.py``, with ``--args --units …`` for files of one's own."""

import argparse
import logging
import sys

import panel as pn

from bottomup.dashboard.inspection import Inspection, inspect_inputs
from bottomup.dashboard.options import load_inputs, parse_page_options
from bottomup.dashboard.prepared import Prepared, prepare
from bottomup.dashboard.session import Session
from bottomup.dashboard.views.findings import report
from bottomup.dashboard.views.page import TICK_MILLISECONDS, PageView, failure
from bottomup.dashboard.views.release import release_with_session
from bottomup.dashboard.views.style import PAGE_CSS, TEXT_STYLE
from bottomup.data.errors import DataError
from bottomup.sampler.ledger import Ledger

logger = logging.getLogger(__name__)


def create_app(prepared: Prepared, ledger: Ledger | None = None) -> PageView:
    """Make the page of one visitor; two calls share nothing but ``prepared`` and the file of the ledger."""
    session = Session(prepared, ledger=ledger)
    page = PageView(session)
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
        prepared = prepare_once(options)
    except (DataError, OSError) as error:
        logger.exception("The inputs could not be read.")
        return unusable(options, error)
    return create_app(prepared, Ledger(options.ledger))


def serve() -> None:
    """Show the page for the inputs of the command line, or what is wrong with them."""
    pn.extension("tabulator", raw_css=[PAGE_CSS])
    page = open_page(parse_page_options(sys.argv[1:]))
    if not isinstance(page, PageView):
        page.servable()
        return
    pn.config.exception_handler = page.show_failure
    name = page.session.prepared.inputs.geography.name
    page.servable(title=f"Redistricting from the bottom up – {name}")


if pn.state.served:
    serve()
