"""The page with parts that fail: ``?fail=…`` names them. Served with the page's own options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import panel as pn

from bottomup.dashboard import app
from bottomup.dashboard.background import Background
from bottomup.dashboard.views import export

WANTED = pn.state.session_args.get("fail", [b""])[0].decode()


def failing(part: str) -> Callable[..., NoReturn]:
    def fail(*_: object, **__: object) -> NoReturn:
        raise RuntimeError(f"made to fail: {part}")

    return fail


def break_work(work: Background[Any], part: str) -> None:
    begin = work.start
    work.start = lambda _work: begin(failing(part))  # type: ignore[method-assign]


def break_compare(page: Any) -> None:
    make = page._makers["Compare ε"]

    def made(session: Any) -> Any:
        view = make(session)
        break_work(view._look._work, "compare")
        return view

    page._makers["Compare ε"] = made


def break_saving(page: Any) -> None:
    write = export.file_bytes

    def file_bytes(session: Any, *arguments: Any) -> bytes:
        return failing("saving")() if session is page.session else write(session, *arguments)

    export.file_bytes = file_bytes


def break_judging(session: Any) -> None:
    build = session._build

    def built(design: Any) -> Any:
        sampling = build(design)
        sampling.judge = failing("judging")
        return sampling

    session.worker._build = built


def break_views(page: Any) -> None:
    session = page.session
    session.reset = failing("button")
    session.selection.param.watch(failing("tap on the map"), "pointed")
    break_work(session.background, "what if")
    break_compare(page)
    break_saving(page)
    break_work(page._map._layers._cluster_work, "overlay")
    break_work(session._closer["sample"]._work, "closer look")


def break_page(page: Any) -> None:
    if WANTED == "worker":
        page.session.worker._build = failing("worker")
    elif WANTED == "judging":
        break_judging(page.session)
    elif WANTED == "tick":
        page._map.refresh = failing("tick")
    elif WANTED == "views":
        break_views(page)


if WANTED == "opening":
    open_page = app.open_page
    app.open_page = failing("opening")
else:
    open_page, open_data = app.open_page, app.open_data

    def broken_page(*arguments: Any) -> Any:
        page = open_page(*arguments)
        break_page(page)
        return page

    def broken_data(*arguments: Any) -> Any:
        view = open_data(*arguments)
        break_work(view._checking, "check of files")
        return view

    app.open_page, app.open_data = broken_page, broken_data
try:
    app.serve()
finally:
    # The module serves all visitors.
    app.open_page = open_page
    if WANTED != "opening":
        app.open_data = open_data
