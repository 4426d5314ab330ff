"""Colours: of districts, told apart by colour-blind eyes, and of the roles that charts share."""

import colorsys

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BASELINE",
    "CHOSEN",
    "ENACTED",
    "ENSEMBLE",
    "INK",
    "MUTED",
    "PALE",
    "PAPER",
    "RULE",
    "SCALE",
    "district_colors",
    "packed_colors",
]

INK = "#1d2733"
MUTED = "#5b6672"
ENACTED = "#c1121f"
BASELINE = "#8a939c"
ENSEMBLE = "#2f6fb0"
# Of the ensemble: what is picked from it, and all of it where a part stands out.
CHOSEN = "#12385f"
PALE = "#bcd3ec"
# Behind the words of a chart, and its axes and lines across.
PAPER = "#ffffff"
SCALE = "#b6bdc4"
RULE = "#edf0f2"

# Eight hues after Okabe and Ito; black gives way to grey because district borders and words are dark.
_HUES = ("#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7", "#999999")
# Share of white mixed in: the first round leaves the enacted line and the words readable on every district.
_TINTS = (0.42, 0.72, 0.12, 0.57, 0.27)


def _tinted(color: str, white: float) -> str:
    channels = [int(color[i : i + 2], 16) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(value + (255 - value) * white):02x}" for value in channels)


def district_colors(n_districts: int) -> list[str]:
    """Fill colours by district: eight hues, then the same hues in other tints, then spread-out hues.

    The colour of a district depends on its number alone, so it never changes while plans do. Beyond eight
    districts colours alone no longer tell districts apart with certainty: label them.
    """
    if n_districts < 1:
        raise ValueError(f"n_districts must be at least 1; got {n_districts}.")
    colors = [_tinted(hue, tint) for tint in _TINTS for hue in _HUES][:n_districts]
    golden = 0.618033988749895
    for extra in range(n_districts - len(colors)):
        red, green, blue = colorsys.hls_to_rgb((extra * golden) % 1.0, 0.62 + 0.12 * (extra % 3), 0.55)
        colors.append(f"#{round(red * 255):02x}{round(green * 255):02x}{round(blue * 255):02x}")
    return colors


def packed_colors(colors: list[str], *, brightness: float = 1.0) -> NDArray[np.uint32]:
    """Colours as 32-bit words, red in the lowest byte and opaque, as an image in the browser holds them."""
    packed = []
    for color in colors:
        red, green, blue = (round(int(color[i : i + 2], 16) * brightness) for i in (1, 3, 5))
        packed.append(red | green << 8 | blue << 16 | 255 << 24)
    return np.array(packed, dtype=np.uint32)
