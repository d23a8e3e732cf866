"""The colours of maps and charts, told apart by colour-blind readers too.

Any two of ``CATEGORIES``, ``OTHER``, ``UNKNOWN`` and ``SPECIAL`` differ by at least 14 in CIEDE2000
(Sharma, Wu, Dalal 2005), in normal vision and in complete protanopia, deuteranopia and tritanopia
(Machado, Oliveira, Fernandes 2009). They are the best of a search over 4,096 colours of CIELAB
lightness 28 to 85 and chroma up to 66. The same search among colours that have a contrast of 3:1
with white and with a dark page reaches 11.8, with two colours fewer. So only the first
``STANDING_OUT`` have that contrast: charts use these. Where the others lie on a page, as areas of
a map or as marks of a legend, an outline in the colour of the text goes around them.
"""

from __future__ import annotations

from collections.abc import Sequence

#: For values by rank, the most frequent first.
CATEGORIES = (
    "#6655cc",
    "#bb5500",
    "#779966",
    "#aa77aa",
    "#004477",
    "#ffcc44",
    "#6699ff",
    "#882200",
    "#aacc99",
    "#00ddff",
)
#: So many of ``CATEGORIES`` have a contrast of 3:1 with a white page and with a dark one.
STANDING_OUT = 4
#: Values beyond ``CATEGORIES``; nothing known; special-purpose space.
OTHER, UNKNOWN, SPECIAL = "#a0a0a0", "#f4f4f4", "#2b2b2b"

#: ``SEQUENTIAL`` in Oklab, at equal distances: indigo, blue, azure, green, yellow. Found by a
#: search for seven classes that differ most in the four kinds of vision above.
_KNOTS = (
    (0.31, 0.056, -0.125),
    (0.4675, -0.003, -0.19),
    (0.625, -0.066, -0.113),
    (0.7825, -0.131, 0.034),
    (0.94, -0.056, 0.154),
)


def _sequential(steps: int) -> tuple[str, ...]:
    return tuple(_hex(*_between(step / (steps - 1))) for step in range(steps))


def _between(share: float) -> tuple[float, ...]:
    """Return the colour at a share of the way from the first knot to the last."""
    # 0.3 of the way is 1.2 of four distances: between the knots 1 and 2, at 0.2.
    position = share * (len(_KNOTS) - 1)
    at = min(int(position), len(_KNOTS) - 2)
    return tuple(
        a + (b - a) * (position - at) for a, b in zip(_KNOTS[at], _KNOTS[at + 1], strict=True)
    )


def _hex(lightness: float, a: float, b: float) -> str:
    """Return a colour of Oklab (B. Ottosson, A perceptual color space, 2020) as #rrggbb."""
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    middle = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    red = 4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short
    green = -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short
    blue = -0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short
    return "#" + "".join(f"{_encode(light):02x}" for light in (red, green, blue))


def _encode(linear: float) -> int:
    """Return a component of linear light as one of sRGB (IEC 61966-2-1), 0 to 255."""
    light = min(max(linear, 0.0), 1.0)
    part = 12.92 * light if light <= 0.0031308 else 1.055 * light ** (1 / 2.4) - 0.055
    return round(255 * part)


#: 256 steps of equal lightness differences, dark to light. Lightness orders them in every kind of
#: vision, as in viridis (Smith, van der Walt 2015).
SEQUENTIAL = _sequential(256)


def spread(count: int) -> Sequence[str]:
    """Return so many colours of ``SEQUENTIAL``, evenly from its dark end to its light one.

    One colour is the one in the middle.
    """
    if count == 1:
        return [SEQUENTIAL[len(SEQUENTIAL) // 2]]
    return [SEQUENTIAL[step * (len(SEQUENTIAL) - 1) // (count - 1)] for step in range(count)]


#: From few to much, on a white page and on a dark one: the more, the less of the page shines through.
SCALE = ("#00a0a040", "#00a0a080", "#1890c8b0", "#2a7de0d0", "#3b6ef0ff")
#: Circles on a map that is coloured by ``SCALE``.
CIRCLES = "#e8710a"


def scale_colours(count: int) -> list[str]:
    """Return so many colours of ``SCALE``."""
    return [SCALE[round(step * (len(SCALE) - 1) / max(count - 1, 1))] for step in range(count)]
