"""The colours of maps and charts, told apart by colour-blind readers too.

Any two of ``CATEGORIES``, ``OTHER``, ``UNKNOWN`` and ``SPECIAL`` differ by at least 14 in CIEDE2000
(Sharma, Wu, Dalal 2005), in normal vision and in complete protanopia, deuteranopia and tritanopia
(Machado, Oliveira, Fernandes 2009), on a white page and on a dark one. They are the best of a
search over 4,096 colours of CIELAB lightness 28 to 85 and chroma up to 66. Not all stand out from
the page: where one lies on it, an outline in the colour of the text goes around it.
"""

from __future__ import annotations

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
#: Of ``CATEGORIES``, for verdicts: right, doubtful, wrong.
GREEN, YELLOW, ORANGE = CATEGORIES[8], CATEGORIES[5], CATEGORIES[1]
#: Values beyond ``CATEGORIES``; nothing known, which is near the colour of the page (#rrggbbaa);
#: special-purpose space.
OTHER, UNKNOWN, SPECIAL = "#a0a0a0", "#a0a0a040", "#000000"

#: From few to much on a light page: ``yellowgreenblue`` of Vega, by C. Brewer (colorbrewer2.org),
#: without its palest and its darkest colours. On a dark page it is reversed.
_SCALE = ("#c7e9b4", "#7fcdbb", "#41b6c4", "#1d91c0", "#225ea8", "#253494")
#: Colours of classes, from few to much, as CSS.
SCALE = tuple(map("light-dark({}, {})".format, _SCALE, reversed(_SCALE)))
#: Circles on a map that is coloured by ``SCALE``.
CIRCLES = "#e8710a"


def scale_colours(count: int) -> list[str]:
    """Return so many colours of ``SCALE``, evenly up to its last one."""
    step = (len(SCALE) - 1) / max(count - 1, 1)
    return [SCALE[-1 - round(step * before)] for before in reversed(range(count))]
