"""Callbacks of Bokeh's own models, in which no error may pass unseen.

Panel hands what goes wrong in callbacks of its widgets to the page. Events and changes of figures and their
data do not come by Panel.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

import panel as pn

__all__ = ["guarded"]


def guarded(callback: Callable[..., object]) -> Callable[..., None]:
    """The same callback, whose errors are shown and logged where those of widgets are."""

    @wraps(callback)
    def call(*arguments: Any) -> None:
        try:
            callback(*arguments)
        except Exception as error:
            show = pn.config.exception_handler
            if show is None:
                raise
            show(error)

    return call
