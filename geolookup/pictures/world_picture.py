"""A density of the world as a picture of its own: outlines, squares by colour, a legend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from html import escape

import numpy as np

from geolookup.dataset.intervals import F64, I64
from geolookup.pictures import outlines, texts
from geolookup.pictures.colours import SEQUENTIAL
from geolookup.pictures.files import Picture, drawing
from geolookup.pictures.projection import HEIGHT, WIDTH, project
from geolookup.pictures.world import DefaultCoordinates, Layer, World, sums_by

#: From dark to light, without the ends, which are hard to see on a page of their lightness.
COLOURS = SEQUENTIAL[32:240:4]
#: Of the rings at default coordinates: unlike all of the scale.
_RING = "#c2185b"
_LAND, _BORDER, _EDGE = "#e9e9e6", "#ffffff", "#8a8f94"
#: In px: the map, what is around it, and the least side of a square.
_ACROSS, _MARGIN, _TOP, _BOTTOM, _SQUARE = 1200, 24, 64, 88, 4
_SCALE = _ACROSS / (2 * WIDTH)  # px for each unit of the plane
_DOWN = 2 * HEIGHT * _SCALE
#: The radius of the sphere that has the area of WGS 84.
_RADIUS_KM = 6371.0072


def pictures(
    anchor: str, world: World, defaults: Sequence[DefaultCoordinates] = ()
) -> Iterator[Picture]:
    """Yield a picture of each density, named ANCHOR-DENSITY, with rings at default coordinates."""
    for layer in world.layers:
        if layer.shown:
            yield Picture(f"{anchor}-{layer.density.name}", _svg(world, layer, defaults))


def _svg(world: World, layer: Layer, defaults: Sequence[DefaultCoordinates]) -> str:
    side = _side(world.grid.km)
    columns, rows, sums = _squares(world, layer, side)
    km = texts.count(side / _SCALE * _RADIUS_KM)
    width, height = _ACROSS + 2 * _MARGIN, _DOWN + _TOP + _BOTTOM
    title = escape(texts.name(layer.density.title))
    drawn = f"{_ground()}{_drawn(columns, rows, _shares(sums), side)}{_rings(defaults)}"
    legend = _legend(sums, f"{layer.density.unit} per {km} km by {km} km")
    return drawing(
        width,
        height,
        f'<text x="{_MARGIN}" y="40" font-size="20">{title}</text>'
        f'<g transform="translate({_MARGIN} {_TOP})">{drawn}</g>'
        f'<g transform="translate({_MARGIN} {_TOP + _DOWN + 24:.0f})" font-size="14">{legend}</g>',
    )


def _side(km: float) -> float:
    """Return the px of the sides of squares: those of a cell, doubled until they can be seen."""
    cell = km / _RADIUS_KM * _SCALE
    return float(cell * 2 ** max(0, np.ceil(np.log2(_SQUARE / cell))))


def _pixels(latitudes: F64, longitudes: F64) -> tuple[F64, F64]:
    x, y = project(latitudes, longitudes)
    return (x + WIDTH) * _SCALE, (HEIGHT - y) * _SCALE


def _squares(world: World, layer: Layer, side: float) -> tuple[I64, I64, F64]:
    """Return column, row and sum of the squares that have a weight."""
    x, y = _pixels(*world.centres)
    chosen = layer.weights > 0
    places = np.column_stack([x, y])[chosen] // side
    squares, of = np.unique(places.astype(np.int64), axis=0, return_inverse=True)
    sums = sums_by(of.ravel(), layer.weights[chosen], len(squares))
    return squares[:, 0], squares[:, 1], sums


def _shares(sums: F64) -> F64:
    """Return 0 for the least sum, 1 for the largest, and others by their logarithms."""
    logarithms = np.log(sums)
    extent = np.ptp(logarithms)
    return (logarithms - logarithms.min()) / extent if extent else np.ones(len(sums))


def _drawn(columns: I64, rows: I64, shares: F64, side: float) -> str:
    """Return a path for each colour; much is dark."""
    steps = np.round((1 - shares) * (len(COLOURS) - 1)).astype(np.int64)
    paths = []
    for step in np.unique(steps):
        chosen = steps == step
        squares = "".join(
            f"M{column * side:.1f} {row * side:.1f}h{side:.1f}v{side:.1f}h-{side:.1f}z"
            for column, row in zip(columns[chosen].tolist(), rows[chosen].tolist(), strict=True)
        )
        paths.append(f'<path fill="{COLOURS[step]}" d="{squares}"/>')
    return "".join(paths)


def _rings(defaults: Sequence[DefaultCoordinates]) -> str:
    x, y = _pixels(np.array([each.latitude for each in defaults]),
                   np.array([each.longitude for each in defaults]))  # fmt: skip
    return "".join(
        f'<circle cx="{a:.1f}" cy="{b:.1f}" r="7" fill="none" stroke="{_RING}" stroke-width="2"/>'
        for a, b in zip(x.tolist(), y.tolist(), strict=True)
    )


@cache
def _ground() -> str:
    """Return the land, its borders, and the edge of the map: the date line on both sides."""
    around = np.concatenate([np.arange(-90, 91, 2), np.arange(90, -91, -2)]).astype(float)
    x, y = _pixels(around, np.repeat([180.0, -180.0], len(around) // 2))
    drawn, line = outlines.read(), 'fill="none" stroke-width="0.75"'
    return (
        f'<path fill="{_LAND}" d="{_path(drawn.land, "z")}"/>'
        f'<path {line} stroke="{_BORDER}" d="{_path(drawn.borders, "")}"/>'
        f'<path {line} stroke="{_EDGE}" d="M{_points(x, y)}z"/>'
    )


def _path(lines: outlines.Lines, end: str) -> str:
    x, y = _pixels(*lines.degrees())
    after = np.cumsum(lines.lengths)
    return "".join(
        f"M{_points(x[first:last], y[first:last])}{end}"
        for first, last in zip(after - lines.lengths, after, strict=True)
    )


def _points(x: F64, y: F64) -> str:
    return "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(x.tolist(), y.tolist(), strict=True))


def _legend(sums: F64, unit: str) -> str:
    stops = "".join(
        f'<stop offset="{at / (len(COLOURS) - 1):.3f}" stop-color="{colour}"/>'
        for at, colour in enumerate(reversed(COLOURS))
    )
    labels = "".join(
        f'<text x="{400 * share:.1f}" y="44" text-anchor="middle">{escape(text)}</text>'
        for share, text in _labels(sums)
    )
    return (
        f'<linearGradient id="scale">{stops}</linearGradient><text>{escape(unit)}</text>'
        f'<rect y="8" width="400" height="16" fill="url(#scale)"/>{labels}'
        f'<text x="{_ACROSS}" text-anchor="end" font-size="11">{escape(outlines.CREDIT)}</text>'
    )


def _labels(sums: F64) -> Iterator[tuple[float, str]]:
    """Yield the shares and texts of powers of ten, five at most."""
    low, high = np.log10(sums.min()), np.log10(sums.max())
    powers = np.arange(np.ceil(low), np.floor(high) + 1)
    for power in powers[:: max(1, -(-len(powers) // 5))].tolist():
        share = (power - low) / (high - low) if high > low else 1.0
        yield share, texts.short(10.0**power)
