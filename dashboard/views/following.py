"""Views that follow what the visitor does elsewhere."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import panel as pn
import param
from panel.io.document import hold

__all__ = ["follow", "held"]


@contextmanager
def held() -> Iterator[None]:
    """Send what is changed meanwhile in one message, and let figures be changed without the document's lock.

    Before the browser says that the page has loaded, Panel throws away what is held; changes are then sent as
    they come.
    """
    document = pn.state.curdoc
    if document is None or not pn.state.loaded:
        yield
        return
    with hold(document):
        yield


def follow(source: param.Parameterized, names: list[str], act: Callable[[], None]) -> None:
    """Do something whenever one of the values changes, also where it changes a figure.

    A button, unlike a figure's own events, calls without the lock of the document, and without it a figure
    may be changed only while what is to be sent is held.
    """

    def changed(*_: param.parameterized.Event) -> None:
        with held():
            act()

    source.param.watch(changed, names)
