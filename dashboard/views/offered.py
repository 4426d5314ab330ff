"""Repairs on offer, each with a box to tick."""

from collections.abc import Callable, Sequence
from functools import partial

import panel as pn
import panel_material_ui as pmui
import param

from bottomup.dashboard.offers import PLAN, Offer
from bottomup.dashboard.views.style import TEXT_STYLE, THEME
from bottomup.data.repairs import Repair

__all__ = ["OfferedRepairs"]

_WORDS = "<h2>Repairs on offer</h2><p class='quiet'>{}</p>"
_ONE = "They are made for your page alone; those of the map go into a log, which you can save."
_OTHERWISE = "Of repairs of the same units one is enough."


class OfferedRepairs(pn.viewable.Viewer):
    """Boxes for the repairs that findings offer; of those of one finding one can be ticked.

    Parameters
    ----------
    when_changed : callable
        Called without arguments when a box has been ticked or cleared.
    """

    def __init__(self, when_changed: Callable[[], None]) -> None:
        super().__init__()
        self._when_changed = when_changed
        self._rows: list[tuple[Offer, pmui.Checkbox, pmui.TextInput | None]] = []
        self._layout = pn.Column(sizing_mode="stretch_width", margin=(4, 0, 4, 0), visible=False)

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def show(self, offers: Sequence[Offer]) -> None:
        """Offer these, none of them ticked."""
        self._rows = []
        for number, offer in enumerate(offers):
            box = pmui.Checkbox(label=offer.label, theme_config=THEME, margin=(0, 0, 0, -6))
            box.param.watch(partial(self._tick, number), "value")
            typed = None
            if offer.asks:
                typed = pmui.TextInput(
                    label=offer.asks, theme_config=THEME, size="small", margin=(4, 0, 8, 28), width=340
                )
                # Who types means it.
                typed.param.watch(lambda event, box=box: setattr(box, "value", bool(event.new)), "value")
            self._rows.append((offer, box, typed))
        alternatives = len({offer.number for offer in offers}) < len(offers)
        words = f"{_ONE} {_OTHERWISE}" if alternatives else _ONE
        self._layout.objects = [
            pn.pane.HTML(_WORDS.format(words), **TEXT_STYLE, sizing_mode="stretch_width"),
            *(part for _, box, typed in self._rows for part in (box, typed) if part is not None),
        ]
        self._layout.visible = bool(offers)

    @property
    def has_offers(self) -> bool:
        """Whether there is a box at all."""
        return bool(self._rows)

    @property
    def has_choice(self) -> bool:
        """Whether a box is ticked."""
        return any(box.value for _, box, _ in self._rows)

    def chosen(self) -> tuple[Repair, ...]:
        """The repairs that are ticked.

        Raises
        ------
        DataError
            When one of them needs words that are not there.
        """
        return tuple(
            repair
            for offer, box, typed in self._rows
            if box.value
            for repair in offer.repairs("" if typed is None else typed.value_input or typed.value)
        )

    @property
    def repairs_plan(self) -> bool:
        """Whether walks are to start from the nearest plan that can be a start."""
        return any(box.value and offer.action == PLAN for offer, box, _ in self._rows)

    def _tick(self, number: int, event: param.parameterized.Event) -> None:
        offer = self._rows[number][0]
        if event.new:
            for other, (same, box, _) in enumerate(self._rows):
                if other != number and same.number == offer.number:
                    box.value = False
        self._when_changed()
