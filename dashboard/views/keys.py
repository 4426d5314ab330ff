"""Keys that act on the whole page, and the mode that its stylesheet follows."""

from collections.abc import Callable
from importlib.resources import files

import param
from panel.custom import JSComponent

__all__ = ["Keys"]


class Keys(JSComponent):
    """Calls functions when keys are pressed; in a field for words only Escape counts.

    Parameters
    ----------
    actions : dict of str to callable
        By the key's name in the browser, such as ``"Escape"`` or ``"ArrowRight"``.
    """

    watched = param.List(item_type=str, doc="Names of the keys.")
    mode = param.String("", doc="Given to the whole document, whose stylesheet knows it.")

    _esm = (files("bottomup.dashboard") / "keys.js").read_text(encoding="utf-8")

    def __init__(self, actions: dict[str, Callable[[], object]]) -> None:
        super().__init__(watched=list(actions), width=0, height=0, margin=0)
        self._actions = actions

    def _handle_msg(self, msg: object) -> None:
        action = self._actions.get(str(msg))
        if action is not None:
            action()
