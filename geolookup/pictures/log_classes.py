"""Classes of a logarithmic scale: their lower bounds, and their colours.

Bounds are 1, 2, 5, 10, 20 and so on, 1, 3, 10, 30 and so on, or powers of ten: the finest that make
at most ``MOST`` classes. Of more powers the largest are kept: the first class holds all below them.
Weights from 30 to 700,000 have the bounds 10, 100, 1,000, 10,000 and 100,000.
``reports/assets/world/scale.js`` is the same.
"""

from __future__ import annotations

import numpy as np

from geolookup.dataset.intervals import F64, I64

#: More colours are hard to tell apart, and their labels do not fit a phone.
MOST = 7

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

#: From dark to light, without the darkest: these are hard to see on a dark page.
COLOURS = SEQUENTIAL[16:]
_DIGITS = ((1.0, 2.0, 5.0), (1.0, 3.0), (1.0,))


def class_bounds(weights: F64) -> F64:
    """Return the ascending lower bounds of the classes of positive weights; empty if none."""
    if not len(weights):
        return np.empty(0)
    least, most = float(weights.min()), float(weights.max())
    # A power lower: log10 of a number just below a power may be rounded up to it.
    first, last = int(np.floor(np.log10(least))) - 1, int(np.floor(np.log10(most)))
    for digits in _DIGITS:
        bounds = [digit * 10.0**power for power in range(first, last + 1) for digit in digits]
        # From the class of the least weight to the class of the largest.
        used = [bound for bound in bounds if bound <= most]
        used = used[max(0, sum(bound <= least for bound in used) - 1) :]
        if len(used) <= MOST:
            break
    return np.array(used if len(used) <= MOST else [used[0], *used[1 - MOST :]])


def class_colours(classes: int) -> list[str]:
    """Return the colours of classes, the largest weights first: dark to light."""
    if classes == 1:
        return [COLOURS[len(COLOURS) // 3]]
    return [COLOURS[at * (len(COLOURS) - 1) // (classes - 1)] for at in range(classes)]


def class_of(weights: F64, bounds: F64) -> I64:
    """Return the position in ``bounds`` of each weight's class."""
    return np.maximum(np.searchsorted(bounds, weights, side="right") - 1, 0).astype(np.int64)
