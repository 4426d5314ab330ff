"""Views that follow what the visitor does elsewhere."""

from collections.abc import Callable

import panel as pn
import param
from panel.io.document import hold

__all__ = ["follow"]


def follow(source: param.Parameterized, names: list[str], act: Callable[[], None]) -> None:
    """Do something whenever one of the values changes, also where it changes a figure.

    A button, unlike a figure's own events, calls without the lock of the document, and without it a figure
    may be changed only while what is to be sent is held.
    """

    def changed(*_: param.parameterized.Event) -> None:
        with hold(pn.state.curdoc):
            act()

    source.param.watch(changed, names)
