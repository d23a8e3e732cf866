"""The frame of world pictures: the plane in px, land and borders, the scale and its legend."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from html import escape

import numpy as np

from geolookup.dataset.intervals import F64
from geolookup.pictures import outlines, wording
from geolookup.pictures.globe import HEIGHT, WIDTH, project
from geolookup.pictures.log_classes import class_bounds, class_colours, class_of
from geolookup.pictures.picture_files import drawing

_LAND, _BORDER, _EDGE = "#e9e9e6", "#ffffff", "#8a8f94"
#: In px: the map, and the margins around it.
_ACROSS, _MARGIN, _TOP, _BOTTOM = 1200, 24, 64, 88
SCALE = _ACROSS / (2 * WIDTH)  # px for each unit of the plane
_DOWN = 2 * HEIGHT * SCALE
#: The width of a class of the legend, in px.
_CLASS = 72


def frame(title: str, content: str, legend: str) -> str:
    """Return a picture of the drawing with a title and a legend."""
    width, height = _ACROSS + 2 * _MARGIN, _DOWN + _TOP + _BOTTOM
    return drawing(
        width,
        height,
        f'<text x="{_MARGIN}" y="40" font-size="20">{escape(wording.name(title))}</text>'
        f'<g transform="translate({_MARGIN} {_TOP})">{content}</g>'
        f'<g transform="translate({_MARGIN} {_TOP + _DOWN + 24:.0f})" font-size="14">{legend}</g>',
    )


def pixels(latitudes: F64, longitudes: F64) -> tuple[F64, F64]:
    """Return x and y of places in degrees, in px from the upper left corner of the map."""
    x, y = project(latitudes, longitudes)
    return (x + WIDTH) * SCALE, (HEIGHT - y) * SCALE


def colours_of(sums: F64) -> list[str]:
    """Return the colour of each sum by its class; the largest class is darkest."""
    bounds = class_bounds(sums)
    colours = class_colours(len(bounds))[::-1]
    return [colours[at] for at in class_of(sums, bounds).tolist()]


@cache
def land() -> str:
    """Return the land as a shape."""
    return f'<path fill="{_LAND}" d="{"".join(ring for _, ring in rings())}"/>'


@cache
def rings() -> list[tuple[str, str]]:
    """Return the country of each ring of the land, and the ring as a path."""
    shapes = outlines.read()
    return list(zip(shapes.countries.tolist(), _paths(shapes.land, "z"), strict=True))


@cache
def lines() -> str:
    """Return borders, and the edge of the map: the date line on both sides."""
    around = np.concatenate([np.arange(-90, 91, 2), np.arange(90, -91, -2)]).astype(float)
    x, y = pixels(around, np.repeat([180.0, -180.0], len(around) // 2))
    borders, line = _paths(outlines.read().borders, ""), 'fill="none" stroke-width="0.75"'
    return (
        f'<path {line} stroke="{_BORDER}" d="{"".join(borders)}"/>'
        f'<path {line} stroke="{_EDGE}" d="M{_points(x, y)}z"/>'
    )


def _paths(shapes: outlines.Lines, end: str) -> Iterator[str]:
    x, y = pixels(*shapes.degrees())
    after = np.cumsum(shapes.lengths)
    for first, last in zip(after - shapes.lengths, after, strict=True):
        yield f"M{_points(x[first:last], y[first:last])}{end}"


def _points(x: F64, y: F64) -> str:
    return "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(x.tolist(), y.tolist(), strict=True))


def legend(sums: F64, unit: str) -> str:
    """Return the classes of sums, each with its lower bound, and the source of the outlines."""
    bounds = class_bounds(sums)
    colours = class_colours(len(bounds))[::-1]
    classes = "".join(
        f'<rect x="{_CLASS * at}" y="8" width="{_CLASS}" height="16" fill="{colour}"/>'
        f'<text x="{_CLASS * at}" y="44">{escape(wording.tick(bound))}</text>'
        for at, (colour, bound) in enumerate(zip(colours, bounds.tolist(), strict=True))
    )
    return (
        f"<text>{escape(unit)}, from</text>{classes}"
        f'<text x="{_ACROSS}" text-anchor="end" font-size="11">{escape(outlines.CREDIT)}</text>'
    )
