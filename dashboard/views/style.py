"""The look that all views share."""

from typing import Any

import panel as pn
import panel_material_ui as pmui

__all__ = [
    "NUMBER_THEME",
    "PAGE_CSS",
    "TEXT_STYLE",
    "THEME",
    "key",
    "map_choice",
    "room_for",
    "say",
    "segments",
]

FONT = "Roboto, 'Liberation Sans', Arial, sans-serif"

# The focus of those who use the keyboard; without it a button only pulsates faintly.
_RING = {"&.Mui-focusVisible": {"outline": "3px solid var(--accent)", "outlineOffset": "2px"}}
THEME: dict[str, Any] = {
    "palette": {"primary": {"main": "#1f5c99"}, "text": {"primary": "#1d2733", "secondary": "#4d5864"}},
    "components": {
        "MuiButtonBase": {"styleOverrides": {"root": _RING}},
        "MuiSlider": {"styleOverrides": {"thumb": _RING}},
    },
    "typography": {
        "fontFamily": FONT,
        "fontSize": 16,
        "button": {"textTransform": "none", "fontSize": "1rem"},
    },
    "shape": {"borderRadius": 6},
}
"""Theme of every Material component; `PAGE_CSS` puts the colours of the look in place of these."""

NUMBER_THEME: dict[str, Any] = {
    **THEME,
    "components": {
        **THEME["components"],
        "MuiIconButton": {"defaultProps": {"tabIndex": -1, "aria-hidden": True}},
    },
}
"""Theme of fields for numbers: their two buttons have no names, and the arrow keys do the same."""

PAGE_CSS = """
:root { font-size: clamp(16px, 1.05vw, 24px); color-scheme: light;
  --font: Roboto, 'Liberation Sans', Arial, sans-serif;
  --ink: #1d2733; --quiet: #4d5864; --line: #b6bdc4; --faint: #e3e7ea; --ground: #ffffff; --card: #f5f7f9;
  --accent: #1f5c99; --accent-strong: #174573; --accent-channel: 31 92 153; --good: #00794f;
  --good-ground: #e6f2ec; --warn: #b35900; --bad: #c1121f;
  --bad-ground: #fdecea; --of-charts: none; }
/* Charts keep their hues and turn their lightness over: white becomes just this ground. */
:root[data-theme=dark] { color-scheme: dark;
  --ink: #e6eaee; --quiet: #b0bac4; --line: #5a6269; --faint: #33383d; --ground: #191919; --card: #24282d;
  --accent: #8dbdf0; --accent-strong: #b4d4f6; --accent-channel: 141 189 240; --good: #5fd0a0;
  --good-ground: #17362a; --warn: #f0a35a; --bad: #ff9aa4;
  --bad-ground: #42201f; --of-charts: invert(0.9) hue-rotate(180deg); }
:root[data-mode=hearing] { font-size: clamp(19px, 1.4vw, 34px); --edge: 16px; --analyst: none; }
/* In every component: what it is given by its own theme comes too late where a view is new in a dark page. */
:host { color: var(--ink);
  --mui-palette-primary-main: var(--accent) !important;
  --mui-palette-primary-dark: var(--accent-strong) !important;
  --mui-palette-primary-mainChannel: var(--accent-channel) !important;
  --mui-palette-primary-contrastText: var(--ground) !important;
  --mui-palette-text-primary: var(--ink) !important;
  --mui-palette-text-secondary: var(--quiet) !important;
  --mui-palette-background-default: var(--ground) !important;
  --mui-palette-background-paper: var(--ground) !important; }
:root, :root body { margin: 0; padding: 0; height: 100%; background: var(--ground); }
"""
"""Stylesheet of the document: words, and what is as wide as they are, grow with the window."""

TEXT = """
:host { font-family: var(--font); font-size: 1rem; line-height: 1.35;
        color: var(--ink); }
p { margin: 0 0 6px 0; }
h1 { font-size: 1.375rem; font-weight: 700; margin: 0; letter-spacing: -0.01em; }
h2 { font-size: 1.0625rem; font-weight: 700; margin: 0 0 2px 0; }
b { font-weight: 700; }
.said { font-size: 1.125rem; }
.quiet { color: var(--quiet); font-size: 0.9375rem; }
.ends { display: flex; justify-content: space-between; gap: 1.5rem; color: var(--quiet); font-size: 0.9375rem;
        line-height: 1.2; }
.ends span:last-child { text-align: right; }
.figures { display: flex; flex-wrap: wrap; gap: 2px 1.6rem; }
.figures div { white-space: nowrap; color: var(--quiet); font-size: 0.9375rem; }
.figures b { color: var(--ink); font-size: 1.125rem; }
.key { display: flex; flex-wrap: wrap; gap: 2px 1.25rem; color: var(--ink); font-size: 0.9375rem; }
.key span { white-space: nowrap; }
.key i { display: inline-block; width: 1.375rem; margin-right: 0.44rem; vertical-align: middle;
         box-sizing: border-box; filter: var(--of-charts); }
.reliability { border-left: 5px solid var(--line); padding: 2px 0 2px 10px; }
.reliability.agree { border-color: var(--good); }
.reliability.disagree { border-color: var(--warn); }
.error { background: var(--bad-ground); border-left: 5px solid var(--bad); padding: 8px 12px; }
"""
"""Stylesheet of every pane of words."""

_HIDDEN_LABEL = (
    "label.MuiFormLabel-root { position: absolute; clip-path: inset(50%); height: 1px; overflow: hidden; }"
)

TEXT_STYLE: dict[str, Any] = {"stylesheets": [TEXT], "margin": 0}
"""Arguments of every pane of words."""

_SEGMENTS = {
    "& .MuiToggleButton-root": {
        "whiteSpace": "nowrap",
        "fontSize": "0.9375rem",
        "lineHeight": 1.3,
        "padding": "0.375rem 0.6875rem",
        "textTransform": "none",
        "color": "var(--ink)",
    },
}


def segments(label: str, options: dict[str, str], value: str, **more: Any) -> pmui.RadioButtonGroup:
    """A row of buttons of which one is chosen; its label is left to screen readers."""
    look: dict[str, Any] = {"margin": (2, 0, 4, 0), "size": "small", "color": "primary"}
    return pmui.RadioButtonGroup(
        label=label,
        options=options,
        value=value,
        sx=_SEGMENTS,
        stylesheets=[_HIDDEN_LABEL],
        theme_config=THEME,
        **look | more,
    )


def map_choice(label: str, options: dict[str, str], value: str, flex: str) -> pmui.Select:
    """A small field above the map of which one thing is chosen; ``flex`` says how it shares the room."""
    return pmui.Select(
        label=label,
        options=options,
        value=value,
        size="small",
        variant="outlined",
        margin=(6, 0, 2, 0),
        theme_config=THEME,
        sizing_mode="stretch_width",
        styles={"flex": flex, "min-width": "0"},
    )


def room_for(n_lines: int) -> dict[str, str]:
    """Styles of a pane whose words come and grow: what lies below it stays where it is."""
    return {"min-height": f"{1.35 * n_lines:g}rem"}


def say(pane: pn.pane.HTML, words: str) -> None:
    """Show words, and send nothing when they are there already."""
    if pane.object != words:
        pane.object = words


_MARKS = {
    "bar": "height: 0.8125rem; background: #2f6fb0;",
    "outline": "height: 0.8125rem; border: 2.5px solid #8a939c; border-bottom: 0;",
    "enacted": "height: 4px; background: #c1121f;",
    "mean": "height: 0; border-top: 3px dashed #5b6672;",
    "circle": "height: 0.8125rem; width: 0.8125rem; border: 2.5px solid #5b6672; border-radius: 50%;",
    "tick": "height: 0.9375rem; width: 4px; background: #c1121f;",
    "point": "height: 0.8125rem; width: 0.8125rem; background: #c1121f; border-radius: 50%;",
    "box": "height: 0.8125rem; background: #bcd3ec; border: 2px solid #2f6fb0;",
    "county": "height: 4px; background: #ffffff; border: 1px solid #b6bdc4;",
}


def key(*entries: tuple[str, str]) -> str:
    """Key of a chart as HTML: pairs of mark and words."""
    items = "".join(f'<span><i style="{_MARKS[mark]}"></i>{words}</span>' for mark, words in entries)
    return f'<div class="key">{items}</div>'
