"""A chart that can be drawn for paper, with its numbers and the words for those who do not see it."""

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd
from matplotlib.figure import Figure

from bottomup.dashboard.fates_file import spreadsheet_text
from bottomup.dashboard.prints.sheet import Form, house_style, picture

__all__ = ["Chart", "table_csv"]


@dataclass(frozen=True, eq=False)
class Chart:
    """A chart that can be drawn.

    Attributes
    ----------
    key, title : str
        What files call it, and its heading.
    alt : str
        What it shows, as plain text.
    table : pandas.DataFrame
        Its numbers.
    draw : callable
        Makes the figure; to be called within `house_style`.
    """

    key: str
    title: str
    alt: str
    table: pd.DataFrame
    draw: Callable[[], Figure]

    def picture(self, form: Form) -> bytes:
        """The chart as a file."""
        with house_style(text_as_text=True):
            return picture(self.draw(), form, self.title)


def table_csv(frame: pd.DataFrame) -> str:
    """A table as CSV, in which a spreadsheet takes no name for a formula."""
    return frame.map(lambda value: spreadsheet_text(value) if isinstance(value, str) else value).to_csv(
        index=False, lineterminator="\n"
    )
