"""The address of the page: it says what is set, and a button copies it."""

from collections.abc import Sequence
from importlib.resources import files
from typing import ClassVar

import param
from panel.custom import JSComponent

__all__ = ["Address", "CopyAddress"]


class Address(JSComponent):
    """Writes into the browser's address, in place of what the page wrote there before.

    Parameters
    ----------
    names : sequence of str
        Parameters of the address that are the page's own, beside those with a full stop.
    """

    query = param.String(doc="What is to stand behind the question mark.")
    names = param.List(item_type=str, doc="The page's own parameters.")

    _esm = (files("bottomup.dashboard") / "address.js").read_text(encoding="utf-8")

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(names=list(names), width=0, height=0, margin=0)


class CopyAddress(JSComponent):
    """The address in a field, and a button that copies it."""

    _esm = (files("bottomup.dashboard") / "copy_address.js").read_text(encoding="utf-8")
    _stylesheets: ClassVar[list[str]] = [
        """
.row { display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: center; width: 100%; box-sizing: border-box;
  padding: 0 3px; font-family: var(--font); font-size: 1rem; }
input { flex: 1 1 16rem; min-width: 0; font: inherit; font-size: 0.9375rem; color: var(--ink);
  background: var(--card); border: 1px solid var(--line); border-radius: 4px; padding: 0.35rem 0.6rem; }
button { font: inherit; color: #ffffff; background: #1f5c99; border: 0; border-radius: 6px;
  padding: 0.4rem 0.9rem; cursor: pointer; }
button:focus-visible, input:focus-visible { outline: 3px solid #7fb0e0; outline-offset: 1px; }
span { color: var(--good); }
"""
    ]
